// Colours of boxes. Parts of time have the page's colours (see style.css). For files: Paul Tol's "light" scheme, made for cells with black text in them and told apart with
// every kind of colour blindness; in the dark it is dimmed, and black text still has a contrast of at least 4.5.
// Files of the program have a colour, code of others is grey: one's own code is what one can change.
import type { Frames } from "./frames/frames";
import { fileIdOf, kindOf, nameOf, type Names } from "./frames/names";
import { PARTS } from "./frames/weights";

const LIGHT = ["#77aadd", "#ee8866", "#44bb99", "#eedd88", "#ffaabb", "#99ddff", "#bbcc33", "#aaaa00"];
const GREYS = ["#dddddd", "#cfd3d8", "#d8d4cf"];
export const PART_NAMES = ["python", "native", "system", "waiting"] as const;

export interface Theme {
  isDark: boolean;
  background: string;
  panel: string;
  text: string;
  muted: string;
  line: string;
  accent: string;
  files: string[];
  others: string[];
  parts: string[];
  gpu: string;
  memory: string;
  copies: string;
  gc: string;
}

/** Text on a colour "#rrggbb": black or white, whichever has more contrast. */
export function inkOn(colour: string): string {
  const part = (at: number) => (parseInt(colour.slice(at, at + 2), 16) / 255) ** 2.2;
  return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5) > 0.18 ? "#101214" : "#ffffff";
}

/** A mix of two colours "#rrggbb". */
export function mix(a: string, b: string, share: number): string {
  const part = (at: number) =>
    Math.round(parseInt(a.slice(at, at + 2), 16) * (1 - share) + parseInt(b.slice(at, at + 2), 16) * share)
      .toString(16)
      .padStart(2, "0");
  return `#${part(1)}${part(3)}${part(5)}`;
}

const dim = (colours: string[], isDark: boolean, by: number) => (isDark ? colours.map((colour) => mix(colour, "#16181d", by)) : colours);

/** Colours of boxes: those of the program's files, then those of others. */
export const fileColours = (isDark: boolean) => [...dim(LIGHT, isDark, 0.2), ...dim(GREYS, isDark, 0.58)];

export function readTheme(root: HTMLElement): Theme {
  const style = getComputedStyle(root);
  const chosen = root.dataset.theme;
  const isDark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const read = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const boxes = fileColours(isDark);
  return {
    isDark,
    background: read("bg"),
    panel: read("panel"),
    text: read("text"),
    muted: read("muted"),
    line: read("line"),
    accent: read("accent"),
    files: boxes.slice(0, LIGHT.length),
    others: boxes.slice(LIGHT.length),
    parts: PART_NAMES.map(read),
    gpu: read("gpu"),
    memory: read("memory"),
    copies: read("copies"),
    gc: read("b"),
  };
}

/** Files of the program, the heaviest first. */
export function rankFiles(frames: Frames, names: Names): number[] {
  const sums = new Map<number, number>();
  for (let i = 0; i < frames.count; i++) {
    const what = frames.what[i];
    if (what >= names.functions || !names.isOwn[what]) continue;
    const file = fileIdOf(names, what);
    sums.set(file, (sums.get(file) ?? 0) + frames.own[i]);
  }
  return [...sums].sort((a, b) => b[1] - a[1]).map(([file]) => file);
}

function hash(text: string): number {
  let value = 0;
  for (let i = 0; i < Math.min(text.length, 64); i++) value = (Math.imul(value, 31) + text.charCodeAt(i)) | 0;
  return value >>> 0;
}

/** The colour of each number of Names; made once, as a box is drawn often. */
export function coloursByFile(theme: Theme, names: Names, ranks: readonly number[]): string[] {
  const rank = new Map(ranks.map((file, i) => [file, i]));
  return Array.from({ length: names.all + 1 }, (_, what) => {
    const kind = kindOf(names, what);
    const place = rank.get(fileIdOf(names, what));
    if (kind === "region" || kind === "op") return theme.files[(hash(nameOf(names, what)) % 5) + 1];
    if (place !== undefined && names.isOwn[what]) return theme.files[place % theme.files.length];
    if (kind === "waiting") return theme.parts[3];
    if (kind === "gc") return theme.gc;
    return theme.others[hash(String(fileIdOf(names, what))) % theme.others.length];
  });
}

/** The part that a frame has most of. */
export function mainPart(frames: Frames, frame: number): number {
  let most = 0;
  for (let part = 1; part < PARTS; part++)
    if (frames.parts![frame * PARTS + part] > frames.parts![frame * PARTS + most]) most = part;
  return most;
}
