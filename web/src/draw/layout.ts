// Which boxes are visible, and where. Pure: no canvas here.
import type { Frames } from "./frames/frames";
import type { Lane } from "./frames/lanes";
import { frameOfSample } from "./frames/frames";
import { longestOf } from "./frames/lanes";
import type { Names } from "./frames/names";

/** Below this width, in pixels, a box is drawn together with its neighbours. */
export const LEAST_WIDTH = 0.7;

/** The part of the whole that is seen, in the unit of the frames, and the rows of it. */
export interface View {
  from: number;
  to: number;
  /** Pixels. */
  width: number;
  firstRow: number;
  lastRow: number;
}

/** `frame` -1: several that are too narrow. */
export interface Box {
  frame: number;
  x: number;
  width: number;
  row: number;
}

/** Visible boxes, callers before callees. Children are ordered by weight: behind the first that is too narrow come only
 * narrower ones. The cost is that of what is drawn, however many frames there are. */
export function visibleBoxes(frames: Frames, view: View, emit: (box: Box) => void): void {
  const { first, kids, left, total } = frames;
  const scale = view.width / (view.to - view.from);
  const pending: number[] = [0];
  const row: number[] = [0];
  while (pending.length > 0) {
    const frame = pending.pop()!;
    const depth = row.pop()!;
    if (depth >= view.firstRow) emit({ frame, x: (left[frame] - view.from) * scale, width: total[frame] * scale, row: depth });
    if (depth + 1 > view.lastRow) continue;
    let k = first[frame];
    for (; k < first[frame + 1] && total[kids[k]] * scale >= LEAST_WIDTH; k++) {
      const kid = kids[k];
      if (left[kid] >= view.to || left[kid] + total[kid] <= view.from) continue;
      pending.push(kid);
      row.push(depth + 1);
    }
    if (k < first[frame + 1] && depth + 1 >= view.firstRow) emitRest(frames, frame, k, depth + 1, view, scale, emit);
  }
}

function emitRest(frames: Frames, frame: number, k: number, row: number, view: View, scale: number, emit: (box: Box) => void): void {
  const { left, kids, total, own } = frames;
  const start = left[kids[k]];
  const end = left[frame] + total[frame] - own[frame];
  const width = (end - start) * scale;
  if (width >= LEAST_WIDTH && start < view.to && end > view.from)
    emit({ frame: -1, x: (start - view.from) * scale, width, row });
}

/** The frame at a place; -1: none. */
export function frameAt(frames: Frames, at: number, row: number): number {
  let frame = 0;
  if (at < frames.left[0] || at >= frames.left[0] + frames.total[0]) return -1;
  for (let depth = 0; depth < row && frame >= 0; depth++) frame = kidAt(frames, frame, at);
  return frame;
}

function kidAt({ first, kids, left, total }: Frames, frame: number, at: number): number {
  let low = first[frame];
  let high = first[frame + 1] - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const kid = kids[middle];
    if (at < left[kid]) high = middle - 1;
    else if (at >= left[kid] + total[kid]) low = middle + 1;
    else return kid;
  }
  return -1;
}

/** Boxes of one thread's samples in the order of time: each column of pixels has the stack that took most of it, and
 * the same frame in neighbouring columns is one box. */
export function timeBoxes(frames: Frames, names: Names, lane: Lane, view: View, emit: (box: Box) => void): void {
  const columns = Math.max(1, Math.floor(view.width));
  const longest = longestOf(lane, view.from, view.to, columns);
  const open = new Int32Array(frames.deepest + 2); // the frames of the stack so far, and since which column
  const since = new Int32Array(frames.deepest + 2);
  let height = 0;
  for (let column = 0; column <= columns; column++) {
    const entry = column < columns ? longest[column] : -1;
    if (column > 0 && column < columns && entry === longest[column - 1]) continue;
    const leaf = entry < 0 ? -1 : frameOfSample(frames, names, lane.node[entry], lane.state[entry]);
    const same = sharedHeight(frames, open, height, leaf);
    for (let row = Math.max(same, view.firstRow); row < Math.min(height, view.lastRow + 1); row++)
      emit({ frame: open[row], x: since[row], width: column - since[row], row });
    height = leaf < 0 ? 0 : frames.depth[leaf] + 1;
    for (let at = leaf, row = height - 1; row >= same; row--, at = frames.parent[at]) {
      open[row] = at;
      since[row] = column;
    }
  }
}

/** How many frames the open stack and that of a leaf have in common. */
function sharedHeight({ parent, depth }: Frames, open: Int32Array, height: number, leaf: number): number {
  let at = leaf;
  while (at >= 0 && (depth[at] >= height || open[depth[at]] !== at)) at = parent[at];
  return at < 0 ? 0 : depth[at] + 1;
}

/** Boxes of a lane: `frame` is the entry; -1: several. */
export function laneBoxes(lane: Lane, view: View, row: number, firstOf: (at: number, from: number) => number, emit: (box: Box) => void): void {
  const scale = view.width / (view.to - view.from);
  let i = firstOf(view.from, 0);
  while (i < lane.count && lane.start[i] < view.to) {
    const x = (lane.start[i] - view.from) * scale;
    const width = (lane.end[i] - lane.start[i]) * scale;
    if (width >= LEAST_WIDTH) {
      emit({ frame: i++, x, width, row });
      continue;
    }
    const next = firstOf(view.from + (x + 1) / scale, i + 1);
    emit({ frame: next === i + 1 ? i : -1, x, width: Math.max(1, width), row });
    i = Math.max(next, i + 1);
  }
}
