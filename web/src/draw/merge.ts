// Other trees of the same frames: callees first (inverted), and who calls one function and what it calls (sandwich).
import { addOwn, FrameMaker, ownPart, type Frames } from "./frames";
import { PARTS } from "./weights";

/** What is smaller than this part of the whole is not followed to its callers: an inverted tree could have as many
 * frames as all stacks together. Its time stays where it is. */
const CUTOFF = 1 / 20000;

/** Something that is followed upwards: from `at`, with this weight. */
interface Climber {
  at: number;
  weight: number;
  parts: number[] | null;
}

function put(maker: FrameMaker, frame: number, climber: Climber): void {
  if (!climber.parts) return maker.addTime(frame, 0, climber.weight);
  for (let part = 0; part < PARTS; part++) if (climber.parts[part] > 0) maker.addTime(frame, part, climber.parts[part]);
}

/** One step up for those of a group; gives the groups above it. */
function climb(maker: FrameMaker, frames: Frames, below: number, climbers: Climber[]): Map<number, Climber[]> {
  const groups = new Map<number, Climber[]>();
  for (const climber of climbers) {
    if (climber.at <= 0) {
      put(maker, below, climber);
      continue;
    }
    const group = maker.child(below, frames.what[climber.at]);
    const members = groups.get(group);
    if (members) members.push(climber);
    else groups.set(group, [climber]);
    climber.at = frames.parent[climber.at];
  }
  return groups;
}

/** Callers below callees. */
function mergeAbove(frames: Frames, whole: number, climbers: Climber[]): Frames {
  const maker = new FrameMaker(whole, frames.parts !== null);
  const least = frames.total[0] * CUTOFF;
  const queue: [number, Climber[]][] = [[0, climbers]];
  for (let i = 0; i < queue.length; i++) {
    for (const [group, members] of climb(maker, frames, queue[i][0], queue[i][1])) {
      const weight = members.reduce((sum, climber) => sum + climber.weight, 0);
      if (weight >= least) queue.push([group, members]);
      else for (const climber of members) put(maker, group, climber);
    }
    queue[i][1] = [];
  }
  return maker.finish();
}

function partsOf(frames: Frames, value: (part: number) => number): number[] | null {
  return frames.parts ? [0, 1, 2, 3].map(value) : null;
}

export function invertFrames(frames: Frames): Frames {
  const climbers: Climber[] = [];
  for (let i = 0; i < frames.count; i++)
    if (frames.own[i] > 0)
      climbers.push({ at: i, weight: frames.own[i], parts: partsOf(frames, (part) => ownPart(frames, i, part)) });
  return mergeAbove(frames, frames.what[0], climbers);
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
  const climbers = Array.from(roots, (root) => ({
    at: frames.parent[root],
    weight: frames.total[root],
    parts: partsOf(frames, (part) => frames.parts![root * PARTS + part]),
  }));
  return { callers: mergeAbove(frames, what, climbers), callees: mergeBelow(frames, what, roots) };
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
