// One number, one value: what the page says of real recordings against what the program says. Needs `sonde` with a report
// page (SONDE names it).
import { describe, expect, it } from "vitest";
import { decode, type Recording, type Table } from "../src/data";
import { comparison, kindOf, subjects, totals } from "../src/model/compare";
import { duration } from "../src/model/format";
import { facts, quality, timeParts } from "../src/model/summary";
import { reader, texts } from "../src/model/table";
import { ownValues, CPU, WAITING } from "../src/model/values";
import { START } from "../src/state";
import { compared, record } from "./record";
import { tinyRaw } from "./tiny";

const PROGRAM = (rounds: number, more: string) => `
import threading, time, zlib, sonde
KEPT = []
def parse(n):
    return sum(i * i for i in range(n))
def keep():
    KEPT.append(bytearray(200_000))
${more}
def work():
    for i in range(${rounds}):
        with sonde.region("step"):
            parse(40000)
            zlib.compress(bytes(200_000))
            keep()
            ${more ? "added()" : "pass"}
        time.sleep(0.004)
thread = threading.Thread(target=work)
thread.start(); work(); thread.join()
`;
const ADDED = `
def added():
    return sorted(range(60000), key=lambda i: -i)
`;

const total = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0);

describe("a recording's facts", async () => {
  const recording = await record(PROGRAM(12, ""), "--memory");

  it("are what the page sums up itself for all threads and the whole range", () => {
    const sum = (names: readonly string[]) => total(ownValues(recording, names, -1, null));
    expect(sum(CPU)).toBe(recording.facts.python_ns + recording.facts.native_ns + recording.facts.system_ns);
    expect(sum(WAITING)).toBe(recording.facts.waiting_ns);
    expect(sum(["samples"])).toBe(recording.facts.samples);
    const range = [0, recording.length_ns] as [number, number];
    const [whole, ranged] = [timeParts(recording, START), timeParts(recording, { ...START, range })];
    whole.forEach(({ value }, i) => expect(Math.abs(ranged[i].value - value)).toBeLessThan(1e-3 * recording.length_ns + 1));
  });

  it("are what is shown", () => {
    const shown = new Map(facts(recording, START).map(({ title, value }) => [title, value]));
    expect(shown.get("length")).toBe(duration(recording.facts.length_ns));
    expect(shown.get("CPU time")).toBe(duration(recording.facts.cpu_ns));
    expect(shown.get("waited")).toBe(duration(recording.facts.waiting_ns));
    expect(new Map(quality(recording)).get("samples")).toContain(String(recording.facts.samples).slice(-3));
  });
});

interface DiffRow {
  table: string;
  name: string;
  place: string;
  unit: string;
  before: number | null;
  after: number | null;
  difference: number;
  noise: number | null;
  verdict: string;
}

/** The rows of a kind as the page shows them, in the words of `sonde diff --format json`. */
function shownRows(table: Table): Omit<DiffRow, "table" | "unit">[] {
  const at = (prefix: string) => reader(table, table.columns.find(({ name }) => name === prefix || name.startsWith(`${prefix}_`))!.name);
  return table.rows.map((_, row) => ({
    name: texts(table, "name")(row),
    place: texts(table, "place")(row),
    before: Number(at("before")(row)),
    after: Number(at("after")(row)),
    difference: Number(at("difference")(row)),
    noise: at("noise")(row) as number | null,
    verdict: texts(table, "verdict")(row),
  }));
}

for (const options of [[], ["--memory"]])
  describe(`Compare and sonde diff, ${options.join(" ") || "samples"}`, async () => {
    const pair = await compared(PROGRAM(10, ""), PROGRAM(16, ADDED), ...options);
    const asked = (pair?.diff ?? []) as DiffRow[];
    const second = pair?.second as Recording;

    it("have the same kinds of rows", () => {
      const kinds = new Set(asked.map(({ table }) => table));
      expect(new Set(["totals", ...subjects(second).map(({ id }) => id)])).toEqual(kinds);
      expect(kinds.size).toBeGreaterThan(3);
    });

    it("have the same totals", () => {
      const rows = asked.filter(({ table }) => table === "totals");
      expect(totals(second).map(({ name, before, after, verdict }) => [name, before, after, verdict])).toEqual(rows.map(({ name, before, after, verdict }) => [name, before ?? 0, after ?? 0, verdict]));
    });

    it("have the same rows, numbers and verdicts, in the same order", () => {
      for (const subject of subjects(second)) {
        const rows = asked.filter(({ table }) => table === subject.id);
        const expected = rows.map(({ name, place, before, after, difference, noise, verdict }) => ({ name, place, before: before ?? 0, after: after ?? 0, difference: (after ?? 0) - (before ?? 0), noise, verdict, said: difference }));
        expect(shownRows(comparison(subject, false))).toEqual(expected.map(({ said: _, ...row }) => row));
        for (const { difference, said } of expected) expect(Math.abs(difference - said)).toBeLessThanOrEqual(1); // each is rounded
      }
    });
  });

describe("the comparison", () => {
  it("is of nothing where the recordings have nothing in common", () => {
    expect(subjects(decode(tinyRaw()))).toEqual([]);
    expect(totals(decode(tinyRaw()))).toEqual([]);
  });

  it("colours what the verdict says, not what the numbers do", () => {
    expect(["slower", "more", "new", "faster", "less", "gone", "within noise", "same", ""].map(kindOf)).toEqual(["more", "more", "more", "less", "less", "less", "", "", ""]);
  });

  it("as shares adds up to the whole of each run", () => {
    const columns = ["name", "place", "unit", "before", "after"].map((name) => ({ name, title: name, unit: "text" as const, traits: 1 }));
    const table: Table = { view: "diff", variant: "lines", is_tree: false, columns, depths: null, rows: [["a", "", "ns", 30, 10], ["b", "", "ns", 10, 70]], footer: "" };
    const shares = comparison(subjects({ ...decode(tinyRaw()), diff: [table] })[0], true);
    expect([0, 1].map((row) => shares.isNoise!(row))).toEqual([true, true]); // there is no verdict
    expect(shares.rows.map((row) => row.slice(2, 5))).toEqual([[75, 12.5, -62.5], [25, 87.5, 62.5]]);
  });
});
