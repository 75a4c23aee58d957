// Rows of one height, drawn as far as they are visible, and moved through with the keyboard alone.
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { useBox } from "../hooks";
import { Empty } from "./bits";

const HEAD = 28;
/** Rows that are drawn above and below the visible ones. */
const MARGIN = 12;
const KEYS: Record<string, string> = { w: "ArrowUp", s: "ArrowDown", a: "ArrowLeft", d: "ArrowRight" };

/** What a row has to put on its element. */
export interface Place {
  id: string;
  role: "row";
  "aria-rowindex": number;
  style: { top: string };
  onClick(): void;
}

export interface RowsProps {
  label: string;
  role: "grid" | "treegrid";
  class: string;
  count: number;
  /** Of a row, in px. */
  height: number;
  /** --columns and --least. */
  style: Record<string, string>;
  onWidth(width: number): void;
  head: ComponentChildren;
  /** Said when there are no rows. */
  empty: string;
  row(index: number, place: Place, isActive: boolean): VNode;
  /** A row that has to be seen when it changes; -1: none. */
  shown: number;
  onEnter(index: number): void;
  /** Another key; whether it was of use. */
  onKey(key: string, index: number): boolean;
}

/** Where a key moves to among `count` rows; undefined: it is no key that moves. */
export function moved(key: string, at: number, count: number, page: number): number | undefined {
  const target = { ArrowUp: at - 1, ArrowDown: at + 1, PageUp: at - page, PageDown: at + page, Home: 0, End: count - 1 }[KEYS[key] ?? key];
  return target === undefined ? undefined : Math.max(0, Math.min(count - 1, target));
}

/** Scrolls as little as it takes, or, when the row is far away, so that there is something around it. */
function scrollTo(element: HTMLElement, index: number, height: number): void {
  const [top, bottom] = [index * height, (index + 1) * height + HEAD];
  const distance = top < element.scrollTop ? element.scrollTop - top : bottom - element.scrollTop - element.clientHeight;
  if (top >= element.scrollTop && distance <= 0) return;
  if (distance > 3 * height) element.scrollTop = top - element.clientHeight / 3;
  else element.scrollTop += top < element.scrollTop ? -distance : distance + height / 2;
}

export function Rows(props: RowsProps) {
  const { count, height, shown } = props;
  const [scroller, box] = useBox<HTMLDivElement>();
  const [top, setTop] = useState(0);
  const [active, setActive] = useState(0);
  const page = Math.max(1, Math.floor((box.height - HEAD) / height));
  const go = (index: number) => {
    setActive(index);
    if (scroller.current) scrollTo(scroller.current, index, height);
  };
  useLayoutEffect(() => {
    if (shown >= 0) go(shown);
  }, [shown, box.height > 0]);
  useLayoutEffect(() => props.onWidth(box.width), [box.width]);
  useEffect(() => setActive((now) => Math.max(0, Math.min(now, count - 1))), [count]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || (event.target as HTMLElement).closest(".head")) return;
    const next = moved(event.key, active, count, page);
    if (next !== undefined) go(next);
    else if (event.key === "Enter" || event.key === " ") props.onEnter(active);
    else if (!props.onKey(KEYS[event.key] ?? event.key, active)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  const first = Math.max(0, Math.floor(top / height) - MARGIN);
  const name = props.label.replace(/\W/g, "-");
  const place = (index: number): Place => ({
    id: `${name}-${index}`,
    role: "row",
    "aria-rowindex": index + 2,
    style: { top: `${index * height}px` },
    onClick: () => {
      setActive(index);
      props.onEnter(index);
    },
  });
  return (
    <div
      ref={scroller}
      class={props.class}
      role={props.role}
      aria-label={props.label}
      aria-rowcount={count + 1}
      aria-activedescendant={count ? `${name}-${active}` : undefined}
      tabIndex={0}
      data-keys
      style={props.style}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      onKeyDown={onKeyDown}
    >
      <div class="head" role="row">
        {props.head}
      </div>
      {count === 0 && <Empty>{props.empty}</Empty>}
      <div class="body" role="rowgroup" style={{ height: `${count * height}px` }}>
        {Array.from({ length: Math.max(0, Math.min(count - first, page + 2 * MARGIN)) }, (_, i) =>
          props.row(first + i, place(first + i), first + i === active),
        )}
      </div>
    </div>
  );
}

/** The head of a column, which sorts by it. */
export function HeadCell(props: { title: string; hint: string; kind: string; sort: { descending: boolean } | null; onClick(): void }) {
  const { sort } = props;
  return (
    <div role="columnheader" aria-sort={sort ? (sort.descending ? "descending" : "ascending") : undefined} class={props.kind}>
      <button onClick={props.onClick} title={props.hint}>
        {props.title}
        {sort ? (sort.descending ? " ▾" : " ▴") : ""}
      </button>
    </div>
  );
}

export function rowClass(isSelected: boolean, isActive: boolean): string {
  return `row${isSelected ? " selected" : ""}${isActive ? " active" : ""}`;
}
