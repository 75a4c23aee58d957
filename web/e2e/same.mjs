// One number, one value: what the page draws against what the program says of the same recording.
import assert from "node:assert/strict";
import { test } from "node:test";
import { grids, numberOf, open, show, shows } from "./browser.mjs";
import { asked, compared, factsOf, KINDS, pageOf, summaryOf } from "./recordings.mjs";

/** The facts at the top of the summary, by title: the value, and what stands below it. */
function drawnFacts(page) {
  return page.evaluate(() => {
    const all = [...document.querySelectorAll("[role=tabpanel] .fact")].map((fact) => [...fact.children].map((one) => one.textContent.trim()));
    return Object.fromEntries(all.map(([title, value, ...more]) => [title, { value, more: more.join(" ") }]));
  });
}

const plain = (text) => text.replaceAll("µ", "u").replace(/[\u2009\u202f]/g, "");

/** Numbers of a text by the words around them, as `sonde info` and the summary of a terminal have them. */
function numbersIn(facts, summary) {
  const found = {};
  const take = (title, text, pattern) => {
    const match = pattern.exec(text ?? "");
    if (match) (found[title] ??= []).push(plain(match[1]));
  };
  take("length", facts.length, /^(.*)$/);
  take("length", summary, /ran for ([\d.]+ [a-zµ]+)/);
  take("CPU time", facts["CPU time"], /^([\d.]+ [a-zµ]+)/);
  take("CPU time", summary, /([\d.]+ [a-zµ]+) CPU \(/);
  take("waited", summary, /; ([\d.]+ [a-zµ]+) waiting/);
  take("garbage collection", summary, /garbage collection: \d+ runs?, ([\d.]+ [a-zµ]+) in total/);
  take("memory at the peak", summary, /^peak ([\d.]+ \w+)/m);
  take("growth", summary, /, growth ([\d.]+ \w+)/);
  take("copied", summary, /, copied ([\d.]+ \w+)/);
  take("threads", facts.threads, /^(\d+)$/);
  take("threads", summary, /; (\d+) threads?$/m);
  take("samples", facts.samples, /^(\d+) at/);
  take("samples", summary, /^(\d+) samples? at/m);
  return found;
}

export function sameTests(browserOf) {
  for (const [name, { views }] of Object.entries(KINDS).filter(([, kind]) => kind.views.length))
    test(`${name}: the facts are those of info and of the terminal's summary`, async () => {
      const { page, close } = await open(browserOf(), pageOf(name));
      const panel = await show(page, "Summary");
      const drawn = await drawnFacts(page);
      const text = plain(await panel.innerText());
      const said = numbersIn(factsOf(name), summaryOf(name));
      assert.ok(Object.keys(said).length >= 2, `only ${Object.keys(said)}`);
      for (const [title, values] of Object.entries(said)) {
        assert.equal(new Set(values).size, 1, `${title}: ${values}`);
        if (title === "threads") assert.match(drawn.length.more, new RegExp(`^${values[0]} thread`));
        else if (title === "samples") assert.match(text, new RegExp(`${values[0]} at \\d+ Hz`));
        else assert.equal(plain(drawn[title]?.value ?? "nothing"), values[0], title);
      }
      assert.ok(views.includes("Summary"));
      await close();
    });

  test("info is what SQL says", () => {
    const infos = Object.fromEntries(asked("samples", "select key, value from info").map(({ key, value }) => [key, value]));
    const facts = factsOf("samples");
    assert.ok(shows(facts.length, Number(infos.length_ns)), `${facts.length}: ${infos.length_ns}`);
    assert.ok(shows(facts["CPU time"].split(",")[0], Number(infos.cpu_ns)));
  });

  test("Compare has the rows, numbers and verdicts of sonde diff", async () => {
    const rows = compared("samples", "longer");
    const { page, close } = await open(browserOf(), pageOf("compare"));
    await show(page, "Compare");
    const facts = await drawnFacts(page);
    for (const { name, before, after, verdict } of rows.filter((row) => row.table === "totals")) {
      const [from, to] = facts[name].more.split(" → ");
      assert.ok(shows(from, before ?? 0), `${name}: ${from}, ${before}`);
      assert.ok(to.endsWith(verdict) && shows(to.slice(0, to.length - verdict.length), after ?? 0), `${name}: ${to}, ${after} ${verdict}`);
    }
    let count = 0;
    for (const what of new Set(rows.map((row) => row.table).filter((one) => one !== "totals"))) {
      const title = { ops: "Operators", memory: "Memory at the peak" }[what] ?? what[0].toUpperCase() + what.slice(1);
      await page.getByRole("group", { name: "what" }).getByRole("button", { name: title, exact: true }).click();
      const [grid] = await grids(page);
      const wanted = rows.filter((row) => row.table === what);
      for (const { number, cells } of grid.rows) {
        const row = wanted[number];
        assert.equal(cells.name.slice(0, 200), row.name.slice(0, 200));
        assert.equal(cells.verdict, row.verdict);
        for (const [column, text] of Object.entries(cells)) {
          const value = row[column.replace(/_(ns|bytes|count)$/, "")];
          if (typeof value !== "number" || Number.isNaN(numberOf(text))) continue;
          assert.ok(shows(text, value), `${what}, ${row.name}, ${column}: shows ${text}, is ${value}`);
          count++;
        }
      }
    }
    assert.ok(count > 40, `only ${count} numbers were compared`);
    await close();
  });

  test("imported stacks have a flame graph and a tree with their first frames", async () => {
    const { page, close } = await open(browserOf(), pageOf("imported"));
    const tree = await (await show(page, "Tree")).innerText();
    for (const name of ["start", "parse", "render"]) assert.ok(tree.includes(name), `${name} is not in ${tree}`);
    const panel = await show(page, "Flame");
    assert.ok((await panel.locator("canvas").count()) > 0);
    await close();
  });
}
