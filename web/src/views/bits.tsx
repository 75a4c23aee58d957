// Small things that views are made of.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { copyText } from "../hooks";
import { plural, visible } from "../model/format";

/** A curve of values from 0 to `top`. */
export function Spark({ values, top, label }: { values: readonly number[]; top: number; label: string }) {
  if (values.length < 2 || top <= 0) return null;
  const step = 100 / (values.length - 1);
  const points = values.map((value, i) => `L${(i * step).toFixed(1)} ${(17 - (16 * value) / top).toFixed(1)}`).join("");
  return (
    <svg class="spark" viewBox="0 0 100 18" preserveAspectRatio="none" role="img" aria-label={label}>
      <path d={`M0 17${points}L100 17Z`} />
    </svg>
  );
}

/** The digits from 0 to 8 that the core writes. */
export function DigitSpark({ digits }: { digits: string }) {
  return <Spark values={[...digits].map(Number)} top={8} label={`over time, from 0 to 8: ${digits}`} />;
}

export interface Part {
  name: string;
  colour: string;
  value: number;
}

/** Parts side by side; `whole` is the full width. */
export function Stack({ parts, whole, big, label }: { parts: Part[]; whole: number; big?: boolean; label: string }) {
  return (
    <div class={big ? "stack big" : "stack"} role="img" aria-label={label}>
      {parts.map(({ name, colour, value }) =>
        value > 0 && whole > 0 ? (
          <i key={name} style={{ width: `${(100 * value) / whole}%`, background: `var(--${colour})` }} />
        ) : null,
      )}
    </div>
  );
}

/** One of a few. */
export function Choice<T extends string>(props: {
  label: string;
  value: T;
  choices: readonly (readonly [T, string])[];
  onChange(value: T): void;
}) {
  return (
    <div class="group" role="group" aria-label={props.label}>
      {props.choices.map(([value, title]) => (
        <button key={value} aria-pressed={value === props.value} onClick={() => props.onChange(value)}>
          {title}
        </button>
      ))}
    </div>
  );
}

/** A text with what was searched for marked in it. */
export function Marked(props: { text: string; search: string }) {
  const text = visible(props.text);
  const { search } = props;
  const at = search ? text.toLowerCase().indexOf(search.toLowerCase()) : -1;
  if (at < 0) return <>{text}</>;
  return (
    <>
      {text.slice(0, at)}
      <mark>{text.slice(at, at + search.length)}</mark>
      {text.slice(at + search.length)}
    </>
  );
}

export function CopyButton({ rows, make }: { rows: number; make(): string }) {
  const [said, setSaid] = useState("");
  const copy = async () => {
    setSaid((await copyText(make())) ? `Copied ${plural(rows, "row")}` : "Your browser does not allow this");
    setTimeout(() => setSaid(""), 2500);
  };
  return (
    <button onClick={() => void copy()} title="All columns, in whole nanoseconds and bytes">
      <span aria-live="polite">{said || "Copy as CSV"}</span>
    </button>
  );
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}
