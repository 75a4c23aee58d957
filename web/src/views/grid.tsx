// A table: sorted by any column, folded, filtered, drawn as far as it is visible, and used with the keyboard alone.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useState } from "preact/hooks";
import type { Cell, Column, Table } from "../data";
import { NO_ZERO } from "../data";
import { useBox } from "../hooks";
import { isRelated, rowSelection } from "../model/choose";
import { cellText, isText, plural } from "../model/format";
import { arrange, columnIndex, csv, firstSort, fitColumns, hasChildren, mainColumn, shownColumns, type Sort } from "../model/table";
import type { Selection } from "../state";
import { CopyButton, DigitSpark, Empty, Marked } from "./bits";

const ROW = 24;
const HEAD = 28;
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
  const isShare = (column.unit === "percent" || column.unit === "bar") && typeof cell === "number" && cell > 0;
  return isShare ? `${Math.min(100, cell)}%` : undefined;
}

/** A zero that says nothing; of an error it says that it is small. */
function isQuietZero(column: Column): boolean {
  return (column.traits & NO_ZERO) !== 0 || column.title === "+-";
}

function ValueCell({ cell, column, search }: { cell: Cell; column: Column; search: string }) {
  if (column.unit === "spark")
    return <div role="gridcell">{typeof cell === "string" && cell && <DigitSpark digits={cell} />}</div>;
  const text = cell === 0 && isQuietZero(column) ? "" : cellText(cell, column);
  const width = shareOf(cell, column);
  const isWord = column.unit === "text";
  return (
    <div
      role="gridcell"
      class={`${isWord ? "name" : "num"}${width ? " share" : ""}${cell === 0 ? " muted" : ""}`}
      style={width ? { "--w": width } : undefined}
      title={isWord && text.length > 20 ? text.slice(0, 4000) : undefined}
    >
      {isWord ? <Marked text={text.slice(0, LONGEST)} search={search} /> : text}
    </div>
  );
}

