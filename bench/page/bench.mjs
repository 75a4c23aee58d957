// How long a large page takes to open, and how many frames a second it has while somebody zooms. Run `make web`
// first, then: node bench/page/bench.mjs [nodes] [events]
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBrowser, writePage } from "./page.mjs";
import { synthetic } from "./synthetic.mjs";

const [nodes = 200_000, events = 1_000_000] = process.argv.slice(2).map(Number);
const path = join(tmpdir(), `sonde-bench-page-${process.pid}.html`);
const size = writePage(synthetic({ nodes, events }), path);
console.log(`${nodes} nodes, ${events} events, an hour: page of ${(size / 1e6).toFixed(1)} MB`);

const browser = await openBrowser();
const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
const errors = [];
page.on("pageerror", (error) => errors.push(error.message));

const devtools = await page.context().newCDPSession(page);
await devtools.send("Performance.enable", { timeDomain: "threadTicks" });

/** CPU seconds of the page's main thread so far: what it needs when nobody else uses the machine. */
async function busy() {
  const { metrics } = await devtools.send("Performance.getMetrics");
  return metrics.find(({ name }) => name === "TaskDuration").value;
}

/** Until the view is painted: the frame behind the one in which its canvas stands there. In ms. */
async function open(hash, selector) {
  await page.goto("about:blank");
  const [start, cpu] = [performance.now(), await busy()];
  await page.goto(`file://${path}#${hash}`);
  await page.waitForSelector(selector);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  return { wall: performance.now() - start, cpu: 1000 * ((await busy()) - cpu) };
}

/** Wheels in and out for two seconds, an event a frame; frames a second, and the longest frame. */
async function zoom(selector) {
  return page.evaluate(async (found) => {
    const canvas = document.querySelector(found);
    const box = canvas.getBoundingClientRect();
    const frames = [];
    await new Promise((done) => {
      const start = performance.now();
      let last = start;
      const step = (now) => {
        frames.push(now - last);
        last = now;
        const turn = Math.floor((now - start) / 500) % 2 === 0 ? -1 : 1;
        const place = { clientX: box.left + box.width * (0.3 + 0.2 * Math.sin(now / 300)), clientY: box.top + 80 };
        canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: 60 * turn, bubbles: true, cancelable: true, ...place }));
        if (now - start < 2000) requestAnimationFrame(step);
        else done();
      };
      requestAnimationFrame(step);
    });
    frames.shift();
    frames.sort((a, b) => a - b);
    const sum = frames.reduce((all, ms) => all + ms, 0);
    return { count: frames.length, rate: (1000 * frames.length) / sum, slowest: frames[Math.floor(frames.length * 0.95)] };
  }, selector);
}

const VIEWS = [
  ["summary", "v=summary", "main *"],
  ["flame", "v=flame", ".draw canvas"],
  ["flame, libraries shown", "v=flame&flame.fold=0", ".draw canvas"],
  ["flame, by state", "v=flame&flame.fold=0&flame.colour=state", ".draw canvas"],
  ["flame, time order", "v=flame&flame.order=time&flame.fold=0", ".draw canvas"],
  ["flame, inverted", "v=flame&flame.invert=1", ".draw canvas"],
  ["timeline", "v=timeline", ".draw canvas"],
  ["sunburst", "v=sunburst", ".draw canvas"],
  ["tree", "v=tree", ".draw [role=treegrid]"],
];
console.log(`${"view".padEnd(26)}${"opens".padStart(9)}${"its CPU".padStart(9)}${"zooms".padStart(14)}${"95% of frames".padStart(16)}${"CPU a frame".padStart(14)}`);
for (const [title, hash, selector] of VIEWS) {
  const times = [await open(hash, selector), await open(hash, selector)];
  const least = (name) => (Math.min(...times.map((time) => time[name])) / 1000).toFixed(2);
  const before = await busy();
  const moves = selector.includes("canvas") && title !== "sunburst" ? await zoom(selector) : null;
  const cpu = moves ? (1000 * ((await busy()) - before)) / moves.count : 0;
  const numbers = moves ? `${moves.rate.toFixed(0)} frames/s`.padStart(14) + `${moves.slowest.toFixed(1)} ms`.padStart(16) + `${cpu.toFixed(1)} ms`.padStart(14) : "";
  console.log(title.padEnd(26) + `${least("wall")} s`.padStart(9) + `${least("cpu")} s`.padStart(9) + numbers);
}
if (errors.length > 0) console.log("errors:", errors);
await browser.close();
rmSync(path);
process.exit(errors.length > 0 ? 1 : 0);
