// The layouts of the drawn views: whatever is drawn adds up.
import { describe, expect, it } from "vitest";
import type { Recording } from "../src/data";
import { arcAt, arcsOf } from "../src/draw/arcs";
import { makeCallFrames } from "../src/draw/frames/calls";
import { cpuSeries } from "../src/draw/charts_data";
import { inkOn, mix } from "../src/draw/colours";
import { flameModel, rowAt, topOf } from "../src/draw/flame_model";
import { foldFrames, frameOfSample, type Frames } from "../src/draw/frames/frames";
import { entryAt, lanesOf, lengthOf, longestOf, partsOf } from "../src/draw/frames/lanes";
import { frameAt, LEAST_WIDTH, timeBoxes, visibleBoxes, type Box } from "../src/draw/layout";
import { flatten, invertFrames, sandwich } from "../src/draw/frames/merge";
import { kindOf, makeNames, nameOf } from "../src/draw/frames/names";
import { findFrames } from "../src/draw/frames/search";
import { framesFor, measureOf, sourceOf } from "../src/draw/frames/source";
import { timeSteps } from "../src/draw/steps";
import { LEAST_SHARE, openedAtFirst, treeRows } from "../src/draw/tree_rows";
import { timeRows } from "../src/draw/timeline_rows";
import { weigh } from "../src/draw/frames/weights";
import { ranPython } from "../src/model/values";
import { STATES } from "../src/model/metrics";
import { called, regions, sampled } from "./draw_data";

const SEEDS = [1, 2, 3];

function frames(recording: Recording, id = "time", fold = false, range: readonly [number, number] | null = null): Frames {
  return framesFor(recording, measureOf(sourceOf(recording), id)!, -1, range, fold).frames;
}

/** own + children = total; children lie in their parent, beside each other, the heaviest first. */
function expectSound(tree: Frames): void {
  for (let i = 0; i < tree.count; i++) {
    const kids = Array.from(tree.kids.subarray(tree.first[i], tree.first[i + 1]));
    const sum = kids.reduce((all, kid) => all + tree.total[kid], 0);
    const slack = 1e-9 * tree.total[0] + 1e-6;
    expect(Math.abs(sum + tree.own[i] - tree.total[i])).toBeLessThan(slack);
    let at = tree.left[i];
    let last = Infinity;
    for (const kid of kids) {
      expect(tree.parent[kid]).toBe(i);
      expect(kid).toBeGreaterThan(i);
      expect(Math.abs(tree.left[kid] - at)).toBeLessThan(slack);
      expect(tree.total[kid]).toBeLessThanOrEqual(last);
      last = tree.total[kid];
      at += tree.total[kid];
    }
    expect(at).toBeLessThanOrEqual(tree.left[i] + tree.total[i] + slack);
    if (tree.parts) expect(Math.abs(tree.parts.subarray(i * 4, i * 4 + 4).reduce((a, b) => a + b) - tree.total[i])).toBeLessThan(slack);
  }
}

/** CPU of all threads, waiting of those that ran Python: as the core counts. */
function countedTime(recording: Recording): number {
  const ran = ranPython(recording);
  let sum = 0;
  STATES.forEach((name, state) => {
    const metric = recording.metrics.get(name)!;
    metric.node.forEach((node, i) => (sum += state < 3 || ran[recording.nodes.track[node]] ? metric.value[i] : 0));
  });
  return sum;
}

