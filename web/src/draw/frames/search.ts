// What a search finds in a tree of frames.
import type { Frames } from "./frames";
import { outermost } from "./merge";
import { fileOf, nameOf, type Names } from "./names";

export interface Found {
  /** Per number of Names. */
  isHit: Uint8Array;
  functions: number;
  frames: number;
  /** Of all that is found, what stands in another one counted once. */
  weight: number;
}

/** null for an empty search. Letters of either case are the same. */
export function findFrames(frames: Frames, names: Names, search: string): Found | null {
  const wanted = search.trim().toLowerCase();
  if (wanted === "") return null;
  const isHit = new Uint8Array(names.all + 1);
  const isKnown = new Uint8Array(names.all + 1);
  const found: Found = { isHit, functions: 0, frames: 0, weight: 0 };
  for (let i = 0; i < frames.count; i++) {
    const what = frames.what[i];
    if (!isKnown[what]) {
      isKnown[what] = 1;
      if (matches(names, what, wanted)) isHit[what] = 1;
      found.functions += isHit[what];
    }
    found.frames += isHit[what];
  }
  for (const frame of outermost(frames, (what) => isHit[what] === 1)) found.weight += frames.total[frame];
  return found;
}

function matches(names: Names, what: number, wanted: string): boolean {
  return what !== names.all && `${nameOf(names, what)}\n${fileOf(names, what)}`.toLowerCase().includes(wanted);
}
