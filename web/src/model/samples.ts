// Samples and memory by line, by function and by what was waited for, of a thread or a range. The whole recording gives what
// the core says.
import { SHOWN, MAIN, NO_ZERO, OPTIONAL, type Cell, type Column, type Recording, type Table } from "../data";
import type { Range } from "../state";
import { fileName, plural } from "./format";
import { digits, hasMemory, MEMORY, nodeMemory } from "./memory";
import { STATES } from "./metrics";
import { rollup, type Sum } from "./rollup";
import { functionsOf, isOwnLine, kindOfSite, placeName } from "./sites";
import { column, listTable } from "./table";
import { CPU, inclusive, ownValues } from "./values";

const SAMPLES = STATES.length; // the slot behind the states
const SAMPLED = [...STATES, "samples"];

/** Per node its nine states, then samples. */
function numbersOf(recording: Recording, thread: number, range: Range | null): Float64Array[] {
  return SAMPLED.map((name) => ownValues(recording, [name], thread, range));
}

function sum(values: Float64Array, from = 0, to = values.length): number {
  let total = 0;
  for (let i = from; i < to; i++) total += values[i];
  return total;
}

const time = (values: Float64Array) => sum(values, 0, SAMPLES);

/** By node: the innermost node of the program's own files on its stack; -1: none. A garbage collection's time is not that of
 * the line in which it ran. */
export function chargedNodes(recording: Recording): Int32Array {
  const { nodes, sites, texts } = recording;
  const charged = new Int32Array(nodes.count);
  const sitesThat = (is: (site: number) => boolean) => Array.from(sites.kind, (_, site) => is(site));
  const own = sitesThat((site) => isOwnLine(recording, site));
  const apart = sitesThat((site) => kindOfSite(recording, site) === "other" && texts[sites.name[site]] === "[garbage collection]");
  nodes.site.forEach((site, node) => {
    const parent = nodes.parent[node];
    charged[node] = own[site] ? node : parent < 0 || apart[site] ? -1 : charged[parent];
  });
  return charged;
}

/** Where time counts: a line of the program, or what the rest is called, with line 0. */
interface Place {
  file: string;
  line: number;
}

/** By node its place, which is one object for all of them, and the site that says so. */
function placesOf(recording: Recording) {
  const { nodes, sites, texts } = recording;
  const charged = chargedNodes(recording);
  const known = new Map<string, Place>();
  const bySite = Array.from(sites.kind, (_, site) => {
    const isLine = isOwnLine(recording, site);
    const rest = kindOfSite(recording, site) === "other" ? texts[sites.name[site]] : "(outside your own code)";
    const place = isLine ? { file: texts[sites.file[site]], line: sites.line[site] } : { file: rest, line: 0 };
    const key = `${place.line} ${place.file}`;
    if (!known.has(key)) known.set(key, place);
    return known.get(key)!;
  });
  const siteOf = (node: number) => nodes.site[charged[node] < 0 ? node : charged[node]];
  return { siteOf, placeOf: (node: number) => bySite[siteOf(node)] };
}

const placeText = (recording: Recording, { file, line }: Place) => (line ? `${fileName(recording, file)}:${line}` : file);

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
  const of = (from: number, to: number) => numbers.slice(from, to).reduce((total, values) => total + sum(values), 0);
  return [of(0, 3), of(3, SAMPLES)];
}

const MEMORY_COLUMNS: Column[] = [
  column("peak_bytes", "peak", "bytes"),
  column("live_bytes", "growth", "bytes"),
  column("copied_bytes", "copied", "bytes"),
  column("timeline", "over time", "spark"),
];

