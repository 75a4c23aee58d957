import { describe, expect, it } from "vitest";
import { MAIN, SHOWN, decode, type Table } from "../src/data";
import { isRelated } from "../src/model/choose";
import { bytes, count, duration, percent, visible } from "../src/model/format";
import { filesOf, sourceItems } from "../src/model/lines";
import { STATES } from "../src/model/metrics";
import { functionsTable, linesTable } from "../src/model/samples";
import { placeName } from "../src/model/sites";
import { spansTable } from "../src/model/spans";
import { arrange, csv, findTable, fitColumns, hasChildren, numbers, parents, shownColumns, texts } from "../src/model/table";
import { inclusive, ownValues } from "../src/model/values";
import { tinyRaw } from "./tiny";

const tiny = () => decode(tinyRaw());
const ms = (value: number) => value * 1e6;
const total = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0);

describe("numbers as people read them", () => {
  it("are those of the core", () => {
    expect([0, 999, 1500, 12_340_000, 822e6, 3.2184e9].map(duration)).toEqual(["0 ns", "999 ns", "1.500 µs", "12.34 ms", "822 ms", "3.218 s"]);
    expect([0, 1023, 1024, 1e6, 142e6].map(bytes)).toEqual(["0 B", "1023 B", "1.00 KiB", "977 KiB", "135 MiB"]);
    expect(percent(48.6568)).toBe("48.66%");
    expect(duration(-1500)).toBe("−1.500 µs");
    expect(visible("a\u202eb\u0000")).toBe("a\\u202eb\\u0000");
    expect(count(1234567)).toBe("1\u2009234\u2009567");
  });
});

describe("own values", () => {
  it("leave out what threads without Python waited", () => {
    const values = ownValues(tiny(), STATES, -1, null);
    expect([...values]).toEqual([0, ms(10), ms(45), ms(20), 0, ms(7), ms(5), 0]);
  });

  it("of a thread are its own", () => {
    expect(total(ownValues(tiny(), STATES, 1, null))).toBe(ms(7));
  });

  it("of the whole range are those of the whole recording", () => {
    const all = ownValues(tiny(), STATES, -1, [0, ms(100)]);
    expect([...all]).toEqual([...ownValues(tiny(), STATES, -1, null)]);
  });

  it("of a range are in proportion to the events in it", () => {
    // Of node 2 a third of its events of Python; of its waiting, which has no events, the same share.
    const values = ownValues(tiny(), STATES, -1, [ms(10), ms(20)]);
    expect(values[1]).toBe(0);
    expect(values[2]).toBeCloseTo(ms(15), 3);
    expect(values[6]).toBeCloseTo(ms(0.5), 3); // no event saw it: spread evenly
  });

  it("with all below add up to the roots", () => {
    const recording = tiny();
    const own = ownValues(recording, STATES, -1, null);
    const sums = inclusive(recording, own);
    expect(sums[0] + sums[4]).toBe(total(own));
  });
});

describe("places", () => {
  it("are those of the core: where a function starts, the library of a native symbol, none of a region", () => {
    const raw = tinyRaw();
    raw.sites.file[5] = raw.texts.push("/usr/lib/libblas.so.3") - 1;
    const recording = decode(raw);
    expect([2, 3, 5, 7, 0].map((site) => placeName(recording, site))).toEqual(["a.py:1", "/usr/lib/lib.py:5", "libblas.so.3", "", ""]);
  });
});

describe("lines", () => {
  it("have the time of the libraries that they called", () => {
    const table = linesTable(tiny(), -1, null);
    const rows = table.rows.map((_, row) => [texts(table, "place")(row), numbers(table, "time_ns")(row)]);
    expect(rows).toEqual([
      ["a.py:2", ms(65)],
      ["a.py:3", ms(5)],
      ["a.py:10", ms(10)],
      ["(outside your own code)", ms(7)],
    ]);
    expect(texts(table, "file")(3)).toBe("(outside your own code)");
    expect(table.rows.reduce((sum, _, row) => sum + numbers(table, "percent")(row), 0)).toBeCloseTo(100, 9);
  });

  it("are shown without the cold ones, which can be opened", () => {
    const recording = tiny();
    const file = filesOf(linesTable(recording, -1, null))[0];
    const items = sourceItems(recording, file, true, new Set());
    expect(items.map((item) => (item.kind === "line" ? item.line : `${item.from}-${item.to}`))).toEqual([1, 2, 3, 4, "5-8", 9, 10]);
    expect(sourceItems(recording, file, true, new Set([5]))).toHaveLength(10);
    expect(sourceItems(recording, file, false, new Set()).filter((item) => item.kind === "line" && item.row >= 0)).toHaveLength(3);
  });
});

describe("functions", () => {
  it("count recursion once", () => {
    const table = functionsTable(tiny(), -1, null);
    const row = table.rows.findIndex((_, i) => texts(table, "function")(i) === "work");
    expect(numbers(table, "self_ns")(row)).toBe(ms(50));
    expect(numbers(table, "total_ns")(row)).toBe(ms(70)); // work:2 with lib and, inside that, work:3
  });

  it("that are regions are not listed", () => {
    const table = functionsTable(tiny(), -1, null);
    expect(table.rows.map((row) => row[0])).not.toContain("step");
  });
});

