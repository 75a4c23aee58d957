// The recording as the page has it: read from the script elements that `sonde report` wrote, decoded into typed arrays.
// All times are nanoseconds since the start of the recording.

/** What the file says, before decoding. Fields marked d are differences: the first value, then what to add. */
export interface RawRecording {
  version: number;
  infos: Record<string, string>;
  facts: Facts;
  texts: string[];
  kinds: string[];
  sites: Record<"kind" | "name" | "file" | "line" | "detail" | "first_line", number[]>;
  tracks: Track[];
  nodes: Record<"parent" | "track" | "site", number[]>;
  metrics: Record<string, { node: number[]; value: number[] }>;
  /** Either the text or why there is none. */
  sources: { file: number; text?: string; missing?: string }[];
  own_files: number[];
  /** What a file is called wherever it is shown. */
  file_names: [file: number, name: string][];
  series: { name: string; unit: string; at_ns: number[]; value: number[] }[];
  histories: { step_ns: number; node: number[]; live: number[][] } | null;
  events: RawBlock[] | null;
  tables: Table[];
  /** Of the second of two recordings: the rows of `sonde diff`, a table a kind, which is its variant. */
  diff: Table[];
  pruned: Pruned | null;
}

/** What sums up the whole recording, as the core says it everywhere: src/view/sampled/facts.h. */
export interface Facts {
  length_ns: number;
  cpu_ns: number;
  python_ns: number;
  native_ns: number;
  system_ns: number;
  waiting_ns: number;
  samples: number;
  threads: number;
  collections: number;
  collections_ns: number;
  longest_ns: number;
  entries: number;
  dropped_entries: number;
  dropped_events: number;
}

/** Events by track and start, in steps of `unit_ns`. `gap`: from the end of the event before it on its track (from 0
 * for the first one) to its start. */
export interface RawBlock {
  kind: "samples" | "spans" | "marks";
  unit_ns: number;
  gap: number[];
  value: number[];
  node: number[];
  task: number[];
  /** Only of several processes that were merged: else an event is on the track of its node. */
  track?: number[];
}

export interface Track {
  name: string;
  process_id: number;
  thread_id: number;
  start_ns: number;
  end_ns: number;
  /** More than 1: so many threads shared this line, one after the other. */
  thread_count?: number;
  /** Of a thread of a merged recording: the track, before it, that has its nodes, summed with those of others. */
  summed_on?: number;
}

export interface Pruned {
  nodes: number;
  events: number;
  text: string;
}

export type Cell = string | number | boolean | null;

/** What a column is to people: bits of `Column.traits`. */
export const SHOWN = 1;
export const MAIN = 2;
export const OPTIONAL = 4;
export const NO_ZERO = 8;
export const NO_EMPTY = 16;
export const LATE = 32;
/** A difference: with its sign, and red or blue. The page's own, as the unit "balance": from -1 to 1, a bar to either side. */
export const SIGNED = 64;
/** Highlighted where it is not 0. */
export const NOTABLE = 128;

export interface Column {
  name: string;
  title: string;
  unit: "text" | "label" | "count" | "ns" | "us" | "percent" | "number" | "bytes" | "rate" | "bar" | "spark" | "balance";
  traits: number;
}

/** The answer of a view of the core. Rows of a tree stand behind their parent; `depths` says how deep. */
export interface Table {
  view: string;
  /** Of ops: "", "by_shape" or "by_line". */
  variant?: string;
  is_tree: boolean;
  /** Rows at depth 0 are things with what belongs to them below. */
  is_grouped?: boolean;
  /** Rows before the table was cut, if it was. */
  row_count?: number;
  columns: Column[];
  depths: number[] | null;
  rows: Cell[][];
  footer: string;
  /** Of a comparison the page arranges: a row whose difference may be chance, which has no colour. */
  isNoise?(row: number): boolean;
}

/** Places the cost belongs to. `name`, `file` and `detail` are indexes of `Recording.texts`, `kind` of `kinds`. */
export interface Sites {
  count: number;
  kind: Uint8Array;
  name: Uint32Array;
  file: Uint32Array;
  line: Uint32Array;
  detail: Uint32Array;
  first_line: Uint32Array;
}

/** The tree. A parent's index is smaller than its children's; -1: the root of a track. */
export interface Nodes {
  count: number;
  parent: Int32Array;
  track: Uint32Array;
  site: Uint32Array;
}

/** Own values of some nodes, ascending by node. */
export interface Metric {
  node: Uint32Array;
  value: Float64Array;
}

export interface Series {
  name: string;
  unit: string;
  at_ns: Float64Array;
  value: Float64Array;
}

/** The timeline: samples at [0, sample_count), then regions, calls and ops; each part by track, in a track by start, the
 * outer one first. `value`: a duration in ns; neighbouring samples of one node and state are one event. `task`: of a
 * sample an index of model/metrics.ts's STATES, else the number of a coroutine, 0: the thread itself. */
export interface Events {
  count: number;
  sample_count: number;
  start: Float64Array;
  value: Float64Array;
  node: Uint32Array;
  task: Float64Array;
  track: Uint32Array;
}

export interface Recording {
  infos: Record<string, string>;
  facts: Facts;
  texts: string[];
  kinds: string[];
  sites: Sites;
  tracks: Track[];
  nodes: Nodes;
  metrics: Map<string, Metric>;
  /** Lines of the program's own files by name; line 1 is at index 0. */
  sources: Map<string, string[]>;
  /** Why the source of a file is not here, by the file's name. */
  missing: Map<string, string>;
  /** Text indexes of the files that are the program's own. */
  own_files: Set<number>;
  /** What a file is called wherever it is shown, by its path. */
  fileNames: Map<string, string>;
  series: Series[];
  /** Live bytes of nodes over time, by node. */
  histories: { step_ns: number; live: Map<number, Float64Array> };
  events: Events | null;
  tables: Table[];
  diff: Table[];
  pruned: Pruned | null;
  length_ns: number;
}

