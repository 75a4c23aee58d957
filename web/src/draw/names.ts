// What a box can stand for: functions merged over their lines, regions, waiting, threads. The same rules as in
// src/view/samples.c, so that the page and the core add up the same things.
import { STATES, type Recording } from "../data";
import { baseName, fileName } from "../model/format";

/** So many of the states are CPU time. */
export const CPU_STATES = 3;
const WAITS = ["processor", "lock", "GIL", "I/O", "sleep", "other"];

/** Numbers of what can stand in a box: functions first, then a number for each state, one for each track, the whole. */
export interface Names {
  recording: Recording;
  functions: number;
  /** Per site; -1: nothing that stands in a stack. */
  ofSite: Int32Array;
  /** The first site of each function. */
  site: Int32Array;
  /** Per function: Python code of the program itself; code of others, which can be folded. */
  isOwn: Uint8Array;
  isOther: Uint8Array;
  /** Per site. */
  isSampled: Uint8Array;
  all: number;
}

export function kindOfSite(recording: Recording, site: number): string {
  return recording.kinds[recording.sites.kind[site]];
}

/** Kinds of sites at which a sampled thread was found. */
function isSampleKind(kind: string): boolean {
  return kind === "line" || kind === "native" || kind === "other";
}

export function isCall(kind: string): boolean {
  return kind === "function" || kind === "builtin";
}

function keyOf({ sites }: Recording, site: number, kind: string): string {
  if (kind === "region") return `region ${sites.name[site]}`;
  const line = isCall(kind) ? sites.line[site] : kind === "op" ? 0 : sites.first_line[site];
  return `${kind} ${sites.name[site]} ${sites.file[site]} ${line}`;
}

export function makeNames(recording: Recording): Names {
  const { sites, own_files } = recording;
  const ofSite = new Int32Array(sites.count).fill(-1);
  const isSampled = new Uint8Array(sites.count);
  const site: number[] = [];
  const isOwn: number[] = [];
  const isOther: number[] = [];
  const known = new Map<string, number>();
  for (let i = 0; i < sites.count; i++) {
    const kind = kindOfSite(recording, i);
    isSampled[i] = isSampleKind(kind) ? 1 : 0;
    if (kind === "thread" || kind === "counter") continue;
    const key = keyOf(recording, i, kind);
    let found = known.get(key);
    if (found === undefined) {
      found = site.length;
      known.set(key, found);
      const isPython = kind === "line" || kind === "function";
      const own = isPython && own_files.has(sites.file[i]);
      site.push(i);
      isOwn.push(own ? 1 : 0);
      isOther.push((isPython && !own) || kind === "native" || kind === "builtin" ? 1 : 0);
    }
    ofSite[i] = found;
  }
  const functions = site.length;
  return {
    recording,
    functions,
    ofSite,
    site: Int32Array.from(site),
    isOwn: Uint8Array.from(isOwn),
    isOther: Uint8Array.from(isOther),
    isSampled,
    all: functions + STATES.length + recording.tracks.length,
  };
}

export function ofState(names: Names, state: number): number {
  return names.functions + state;
}

export function ofTrack(names: Names, track: number): number {
  return names.functions + STATES.length + track;
}

export function kindOf(names: Names, what: number): string {
  if (what < names.functions) return kindOfSite(names.recording, names.site[what]);
  if (what < names.functions + STATES.length) return "waiting";
  return what < names.all ? "thread" : "all";
}

export function trackName(recording: Recording, track: number): string {
  const { name, thread_id } = recording.tracks[track];
  return name || String(thread_id);
}

export function nameOf(names: Names, what: number): string {
  const { recording, functions } = names;
  if (what < functions) return recording.texts[recording.sites.name[names.site[what]]] ;
  if (what < functions + STATES.length) return `[waiting: ${WAITS[what - functions - CPU_STATES]}]`;
  if (what >= names.all) return "all";
  return `thread ${trackName(recording, what - functions - STATES.length)}`;
}

/** The name of what a node is of; of a collection its generation. */
export function entryName(names: Names, node: number): string {
  const { nodes, sites, texts } = names.recording;
  const site = nodes.site[node];
  return kindOfSite(names.recording, site) === "gc" ? texts[sites.detail[site]] : nameOf(names, names.ofSite[site]);
}

/** Its name with what it is, where that is not plain. */
export function titleOf(names: Names, what: number): string {
  const name = nameOf(names, what) || "(no name)";
  return kindOf(names, what) === "region" ? `region ${name}` : name;
}

/** A text's number; 0: no file. */
export function fileIdOf(names: Names, what: number): number {
  return what < names.functions ? names.recording.sites.file[names.site[what]] : 0;
}

export function fileOf(names: Names, what: number): string {
  return names.recording.texts[fileIdOf(names, what)];
}

/** Where a function starts; 0: unknown. */
export function lineOf(names: Names, what: number): number {
  if (what >= names.functions || kindOf(names, what) === "region") return 0;
  const { sites } = names.recording;
  return sites.first_line[names.site[what]] || (kindOf(names, what) === "line" ? 0 : sites.line[names.site[what]]);
}

/** "folder/file.py:12"; of a native symbol its library. */
export function placeOf(names: Names, what: number): string {
  const kind = kindOf(names, what);
  if (kind === "native") return baseName(fileOf(names, what));
  const file = kind === "region" ? "" : fileName(names.recording, fileOf(names, what));
  const line = lineOf(names, what);
  return file && line ? `${file}:${line}` : file;
}
