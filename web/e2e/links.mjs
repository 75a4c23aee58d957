// Click anything and the others follow; brush a range and all views are of it; what is left out is said.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertQuiet, grids, open, settled, show, tabs } from "./browser.mjs";
import { KINDS, pageOf } from "./recordings.mjs";

/** What a view shows, with what is drawn. */
const seen = (page) =>
  page.getByRole("tabpanel").evaluate((panel) => panel.innerText + [...panel.querySelectorAll("canvas")].map((one) => one.toDataURL()).join());

const selected = (page) => page.locator(".chip b.name").textContent();

export function linkTests(browser) {
  for (const name of ["samples", "memory", "calls", "ops"])
    test(`${name}: every view is of the brushed range, or says that it cannot be`, async () => {
      const { page, wrong, close } = await open(browser(), pageOf(name));
      for (const title of await tabs(page)) {
        if (title === "Timeline") continue; // which is where one brushes
        await page.evaluate(() => (location.hash = ""));
        await show(page, title);
        await settled(page);
        const whole = await seen(page);
        await page.evaluate(() => (location.hash += "&r=1000000-60000000"));
        await page.locator(".chip", { hasText: "range" }).waitFor();
        await settled(page);
        const part = await seen(page);
        const says = /not of the brushed range|whole recording|nothing of/i.test(part);
        assert.ok(part !== whole || says, `${title}: the same for a range, and nothing says why`);
      }
      assertQuiet(wrong);
      await close();
    });

  test("what is clicked in a table, a tree or a graph is selected in all views", async () => {
    const { page, wrong, close } = await open(browser(), pageOf("samples"), { hash: "#v=tree" });
    await page.locator(".draw-row .code", { hasText: "parse" }).first().click();
    const name = await selected(page);
    assert.match(name, /parse/);
    for (const title of ["Lines", "Flame", "Sunburst", "Timeline"]) {
      await show(page, title);
      assert.equal(await selected(page), name, title);
    }
    await show(page, "Lines");
    await page.locator(".row.selected").first().waitFor();
    await page.keyboard.press("Escape");
    await show(page, "Flame");
    await settled(page);
    const canvas = await page.locator("main canvas").boundingBox();
    for (let y = 60; y < 200 && !(await page.locator(".chip b.name").count()); y += 24) {
      await page.mouse.click(canvas.x + 80, canvas.y + y);
      await settled(page);
    }
    const fromFlame = await selected(page);
    await show(page, "Tree");
    await page.locator(".draw-row.is-selected", { hasText: fromFlame }).first().waitFor();
    assertQuiet(wrong);
    await close();
  });

  test("a row of the summary leads to its line", async () => {
    const { page, close } = await open(browser(), pageOf("samples"));
    await page.locator(".card[aria-label='Hottest lines'] button").first().click();
    await page.waitForFunction(() => document.title.startsWith("Lines"));
    await page.locator(".row.selected").first().waitFor();
    await close();
  });

  test("a thread that is chosen is that of all views", async () => {
    const { page, close } = await open(browser(), pageOf("samples"), { hash: "#v=threads" });
    const index = (await grids(page))[0].rows.findIndex(({ cells }) => Object.values(cells)[0].includes("background"));
    await page.locator("[role=rowgroup] [role=row]").nth(index).click();
    assert.match(page.url(), /t=\d/);
    for (const title of KINDS.samples.views) await show(page, title);
    assert.match(page.url(), /t=\d/);
    await close();
  });
}
