// What a box is as wide as: a number for each node, of its own, for the whole recording or a part of its time.
import { STATES, type Recording } from "../data";
import { CPU, overlap, TIME } from "../model/values";
import type { Range } from "../state";
import { CPU_STATES, isCall, kindOfSite, type Names } from "./names";

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
  unit: "ns" | "bytes";
  from: "samples" | "regions" | "calls" | "sums";
  /** The metrics of the recording that it adds up. */
  metrics: readonly string[];
}

const MEASURES: readonly Measure[] = [
  { id: "time", title: "CPU and waiting", unit: "ns", from: "samples", metrics: TIME },
  { id: "cpu", title: "CPU only", unit: "ns", from: "samples", metrics: CPU },
  { id: "calls", title: "Calls", unit: "ns", from: "calls", metrics: ["self"] },
  { id: "regions", title: "Regions", unit: "ns", from: "regions", metrics: ["self"] },
  { id: "live_peak", title: "Memory at the peak", unit: "bytes", from: "sums", metrics: ["live_peak"] },
  { id: "live", title: "Memory at the end", unit: "bytes", from: "sums", metrics: ["live"] },
  { id: "alloc", title: "Memory allocated", unit: "bytes", from: "sums", metrics: ["alloc_python", "alloc_native"] },
  { id: "copied", title: "Memory copied", unit: "bytes", from: "sums", metrics: ["copied"] },
  { id: "gpu", title: "GPU time", unit: "ns", from: "sums", metrics: ["gpu"] },
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

/** Threads that never ran Python code count with their CPU time only, as in src/view/samples.c. */
export function tracksWithPython({ kinds, tracks, sites, nodes }: Recording): Uint8Array {
  const ran = new Uint8Array(tracks.length);
  const line = kinds.indexOf("line");
  for (let i = 0; i < nodes.count; i++) if (sites.kind[nodes.site[i]] === line) ran[nodes.track[i]] = 1;
  return ran;
}

/** Which samples count. */
class Adding implements Weights {
  own: Float64Array;
  states: Float64Array;
  ignoresRange = false;
  private ran: Uint8Array;

  constructor(private recording: Recording, private thread: number, private cpuOnly: boolean) {
    this.own = new Float64Array(recording.nodes.count);
    this.states = new Float64Array(recording.nodes.count * STATES.length);
    this.ran = tracksWithPython(recording);
  }

  add(node: number, state: number, ns: number): void {
    const track = this.recording.nodes.track[node];
    if (this.thread >= 0 && track !== this.thread) return;
    if (state >= CPU_STATES && (this.cpuOnly || !this.ran[track])) return;
    this.own[node] += ns;
    this.states[node * STATES.length + state] += ns;
  }
}

function addSums(recording: Recording, adding: Adding): void {
  STATES.forEach((name, state) => {
    const metric = recording.metrics.get(name);
    if (metric) for (let i = 0; i < metric.node.length; i++) adding.add(metric.node[i], state, metric.value[i]);
  });
}

function addEvents({ recording, isSampled }: Names, adding: Adding, range: Range): void {
  const events = recording.events!;
  for (let i = 0; i < events.count; i++) {
    const node = events.node[i];
    const ns = overlap(events, i, range);
    if (ns > 0 && isSampled[recording.nodes.site[node]] && events.task[i] < STATES.length)
      adding.add(node, events.task[i], ns);
  }
}

function weighSamples(names: Names, measure: Measure, thread: number, range: Range | null): Weights {
  const adding = new Adding(names.recording, thread, measure.id === "cpu");
  if (range && names.recording.events) addEvents(names, adding, range);
  else addSums(names.recording, adding);
  adding.ignoresRange = range !== null && !names.recording.events;
  return adding;
}

function weighSums(names: Names, measure: Measure, thread: number, is: (kind: string) => boolean): Float64Array {
  const { recording } = names;
  const { nodes } = recording;
  const own = new Float64Array(nodes.count);
  for (const name of measure.metrics) {
    const metric = recording.metrics.get(name);
    for (let i = 0; metric && i < metric.node.length; i++) {
      const node = metric.node[i];
      if (thread >= 0 && nodes.track[node] !== thread) continue;
      if (is(kindOfSite(recording, nodes.site[node]))) own[node] += metric.value[i];
    }
  }
  return own;
}

/** Self time of regions and operators in a range: what an entry takes is taken from the one around it. */
function weighEntries({ recording }: Names, thread: number, range: Range): Float64Array {
  const { nodes } = recording;
  const events = recording.events!;
  const own = new Float64Array(nodes.count);
  for (let i = 0; i < events.count; i++) {
    const node = events.node[i];
    if ((thread >= 0 && nodes.track[node] !== thread) || !isEntered(kindOfSite(recording, nodes.site[node]))) continue;
    const ns = overlap(events, i, range);
    const parent = nodes.parent[node];
    own[node] += ns;
    if (parent >= 0 && nodes.parent[parent] >= 0) own[parent] -= ns;
  }
  return own.map((ns) => Math.max(0, ns)); // an entry that is still open has no event, those in it have
}

/** Whether the timeline has entries of these kinds. */
export function hasEvents(recording: Recording, is: (kind: string) => boolean): boolean {
  const { events, nodes } = recording;
  const wanted = recording.kinds.map(is);
  return !!events && events.node.some((node) => wanted[recording.sites.kind[nodes.site[node]]]);
}

/** For all measures but calls, whose nodes are no tree (see calls.ts). A thread of -1: all. */
export function weigh(names: Names, measure: Measure, thread: number, range: Range | null): Weights {
  if (measure.from === "samples") return weighSamples(names, measure, thread, range);
  const isRegions = measure.from === "regions";
  if (isRegions && range && hasEvents(names.recording, isEntered))
    return { own: weighEntries(names, thread, range), states: null, ignoresRange: false };
  const is = isRegions ? (kind: string) => isEntered(kind) || kind === "thread" : () => true;
  return { own: weighSums(names, measure, thread, is), states: null, ignoresRange: range !== null };
}