describe.each(SEEDS)("frames of samples %i", (seed) => {
  const recording = sampled(seed);
  const names = makeNames(recording);
  const plain = frames(recording);
  const folded = frames(recording, "time", true);

  it("add up to the time of the nodes", () => {
    expectSound(plain);
    expect(plain.total[0]).toBeCloseTo(countedTime(recording), 0);
  });

  it("lose nothing when libraries are folded", () => {
    expectSound(folded);
    expect(folded.total[0]).toBeCloseTo(plain.total[0], 0);
    expect(folded.count).toBeLessThan(plain.count);
    for (let i = 1; i < folded.count; i++) {
      const [what, above] = [folded.what[i], folded.what[folded.parent[i]]];
      if (what < names.functions && above < names.functions) expect(names.isOther[what] && names.isOther[above]).toBeFalsy();
    }
  });

  it("have each function's own time on the first level when inverted", () => {
    const inverted = invertFrames(plain);
    expectSound(inverted);
    expect(inverted.total[0]).toBeCloseTo(plain.total[0], 0);
    const flat = flatten(plain);
    for (const kid of inverted.kids.subarray(0, inverted.first[1])) expect(inverted.total[kid]).toBeCloseTo(flat.get(inverted.what[kid])!.own, 0);
  });

  it("have a function's total in the middle of its sandwich, recursion counted once", () => {
    const flat = flatten(plain);
    for (let what = 0; what < names.functions; what++) {
      if (!flat.has(what)) continue;
      const { callers, callees } = sandwich(plain, what);
      expectSound(callers);
      expectSound(callees);
      expect(callers.total[0]).toBeCloseTo(flat.get(what)!.total, 0);
      expect(callees.total[0]).toBeCloseTo(flat.get(what)!.total, 0);
    }
  });

  it("are the same for the whole range as without one", () => {
    const whole = frames(recording, "time", false, [0, lengthOf(recording)]);
    expect(whole.total[0]).toBeCloseTo(plain.total[0], 0);
    expect(Array.from(whole.what)).toEqual(Array.from(plain.what));
    whole.total.forEach((total, i) => expect(total).toBeCloseTo(plain.total[i], 0));
  });

  it("of two halves add up to the whole", () => {
    const half = Math.floor(lengthOf(recording) / 2);
    const [a, b] = [frames(recording, "time", false, [0, half]), frames(recording, "time", false, [half, lengthOf(recording)])];
    expect(a.total[0] + b.total[0]).toBeCloseTo(plain.total[0], 0);
  });

  it("have no waiting in CPU only", () => {
    const cpu = frames(recording, "cpu");
    expectSound(cpu);
    expect(cpu.total[0]).toBeLessThan(plain.total[0]);
    expect(Array.from(cpu.what).some((what) => kindOf(names, what) === "waiting")).toBe(false);
  });

  it("of one thread are what stands below it", () => {
    const one = framesFor(recording, measureOf(sourceOf(recording), "time")!, 1, null, false).frames;
    const thread = Array.from(plain.what).findIndex((what) => nameOf(names, what) === "thread worker");
    expect(one.total[0]).toBeCloseTo(plain.total[thread], 0);
  });

  it("are found again at the place where they are drawn", () => {
    const view = { from: plain.total[0] * 0.2, to: plain.total[0] * 0.5, width: 1000, firstRow: 0, lastRow: 50 };
    const boxes: Box[] = [];
    visibleBoxes(plain, view, (box) => boxes.push(box));
    const rows = new Map<number, number>();
    for (const box of boxes) {
      const [x, end] = [Math.max(0, box.x), Math.min(view.width, box.x + box.width)];
      expect(end).toBeGreaterThan(x);
      rows.set(box.row, (rows.get(box.row) ?? 0) + end - x);
      if (box.frame >= 0 && end - x > LEAST_WIDTH) expect(frameAt(plain, view.from + ((x + end) / 2 / view.width) * (view.to - view.from), box.row)).toBe(box.frame);
    }
    for (const width of rows.values()) expect(width).toBeLessThanOrEqual(view.width + 0.01);
    expect(rows.get(0)).toBeCloseTo(view.width, 3);
  });

  it("are drawn for rows that are seen only", () => {
    const boxes: Box[] = [];
    visibleBoxes(plain, { from: 0, to: plain.total[0], width: 800, firstRow: 2, lastRow: 3 }, (box) => boxes.push(box));
    expect(new Set(boxes.map(({ row }) => row))).toEqual(new Set([2, 3]));
  });

  it("in the order of time show the stack of the sample that is there", () => {
    const lane = lanesOf(recording)[0].samples;
    const to = lane.end[40];
    const boxes: Box[] = [];
    timeBoxes(plain, names, lane, { from: 0, to, width: 4000, firstRow: 0, lastRow: 99 }, (box) => boxes.push(box));
    for (let entry = 5; entry < 40; entry++) {
      const x = (((lane.start[entry] + lane.end[entry]) / 2) * 4000) / to;
      const here = boxes.filter((box) => box.x <= x && box.x + box.width > x);
      const deepest = here.reduce((a, b) => (b.row > a.row ? b : a));
      expect(deepest.frame).toBe(frameOfSample(plain, names, lane.node[entry], lane.state[entry]));
    }
  });

  it("have rows in the tree that add up with those that are too small", () => {
    const opened = openedAtFirst(folded);
    const rows = treeRows(folded, opened);
    const top = rows.filter(({ depth }) => depth === 0).reduce((sum, row) => sum + row.weight, 0);
    expect(top + folded.own[0]).toBeCloseTo(folded.total[0], 0);
    for (const row of rows) if (row.small === 0) expect(row.weight).toBeGreaterThanOrEqual(folded.total[0] * LEAST_SHARE);
  });

  it("stand around the middle in a sunburst, inside of those that called them", () => {
    const arcs = arcsOf(folded, 0, 6, 0.001);
    const byFrame = new Map(arcs.map((arc) => [arc.frame, arc]));
    for (const arc of arcs) {
      const above = byFrame.get(folded.parent[arc.frame]) ?? { from: 0, to: 1 };
      expect(arc.from).toBeGreaterThanOrEqual(above.from - 1e-9);
      expect(arc.to).toBeLessThanOrEqual(above.to + 1e-9);
      expect(arc.to - arc.from).toBeGreaterThanOrEqual(0.001);
      expect(arcAt(arcs, arc.ring, (arc.from + arc.to) / 2)).toBe(arc.frame);
    }
  });

  it("are searched without regard to case, nested hits counted once", () => {
    const found = findFrames(plain, names, " OWN_3 ")!;
    expect(found.functions).toBe(1);
    const what = Array.from({ length: names.functions }, (_, i) => i).find((i) => nameOf(names, i) === "own_3")!;
    expect(found.weight).toBeCloseTo(flatten(plain).get(what)!.total, 0);
    expect(findFrames(plain, names, "a.py")!.functions).toBe(6);
    expect(findFrames(plain, names, "  ")).toBeNull();
  });
});

