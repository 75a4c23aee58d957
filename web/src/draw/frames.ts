// Trees of frames in typed arrays: what flame graph, tree and sunburst draw. A parent's number is smaller than its
// children's; frame 0 is the whole.
import { STATES } from "../data";
import { CPU_STATES, kindOf, ofState, ofTrack, type Names } from "./names";
import { PARTS, type Weights } from "./weights";

export interface Frames {
  count: number;
  /** -1: the whole. */
  parent: Int32Array;
  /** A number of Names. */
  what: Int32Array;
  depth: Int32Array;
  /** Of its own, and with all below. */
  own: Float64Array;
  total: Float64Array;
  /** Of the total: python, native, system, waiting; PARTS a frame. null: not known. */
  parts: Float64Array | null;
  /** Functions folded into it. */
  hidden: Int32Array;
  /** The children of frame f are kids[first[f]] up to kids[first[f + 1]], the heaviest first. */
  first: Int32Array;
  kids: Int32Array;
  /** Where the frame begins when children stand side by side, what is its own behind them. */
  left: Float64Array;
  deepest: number;
  /** Per node of the recording; -1: none. null: the frames are not made of nodes. */
  ofNode: Int32Array | null;
}

/** Frames in the making. */
export class FrameMaker {
  parent: number[] = [-1];
  what: number[];
  own: number[] = [0];
  parts: number[] = [0, 0, 0, 0];
  hidden: number[] = [0];
  private table = new Int32Array(1 << 12);

  constructor(whole: number, private hasParts: boolean) {
    this.what = [whole];
  }

  add(parent: number, what: number): number {
    const frame = this.parent.push(parent) - 1;
    this.what.push(what);
    this.own.push(0);
    this.hidden.push(0);
    if (this.hasParts) this.parts.push(0, 0, 0, 0);
    return frame;
  }

  /** The child of `parent` for `what`, which is added where there is none. */
  child(parent: number, what: number): number {
    if (this.parent.length * 2 > this.table.length) this.grow();
    const slot = this.slot(parent, what);
    if (this.table[slot] === 0) this.table[slot] = this.add(parent, what);
    return this.table[slot];
  }

  private slot(parent: number, what: number): number {
    const mask = this.table.length - 1;
    let slot = (Math.imul(parent, 0x9e3779b1) ^ Math.imul(what + 1, 0x85ebca6b)) >>> 7 & mask;
    for (let found; (found = this.table[slot]) !== 0; slot = (slot + 1) & mask)
      if (this.parent[found] === parent && this.what[found] === what) break;
    return slot;
  }

  private grow(): void {
    const known = this.table.filter((frame) => frame !== 0);
    this.table = new Int32Array(this.table.length * 4);
    for (const frame of known) this.table[this.slot(this.parent[frame], this.what[frame])] = frame;
  }

  /** Time of a frame's own; `part` of PARTS. */
  addTime(frame: number, part: number, value: number): void {
    this.own[frame] += value;
    if (this.hasParts) this.parts[frame * PARTS + part] += value;
  }

  finish(ofNode: Int32Array | null = null): Frames {
    const parent = Int32Array.from(this.parent);
    const own = Float64Array.from(this.own);
    const total = own.slice();
    const parts = this.hasParts ? Float64Array.from(this.parts) : null;
    addUp(parent, total, 1);
    if (parts) addUp(parent, parts, PARTS);
    const { first, kids } = childrenOf(parent, total);
    const frames = {
      count: parent.length, parent, what: Int32Array.from(this.what), depth: new Int32Array(parent.length), own, total, parts,
      hidden: Int32Array.from(this.hidden), first, kids, left: new Float64Array(parent.length), deepest: 0, ofNode,
    };
    layOut(frames);
    return frames;
  }
}

/** From own values to those with all below. */
function addUp(parent: Int32Array, values: Float64Array, width: number): void {
  for (let i = parent.length - 1; i > 0; i--)
    for (let k = 0; k < width; k++) values[parent[i] * width + k] += values[i * width + k];
}

function childrenOf(parent: Int32Array, total: Float64Array): { first: Int32Array; kids: Int32Array } {
  const first = new Int32Array(parent.length + 2);
  const kids = new Int32Array(Math.max(0, parent.length - 1));
  for (let i = 1; i < parent.length; i++) first[parent[i] + 2]++;
  for (let i = 2; i < first.length; i++) first[i] += first[i - 1];
  for (let i = 1; i < parent.length; i++) kids[first[parent[i] + 1]++] = i;
  for (let i = 0; i < parent.length; i++)
    if (first[i + 1] - first[i] > 1) kids.subarray(first[i], first[i + 1]).sort((a, b) => total[b] - total[a] || a - b);
  return { first, kids };
}

function layOut(frames: Frames): void {
  const { parent, first, kids, left, total, depth } = frames;
  for (let i = 0; i < frames.count; i++) {
    if (i > 0) depth[i] = depth[parent[i]] + 1;
    if (depth[i] > frames.deepest && total[i] > 0) frames.deepest = depth[i];
    let at = left[i];
    for (let k = first[i]; k < first[i + 1]; k++) {
      left[kids[k]] = at;
      at += total[kids[k]];
    }
  }
}

/** Which nodes have something in or below them. */
function usedNodes({ recording }: Names, weights: Weights): Uint8Array {
  const { parent, count } = recording.nodes;
  const used = new Uint8Array(count);
  for (let i = count - 1; i >= 0; i--) {
    if (weights.own[i] > 0) used[i] = 1;
    if (used[i] && parent[i] >= 0) used[parent[i]] = 1;
  }
  return used;
}

