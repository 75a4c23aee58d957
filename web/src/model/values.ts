// Own values of nodes: of the whole recording from its metrics, of a range from its events.
import { STATES, type Events, type Recording } from "../data";
import type { Range } from "../state";

export const CPU: readonly string[] = STATES.slice(0, 3);
export const WAITING: readonly string[] = STATES.slice(3);
/** CPU and waiting. */
export const TIME: readonly string[] = STATES;

/** Kinds of sites whose events are samples; the events of others are entries with a duration. */
export function isSampleKind(kind: string): boolean {
  return kind === "line" || kind === "native" || kind === "other";
}

/** By index of `kinds`. */
function sampleKinds(recording: Recording): boolean[] {
  return recording.kinds.map(isSampleKind);
}

function addMetric(recording: Recording, name: string, thread: number, into: Float64Array): void {
  const metric = recording.metrics.get(name);
  if (!metric) return;
  for (let i = 0; i < metric.node.length; i++) {
    const node = metric.node[i];
    if (thread < 0 || recording.nodes.track[node] === thread) into[node] += metric.value[i];
  }
}

/** The time of an event that lies in the range. A sample stands for the time before it was taken. */
export function overlap(events: Events, index: number, [from, to]: Range): number {
  const start = events.start[index];
  return Math.max(0, Math.min(start + events.value[index], to) - Math.max(start, from));
}

function addSamples(recording: Recording, events: Events, names: readonly string[], thread: number, range: Range, into: Float64Array) {
  const isSample = sampleKinds(recording);
  const isWanted = STATES.map((state) => names.includes(state));
  const { site, track } = recording.nodes;
  for (let i = 0; i < events.count; i++) {
    const node = events.node[i];
    if (!isSample[recording.sites.kind[site[node]]] || !isWanted[events.task[i]]) continue;
    if (thread < 0 || track[node] === thread) into[node] += overlap(events, i, range);
  }
}

/** Own values of all nodes, the sum of these metrics; a thread of -1: all. A range counts for the metrics of samples
 * only (STATES), and only where the recording has events. */
export function ownValues(recording: Recording, names: readonly string[], thread: number, range: Range | null): Float64Array {
  const values = new Float64Array(recording.nodes.count);
  if (range && recording.events) addSamples(recording, recording.events, names, thread, range, values);
  else for (const name of names) addMetric(recording, name, thread, values);
  return values;
}

/** With all that stands below each node. */
export function inclusive(recording: Recording, own: Float64Array): Float64Array {
  const sums = own.slice();
  const parent = recording.nodes.parent;
  for (let node = sums.length - 1; node >= 0; node--) if (parent[node] >= 0) sums[parent[node]] += sums[node];
  return sums;
}
