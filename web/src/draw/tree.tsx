// The tree: who called what, as rows to read, to open and to close.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { sameSelection } from "../state";
import { amount, labelOf, share } from "./describe";
import { kindOf, placeOf } from "./frames/names";
import { Bar, framed, Remarks, selectionOf, whatOf, type FramedProps } from "./parts";
import { findFrames, type Found } from "./frames/search";
import { oneLine } from "./stage";
import { hasChildren, openedAtFirst, openedFor, treeRows, type Opened, type TreeRow } from "./tree_rows";
import { ARROWS } from "./viewport";
import "./draw.css";

const HEIGHT = 24;

export const Tree = framed("tree", TreeView);

function TreeView(props: FramedProps) {
  const { drawn, names, state } = props;
  const { frames } = drawn;
  const found = useMemo(() => findFrames(frames, names, state.search), [frames, state.search]);
  const [opened, setOpened] = useState<Opened>(() => openedAtFirst(frames));
  const [at, setAt] = useState(0);
  useEffect(() => {
    const start = openedAtFirst(frames);
    setOpened(found ? openedFor(frames, start, (what) => found.isHit[what] === 1) : start);
    setAt(0);
  }, [frames, found]);
  const rows = useMemo(() => treeRows(frames, opened), [frames, opened]);
  const current = Math.min(at, rows.length - 1);

  function open(frame: number, isOpen: boolean): void {
    const next = new Set(opened.frames);
    if (isOpen) next.add(frame);
    else next.delete(frame);
    setOpened({ ...opened, frames: next });
  }

  function toggle(row: TreeRow): void {
    if (row.small > 0) setOpened({ ...opened, small: new Set(opened.small).add(row.frame) });
    else if (hasChildren(frames, row.frame)) open(row.frame, !opened.frames.has(row.frame));
  }

  function select(row: TreeRow): void {
    const selection = row.small > 0 ? null : selectionOf(names, frames.what[row.frame]);
    if (selection && !sameSelection(selection, state.selection)) props.onSelect(selection);
  }

  function expandAll(isAll: boolean): void {
    if (!isAll) return setOpened(openedAtFirst(frames));
    const all = new Set<number>();
    for (let i = 0; i < frames.count; i++) if (frames.total[i] >= frames.total[0] * 0.001) all.add(i);
    setOpened({ frames: all, small: new Set() });
  }

  function onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = rows[current];
    const isOpen = row.small === 0 && opened.frames.has(row.frame) && hasChildren(frames, row.frame);
    const up = () => setAt(Math.max(0, current - 1));
    const down = () => setAt(Math.min(rows.length - 1, current + 1));
    const right = () => (isOpen ? down() : toggle(row));
    const left = () => (isOpen ? open(row.frame, false) : setAt(Math.max(0, parentRow(rows, current))));
    const moves: Record<string, () => void> = {
      w: up, s: down, d: right, "+": right, a: left, "-": left,
      Home: () => setAt(0), End: () => setAt(rows.length - 1), PageUp: () => setAt(Math.max(0, current - 15)),
      PageDown: () => setAt(Math.min(rows.length - 1, current + 15)), "0": () => expandAll(false), "*": () => expandAll(true),
      Enter: () => (row.small > 0 ? toggle(row) : select(row)), " ": () => toggle(row),
    };
    const move = moves[ARROWS[event.key] ?? event.key];
    if (!move) return;
    move();
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    <section class="draw" aria-label="Tree">
      <Bar {...props} view="tree" found={found}>
        <button onClick={() => expandAll(true)}>Open all</button>
        <button onClick={() => expandAll(false)}>Close small ones</button>
        <b>{amount(frames.total[0], drawn.measure)} in all</b>
      </Bar>
      <Remarks texts={drawn.remarks} />
      <Grid {...props} rows={rows} opened={opened} current={current} found={found} onKey={onKey}
        onRow={(index, isTwist) => {
          setAt(index);
          if (isTwist || rows[index].small > 0) toggle(rows[index]);
          else select(rows[index]);
        }} />
    </section>
  );
}

function parentRow(rows: TreeRow[], index: number): number {
  let at = index - 1;
  while (at >= 0 && rows[at].depth >= rows[index].depth) at--;
  return at < 0 ? index : at;
}

