// Garbage collections: lanes of their own, in the table and in the facts of the summary, of a thread and of a range.
import { expect, it } from "vitest";
import { decode } from "../src/data";
import { lanesOf } from "../src/draw/frames/lanes";
import { makeNames } from "../src/draw/frames/names";
import { timeRows } from "../src/draw/timeline_rows";
import { timeTable } from "../src/draw/timeline_table";
import { chargedNodes } from "../src/model/samples";
import { collections, facts } from "../src/model/summary";
import { START } from "../src/state";
import { addNode, addSite, addTrack, bare, setMetric } from "./draw_data";

function made() {
  const raw = bare();
  raw.facts = { ...raw.facts, length_ns: 1e6, threads: 2, collections: 3, collections_ns: 70_000, longest_ns: 30_000 };
  const [main, worker] = [addTrack(raw, "main"), addTrack(raw, "worker")];
  const site = addSite(raw, "gc", "gc", "", 0, 0, "generation 2");
  const region = addNode(raw, main, addSite(raw, "region", "step"));
  const nodes = [addNode(raw, main, site), addNode(raw, worker, site, 1)];
  setMetric(raw, "count", new Map([[region, 1], [nodes[0], 2], [nodes[1], 1]]));
  setMetric(raw, "total", new Map([[region, 9e5], [nodes[0], 50_000], [nodes[1], 20_000]]));
  setMetric(raw, "max", new Map([[region, 9e5], [nodes[0], 30_000], [nodes[1], 20_000]]));
  raw.events = [{ kind: "spans", unit_ns: 1, gap: [0, -800_000, 400_000, 10_000], value: [900_000, 30_000, 20_000, 20_000], node: [region, nodes[0], nodes[0], nodes[1]], task: [0, 0, 0, 0] }];
  return decode(raw);
}

it("collections stand in rows of their own below their thread", () => {
  const recording = made();
  expect(lanesOf(recording).map(({ gc, regions }) => [gc.map((lane) => lane.count), regions.length])).toEqual([[[2], 1], [[1], 0]]);
  expect(timeRows(recording).tracks.map(({ rows }) => rows.map(({ kind }) => kind))).toEqual([["gc", "regions"], ["gc"]]);
});

it("the table has them by their start, of a thread and of a range", () => {
  const recording = made();
  const names = makeNames(recording);
  const rows = timeRows(recording);
  const all = timeTable(names, rows, -1, [0, 1e6]);
  expect(all.rows.map((row) => row.slice(0, 5))).toEqual([
    ["step", "region", "main", 0, 900_000],
    ["generation 2", "gc", "worker", 10_000, 20_000],
    ["generation 2", "gc", "main", 100_000, 30_000],
    ["generation 2", "gc", "main", 530_000, 20_000],
  ]);
  expect(all.row_count).toBe(4);
  expect(timeTable(names, rows, 1, [0, 1e6]).rows.length).toBe(1);
  expect(timeTable(names, rows, -1, [5e5, 6e5]).rows.map(([name]) => name)).toEqual(["step", "generation 2"]);
});

it("the summary has their number, their time and the longest", () => {
  const recording = made();
  expect(collections(recording, START)).toEqual({ count: 3, total: 70_000, max: 30_000 });
  expect(collections(recording, { ...START, thread: 1 })).toEqual({ count: 1, total: 20_000, max: 20_000 });
  expect(collections(recording, { ...START, range: [110_000, 540_000] })).toEqual({ count: 2, total: 30_000, max: 30_000 });
  expect(facts(recording, START).find(({ title }) => title === "garbage collection")).toEqual({ title: "garbage collection", value: "70.00 µs", more: "3 runs, longest 30.00 µs" });
});

it("a sampled collection is not the time of the line in which it ran", () => {
  const raw = bare();
  const main = addTrack(raw, "main");
  const line = addNode(raw, main, addSite(raw, "line", "work", "/p/a.py", 2, 1));
  const collection = addNode(raw, main, addSite(raw, "other", "[garbage collection]"), line);
  const library = addNode(raw, main, addSite(raw, "line", "finalize", "/usr/lib/weakref.py", 6, 5), collection);
  const own = addNode(raw, main, addSite(raw, "line", "close", "/p/a.py", 41, 40), library);
  raw.own_files = [raw.texts.indexOf("/p/a.py")];
  expect([...chargedNodes(decode(raw))].slice(line)).toEqual([line, -1, -1, own]);
});
