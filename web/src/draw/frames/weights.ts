// What a box is as wide as: a number for each node, of its own, for the whole recording or a part of its time.
import type { Recording } from "../../data";
import { STATES } from "../../model/metrics";
import { isCall, kindOfSite } from "../../model/sites";
import { CPU, overlap, ownValues, WAITING } from "../../model/values";
import type { Range } from "../../state";
import type { Names } from "./names";

/** Parts of a box's time: python, native, system, waiting. */
export const PARTS = 4;

export interface Weights {
  /** Per node. */
  own: Float64Array;
  /** By state, STATES.length a node; null where it is not time of samples. */
  states: Float64Array | null;
  /** A range was asked for, but this is known for the whole recording only. */
  ignoresRange: boolean;
}

export interface Measure {
  id: string;
  title: string;
  from: "samples" | "regions" | "calls" | "sums";
  /** The metrics of the recording that it adds up. */
  metrics: readonly string[];
}

const MEASURES: readonly Measure[] = [
  { id: "cpu", title: "CPU time", from: "samples", metrics: CPU },
  { id: "time", title: "CPU and waiting", from: "samples", metrics: STATES },
  { id: "waiting", title: "Waiting", from: "samples", metrics: WAITING.slice(1) },
  { id: "calls", title: "Calls", from: "calls", metrics: ["self"] },
  { id: "regions", title: "Regions", from: "regions", metrics: ["self"] },
  { id: "live_peak", title: "Memory at the peak", from: "sums", metrics: ["live_peak"] },
  { id: "live", title: "Memory at the end", from: "sums", metrics: ["live"] },
  { id: "alloc", title: "Memory allocated", from: "sums", metrics: ["alloc_python", "alloc_native"] },
  { id: "copied", title: "Memory copied", from: "sums", metrics: ["copied"] },
  { id: "gpu", title: "GPU time", from: "sums", metrics: ["gpu"] },
];

export function isEntered(kind: string): boolean {
  return kind === "region" || kind === "op";
}

function hasAny(recording: Recording, name: string, is: (kind: string) => boolean): boolean {
  const metric = recording.metrics.get(name);
  if (!metric) return false;
  const { site } = recording.nodes;
  return metric.value.some((value, i) => value > 0 && is(kindOfSite(recording, site[metric.node[i]])));
}

const KINDS: Record<Measure["from"], (kind: string) => boolean> = {
  samples: () => true,
  sums: () => true,
  calls: isCall,
  regions: isEntered,
};

/** Those that the recording has something for, the most telling one first. */
export function measuresOf(recording: Recording): Measure[] {
  return MEASURES.filter(({ from, metrics }) => metrics.some((name) => hasAny(recording, name, KINDS[from])));
}

/** In a range, a node has the part of its time that its events in the range are of all its events. */
function weighSamples({ recording }: Names, measure: Measure, thread: number, range: Range | null): Weights {
  const { count } = recording.nodes;
  const own = new Float64Array(count);
  const states = new Float64Array(count * STATES.length);
  STATES.forEach((name, state) => {
    if (!measure.metrics.includes(name) || !recording.metrics.has(name)) return;
    const values = ownValues(recording, [name], thread, range);
    for (let node = 0; node < count; node++) {
      if (values[node] === 0) continue;
      own[node] += values[node];
      states[node * STATES.length + state] = values[node];
    }
  });
  return { own, states, ignoresRange: range !== null && !recording.events?.sample_count };
}

/** Self time of regions and operators in a range: what an entry takes is taken from the one around it. */
function weighEntries({ recording }: Names, thread: number, range: Range): Float64Array {
  const { nodes } = recording;
  const events = recording.events!;
  const own = new Float64Array(nodes.count);
  for (let i = events.sample_count; i < events.count; i++) {
    const node = events.node[i];
    if ((thread >= 0 && nodes.track[node] !== thread) || !isEntered(kindOfSite(recording, nodes.site[node]))) continue;
    const ns = overlap(events, i, range);
    const parent = nodes.parent[node];
    own[node] += ns;
    if (parent >= 0 && nodes.parent[parent] >= 0) own[parent] -= ns;
  }
  return own.map((ns) => Math.max(0, ns)); // an entry that is still open has no event, those in it have
}

/** Whether the timeline has spans of these kinds. */
export function hasEvents(recording: Recording, is: (kind: string) => boolean): boolean {
  const { events, nodes } = recording;
  const wanted = recording.kinds.map(is);
  const spans = events?.node.subarray(events.sample_count);
  return !!spans?.some((node) => wanted[recording.sites.kind[nodes.site[node]]]);
}

/** For all measures but calls, whose nodes are no tree (see calls.ts). A thread of -1: all. */
export function weigh(names: Names, measure: Measure, thread: number, range: Range | null): Weights {
  if (measure.from === "samples") return weighSamples(names, measure, thread, range);
  const isRegions = measure.from === "regions";
  if (isRegions && range && hasEvents(names.recording, isEntered))
    return { own: weighEntries(names, thread, range), states: null, ignoresRange: false };
  const { recording } = names;
  const wanted = recording.kinds.map((kind) => !isRegions || isEntered(kind) || kind === "thread");
  const own = ownValues(recording, measure.metrics, thread, null).map((value, node) => (wanted[recording.sites.kind[recording.nodes.site[node]]] ? value : 0));
  return { own, states: null, ignoresRange: range !== null };
}
