// Samples by line and by function for a thread or a range: the rules of src/view/lines.c and sampled_functions.c, so that
// the whole recording gives what the core says.
import { SHOWN, MAIN, NO_ZERO, OPTIONAL, STATES, type Cell, type Column, type Recording, type Table } from "../data";
import type { Range } from "../state";
import { fileName, placeName, plural } from "./format";
import { digits, hasMemory, nodeMemory, type NodeMemory } from "./memory";
import { column, listTable } from "./table";
import { ownValues } from "./values";

const SAMPLES = STATES.length; // the slot behind the states
const WIDTH = SAMPLES + 1;

/** Per node its nine states, then samples. */
function numbersOf(recording: Recording, thread: number, range: Range | null): Float64Array[] {
  return [...STATES, "samples"].map((name) => ownValues(recording, [name], thread, range));
}

function sum(values: Float64Array, from: number, to: number): number {
  let total = 0;
  for (let i = from; i < to; i++) total += values[i];
  return total;
}

const time = (values: Float64Array) => sum(values, 0, SAMPLES);
const isThere = (values: Float64Array) => sum(values, 0, WIDTH) !== 0;

function isOwnLine(recording: Recording, site: number): boolean {
  const { sites, kinds, own_files } = recording;
  return kinds[sites.kind[site]] === "line" && own_files.has(sites.file[site]);
}

/** A garbage collection's time is not that of the line in which it ran. */
function isCollection(recording: Recording, site: number): boolean {
  const { sites, kinds, texts } = recording;
  return kinds[sites.kind[site]] === "other" && texts[sites.name[site]] === "[garbage collection]";
}

/** By node: the innermost node of the program's own files on its stack, up to a garbage collection; -1: none. */
export function chargedNodes(recording: Recording): Int32Array {
  const { count, parent, site } = recording.nodes;
  const charged = new Int32Array(count);
  const own = Array.from({ length: recording.sites.count }, (_, i) => isOwnLine(recording, i));
  const apart = Array.from({ length: recording.sites.count }, (_, i) => isCollection(recording, i));
  for (let node = 0; node < count; node++)
    charged[node] = own[site[node]] ? node : parent[node] < 0 || apart[site[node]] ? -1 : charged[parent[node]];
  return charged;
}

interface LineSum {
  file: string;
  line: number;
  name: string;
  /** Of the site with the most time: it names the function. */
  most: number;
  values: Float64Array;
  /** What it is charged with. */
  nodes: number[];
}

interface Charge {
  values: Float64Array;
  nodes: number[];
}

function addTo(into: Float64Array, numbers: Float64Array[], node: number): void {
  for (let i = 0; i < WIDTH; i++) into[i] += numbers[i][node];
}

/** What each site is charged with, and the rest by name. */
function chargeSites(recording: Recording, numbers: Float64Array[], memory: NodeMemory | null) {
  const charged = chargedNodes(recording);
  const bySite = new Map<number, Charge>();
  const rests = new Map<string, Charge>();
  const { nodes, sites, kinds, texts } = recording;
  const hasAny = (node: number) =>
    numbers.some((values) => values[node] !== 0) || (memory && (memory.peak[node] || memory.growth[node] || memory.copied?.[node]));
  for (let node = 0; node < nodes.count; node++) {
    if (!hasAny(node)) continue;
    const site = nodes.site[charged[node] < 0 ? node : charged[node]];
    const rest = kinds[sites.kind[site]] === "other" ? texts[sites.name[site]] : "(outside the program's files)";
    const charge = charged[node] < 0 ? chargeOf(rests, rest) : chargeOf(bySite, site);
    addTo(charge.values, numbers, node);
    charge.nodes.push(node);
  }
  return { bySite, rests };
}

function chargeOf<K>(map: Map<K, Charge>, key: K): Charge {
  let charge = map.get(key);
  if (!charge) map.set(key, (charge = { values: new Float64Array(WIDTH), nodes: [] }));
  return charge;
}

function mergeLines(recording: Recording, bySite: Map<number, Charge>): LineSum[] {
  const lines = new Map<string, LineSum>();
  const { sites, texts } = recording;
  for (const [site, { values, nodes }] of bySite) {
    const [file, line, name] = [texts[sites.file[site]], sites.line[site], texts[sites.name[site]]];
    const key = `${line} ${file}`;
    let entry = lines.get(key);
    if (!entry) lines.set(key, (entry = { file, line, name, most: -1, values: new Float64Array(WIDTH), nodes: [] }));
    if (time(values) > entry.most) [entry.name, entry.most] = [name, time(values)];
    for (let i = 0; i < WIDTH; i++) entry.values[i] += values[i];
    for (const node of nodes) entry.nodes.push(node);
  }
  return [...lines.values()];
}

