// Recordings by chance, the same every time: trees of samples with events, regions in each other, calls in pairs.
import { decode, type RawBlock, type RawRecording, type Recording } from "../src/data";
import { STATES } from "../src/model/metrics";
import { noFacts } from "./tiny";

const KINDS = ["thread", "region", "counter", "function", "builtin", "line", "native", "other", "op", "gc", "mark"];

function numbers(seed: number): () => number {
  return () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };
}

function delta(map: Map<number, number>): { node: number[]; value: number[] } {
  const rows = [...map].sort((a, b) => a[0] - b[0]);
  return { node: rows.map(([node], i) => node - (i > 0 ? rows[i - 1][0] : 0)), value: rows.map(([, value]) => value) };
}

/** An empty recording with these texts. */
export function bare(): RawRecording {
  return {
    version: 1, infos: {}, facts: { ...noFacts }, texts: [""], kinds: KINDS,
    sites: { kind: [], name: [], file: [], line: [], detail: [], first_line: [] },
    tracks: [], nodes: { parent: [], track: [], site: [] }, metrics: {}, sources: [], own_files: [], file_names: [], series: [],
    histories: null, events: null, tables: [], diff: [], pruned: null,
  };
}

export function addText(raw: RawRecording, text: string): number {
  const known = raw.texts.indexOf(text);
  return known >= 0 ? known : raw.texts.push(text) - 1;
}

export function addSite(raw: RawRecording, kind: string, name: string, file = "", line = 0, first = 0, detail = ""): number {
  const { sites } = raw;
  sites.name.push(addText(raw, name));
  sites.file.push(addText(raw, file));
  sites.line.push(line);
  sites.detail.push(addText(raw, detail));
  sites.first_line.push(first);
  return sites.kind.push(KINDS.indexOf(kind)) - 1;
}

export function addNode(raw: RawRecording, parent: number, site: number, track = 0): number {
  raw.nodes.track.push(track);
  raw.nodes.site.push(site);
  return raw.nodes.parent.push(parent) - 1;
}

export function addTrack(raw: RawRecording, name: string): number {
  raw.tracks.push({ name, process_id: 1, thread_id: raw.tracks.length + 1, start_ns: 0, end_ns: 0 });
  return addNode(raw, -1, addSite(raw, "thread", name), raw.tracks.length - 1);
}

export function setMetric(raw: RawRecording, name: string, values: Map<number, number>): void {
  raw.metrics[name] = delta(values);
}

/** Samples on two threads, and one that never runs Python: its waiting does not count. */
export function sampled(seed: number, nodes = 400): Recording {
  const random = numbers(seed);
  const raw = bare();
  const pick = (list: number[]) => list[Math.floor(random() * list.length)];
  const own = Array.from({ length: 12 }, (_, i) => addSite(raw, "line", `own_${i % 6}`, "/p/a.py", 10 * (i % 6) + 1 + Math.floor(i / 6), 10 * (i % 6) + 1));
  const others = Array.from({ length: 8 }, (_, i) => addSite(raw, "line", `lib_${i}`, `/usr/lib/python3.11/lib${i % 3}.py`, i + 2, i + 1));
  const native = [addSite(raw, "native", "dgemm", "/usr/lib/libblas.so"), addSite(raw, "native", "memcpy", "/usr/lib/libc.so")];
  const regions = [addSite(raw, "region", "step"), addSite(raw, "region", "load")];
  const members = ["main", "worker", "blas"].map((name) => [addTrack(raw, name)]);
  while (raw.nodes.parent.length < nodes) {
    const track = Math.floor(random() * 3);
    const list = members[track];
    const parent = list[Math.floor(random() ** 0.5 * list.length)];
    const site = track === 2 ? pick(native) : pick(random() < 0.1 ? regions : random() < 0.5 ? own : others);
    list.push(addNode(raw, parent, site, track));
  }
  const sums = STATES.map(() => new Map<number, number>());
  const block: RawBlock = { kind: "samples", unit_ns: 1000, gap: [], value: [], node: [], task: [] };
  let length = 0;
  for (const list of members) {
    let at = 0;
    for (let i = 0; i < nodes; i++) {
      const node = list[1 + Math.floor(random() * (list.length - 1))];
      if (regions.includes(raw.nodes.site[node])) continue;
      const [gap, value, state] = [random() < 0.1 ? 5 : 0, 1 + Math.floor(random() * 50), Math.floor(random() * STATES.length)];
      block.gap.push(gap);
      block.value.push(value);
      block.node.push(node);
      block.task.push(state);
      at += gap + value;
      sums[state].set(node, (sums[state].get(node) ?? 0) + value * 1000);
    }
    length = Math.max(length, at * 1000);
  }
  STATES.forEach((name, state) => setMetric(raw, name, sums[state]));
  raw.own_files = [addText(raw, "/p/a.py")];
  raw.facts.length_ns = length;
  raw.events = [block];
  return decode(raw);
}

/** outer [0, 100] with two inner ones of 30 and 20, then outer [200, 250]: in ns. */
export function regions(): Recording {
  const raw = bare();
  const root = addTrack(raw, "main");
  const outer = addNode(raw, root, addSite(raw, "region", "outer"));
  const inner = addNode(raw, outer, addSite(raw, "region", "inner"));
  setMetric(raw, "self", new Map([[root, 50], [outer, 100], [inner, 50]]));
  setMetric(raw, "total", new Map([[root, 200], [outer, 150], [inner, 50]]));
  raw.facts.length_ns = 250;
  raw.events = [{ kind: "spans", unit_ns: 1, gap: [0, -90, 5, 135], value: [100, 30, 20, 50], node: [outer, inner, inner, outer], task: [0, 0, 0, 0] }];
  return decode(raw);
}

/** main calls a and b, both call leaf; a with two signatures, the second one calls itself. */
export function called(): Recording {
  const raw = bare();
  const root = addTrack(raw, "main");
  const site = (name: string, line: number, detail = "") => addSite(raw, "function", name, "/p/a.py", line, 0, detail);
  const [main, a, a1, a2, b] = [site("main", 1), site("a", 5), site("a", 5, "a(int)"), site("a", 5, "a(str)"), site("b", 9)];
  const leaf = addSite(raw, "builtin", "leaf");
  const [mainNode, , one, two, bNode] = [main, a, a1, a2, b].map((id) => addNode(raw, root, id));
  const leafNode = addNode(raw, root, leaf);
  const pairs = [[mainNode, a1, 40], [mainNode, a2, 20], [mainNode, b, 30], [one, leaf, 10], [two, leaf, 5], [bNode, leaf, 15], [two, a2, 0]];
  const total = new Map([[mainNode, 100], [2, 60], [one, 40], [two, 20], [bNode, 30], [leafNode, 30]]);
  for (const [parent, id, ns] of pairs) total.set(addNode(raw, parent, id), ns);
  setMetric(raw, "total", total);
  setMetric(raw, "self", new Map([[mainNode, 10], [2, 45], [one, 30], [two, 15], [bNode, 15], [leafNode, 30]]));
  raw.own_files = [addText(raw, "/p/a.py")];
  raw.facts.length_ns = 100;
  return decode(raw);
}
