// The tree of the page against the tree of the core, for a real recording. Needs `sonde` with a report page (SONDE names
// it).
import { describe, expect, it } from "vitest";
import type { Recording } from "../src/data";
import { lengthOf } from "../src/draw/frames/lanes";
import { placeOf, titleOf } from "../src/draw/frames/names";
import { framesFor, measureOf, sourceOf } from "../src/draw/frames/source";
import { record } from "./record";

const PROGRAM = `
import json, time, threading, sonde
def spin(n):
    return sum(i * i for i in range(n))
def deep(n):
    return spin(20000) if n == 0 else deep(n - 1)
def work():
    for _ in range(12):
        with sonde.region("step"):
            spin(60000)
            deep(5)
            json.dumps(list(range(20000)))
        time.sleep(0.005)
threads = [threading.Thread(target=work) for _ in range(2)]
[t.start() for t in threads]
work()
[t.join() for t in threads]
`;

/** Times by path of names, as the page has them; threads of one name have the same path. */
function pagePaths(recording: Recording, range: readonly [number, number] | null): Map<string, number[]> {
  const { names } = sourceOf(recording);
  const { frames } = framesFor(recording, measureOf(sourceOf(recording), "time")!, -1, range, true);
  const paths = [""];
  const found = new Map<string, number[]>();
  for (let i = 1; i < frames.count; i++) {
    paths[i] = `${paths[frames.parent[i]]}/${titleOf(names, frames.what[i])} ${placeOf(names, frames.what[i])}`;
    found.set(paths[i], [...(found.get(paths[i]) ?? []), frames.total[i]]);
  }
  return found;
}

/** The same as the core has it, without rows that have no frame of their own here. */
function corePaths(recording: Recording): [string, number][] {
  const table = recording.tables.find(({ view }) => view === "tree")!;
  const at = (name: string) => table.columns.findIndex((column) => column.name === name);
  const [name, place, kind, time] = ["name", "place", "kind", "time_ns"].map(at);
  const found: [string, number][] = [];
  const path: string[] = [];
  table.rows.forEach((row, i) => {
    const depth = table.depths![i];
    path.length = depth;
    const plain = String(row[name]).replace(/ {2}\[\d+ frames? hidden\].*$/, "").replace(/ \(native\)$/, "");
    path.push(`${plain} ${String(row[place] ?? "")}`);
    if (row[kind] !== "self" && row[kind] !== "small") found.push([`/${path.join("/")}`, Number(row[time])]);
  });
  return found;
}

describe("the tree of a real recording", async () => {
  const recording = await record(PROGRAM);

  it.each([["of the whole", false], ["of the whole range", true]])("has the times of the core: %s", (_, isRange) => {
    const ours = pagePaths(recording, isRange ? [0, lengthOf(recording)] : null);
    const core = corePaths(recording);
    expect(core.length).toBeGreaterThan(5);
    for (const [path, ns] of core) expect(ours.get(path)?.some((time) => Math.abs(time - ns) < 100), `${path}: ${ns} in ${ours.get(path)}`).toBe(true);
  });
});
