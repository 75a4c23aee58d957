// The report page in a real browser, from file://: every view of every kind of recording, its numbers, its keys.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { assertQuiet, grids, launch, numberOf, open, settled, show, shows, tabs } from "./browser.mjs";
import { accessTests } from "./access.mjs";
import { frameTests } from "./frames.mjs";
import { keyTests } from "./keys.mjs";
import { linkTests } from "./links.mjs";
import { sameTests } from "./same.mjs";
import { exported, folder, KINDS, empty, pageOf } from "./recordings.mjs";
import { timelineTests } from "./timeline.mjs";

let browser;

before(async () => {
  empty();
  browser = await launch();
}, { timeout: 900000 });
after(() => browser?.close());

/** The views of the core whose rows the grids of a view of the page have. */
const TABLES = {
  Regions: ["regions"],
  Threads: ["threads", "waiting"],
  Calls: ["functions", "signatures", "callers", "callees"],
  Ops: ["ops", "ops --by-shape", "ops --by-line"],
  Memory: ["memory", "leaks", "copies", "owners", "sizes", "footprint"],
  Lines: ["functions"],
};

/** The core's table that has the columns of the grid. */
function tableOf(name, title, grid) {
  for (const text of TABLES[title] ?? []) {
    const [view, ...words] = text.split(" ");
    try {
      const table = exported(name, view, ...words);
      const names = table.columns.map((column) => column.name);
      if (grid.columns.every((column) => names.includes(column)) && sameTexts(table, grid)) return table;
    } catch {
      continue; // the recording has no such view
    }
  }
  return null;
}

function sameTexts(table, grid) {
  const words = table.columns.filter((column) => column.unit === "text" && grid.columns.includes(column.name));
  return grid.rows.every(({ number, cells }) =>
    words.every(({ name }) => {
      const wanted = String(table.rows[number]?.[name] ?? "").trim().slice(0, 200);
      return cells[name].replace(/^[▸▾]/, "").trim().slice(0, wanted.length) === wanted;
    }),
  );
}

/** Compares every number that is drawn; how many there were. */
function compareNumbers(table, grid) {
  const units = Object.fromEntries(table.columns.map((column) => [column.name, column.unit]));
  let count = 0;
  for (const { number, cells } of grid.rows)
    for (const [name, text] of Object.entries(cells)) {
      const wanted = table.rows[number][name];
      if (units[name] === "text" || units[name] === "label" || typeof wanted !== "number" || Number.isNaN(numberOf(text))) continue;
      assert.ok(shows(text, wanted), `${grid.label}, row ${number}, ${name}: shows ${text}, is ${wanted}`);
      count++;
    }
  return count;
}

test("a number is compared to the last digit that is shown", () => {
  for (const [text, number] of [["393.7 ms", 393.74e6], ["47.7 MiB", 5e7], ["12.35%", 12.346], ["96000", 96000], ["1.482 s", 1.4821e9]])
    assert.ok(shows(text, number), text);
  for (const [text, number] of [["393.7 ms", 393.8e6], ["47.7 MiB", 4.99e7], ["12.35%", 12.36], ["96000", 96001], ["1.482 s", 1.4821e6]])
    assert.ok(!shows(text, number), text);
});

