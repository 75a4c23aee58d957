// The timeline as lanes: what happened on a thread, in rows in which nothing overlaps. Made once for a recording.
import type { Events, Recording } from "../../data";
import { STATES } from "../../model/metrics";
import { isCall } from "../../model/sites";
import { CPU_STATES } from "./names";
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
  /** What of the samples' time was measured: below 1 for threads such as sonde's own, of which only a sum is known. */
  scale: number;
  /** Time by part in each of BUCKETS equal pieces of the recording. */
  density: Float32Array;
  gc: Lane[];
  /** Moments: each ends where it starts. One lane, if there are any. */
  marks: Lane[];
  /** The outermost first. */
  regions: Lane[];
  calls: Lane[];
}

export const BUCKETS = 8192;
const PARTS = 4;

/** The events from `from` up to `to`, which are samples of one track. */
function sampleLane(events: Events, from: number, to: number): Lane {
  const start = events.start.subarray(from, to);
  const end = start.map((at, i) => Math.min(at + events.value[from + i], i + 1 < start.length ? start[i + 1] : Infinity));
  return { count: to - from, start, end, node: events.node.subarray(from, to), state: Uint8Array.from(events.task.subarray(from, to)) };
}

function spanLane(events: Events, members: number[]): Lane {
  const start = Float64Array.from(members, (event) => events.start[event]);
  const end = Float64Array.from(members, (event) => events.start[event] + events.value[event]);
  return { count: members.length, start, end, node: Uint32Array.from(members, (event) => events.node[event]), state: new Uint8Array(0) };
}

/** Spans that lie in each other, the outer one first: each in the first lane that is free. */
function stack(events: Events, spans: readonly number[]): Lane[] {
  const ends: number[] = [];
  const members: number[][] = [];
  for (const event of spans) {
    const start = events.start[event];
    let depth = 0;
    while (depth < ends.length && ends[depth] > start) depth++;
    ends[depth] = start + events.value[event];
    (members[depth] ??= []).push(event);
  }
  return members.map((list) => spanLane(events, list));
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

/** Where the samples of each track begin, and behind the last one their end. */
function trackStarts({ events, tracks }: Recording): Uint32Array {
  const starts = new Uint32Array(tracks.length + 1);
  for (let i = 0; i < events!.sample_count; i++) starts[events!.track[i] + 1]++;
  for (let track = 0; track < tracks.length; track++) starts[track + 1] += starts[track];
  return starts;
}

/** Per track: the metrics of its samples in parts of their events, where these are far more. */
function scalesOf({ events, nodes, tracks, metrics }: Recording): number[] {
  const measured = new Float64Array(tracks.length);
  const drawn = new Float64Array(tracks.length);
  for (const name of STATES) metrics.get(name)?.node.forEach((node, i) => (measured[nodes.track[node]] += metrics.get(name)!.value[i]));
  for (let i = 0; i < events!.sample_count; i++) drawn[nodes.track[events!.node[i]]] += events!.value[i];
  const scales = Array.from(drawn, (ns, track) => (measured[track] > 0 && measured[track] < ns / 4 ? measured[track] / ns : 1));
  return tracks.map((track, i) => scales[track.summed_on ?? i]);
}

function spansOf(recording: Recording, is: (kind: string) => boolean): number[][] {
  const { nodes, sites, kinds } = recording;
  const events = recording.events!;
  const wanted = kinds.map(is);
  const spans: number[][] = recording.tracks.map(() => []);
  for (let i = events.sample_count; i < events.count; i++)
    if (wanted[sites.kind[nodes.site[events.node[i]]]]) spans[events.track[i]].push(i);
  return spans;
}

function makeLanes(recording: Recording): TrackLanes[] {
  const { events, tracks } = recording;
  if (!events) return [];
  const length = lengthOf(recording);
  const starts = trackStarts(recording);
  const regions = spansOf(recording, isEntered);
  const calls = spansOf(recording, isCall);
  const gc = spansOf(recording, (kind) => kind === "gc");
  const marks = spansOf(recording, (kind) => kind === "mark");
  const scales = scalesOf(recording);
  return tracks.map((_, track) => {
    const samples = sampleLane(events, starts[track], starts[track + 1]);
    return {
      samples,
      scale: scales[track],
      density: densityOf(samples, length),
      gc: stack(events, gc[track]),
      marks: marks[track].length > 0 ? [spanLane(events, marks[track])] : [],
      regions: stack(events, regions[track]),
      calls: stack(events, calls[track]),
    };
  });
}

const made = new WeakMap<Recording, TrackLanes[]>();

/** By track; empty where there is no timeline. */
export function lanesOf(recording: Recording): TrackLanes[] {
  let lanes = made.get(recording);
  if (!lanes) made.set(recording, (lanes = makeLanes(recording)));
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

/** The mark that is no farther from a time than `slack`; -1: none. */
export function markAt(lane: Lane, at: number, slack: number): number {
  const found = firstAfter(lane, at - slack);
  return found < lane.count && lane.start[found] <= at + slack ? found : -1;
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
      const start = (bucket * width - from) / step;
      const column = Math.floor(start);
      const inside = Math.min(1, ((column + 1 - start) * step) / width); // the rest is in the next column
      for (let part = 0; part < PARTS; part++) {
        const ns = track.density[bucket * PARTS + part] * track.scale;
        if (column >= 0) parts[column * PARTS + part] += ns * inside;
        if (inside < 1 && column + 1 < columns) parts[(column + 1) * PARTS + part] += ns * (1 - inside);
      }
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
      const ns = Math.min(lane.end[i], start + step) - Math.max(lane.start[i], start);
      if (ns > 0) parts[column * PARTS + part] += ns * track.scale;
    }
  }
  return parts;
}