describe("regions of a range", () => {
  it("count what lies in it, and an inner one of the same once", () => {
    const table = spansTable(tiny(), "regions", ["region"], -1, [0, ms(15)])!;
    expect(table.rows).toHaveLength(1);
    expect(numbers(table, "total_ns")(0)).toBe(ms(5));
    expect(numbers(table, "count")(0)).toBe(2);
    expect(numbers(table, "max_ns")(0)).toBe(ms(20));
  });
});

function tree(): Table {
  const text = { name: "name", title: "name", unit: "text" as const, traits: SHOWN | MAIN };
  const ns = { name: "self_ns", title: "self", unit: "ns" as const, traits: SHOWN };
  const rows = [["a", 1], ["b", 5], ["c", 9], ["d", 3], ["x,\"y\"", 7]];
  return { view: "t", is_tree: true, columns: [text, ns], depths: [0, 1, 1, 2, 0], rows, footer: "" };
}

describe("tables", () => {
  const all = { sort: null, filter: "", folded: new Set<number>() };

  it("sort rows below one row among themselves", () => {
    expect(arrange(tree(), { ...all, sort: { column: 1, descending: true } })).toEqual([4, 0, 2, 3, 1]);
    expect([...parents(tree())]).toEqual([-1, 0, 0, 2, -1]);
  });

  it("filter with all above and below", () => {
    expect(arrange(tree(), { ...all, filter: "C" })).toEqual([0, 2, 3]);
    expect(arrange(tree(), { ...all, filter: "d" })).toEqual([0, 2, 3]);
    expect(arrange(tree(), { ...all, filter: "nothing" })).toEqual([]);
  });

  it("fold", () => {
    expect(arrange(tree(), { ...all, folded: new Set([2]) })).toEqual([0, 1, 2, 4]);
    expect(hasChildren(tree(), 2)).toBe(true);
    expect(hasChildren(tree(), 3)).toBe(false);
  });

  it("become CSV that no spreadsheet takes for a formula", () => {
    expect(csv(tree(), [0, 4])).toBe('depth,name,self_ns\n0,a,1\n0,"x,""y""",7\n');
    const evil = { ...tree(), rows: [["=cmd()", -1]], is_tree: false };
    expect(csv(evil, [0])).toBe("name,self_ns\n'=cmd(),-1\n");
  });

  it("leave out columns of lesser importance first", () => {
    const table = tree();
    table.columns = [table.columns[0], { ...table.columns[1], traits: 5 }, { ...table.columns[1], traits: 37 }, { ...table.columns[1], traits: 1 }];
    table.rows = table.rows.map(([name]) => [name, 1, 2, 3]);
    const columns = shownColumns(table, false);
    expect(columns).toEqual([0, 1, 2, 3]);
    expect(fitColumns(table, columns, [10, 10, 10, 10], 30)).toEqual([0, 2, 3]);
    expect(fitColumns(table, columns, [10, 10, 10, 10], 5)).toEqual([0, 3]);
  });

  it("of 100,000 rows are sorted", () => {
    const rows = Array.from({ length: 100_000 }, (_, i) => [`f${i % 977}`, (i * 7919) % 100_003]);
    const big = { ...tree(), rows, depths: null, is_tree: false };
    const order = arrange(big, { ...all, sort: { column: 1, descending: true } });
    expect(order).toHaveLength(100_000);
    expect(order.every((row, i) => i === 0 || rows[order[i - 1]][1] >= rows[row][1])).toBe(true);
  });
});

describe("compiled graphs", () => {
  it("are shown by class, op and Apply", () => {
    const column = (name: string, unit: "text" | "ns") => ({ name, title: name, unit, traits: SHOWN });
    const rows = [["train", "graph", 9], ["Elemwise", "graph_class", 9], ["Add", "graph_op", 2], ["Mul", "graph_op", 7]];
    const graph: Table = { view: "graph", is_tree: true, columns: [column("name", "text"), column("kind", "text"), column("time_ns", "ns")], depths: [0, 1, 2, 2], rows, footer: "" };
    const recording = decode({ ...tinyRaw(), tables: [graph] });
    expect(findTable(recording, "graph", "by_op")!.rows.map((row) => row[0])).toEqual(["Mul", "Add"]);
    expect(findTable(recording, "graph", "by_apply")).toBeUndefined();
    expect(findTable(tiny(), "graph", "by_op")).toBeUndefined();
  });
});

describe("selections", () => {
  it("relate a line to its function", () => {
    const line = { name: "f", file: "a.py", line: 3 };
    expect(isRelated(line, { name: "f", file: "a.py", line: 0 })).toBe(true);
    expect(isRelated(line, { name: "f", file: "", line: 0 })).toBe(true);
    expect(isRelated(line, { name: "f", file: "a.py", line: 4 })).toBe(false);
    expect(isRelated(line, { name: "g", file: "a.py", line: 3 })).toBe(false);
    expect(isRelated(line, null)).toBe(false);
  });
});