describe("every kind of recording", () => {
  for (const [name, { views }] of Object.entries(KINDS).filter(([, kind]) => kind.views.length)) {
    test(`${name}: every view opens, and says nothing wrong`, async () => {
      const { page, wrong, close } = await open(browser, pageOf(name));
      const all = await tabs(page);
      for (const title of views) assert.ok(all.includes(title), `${title} is not among ${all}`);
      for (const title of all) {
        const panel = await show(page, title);
        const box = await panel.boundingBox();
        assert.ok(box.height > 200, `${title} is ${box.height} px high`);
        assert.notEqual((await panel.textContent()).trim() + (await panel.locator("canvas").count()), "0", `${title} is empty`);
      }
      assertQuiet(wrong);
      await close();
    });

    test(`${name}: tables have the numbers of the core`, async () => {
      const { page, close } = await open(browser, pageOf(name));
      let count = 0;
      for (const title of (await tabs(page)).filter((one) => TABLES[one])) {
        await show(page, title);
        for (const grid of (await grids(page)).filter((one) => one.label !== "lines")) { // which have a test of their own
          const table = tableOf(name, title, grid);
          assert.ok(table, `${title}: the core has no table like ${grid.label}: ${grid.columns}`);
          count += compareNumbers(table, grid);
        }
      }
      assert.ok(count > 30, `only ${count} numbers were compared`);
      await close();
    });
  }

  test("operators: copies and casts are highlighted, and nothing else", async () => {
    const { page, close } = await open(browser, pageOf("ops"));
    await show(page, "Ops");
    const drawn = await page.locator(".grid .notable").evaluateAll((all) => all.map((cell) => [cell.parentElement.firstChild.textContent, cell.textContent, getComputedStyle(cell).fontWeight]));
    const wanted = exported("ops", "ops").rows.flatMap((row) => [row.copies, row.casts].filter(Boolean).map((number) => [row.name, String(number), "600"]));
    assert.ok(wanted.length > 0);
    assert.deepEqual(drawn, wanted);
    await close();
  });

  test("lines have the shares of the core", async () => {
    const { page, close } = await open(browser, pageOf("samples"));
    await show(page, "Lines");
    const drawn = (await grids(page)).find((grid) => grid.label === "lines").rows;
    const hot = exported("samples", "lines").rows.filter((line) => line.percent >= 1 && line.place.startsWith("busy.py"));
    assert.ok(hot.length > 3);
    for (const line of hot) {
      const cells = drawn.map((row) => Object.values(row.cells)).find(([number]) => number === String(line.line));
      assert.ok(cells.includes(`${line.percent.toFixed(2)}%`), `${line.place}: ${line.percent}, not ${cells}`);
      assert.ok(cells.some((cell) => cell.trim() === line.source.trim()), `${line.place}: ${line.source}`);
    }
    await close();
  });

  test("the summary has the length and the hottest lines", async () => {
    const { page, close } = await open(browser, pageOf("samples"));
    const text = await (await show(page, "Summary")).innerText();
    const hottest = exported("samples", "lines").rows.filter((row) => row.line !== null).toSorted((a, b) => b.percent - a.percent)[0];
    assert.ok(text.includes(hottest.place));
    assert.ok(text.includes("samples"));
    await close();
  });
});

describe("the page", () => {
  test("keys bring views, search, help, and Esc takes them away", async () => {
    const { page, wrong, close } = await open(browser, pageOf("samples"));
    const all = await tabs(page);
    for (const [at, title] of all.slice(0, 9).entries()) {
      await page.locator("body").press(String(at + 1));
      await page.waitForFunction((name) => document.title.startsWith(name), title);
    }
    await page.locator("body").press("/");
    assert.equal(await page.evaluate(() => document.activeElement.tagName), "INPUT");
    await page.keyboard.type("parse");
    await page.keyboard.press("Escape");
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press("?");
    assert.ok(await page.locator("dialog[open]").isVisible());
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("dialog[open]").count(), 0);
    assertQuiet(wrong);
    await close();
  });

  test("the address has the state, and Back works", async () => {
    const { page, close } = await open(browser, pageOf("samples"));
    await show(page, "Lines");
    await show(page, "Threads");
    assert.match(page.url(), /#.*threads/);
    await page.goBack();
    await page.waitForFunction(() => document.title.startsWith("Lines"));
    await close();
    const again = await open(browser, pageOf("samples"), { hash: "#v=tree" });
    assert.ok((await again.page.title()).startsWith("Tree"));
    await again.close();
  });

  test("a table is used with the keyboard alone, and copied", async () => {
    const { page, close } = await open(browser, pageOf("samples"), { hash: "#v=threads" });
    await page.locator("[role=grid], [role=treegrid]").first().focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: /Copy as CSV/ }).first().click();
    await page.getByText(/^Copied /).first().waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.ok(copied.split("\n").length > 2, copied);
    assert.match(copied, /background/);
    await close();
  });

  test("a range that is brushed changes the numbers, and Esc brings them back", async () => {
    const length = Number((await dataOf("samples")).length_ns);
    const { page, wrong, close } = await open(browser, pageOf("samples"), { hash: "#v=lines" });
    const all = await page.getByRole("tabpanel").innerText();
    await close();
    const part = await open(browser, pageOf("samples"), { hash: `#v=lines&r=0-${Math.round(length / 3)}` });
    assert.notEqual(await part.page.getByRole("tabpanel").innerText(), all);
    await part.page.keyboard.press("Escape");
    await part.page.waitForFunction(() => !location.hash.includes("r="));
    assertQuiet([...wrong, ...part.wrong]);
    await part.close();
  });

  test("the theme is changed, and kept", async () => {
    const { page, close } = await open(browser, pageOf("samples"));
    const button = page.getByRole("button", { name: /theme/ });
    const theme = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await theme();
    await button.click();
    await button.click();
    assert.notEqual(await theme(), light);
    await page.reload();
    await page.waitForSelector("html[data-ready='1']");
    assert.notEqual(await theme(), light);
    await close();
  });

  test("two recordings are compared", async () => {
    const { page, wrong, close } = await open(browser, pageOf("compare"));
    const text = await (await show(page, "Compare")).innerText();
    assert.match(text, /parse|compress/);
    assertQuiet(wrong);
    await close();
  });

  test("without source there is none", async () => {
    const { page, close } = await open(browser, pageOf("no-source"));
    const text = await (await show(page, "Lines")).innerText();
    assert.ok(!text.includes("for line in lines"));
    await close();
  });
});

