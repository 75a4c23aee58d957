// Which table answers for a view: the core's for the whole recording, one made here for a range or a thread.
import { MAIN, SHOWN, type Column, type Recording, type Table } from "../data";
import { withWaiting, type Selection, type State } from "../state";
import { STATES } from "./metrics";
import { functionsTable, linesTable, memoryTable, waitingTable } from "./samples";
import { spansTable } from "./spans";
import { columnIndex, findTable, reader, texts } from "./table";

export interface Answer {
  table: Table;
  /** What a reader has to know: that the brushed range does not count here, for example. */
  note: string;
}

const SPAN_KINDS: Record<string, string[]> = {
  regions: ["region"],
  ops: ["op", "region"],
  functions: ["function", "builtin"],
  signatures: ["function", "builtin"],
};

export function hasSamples(recording: Recording): boolean {
  return ["samples", ...STATES].some((name) => recording.metrics.has(name));
}

/** Where there are calls and samples, "functions" are the calls. */
export function sampledFunctions(recording: Recording): Table | undefined {
  const sampled = findTable(recording, "sampled_functions") ?? findTable(recording, "functions");
  return sampled && columnIndex(sampled, "python_percent") >= 0 ? sampled : undefined;
}

export function hasCalls(recording: Recording): boolean {
  return columnIndex(findTable(recording, "functions") ?? EMPTY, "ncalls") >= 0;
}

export const EMPTY: Table = { view: "", is_tree: false, columns: [], depths: null, rows: [], footer: "" };

function ofThread(table: Table, name: string): Table | null {
  if (columnIndex(table, "thread") < 0) return null;
  const thread = texts(table, "thread");
  const rows = table.rows.map((_, row) => row).filter((row) => thread(row) === name);
  return { ...table, rows: rows.map((row) => table.rows[row]), depths: table.depths && rows.map((row) => table.depths![row]) };
}

/** What the page makes itself; null: it cannot. */
export function computed(recording: Recording, core: Table, view: string, state: State): Table | null {
  if (view === "lines") return linesTable(recording, state.thread, state.range, withWaiting(state));
  if (view === "memory") return memoryTable(recording, state.thread, state.range);
  if (view === "sampled_functions") return functionsTable(recording, state.thread, state.range, withWaiting(state));
  if (view === "waiting") return waitingTable(recording, core, state.thread, state.range);
  if (SPAN_KINDS[view]) return spansTable(recording, view, SPAN_KINDS[view], state.thread, state.range);
  return null;
}

/** Columns that the core shows, too, look as there. */
function likeCore(made: Table, core: Table): Table {
  const sameAs = (column: Column) => core.columns.find(({ name, traits }) => name === column.name && traits & SHOWN);
  return { ...made, columns: made.columns.map((column) => (column.traits & MAIN || !(column.traits & SHOWN) ? column : (sameAs(column) ?? column))) };
}

/** Memory is known at a few moments only. */
function memoryNote(recording: Recording, made: Table, state: State): string {
  if (!state.range || columnIndex(made, "peak_bytes") < 0) return "";
  const moments = Math.max(0, ...[...recording.histories.live.values()].map((points) => points.length));
  return `Memory is the peak within the range, from ${moments} saved moments; copies have no times.`;
}

/** Answers that were made already: views ask again and again for the same. */
const made = new WeakMap<Recording, Map<string, Answer | null>>();
const MADE_MOST = 32;

/** Null when the recording has nothing to say. The same question gives the same answer, also as an object. */
export function answer(recording: Recording, view: string, variant: string, state: State): Answer | null {
  let answers = made.get(recording);
  if (!answers || answers.size > MADE_MOST) made.set(recording, (answers = new Map()));
  const key = [view, variant, state.thread, state.range?.join(), withWaiting(state)].join(" ");
  if (!answers.has(key)) answers.set(key, makeAnswer(recording, view, variant, state));
  return answers.get(key) ?? null;
}

function makeAnswer(recording: Recording, view: string, variant: string, state: State): Answer | null {
  const core = view === "sampled_functions" ? sampledFunctions(recording) : findTable(recording, view, variant);
  if (!core) return null;
  const isAll = withWaiting(state) && ["lines", "sampled_functions"].includes(view);
  if (!state.range && !isAll && (state.thread < 0 || view === "threads")) return { table: core, note: "" };
  if (!state.range) {
    const part = ofThread(core, recording.tracks[state.thread]?.name ?? "");
    if (part) return { table: part, note: "" };
  }
  const canRange = !state.range || recording.events;
  const part = canRange ? computed(recording, core, view, state) : null;
  if (part) return { table: isAll ? part : likeCore(part, core), note: memoryNote(recording, part, state) };
  const what = state.range ? "the selected range" : "the selected thread";
  const why = recording.events ? "these numbers have no times" : "the recording has no timeline";
  return { table: core, note: `This table covers the whole recording, not ${what}: ${why}.` };
}

/** What a row points at; null: nothing that other views know. */
export function rowSelection(table: Table, row: number): Selection | null {
  const plain = columnIndex(table, "name") >= 0 ? "name" : "function";
  const name = String(reader(table, plain)(row) ?? "");
  const file = String(reader(table, "file")(row) ?? "");
  const isLine = columnIndex(table, "source") >= 0;
  const line = isLine ? Number(reader(table, "line")(row) ?? 0) : 0;
  if (isLine && !line) return null;
  return name || line ? { name, file, line } : null;
}

/** Whether one of two selections is part of the other: a line of a function, a name whose file is not known. */
export function isRelated(a: Selection | null, b: Selection | null): boolean {
  if (!a || !b || a.name !== b.name) return false;
  return (!a.file || !b.file || a.file === b.file) && (!a.line || !b.line || a.line === b.line);
}
