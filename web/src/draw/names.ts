// What a box can stand for: functions merged over their lines, regions, waiting, threads. The same rules as in
// src/view/sampled/samples.c, so that the page and the core add up the same things.
import type { Recording } from "../data";
import { STATES } from "../model/metrics";
import { functionsOf, kindOfSite, placeName } from "../model/sites";

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
  all: number;
}

export function makeNames(recording: Recording): Names {
  const { ofSite, first } = functionsOf(recording);
  const isThat = (is: (kind: string, isOwn: boolean) => boolean) =>
    Uint8Array.from(first, (site) => Number(is(kindOfSite(recording, site), recording.own_files.has(recording.sites.file[site]))));
  const isPython = (kind: string) => kind === "line" || kind === "function";
  return {
    recording,
    functions: first.length,
    ofSite,
    site: Int32Array.from(first),
    isOwn: isThat((kind, isOwn) => isPython(kind) && isOwn),
    isOther: isThat((kind, isOwn) => (isPython(kind) && !isOwn) || kind === "native" || kind === "builtin"),
    all: first.length + STATES.length + recording.tracks.length,
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

export function placeOf(names: Names, what: number): string {
  return what < names.functions ? placeName(names.recording, names.site[what]) : "";
}
