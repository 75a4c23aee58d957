// The rows of the view of lines: source with numbers beside it, or a sorted list of lines.
import type { Recording, Table } from "../data";
import { baseName } from "./format";
import { arrange, numbers, texts, type Sort } from "./table";

export interface FileLines {
  file: string;
  time: number;
  share: number;
  memory: number;
  /** Row of the table by line. */
  rows: Map<number, number>;
}

/** Files by their share, then by time; what stands in no file is left out. */
export function filesOf(table: Table): FileLines[] {
  const [file, line, time, share, peak] = [texts(table, "file"), numbers(table, "line"), numbers(table, "time_ns"), numbers(table, "percent"), numbers(table, "peak_bytes")];
  const files = new Map<string, FileLines>();
  table.rows.forEach((_, row) => {
    if (line(row) <= 0) return;
    let entry = files.get(file(row));
    if (!entry) files.set(file(row), (entry = { file: file(row), time: 0, share: 0, memory: 0, rows: new Map() }));
    entry.time += time(row);
    entry.share += share(row);
    entry.memory += peak(row);
    entry.rows.set(line(row), row);
  });
  return [...files.values()].sort((a, b) => b.share - a.share || b.time - a.time || b.memory - a.memory);
}

/** Rows without a place: sonde itself, what was not seen, code of others. */
export function restsOf(table: Table): number[] {
  const line = numbers(table, "line");
  const time = numbers(table, "time_ns");
  return table.rows.map((_, row) => row).filter((row) => line(row) <= 0 && time(row) > 0);
}

/** A line (row -1: without numbers), or a run of lines that is not shown. */
export type Item =
  | { kind: "line"; file: string; line: number; row: number }
  | { kind: "jump"; file: string; from: number; to: number };

/** Lines of the file that are shown around one with numbers. */
const CONTEXT = 1;

/** The whole file, or without its cold lines: a run that was opened is shown all the same. */
export function sourceItems(recording: Recording, lines: FileLines, hideCold: boolean, opened: ReadonlySet<number>): Item[] {
  const source = recording.sources.get(lines.file);
  if (!source)
    return [...lines.rows].sort((a, b) => a[0] - b[0]).map(([line, row]) => ({ kind: "line", file: lines.file, line, row }));
  const last = source.at(-1) === "" ? source.length - 1 : source.length;
  const length = Math.max(last, ...lines.rows.keys());
  const shown = new Uint8Array(length + 2);
  for (const line of lines.rows.keys())
    for (let near = Math.max(1, line - CONTEXT); near <= Math.min(length, line + CONTEXT); near++) shown[near] = 1;
  const items: Item[] = [];
  for (let line = 1; line <= length; line++) {
    let end = line;
    while (hideCold && end <= length && !shown[end]) end++;
    if (end - line > 1 && !opened.has(line)) {
      items.push({ kind: "jump", file: lines.file, from: line, to: end - 1 });
      line = end - 1;
      continue;
    }
    for (; line < end; line++) items.push({ kind: "line", file: lines.file, line, row: -1 });
    if (line <= length) items.push({ kind: "line", file: lines.file, line, row: lines.rows.get(line) ?? -1 });
  }
  return items;
}

/** All lines of all files in one list. */
export function sortedItems(table: Table, sort: Sort): Item[] {
  const [file, line] = [texts(table, "file"), numbers(table, "line")];
  return arrange(table, { sort, filter: "", folded: new Set() })
    .filter((row) => line(row) > 0)
    .map((row) => ({ kind: "line", file: file(row), line: line(row), row }));
}

export function matchItem(recording: Recording, table: Table, item: Item, search: string): boolean {
  if (item.kind !== "line") return false;
  const source = recording.sources.get(item.file)?.[item.line - 1] ?? "";
  const name = item.row >= 0 ? texts(table, "function")(item.row) : "";
  return `${source}\n${name}\n${baseName(item.file)}:${item.line}`.toLowerCase().includes(search.toLowerCase());
}
