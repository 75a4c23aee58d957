// Tables of the core as the page arranges them: columns by name, sorting, filtering and folding of trees, CSV.
import { LATE, MAIN, NO_EMPTY, OPTIONAL, SHOWN, type Cell, type Column, type Recording, type Table } from "../data";
import { isText } from "./format";

export function findTable(recording: Recording, view: string, variant = ""): Table | undefined {
  const found = recording.tables.find((table) => table.view === view && (table.variant ?? "") === variant);
  return found ?? (view === "graph" && variant ? graphPart(recording, variant) : undefined);
}

/** Of the tree of compiled graphs one kind of rows as a list: variant "by_op" has those of kind "graph_op". */
function graphPart(recording: Recording, variant: string): Table | undefined {
  const tree = findTable(recording, "graph");
  if (!tree) return undefined;
  const kind = texts(tree, "kind");
  const time = columnIndex(tree, "time_ns");
  const rows = tree.rows.filter((_, row) => kind(row) === variant.replace("by_", "graph_"));
  rows.sort((a, b) => Number(b[time] ?? 0) - Number(a[time] ?? 0));
  const columns = tree.columns.map((column) => (column.name === "function" ? { ...column, traits: column.traits | SHOWN } : column));
  return rows.length > 0 ? { view: "graph", variant, is_tree: false, columns, depths: null, rows, footer: tree.footer } : undefined;
}

export function column(name: string, title: string, unit: Column["unit"], traits = SHOWN): Column {
  return { name, title, unit, traits };
}

/** A table that is no tree. */
export function listTable(view: string, columns: Column[], rows: Cell[][]): Table {
  return { view, is_tree: false, columns, depths: null, rows, footer: "" };
}

export function columnIndex(table: Table, name: string): number {
  return table.columns.findIndex((column) => column.name === name);
}

/** Reads a cell by the column's name; unknown columns give null. */
export function reader(table: Table, name: string): (row: number) => Cell {
  const at = columnIndex(table, name);
  return at < 0 ? () => null : (row) => table.rows[row][at] ?? null;
}

export function numbers(table: Table, name: string): (row: number) => number {
  const read = reader(table, name);
  return (row) => Number(read(row) ?? 0) || 0;
}

export function texts(table: Table, name: string): (row: number) => string {
  const read = reader(table, name);
  return (row) => String(read(row) ?? "");
}

function hasAny(table: Table, at: number): boolean {
  const isUsed = (cell: Cell) => cell !== null && cell !== "" && cell !== 0;
  return table.rows.some((row) => isUsed(row[at]));
}

/** Indexes of the columns that people want to see, or of all that have data. What says what a row is stands first. */
export function shownColumns(table: Table, isAll: boolean): number[] {
  const main = mainColumn(table);
  const others = table.columns.map((_, i) => i).filter((i) => {
    const { traits } = table.columns[i];
    if (i === main) return false;
    if (isAll) return hasAny(table, i);
    return (traits & SHOWN) !== 0 && (!(traits & NO_EMPTY) || hasAny(table, i));
  });
  return [main, ...others];
}

/** Leaves out columns of lesser importance, the last ones first, until the rest fits. */
export function fitColumns(table: Table, columns: number[], widths: readonly number[], available: number): number[] {
  const width = (list: number[]) => list.reduce((sum, at) => sum + widths[at], 0);
  let kept = columns;
  for (const isLate of [false, true])
    for (const at of [...columns].reverse()) {
      if (width(kept) <= available) return kept;
      const { traits } = table.columns[at];
      if (at !== columns[0] && traits & OPTIONAL && !!(traits & LATE) === isLate) kept = kept.filter((one) => one !== at);
    }
  return kept;
}

/** The column that says what a row is. */
export function mainColumn(table: Table): number {
  const main = table.columns.findIndex((column) => column.traits & MAIN);
  return Math.max(0, main >= 0 ? main : table.columns.findIndex((column) => column.traits & SHOWN));
}

