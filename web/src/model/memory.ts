// Memory of nodes for a thread or a range: of the whole recording from its metrics, of a range from the histories.
import type { Recording } from "../data";
import type { Range } from "../state";
import { ownValues } from "./values";

/** Live when the program had most, in the recording or in the range; not freed at the end, of a range what came to be live in
 * it, which may be less than nothing; copied, which is not known of a range. */
export const MEMORY = ["live_peak", "live", "copied"];

export interface NodeMemory {
  /** By node each of MEMORY. */
  columns: Float64Array[];
  /** Live bytes of these nodes together at each moment. */
  curve(nodes: readonly number[]): number[];
}

export function hasMemory(recording: Recording): boolean {
  return recording.metrics.has("live_peak") || recording.metrics.has("alloc_python") || recording.metrics.has("alloc_native");
}

/** Moments of the histories in the range: moment i is at (i + 1) steps. At least one, the next after its start. */
function moments(recording: Recording, range: Range | null): { first: number; last: number } {
  const { step_ns, live } = recording.histories;
  let count = 0;
  for (const points of live.values()) count = Math.max(count, points.length);
  if (!range || step_ns <= 0) return { first: 0, last: count - 1 };
  const first = Math.min(count - 1, Math.max(0, Math.ceil(range[0] / step_ns) - 1));
  return { first, last: Math.min(count - 1, Math.max(first, Math.floor(range[1] / step_ns) - 1)) };
}

/** A history that is shorter than others went on as it was. */
function at(points: Float64Array, moment: number): number {
  return moment < 0 || points.length === 0 ? 0 : points[Math.min(moment, points.length - 1)];
}

/** When the nodes of the thread had most, together. */
function peakMoment(recording: Recording, thread: number, first: number, last: number): number {
  const sums = new Float64Array(last - first + 1);
  for (const [node, points] of recording.histories.live)
    if (thread < 0 || recording.nodes.track[node] === thread)
      for (let i = 0; i < sums.length; i++) sums[i] += at(points, first + i);
  return first + sums.indexOf(Math.max(...sums));
}

export function nodeMemory(recording: Recording, thread: number, range: Range | null): NodeMemory {
  const { live } = recording.histories;
  const { first, last } = moments(recording, range);
  const curve = (nodes: readonly number[]) => {
    const histories = nodes.map((node) => live.get(node)).filter((points) => points !== undefined);
    return Array.from({ length: last - first + 1 }, (_, i) => histories.reduce((sum, points) => sum + at(points, first + i), 0));
  };
  if (!range) return { columns: MEMORY.map((name) => ownValues(recording, [name], thread, null)), curve };
  const columns = MEMORY.map(() => new Float64Array(recording.nodes.count));
  const [peak, growth] = columns;
  const most = peakMoment(recording, thread, first, last);
  for (const [node, points] of live) {
    if (thread >= 0 && recording.nodes.track[node] !== thread) continue;
    peak[node] = at(points, most);
    growth[node] = at(points, last) - at(points, first - 1);
  }
  return { columns, curve };
}

/** As the core draws curves: a digit from 0 to 8 a moment; nothing where nothing ever was live. */
export function digits(curve: readonly number[]): string | null {
  const most = Math.max(0, ...curve);
  return most > 0 ? curve.map((value) => Math.round((8 * value) / most)).join("") : null;
}