function MainCell(props: { table: Table; row: number; isFolded: boolean; search: string; onFold(row: number): void }) {
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
              props.onFold(row);
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

function HeadCell({ column, sort, onClick }: { column: Column; sort: Sort | null; onClick(): void }) {
  const direction = sort ? (sort.descending ? "descending" : "ascending") : undefined;
  return (
    <div role="columnheader" aria-sort={direction} class={isText(column.unit) && column.unit !== "label" ? "" : "num"}>
      <button onClick={onClick} title={`${column.name}: sort`}>
        {column.title === "+-" ? "±" : column.title || column.name}
        {sort ? (sort.descending ? " ▾" : " ▴") : ""}
      </button>
    </div>
  );
}

function toggled(set: ReadonlySet<number>, row: number): Set<number> {
  const next = new Set(set);
  if (!next.delete(row)) next.add(row);
  return next;
}

const KEYS: Record<string, string> = { w: "ArrowUp", s: "ArrowDown", a: "ArrowLeft", d: "ArrowRight" };

/** Where a key moves to among `count` rows; undefined: it is no key that moves. */
export function moved(key: string, at: number, count: number, page: number): number | undefined {
  const target = {
    ArrowUp: at - 1,
    ArrowDown: at + 1,
    PageUp: at - page,
    PageDown: at + page,
    Home: 0,
    End: count - 1,
  }[KEYS[key] ?? key];
  return target === undefined ? undefined : Math.max(0, Math.min(count - 1, target));
}

export function Grid(props: GridProps) {
  const { table, search, selection } = props;
  const [scroller, box] = useBox<HTMLDivElement>();
  const [top, setTop] = useState(0);
  const [active, setActive] = useState(0);
  const [folded, setFolded] = useState<ReadonlySet<number>>(new Set());
  useEffect(() => setFolded(new Set(foldedAtFirst(table))), [table]);
  const sort = parseSort(table, props.sort);
  const rows = useMemo(() => arrange(table, { sort, filter: search, folded }), [table, props.sort, search, folded]);
  const layout = useMemo(() => layoutColumns(table, box.width, !!props.isWide), [table, box.width, props.isWide]);
  const page = Math.max(1, Math.floor((box.height - HEAD) / ROW));

  const show = (index: number) => {
    const at = scroller.current;
    if (!at) return;
    const y = index * ROW;
    if (y < at.scrollTop) at.scrollTop = y;
    else if (y + ROW + HEAD > at.scrollTop + at.clientHeight) at.scrollTop = y + ROW + HEAD - at.clientHeight + 12;
  };
  const find = () => rows.findIndex((row) => isRelated(rowSelection(table, row), selection ?? null));
  useLayoutEffect(() => {
    const at = selection ? find() : -1;
    if (at < 0) return;
    setActive(at);
    show(at);
  }, [selection, table, box.height > 0]);

  const choose = (row: number | undefined) => {
    if (row === undefined) return;
    if (props.onRow) props.onRow(row);
    else props.onSelect(rowSelection(table, row));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || (event.target as HTMLElement).closest(".head")) return;
    const key = KEYS[event.key] ?? event.key;
    const next = moved(key, active, rows.length, page);
    const row = rows[active];
    if (next !== undefined) {
      setActive(next);
      show(next);
    } else if (key === "ArrowLeft" || key === "ArrowRight") {
      if (row === undefined || !hasChildren(table, row)) return;
      if (folded.has(row) === (key === "ArrowRight")) setFolded(toggled(folded, row));
    } else if (key === "Enter" || key === " ") choose(row);
    else if (key === "+") setFolded(new Set());
    else if (key === "-") setFolded(new Set(table.rows.map((_, i) => i).filter((i) => hasChildren(table, i))));
    else if (key === "0") props.onSort(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const first = Math.max(0, Math.floor(top / ROW) - 8);
  const visible = rows.slice(first, first + page + 24);
  return (
    <>
      <GridBar {...props} rows={rows} />
      <div
        ref={scroller}
        class="grid"
        role={table.is_tree ? "treegrid" : "grid"}
        aria-label={props.label}
        aria-rowcount={rows.length + 1}
        aria-activedescendant={rows.length ? rowId(props.label, rows[active]) : undefined}
        tabIndex={0}
        data-keys
        style={{ "--columns": layout.template, "--least": layout.least }}
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}
        onKeyDown={onKeyDown}
      >
        <div class="head" role="row">
          {layout.columns.map((at) => (
            <HeadCell
              key={at}
              column={table.columns[at]}
              sort={sort?.column === at ? sort : null}
              onClick={() => props.onSort(nextSort(table.columns[at], at, sort))}
            />
          ))}
        </div>
        {rows.length === 0 && <Empty>{search ? `Nothing here has “${search}” in it.` : "There are no rows."}</Empty>}
        <div class="body" role="rowgroup" style={{ height: `${rows.length * ROW}px` }}>
          {visible.map((row, i) => (
            <div
              key={row}
              id={rowId(props.label, row)}
              role="row"
              aria-rowindex={first + i + 2}
              aria-level={table.is_tree ? (table.depths?.[row] ?? 0) + 1 : undefined}
              aria-expanded={table.is_tree && hasChildren(table, row) ? !folded.has(row) : undefined}
              aria-selected={isRelated(rowSelection(table, row), selection ?? null)}
              class={rowClass(isRelated(rowSelection(table, row), selection ?? null), first + i === active)}
              style={{ top: `${(first + i) * ROW}px` }}
              onClick={() => {
                setActive(first + i);
                choose(row);
              }}
            >
              {layout.columns.map((at, position) =>
                position === 0 ? (
                  <MainCell
                    key={at}
                    table={table}
                    row={row}
                    isFolded={folded.has(row)}
                    search={search}
                    onFold={(which) => setFolded(toggled(folded, which))}
                  />
                ) : (
                  <ValueCell key={at} cell={table.rows[row][at]} column={table.columns[at]} search={search} />
                ),
              )}
            </div>
          ))}
        </div>
      </div>
    </>
  );
}

/** Things with what belongs to them below start folded when there are many of them. */
function foldedAtFirst(table: Table): number[] {
  if (!table.is_grouped || table.rows.length < 60) return [];
  return table.rows.map((_, row) => row).filter((row) => hasChildren(table, row));
}

function rowId(label: string, row: number): string {
  return `row-${label.replace(/\W/g, "-")}-${row}`;
}

function rowClass(isSelected: boolean, isActive: boolean): string {
  return `row${isSelected ? " selected" : ""}${isActive ? " active" : ""}`;
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
