// Keys and switches that change what a view draws: each is pressed, and the drawing or the address must change.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { assertQuiet, open, settled, show } from "./browser.mjs";
import { pageOf } from "./recordings.mjs";

/** A digest of what the view's canvas shows, once it has been drawn. */
async function drawing(page) {
  await settled(page);
  const picture = await page.evaluate(() => document.querySelector("main canvas").toDataURL());
  return createHash("sha1").update(picture).digest("hex");
}

export function keyTests(browser) {
  for (const title of ["Flame", "Timeline"])
    test(`${title}: + and W zoom in, - and S out, A and D move, 0 brings all back`, async () => {
      const { page, wrong, close } = await open(browser(), pageOf("samples"));
      await show(page, title);
      const whole = await drawing(page);
      for (const [zoom, back] of [["+", "-"], ["w", "s"]]) {
        await page.keyboard.press(zoom);
        await page.keyboard.press(zoom);
        const near = await drawing(page);
        assert.notEqual(near, whole, zoom);
        await page.keyboard.press("d");
        assert.notEqual(await drawing(page), near, "d");
        await page.keyboard.press("a");
        await page.keyboard.press("a");
        await page.keyboard.press(back);
        assert.notEqual(await drawing(page), near, back);
        await page.keyboard.press("0");
        assert.equal(await drawing(page), whole, "0");
      }
      assertQuiet(wrong);
      await close();
    });

  test("n and p go through the threads, Ctrl F searches", async () => {
    const { page, close } = await open(browser(), pageOf("samples"), { hash: "#v=flame" });
    for (const [key, thread] of [["n", /t=0/], ["n", /t=1/], ["p", /t=0/]]) {
      await page.keyboard.press(key);
      await page.waitForURL(thread);
    }
    await page.keyboard.press("Control+f");
    assert.equal(await page.evaluate(() => document.activeElement.tagName), "INPUT");
    await close();
  });

  test("cold lines are hidden and shown, a sandwich is of the selected function", async () => {
    const { page, wrong, close } = await open(browser(), pageOf("samples"), { hash: "#v=lines" });
    const lines = async () => (await settled(page), page.locator("main [role=row]").count());
    const hot = await lines();
    await page.getByRole("button", { name: "Hide cold lines" }).click();
    assert.notEqual(await lines(), hot);
    await show(page, "Tree");
    await page.locator(".draw-row .code", { hasText: "parse" }).first().click();
    await show(page, "Flame");
    const whole = await drawing(page);
    await page.getByRole("button", { name: "Sandwich" }).or(page.getByLabel("Sandwich")).first().click();
    assert.notEqual(await drawing(page), whole);
    await page.waitForURL(/sandwich=1/);
    assertQuiet(wrong);
    await close();
  });
}