/** Parents by row; -1 at the top. */
export function parents(table: Table): Int32Array {
  const above: number[] = [];
  return Int32Array.from(table.rows, (_, row) => {
    const depth = table.depths?.[row] ?? 0;
    above[depth] = row;
    return depth > 0 ? (above[depth - 1] ?? -1) : -1;
  });
}

export interface Sort {
  column: number;
  descending: boolean;
}

/** As a user expects of the first click: numbers descend, texts and line numbers ascend. */
export function firstSort(column: Column, index: number): Sort {
  return { column: index, descending: !isText(column.unit) && column.name !== "line" };
}

function compareCells(a: Cell, b: Cell): number {
  if (a === b) return 0;
  if (a === null || a === undefined) return -1;
  if (b === null || b === undefined) return 1;
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
}

export interface Arrangement {
  sort: Sort | null;
  filter: string;
  /** Rows that are folded: those below them are not shown. */
  folded: ReadonlySet<number>;
}

/** Rows that the filter leaves: those that have its text in a column of texts, with all below and above them. */
function filterRows(table: Table, parent: Int32Array, filter: string): Uint8Array {
  const kept = new Uint8Array(table.rows.length);
  const wanted = filter.toLowerCase();
  const columns = table.columns.map((_, i) => i).filter((i) => isText(table.columns[i].unit));
  table.rows.forEach((row, i) => {
    const isMatch = columns.some((column) => String(row[column] ?? "").toLowerCase().includes(wanted));
    if (isMatch || (parent[i] >= 0 && kept[parent[i]] === 2)) kept[i] = 2;
    if (isMatch) for (let up = parent[i]; up >= 0 && !kept[up]; up = parent[up]) kept[up] = 1;
  });
  return kept;
}

/** The rows to show, in order: in a tree the rows below one row are sorted among themselves. */
export function arrange(table: Table, { sort, filter, folded }: Arrangement): number[] {
  const parent = parents(table);
  const kept = filter ? filterRows(table, parent, filter) : null;
  const below = new Map<number, number[]>();
  for (let row = 0; row < table.rows.length; row++) {
    if (kept && !kept[row]) continue;
    const list = below.get(parent[row]);
    if (list) list.push(row);
    else below.set(parent[row], [row]);
  }
  if (sort) {
    const sign = sort.descending ? -1 : 1;
    const by = (a: number, b: number) => sign * compareCells(table.rows[a][sort.column], table.rows[b][sort.column]);
    for (const list of below.values()) list.sort(by);
  }
  return flatten(below, folded);
}

/** Depth first, without recursion: trees may be deep. */
function flatten(below: Map<number, number[]>, folded: ReadonlySet<number>): number[] {
  const order: number[] = [];
  const stack = [...(below.get(-1) ?? [])].reverse();
  for (let row = stack.pop(); row !== undefined; row = stack.pop()) {
    order.push(row);
    if (!folded.has(row)) for (const child of [...(below.get(row) ?? [])].reverse()) stack.push(child);
  }
  return order;
}

/** Whether rows stand below this one. */
export function hasChildren(table: Table, row: number): boolean {
  const depths = table.depths;
  return !!depths && row + 1 < depths.length && depths[row + 1] > depths[row];
}

function csvCell(cell: Cell): string {
  let text = cell === null || cell === undefined ? "" : String(cell);
  // A spreadsheet takes such a text for a formula, and names come from anybody.
  if (typeof cell === "string" && /^[=+\-@\t\r]/.test(text)) text = "'" + text;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** With a line of names; numbers as they are, in the units of their names. */
export function csv(table: Table, rows: readonly number[]): string {
  const lines = rows.map((row) => (table.is_tree ? [table.depths?.[row] ?? 0, ...table.rows[row]] : table.rows[row]));
  const names = table.columns.map((column) => column.name);
  return [table.is_tree ? ["depth", ...names] : names, ...lines].map((line) => line.map(csvCell).join(",") + "\n").join("");
}