describe("regions", () => {
  const recording = regions();
  const names = makeNames(recording);

  it("have their self time, and the thread what is outside", () => {
    const tree = frames(recording, "regions");
    expectSound(tree);
    expect(tree.total[0]).toBe(200);
    const flat = flatten(tree);
    expect([...flat].map(([what, row]) => [nameOf(names, what), row.own, row.total])).toEqual([["all", 50, 200], ["outer", 100, 150], ["inner", 50, 50]]);
  });

  it("have the time in a range from the timeline", () => {
    const flat = flatten(frames(recording, "regions", false, [20, 60]));
    expect([...flat].map(([what, row]) => [nameOf(names, what), row.own])).toEqual([["all", 0], ["outer", 5], ["inner", 35]]);
  });

  it("lie in each other in the timeline", () => {
    const [{ regions: lanes }] = lanesOf(recording);
    expect(lanes.map((lane) => Array.from(lane.start))).toEqual([[0, 200], [10, 45]]);
    expect(entryAt(lanes[1], 20)).toBe(0);
    expect(entryAt(lanes[1], 42)).toBe(-1);
    const { tracks } = timeRows(recording);
    expect(tracks[0].rows.map(({ kind }) => kind)).toEqual(["regions", "regions"]);
  });

  it("in the order of time are boxes of their own length", () => {
    const tree = frames(recording, "regions");
    const model = flameModel(tree, names, "regions", { isUp: false, isTime: true, isInverted: false, sandwich: -1, thread: -1 });
    const [panel] = model.panels;
    expect(model.whole).toBe(250);
    const frame = panel.at(50, 2);
    expect(nameOf(names, panel.frames.what[frame])).toBe("inner");
    expect(panel.frames.total[frame]).toBe(20);
    expect(panel.frames.own[panel.at(50, 1)]).toBe(50);
    expect(panel.extent(frame)).toEqual([45, 65]);
  });
});

