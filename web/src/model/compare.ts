// Two recordings side by side: the answer of `sonde diff`, which is in the page, arranged for its table.
import { MAIN, NO_EMPTY, NO_ZERO, OPTIONAL, SHOWN, SIGNED, type Column, type Recording, type Table } from "../data";
import { column, listTable, numbers, reader, texts } from "./table";

const TITLES: Record<string, string> = { ops: "Operators", memory: "Memory at the peak" };

/** A kind of rows that both recordings have. */
export interface Subject {
  id: string;
  title: string;
  unit: Column["unit"];
  table: Table;
}

const UNITS: Record<string, Column["unit"]> = { ns: "ns", bytes: "bytes", calls: "count" };

/** The second recording has the comparison with the first. */
export function subjects(second: Recording): Subject[] {
  const rows = second.diff.filter((table) => table.variant !== "totals" && table.rows.length > 0);
  return rows.map((table) => {
    const id = table.variant ?? "";
    return { id, title: TITLES[id] ?? id[0].toUpperCase() + id.slice(1), unit: UNITS[texts(table, "unit")(0)] ?? "number", table };
  });
}

export interface Total {
  name: string;
  unit: Column["unit"];
  before: number;
  after: number;
  change: string;
  verdict: string;
}

export function totals(second: Recording): Total[] {
  const table = second.diff.find((one) => one.variant === "totals");
  return (table?.rows ?? []).map((_, row) => ({
    name: texts(table!, "name")(row),
    unit: UNITS[texts(table!, "unit")(row)] ?? "number",
    before: numbers(table!, "before")(row),
    after: numbers(table!, "after")(row),
    change: texts(table!, "change_text")(row),
    verdict: texts(table!, "verdict")(row),
  }));
}

/** More, less, or nothing that could not be chance: as the verdict says, never by the number alone. */
export function kindOf(verdict: string): "more" | "less" | "" {
  if (["slower", "more", "new"].includes(verdict)) return "more";
  return ["faster", "less", "gone"].includes(verdict) ? "less" : "";
}

/** What the rows of each recording add up to, for shares. */
function wholes(table: Table): { before: number; after: number } {
  const sum = (name: string) => table.rows.reduce((total, _, row) => total + numbers(table, name)(row), 0) || 1;
  return { before: sum("before"), after: sum("after") };
}

/** As a table, like any other. `isShare`: each number as a share of its own recording, for runs of different lengths. */
export function comparison({ table, unit }: Subject, isShare: boolean): Table {
  const whole = wholes(table);
  const scale = (of: "before" | "after") => (isShare ? 100 / whole[of] : 1);
  const [before, after, noise] = [numbers(table, "before"), numbers(table, "after"), reader(table, "noise")];
  const text = (name: string) => texts(table, name);
  const difference = (row: number) => after(row) * scale("after") - before(row) * scale("before");
  const most = table.rows.reduce((max, _, row) => Math.max(max, Math.abs(difference(row))), 0) || 1;
  const shown = isShare ? "percent" : unit;
  const title = table.columns.find((one) => one.name === "place")?.title ?? "place";
  const made = listTable(
    "compare",
    [
      column("name", table.columns[0].title, "text", SHOWN | MAIN),
      column("place", title, "text", SHOWN | OPTIONAL | NO_EMPTY),
      column(`before_${shown}`, "before", shown, SHOWN | NO_ZERO),
      column(`after_${shown}`, "after", shown, SHOWN | NO_ZERO),
      column(`difference_${shown}`, "difference", shown, SHOWN | SIGNED),
      ...(isShare ? [] : [column("change", "change", "label"), column(`noise_${shown}`, "noise", shown, SHOWN | OPTIONAL | NO_EMPTY)]),
      column("verdict", "verdict", "text"),
      column("entries", table.columns.find((one) => one.name === "count_text")?.title ?? "entries", "label", SHOWN | OPTIONAL | NO_EMPTY),
      column("balance", "less · more", "balance"),
    ],
    table.rows.map((_, row) => [
      text("name")(row),
      text("place")(row) || null,
      before(row) * scale("before"),
      after(row) * scale("after"),
      difference(row),
      ...(isShare ? [] : [text("change_text")(row), noise(row)]),
      text("verdict")(row),
      text("count_text")(row),
      difference(row) / most,
    ]),
  );
  return { ...made, isNoise: (row) => kindOf(text("verdict")(row)) === "" };
}
