// Two recordings: what got more (red, to the right) and what got less (blue, to the left).
import { useMemo, useState } from "preact/hooks";
import { MAIN, SHOWN, type Recording, type Table } from "../data";
import { useBox } from "../hooks";
import { compare, normalise, relative, subjects, type Pair } from "../model/compare";
import { bytes, duration, percent, plural, quantity } from "../model/format";
import { csv } from "../model/table";
import type { ViewProps } from "../props";
import { Choice, CopyButton, Empty, Marked } from "./bits";
import { moved } from "./grid";

const ROW = 24;

export function signed(value: number, unit: string): string {
  return (value > 0 ? "+" : "") + quantity(value, unit);
}

function changeText(change: number | null): string {
  if (change === null) return "new";
  if (change === -100) return "gone";
  if (Math.abs(change) < 0.05) return "±0.0%";
  return `${change > 0 ? "+" : "−"}${Math.abs(change).toFixed(Math.abs(change) < 100 ? 1 : 0)}%`;
}

function kindOf(change: number): string {
  return Math.abs(change) < 0.05 ? "" : change > 0 ? "more" : "less";
}

function Total({ title, a, b, write }: { title: string; a: number; b: number; write(value: number): string }) {
  if (!a && !b) return null;
  const change = relative({ a, b });
  return (
    <div class="fact">
      <span>{title}</span>
      <b class={kindOf(change ?? 100)}>{changeText(change)}</b>
      <span class="clip">
        {write(a)} → {write(b)}
      </span>
    </div>
  );
}

function Totals({ a, b }: { a: Recording; b: Recording }) {
  const of = (recording: Recording, key: string) => Number(recording.infos[key] ?? 0);
  return (
    <section class="facts" style={{ padding: "12px 16px 4px" }} aria-label="totals">
      <Total title="length" a={a.length_ns} b={b.length_ns} write={duration} />
      <Total title="CPU time" a={of(a, "cpu_ns")} b={of(b, "cpu_ns")} write={duration} />
      <Total title="memory at the peak" a={of(a, "peak_bytes")} b={of(b, "peak_bytes")} write={bytes} />
      <Total title="allocated" a={of(a, "alloc_bytes")} b={of(b, "alloc_bytes")} write={bytes} />
      <Total title="copied" a={of(a, "copied_bytes")} b={of(b, "copied_bytes")} write={bytes} />
    </section>
  );
}

type Order = "difference" | "change" | "a" | "b" | "name";

function ordered(pairs: Pair[], order: Order, isUp: boolean): Pair[] {
  const value = (pair: Pair): number | string =>
    ({ difference: pair.b - pair.a, change: relative(pair) ?? Infinity, a: pair.a, b: pair.b, name: pair.name })[order];
  const sign = isUp ? 1 : -1;
  return [...pairs].sort((x, y) => {
    const [p, q] = [value(x), value(y)];
    return sign * (typeof p === "string" ? p.localeCompare(String(q)) : p === q ? 0 : p < (q as number) ? -1 : 1);
  });
}

function pairsTable(pairs: Pair[], unit: string): Table {
  const text = (name: string) => ({ name, title: name, unit: "text" as const, traits: SHOWN | MAIN });
  const number = (name: string) => ({ name: `${name}_${unit}`, title: name, unit: "number" as const, traits: SHOWN });
  const percentColumn = { name: "change_percent", title: "change", unit: "percent" as const, traits: SHOWN };
  return {
    view: "compare",
    is_tree: false,
    depths: null,
    footer: "",
    columns: [text("name"), text("place"), number("first"), number("second"), number("difference"), percentColumn],
    rows: pairs.map((pair) => [pair.name, pair.place, pair.a, pair.b, pair.b - pair.a, relative(pair)]),
  };
}

export function Compare(props: ViewProps) {
  const { recording: a, other: b, state, onOption } = props;
  if (!b) return <Empty>There is one recording in this page. Two are compared with: sonde report FIRST SECOND.</Empty>;
  const list = subjects(a, b);
  const subject = list.find((one) => one.id === state.options["compare.what"]) ?? list[0];
  if (!subject) return <Empty>These two recordings have nothing in common that could be compared.</Empty>;
  const isShare = state.options["compare.as"] === "share";
  const pairs = useMemo(() => {
    const found = compare(a, b, subject);
    return isShare ? normalise(found) : found;
  }, [a, b, subject, isShare]);
  const unit = isShare ? "percent" : subject.unit;
  return (
    <>
      <Totals a={a} b={b} />
      <div class="bar">
        <Choice label="what" value={subject.id} choices={list.map((one) => [one.id, one.title] as const)} onChange={(value) => onOption("compare.what", value, true)} />
        <Choice
          label="as"
          value={isShare ? "share" : "absolute"}
          choices={[
            ["absolute", "Absolute"],
            ["share", "Share of each run"],
          ]}
          onChange={(value) => onOption("compare.as", value === "share" ? "share" : null)}
        />
        <span class="muted">
          <span class="dot" style={{ background: "var(--b)" }} />
          more in the second <span class="dot" style={{ background: "var(--a)", marginInlineStart: "10px" }} />
          less
        </span>
        <span class="gap" />
        <span class="muted clip" style={{ maxWidth: "300px" }}>
          {nameOf(a)} → {nameOf(b)}
        </span>
        <CopyButton rows={pairs.length} make={() => csv(pairsTable(pairs, unit), pairs.map((_, i) => i))} />
      </div>
      <Pairs {...props} pairs={pairs} unit={unit} />
    </>
  );
}

