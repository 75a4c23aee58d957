// Debian's Chromium, and a page in it that must not say anything wrong or ask anybody for anything.
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const path = process.env.CHROMIUM ?? "/usr/bin/chromium";

export const launch = () =>
  chromium.launch({
    executablePath: path,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync"],
  });

/** Lets the page count what it has still to do: frames and short timers. To be called before the page is loaded. */
export const watch = (page) =>
  page.addInitScript(() => {
    const waiting = new Set();
    const nextFrame = window.requestAnimationFrame.bind(window);
    const count = (start, stop, isCounted) => {
      const [begin, end] = [window[start].bind(window), window[stop].bind(window)];
      window[start] = (callback, ...words) => {
        const id = begin((...given) => (waiting.delete(start + id), callback(...given)), ...words);
        if (isCounted(...words)) waiting.add(start + id);
        return id;
      };
      window[stop] = (id) => (waiting.delete(start + id), end(id));
    };
    count("requestAnimationFrame", "cancelAnimationFrame", () => true);
    count("setTimeout", "clearTimeout", (ms = 0) => ms < 1000);
    window.isSettled = () =>
      new Promise((resolve) => {
        let calm = 0;
        const look = () => ((calm = waiting.size ? 0 : calm + 1) > 2 ? resolve(true) : nextFrame(look));
        look();
      });
  });

/** Once everything is drawn. */
export const settled = (page) => page.evaluate(() => window.isSettled());

/** Opens the page in a window of its own, with everything that it complains of or asks for in `wrong`. */
export async function open(browser, file, { hash = "", width = 1440, height = 900, theme = "light" } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const page = await context.newPage();
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("console", (message) => message.type() === "error" && wrong.push(`console: ${message.text()}`));
  page.on("dialog", (dialog) => (wrong.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
  page.on("request", (request) => !/^(file|data|blob):/.test(request.url()) && wrong.push(`asks for ${request.url()}`));
  page.setDefaultTimeout(120000);
  await watch(page);
  await page.goto(pathToFileURL(file).href + hash);
  await page.waitForSelector("html[data-ready='1']");
  return { page, wrong, close: () => context.close() };
}

export const tabs = (page) => page.getByRole("tab").evaluateAll((all) => all.map((one) => one.firstChild?.textContent?.trim() ?? ""));

/** Brings a view to the front, and gives its panel. */
export async function show(page, title) {
  await page.getByRole("tab", { name: new RegExp(`^${title}`) }).click();
  await page.waitForFunction((name) => document.title.startsWith(name), title);
  return page.getByRole("tabpanel");
}

/** All tables of the view: their names, and the rows that are drawn, by their number in the core's table. */
export function grids(page) {
  return page.evaluate(() =>
    [...document.querySelectorAll("[role=tabpanel] :is([role=grid], [role=treegrid])")].map((grid) => {
      const columns = [...grid.querySelectorAll("[role=columnheader] button")].map((one) => one.title.replace(/: sort$/, ""));
      const rows = [...grid.querySelectorAll("[role=rowgroup] [role=row]")].map((row) => ({
        number: Number(/-(\d+)$/.exec(row.id)?.[1] ?? -1),
        cells: Object.fromEntries([...row.querySelectorAll("[role=gridcell]")].map((cell, at) => [columns[at], cell.textContent])),
      }));
      return { label: grid.getAttribute("aria-label"), columns, rows };
    }),
  );
}

const UNITS = {
  ns: 1, µs: 1e3, us: 1e3, ms: 1e6, s: 1e9, min: 6e10, h: 3.6e12,
  B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, "%": 1, "": 1,
};

/** What a text on the page says, in the unit of the core; NaN: it is no number. */
export function numberOf(text) {
  const found = /^([−+-]?[\d.,\u202f ]*\d)\s*(\S*)$/.exec(text.trim());
  const unit = found && UNITS[found[2]];
  return unit === undefined || unit === null ? NaN : Number(found[1].replace(/[,\u202f ]/g, "").replace("−", "-")) * unit;
}

/** Whether the text shows the number: to the last digit that it shows. */
export function shows(text, number) {
  const got = numberOf(text);
  const digits = /\.(\d+)/.exec(text)?.[1].length ?? 0;
  const unit = UNITS[/([^\d\s.,−+-]\S*)$/.exec(text.trim())?.[1] ?? ""] ?? 1;
  return Math.abs(got - number) <= 0.501 * unit * 10 ** -digits + 1e-9;
}

export function assertQuiet(wrong) {
  assert.deepEqual(wrong, []);
}
