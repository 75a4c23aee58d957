// A table: sorted by any column, folded, filtered, copied.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { NOTABLE, NO_ZERO, SIGNED, type Cell, type Column, type Table } from "../data";
import { isRelated, rowSelection } from "../model/choose";
import { cellText, isText, plural } from "../model/format";
import { arrange, columnIndex, csv, firstSort, fitColumns, hasChildren, mainColumn, shownColumns, type Sort } from "../model/table";
import type { Selection } from "../state";
import { CopyButton, DigitSpark, Marked } from "./bits";
import { HeadCell, rowClass, Rows, type Place } from "./rows";

const ROW = 24;
/** Texts longer than this are cut on the screen; the whole is in the title and in what is copied. */
const LONGEST = 600;

export interface GridProps {
  table: Table;
  label: string;
  search: string;
  selection: Selection | null | undefined;
  onSelect(selection: Selection | null): void;
  /** Instead of selecting, where a row means something else. */
  onRow?(row: number): void;
  /** "column" ascends, "-column" descends; null: as the core has it. */
  sort: string | null;
  onSort(sort: string | null): void;
  /** All columns, not only the usual ones. */
  isWide?: boolean;
  onWide?(isWide: boolean): void;
  /** Stands first in the bar above the table. */
  children?: ComponentChildren;
}

export function parseSort(table: Table, text: string | null): Sort | null {
  const column = text ? columnIndex(table, text.replace(/^-/, "")) : -1;
  return column < 0 ? null : { column, descending: text!.startsWith("-") };
}

export function nextSort(column: Column, index: number, now: Sort | null): string {
  const sort = now?.column === index ? { ...now, descending: !now.descending } : firstSort(column, index);
  return (sort.descending ? "-" : "") + column.name;
}

/** Width of a column in characters: of its title and the widest of its first rows. */
function columnWidth(table: Table, at: number): number {
  const column = table.columns[at];
  if (column.unit === "spark") return 12;
  if (column.unit === "balance") return 16;
  const most = isText(column.unit) ? 34 : 16;
  let width = column.title.length + 2;
  for (let row = 0; row < Math.min(table.rows.length, 400); row++)
    width = Math.max(width, cellText(table.rows[row][at], column).length);
  return Math.min(width, most) + 1.6;
}

interface Layout {
  columns: number[];
  template: string;
  /** The least width of a row. */
  least: string;
}

/** The least width of what says what a row is. */
function leastOf(column: Column, available: number): number {
  return available < 620 ? 16 : column.name === "source" ? 36 : 22;
}

const CHARACTER = 8.3; // px of a ch in the widest of the fonts that the page may get

function layoutColumns(table: Table, available: number, isWide: boolean): Layout {
  const main = mainColumn(table);
  const widths = table.columns.map((_, i) => (i === main ? leastOf(table.columns[i], available) : columnWidth(table, i)));
  const usual = shownColumns(table, isWide);
  const columns = isWide ? usual : fitColumns(table, usual, widths, available / CHARACTER - 3);
  const template = columns.map((i) => (i === main ? `minmax(${widths[i]}ch, 1fr)` : `${widths[i]}ch`)).join(" ");
  const least = `calc(${columns.reduce((sum, i) => sum + widths[i], 0)}ch + 20px)`;
  return { columns, template, least };
}

function shareOf(cell: Cell, column: Column): string | undefined {
  const isShare = (column.unit === "percent" || column.unit === "bar") && !(column.traits & SIGNED) && typeof cell === "number" && cell > 0;
  return isShare ? `${Math.min(100, cell)}%` : undefined;
}

/** A zero that says nothing; of an error it says that it is small. */
function isQuietZero(column: Column): boolean {
  return (column.traits & NO_ZERO) !== 0 || column.title === "+-";
}

