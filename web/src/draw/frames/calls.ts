// A tree of calls. A recording of calls knows who called whom, not whole stacks: a callee's time is shared out to its
// callers' contexts in proportion, as snakeviz does it. Where there is a timeline of calls, whole stacks are known.
import { isCall, kindOfSite } from "../../model/sites";
import { ownValues } from "../../model/values";
import type { Range } from "../../state";
import { FrameMaker, type Frames } from "./frames";
import { lanesOf } from "./lanes";
import type { Names } from "./names";
import { hasEvents } from "./weights";

const DEEPEST = 200;
const MOST_FRAMES = 100_000;

interface Callee {
  what: number;
  ns: number;
}

interface Graph {
  self: Float64Array;
  total: Float64Array;
  /** Per function, from outside: what nobody who was measured called. */
  entered: Float64Array;
  callees: Map<number, number>[];
}

/** Functions are children of a track's root; their children are whom they called. The one without a signature stands
 * for all of its signatures. */
function makeGraph(names: Names, thread: number): Graph {
  const { recording } = names;
  const { nodes, sites } = recording;
  const [self, total] = ["self", "total"].map((name) => ownValues(recording, [name], thread, null));
  const graph: Graph = {
    self: new Float64Array(names.functions),
    total: new Float64Array(names.functions),
    entered: new Float64Array(names.functions),
    callees: Array.from({ length: names.functions }, () => new Map()),
  };
  for (let i = 0; i < nodes.count; i++) {
    const parent = nodes.parent[i];
    if (parent < 0 || !isCall(kindOfSite(recording, nodes.site[i]))) continue;
    const what = names.ofSite[nodes.site[i]];
    if (isCall(kindOfSite(recording, nodes.site[parent]))) {
      const caller = names.ofSite[nodes.site[parent]];
      if (caller === what) continue; // it calls itself: its total has that time once
      graph.callees[caller].set(what, (graph.callees[caller].get(what) ?? 0) + total[i]);
      graph.entered[what] -= total[i];
    } else if (recording.texts[sites.detail[nodes.site[i]]] === "") {
      graph.self[what] += self[i];
      graph.total[what] += total[i];
      graph.entered[what] += total[i];
    }
  }
  return graph;
}

/** How one nanosecond of a function is shared: its own part, and those whom it called. */
function sharesOf(graph: Graph, what: number): { own: number; callees: Callee[] } {
  const callees = Array.from(graph.callees[what], ([callee, ns]) => ({ what: callee, ns })).filter(({ ns }) => ns > 0);
  const sum = graph.self[what] + callees.reduce((all, { ns }) => all + ns, 0);
  if (sum === 0) return { own: 1, callees: [] };
  return { own: graph.self[what] / sum, callees: callees.map(({ what: callee, ns }) => ({ what: callee, ns: ns / sum })) };
}

/** What the entered functions take in all is the time of all calls. */
function entries(graph: Graph): Callee[] {
  const found: Callee[] = [];
  graph.entered.forEach((ns, what) => ns > 0 && found.push({ what, ns }));
  const whole = graph.self.reduce((sum, ns) => sum + ns, 0);
  const sum = found.reduce((all, { ns }) => all + ns, 0);
  return sum === 0 ? [] : found.map(({ what, ns }) => ({ what, ns: (ns / sum) * whole }));
}

/** The heaviest first, as long as there is room; what is not followed stays its function's own. */
function expand(names: Names, graph: Graph): Frames {
  const maker = new FrameMaker(names.all, false);
  const shares = new Map<number, ReturnType<typeof sharesOf>>();
  const whole = graph.self.reduce((sum, ns) => sum + ns, 0);
  let level: { frame: number; what: number; ns: number }[] = [];
  for (const { what, ns } of entries(graph)) level.push({ frame: maker.child(0, what), what, ns });
  for (let depth = 1; level.length > 0; depth++) {
    const next: typeof level = [];
    for (const { frame, what, ns } of level) {
      if (depth >= DEEPEST || ns < whole / 10_000 || maker.count > MOST_FRAMES) {
        maker.addTime(frame, 0, ns);
        continue;
      }
      if (!shares.has(what)) shares.set(what, sharesOf(graph, what));
      const { own, callees } = shares.get(what)!;
      maker.addTime(frame, 0, ns * own);
      for (const callee of callees)
        next.push({ frame: maker.child(frame, callee.what), what: callee.what, ns: ns * callee.ns });
    }
    level = next;
  }
  return maker.finish();
}

/** Whole stacks, from the timeline: a call lies in the one above it. */
function fromEvents(names: Names, thread: number, range: Range | null): Frames {
  const { nodes } = names.recording;
  const maker = new FrameMaker(names.all, false);
  lanesOf(names.recording).forEach(({ calls }, track) => {
    if (thread >= 0 && track !== thread) return;
    let above: Int32Array = new Int32Array(0); // frames of the calls one lane up
    calls.forEach((lane, depth) => {
      const frames = new Int32Array(lane.count);
      const outer = depth > 0 ? calls[depth - 1] : null;
      for (let i = 0, k = 0; i < lane.count; i++) {
        while (outer && k + 1 < outer.count && outer.start[k + 1] <= lane.start[i]) k++;
        frames[i] = maker.child(outer ? above[k] : 0, names.ofSite[nodes.site[lane.node[i]]]);
        const ns = Math.max(0, Math.min(lane.end[i], range?.[1] ?? Infinity) - Math.max(lane.start[i], range?.[0] ?? 0));
        maker.addTime(frames[i], 0, ns);
        if (outer) maker.addTime(above[k], 0, -ns);
      }
      above = frames;
    });
  });
  maker.own.forEach((ns, frame) => (maker.own[frame] = Math.max(0, ns)));
  return maker.finish();
}

export interface CallFrames {
  frames: Frames;
  isEstimate: boolean;
  ignoresRange: boolean;
}

export function makeCallFrames(names: Names, thread: number, range: Range | null): CallFrames {
  if (hasEvents(names.recording, isCall)) return { frames: fromEvents(names, thread, range), isEstimate: false, ignoresRange: false };
  return { frames: expand(names, makeGraph(names, thread)), isEstimate: true, ignoresRange: range !== null };
}