describe("calls", () => {
  const recording = called();
  const names = makeNames(recording);
  const { frames: tree, isEstimate } = makeCallFrames(names, -1, null);

  it("are a tree in which a callee's time is shared out to its callers", () => {
    expect(isEstimate).toBe(true);
    expectSound(tree);
    expect(tree.total[0]).toBeCloseTo(100, 6);
    const flat = new Map([...flatten(tree)].map(([what, row]) => [nameOf(names, what), row]));
    expect(flat.get("main")!.total).toBeCloseTo(100, 6);
    expect(flat.get("a")!.total).toBeCloseTo(60, 6);
    expect(flat.get("a")!.own).toBeCloseTo(45, 6);
    expect(flat.get("leaf")!.own).toBeCloseTo(30, 6);
  });

  it("fold builtins into what called them as any library", () => {
    const folded = foldFrames(tree, names);
    expectSound(folded);
    expect(folded.total[0]).toBeCloseTo(100, 6);
  });
});

describe("lanes", () => {
  const recording = sampled(7);
  const [main] = lanesOf(recording);
  const length = lengthOf(recording);

  it("never overlap", () => {
    for (const { samples } of lanesOf(recording))
      for (let i = 1; i < samples.count; i++) expect(samples.start[i]).toBeGreaterThanOrEqual(samples.end[i - 1]);
  });

  it("have the same time by part in columns as in the samples", () => {
    const all = main.samples.end.reduce((sum, end, i) => sum + end - main.samples.start[i], 0);
    for (const columns of [10, 1000, 100_000]) {
      const parts = partsOf(main, length, 0, length, columns);
      expect(Math.abs(parts.reduce((sum, ns) => sum + ns, 0) / all - 1)).toBeLessThan(1e-3);
    }
  });

  it("have the longest entry in each column", () => {
    const longest = longestOf(main.samples, 0, length, 7);
    longest.forEach((entry) => expect(entry).toBeGreaterThanOrEqual(0));
  });

  it("give the CPU of all threads together", () => {
    const cpu = cpuSeries(recording, 16)!;
    const mean = cpu.value.reduce((sum, value) => sum + value, 0) / 16;
    let ns = 0;
    for (const name of STATES.slice(0, 3)) ns += recording.metrics.get(name)!.value.reduce((sum, value) => sum + value, 0);
    expect(mean).toBeCloseTo((100 * ns) / length, 0);
  });
});

describe("geometry", () => {
  it("gives a row's place back", () => {
    const recording = sampled(4);
    const names = makeNames(recording);
    const tree = frames(recording);
    const what = tree.what[5];
    for (const isUp of [false, true])
      for (const middle of [-1, what]) {
        const model = flameModel(tree, names, "samples", { isUp, isTime: false, isInverted: false, sandwich: middle, thread: -1 });
        for (const panel of model.panels)
          for (const row of [0, 1, 3]) expect(rowAt(model, panel, topOf(model, panel, row, 400, 15) + 5, 400, 15)).toBe(row);
      }
  });

  it("has round steps", () => {
    expect(timeSteps(0, 1000, 1000, 110)).toEqual([0, 200, 400, 600, 800, 1000]);
    expect(timeSteps(95, 305, 400, 100)).toEqual([100, 200, 300]);
  });

  it("has text that can be read on every colour", () => {
    expect(inkOn("#0072b2")).toBe("#ffffff");
    expect(inkOn("#eedd88")).toBe("#101214");
    expect(mix("#000000", "#ffffff", 0.5)).toBe("#808080");
  });

  it("weighs memory over the whole recording only, and says so", () => {
    const recording = sampled(5);
    const source = sourceOf(recording);
    const peak = { id: "live_peak", title: "", unit: "bytes" as const, from: "sums" as const, metrics: ["live_peak"] };
    expect(weigh(source.names, peak, -1, [0, 1]).ignoresRange).toBe(true);
  });
});
