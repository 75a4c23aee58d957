// Pieces that the drawn views share: the bar of choices, the tooltip, what is said aloud.
import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { plural } from "../model/format";
import type { ViewProps } from "../props";
import { withWaiting, type Selection } from "../state";
import { PART_NAMES, type Theme } from "./colours";
import { amountAndShare, type Row } from "./describe";
import { fileOf, kindOf, lineOf, nameOf, type Names } from "./frames/names";
import type { Found } from "./frames/search";
import { framesFor, measureOf, sourceOf, type Drawn } from "./frames/source";

export function Choice(props: { title: string; value: string; options: readonly (readonly [string, string])[]; onChange(value: string): void }) {
  return (
    <label class="draw-choice">
      {props.title}
      <select value={props.value} onChange={(event) => props.onChange(event.currentTarget.value)}>
        {props.options.map(([value, title]) => (
          <option key={value} value={value}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

export function Toggle(props: { title: string; isOn: boolean; isOff?: boolean; hint?: string; onChange(isOn: boolean): void }) {
  return (
    <button aria-pressed={props.isOn} disabled={props.isOff} title={props.hint} onClick={() => props.onChange(!props.isOn)}>
      {props.title}
    </button>
  );
}

/** What a view of frames gets besides. */
export interface FramedProps extends ViewProps {
  drawn: Drawn;
  names: Names;
}

/** A view that shows frames, as far as there are some. `id` names it in the address: "flame.metric", "flame.fold". */
export function framed(id: string, View: (props: FramedProps) => JSX.Element) {
  return (props: ViewProps) => {
    const { recording, state } = props;
    const source = sourceOf(recording);
    const measure = measureOf(source, state.options[`${id}.metric`] ?? (withWaiting(state) ? "time" : undefined));
    if (!measure) return <p class="empty">This recording has no time or memory data to show here.</p>;
    const drawn = framesFor(recording, measure, state.thread, state.range, state.options[`${id}.fold`] !== "0");
    if (drawn.frames.total[0] <= 0) return <p class="empty">There is nothing of “{measure.title}” in this thread and range.</p>;
    return <View {...props} drawn={drawn} names={source.names} />;
  };
}

/** What can be chosen in all views of frames, and what a search found. */
export function Bar(props: FramedProps & { view: string; found: Found | null; children: ComponentChildren }) {
  const { view, drawn, found } = props;
  const { measures } = sourceOf(props.recording);
  const [fold, setFold] = option(props, `${view}.fold`, "1");
  const asTable = () => {
    props.onOption("tree.metric", drawn.measure.id);
    props.onView("tree");
  };
  return (
    <div class="draw-bar" role="toolbar" aria-label="Choices">
      {measures.length > 1 && <Choice title="Measure" value={drawn.measure.id} options={measures.map(({ id, title }) => [id, title])} onChange={(id) => props.onOption(`${view}.metric`, id)} />}
      <Toggle title="Fold libraries" isOn={fold === "1"} onChange={(isOn) => setFold(isOn ? "1" : "0")} />
      {view !== "tree" && <button onClick={asTable}>As a table</button>}
      {props.children}
      {found && (
        <output>
          Found {plural(found.functions, "function")} in {plural(found.frames, "place")}: <b>{amountAndShare(found.weight, drawn.frames.total[0], drawn.measure)}</b>
        </output>
      )}
    </div>
  );
}

export function Remarks({ texts }: { texts: string[] }) {
  const shown = texts.filter((text) => text !== "");
  return shown.length > 0 ? <p class="draw-remark muted">{shown.join(" ")}</p> : null;
}

export function Legend({ theme, items }: { theme: Theme; items?: readonly (readonly [string, string])[] }) {
  const shown = items ?? PART_NAMES.map((name, i) => [name, theme.parts[i]] as const);
  return (
    <ul class="draw-legend muted" aria-label="Colours">
      {shown.map(([name, colour]) => (
        <li key={name} title={name} class="clip">
          <i class="dot" style={{ background: colour }} />
          {name}
        </li>
      ))}
    </ul>
  );
}

export interface Tip {
  title: string;
  rows: Row[];
  /** In the place that the tooltip stands in. */
  x: number;
  y: number;
}

/** Beside the pointer, and inside of its place. */
export function Tooltip({ tip }: { tip: Tip | null }) {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const box = ref.current;
    if (!box || !tip) return;
    const place = box.parentElement!;
    const x = tip.x + 14 + box.offsetWidth > place.clientWidth ? tip.x - 14 - box.offsetWidth : tip.x + 14;
    const y = tip.y + 16 + box.offsetHeight > place.clientHeight ? tip.y - 12 - box.offsetHeight : tip.y + 16;
    box.style.transform = `translate(${Math.max(4, x)}px, ${Math.max(4, y)}px)`;
  });
  if (!tip) return null;
  return (
    <div class="draw-tip" ref={ref} role="presentation">
      <b>{tip.title}</b>
      <dl>
        {tip.rows.map(({ label, value }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** Heard, not seen. */
export function Live({ text }: { text: string }) {
  return <p class="sr" role="status">{text}</p>;
}

export function selectionOf(names: Names, what: number): Selection | null {
  const kind = kindOf(names, what);
  if (kind === "all" || kind === "thread" || kind === "waiting" || kind === "gc" || kind === "mark") return null;
  return { name: nameOf(names, what), file: fileOf(names, what), line: lineOf(names, what) };
}

/** The functions that a selection is about: a function, or the one that a line is of. -1 where it is none. */
export function whatOf(names: Names, selection: Selection | null): number {
  if (!selection) return -1;
  let found = -1;
  for (let what = 0; what < names.functions; what++) {
    if (nameOf(names, what) !== selection.name || (selection.file && fileOf(names, what) !== selection.file)) continue;
    if (found < 0 || lineOf(names, what) === selection.line) found = what;
  }
  return found;
}

/** A choice that is kept in the address; its first value is not written. */
export function option(props: ViewProps, name: string, otherwise: string): [string, (value: string) => void] {
  const value = props.state.options[name] ?? otherwise;
  return [value, (next) => props.onOption(name, next === otherwise ? null : next)];
}