/** The program and, since that is often the same, when it started. */
function nameOf(recording: Recording): string {
  const started = Number(recording.infos.start_realtime_ns ?? 0);
  const at = started ? new Date(started / 1e6).toISOString().slice(11, 19) : "";
  return `${(recording.infos.program ?? "").slice(0, 60)} ${at}`;
}

const HEADS: [Order, string, string][] = [
  ["name", "name", ""],
  ["a", "first", "num"],
  ["b", "second", "num"],
  ["difference", "difference", "num"],
  ["change", "change", "num"],
];

function Pairs({ pairs, unit, state, onSelect, onOption }: ViewProps & { pairs: Pair[]; unit: string }) {
  const [scroller, box] = useBox<HTMLDivElement>();
  const [top, setTop] = useState(0);
  const [active, setActive] = useState(0);
  const sort = state.options["compare.sort"] ?? "";
  const order = sort.replace("-", "") as Order;
  const wanted = state.search.toLowerCase();
  const rows = useMemo(() => {
    const kept = pairs.filter((pair) => `${pair.name}\n${pair.place}`.toLowerCase().includes(wanted));
    return order ? ordered(kept, order, !sort.startsWith("-")) : kept;
  }, [pairs, sort, wanted]);
  const most = Math.max(...pairs.map((pair) => Math.abs(pair.b - pair.a)), 1e-9);
  const page = Math.ceil(box.height / ROW);
  const first = Math.max(0, Math.floor(top / ROW) - 8);
  const onKeyDown = (event: KeyboardEvent) => {
    const next = moved(event.key, active, rows.length, page);
    if (next === undefined || event.ctrlKey) return;
    setActive(next);
    const at = scroller.current!;
    if (next * ROW < at.scrollTop) at.scrollTop = next * ROW;
    else if ((next + 3) * ROW > at.scrollTop + at.clientHeight) at.scrollTop = (next + 3) * ROW - at.clientHeight;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      ref={scroller}
      class="grid"
      role="grid"
      aria-label="comparison"
      aria-rowcount={rows.length + 1}
      tabIndex={0}
      data-keys
      style={{ "--columns": "minmax(26ch, 1fr) minmax(90px, 22ch) 12ch 12ch 13ch 10ch minmax(110px, 220px)", "--least": "calc(26ch + 90px + 47ch + 130px)" }}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      onKeyDown={onKeyDown}
    >
      <div class="head" role="row">
        {HEADS.map(([name, title, kind], i) => (
          <>
            <div key={name} role="columnheader" class={kind} aria-sort={order === name ? (sort.startsWith("-") ? "descending" : "ascending") : undefined}>
              <button onClick={() => onOption("compare.sort", sort === `-${name}` ? name : `-${name}`)}>
                {title}
                {order === name ? (sort.startsWith("-") ? " ▾" : " ▴") : ""}
              </button>
            </div>
            {i === 0 && (
              <div role="columnheader">
                <button disabled>place</button>
              </div>
            )}
          </>
        ))}
        <div role="columnheader" class="num">
          <button disabled style={{ textAlign: "center" }}>less · more</button>
        </div>
      </div>
      {rows.length === 0 && <Empty>Nothing differs{wanted ? ` that has “${state.search}” in it` : ""}.</Empty>}
      <div class="body" role="rowgroup" style={{ height: `${rows.length * ROW}px` }}>
        {rows.slice(first, first + page + 20).map((pair, i) => (
          <PairRow key={first + i} pair={pair} unit={unit} most={most} top={(first + i) * ROW} search={state.search} isActive={first + i === active} onClick={() => onSelect({ name: pair.name, file: pair.file, line: pair.line })} />
        ))}
      </div>
      <span class="sr" role="status">{plural(rows.length, "row")}</span>
    </div>
  );
}

function PairRow({ pair, unit, most, top, search, isActive, onClick }: { pair: Pair; unit: string; most: number; top: number; search: string; isActive: boolean; onClick(): void }) {
  const difference = pair.b - pair.a;
  const kind = difference > 0 ? "more" : difference < 0 ? "less" : "muted";
  const width = (50 * Math.abs(difference)) / most;
  const write = (value: number) => (unit === "percent" ? percent(value) : quantity(value, unit));
  return (
    <div role="row" class={`row${isActive ? " active" : ""}`} style={{ top: `${top}px` }} onClick={onClick}>
      <div role="gridcell" class={pair.line ? "code" : "name"} title={pair.name.slice(0, 2000)}>
        <Marked text={pair.name.slice(0, 300)} search={search} />
      </div>
      <div role="gridcell" class="muted" title={pair.place.slice(0, 2000)}>
        {pair.place.slice(0, 300)}
      </div>
      <div role="gridcell" class="num">{pair.a ? write(pair.a) : ""}</div>
      <div role="gridcell" class="num">{pair.b ? write(pair.b) : ""}</div>
      <div role="gridcell" class={`num ${kind}`}>{signed(difference, unit)}</div>
      <div role="gridcell" class={`num ${kind}`}>{changeText(relative(pair))}</div>
      <div role="gridcell" class="both">
        <i style={difference > 0 ? { left: "50%", width: `${width}%`, background: "var(--b)" } : { right: "50%", width: `${width}%`, background: "var(--a)" }} />
      </div>
    </div>
  );
}