export function undelta<T extends Uint32Array | Float64Array>(differences: number[], into: T): T {
  let value = 0;
  for (let i = 0; i < differences.length; i++) {
    value += differences[i];
    into[i] = value;
  }
  return into;
}

function decodeMetric(raw: { node: number[]; value: number[] }): Metric {
  return { node: undelta(raw.node, new Uint32Array(raw.node.length)), value: Float64Array.from(raw.value) };
}

function decodeBlock(block: RawBlock, track: ArrayLike<number>, into: Events, at: number): void {
  let last = -1;
  let end = 0;
  for (let i = 0; i < block.node.length; i++) {
    const node = block.node[i];
    const on = block.track?.[i] ?? track[node];
    if (on !== last) end = 0;
    last = on;
    const start = end + block.gap[i];
    end = start + block.value[i];
    into.start[at + i] = start * block.unit_ns;
    into.value[at + i] = block.value[i] * block.unit_ns;
    into.node[at + i] = node;
    into.task[at + i] = block.task[i];
    into.track[at + i] = on;
  }
}

function decodeEvents(blocks: RawBlock[] | null, track: ArrayLike<number>): Events | null {
  const sorted = [...(blocks ?? [])].sort((a, b) => Number(b.kind === "samples") - Number(a.kind === "samples")); // samples come first
  const count = sorted.reduce((sum, block) => sum + block.node.length, 0);
  if (count === 0) return null;
  const events: Events = {
    count,
    sample_count: sorted[0].kind === "samples" ? sorted[0].node.length : 0,
    start: new Float64Array(count),
    value: new Float64Array(count),
    node: new Uint32Array(count),
    task: new Float64Array(count),
    track: new Uint32Array(count),
  };
  let at = 0;
  for (const block of sorted) {
    decodeBlock(block, track, events, at);
    at += block.node.length;
  }
  return events;
}

function decodeHistories(raw: RawRecording["histories"]): Recording["histories"] {
  const live = new Map<number, Float64Array>();
  if (!raw) return { step_ns: 0, live };
  undelta(raw.node, new Uint32Array(raw.node.length)).forEach((node, i) => live.set(node, Float64Array.from(raw.live[i])));
  return { step_ns: raw.step_ns, live };
}

function decodeSites(raw: RawRecording["sites"]): Sites {
  return {
    count: raw.kind.length,
    kind: Uint8Array.from(raw.kind),
    name: Uint32Array.from(raw.name),
    file: Uint32Array.from(raw.file),
    line: Uint32Array.from(raw.line),
    detail: Uint32Array.from(raw.detail),
    first_line: Uint32Array.from(raw.first_line),
  };
}

/** Throws an Error with a sentence when the page cannot show this version. */
export function decode(raw: RawRecording): Recording {
  if (raw.version !== 1) throw new Error(`This page reads data of version 1, not ${raw.version}.`);
  return {
    infos: raw.infos,
    facts: raw.facts,
    texts: raw.texts,
    kinds: raw.kinds,
    sites: decodeSites(raw.sites),
    tracks: raw.tracks,
    nodes: {
      count: raw.nodes.parent.length,
      parent: Int32Array.from(raw.nodes.parent),
      track: Uint32Array.from(raw.nodes.track),
      site: Uint32Array.from(raw.nodes.site),
    },
    metrics: new Map(Object.entries(raw.metrics).map(([name, metric]) => [name, decodeMetric(metric)])),
    sources: new Map(raw.sources.flatMap(({ file, text }) => (text === undefined ? [] : [[raw.texts[file], text.split("\n")]]))),
    missing: new Map(raw.sources.flatMap(({ file, missing }) => (missing === undefined ? [] : [[raw.texts[file], missing]]))),
    own_files: new Set(raw.own_files),
    fileNames: new Map(raw.file_names.map(([file, name]) => [raw.texts[file], name])),
    series: raw.series.map(({ name, unit, at_ns, value }) => ({
      name,
      unit,
      at_ns: undelta(at_ns, new Float64Array(at_ns.length)),
      value: Float64Array.from(value),
    })),
    histories: decodeHistories(raw.histories),
    events: decodeEvents(raw.events, raw.nodes.track),
    tables: raw.tables,
    diff: raw.diff,
    pruned: raw.pruned,
    length_ns: raw.facts.length_ns,
  };
}

/** Newer browsers do it themselves, and faster. */
function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> {
  const own = (Uint8Array as { fromBase64?(text: string): Uint8Array<ArrayBuffer> }).fromBase64;
  if (own) return own.call(Uint8Array, text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** Base64 of gzip of JSON. */
export async function unpack(text: string): Promise<Recording> {
  const stream = new Blob([bytesOfBase64(text.trim())]).stream().pipeThrough(new DecompressionStream("gzip"));
  return decode((await new Response(stream).json()) as RawRecording);
}

/** The recordings in this page: none in the bare template, two to compare. */
export async function readRecordings(page: Document): Promise<Recording[]> {
  const packed = ["sonde-data", "sonde-data-2"]
    .map((id) => page.getElementById(id)?.textContent ?? "")
    .filter((text) => text !== "");
  return Promise.all(packed.map(unpack));
}
