// The view of lines: the source with bars for what its time was spent on, memory, copies; and the functions.
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Recording, Table } from "../data";
import { answer, EMPTY } from "../model/choose";
import { baseName, cellText, percent, plural, visible } from "../model/format";
import { filesOf, matchItem, restsOf, sortedItems, sourceItems, type FileLines, type Item } from "../model/lines";
import { Highlighter } from "../model/python";
import { shareTitle } from "../model/samples";
import { columnIndex, csv, numbers, texts, type Sort } from "../model/table";
import type { ViewProps } from "../props";
import { withWaiting, type Selection } from "../state";
import { CopyButton, DigitSpark, Empty, Marked, Stack } from "./bits";
import { Grid, nextSort, parseSort } from "./grid";
import { HeadCell, rowClass, Rows, type Place } from "./rows";

const ROW = 21;
/** From this width on the parts of the time have columns of their own. */
const WIDE = 1150;
export const PARTS = [
  ["python", "Python"],
  ["native", "native"],
  ["system", "system"],
  ["waiting", "waiting"],
  ["gpu", "GPU"],
] as const;

interface LineColumn {
  name: string;
  title: string;
  /** In characters; 0: a bar. */
  width: number;
  isWide: boolean;
}

const COLUMNS: LineColumn[] = [
  { name: "line", title: "line", width: 7, isWide: false },
  { name: "cpu_ns", title: "CPU time", width: 0, isWide: false },
  { name: "time_ns", title: "time", width: 0, isWide: false },
  { name: "percent", title: "", width: 10, isWide: false },
  { name: "python_percent", title: "Python", width: 8, isWide: true },
  { name: "native_percent", title: "native", width: 8, isWide: true },
  { name: "system_percent", title: "system", width: 8, isWide: true },
  { name: "waiting_percent", title: "waiting", width: 9, isWide: true },
  { name: "waited_ns", title: "waiting", width: 9.5, isWide: false },
  { name: "gpu_percent", title: "GPU", width: 8, isWide: false },
  { name: "peak_bytes", title: "peak", width: 9.5, isWide: false },
  { name: "live_bytes", title: "growth", width: 9.5, isWide: true },
  { name: "timeline", title: "over time", width: 11, isWide: false },
  { name: "copied_bytes", title: "copied", width: 9.5, isWide: false },
];

/** Columns for which the table has data; on a narrow screen without the parts, which the bar shows anyway. */
function lineColumns(table: Table, isWide: boolean, isAll: boolean): LineColumn[] {
  const has = (name: string) => {
    const at = columnIndex(table, name);
    return at >= 0 && table.rows.some((row) => row[at]);
  };
  const left = isAll ? ["cpu_ns", "waited_ns"] : ["time_ns", "waiting_percent"];
  const columns = COLUMNS.filter(({ name }) => !left.includes(name)).map((column) => ({ ...column, title: column.title || shareTitle(isAll) }));
  return columns.filter((column) => (isWide || !column.isWide) && (column.name === "line" || has(column.name)));
}

const BAR = 18; // characters

/** The columns and the least width of a row: long lines scroll sideways. */
function layout(columns: LineColumn[], longest: number, place: number): { "--columns": string; "--least": string } {
  const widths = columns.map(({ name, width }) => (name === "line" ? place : width || BAR));
  const source = Math.min(400, Math.max(30, longest)) + 2;
  const least = widths.reduce((sum, width) => sum + width, 0) + source;
  return { "--columns": `${widths.map((width) => `${width}ch`).join(" ")} minmax(${source}ch, 1fr)`, "--least": `calc(${least}ch + 20px)` };
}

/** Width of the line numbers; a list of lines of several files says the file, too. */
function placeWidth(items: Item[], isSorted: boolean, files: FileLines[]): number {
  const name = isSorted && files.length > 1 ? Math.min(22, Math.max(...files.map((one) => baseName(one.file).length)) + 1) : 0;
  const last = items.reduce((max, item) => Math.max(max, item.kind === "line" ? item.line : item.to), 0);
  return name + Math.max(6, String(last).length + 2);
}

interface LinesData {
  table: Table;
  files: FileLines[];
  note: string;
  most: number;
  /** What the bars are made of. */
  parts: typeof PARTS[number][];
}

