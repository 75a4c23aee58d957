// A recording that nobody recorded: as many nodes and as much time as asked for, the same every time.

/** Numbers in [0, 1), the same sequence for the same seed (mulberry32). */
function numbers(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let value = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4294967296;
  };
}

const KINDS = ["thread", "region", "counter", "function", "builtin", "line", "native", "other", "op"];
const STATES = ["python", "native", "system", "wait_cpu", "wait_lock", "wait_gil", "wait_io", "wait_sleep", "wait_other"];
const FILES = ["app/main.py", "app/model.py", "app/load.py", "app/train.py", "app/report.py"].map((file) => `/home/user/${file}`);
const LIBRARIES = ["numpy/core/multiarray.py", "pandas/core/frame.py", "json/decoder.py", "asyncio/base_events.py", "requests/api.py"].map((file) => `/usr/lib/python3.11/site-packages/${file}`);

class Maker {
  constructor(random) {
    this.random = random;
    this.texts = [""];
    this.ids = new Map([["", 0]]);
    this.sites = { kind: [], name: [], file: [], line: [], detail: [], first_line: [] };
    this.nodes = { parent: [], track: [], site: [] };
  }
  text(text) {
    if (!this.ids.has(text)) this.ids.set(text, this.texts.push(text) - 1);
    return this.ids.get(text);
  }
  site(kind, name, file = "", line = 0, first = 0) {
    this.sites.kind.push(KINDS.indexOf(kind));
    this.sites.name.push(this.text(name));
    this.sites.file.push(this.text(file));
    this.sites.line.push(line);
    this.sites.detail.push(0);
    this.sites.first_line.push(first);
    return this.sites.kind.length - 1;
  }
  node(parent, track, site) {
    this.nodes.parent.push(parent);
    this.nodes.track.push(track);
    this.nodes.site.push(site);
    return this.nodes.parent.length - 1;
  }
  pick(list) {
    return list[Math.floor(this.random() * list.length)];
  }
}

function makeSites(maker, functions) {
  const own = [];
  const others = [];
  for (let i = 0; i < functions; i++) {
    const isOwn = i % 3 !== 2;
    const file = isOwn ? FILES[i % FILES.length] : LIBRARIES[i % LIBRARIES.length];
    const first = 10 + (i * 17) % 900;
    const name = `${maker.pick(["load", "parse", "train", "merge", "update", "predict", "encode", "write"])}_${maker.pick(["rows", "batch", "frame", "tokens", "index", "model"])}_${i}`;
    for (let line = 0; line < 4; line++) (isOwn ? own : others).push(maker.site("line", name, file, first + line + 1, first));
  }
  for (let i = 0; i < 200; i++) others.push(maker.site("native", `native_kernel_${i}`, "/usr/lib/libopenblas.so.0"));
  return { own, others };
}

/** A tree in which few nodes have many children and stacks are about 15 to 40 deep. */
function makeTree(maker, nodes, tracks, sites) {
  const depth = [];
  const roots = [];
  const open = [];
  for (let track = 0; track < tracks; track++) {
    const root = maker.node(-1, track, maker.site("thread", track === 0 ? "main" : `worker-${track}`));
    depth[root] = 0;
    roots.push(root);
    open.push([root]);
  }
  const members = roots.map((root) => [root]);
  while (maker.nodes.parent.length < nodes) {
    const track = maker.random() < 0.6 ? 0 : Math.floor(maker.random() * tracks);
    const list = members[track];
    const back = Math.floor(maker.random() ** 3 * Math.min(list.length, 4000));
    let parent = list[list.length - 1 - back];
    if (depth[parent] > 45) parent = list[Math.floor(maker.random() * Math.min(list.length, 500))];
    const isOwn = depth[parent] < 4 || maker.random() < 0.45;
    const node = maker.node(parent, track, maker.pick(isOwn ? sites.own : sites.others));
    depth[node] = depth[parent] + 1;
    list.push(node);
  }
  return { depth, members };
}

