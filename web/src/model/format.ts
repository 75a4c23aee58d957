// Numbers as people read them: the same digits as the core prints (src/base/text.c, bytes.c), with a real µ.
import { SIGNED, type Cell, type Column, type Recording } from "../data";

export function duration(ns: number): string {
  const sign = ns < 0 ? "−" : "";
  let value = Math.abs(ns) / 1e9;
  for (const unit of ["s", "ms", "µs"]) {
    if (value >= 0.99999) {
      const digits = value >= 500 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : 3;
      return `${sign}${value.toFixed(digits)} ${unit}`;
    }
    value *= 1000;
  }
  return `${sign}${Math.round(value)} ns`;
}

export function bytes(count: number): string {
  const sign = count < 0 ? "−" : "";
  let value = Math.abs(count);
  if (value < 1024) return `${sign}${Math.round(value)} B`;
  const units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  let unit = 0;
  for (value /= 1024; value >= 999.5 && unit < units.length - 1; unit++) value /= 1024;
  return `${sign}${value.toFixed(value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2)} ${units[unit]}`;
}

export function percent(value: number): string {
  return `${value < 0 ? "−" : ""}${Math.abs(value).toFixed(2)}%`;
}

/** Whole numbers with thin spaces between thousands. */
export function count(value: number): string {
  return String(Math.round(value))
    .replace(/\B(?=(\d{3})+$)/g, "\u2009")
    .replace("-", "−");
}

function real(value: number): string {
  if (value !== 0 && Math.abs(value) < 0.001) return value.toExponential(2);
  return Math.abs(value) >= 1e6 ? count(value) : String(Number(value.toPrecision(5)));
}

const WRITERS: Record<string, (value: number) => string> = {
  ns: duration,
  us: (value) => duration(value * 1000),
  bytes,
  rate: (value) => `${bytes(value)}/s`,
  percent,
  bar: percent,
  count,
  number: real,
};

export function quantity(value: number, unit: string): string {
  return (WRITERS[unit] ?? real)(value);
}

/** With its sign; of a change in per cent, null: there was nothing before. */
export function difference(value: number | null, unit: string): string {
  if (unit !== "percent") return (Number(value) > 0 ? "+" : "") + quantity(Number(value), unit);
  if (value === null) return "new";
  if (value === -100) return "gone";
  if (Math.abs(value) < 0.05) return "±0.0%";
  return `${value > 0 ? "+" : "−"}${Math.abs(value).toFixed(Math.abs(value) < 100 ? 1 : 0)}%`;
}

export function isText(unit: string): boolean {
  return unit === "text" || unit === "label" || unit === "spark";
}

export function cellText(cell: Cell, column: Column): string {
  if (column.traits & SIGNED) return difference(cell as number | null, column.unit);
  if (cell === null || cell === undefined) return "";
  return typeof cell === "number" && !isText(column.unit) ? quantity(cell, column.unit) : String(cell);
}

/** The last part of a path. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1) || path;
}

/** What a file is called in tables: the core's name for it. */
export const fileName = ({ fileNames }: Recording, path: string) => fileNames.get(path) ?? path;

/** "1 line", "3 lines". */
export function plural(number: number, word: string): string {
  return `${count(number)} ${word}${number === 1 ? "" : "s"}`;
}

const INVISIBLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Characters that cannot be seen, and those that turn the order of others around, as their numbers: a name must not look
 * like another one. */
export function visible(text: string): string {
  return text.replace(INVISIBLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
