// Which table answers for a view: the core's for the whole recording, one made here for a range or a thread.
import type { Recording, Table } from "../data";
import type { Selection, State } from "../state";
import { functionsTable, linesTable } from "./samples";
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
  return recording.metrics.has("samples") || recording.metrics.has("python");
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

function computed(recording: Recording, view: string, state: State): Table | null {
  if (view === "lines" && hasSamples(recording)) return linesTable(recording, state.thread, state.range);
  if (view === "sampled_functions") return functionsTable(recording, state.thread, state.range);
  if (SPAN_KINDS[view]) return spansTable(recording, view, SPAN_KINDS[view], state.thread, state.range);
  return null;
}

/** Null when the recording has nothing to say. */
export function answer(recording: Recording, view: string, variant: string, state: State): Answer | null {
  const core = view === "sampled_functions" ? sampledFunctions(recording) : findTable(recording, view, variant);
  if (!core) return null;
  if (!state.range && state.thread < 0) return { table: core, note: "" };
  if (!state.range) {
    const part = ofThread(core, recording.tracks[state.thread]?.name ?? "");
    if (part) return { table: part, note: "" };
  }
  const canRange = !state.range || recording.events;
  const made = canRange ? computed(recording, view, state) : null;
  if (made) return { table: made, note: "" };
  const what = state.range ? "the brushed range" : "the chosen thread";
  const why = recording.events ? "it is not known when each of these numbers came about" : "the recording has no timeline";
  return { table: core, note: `This table is of the whole recording, not of ${what}: ${why}.` };
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