/** A bar to the left for less and to the right for more. */
function Balance({ value }: { value: number }) {
  const width = `${50 * Math.abs(value)}%`;
  return (
    <div role="gridcell" class="both">
      <i style={value > 0 ? { left: "50%", width, background: "var(--b)" } : { right: "50%", width, background: "var(--a)" }} />
    </div>
  );
}

function signClass(cell: Cell, column: Column): string {
  if (!(column.traits & SIGNED)) return cell === 0 ? " muted" : cell && column.traits & NOTABLE ? " notable" : "";
  return cell === null || Number(cell) > 0 ? " more" : Number(cell) < 0 ? " less" : "";
}

function ValueCell({ cell, column, search }: { cell: Cell; column: Column; search: string }) {
  if (column.unit === "balance") return <Balance value={Number(cell)} />;
  if (column.unit === "spark")
    return <div role="gridcell">{typeof cell === "string" && cell && <DigitSpark digits={cell} />}</div>;
  const text = cell === 0 && isQuietZero(column) ? "" : cellText(cell, column);
  const width = shareOf(cell, column);
  const isWord = column.unit === "text";
  return (
    <div
      role="gridcell"
      class={`${isWord ? "name" : "num"}${width ? " share" : ""}${signClass(cell, column)}`}
      style={width ? { "--w": width } : undefined}
      title={isWord && text.length > 20 ? text.slice(0, 4000) : undefined}
    >
      {isWord ? <Marked text={text.slice(0, LONGEST)} search={search} /> : text}
    </div>
  );
}

function MainCell(props: GridRowProps) {
  const { table, row } = props;
  const at = mainColumn(table);
  const text = cellText(table.rows[row][at], table.columns[at]);
  const isCode = table.columns[at].name === "source";
  const depth = table.depths?.[row] ?? 0;
  return (
    <div
      role="gridcell"
      class={isCode ? "code" : "name"}
      style={table.is_tree ? { paddingInlineStart: `${6 + Math.min(depth, 40) * 14}px` } : undefined}
      title={text.length > 30 ? text.slice(0, 4000) : undefined}
    >
      {table.is_tree &&
        (hasChildren(table, row) ? (
          <button
            class="fold"
            tabIndex={-1}
            aria-label={props.isFolded ? "unfold" : "fold"}
            onClick={(event) => {
              event.stopPropagation();
              props.onFold();
            }}
          >
            {props.isFolded ? "▸" : "▾"}
          </button>
        ) : (
          <span class="fold" />
        ))}
      <Marked text={(isCode ? text.trim() : text).slice(0, LONGEST)} search={props.search} />
    </div>
  );
}

function headClass(column: Column): string {
  if (column.unit === "balance") return "middle";
  return isText(column.unit) && column.unit !== "label" ? "" : "num";
}

function toggled(set: ReadonlySet<number>, row: number): Set<number> {
  const next = new Set(set);
  if (!next.delete(row)) next.add(row);
  return next;
}

