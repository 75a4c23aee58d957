// Trees of frames in typed arrays: what flame graph, tree and sunburst draw. A parent's number is smaller than its
// children's; frame 0 is the whole.
import { STATES } from "../../model/metrics";
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
  /** Of the total, and of its own: python, native, system, waiting; PARTS a frame. null: not known. */
  parts: Float64Array | null;
  ownParts: Float64Array | null;
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

/** Frames in the making. `room`: for so many at first. */
export class FrameMaker {
  count = 0;
  parent: Int32Array;
  what: Int32Array;
  own: Float64Array;
  parts: Float64Array;
  hidden: Int32Array;
  private table: Int32Array;

  constructor(whole: number, private hasParts: boolean, room = 1024) {
    this.parent = new Int32Array(room);
    this.what = new Int32Array(room);
    this.own = new Float64Array(room);
    this.parts = new Float64Array(hasParts ? room * PARTS : 0);
    this.hidden = new Int32Array(room);
    this.table = new Int32Array(1 << (32 - Math.clz32(room * 2)));
    this.add(-1, whole);
  }

  private add(parent: number, what: number): number {
    if (this.count === this.parent.length) this.grow();
    this.parent[this.count] = parent;
    this.what[this.count] = what;
    return this.count++;
  }

  /** The child of `parent` for `what`, which is added where there is none. */
  child(parent: number, what: number): number {
    const slot = this.slot(parent, what);
    if (this.table[slot] !== 0) return this.table[slot];
    const frame = this.add(parent, what);
    this.table[this.slot(parent, what)] = frame; // the table may be another one now
    return frame;
  }

  private slot(parent: number, what: number): number {
    const { table } = this;
    const mask = table.length - 1;
    let mixed = Math.imul(parent, 0x9e3779b1) + Math.imul(what + 1, 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
    let slot = (mixed ^ (mixed >>> 13)) & mask;
    for (let found; (found = table[slot]) !== 0; slot = (slot + 1) & mask)
      if (this.parent[found] === parent && this.what[found] === what) break;
    return slot;
  }

  private grow(): void {
    this.parent = wider(this.parent, new Int32Array(this.count * 2));
    this.what = wider(this.what, new Int32Array(this.count * 2));
    this.own = wider(this.own, new Float64Array(this.count * 2));
    this.parts = wider(this.parts, new Float64Array(this.parts.length * 2));
    this.hidden = wider(this.hidden, new Int32Array(this.count * 2));
    this.table = new Int32Array(this.table.length * 2);
    for (let frame = 1; frame < this.count; frame++) this.table[this.slot(this.parent[frame], this.what[frame])] = frame;
  }

  /** Time of a frame's own; `part` of PARTS. */
  addTime(frame: number, part: number, value: number): void {
    this.own[frame] += value;
    if (this.hasParts) this.parts[frame * PARTS + part] += value;
  }

  finish(ofNode: Int32Array | null = null): Frames {
    const { count } = this;
    const parent = this.parent.slice(0, count);
    const own = this.own.slice(0, count);
    const total = own.slice();
    const ownParts = this.hasParts ? this.parts.slice(0, count * PARTS) : null;
    const parts = ownParts && ownParts.slice();
    addUp(parent, total, 1);
    if (parts) addUp(parent, parts, PARTS);
    const { first, kids } = childrenOf(parent, total);
    const frames = {
      count, parent, what: this.what.slice(0, count), depth: new Int32Array(count), own, total, parts,
      ownParts, hidden: this.hidden.slice(0, count), first, kids, left: new Float64Array(count), deepest: 0, ofNode,
    };
    layOut(frames);
    return frames;
  }
}

function wider<T extends Int32Array | Float64Array>(values: T, into: T): T {
  into.set(values);
  return into;
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
  for (let i = 0; i < parent.length; i++) if (first[i + 1] - first[i] > 1) sortKids(kids, first[i], first[i + 1], total);
  return { first, kids };
}

/** The heaviest first. Most frames have few children: putting each in its place is faster than asking for a sort. */
function sortKids(kids: Int32Array, from: number, to: number, total: Float64Array): void {
  if (to - from > 24) {
    kids.subarray(from, to).sort((a, b) => total[b] - total[a] || a - b);
    return;
  }
  for (let i = from + 1; i < to; i++) {
    const kid = kids[i];
    let k = i;
    for (; k > from && total[kids[k - 1]] < total[kid]; k--) kids[k] = kids[k - 1];
    kids[k] = kid;
  }
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
  const maker = new FrameMaker(names.all, weights.states !== null, nodes.count + 1024);
  const used = usedNodes(names, weights);
  const isOneTrack = usedTracks(names, used) === 1;
  const ofNode = new Int32Array(nodes.count).fill(-1);
  for (let i = 0; i < nodes.count; i++) {
    if (!used[i]) continue;
    const what = names.ofSite[nodes.site[i]];
    if (nodes.parent[i] < 0) ofNode[i] = isOneTrack ? 0 : maker.child(0, ofTrack(names, nodes.track[i]));
    else ofNode[i] = what < 0 ? ofNode[nodes.parent[i]] : maker.child(ofNode[nodes.parent[i]], what);
    const callee = names.calleeOf[nodes.site[i]];
    if (callee >= 0) ofNode[i] = maker.child(ofNode[i], callee);
    if (weights.own[i] > 0) addNode(maker, names, weights, i, ofNode[i]);
  }
  return maker.finish(ofNode);
}

/** Own numbers of a frame, into a frame of another tree. */
export function addOwn(maker: FrameMaker, into: number, frames: Frames, frame: number): void {
  if (frames.own[frame] === 0) return;
  maker.own[into] += frames.own[frame];
  if (frames.ownParts) for (let part = 0; part < PARTS; part++) maker.parts[into * PARTS + part] += frames.ownParts[frame * PARTS + part];
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

/** Frames of libraries folded, as src/view/sampled/frames.c does it: what a library's function calls is folded into it, and how
 * the program was started is left out. */
export function foldFrames(frames: Frames, names: Names): Frames {
  const { count, what, parent } = frames;
  const maker = new FrameMaker(what[0], frames.parts !== null, count);
  const folded = new FrameMaker(0, false); // pairs of a frame and a function that is folded into it
  const leads = leading(frames, names);
  const placed = new Int32Array(count);
  const isFolded = new Uint8Array(count);
  addOwn(maker, 0, frames, 0);
  for (let i = 1; i < count; i++) {
    const above = parent[i];
    const into = placed[above];
    const isCallee = kindOf(names, what[i]) === "native" && what[i] >= names.functions;
    const isOther = what[i] < names.functions && names.isOther[what[i]] === 1;
    placed[i] = into;
    if (isCallee && isFolded[above]) {
      isFolded[i] = 1;
    } else if (isOther && isFolded[above]) {
      isFolded[i] = 1;
      const known = folded.count;
      if (maker.what[into] !== what[i] && folded.child(into, what[i]) === known) maker.hidden[into]++;
    } else if (!(isOther && leads[i] && isTop(names, maker.what[into]))) {
      placed[i] = maker.child(into, what[i]);
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
