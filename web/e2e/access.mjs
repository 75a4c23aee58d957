// Everybody can use the page: axe finds nothing serious, everything is reached with Tab and shows where the focus is.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { open, settled, show, tabs } from "./browser.mjs";
import { KINDS, pageOf } from "./recordings.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Serious violations of what is on the screen, each as a line. */
async function violations(page) {
  const found = await page.evaluate(() =>
    window.axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
      violations
        .filter(({ impact }) => impact === "serious" || impact === "critical")
        .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => `${node.target.join(" ")} ${node.failureSummary?.replace(/\s+/g, " ").slice(0, 200)}`).join(" | ")}`),
    ),
  );
  return found;
}

export function accessTests(browser) {
  for (const name of ["samples", "memory", "calls", "ops", "gc", "compare"])
    for (const theme of name === "samples" || name === "memory" ? ["light", "dark"] : ["light"]) // contrast of all colours: test/contrast.test.ts
      test(`${name}, ${theme}: axe finds nothing serious in any view`, async () => {
        const { page, close } = await open(browser(), pageOf(name), { theme });
        await page.addScriptTag({ content: axe });
        const wrong = [];
        for (const title of await tabs(page)) {
          await show(page, title);
          await settled(page);
          for (const text of await violations(page)) wrong.push(`${title}: ${text}`);
        }
        assert.deepEqual(wrong, []);
        await close();
      });

  test("with Tab alone every control of every view is reached, and the focus is seen", async () => {
    const { page, close } = await open(browser(), pageOf("samples"));
    for (const title of KINDS.samples.views) {
      await show(page, title);
      const wanted = await page.evaluate(() => {
        const isSeen = (one) => one.getClientRects().length > 0 && !one.closest("dialog:not([open])");
        const all = [...document.querySelectorAll("button:not(:disabled), select, input, [tabindex='0']")].filter((one) => isSeen(one) && one.tabIndex >= 0);
        all.forEach((one, i) => (one.dataset.stop = String(i)));
        document.activeElement?.blur();
        return all.length;
      });
      const met = new Set();
      await page.evaluate(() => document.body.focus());
      for (let i = 0; i < wanted + 5 && met.size < wanted; i++) {
        await page.keyboard.press("Tab");
        const stop = await page.evaluate(() => {
          const one = document.activeElement;
          const { outlineStyle, outlineWidth } = getComputedStyle(one);
          return { at: one.dataset?.stop ?? null, isSeen: outlineStyle !== "none" && parseFloat(outlineWidth) >= 1, tag: one.outerHTML.slice(0, 80) };
        });
        if (stop.at === null) continue;
        assert.ok(stop.isSeen, `${title}: the focus is not seen at ${stop.tag}`);
        met.add(stop.at);
      }
      assert.equal(met.size, wanted, `${title}: ${met.size} of ${wanted} controls are reached`);
    }
    await close();
  });
}