interface GridProps extends FramedProps {
  rows: TreeRow[];
  opened: Opened;
  current: number;
  found: Found | null;
  onKey(event: KeyboardEvent): void;
  onRow(index: number, isTwist: boolean): void;
}

/** Only the rows that are seen are in the document. */
function Grid(props: GridProps) {
  const { rows, current, names, state } = props;
  const ref = useRef<HTMLDivElement>(null);
  const [scroll, setScroll] = useState({ top: 0, height: 800 });
  const selected = useMemo(() => whatOf(names, state.selection), [names, state.selection]);
  useEffect(() => {
    const box = ref.current!;
    const observer = new ResizeObserver(() => setScroll({ top: box.scrollTop, height: box.clientHeight }));
    observer.observe(box);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    const box = ref.current!;
    const top = current * HEIGHT;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + 2 * HEIGHT > box.scrollTop + box.clientHeight) box.scrollTop = top + 2 * HEIGHT - box.clientHeight;
  }, [current]);
  const first = Math.max(0, Math.floor(scroll.top / HEIGHT) - 4);
  const seen = rows.slice(first, first + Math.ceil(scroll.height / HEIGHT) + 8);
  return (
    <div class="draw-grid" ref={ref} role="treegrid" aria-label={`Tree of ${props.drawn.measure.title}`} aria-rowcount={rows.length + 1} data-keys tabIndex={0}
      aria-activedescendant={`draw-row-${current}`} onKeyDown={props.onKey} onScroll={(event) => setScroll({ top: event.currentTarget.scrollTop, height: event.currentTarget.clientHeight })}>
      <div class="draw-row draw-head" role="row" aria-rowindex={1}>
        {["Total", "Share", "Own", "Function", "Place"].map((title) => (
          <span key={title} role="columnheader">{title}</span>
        ))}
      </div>
      <div style={{ height: `${rows.length * HEIGHT}px`, position: "relative" }}>
        {seen.map((row, i) => (
          <Row key={`${row.frame} ${row.small}`} {...props} row={row} index={first + i} selected={selected} />
        ))}
      </div>
    </div>
  );
}

function Row(props: GridProps & { row: TreeRow; index: number; selected: number }) {
  const { row, index, drawn, names } = props;
  const { frames, measure } = drawn;
  const what = frames.what[row.frame];
  const isSmall = row.small > 0;
  const isOpen = !isSmall && props.opened.frames.has(row.frame);
  const hasKids = isSmall || hasChildren(frames, row.frame);
  const part = row.weight / frames.total[0];
  const isHit = !isSmall && props.found?.isHit[what] === 1;
  const label = isSmall ? `${row.small} ${row.small === 1 ? "row" : "rows"} below 1%` : labelOf(frames, names, row.frame);
  const classes = [
    "draw-row", index === props.current && "is-current", !isSmall && what === props.selected && "is-selected", isSmall && "is-small",
    !isSmall && ["waiting", "native"].includes(kindOf(names, what)) && "is-quiet",
    !isSmall && what < names.functions && names.isOwn[what] === 1 && "is-own",
  ];
  return (
    <div id={`draw-row-${index}`} class={classes.filter(Boolean).join(" ")} role="row" style={{ top: `${index * HEIGHT}px` }} aria-rowindex={index + 2} aria-level={row.depth + 1}
      aria-expanded={hasKids ? isOpen : undefined} aria-selected={!isSmall && what === props.selected} onClick={() => props.onRow(index, false)} onDblClick={() => props.onRow(index, true)}>
      <span role="gridcell">{amount(row.weight, measure)}</span>
      <span role="gridcell" class="draw-share" style={`--w:${Math.min(100, part * 100)}%`}>{share(row.weight, frames.total[0])}</span>
      <span role="gridcell">{isSmall || frames.own[row.frame] === 0 ? "" : amount(frames.own[row.frame], measure)}</span>
      <span role="rowheader" class="draw-name code" style={{ paddingLeft: `${Math.min(row.depth, 40) * 14}px` }}>
        <span class="draw-twist" aria-hidden="true" onClick={(event) => { event.stopPropagation(); props.onRow(index, true); }}>
          {hasKids ? (isOpen ? "▾" : "▸") : ""}
        </span>
        <span class="clip name">{isHit ? <mark>{label}</mark> : label}</span>
      </span>
      <span role="gridcell" class="clip name muted">{isSmall ? "" : oneLine(placeOf(names, what), 80)}</span>
    </div>
  );
}
