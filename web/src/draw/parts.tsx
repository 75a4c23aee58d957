// Pieces that the drawn views share: the bar of choices, the tooltip, what is said aloud.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { ViewProps } from "../props";
import type { Selection } from "../state";
import { PART_NAMES, type Theme } from "./colours";
import type { Row } from "./describe";
import { fileOf, kindOf, lineOf, nameOf, type Names } from "./names";
import type { Source } from "./source";
import type { Measure } from "./weights";

export function Choice(props: { title: string; value: string; options: readonly (readonly [string, string])[]; onChange(value: string): void }) {
  return (
    <label class="draw-choice">
      <span>{props.title}</span>
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
    <button type="button" class="draw-toggle" aria-pressed={props.isOn} disabled={props.isOff} title={props.hint} onClick={() => props.onChange(!props.isOn)}>
      {props.title}
    </button>
  );
}

export function MeasureChoice(props: { source: Source; measure: Measure; onChange(id: string): void }) {
  if (props.source.measures.length < 2) return <span class="draw-measure">{props.measure.title}</span>;
  const options = props.source.measures.map(({ id, title }) => [id, title] as const);
  return <Choice title="Measure" value={props.measure.id} options={options} onChange={props.onChange} />;
}

export function Legend({ theme, items }: { theme: Theme; items?: readonly (readonly [string, string])[] }) {
  const shown = items ?? PART_NAMES.map((name, i) => [name, theme.parts[i]] as const);
  return (
    <ul class="draw-legend" aria-label="Colours">
      {shown.map(([name, colour]) => (
        <li key={name} title={name}>
          <i style={{ background: colour }} />
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
  return (
    <p class="draw-live" aria-live="polite" role="status">
      {text}
    </p>
  );
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

export function selectionOf(names: Names, what: number): Selection | null {
  const kind = kindOf(names, what);
  if (kind === "all" || kind === "thread" || kind === "waiting") return null;
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
