// Own values of nodes: of the whole recording from its metrics, of a range in proportion to the events in it.
import type { Events, Recording } from "../data";
import type { Range } from "../state";
import { STATES } from "./metrics";

export const CPU = STATES.slice(0, 3);
export const WAITING = STATES.slice(3);

const ANY = STATES.length; // the slot for the events of all states

/** For each node and state, and for all states together: the share of its events that lies in the range. As the core
 * does it (src/view/sampled/events.c); what has no events, such as sonde's own threads, is spread evenly, since nobody knows
 * better. So the whole range gives exactly the numbers of the whole recording. */
export interface Shares {
  of(node: number, state: number): number;
}

/** The time of an event that lies in the range. */
export function overlap(events: Events, index: number, [from, to]: Range): number {
  const start = events.start[index];
  return Math.max(0, Math.min(start + events.value[index], to) - Math.max(start, from));
}

export function sharesOf(recording: Recording, events: Events, range: Range): Shares {
  const width = ANY + 1;
  const all = new Float64Array(recording.nodes.count * width);
  const inside = new Float64Array(all.length);
  for (let i = 0; i < events.sample_count; i++) {
    const row = events.node[i] * width;
    const part = overlap(events, i, range);
    all[row + events.task[i]] += events.value[i];
    all[row + ANY] += events.value[i];
    inside[row + events.task[i]] += part;
    inside[row + ANY] += part;
  }
  const length = Math.max(1, recording.length_ns);
  const even = Math.max(0, Math.min(range[1], length) - Math.max(range[0], 0)) / length;
  return {
    of(node, state) {
      const at = node * width + (all[node * width + state] > 0 ? state : ANY);
      return all[at] > 0 ? inside[at] / all[at] : even;
    },
  };
}

/** Shares of the last range: a brush asks for the same one for many metrics and views. */
let last: { recording: Recording; from: number; to: number; shares: Shares } | null = null;

function cachedShares(recording: Recording, events: Events, range: Range): Shares {
  if (last?.recording !== recording || last.from !== range[0] || last.to !== range[1])
    last = { recording, from: range[0], to: range[1], shares: sharesOf(recording, events, range) };
  return last.shares;
}

/** By track: whether Python code ran on it. Waiting of other threads does not count, as in the core. */
const pythonTracks = new WeakMap<Recording, Uint8Array>();

export function ranPython(recording: Recording): Uint8Array {
  let tracks = pythonTracks.get(recording);
  if (!tracks) {
    pythonTracks.set(recording, (tracks = new Uint8Array(recording.tracks.length)));
    const line = recording.kinds.indexOf("line");
    const { site, track, count } = recording.nodes;
    for (let node = 0; node < count; node++) if (recording.sites.kind[site[node]] === line) tracks[track[node]] = 1;
  }
  return tracks;
}

/** By node: what counts on it is nothing, and so no sample of it does, as in the core: a native thread that waits. */
const leftOut = new WeakMap<Recording, Uint8Array>();

function uncounted(recording: Recording): Uint8Array {
  let nodes = leftOut.get(recording);
  if (!nodes) {
    leftOut.set(recording, (nodes = new Uint8Array(recording.nodes.count)));
    const mark = (names: readonly string[], value: number) =>
      names.forEach((name) => recording.metrics.get(name)?.node.forEach((node) => !ranPython(recording)[recording.nodes.track[node]] && (nodes![node] = value)));
    mark(WAITING, 1);
    mark(CPU, 0);
  }
  return nodes;
}

function addMetric(recording: Recording, name: string, thread: number, shares: Shares | null, into: Float64Array): void {
  const metric = recording.metrics.get(name);
  if (!metric) return;
  const state = STATES.indexOf(name);
  const isWaiting = state >= CPU.length;
  for (let i = 0; i < metric.node.length; i++) {
    const node = metric.node[i];
    const track = recording.nodes.track[node];
    if ((thread >= 0 && track !== thread) || (isWaiting && !ranPython(recording)[track])) continue;
    if (name === "samples" && uncounted(recording)[node]) continue;
    into[node] += metric.value[i] * (shares ? shares.of(node, state < 0 ? ANY : state) : 1);
  }
}

/** Own values of all nodes: the sum of these metrics; a thread of -1: all. A range counts where the recording has
 * events of samples, and means something for the metrics of samples only. */
export function ownValues(recording: Recording, names: readonly string[], thread: number, range: Range | null): Float64Array {
  const values = new Float64Array(recording.nodes.count);
  const events = recording.events;
  const shares = range && events && events.sample_count > 0 ? cachedShares(recording, events, range) : null;
  for (const name of names) addMetric(recording, name, thread, shares, values);
  return values;
}

/** With all that stands below each node. */
export function inclusive(recording: Recording, own: Float64Array): Float64Array {
  const sums = own.slice();
  const parent = recording.nodes.parent;
  for (let node = sums.length - 1; node >= 0; node--) if (parent[node] >= 0) sums[parent[node]] += sums[node];
  return sums;
}
