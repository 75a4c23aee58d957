// What the page shows, kept in the URL hash: every state has an address, and Back works.

/** Something the user pointed at. A line, a function (line 0), or anything with a name (file ""). */
export interface Selection {
  name: string;
  file: string;
  line: number;
}

/** From and to, in ns since the start of the recording. */
export type Range = readonly [number, number];

export interface State {
  /** "summary", "lines", "flame", "tree", "sunburst", "timeline", "compare", or the view of a table of the core. */
  view: string;
  selection: Selection | null;
  /** Index of Recording.tracks; -1: all threads. */
  thread: number;
  range: Range | null;
  search: string;
  /** Choices of one view, named VIEW.CHOICE: "flame.order" = "time", "flame.zoom" = "123" (a node). */
  options: Readonly<Record<string, string>>;
}

/** Whether lists are in the order of CPU time and waiting, and shares of both; else of CPU time alone. */
export const withWaiting = (state: Pick<State, "options">) => state.options["page.waiting"] === "1";

export const START: State = { view: "summary", selection: null, thread: -1, range: null, search: "", options: {} };

const KEYS = { view: "v", name: "n", file: "f", line: "l", thread: "t", range: "r", search: "q" };

export function writeHash(state: State): string {
  const hash = new URLSearchParams();
  if (state.view !== START.view) hash.set(KEYS.view, state.view);
  if (state.selection) {
    hash.set(KEYS.name, state.selection.name);
    if (state.selection.file) hash.set(KEYS.file, state.selection.file);
    if (state.selection.line) hash.set(KEYS.line, String(state.selection.line));
  }
  if (state.thread >= 0) hash.set(KEYS.thread, String(state.thread));
  if (state.range) hash.set(KEYS.range, state.range.map(Math.round).join("-"));
  if (state.search) hash.set(KEYS.search, state.search);
  for (const [name, value] of Object.entries(state.options)) if (name.includes(".")) hash.set(name, value);
  return hash.toString();
}

function readRange(text: string | null): Range | null {
  const [from, to] = (text ?? "").split("-").map(Number);
  return from >= 0 && to > from ? [from, to] : null;
}

function readIndex(text: string | null, otherwise: number): number {
  const index = text === null ? NaN : Number(text);
  return Number.isInteger(index) && index >= 0 ? index : otherwise;
}

/** Anything may stand in an address: what makes no sense is passed over. */
export function readHash(text: string): State {
  const hash = new URLSearchParams(text.replace(/^#/, ""));
  const name = hash.get(KEYS.name);
  return {
    view: hash.get(KEYS.view) ?? START.view,
    selection:
      name === null ? null : { name, file: hash.get(KEYS.file) ?? "", line: readIndex(hash.get(KEYS.line), 0) },
    thread: readIndex(hash.get(KEYS.thread), -1),
    range: readRange(hash.get(KEYS.range)),
    search: hash.get(KEYS.search) ?? "",
    options: Object.fromEntries([...hash].filter(([key]) => key.includes("."))),
  };
}

export function sameSelection(a: Selection | null, b: Selection | null): boolean {
  return a === b || (!!a && !!b && a.name === b.name && a.file === b.file && a.line === b.line);
}
