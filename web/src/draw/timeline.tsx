// The timeline: what each thread did when, and numbers of the process on the same axis. A brushed range goes to all views.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { STATES } from "../model/metrics";
import { duration } from "../model/format";
import type { ViewProps } from "../props";
import { sameSelection, type Range } from "../state";
import { Plot, type ChartHandle } from "./charts";
import { chartsOf } from "./charts_data";
import { coloursByFile } from "./colours";
import type { Row } from "./describe";
import { entryAt, lengthOf, markAt } from "./frames/lanes";
import { entryName, nameOf, placeOf, titleOf, trackName, type Names } from "./frames/names";
import { Legend, Live, selectionOf, Toggle, Tooltip, whatOf, type Tip } from "./parts";
import { sourceOf } from "./frames/source";
import { follow, oneLine, useStage, useTheme, useWheel } from "./stage";
import { GUTTER, MARGIN, paintTimeline } from "./timeline_paint";
import { TimeGrid } from "./timeline_table";
import { AXIS, timeRowAt, timeRows, type TimeRow } from "./timeline_rows";
import { ARROWS, keyMoves, Viewport, wheelMoves } from "./viewport";
import "./draw.css";

export function Timeline(props: ViewProps) {
  const { recording } = props;
  if (!recording.events && recording.series.length === 0)
    return <p class="empty">This recording has no timeline: it has only totals.</p>;
  return <TimelineView {...props} />;
}

/** The functions on the stack of a node, innermost first. */
function stackOf(names: Names, node: number, most: number): string[] {
  const { nodes } = names.recording;
  const found: string[] = [];
  for (let at = nodes.parent[node]; at >= 0 && found.length < most; at = nodes.parent[at]) {
    const what = names.ofSite[nodes.site[at]];
    if (what >= 0) found.push(oneLine(nameOf(names, what), 60));
  }
  return found;
}

function tipRows(names: Names, row: TimeRow, entry: number): Row[] {
  const { recording } = names;
  const { lane } = row;
  const node = lane.node[entry];
  const rows = [
    { label: "thread", value: oneLine(trackName(recording, row.track), 60) },
    { label: "at", value: oneLine(placeOf(names, names.ofSite[recording.nodes.site[node]]), 80) },
    { label: "from", value: duration(lane.start[entry]) },
    { label: "for", value: row.kind === "marks" ? "" : duration(lane.end[entry] - lane.start[entry]) },
    { label: "state", value: row.kind === "samples" ? STATES[lane.state[entry]].replace("_", " for ").replace("cpu", "a processor") : "" },
    { label: "called by", value: stackOf(names, node, 4).join(" ‹ ") },
  ];
  return rows.filter(({ value }) => value !== "");
}

function readZoom(text: string | undefined, length: number): Range | null {
  const [from, to] = (text ?? "").split("-").map(Number);
  return to > from && from < length ? [from, to] : null;
}

function useTimeView(props: ViewProps, length: number, changed: () => void): Viewport {
  const last = useRef(props);
  last.current = props;
  const view = useRef<Viewport | null>(null);
  const zoom = props.state.options["timeline.zoom"];
  if (!view.current) {
    const made = new Viewport(changed, () => {
      const text = made.isWhole ? null : `${Math.round(made.from)}-${Math.round(made.to)}`;
      last.current.onOption("timeline.zoom", text);
    });
    made.reset(length, Math.min(length, 2000));
    const start = readZoom(zoom, length);
    if (start) made.set(start[0], start[1]);
    view.current = made;
  }
  useEffect(() => {
    const [from, to] = readZoom(zoom, length) ?? [0, length];
    const now = view.current!;
    if (Math.abs(now.from - from) + Math.abs(now.to - to) > 10) now.glide(from, to);
  }, [zoom]);
  useEffect(() => () => view.current?.stop(), []);
  return view.current;
}

