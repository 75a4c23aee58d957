// Other trees of the same frames: callees first (inverted), and who calls one function and what it calls (sandwich).
import { addOwn, FrameMaker, type Frames } from "./frames";
import { PARTS } from "./weights";

/** What is smaller than this part of the whole is not followed to its callers: an inverted tree could have as many
 * frames as all stacks together. Its time stays where it is. */
const CUTOFF = 1 / 20000;

/** What has to be said of that; "": everything was followed. */
export function cutRemark({ own, total }: Frames): string {
  return own.some((one) => one > 0 && one < total[0] * CUTOFF) ? "Places below 1/20,000 of the whole are not traced to their callers." : "";
}

/** Follows frames upwards, step by step and all together: callers below callees. `at`: where each stands, which is
 * changed; `own` and `parts`: what each has. */
function mergeAbove(frames: Frames, whole: number, at: Int32Array, own: Float64Array, parts: Float64Array | null): Frames {
  const maker = new FrameMaker(whole, parts !== null, at.length + 1024);
  const least = frames.total[0] * CUTOFF;
  const below = new Int32Array(at.length); // the frame that each has come to
  let active = Int32Array.from(at.keys());
  while (active.length > 0) {
    const before = maker.count;
    active = active.filter((i) => at[i] > 0 || !put(maker, below[i], own[i], parts, i));
    for (const i of active) below[i] = maker.child(below[i], frames.what[at[i]]);
    const weights = new Float64Array(maker.count - before);
    for (const i of active) weights[below[i] - before] += own[i];
    for (const i of active) at[i] = frames.parent[at[i]];
    active = active.filter((i) => weights[below[i] - before] >= least || !put(maker, below[i], own[i], parts, i));
  }
  return maker.finish();
}

/** Always true: it is done with. */
function put(maker: FrameMaker, frame: number, own: number, parts: Float64Array | null, climber: number): boolean {
  maker.own[frame] += own;
  if (parts) for (let part = 0; part < PARTS; part++) maker.parts[frame * PARTS + part] += parts[climber * PARTS + part];
  return true;
}

function pickParts(parts: Float64Array | null, frames: ArrayLike<number>): Float64Array | null {
  if (!parts) return null;
  const picked = new Float64Array(frames.length * PARTS);
  for (let i = 0; i < frames.length; i++) picked.set(parts.subarray(frames[i] * PARTS, (frames[i] + 1) * PARTS), i * PARTS);
  return picked;
}

export function invertFrames(frames: Frames): Frames {
  const at = Int32Array.from(frames.own.keys()).filter((frame) => frames.own[frame] > 0);
  const own = Float64Array.from(at, (frame) => frames.own[frame]);
  return mergeAbove(frames, frames.what[0], at, own, pickParts(frames.ownParts, at));
}

/** The frames of `what` that stand in no other one of it: their totals are its time, recursion counted once. */
export function outermost(frames: Frames, isHit: (what: number) => boolean): Int32Array {
  const inside = new Uint8Array(frames.count);
  const found: number[] = [];
  for (let i = 0; i < frames.count; i++) {
    const isAbove = i > 0 && inside[frames.parent[i]];
    const hit = isHit(frames.what[i]);
    if (hit && !isAbove) found.push(i);
    inside[i] = hit || isAbove ? 1 : 0;
  }
  return Int32Array.from(found);
}

export interface Sandwich {
  callers: Frames;
  callees: Frames;
}

/** Both have the function itself as their whole. */
export function sandwich(frames: Frames, what: number): Sandwich {
  const roots = outermost(frames, (other) => other === what);
  const above = roots.map((root) => frames.parent[root]);
  const totals = Float64Array.from(roots, (root) => frames.total[root]);
  const callers = mergeAbove(frames, what, above, totals, pickParts(frames.parts, roots));
  return { callers, callees: mergeBelow(frames, what, roots) };
}

function mergeBelow(frames: Frames, what: number, roots: Int32Array): Frames {
  const maker = new FrameMaker(what, frames.parts !== null);
  const placed = new Int32Array(frames.count).fill(-1);
  for (const root of roots) placed[root] = 0;
  for (let i = 0; i < frames.count; i++) {
    const above = i > 0 ? placed[frames.parent[i]] : -1;
    if (placed[i] < 0 && above >= 0) placed[i] = maker.child(above, frames.what[i]);
    if (placed[i] >= 0) addOwn(maker, placed[i], frames, i);
  }
  return maker.finish();
}

/** The flat table of a tree: per function its own time, and its time with recursion counted once. */
export function flatten(frames: Frames): Map<number, { own: number; total: number }> {
  const flat = new Map<number, { own: number; total: number }>();
  for (let i = 0; i < frames.count; i++) {
    let row = flat.get(frames.what[i]);
    if (!row) flat.set(frames.what[i], (row = { own: 0, total: 0 }));
    row.own += frames.own[i];
    if (!isRecursive(frames, i)) row.total += frames.total[i];
  }
  return flat;
}

function isRecursive(frames: Frames, frame: number): boolean {
  for (let i = frames.parent[frame]; i >= 0; i = frames.parent[i]) if (frames.what[i] === frames.what[frame]) return true;
  return false;
}
