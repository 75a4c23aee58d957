// What the page computes itself, of the whole recording and of the whole range, against what the program says of each kind of
// recording. Needs `sonde` with a report page (SONDE names it).
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { empty, exported, KINDS, pageOf } from "../e2e/recordings.mjs";
import { unpack, type Recording, type Table } from "../src/data";
import { computed, sampledFunctions } from "../src/model/choose";
import { functionsTable, waitingTable } from "../src/model/samples";
import { findTable, numbers, texts } from "../src/model/table";
import { START } from "../src/state";
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

/** What a row is of, by view. Of spans the page has one row where the program may have several: only what adds up is compared. */
const ROWS: Record<string, { key: string[]; columns?: string[] }> = {
  lines: { key: ["place", "file", "line", "function", "source"] },
  memory: { key: ["place"], columns: ["peak_bytes", "live_bytes"] },
  sampled_functions: { key: ["function", "file", "line", "place", "code"] },
  waiting: { key: ["kind", "place", "file", "line", "reason"] },
  regions: { key: ["name"], columns: ["count"] },
  ops: { key: ["name"], columns: ["count"] },
};
/** A line's number says what a row is, and its error is that of the whole recording. */
const LEFT_OUT = ["line", "error_percent"];

/** Values of a column by what the row is, zeros left out. */
function byKey(table: Table, key: string[], column: string): Map<string, number> {
  const read = key.map((name) => texts(table, name));
  const value = numbers(table, column);
  const found = new Map<string, number>();
  table.rows.forEach((_, row) => {
    const name = read.map((one) => one(row).trimEnd()).join(" ");
    if (value(row)) found.set(name, (found.get(name) ?? 0) + value(row));
  });
  return found;
}

/** As the page has tables. */
function asked(name: string, view: string): Table | null {
  try {
    const { columns, rows } = exported(name, view, ...(view === "lines" ? ["--show-all"] : [])); // also small files
    return { view, is_tree: false, columns, depths: null, rows: rows.map((row: Record<string, never>) => columns.map((one: { name: string }) => row[one.name])), footer: "" };
  } catch {
    return null; // the recording has no such view
  }
}

/** How many numbers there were. */
function expectSame(view: string, ours: Table, core: Table, isExact: boolean): number {
  const { key, columns } = ROWS[view];
  const units = new Map(core.columns.map(({ name, unit }) => [name, unit as string]));
  const shared = columns ?? ours.columns.map(({ name }) => name).filter((name) => !LEFT_OUT.includes(name) && !["text", "label", "spark", undefined].includes(units.get(name)));
  let count = 0;
  for (const column of shared) {
    const [made, wanted] = [ours, core].map((table) => byKey(table, key, column));
    if (columns?.[0] === "count") for (const name of wanted.keys()) if (!made.has(name)) wanted.delete(name); // threads, sums
    if (isExact) expect([...made.keys()].sort(), column).toEqual([...wanted.keys()].sort());
    const most = Math.max(...wanted.values());
    for (const [name, value] of wanted) expect(Math.abs((made.get(name) ?? 0) - value), `${column} of ${name}: ${made.get(name)}, not ${value}`).toBeLessThanOrEqual(isExact ? 1e-9 * most : 1 + 1e-3 * most);
    count += wanted.size;
  }
  return count;
}

describe("every kind of recording", () => {
  beforeAll(empty);
  for (const name of Object.keys(KINDS))
    it(`${name}: has the numbers of the program in every table that the page makes`, async () => {
      const page = readFileSync(pageOf(name), "utf8");
      const recording = await unpack(/<script id="sonde-data"[^>]*>([^<]*)</.exec(page)![1]);
      let count = 0;
      for (const view of Object.keys(ROWS))
        for (const range of [null, [0, 1e18]] as const) {
          const core = view === "sampled_functions" ? sampledFunctions(recording) && (asked(name, "functions") as Table) : asked(name, view);
          if (!core || core.rows.length === 0 || (view === "sampled_functions" && sampledFunctions(recording)!.view !== "functions")) continue;
          const made = computed(recording, core, view, { ...START, range });
          const isMoment = view === "memory" && range; // the peak of the moments that were kept, not of the program
          if (made && !isMoment) count += expectSame(view, view === "lines" && range ? withoutMemory(made) : made, core, !range);
        }
      expect(count).toBeGreaterThan(name.includes("calls") ? -1 : 10);
    });
});

function withoutMemory(table: Table): Table {
  const kept = table.columns.map(({ name }) => !/_bytes$/.test(name));
  return { ...table, columns: table.columns.filter((_, i) => kept[i]), rows: table.rows.map((row) => row.filter((_, i) => kept[i])) };
}

describe("a recording with idle threads", () => {
  let recording: Recording;
  beforeAll(async () => void (recording = await record(PROGRAM, "--memory")));

  it("has them in one row, and says the same of the machine", () => {
    const core = findTable(recording, "waiting")!;
    const ours = waitingTable(recording, core, -1, [0, 1e18]);
    const idle = ours.rows.findIndex((_, row) => texts(ours, "kind")(row) === "idle");
    expect(texts(ours, "place")(idle)).toBe("3 idle threads");
    const machine = (table: Table) => table.rows.map((_, row) => texts(table, "note")(row)).filter((note) => note.startsWith("the machine"));
    expect(machine(ours)).toEqual(machine(core));
  });

  it("has shares of CPU time and waiting where these are wanted", () => {
    const [cpu, all] = [false, true].map((isAll) => functionsTable(recording, -1, null, isAll));
    for (const table of [cpu, all]) expect(table.rows.reduce((sum, _, row) => sum + numbers(table, "self_percent")(row), 0)).toBeCloseTo(100, 6);
    const first = (table: Table) => table.rows.findIndex((_, row) => texts(table, "function")(row) === "Condition.wait");
    expect(first(all)).toBeLessThan(first(cpu));
  });
});