const PARTS = ["python", "native", "system", "waiting"];

/** What a share is of. */
export const shareTitle = (isAll: boolean) => (isAll ? "% of time" : "% of CPU");

/** CPU time, all time, the share, the parts as shares and as times, samples. `isAll`: waiting is one of the parts. */
function timeColumns(cpu: string, name: string, share: string, isAll: boolean): Column[] {
  const shown = (is: boolean, more = 0) => (is ? SHOWN | NO_ZERO | more : 0);
  return [
    column(`${cpu}_ns`, cpu.replace("_cpu", " CPU"), "ns", shown(!isAll)),
    column(`${name}_ns`, name, "ns", shown(isAll)),
    column(share, shareTitle(isAll), "percent"),
    ...PARTS.map((part, i) => column(`${part}_percent`, part, "percent", shown(isAll || i < 3, OPTIONAL))),
    ...PARTS.map((part) => column(`${part}_ns`, part, "ns", 0)),
    column("waited_ns", "waiting", "ns", shown(!isAll, OPTIONAL)),
    ...STATES.slice(3).map((state) => column(`${state}_ns`, state, "ns", 0)),
    column("samples", "samples", "count", 0),
  ];
}

/** All CPU time and all waiting. */
type Whole = readonly [cpu: number, waiting: number];

const percentOf = (part: number, whole: number) => (whole > 0 ? (100 * part) / whole : 0);

/** Waiting is a share of all waiting or, with waiting, of all time; as in the core. */
function timeCells(values: Float64Array, [cpu, waiting]: Whole, isAll: boolean): number[] {
  const parts = [values[0], values[1], values[2], sum(values, 3, SAMPLES)];
  const ran = sum(values, 0, 3);
  const whole = isAll ? cpu + waiting : cpu;
  const shares = [isAll ? time(values) : ran, ...parts].map((part, i) => percentOf(part, i === 4 && !isAll ? waiting : whole));
  return [ran, time(values), ...shares, ...parts, parts[3] - values[3], ...values.slice(3, SAMPLES), Math.round(values[SAMPLES])];
}

function wholeTime(numbers: Float64Array[]): Whole {
  const of = (from: number, to: number) => numbers.slice(from, to).reduce((total, values) => total + sum(values, 0, values.length), 0);
  return [of(0, 3), of(3, SAMPLES)];
}

const MEMORY_COLUMNS: Column[] = [
  column("peak_bytes", "peak", "bytes"),
  column("live_bytes", "growth", "bytes"),
  column("copied_bytes", "copied", "bytes"),
  column("timeline", "over time", "spark"),
];

function memoryCells(memory: NodeMemory, nodes: readonly number[]): Cell[] {
  const add = (values: Float64Array | null) => (values ? nodes.reduce((total, node) => total + values[node], 0) : null);
  return [add(memory.peak), add(memory.growth), add(memory.copied), digits(memory.curve(nodes))];
}

/** As the core's table of lines. */
export function linesTable(recording: Recording, thread: number, range: Range | null, isAll = false): Table {
  const numbers = numbersOf(recording, thread, range);
  const whole = wholeTime(numbers);
  const memory = hasMemory(recording) ? nodeMemory(recording, thread, range) : null;
  const { bySite, rests } = chargeSites(recording, numbers, memory);
  const sourceOf = (file: string, line: number) => recording.sources.get(file)?.[line - 1] ?? null;
  const cells = ({ values, nodes }: Charge) => [...timeCells(values, whole, isAll), ...(memory ? memoryCells(memory, nodes) : [])];
  const lines = mergeLines(recording, bySite);
  lines.sort((a, b) => (a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1));
  const rows: Cell[][] = lines.map((one) => {
    const { file, line, name } = one;
    return [file, `${fileName(recording, file)}:${line}`, line, name, ...cells(one), sourceOf(file, line)];
  });
  for (const [name, charge] of [...rests].sort((a, b) => time(b[1].values) - time(a[1].values)))
    rows.push([name, name, null, null, ...cells(charge), name]);
  return listTable(
    "lines",
    [
      column("file", "file", "text", 0),
      column("place", "place", "text"),
      column("line", "line", "count"),
      column("function", "function", "text"),
      ...timeColumns("cpu", "time", "percent", isAll),
      ...(memory ? MEMORY_COLUMNS : []),
      column("source", "source", "text", SHOWN | MAIN),
    ],
    rows,
  );
}

const REASONS = ["processor", "lock", "GIL", "I/O", "sleep", "other"];