function useLines({ recording, state }: ViewProps): LinesData {
  return useMemo(() => {
    const found = answer(recording, "lines", "", state);
    const table = found?.table ?? EMPTY;
    const share = numbers(table, "percent");
    const line = numbers(table, "line");
    const most = table.rows.reduce((max, _, row) => (line(row) > 0 ? Math.max(max, share(row)) : max), 0);
    const parts = PARTS.filter(([part]) => part !== "waiting" || withWaiting(state));
    return { table, files: filesOf(table), note: found?.note ?? "", most, parts };
  }, [recording, state.range, state.thread, withWaiting(state)]);
}

function chosenFile({ state }: ViewProps, files: FileLines[]): FileLines | undefined {
  const wanted = state.options["lines.file"] ?? state.selection?.file;
  const ofSelection = files.find((one) => one.file === state.selection?.file);
  return ofSelection ?? files.find((one) => one.file === wanted) ?? files[0];
}

export function Lines(props: ViewProps) {
  const { state, onOption } = props;
  const data = useLines(props);
  const sort = parseSort(data.table, state.options["lines.sort"] ?? null);
  const file = chosenFile(props, data.files);
  const hideCold = state.options["lines.cold"] !== "1";
  if (!file && restsOf(data.table).length === 0)
    return <Empty>No line of the program's own files was found here{state.range ? " in the selected range" : ""}.</Empty>;
  const pick = (name: string) => {
    props.onOption("lines.file", name, true);
    if (state.selection) props.onSelect(null);
  };
  const missing = file && props.recording.missing.get(file.file);
  return (
    <>
      {data.note && <div class="note">{data.note}</div>}
      {missing && <div class="note">Source of {baseName(file.file)} not shown: {missing}.</div>}
      <div class="split">
        <section aria-label="source">
          <div class="bar">
            <select aria-label="file" value={file?.file} disabled={!!sort} onChange={(event) => pick(event.currentTarget.value)} style={{ maxWidth: "340px" }}>
              {data.files.map((one) => (
                <option key={one.file} value={one.file}>
                  {baseName(one.file).slice(0, 80)} · {percent(one.share)}
                </option>
              ))}
            </select>
            <button aria-pressed={hideCold && !sort} disabled={!!sort || !file || !props.recording.sources.has(file.file)} onClick={() => onOption("lines.cold", hideCold ? "1" : null)}>
              Hide cold lines
            </button>
            <button aria-pressed={!!sort} onClick={() => onOption("lines.sort", sort ? null : withWaiting(state) ? "-time_ns" : "-cpu_ns", true)}>
              {sort ? `Sorted by ${data.table.columns[sort.column].title || "time"}` : "Hottest first"}
            </button>
            <Legend {...data} />
            <span class="gap" />
            <CopyButton rows={data.table.rows.length} make={() => csv(data.table, data.table.rows.map((_, row) => row))} />
          </div>
          <Source {...props} data={data} file={file} hideCold={hideCold} />
        </section>
        <Functions {...props} />
      </div>
      {data.table.footer && <div class="footer">{data.table.footer}</div>}
    </>
  );
}

function Legend({ table, parts }: LinesData) {
  const shown = parts.filter(([part]) => columnIndex(table, `${part}_percent`) >= 0);
  return (
    <span class="muted">
      {shown.map(([part, title]) => (
        <span key={part} style={{ marginInlineEnd: "10px", whiteSpace: "nowrap" }}>
          <span class="dot" style={{ background: `var(--${part})` }} />
          {title}
        </span>
      ))}
    </span>
  );
}

function Functions(props: ViewProps) {
  const { recording, state } = props;
  const found = answer(recording, "sampled_functions", "", state);
  if (!found) return <section aria-label="functions"><Empty>No functions: no samples were taken.</Empty></section>;
  return (
    <section aria-label="functions">
      <Grid
        table={found.table}
        label="Functions"
        search={state.search}
        selection={state.selection && { ...state.selection, line: 0 }}
        onSelect={props.onSelect}
        sort={state.options["functions.sort"] ?? null}
        onSort={(sort) => props.onOption("functions.sort", sort)}
      />
    </section>
  );
}

type SourceProps = ViewProps & { data: LinesData; file: FileLines | undefined; hideCold: boolean };

function useItems({ recording, state, data, file, hideCold }: SourceProps) {
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  useEffect(() => setOpened(new Set()), [file?.file]);
  const sortText = state.options["lines.sort"] ?? null;
  const items = useMemo(() => {
    const sort = parseSort(data.table, sortText);
    if (sort) return sortedItems(data.table, sort);
    return file ? sourceItems(recording, file, hideCold, opened) : [];
  }, [data, file, hideCold, opened, sortText]);
  return { items, open: (from: number) => setOpened(new Set([...opened, from])) };
}

