// The timeline: garbage collections, the GPU, and the table that says the same.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertQuiet, grids, open, settled, show } from "./browser.mjs";
import { asked, pageOf } from "./recordings.mjs";

/** How many pixels of the first canvas have about this colour. */
const painted = (page, name) =>
  page.evaluate((token) => {
    const probe = document.body.appendChild(document.createElement("i"));
    probe.style.color = `var(--${token})`;
    const [r, g, b] = getComputedStyle(probe).color.match(/\d+/g).map(Number);
    probe.remove();
    const canvas = document.querySelector("main canvas");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let i = 0; i < data.length; i += 4) if (Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b) < 12) count++;
    return count;
  }, name);

const counted = () => asked("gc", "select thread, sum(value) as times from measure where kind = 'gc' and metric = 'count' group by thread");

export function timelineTests(browser) {
  test("every garbage collection is drawn, and is in the table and in the summary", async () => {
    const times = Object.fromEntries(counted().map(({ thread, times: count }) => [thread, count]));
    assert.ok(times.cleaner === 5 && times.main >= 12, JSON.stringify(times));
    const { page, wrong, close } = await open(browser(), pageOf("gc"));
    const facts = await page.locator(".facts").innerText();
    assert.match(facts, new RegExp(`garbage collection\\s+\\S+ \\S+\\s+${times.main + times.cleaner} runs, longest`));
    await show(page, "Timeline");
    await settled(page);
    assert.ok((await painted(page, "b")) > 20, "no collection is drawn");
    await page.getByRole("button", { name: "As a table" }).click();
    await page.getByRole("searchbox").fill("generation");
    await page.getByText(`${times.main + times.cleaner} rows with`).waitFor();
    const [grid] = await grids(page);
    assert.ok(grid.rows.every(({ cells }) => cells.what === "gc" && cells.name.startsWith("generation ")));
    await page.getByLabel("thread", { exact: true }).selectOption({ label: "cleaner" });
    await page.getByText("5 rows with").waitFor();
    assertQuiet(wrong);
    await close();
  });

  test("the table has what lies in the brushed range, and is used without a mouse", async () => {
    const [{ value }] = asked("samples", "select value from info where key = 'length_ns'");
    const end = Math.round(Number(value) / 3);
    const { page, wrong, close } = await open(browser(), pageOf("samples"), { hash: `#v=timeline&r=0-${end}` });
    await page.getByRole("button", { name: "As a table" }).focus();
    await page.keyboard.press("Enter");
    await settled(page);
    const [grid] = await grids(page);
    assert.ok(grid.rows.length > 5 && grid.columns.join() === "name,what,thread,start_ns,time_ns,place", grid.columns.join());
    await page.locator("[role=grid]").focus();
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await page.locator(".chip b.name").waitFor(); // selected: the other views follow
    const starts = (await grids(page))[0].rows.map(({ cells }) => cells.start_ns);
    assert.ok(starts.every((text) => !/ s$/.test(text) || Number.parseFloat(text) <= end / 1e9 + 0.001), starts.join());
    assertQuiet(wrong);
    await close();
  });

  test("a GPU has its series, its bars and its share", async () => {
    const { page, wrong, close } = await open(browser(), pageOf("gpu"), { hash: "#v=timeline" });
    for (const name of [/^CPU: at most/, /^heap: at most .*resident: at most/, /^GPU: at most 40%/, /^GPU memory: at most 256 MiB/])
      await page.getByRole("img", { name }).waitFor();
    await show(page, "Lines");
    const text = await page.getByRole("tabpanel").innerText();
    assert.match(text, /GPU/i);
    assertQuiet(wrong);
    await close();
  });
}