/** By track: idle, as src/view/waiting.c has it: it waited for over 95% of its time, and is no main thread. */
function idleTracks({ tracks, nodes }: Recording, numbers: Float64Array[]): boolean[] {
  const [waited, seen] = [new Float64Array(tracks.length), new Float64Array(tracks.length)];
  for (let node = 0; node < nodes.count; node++)
    for (let i = 0; i < SAMPLES; i++) {
      seen[nodes.track[node]] += numbers[i][node];
      if (i > 3) waited[nodes.track[node]] += numbers[i][node];
    }
  const mains = tracks.map((track) => track.thread_id === track.process_id);
  if (!mains.includes(true)) mains[tracks.reduce((best, { start_ns }, i) => (start_ns < tracks[best].start_ns ? i : best), 0)] = true;
  return tracks.map((_, i) => !mains[i] && waited[i] > 0 && 100 * waited[i] > 95 * seen[i]);
}

interface Wait {
  site: number;
  place: string;
  line: number;
  state: number;
  ns: number;
  tracks: Set<number>;
}

/** As the core's table of waiting: by line and reason, idle threads as one row, and the machine as another. */
export function waitingTable(recording: Recording, core: Table, thread: number, range: Range | null): Table {
  const { nodes, sites, kinds, texts, tracks, sources } = recording;
  const numbers = numbersOf(recording, thread, range);
  const idle = thread < 0 ? idleTracks(recording, numbers) : [];
  const charged = chargedNodes(recording);
  const waits = [new Map<string, Wait>(), new Map<string, Wait>()]; // of others, of idle threads
  for (let node = 0; node < nodes.count; node++)
    for (let state = 4; state < SAMPLES; state++) {
      const ns = numbers[state][node];
      if (!ns) continue;
      const isLine = charged[node] >= 0;
      const site = nodes.site[isLine ? charged[node] : node];
      const file = isLine ? texts[sites.file[site]] : kinds[sites.kind[site]] === "other" ? texts[sites.name[site]] : "(outside the program's files)";
      const line = isLine ? sites.line[site] : 0;
      const map = waits[Number(idle[nodes.track[node]] ?? false)];
      const key = `${state} ${line} ${file}`;
      let wait = map.get(key);
      if (!wait) map.set(key, (wait = { site, place: line ? `${fileName(recording, file)}:${line}` : file, line, state, ns: 0, tracks: new Set() }));
      wait.ns += ns;
      wait.tracks.add(nodes.track[node]);
    }
  const [[cpu, waiting], samples] = [wholeTime(numbers), sum(numbers[SAMPLES], 0, nodes.count)];
  const threads = (of: Iterable<number>) => [...of].reduce((total, track) => total + (tracks[track].thread_count || 1), 0);
  const [others, ofIdle] = waits.map((map) => [...map.values()].sort((a, b) => b.ns - a.ns));
  const rows: Cell[][] = others.map(({ site, place, line, state, ns, tracks }) => {
    const file = line ? texts[sites.file[site]] : null;
    const source = file && sources.get(file)?.[line - 1]?.trim();
    return [place, ns, percentOf(ns, waiting), REASONS[state - 3], threads(tracks), line ? texts[sites.name[site]] : null, line ? "line" : "other", file, line || null, null, source || null];
  });
  if (ofIdle.length > 0) {
    const ns = ofIdle.reduce((total, wait) => total + wait.ns, 0);
    const count = threads([...tracks.keys()].filter((i) => idle[i]));
    const note = `mostly at ${ofIdle[0].place}`;
    rows.push([plural(count, "idle thread"), ns, percentOf(ns, waiting), REASONS[ofIdle[0].state - 3], count, null, "idle", null, null, note, note]);
  }
  const processor = sum(numbers[3], 0, nodes.count);
  const busy = percentOf(processor, processor + cpu);
  const note = busy >= 5 && samples >= 100 ? `the machine was busy: ${busy.toFixed(0)}% of the time a runnable thread had no processor` : null;
  if (processor > 0) rows.push(["[the machine]", processor, percentOf(processor, waiting), REASONS[0], null, null, "machine", null, null, note, note]);
  return { ...core, rows };
}

/** As the core's table of memory by line: the largest owners at the peak first. */
export function memoryTable(recording: Recording, thread: number, range: Range | null): Table {
  const lines = linesTable(recording, thread, range);
  const at = (name: string) => lines.columns.findIndex((one) => one.name === name);
  const [peak, growth, curve] = [at("peak_bytes"), at("live_bytes"), at("timeline")];
  const kept = lines.rows.filter((row) => row[peak] || row[growth]).sort((a, b) => Number(b[peak]) - Number(a[peak]));
  const whole = kept.reduce((total, row) => total + Number(row[peak]), 0);
  const pick = [peak, growth, curve, at("place"), at("line"), at("function"), at("file"), at("source")];
  const share = (row: Cell[]) => (whole > 0 ? (100 * Number(row[peak])) / whole : 0);
  return {
    ...lines,
    view: "memory",
    columns: [column("peak_percent", "share", "percent"), ...pick.map((i) => ({ ...lines.columns[i], traits: i === at("line") ? 0 : lines.columns[i].traits }))],
    rows: kept.map((row) => [share(row), ...pick.map((i) => row[i])]),
  };
}

