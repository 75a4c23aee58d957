// The timeline as lanes: what happened on a thread, in rows in which nothing overlaps. Made once for a recording.
import type { Events, Recording } from "../data";
import { CPU_STATES, isCall, type Names } from "./names";
import { isEntered } from "./weights";

/** Ascending, and an end is never behind the next start. */
export interface Lane {
  count: number;
  start: Float64Array;
  end: Float64Array;
  node: Uint32Array;
  /** Of samples; empty for others. */
  state: Uint8Array;
}

export interface TrackLanes {
  samples: Lane;
  /** Time by part in each of BUCKETS equal pieces of the recording. */
  density: Float32Array;
  /** The outermost first. */
  regions: Lane[];
  calls: Lane[];
}

export const BUCKETS = 8192;
const PARTS = 4;

function newLane(count: number, hasState: boolean): Lane {
  return {
    count: 0,
    start: new Float64Array(count),
    end: new Float64Array(count),
    node: new Uint32Array(count),
    state: new Uint8Array(hasState ? count : 0),
  };
}

/** Events by start; of those that start together the longest, which is the outermost, first. */
function inOrder(events: Events): Uint32Array {
  const order = new Uint32Array(events.count);
  let isSorted = true;
  for (let i = 0; i < events.count; i++) {
    order[i] = i;
    if (i > 0 && (events.start[i - 1] > events.start[i] || (events.start[i - 1] === events.start[i] && events.value[i - 1] < events.value[i])))
      isSorted = false;
  }
  return isSorted ? order : order.sort((a, b) => events.start[a] - events.start[b] || events.value[b] - events.value[a]);
}

function append(lane: Lane, events: Events, event: number): void {
  const at = lane.count++;
  const start = events.start[event];
  if (at > 0 && lane.end[at - 1] > start) lane.end[at - 1] = start;
  lane.start[at] = start;
  lane.end[at] = start + events.value[event];
  lane.node[at] = events.node[event];
  if (lane.state.length > 0) lane.state[at] = events.task[event];
}

/** Entries that lie in each other: each in the first lane that is free. */
function stack(events: Events, order: readonly number[]): Lane[] {
  const ends: number[] = [];
  const members: number[][] = [];
  for (const event of order) {
    const start = events.start[event];
    let depth = 0;
    while (depth < ends.length && ends[depth] > start) depth++;
    ends[depth] = start + events.value[event];
    (members[depth] ??= []).push(event);
  }
  return members.map((list) => {
    const lane = newLane(list.length, false);
    for (const event of list) append(lane, events, event);
    return lane;
  });
}

function densityOf(lane: Lane, length: number): Float32Array {
  const density = new Float32Array(BUCKETS * PARTS);
  const width = length / BUCKETS || 1;
  for (let i = 0; i < lane.count; i++) {
    const part = Math.min(lane.state[i], CPU_STATES);
    let at = lane.start[i];
    while (at < lane.end[i]) {
      const bucket = Math.min(BUCKETS - 1, Math.floor(at / width));
      const until = bucket === BUCKETS - 1 ? lane.end[i] : Math.min(lane.end[i], (bucket + 1) * width);
      density[bucket * PARTS + part] += until - at;
      if (until <= at) break;
      at = until;
    }
  }
  return density;
}

const SAMPLE = 1;
const REGION = 2;
const CALL = 3;

function classesOf({ recording, isSampled }: Names): Uint8Array {
  return Uint8Array.from(recording.sites.kind, (id, site) => {
    const kind = recording.kinds[id];
    return isSampled[site] ? SAMPLE : isEntered(kind) ? REGION : isCall(kind) ? CALL : 0;
  });
}

function makeLanes(names: Names): TrackLanes[] {
  const { events, nodes, tracks } = names.recording;
  if (!events) return [];
  const classes = classesOf(names);
  const sizes = new Uint32Array(tracks.length);
  for (let i = 0; i < events.count; i++)
    if (classes[nodes.site[events.node[i]]] === SAMPLE) sizes[nodes.track[events.node[i]]]++;
  const samples = Array.from(sizes, (size) => newLane(size, true));
  const regions: number[][] = tracks.map(() => []);
  const calls: number[][] = tracks.map(() => []);
  for (const event of inOrder(events)) {
    const node = events.node[event];
    const kind = classes[nodes.site[node]];
    if (kind === SAMPLE) append(samples[nodes.track[node]], events, event);
    else if (kind !== 0) (kind === REGION ? regions : calls)[nodes.track[node]].push(event);
  }
  const length = lengthOf(names.recording);
  return samples.map((lane, track) => ({
    samples: lane,
    density: densityOf(lane, length),
    regions: stack(events, regions[track]),
    calls: stack(events, calls[track]),
  }));
}

const made = new WeakMap<Recording, TrackLanes[]>();

/** By track; empty where there is no timeline. */
export function lanesOf(names: Names): TrackLanes[] {
  let lanes = made.get(names.recording);
  if (!lanes) made.set(names.recording, (lanes = makeLanes(names)));
  return lanes;
}

/** The end of the time axis. */
export function lengthOf(recording: Recording): number {
  return Math.max(recording.length_ns, ...recording.tracks.map((track) => track.end_ns), 1);
}

/** The first entry that ends behind `at`. */
export function firstAfter(lane: Lane, at: number, from = 0): number {
  let low = from;
  let high = lane.count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lane.end[middle] > at) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The entry at a time; -1: none. */
export function entryAt(lane: Lane, at: number): number {
  const found = firstAfter(lane, at);
  return found < lane.count && lane.start[found] <= at ? found : -1;
}

/** Per column, of `columns` in equal steps: the entry that takes most of it; -1: none. */
export function longestOf(lane: Lane, from: number, to: number, columns: number): Int32Array {
  const longest = new Int32Array(columns).fill(-1);
  const step = (to - from) / columns;
  let i = firstAfter(lane, from);
  for (let column = 0; column < columns && i < lane.count; column++) {
    const start = from + column * step;
    const end = start + step;
    let most = 0;
    while (i < lane.count && lane.start[i] < end) {
      const ns = Math.min(lane.end[i], end) - Math.max(lane.start[i], start);
      if (ns > most) {
        most = ns;
        longest[column] = i;
      }
      if (lane.end[i] > end) break;
      i++;
    }
  }
  return longest;
}

/** Per column the time by part, PARTS a column; from the buckets where these are fine enough. */
export function partsOf(track: TrackLanes, length: number, from: number, to: number, columns: number): Float32Array {
  const parts = new Float32Array(columns * PARTS);
  const step = (to - from) / columns;
  const width = length / BUCKETS;
  if (step > width * 2) {
    const last = Math.min(BUCKETS, Math.ceil(to / width));
    for (let bucket = Math.max(0, Math.floor(from / width)); bucket < last; bucket++) {
      const column = Math.floor((bucket * width + width / 2 - from) / step);
      if (column < 0 || column >= columns) continue;
      for (let part = 0; part < PARTS; part++) parts[column * PARTS + part] += track.density[bucket * PARTS + part];
    }
    return parts;
  }
  const lane = track.samples;
  for (let i = firstAfter(lane, from); i < lane.count && lane.start[i] < to; i++) {
    const part = Math.min(lane.state[i], CPU_STATES);
    const first = Math.max(0, Math.floor((lane.start[i] - from) / step));
    const last = Math.min(columns - 1, Math.floor((lane.end[i] - from) / step));
    for (let column = first; column <= last; column++) {
      const start = from + column * step;
      parts[column * PARTS + part] += Math.max(0, Math.min(lane.end[i], start + step) - Math.max(lane.start[i], start));
    }
  }
  return parts;
}
