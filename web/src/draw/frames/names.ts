// What a box can stand for: functions merged over their lines, regions, waiting, threads. The same rules as in
// src/view/sampled/samples.c, so that the page and the core add up the same things.
import type { Recording } from "../../data";
import { STATES } from "../../model/metrics";
import { functionsOf, kindOfSite, placeName } from "../../model/sites";

/** So many of the states are CPU time. */
export const CPU_STATES = 3;
/** How the name of an imported module's time begins. */
const IMPORT = "import ";
const WAITS = ["processor", "lock", "GIL", "I/O", "sleep", "other"];

/** Numbers of what can stand in a box: functions first, then a number for each state, one for each track, one for each C
 * function that the program's code calls by name, the whole. */
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
  /** The texts of the names of C functions; per site its number, -1: it names none. */
  callees: number[];
  calleeOf: Int32Array;
  all: number;
}

export function makeNames(recording: Recording): Names {
  const { ofSite, first } = functionsOf(recording);
  const isThat = (is: (kind: string, isOwn: boolean, name: string) => boolean) =>
    Uint8Array.from(first, (site) => Number(is(kindOfSite(recording, site), recording.own_files.has(recording.sites.file[site]), recording.texts[recording.sites.name[site]])));
  const firstCallee = first.length + STATES.length + recording.tracks.length;
  const { callees, calleeOf } = calleesOf(recording, firstCallee);
  const isPython = (kind: string) => kind === "line" || kind === "function";
  return {
    recording,
    functions: first.length,
    ofSite,
    site: Int32Array.from(first),
    isOwn: isThat((kind, isOwn) => isPython(kind) && isOwn),
    isOther: isThat((kind, isOwn, name) => (isPython(kind) && !isOwn) || kind === "native" || kind === "builtin" || (kind === "other" && name.startsWith(IMPORT))),
    callees,
    calleeOf,
    all: firstCallee + callees.length,
  };
}

function calleesOf(recording: Recording, start: number): Pick<Names, "callees" | "calleeOf"> {
  const known = new Map<number, number>();
  const calleeOf = Int32Array.from(recording.sites.detail, (text, site) => {
    if (kindOfSite(recording, site) !== "line" || recording.texts[text] === "") return -1;
    if (!known.has(text)) known.set(text, start + known.size);
    return known.get(text)!;
  });
  return { callees: [...known.keys()], calleeOf };
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
  if (what >= names.all) return "all";
  return what < names.all - names.callees.length ? "thread" : "native";
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
  const callee = what - (names.all - names.callees.length);
  if (callee >= 0) return `[in ${recording.texts[names.callees[callee]]}()]`;
  return `thread ${trackName(recording, what - functions - STATES.length)}`;
}

/** The name of what a node is of; of a collection its generation, of a mark with its detail. */
export function entryName(names: Names, node: number): string {
  const { nodes, sites, texts } = names.recording;
  const site = nodes.site[node];
  const [kind, detail] = [kindOfSite(names.recording, site), texts[sites.detail[site]]];
  if (kind === "gc") return detail;
  const name = nameOf(names, names.ofSite[site]);
  return kind === "mark" && detail !== "" ? `${name} (${detail})` : name;
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