interface FunctionSum {
  site: number;
  self: Float64Array;
  total: number;
  cpu: number;
}

/** Sites of one function have one number. Regions of one name are one, wherever they are opened. */
export function functionsBySite(recording: Recording): { bySite: Int32Array; first: number[] } {
  const { sites, kinds } = recording;
  const numbersByKey = new Map<string, number>();
  const first: number[] = [];
  const bySite = Int32Array.from({ length: sites.count }, (_, site) => {
    const kind = kinds[sites.kind[site]];
    if (!["line", "native", "other", "region"].includes(kind)) return -1;
    const place = kind === "region" ? "" : `${sites.file[site]} ${sites.first_line[site]}`;
    const key = `${kind} ${sites.name[site]} ${place}`;
    const known = numbersByKey.get(key);
    if (known !== undefined) return known;
    numbersByKey.set(key, first.length);
    return first.push(site) - 1;
  });
  return { bySite, first };
}

/** A function's total is that of its outermost nodes, with all below them: no node above has the same function. What no
 * function has is in the last one: nothing is called from there, so its total is its own time. */
function addFunctions(recording: Recording, numbers: Float64Array[], functions: FunctionSum[], bySite: Int32Array): void {
  const { count, parent, site } = recording.nodes;
  const totals = new Float64Array(count);
  const cpu = new Float64Array(count);
  for (let node = count - 1; node >= 0; node--) {
    for (let i = 0; i < SAMPLES; i++) totals[node] += numbers[i][node];
    for (let i = 0; i < 3; i++) cpu[node] += numbers[i][node];
    if (parent[node] < 0) continue;
    totals[parent[node]] += totals[node];
    cpu[parent[node]] += cpu[node];
  }
  for (let node = 0; node < count; node++) {
    const which = bySite[site[node]];
    if (totals[node] + numbers[SAMPLES][node] === 0) continue;
    addTo(functions.at(which)!.self, numbers, node);
    if (which < 0) continue;
    let up = parent[node];
    while (up >= 0 && bySite[site[up]] !== which) up = parent[up];
    if (up >= 0) continue;
    functions[which].total += totals[node];
    functions[which].cpu += cpu[node];
  }
  const rest = functions.at(-1)!;
  [rest.total, rest.cpu] = [time(rest.self), sum(rest.self, 0, 3)];
}

function codeOf(recording: Recording, site: number): string {
  const kind = recording.kinds[recording.sites.kind[site]];
  if (kind !== "line") return kind;
  return isOwnLine(recording, site) ? "own" : "library";
}

/** As the core's table of sampled functions. */
export function functionsTable(recording: Recording, thread: number, range: Range | null, isAll = false): Table {
  const numbers = numbersOf(recording, thread, range);
  const whole = wholeTime(numbers);
  const { bySite, first } = functionsBySite(recording);
  const functions = [...first, -1].map((site) => ({ site, self: new Float64Array(WIDTH), total: 0, cpu: 0 }));
  addFunctions(recording, numbers, functions, bySite);
  const { sites, texts, kinds } = recording;
  const isListed = ({ site, self, total }: FunctionSum) =>
    isThere(self) || (total !== 0 && kinds[sites.kind[site]] !== "region");
  const rows = functions.filter(isListed).map(({ site, self, total, cpu }): Cell[] => {
    const [name, code] = site < 0 ? ["[no frame]", "other"] : [texts[sites.name[site]], codeOf(recording, site)];
    const [file, line] = [texts[sites.file[site]], sites.first_line[site]];
    const place = site < 0 ? "" : placeName(recording, site);
    const share = isAll ? percentOf(total, whole[0] + whole[1]) : percentOf(cpu, whole[0]);
    return [name, ...timeCells(self, whole, isAll), cpu, total, share, code, place || null, file || null, line || null];
  });
  rows.sort((a, b) => (isAll ? 0 : Number(b[1]) - Number(a[1])) || Number(b[2]) - Number(a[2]));
  return listTable(
    "functions",
    [
      column("function", "function", "text", SHOWN | MAIN),
      ...timeColumns("self_cpu", "self", "self_percent", isAll),
      column("total_cpu_ns", "total CPU", "ns", isAll ? 0 : SHOWN),
      column("total_ns", "total", "ns", isAll ? SHOWN | OPTIONAL : 0),
      column("total_percent", "total %", "percent"),
      column("code", "code", "text", SHOWN | OPTIONAL),
      column("place", "place", "text", SHOWN | OPTIONAL),
      column("file", "file", "text", 0),
      column("line", "line", "count", 0),
    ],
    rows,
  );
}
