// What a site is: its kind, its function, its place. As in the core.
import type { Recording } from "../data";
import { baseName, fileName } from "./format";

export function kindOfSite({ kinds, sites }: Recording, site: number): string {
  return kinds[sites.kind[site]];
}

export function isCall(kind: string): boolean {
  return kind === "function" || kind === "builtin";
}

/** A line of the program's own files. */
export function isOwnLine(recording: Recording, site: number): boolean {
  return kindOfSite(recording, site) === "line" && recording.own_files.has(recording.sites.file[site]);
}

/** Where a function starts: a native symbol is in its library, a region has no place. */
export function placeName(recording: Recording, site: number): string {
  const { sites, texts } = recording;
  const [kind, file, line] = [kindOfSite(recording, site), texts[sites.file[site]], sites.first_line[site] || sites.line[site]];
  if (kind === "native") return baseName(file);
  return !file || kind === "region" ? "" : fileName(recording, file) + (line ? `:${line}` : "");
}

/** Lines of one function are one, and so are regions of one name, wherever they are opened. */
function keyOf({ sites }: Recording, site: number, kind: string): string {
  if (kind === "region") return `region ${sites.name[site]}`;
  const line = isCall(kind) ? sites.line[site] : kind === "op" ? 0 : sites.first_line[site];
  return `${kind} ${sites.name[site]} ${sites.file[site]} ${line}`;
}

export interface Functions {
  /** Per site the number of its function; -1: nothing that stands in a stack. */
  ofSite: Int32Array;
  /** The first site of each function. */
  first: number[];
}

export function functionsOf(recording: Recording): Functions {
  const known = new Map<string, number>();
  const first: number[] = [];
  const ofSite = Int32Array.from(recording.sites.kind, (_, site) => {
    const kind = kindOfSite(recording, site);
    if (kind === "thread" || kind === "counter") return -1;
    const key = keyOf(recording, site, kind);
    if (!known.has(key)) known.set(key, first.push(site) - 1);
    return known.get(key)!;
  });
  return { ofSite, first };
}
