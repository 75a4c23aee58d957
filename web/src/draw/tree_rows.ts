// The rows of the tree that are open. Pure.
import type { Frames } from "./frames/frames";

/** A row: a frame, or the small ones of one that are not shown yet. */
export interface TreeRow {
  frame: number;
  depth: number;
  /** More than 0: stands for so many children of `frame` that are below the least share. */
  small: number;
  /** What those have together. */
  weight: number;
}

export interface Opened {
  frames: ReadonlySet<number>;
  /** Frames whose small children are shown. */
  small: ReadonlySet<number>;
}

export const LEAST_SHARE = 0.01;
const OPEN_SHARE = 0.03;

/** What is worth seeing at once. */
export function openedAtFirst(frames: Frames): Opened {
  const opened = new Set<number>([0]);
  for (let i = 1; i < frames.count; i++)
    if (frames.total[i] >= frames.total[0] * OPEN_SHARE && opened.has(frames.parent[i])) opened.add(i);
  return { frames: opened, small: new Set() };
}

/** With all above the frames that a search found, as far as they are not tiny. */
export function openedFor(frames: Frames, opened: Opened, isHit: (what: number) => boolean, most = 500): Opened {
  const open = new Set(opened.frames);
  const small = new Set(opened.small);
  let found = 0;
  for (let i = 1; i < frames.count && found < most; i++) {
    if (!isHit(frames.what[i]) || frames.total[i] <= 0) continue;
    found++;
    for (let at = i; at > 0; at = frames.parent[at]) {
      open.add(frames.parent[at]);
      if (frames.total[at] < frames.total[0] * LEAST_SHARE) small.add(frames.parent[at]);
    }
  }
  return { frames: open, small };
}

/** Children by weight. The whole itself has no row. */
export function treeRows(frames: Frames, opened: Opened): TreeRow[] {
  const rows: TreeRow[] = [];
  const pending: TreeRow[] = [{ frame: 0, depth: -1, small: 0, weight: 0 }];
  while (pending.length > 0) {
    const row = pending.pop()!;
    if (row.depth >= 0) rows.push(row);
    if (row.small === 0 && opened.frames.has(row.frame)) pushChildren(frames, opened, row, pending);
  }
  return rows;
}

function pushChildren({ first, kids, total }: Frames, opened: Opened, row: TreeRow, pending: TreeRow[]): void {
  const least = opened.small.has(row.frame) ? Number.MIN_VALUE : total[0] * LEAST_SHARE;
  const depth = row.depth + 1;
  let end = first[row.frame];
  while (end < first[row.frame + 1] && total[kids[end]] >= least) end++;
  let small = 0;
  let weight = 0;
  for (let k = end; k < first[row.frame + 1]; k++) {
    if (total[kids[k]] <= 0) break;
    small++;
    weight += total[kids[k]];
  }
  if (small > 0) pending.push({ frame: row.frame, depth, small, weight });
  for (let k = end - 1; k >= first[row.frame]; k--) pending.push({ frame: kids[k], depth, small: 0, weight: total[kids[k]] });
}

export function hasChildren({ first }: Frames, frame: number): boolean {
  return first[frame + 1] > first[frame];
}
