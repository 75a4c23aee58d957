// Marks of the program: a row of their own, the table, their names with details, and which one a pointer is at.
import { expect, it } from "vitest";
import { decode } from "../src/data";
import { lanesOf, markAt } from "../src/draw/frames/lanes";
import { entryName, makeNames } from "../src/draw/frames/names";
import { timeRows } from "../src/draw/timeline_rows";
import { timeTable } from "../src/draw/timeline_table";
import { addNode, addSite, addTrack, bare, setMetric } from "./draw_data";

function made() {
  const raw = bare();
  raw.facts = { ...raw.facts, length_ns: 1000, threads: 1 };
  const main = addTrack(raw, "main");
  const region = addNode(raw, main, addSite(raw, "region", "step"));
  const line = addNode(raw, main, addSite(raw, "line", "work", "/p/a.py", 2, 1));
  const deployed = addNode(raw, main, addSite(raw, "mark", "deployed", "", 0, 0, "version=2"));
  const epoch = addNode(raw, main, addSite(raw, "mark", "epoch"));
  setMetric(raw, "count", new Map([[region, 1], [deployed, 1], [epoch, 2]]));
  raw.events = [
    { kind: "marks", unit_ns: 1, gap: [100, 300, 400], value: [0, 0, 0], node: [epoch, deployed, epoch], task: [0, 0, 0] },
    { kind: "spans", unit_ns: 1, gap: [50], value: [900], node: [region], task: [0] },
    { kind: "samples", unit_ns: 1, gap: [0], value: [700], node: [line], task: [0] },
  ];
  return { recording: decode(raw), deployed, epoch };
}

it("marks stand in a row of their own, and samples are still the first events", () => {
  const { recording } = made();
  expect(recording.events!.sample_count).toBe(1);
  expect(timeRows(recording).tracks[0].rows.map(({ kind, lane }) => [kind, lane.count])).toEqual([["samples", 1], ["marks", 3], ["regions", 1]]);
  expect([...lanesOf(recording)[0].marks[0].start]).toEqual([100, 400, 800]);
});

it("a mark is named with its detail", () => {
  const { recording, deployed, epoch } = made();
  const names = makeNames(recording);
  expect([entryName(names, deployed), entryName(names, epoch)]).toEqual(["deployed (version=2)", "epoch"]);
});

it("the table has the marks of a range", () => {
  const { recording } = made();
  const table = timeTable(makeNames(recording), timeRows(recording), -1, [300, 900]);
  expect(table.rows.filter((row) => row[1] === "mark").map((row) => [row[0], row[3], row[4]])).toEqual([["deployed (version=2)", 400, 0], ["epoch", 800, 0]]);
});

it("a pointer finds the mark that is near", () => {
  const lane = lanesOf(made().recording)[0].marks[0];
  expect([markAt(lane, 395, 10), markAt(lane, 405, 10), markAt(lane, 450, 10), markAt(lane, 950, 10)]).toEqual([1, 1, -1, -1]);
});
