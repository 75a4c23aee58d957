// Where the pieces of a sunburst stand. Pure.
import type { Frames } from "./frames/frames";

/** Angles from 0 to 1, ring 1 is the first around the middle. `frame` -1: several that are too small. */
export interface Arc {
  frame: number;
  ring: number;
  from: number;
  to: number;
}

/** What is below `middle`, as deep as `rings`, and at least `cutoff` of the middle. */
export function arcsOf(frames: Frames, middle: number, rings: number, cutoff: number): Arc[] {
  const { first, kids, left, total } = frames;
  const whole = total[middle];
  const arcs: Arc[] = [];
  const pending: number[] = [middle];
  while (pending.length > 0) {
    const frame = pending.pop()!;
    const ring = frames.depth[frame] - frames.depth[middle];
    if (ring > 0) arcs.push({ frame, ring, from: (left[frame] - left[middle]) / whole, to: (left[frame] + total[frame] - left[middle]) / whole });
    if (ring >= rings) continue;
    for (let k = first[frame]; k < first[frame + 1] && total[kids[k]] >= whole * cutoff; k++) if (total[kids[k]] > 0) pending.push(kids[k]);
  }
  return arcs;
}

/** The frame in a ring at an angle; -1: none. */
export function arcAt(arcs: readonly Arc[], ring: number, angle: number): number {
  return arcs.find((arc) => arc.ring === ring && angle >= arc.from && angle < arc.to)?.frame ?? -1;
}