export function Grid(props: GridProps) {
  const { table, search } = props;
  const selection = props.selection ?? null;
  const [folded, setFolded] = useState<ReadonlySet<number>>(new Set());
  useEffect(() => setFolded(new Set(foldedAtFirst(table))), [table]);
  const sort = parseSort(table, props.sort);
  const rows = useMemo(() => arrange(table, { sort, filter: search, folded }), [table, props.sort, search, folded]);
  const shown = useMemo(
    () => (selection ? rows.findIndex((row) => isRelated(rowSelection(table, row), selection)) : -1),
    [selection?.name, selection?.file, selection?.line, table],
  );
  const [width, setWidth] = useState(0);
  const layout = useMemo(() => layoutColumns(table, width, !!props.isWide), [table, width, props.isWide]);
  const onKey = (key: string, index: number) => {
    const row = rows[index];
    if (key === "ArrowLeft" || key === "ArrowRight") {
      if (row === undefined || !hasChildren(table, row)) return false;
      if (folded.has(row) === (key === "ArrowRight")) setFolded(toggled(folded, row));
    } else if (key === "+") setFolded(new Set());
    else if (key === "-") setFolded(new Set(foldable(table)));
    else if (key === "0") props.onSort(null);
    else return false;
    return true;
  };
  return (
    <>
      <GridBar {...props} rows={rows} />
      <Rows
        label={props.label}
        role={table.is_tree ? "treegrid" : "grid"}
        class="grid"
        count={rows.length}
        height={ROW}
        style={{ "--columns": layout.template, "--least": layout.least }}
        onWidth={setWidth}
        head={layout.columns.map((at) => (
          <HeadCell
            key={at}
            title={headTitle(table.columns[at])}
            hint={`${table.columns[at].name}: sort`}
            kind={headClass(table.columns[at])}
            sort={sort?.column === at ? sort : null}
            onClick={() => props.onSort(nextSort(table.columns[at], at, sort))}
          />
        ))}
        empty={search ? `Nothing here matches “${search.slice(0, 80)}”.` : "No rows."}
        shown={shown}
        onEnter={(index) => (props.onRow ? props.onRow(rows[index]) : props.onSelect(rowSelection(table, rows[index])))}
        onKey={onKey}
        row={(index, place, isActive) => (
          <GridRow
            key={rows[index]}
            table={table}
            row={rows[index]}
            columns={layout.columns}
            place={place}
            search={search}
            isActive={isActive}
            isSelected={isRelated(rowSelection(table, rows[index]), selection)}
            isFolded={folded.has(rows[index])}
            onFold={() => setFolded(toggled(folded, rows[index]))}
          />
        )}
      />
    </>
  );
}

interface GridRowProps {
  table: Table;
  row: number;
  columns: number[];
  place: Place;
  search: string;
  isActive: boolean;
  isSelected: boolean;
  isFolded: boolean;
  onFold(): void;
}

function GridRow(props: GridRowProps) {
  const { table, row, columns, isSelected } = props;
  return (
    <div
      {...props.place}
      class={`${rowClass(isSelected, props.isActive)}${table.isNoise?.(row) ? " noise" : ""}`}
      aria-level={table.is_tree ? (table.depths?.[row] ?? 0) + 1 : undefined}
      aria-expanded={table.is_tree && hasChildren(table, row) ? !props.isFolded : undefined}
      aria-selected={isSelected}
    >
      <MainCell {...props} />
      {columns.slice(1).map((at) => (
        <ValueCell key={at} cell={table.rows[row][at]} column={table.columns[at]} search={props.search} />
      ))}
    </div>
  );
}

function headTitle({ title, name }: Column): string {
  return title === "+-" ? "±" : title || name;
}

function foldable(table: Table): number[] {
  return table.rows.map((_, row) => row).filter((row) => hasChildren(table, row));
}

/** Things with what belongs to them below start folded when there are many of them; of a few the first level is open. */
function foldedAtFirst(table: Table): number[] {
  const least = table.depths && table.depths.filter((depth) => depth === 0).length < 6 ? 1 : 0;
  return table.is_grouped && table.rows.length >= 60 ? foldable(table).filter((row) => table.depths![row] >= least) : [];
}

function GridBar({ table, rows, isWide, onWide, search, children }: GridProps & { rows: number[] }) {
  const all = table.row_count ?? table.rows.length;
  const cut = table.rows.length < all ? `, the first ${plural(table.rows.length, "row")} of ${plural(all, "row")}` : "";
  return (
    <div class="bar">
      {children}
      <span class="muted" role="status">
        {search ? `${plural(rows.length, "row")} with “${search.slice(0, 40)}”` : plural(rows.length, "row")}
        {cut}
      </span>
      <span class="gap" />
      {onWide && (
        <button aria-pressed={!!isWide} onClick={() => onWide(!isWide)}>
          All columns
        </button>
      )}
      <CopyButton rows={rows.length} make={() => csv(table, rows)} />
    </div>
  );
}