/** As the core's table of lines. */
export function linesTable(recording: Recording, thread: number, range: Range | null, isAll = false): Table {
  const { sites, texts, sources } = recording;
  const numbers = numbersOf(recording, thread, range);
  const whole = wholeTime(numbers);
  const memory = hasMemory(recording) ? nodeMemory(recording, thread, range) : null;
  const { siteOf, placeOf } = placesOf(recording);
  const bySite = rollup(STATES, numbers.slice(0, SAMPLES), siteOf);
  const siteTime = (site: number) => sum(bySite.get(site)?.values ?? new Float64Array(0));
  const functionOf = (items: number[]) => texts[sites.name[items.map(siteOf).reduce((most, site) => (siteTime(site) > siteTime(most) ? site : most))]];
  const cells = ({ items, values }: Sum): Cell[] => {
    const [peak, growth, copied] = values.slice(SAMPLED.length);
    return [...timeCells(values, whole, isAll), ...(memory ? [peak, growth, range ? null : copied, digits(memory.curve(items))] : [])];
  };
  const sums = [...rollup(memory ? [...SAMPLED, ...MEMORY] : SAMPLED, [...numbers, ...(memory?.columns ?? [])], placeOf)];
  sums.sort(([a, { values: x }], [b, { values: y }]) => {
    if (!a.line || !b.line) return Number(!a.line) - Number(!b.line) || time(y) - time(x);
    return a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1;
  });
  const rows = sums.map(([place, of]): Cell[] => {
    const { file, line } = place;
    const [name, source] = line ? [functionOf(of.items), sources.get(file)?.[line - 1] ?? null] : [null, file];
    return [file, placeText(recording, place), line || null, name, ...cells(of), source];
  });
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

/** By track: idle, as src/view/sampled/waiting.c has it: it waited for over 95% of its time, and is no main thread. */
function idleTracks({ tracks, nodes }: Recording, numbers: Float64Array[]): boolean[] {
  const byTrack = rollup(STATES, numbers.slice(0, SAMPLES), (node) => nodes.track[node]);
  const mains = tracks.map((track) => track.thread_id === track.process_id);
  if (!mains.includes(true)) mains[tracks.reduce((best, { start_ns }, i) => (start_ns < tracks[best].start_ns ? i : best), 0)] = true;
  return tracks.map((_, i) => {
    const values = byTrack.get(i)?.values;
    return !mains[i] && !!values && sum(values, 4) > 0.95 * sum(values);
  });
}

/** As the core's table of waiting: by line and reason, idle threads as one row, and the machine as another. */
export function waitingTable(recording: Recording, core: Table, thread: number, range: Range | null): Table {
  const { nodes, sites, texts, tracks, sources } = recording;
  const numbers = numbersOf(recording, thread, range);
  const idle = thread < 0 ? idleTracks(recording, numbers) : [];
  const { siteOf, placeOf } = placesOf(recording);
  const [cpu, waiting] = wholeTime(numbers);
  const threads = (of: Iterable<number>) => [...of].reduce((total, track) => total + (tracks[track].thread_count || 1), 0);
  const waits = (isIdle: boolean) =>
    REASONS.slice(1)
      .flatMap((reason, i) => {
        const key = (node: number) => (!!idle[nodes.track[node]] === isIdle ? placeOf(node) : undefined);
        return Array.from(rollup([STATES[i + 4]], [numbers[i + 4]], key), ([place, { items, values }]) => ({ ...place, text: placeText(recording, place), items, ns: values[0], reason }));
      })
      .sort((a, b) => b.ns - a.ns);
  const rows = waits(false).map(({ file, line, text, items, ns, reason }): Cell[] => {
    const source = line ? sources.get(file)?.[line - 1]?.trim() : null;
    const count = threads(new Set(items.map((node) => nodes.track[node])));
    return [text, ns, percentOf(ns, waiting), reason, count, line ? texts[sites.name[siteOf(items[0])]] : null, line ? "line" : "other", line ? file : null, line || null, null, source || null];
  });
  const ofIdle = waits(true);
  if (ofIdle.length > 0) {
    const ns = ofIdle.reduce((total, wait) => total + wait.ns, 0);
    const count = threads([...tracks.keys()].filter((i) => idle[i]));
    const note = `mostly at ${ofIdle[0].text}`;
    rows.push([plural(count, "idle thread"), ns, percentOf(ns, waiting), ofIdle[0].reason, count, null, "idle", null, null, note, note]);
  }
  const processor = sum(numbers[3]);
  const busy = percentOf(processor, processor + cpu);
  const note = busy >= 5 && sum(numbers[SAMPLES]) >= 100 ? `the machine was busy: ${busy.toFixed(0)}% of the time a runnable thread had no processor` : null;
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

/** A function's total is that of its outermost nodes, with all below them: no node above has the same function. Nothing is
 * called from what has no function. */
function totals(recording: Recording, own: Float64Array, functionOf: (node: number) => number): Float64Array {
  const { parent } = recording.nodes;
  return inclusive(recording, own).map((total, node) => {
    const which = functionOf(node);
    let up = total && which >= 0 ? parent[node] : -1;
    while (up >= 0 && functionOf(up) !== which) up = parent[up];
    return up >= 0 ? 0 : which < 0 ? own[node] : total;
  });
}

function codeOf(recording: Recording, site: number): string {
  const kind = kindOfSite(recording, site);
  return kind !== "line" ? kind : isOwnLine(recording, site) ? "own" : "library";
}

/** As the core's table of sampled functions. */
export function functionsTable(recording: Recording, thread: number, range: Range | null, isAll = false): Table {
  const { nodes, sites, texts } = recording;
  const numbers = numbersOf(recording, thread, range);
  const whole = wholeTime(numbers);
  const { ofSite, first } = functionsOf(recording);
  const isSampled = Array.from(sites.kind, (_, site) => ["line", "native", "other", "region"].includes(kindOfSite(recording, site)));
  const functionOf = (node: number) => (isSampled[nodes.site[node]] ? ofSite[nodes.site[node]] : -1);
  const all = [CPU, STATES].map((names) => totals(recording, ownValues(recording, names, thread, range), functionOf));
  const rows: Cell[][] = [];
  for (const [which, { values }] of rollup([...SAMPLED, "cpu", "total"], [...numbers, ...all], functionOf)) {
    const site = first[which] ?? -1;
    const [cpu, total] = values.slice(SAMPLED.length);
    if (sum(values, 0, SAMPLED.length) === 0 && (site < 0 || kindOfSite(recording, site) === "region")) continue;
    const [name, code] = site < 0 ? ["[no frame]", "other"] : [texts[sites.name[site]], codeOf(recording, site)];
    const place = site < 0 ? "" : placeName(recording, site);
    const share = isAll ? percentOf(total, whole[0] + whole[1]) : percentOf(cpu, whole[0]);
    rows.push([name, ...timeCells(values, whole, isAll), cpu, total, share, code, place || null, texts[sites.file[site]] || null, sites.first_line[site] || null]);
  }
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