async function dataOf(name) {
  const { readFileSync } = await import("node:fs");
  const { gunzipSync } = await import("node:zlib");
  const [, text] = /<script id="sonde-data"[^>]*>([^<]*)</.exec(readFileSync(pageOf(name), "utf8"));
  return JSON.parse(gunzipSync(Buffer.from(text, "base64")).toString()).infos;
}

describe("one number, one value", () => sameTests(() => browser));
describe("the timeline", () => timelineTests(() => browser));
describe("keys and switches", () => keyTests(() => browser));
describe("views are linked", () => linkTests(() => browser));
describe("for everybody", () => accessTests(() => browser));
describe("in frames", () => frameTests(() => browser));

describe("hostile names", () => {
  for (const name of ["hostile", "hostile-calls"])
    test(`${name}: nothing breaks, and nothing is injected`, async () => {
      const { page, wrong, close } = await open(browser, pageOf(name));
      for (const title of await tabs(page)) {
        await show(page, title);
        await page.mouse.move(700, 450);
        await settled(page);
        assert.equal(await page.evaluate(() => window.injected), undefined, title);
        assert.equal(await page.locator("main :is(img, script, style, iframe, object, a[href^=javascript])").count(), 0, title);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, `${title} is ${wide} px too wide`);
      }
      const panel = await show(page, name === "hostile" ? "Regions" : "Calls"); // the names are really there
      await page.locator("body").press("/");
      await page.keyboard.type("</script>");
      await panel.getByText("</script><script>window.injected = 1</script>").first().waitFor();
      assert.equal(await page.evaluate(() => window.injected), undefined);
      assertQuiet(wrong);
      await close();
    });
});

describe("pictures", () => {
  for (const [name, titles] of [["samples", KINDS.samples.views], ["memory", ["Lines", "Memory", "Timeline"]], ["calls", ["Calls", "Sunburst"]], ["ops", ["Ops"]], ["compare", ["Compare"]], ["hostile", ["Summary", "Flame", "Regions"]]])
    for (const width of [1440, 900])
      for (const theme of ["light", "dark"])
        test(`${name}, ${width} px, ${theme}`, async () => {
          const { page, wrong, close } = await open(browser, pageOf(name), { width, theme });
          for (const title of titles) {
            await show(page, title);
            await settled(page);
            await page.screenshot({ path: `${folder}/shots/${name}-${title.toLowerCase()}-${width}-${theme}.png` });
          }
          const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          assert.ok(wide <= 0, `the page is ${wide} px too wide`);
          assertQuiet(wrong);
          await close();
        });
});
