// What the page computes itself, for the whole range, against what the core says of a real recording. Needs `sonde` with a
// report page (SONDE names it).
import { describe, expect, it } from "vitest";
import type { Table } from "../src/data";
import { sampledFunctions } from "../src/model/choose";
import { functionsTable, linesTable, memoryTable, waitingTable } from "../src/model/samples";
import { spansTable } from "../src/model/spans";
import { findTable, numbers, texts } from "../src/model/table";
import { record } from "./record";

const PROGRAM = `
import json, time, threading, sonde
def spin(n):
    return sum(i * i for i in range(n))
def deep(n):
    return spin(20000) if n == 0 else deep(n - 1)
KEPT = []
def keep():
    KEPT.append(bytearray(300_000))
def work():
    keep()
    for _ in range(12):
        with sonde.region("step"):
            spin(60000)
            with sonde.region("inner"):
                deep(5)
            json.dumps(list(range(20000)))
        time.sleep(0.005)
event = threading.Event()
def park():
    event.wait()
parked = [threading.Thread(target=park) for _ in range(3)]
[t.start() for t in parked]
threads = [threading.Thread(target=work) for _ in range(2)]
[t.start() for t in threads]
work()
[t.join() for t in threads]
event.set()
`;

/** Values of a column by what the row is. */
function byKey(table: Table, key: string[], column: string): Map<string, number> {
  const read = key.map((name) => texts(table, name));
  const value = numbers(table, column);
  const found = new Map<string, number>();
  table.rows.forEach((_, row) => {
    const name = read.map((one) => one(row)).join(" ");
    if (value(row)) found.set(name, (found.get(name) ?? 0) + value(row));
  });
  return found;
}

function expectSame(ours: Map<string, number>, core: Map<string, number>, digits: number): void {
  expect([...ours.keys()].sort()).toEqual([...core.keys()].sort());
  for (const [key, value] of core) expect(ours.get(key), key).toBeCloseTo(value, digits);
}

describe("a real recording", async () => {
  const recording = await record(PROGRAM, "--memory");
  const whole = [0, 1e18] as const;

  for (const [name, range] of [["by metrics", null], ["by events", whole]] as const) {
    it(`has the core's lines, ${name}`, () => {
      const core = findTable(recording, "lines")!;
      for (const column of ["cpu_ns", "time_ns", "python_ns", "native_ns", "waiting_ns", "waited_ns"])
        expectSame(byKey(linesTable(recording, -1, range), ["place", "file", "line"], column), byKey(core, ["place", "file", "line"], column), -4);
    });

    it(`has the core's functions, ${name}`, () => {
      const core = sampledFunctions(recording)!;
      const ours = functionsTable(recording, -1, range);
      const of = (table: Table, column: string) => byKey(table, ["function", "file", "line", "place"], column);
      for (const column of ["self_cpu_ns", "self_ns", "total_cpu_ns", "total_ns"]) expectSame(of(ours, column), of(core, column), -4);
      for (const column of ["self_percent", "total_percent", "waiting_percent"]) expectSame(of(ours, column), of(core, column), 3);
      expect(texts(ours, "function")(0)).toBe(texts(core, "function")(0));
    });

    it(`has the core's list of waiting, ${name}`, () => {
      const core = findTable(recording, "waiting")!;
      const ours = waitingTable(recording, core, -1, range);
      const key = ["kind", "place", "file", "line", "reason"];
      expectSame(byKey(ours, key, "wait_ns"), byKey(core, key, "wait_ns"), -4);
      expectSame(byKey(ours, key, "percent"), byKey(core, key, "percent"), 3);
      expectSame(byKey(ours, key, "threads"), byKey(core, key, "threads"), 9);
      const idle = ours.rows.findIndex((_, row) => texts(ours, "kind")(row) === "idle");
      expect(texts(ours, "place")(idle)).toBe("3 idle threads");
      const machine = (table: Table) => table.rows.map((_, row) => texts(table, "note")(row)).filter((note) => note.startsWith("the machine"));
      expect(machine(ours)).toEqual(machine(core));
    });
  }

  it("has shares of CPU time and waiting where these are wanted", () => {
    const [cpu, all] = [false, true].map((isAll) => functionsTable(recording, -1, null, isAll));
    for (const table of [cpu, all]) expect(table.rows.reduce((sum, _, row) => sum + numbers(table, "self_percent")(row), 0)).toBeCloseTo(100, 6);
    const first = (table: Table) => table.rows.findIndex((_, row) => texts(table, "function")(row) === "Condition.wait");
    expect(first(all)).toBeLessThan(first(cpu));
  });

  it("has the core's memory by line", () => {
    const core = findTable(recording, "memory")!;
    for (const column of ["peak_bytes", "live_bytes"])
      expectSame(byKey(memoryTable(recording, -1, null), ["place"], column), byKey(core, ["place"], column), -2);
  });

  it("has the core's regions when it has their timeline", () => {
    const ours = spansTable(recording, "regions", ["region"], -1, null);
    if (!ours) return;
    const core = byKey(findTable(recording, "regions")!, ["name"], "count");
    for (const [region, count] of byKey(ours, ["name"], "count")) expect(count).toBe(core.get(region));
  });
});