function usedTracks({ recording }: Names, used: Uint8Array): number {
  const { parent, count } = recording.nodes;
  let tracks = 0;
  for (let i = 0; i < count; i++) if (used[i] && parent[i] < 0) tracks++;
  return tracks;
}

function addNode(maker: FrameMaker, names: Names, weights: Weights, node: number, frame: number): void {
  const { states } = weights;
  if (!states) return maker.addTime(frame, 0, weights.own[node]);
  for (let state = 0; state < STATES.length; state++) {
    const ns = states[node * STATES.length + state];
    if (ns === 0) continue;
    if (state < CPU_STATES) maker.addTime(frame, state, ns);
    else maker.addTime(maker.child(frame, ofState(names, state)), CPU_STATES, ns);
  }
}

/** Frames of nodes, lines of one function together; threads apart where there are several. Waiting is a frame below. */
export function makeFrames(names: Names, weights: Weights): Frames {
  const { nodes } = names.recording;
  const maker = new FrameMaker(names.all, weights.states !== null);
  const used = usedNodes(names, weights);
  const isOneTrack = usedTracks(names, used) === 1;
  const ofNode = new Int32Array(nodes.count).fill(-1);
  for (let i = 0; i < nodes.count; i++) {
    if (!used[i]) continue;
    const what = names.ofSite[nodes.site[i]];
    if (nodes.parent[i] < 0) ofNode[i] = isOneTrack ? 0 : maker.child(0, ofTrack(names, nodes.track[i]));
    else ofNode[i] = what < 0 ? ofNode[nodes.parent[i]] : maker.child(ofNode[nodes.parent[i]], what);
    if (weights.own[i] > 0) addNode(maker, names, weights, i, ofNode[i]);
  }
  return maker.finish(ofNode);
}

/** Own numbers of a frame, into a frame of another tree. */
export function addOwn(maker: FrameMaker, into: number, frames: Frames, frame: number): void {
  if (!frames.parts) return maker.addTime(into, 0, frames.own[frame]);
  for (let part = 0; part < PARTS; part++) {
    const ns = ownPart(frames, frame, part);
    if (ns > 0) maker.addTime(into, part, ns);
  }
}

/** What of a part is the frame's own. */
export function ownPart(frames: Frames, frame: number, part: number): number {
  const { parts, first, kids } = frames;
  let ns = parts![frame * PARTS + part];
  if (frames.own[frame] === 0) return 0;
  for (let k = first[frame]; k < first[frame + 1]; k++) ns -= parts![kids[k] * PARTS + part];
  return ns > 0.5 ? ns : 0;
}

/** Which frames lead to code of the program. */
function leading(frames: Frames, names: Names): Uint8Array {
  const leads = new Uint8Array(frames.count);
  for (let i = frames.count - 1; i > 0; i--) {
    if (frames.what[i] < names.functions && names.isOwn[frames.what[i]]) leads[i] = 1;
    if (leads[i]) leads[frames.parent[i]] = 1;
  }
  return leads;
}

function isTop(names: Names, what: number): boolean {
  const kind = kindOf(names, what);
  return kind === "all" || kind === "thread" || kind === "region";
}

/** Frames of libraries folded, as src/view/frames.c does it: what a library's function calls is folded into it, and how
 * the program was started is left out. */
export function foldFrames(frames: Frames, names: Names): Frames {
  const maker = new FrameMaker(frames.what[0], frames.parts !== null);
  const leads = leading(frames, names);
  const placed = new Int32Array(frames.count);
  const isFolded = new Uint8Array(frames.count);
  const seen = new Set<number>();
  for (let i = 0; i < frames.count; i++) {
    const what = frames.what[i];
    const above = i > 0 ? frames.parent[i] : 0;
    const isOther = what < names.functions && names.isOther[what] === 1;
    if (i > 0 && isOther && isFolded[above]) {
      placed[i] = placed[above];
      isFolded[i] = 1;
      const key = placed[i] * names.all + what;
      if (maker.what[placed[i]] !== what && !seen.has(key)) maker.hidden[placed[i]] += seen.add(key) ? 1 : 0;
    } else if (i > 0 && isOther && leads[i] && isTop(names, maker.what[placed[above]])) {
      placed[i] = placed[above];
    } else if (i > 0) {
      placed[i] = maker.child(placed[above], what);
      isFolded[i] = isOther ? 1 : 0;
    }
    addOwn(maker, placed[i], frames, i);
  }
  return maker.finish(frames.ofNode && frames.ofNode.map((frame) => (frame < 0 ? -1 : placed[frame])));
}

/** The frame of a sample: one that waits has a frame of its own. -1: none. */
export function frameOfSample(frames: Frames, names: Names, node: number, state: number): number {
  const frame = frames.ofNode ? frames.ofNode[node] : -1;
  if (frame < 0 || state < CPU_STATES) return frame;
  const what = ofState(names, state);
  for (let k = frames.first[frame]; k < frames.first[frame + 1]; k++)
    if (frames.what[frames.kids[k]] === what) return frames.kids[k];
  return frame;
}

/** Whether a frame is `ancestor` or below it. */
export function isWithin(frames: Frames, frame: number, ancestor: number): boolean {
  while (frame > ancestor) frame = frames.parent[frame];
  return frame === ancestor;
}

