// @vitest-environment happy-dom
import { render } from "preact";
import { act } from "preact/test-utils";
import { expect, it } from "vitest";
import { MAIN, NOTABLE, SHOWN, type Table } from "../src/data";
import { Marked } from "../src/views/bits";
import { Grid, nextSort, parseSort } from "../src/views/grid";
import { moved } from "../src/views/rows";

const column = (name: string, unit: "text" | "ns", traits = SHOWN) => ({ name, title: name, unit, traits });
const table: Table = {
  view: "functions",
  is_tree: false,
  columns: [column("function", "text", SHOWN | MAIN), column("self_ns", "ns"), column("file", "text", 0)],
  depths: null,
  rows: [
    ["</script><img src=x onerror=alert(1)>", 5, "a.py"],
    ["f", 9, "b.py"],
  ],
  footer: "",
};

it("keys move within the rows", () => {
  expect(moved("ArrowDown", 0, 3, 10)).toBe(1);
  expect(moved("w", 0, 3, 10)).toBe(0);
  expect(moved("End", 0, 3, 10)).toBe(2);
  expect(moved("x", 0, 3, 10)).toBeUndefined();
});

it("a second click turns the order around", () => {
  expect(nextSort(table.columns[1], 1, null)).toBe("-self_ns");
  expect(nextSort(table.columns[1], 1, parseSort(table, "-self_ns"))).toBe("self_ns");
  expect(nextSort(table.columns[0], 0, null)).toBe("function");
  expect(parseSort(table, "-nothing")).toBeNull();
});

it("names are text, never markup; a click selects", () => {
  const root = document.createElement("div");
  document.body.append(root);
  const selected: unknown[] = [];
  act(() =>
    render(<Grid table={table} label="F" search="" selection={null} onSelect={(one) => selected.push(one)} sort="-self_ns" onSort={() => {}} />, root),
  );
  const rows = root.querySelectorAll<HTMLElement>(".body [role=row]");
  expect(root.querySelector("img")).toBeNull();
  expect([...rows].map((row) => row.firstChild!.textContent)).toEqual(["f", "</script><img src=x onerror=alert(1)>"]);
  rows[0].click();
  expect(selected).toEqual([{ name: "f", file: "b.py", line: 0 }]);
});

it("what is searched for is marked", () => {
  const root = document.createElement("div");
  render(<Marked text="numpy.add" search="ADD" />, root);
  expect(root.querySelector("mark")!.textContent).toBe("add");
});

it("copies and casts are highlighted where there are any", () => {
  const root = document.createElement("div");
  document.body.append(root);
  const columns = table.columns.map((one, i) => (i === 1 ? { ...one, traits: SHOWN | NOTABLE } : one));
  const rows = [["numpy.dot", 2, ""], ["numpy.add", 0, ""], ["region step", null, ""]];
  act(() => render(<Grid table={{ ...table, columns, rows }} label="O" search="" selection={null} onSelect={() => {}} sort={null} onSort={() => {}} />, root));
  expect([...root.querySelectorAll(".notable")].map((cell) => cell.parentElement!.firstChild!.textContent)).toEqual(["numpy.dot"]);
});
