// Two recordings side by side: rows of the same thing are found in both, and subtracted.
import { MAIN, NO_ZERO, OPTIONAL, SHOWN, SIGNED, type Column, type Recording, type Table } from "../data";
import { hasCalls, sampledFunctions } from "./choose";
import { baseName } from "./format";
import { column, columnIndex, findTable, listTable, numbers, texts } from "./table";

export interface Pair {
  /** Of a line its text. */
  title: string;
  /** The function's, or the thing's own. */
  name: string;
  place: string;
  file: string;
  line: number;
  a: number;
  b: number;
}

/** What can be compared: a table, the number, its unit. */
export interface Subject {
  id: string;
  title: string;
  unit: Column["unit"];
  column: string;
  isLine?: boolean;
  table(recording: Recording): Table | undefined;
}

const table = (view: string) => (recording: Recording) => findTable(recording, view);

export const SUBJECTS: Subject[] = [
  { id: "functions", title: "Functions", unit: "ns", column: "self_ns", table: sampledFunctions },
  { id: "lines", title: "Lines", isLine: true, unit: "ns", column: "time_ns", table: (recording) => hasColumn(table("lines")(recording), "time_ns") },
  { id: "calls", title: "Calls", unit: "ns", column: "self_ns", table: (recording) => (hasCalls(recording) ? table("functions")(recording) : undefined) },
  { id: "regions", title: "Regions", unit: "ns", column: "total_ns", table: table("regions") },
  { id: "ops", title: "Operators", unit: "ns", column: "self_ns", table: table("ops") },
  { id: "peak", title: "Memory at the peak", isLine: true, unit: "bytes", column: "peak_bytes", table: table("memory") },
  { id: "copies", title: "Copies", isLine: true, unit: "bytes", column: "copied_bytes", table: table("copies") },
];

function hasColumn(found: Table | undefined, name: string): Table | undefined {
  return found && columnIndex(found, name) >= 0 ? found : undefined;
}

/** Those that both recordings have. */
export function subjects(a: Recording, b: Recording): Subject[] {
  return SUBJECTS.filter((subject) => subject.table(a) && subject.table(b));
}

/** A file's name that is the same in both: the program is the program, wherever it lies. */
function fileName(recording: Recording, file: string): string {
  const program = recording.infos.program_path ?? "";
  if (file && file === program) return "(program)";
  const folder = program.slice(0, program.lastIndexOf("/") + 1);
  return folder && file.startsWith(folder) ? file.slice(folder.length) : file;
}

interface Rows {
  keys: Map<string, Pair>;
}

/** Of lines the text counts, not the number: code that moved down is the same code. */
function rowsOf(recording: Recording, found: Table, subject: Subject): Rows {
  const isLine = columnIndex(found, "source") >= 0;
  const value = numbers(found, subject.column);
  const read = (name: string) => texts(found, name);
  const [file, fn, name, source, place, shapes] = ["file", "function", "name", "source", "place", "shapes"].map(read);
  const line = numbers(found, "line");
  const path: string[] = [];
  const keys = new Map<string, Pair>();
  found.rows.forEach((_, row) => {
    const depth = found.depths?.[row] ?? 0;
    path.length = depth;
    path[depth] = name(row) || fn(row);
    const title = isLine ? source(row).trim() || fn(row) : path[depth];
    const where = subject.id === "regions" ? path.join("\u0000") : `${fileName(recording, file(row))}\u0000${name(row) || fn(row)}`;
    const key = `${where}\u0000${isLine ? title : shapes(row)}`;
    const pair = keys.get(key) ?? { title, name: name(row) || fn(row), place: place(row) || baseName(file(row)), file: file(row), line: isLine ? line(row) : 0, a: 0, b: 0 };
    pair.a += value(row);
    keys.set(key, pair);
  });
  return { keys };
}

/** `a` is the first recording's number, `b` the second's; the largest difference first. */
export function compare(a: Recording, b: Recording, subject: Subject): Pair[] {
  const pairs = rowsOf(a, subject.table(a)!, subject).keys;
  for (const [key, other] of rowsOf(b, subject.table(b)!, subject).keys) {
    const pair = pairs.get(key);
    if (pair) pair.b = other.a;
    else pairs.set(key, { ...other, a: 0, b: other.a });
  }
  return [...pairs.values()].filter((pair) => pair.a || pair.b).sort((x, y) => Math.abs(y.b - y.a) - Math.abs(x.b - x.a));
}

/** In per cent of the first one; null where that has nothing. */
export function relative(pair: { a: number; b: number }): number | null {
  return pair.a === 0 ? null : (100 * (pair.b - pair.a)) / pair.a;
}

/** Each number as a share of its own recording, in per cent: for recordings of different lengths. */
export function normalise(pairs: Pair[]): Pair[] {
  const sum = (of: "a" | "b") => pairs.reduce((total, pair) => total + pair[of], 0) || 1;
  const [a, b] = [sum("a"), sum("b")];
  const shares = pairs.map((pair) => ({ ...pair, a: (100 * pair.a) / a, b: (100 * pair.b) / b }));
  return shares.sort((x, y) => Math.abs(y.b - y.a) - Math.abs(x.b - x.a));
}

/** As a table, like any other: `unit` is that of the numbers. */
export function pairsTable(pairs: Pair[], unit: Column["unit"], isLine: boolean): Table {
  const most = pairs.reduce((max, pair) => Math.max(max, Math.abs(pair.b - pair.a)), 0) || 1;
  return listTable(
    "compare",
    [
      column(isLine ? "source" : "title", isLine ? "source" : "name", "text", SHOWN | MAIN),
      column("place", "place", "text", SHOWN | OPTIONAL),
      column(`first_${unit}`, "first", unit, SHOWN | NO_ZERO),
      column(`second_${unit}`, "second", unit, SHOWN | NO_ZERO),
      column(`difference_${unit}`, "difference", unit, SHOWN | SIGNED),
      column("change_percent", "change", "percent", SHOWN | SIGNED),
      column("balance", "less · more", "balance"),
      column("name", "function", "text", 0),
      column("file", "file", "text", 0),
      column("line", "line", "count", 0),
    ],
    pairs.map((pair) => {
      const difference = pair.b - pair.a;
      return [pair.title, pair.place, pair.a, pair.b, difference, relative(pair), difference / most, pair.name, pair.file || null, pair.line || null];
    }),
  );
}