/** Where the selection is: its line, or for a function the first line that has numbers. */
function findItem(table: Table, items: Item[], selection: Selection | null): number {
  if (!selection) return -1;
  const name = texts(table, "function");
  return items.findIndex(
    (item) =>
      item.kind === "line" &&
      item.file === selection.file &&
      (selection.line ? item.line === selection.line : item.row >= 0 && name(item.row) === selection.name),
  );
}

/** The line to show: that of the selection, or the first that has what is searched for. */
function useShown({ recording, state, data }: SourceProps, items: Item[]): number {
  const { selection, search } = state;
  return useMemo(() => {
    const found = search ? items.findIndex((item) => matchItem(recording, data.table, item, search)) : -1;
    return found >= 0 ? found : findItem(data.table, items, selection);
  }, [items, selection?.name, selection?.file, selection?.line, search]);
}

function Source(props: SourceProps) {
  const { recording, state, data } = props;
  const { table } = data;
  const [isWide, setWide] = useState(false);
  const { items, open } = useItems(props);
  const shown = useShown(props, items);
  const sort = parseSort(table, state.options["lines.sort"] ?? null);
  const columns = useMemo(() => lineColumns(table, isWide, withWaiting(state)), [table, isWide]);
  const longest = useMemo(() => longestLine(recording, items), [items]);
  const select = (item: Item) => {
    if (item.kind === "jump") open(item.from);
    else props.onSelect({ name: item.row >= 0 ? texts(table, "function")(item.row) : "", file: item.file, line: item.line });
  };
  return (
    <>
      <Rows
        label="lines"
        role="grid"
        class="grid source"
        count={items.length}
        height={ROW}
        style={layout(columns, longest, placeWidth(items, !!sort, data.files))}
        onWidth={(width) => setWide(width > WIDE)}
        head={<Head {...props} columns={columns} sort={sort} />}
        empty="No line of this file has any numbers."
        shown={shown}
        onEnter={(index) => items[index] && select(items[index])}
        onKey={(key) => {
          if (key === "0") props.onOption("lines.sort", null);
          return key === "0";
        }}
        row={(index, place, isActive) => (
          <SourceRow key={keyOf(items[index])} {...props} item={items[index]} place={place} columns={columns} isActive={isActive} isSorted={!!sort} />
        )}
      />
      <Detail {...props} />
    </>
  );
}

const keyOf = (item: Item) => (item.kind === "jump" ? `jump ${item.from}` : `${item.file} ${item.line}`);

/** The line number brings the file's own order back; all others sort. */
function Head({ data, recording, columns, sort, onOption }: SourceProps & { columns: LineColumn[]; sort: Sort | null }) {
  const { table } = data;
  const source = { name: "source", title: recording.sources.size > 0 ? "source" : "function" };
  return (
    <>
      {[...columns, source].map(({ name, title }) => {
        const at = columnIndex(table, name);
        const isLine = name === "line";
        return (
          <HeadCell
            key={name}
            title={title}
            hint={isLine ? "in file order" : `sort by ${title}`}
            kind={["cpu_ns", "time_ns", "timeline", "source"].includes(name) ? "" : "num"}
            sort={sort?.column === at ? sort : null}
            onClick={() => at >= 0 && onOption("lines.sort", isLine ? null : nextSort(table.columns[at], at, sort))}
          />
        );
      })}
    </>
  );
}

function longestLine(recording: Recording, items: Item[]): number {
  let longest = 0;
  for (const item of items)
    if (item.kind === "line") longest = Math.max(longest, recording.sources.get(item.file)?.[item.line - 1]?.length ?? 0);
  return longest;
}

const highlighters = new WeakMap<string[], Highlighter>();

function highlighterOf(source: string[]): Highlighter {
  let found = highlighters.get(source);
  if (!found) highlighters.set(source, (found = new Highlighter(source)));
  return found;
}

/** Longer lines are data, not code. */
const LONGEST = 1000;