function makeSamples(maker, members, length, count) {
  const block = { kind: "samples", unit_ns: 10000, gap: [], value: [], node: [], task: [] };
  const sums = STATES.map(() => new Map());
  const share = [0.5, ...members.slice(1).map(() => 0.5 / (members.length - 1))];
  members.forEach((list, track) => {
    const events = Math.floor(count * share[track]);
    const mean = length / 10000 / events;
    let at = Math.floor(list.length / 2);
    for (let i = 0; i < events; i++) {
      at = maker.random() < 0.02 ? 1 + Math.floor(maker.random() * (list.length - 1)) : Math.min(list.length - 1, Math.max(1, at + Math.floor(maker.random() * 21) - 10));
      const state = maker.random() < 0.55 ? 0 : maker.random() < 0.5 ? 1 : maker.random() < 0.3 ? 2 : 3 + Math.floor(maker.random() * 6);
      const value = 1 + Math.floor(maker.random() * 2 * (mean - 1));
      block.gap.push(maker.random() < 0.01 ? 3 : 0);
      block.value.push(value);
      block.node.push(list[at]);
      block.task.push(state);
      sums[state].set(list[at], (sums[state].get(list[at]) ?? 0) + value * 10000);
    }
  });
  return { block, sums };
}

/** Regions that lie in each other, on the first track. */
function makeSpans(maker, length, count) {
  const block = { kind: "spans", unit_ns: 1, gap: [], value: [], node: [], task: [] };
  const outer = maker.node(0, 0, maker.site("region", "epoch"));
  const inner = ["load", "forward", "backward"].map((name) => maker.node(outer, 0, maker.site("region", name)));
  const step = length / count;
  let end = 0;
  const put = (node, start, value) => {
    block.gap.push(Math.round(start) - end);
    block.value.push(Math.round(value));
    block.node.push(node);
    block.task.push(0);
    end = Math.round(start) + Math.round(value);
  };
  for (let i = 0; i < count / 4; i++) {
    put(outer, i * 4 * step, step * 3.9);
    inner.forEach((node, k) => put(node, (i * 4 + k * 1.2) * step, step * (0.6 + maker.random() * 0.5)));
  }
  return { block, outer, inner };
}

function sparse(map) {
  const rows = [...map].sort((a, b) => a[0] - b[0]);
  let last = 0;
  const node = rows.map(([id]) => {
    const difference = id - last;
    last = id;
    return difference;
  });
  return { node, value: rows.map(([, value]) => value) };
}

function makeSeries(random, length) {
  const points = 2048;
  const step = Math.round(length / points);
  const at_ns = Array.from({ length: points }, (_, i) => (i === 0 ? 0 : step));
  let heap = 2e8;
  const value = at_ns.map((_, i) => (heap += (random() - 0.48) * 4e6 + Math.sin(i / 60) * 1e6));
  return [
    { name: "heap", unit: "bytes", at_ns, value: value.map(Math.round) },
    { name: "rss", unit: "bytes", at_ns, value: value.map((bytes) => Math.round(bytes * 1.2 + 5e7)) },
    { name: "gpu", unit: "%", at_ns, value: value.map(() => Math.round(random() * 100)) },
  ];
}

/** The data of a page, as the core writes it. */
export function synthetic({ nodes = 200_000, events = 1_000_000, spans = 40_000, seconds = 3600, tracks = 8, functions = 3000, seed = 9 } = {}) {
  const random = numbers(seed);
  const maker = new Maker(random);
  const length = seconds * 1e9;
  const sites = makeSites(maker, functions);
  const { members } = makeTree(maker, nodes - 4, tracks, sites);
  const samples = makeSamples(maker, members, length, events);
  const regions = makeSpans(maker, length, spans);
  const metrics = Object.fromEntries(STATES.map((name, state) => [name, sparse(samples.sums[state])]));
  const peak = new Map(members[0].filter((_, i) => i % 40 === 7).map((node) => [node, Math.round(random() ** 4 * 1e7) + 1]));
  metrics.live_peak = sparse(peak);
  const totals = new Map();
  for (let i = 0; i < regions.block.node.length; i++)
    totals.set(regions.block.node[i], (totals.get(regions.block.node[i]) ?? 0) + regions.block.value[i]);
  const inside = regions.inner.reduce((sum, node) => sum + totals.get(node), 0);
  metrics.total = sparse(totals);
  metrics.self = sparse(new Map(totals).set(regions.outer, totals.get(regions.outer) - inside));
  return {
    version: 1,
    infos: { program: "synthetic.py", length_ns: String(length), sample_rate_hz: "1000", python: "3.11.7", probes: "sample, region, memory" },
    texts: maker.texts,
    kinds: KINDS,
    sites: maker.sites,
    tracks: members.map((_, track) => ({ name: track === 0 ? "main" : `worker-${track}`, process_id: 1, thread_id: track + 1, start_ns: 0, end_ns: length })),
    nodes: maker.nodes,
    metrics,
    sources: [],
    own_files: FILES.map((file) => maker.text(file)),
    series: makeSeries(random, length),
    histories: null,
    events: [samples.block, regions.block],
    tables: [],
    pruned: null,
  };
}