function TimelineView(props: ViewProps) {
  const { recording, state } = props;
  const { names } = sourceOf(recording);
  const theme = useTheme();
  const length = lengthOf(recording);
  const rows = useMemo(() => timeRows(recording), [recording]);
  const charts = useMemo(() => chartsOf(recording), [recording]);
  const colours = useMemo(() => coloursByFile(theme, names, [...recording.own_files]), [theme, names]);
  const selected = useMemo(() => whatOf(names, state.selection), [names, state.selection]);
  const search = state.search.trim().toLowerCase();
  const isHit = useMemo(() => (search === "" ? null : (what: number) => nameOf(names, what).toLowerCase().includes(search)), [search, names]);
  const [tip, setTip] = useState<Tip | null>(null);
  const [width, setWidth] = useState(0);
  const [said, setSaid] = useState("");
  const handles = useRef<(ChartHandle | null)[]>([]);
  const brush = useRef<Range | null>(null);
  const cursor = useRef(-1);
  const scroller = useRef<HTMLDivElement>(null);
  const times = useRef<HTMLDivElement>(null);

  const stage = useStage((context, wide, high) => {
    if (wide !== width) setWidth(wide);
    const look = { theme, names, colours, isHit, selected, thread: state.thread, range: brush.current ?? state.range, cursor: cursor.current };
    paintTimeline(context, wide, high, rows, view, scroller.current!.scrollTop, look, length);
  });
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const view = useTimeView(props, length, () => {
    stage.redraw();
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      for (const handle of handles.current) handle?.follow(view);
    }, 60); // charts are dear: a few times a second while somebody zooms
  });

  const inner = () => Math.max(1, scroller.current!.clientWidth - GUTTER - MARGIN);
  const timeAt = (x: number) => Math.min(length, Math.max(0, view.from + ((x - GUTTER) / inner()) * (view.to - view.from)));

  function entryOf(x: number, y: number): { row: TimeRow; entry: number } | null {
    const found = y < AXIS || x < GUTTER ? null : timeRowAt(rows, y + scroller.current!.scrollTop);
    if (!found?.row) return null;
    const slack = ((view.to - view.from) / inner()) * 1.5;
    if (found.row.kind === "marks") {
      const entry = markAt(found.row.lane, timeAt(x), slack * 3);
      return entry < 0 ? null : { row: found.row, entry };
    }
    for (const at of [timeAt(x), timeAt(x) + slack, timeAt(x) - slack]) {
      const entry = entryAt(found.row.lane, at);
      if (entry >= 0) return { row: found.row, entry };
    }
    return null;
  }

  function point(event: PointerEvent): void {
    if (event.buttons !== 0) return;
    const [x, y] = [event.offsetX, event.offsetY];
    cursor.current = x;
    for (const handle of handles.current) handle?.point(x);
    stage.redraw();
    const found = entryOf(x, y);
    if (!found) return setTip(null);
    const node = found.row.lane.node[found.entry];
    const title = found.row.kind === "gc" ? `garbage collection, ${entryName(names, node)}` : found.row.kind === "marks" ? `mark ${entryName(names, node)}` : titleOf(names, names.ofSite[recording.nodes.site[node]]);
    setTip({ title: oneLine(title), rows: tipRows(names, found.row, found.entry), x, y });
  }

  function leave(): void {
    cursor.current = -1;
    setTip(null);
    for (const handle of handles.current) handle?.point(-10);
    stage.redraw();
  }

  function click(x: number, y: number): void {
    const track = timeRowAt(rows, y + scroller.current!.scrollTop)?.track.track;
    if (x < GUTTER && track !== undefined && y > AXIS) return props.onThread(track === state.thread ? -1 : track);
    const found = entryOf(x, y);
    const selection = found && selectionOf(names, names.ofSite[recording.nodes.site[found.row.lane.node[found.entry]]]);
    if (selection && !sameSelection(selection, state.selection)) props.onSelect(selection);
  }

  function setRange(range: Range | null): void {
    props.onRange(range && [Math.round(range[0]), Math.round(Math.max(range[1], range[0] + 1))]);
    setSaid(range ? `Range from ${duration(range[0])} to ${duration(range[1])}: all views show it.` : "The whole recording.");
  }

  function onPointerDown(event: PointerEvent): void {
    const isPan = event.button === 1 || event.shiftKey || event.altKey || event.ctrlKey || event.metaKey;
    if (event.button > 1) return;
    const start = event.offsetX;
    let last = start;
    const move = (next: PointerEvent) => {
      if (isPan) view.pan((last - next.offsetX) / inner());
      else if (start >= GUTTER && Math.abs(next.offsetX - start) > 4) {
        const [a, b] = [timeAt(start), timeAt(next.offsetX)];
        brush.current = [Math.min(a, b), Math.max(a, b)];
        stage.redraw();
      }
      last = next.offsetX;
      setTip(null);
    };
    follow(event, move, (next, isDone) => {
      const range = brush.current;
      brush.current = null;
      if (range && isDone) setRange(range);
      else if (isDone && !isPan) click(next.offsetX, next.offsetY);
      stage.redraw();
    });
  }

  function nextThread(by: number): void {
    const order = [-1, ...rows.tracks.map(({ track }) => track)];
    const next = order[(order.indexOf(state.thread) + by + order.length) % order.length];
    props.onThread(next);
    setSaid(next < 0 ? "All threads" : `Thread ${trackName(recording, next)}`);
    const row = rows.tracks.find(({ track }) => track === next);
    if (row) scroller.current!.scrollTop = Math.max(0, row.top - AXIS - 20);
  }

  function onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "ArrowUp" || event.key === "ArrowDown") nextThread(event.key === "ArrowUp" ? -1 : 1);
    else if (event.key === "Enter") setRange(view.isWhole ? null : [view.from, view.to]);
    else if (event.key === "Backspace") setRange(null);
    else if (!keyMoves(view, ARROWS[event.key] ?? event.key)) return;
    else if (event.key === "0") props.onOption("timeline.zoom", null);
    event.preventDefault();
    event.stopPropagation();
  }

  useWheel(times, (event) => {
    wheelMoves(view, event, inner(), timeAt(event.clientX - scroller.current!.getBoundingClientRect().left));
    setTip(null);
  });

  const isTable = state.options["timeline.table"] === "1" && !!recording.events;
  const label = `Timeline of ${duration(length)} with ${rows.tracks.length} threads. Left and right pan, + and - zoom, up and down choose a thread, Enter selects the visible range.`;
  return (
    <section class="draw" aria-label="Timeline">
      <div class="draw-bar" role="toolbar" aria-label="Timeline">
        <button onClick={() => view.glide(0, length)}>Whole</button>
        <button disabled={!state.range} onClick={() => state.range && view.glide(state.range[0], state.range[1])}>Zoom to range</button>
        <button disabled={!state.range} onClick={() => setRange(null)}>Clear range</button>
        {recording.events && <Toggle title="As a table" isOn={isTable} onChange={(isOn) => props.onOption("timeline.table", isOn ? "1" : null, true)} />}
        <span class="muted">{state.range ? `${duration(state.range[0])} – ${duration(state.range[1])}, ${duration(state.range[1] - state.range[0])} long` : "Drag to choose a range for all views; wheel zooms, Shift-drag pans."}</span>
        {recording.events?.sample_count ? <Legend theme={theme} /> : null}
      </div>
      {isTable && <TimeGrid {...props} names={names} rows={rows} seen={state.range ?? readZoom(state.options["timeline.zoom"], length) ?? [0, length]} />}
      <div class="draw-times" ref={times} hidden={isTable}>
        <div class="draw-place draw-scroll" ref={scroller} onScroll={stage.redraw} style={{ flexBasis: `${rows.height + 2}px` }}>
          <div style={{ height: `${rows.height}px` }}>
            <canvas ref={stage.ref} data-keys tabIndex={0} role="application" aria-label={label} onKeyDown={onKey} onPointerDown={onPointerDown} onPointerMove={point} onPointerLeave={leave} onDblClick={() => setRange(null)} />
          </div>
        </div>
        <Tooltip tip={tip} />
        <div class="draw-charts">
          {width > 0 && charts.map((chart, i) => <Plot key={chart.title} chart={chart} theme={theme} width={width} view={view} onBrush={setRange} onReady={(handle) => (handles.current[i] = handle)} />)}
        </div>
      </div>
      <Live text={said} />
    </section>
  );
}