function Code({ recording, item, search, fallback, isTrimmed }: { recording: Recording; item: Item & { kind: "line" }; search: string; fallback: string; isTrimmed: boolean }) {
  const source = recording.sources.get(item.file);
  const text = source?.[item.line - 1] ?? fallback;
  if (!source || text.length > LONGEST || (search && text.toLowerCase().includes(search.toLowerCase())))
    return <Marked text={(isTrimmed ? text.trim() : text).slice(0, LONGEST)} search={search} />;
  const tokens = highlighterOf(source).tokens(item.line - 1);
  return (
    <>
      {tokens.map(([kind, token], i) => {
        const shown = visible(isTrimmed && i === 0 ? token.trimStart() : token);
        return kind ? <span class={`t-${kind}`}>{shown}</span> : shown;
      })}
    </>
  );
}

type RowProps = SourceProps & { item: Item; place: Place; columns: LineColumn[]; isActive: boolean; isSorted: boolean };

function SourceRow(props: RowProps) {
  const { item, place, columns, state, data, recording } = props;
  if (item.kind === "jump")
    return (
      <div {...place} class={`row jump${props.isActive ? " active" : ""}`}>
        <div class="num">⋯</div>
        <div role="gridcell" style={{ gridColumn: "2 / -1" }}>
          {plural(item.to - item.from + 1, "cold line")}, {item.from} to {item.to}: show
        </div>
      </div>
    );
  const { selection } = state;
  const isSelected = !!selection && selection.file === item.file && (selection.line ? selection.line === item.line : item.row >= 0 && texts(data.table, "function")(item.row) === selection.name);
  const kind = rowClass(isSelected, props.isActive) + (item.row < 0 ? " cold" : "");
  return (
    <div {...place} class={kind} aria-selected={isSelected}>
      {columns.map((column) => (
        <LineCell key={column.name} column={column} item={item} data={data} isSorted={props.isSorted} />
      ))}
      <div role="gridcell" class="text code">
        <Code recording={recording} item={item} search={state.search} isTrimmed={props.isSorted} fallback={item.row >= 0 ? texts(data.table, "source")(item.row) || texts(data.table, "function")(item.row) : ""} />
      </div>
    </div>
  );
}

function LineCell({ column, item, data, isSorted }: { column: LineColumn; item: Item & { kind: "line" }; data: LinesData; isSorted: boolean }) {
  const { table } = data;
  if (column.name === "line")
    return (
      <div role="gridcell" class="num lineno" title={`${item.file}:${item.line}`}>
        {isSorted && data.files.length > 1 ? `${baseName(item.file)}:` : ""}
        {item.line}
      </div>
    );
  if (item.row < 0) return <div role="gridcell" />;
  const at = columnIndex(table, column.name);
  const cell = table.rows[item.row][at];
  if (!column.width) return <div role="gridcell"><TimeStack {...data} row={item.row} /></div>;
  if (column.name === "timeline") return <div role="gridcell">{typeof cell === "string" && cell ? <DigitSpark digits={cell} /> : null}</div>;
  return (
    <div role="gridcell" class="num">
      {cell ? cellText(cell, table.columns[at]) : ""}
    </div>
  );
}

function TimeStack({ table, row, most, parts: shown }: LinesData & { row: number }) {
  const parts = shown.map(([part, title]) => ({ name: title, colour: part, value: numbers(table, `${part}_percent`)(row) }));
  const label = parts.filter(({ value }) => value > 0).map(({ name, value }) => `${name} ${percent(value)}`).join(", ");
  return <Stack parts={parts} whole={most} label={label || "no time"} />;
}

/** All numbers of the line that is selected. */
function Detail({ data, state }: SourceProps) {
  const { table } = data;
  const { selection } = state;
  const row = selection?.line ? data.files.find((one) => one.file === selection.file)?.rows.get(selection.line) : undefined;
  if (row === undefined) return null;
  const hidden = new Set(["file", "place", "line", "function", "source", "timeline"]);
  const shown = table.columns.map((_, at) => at).filter((at) => !hidden.has(table.columns[at].name) && table.columns[at].unit !== "percent" && table.rows[row][at]);
  return (
    <div class="detail" role="status">
      <b class="clip">
        {baseName(selection!.file)}:{selection!.line} {texts(table, "function")(row)}
      </b>
      {shown.map((at) => (
        <span key={at}>
          <span class="muted">{table.columns[at].name.replace(/_(ns|bytes)$/, "").replaceAll("_", " ")}</span>{" "}
          {cellText(table.rows[row][at], table.columns[at])}
        </span>
      ))}
    </div>
  );
}
