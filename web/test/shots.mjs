// Pictures of a page for people to look at: node test/shots.mjs PAGE.html OUT-FOLDER [HASH…]; light and dark, 1440 and 900 px.
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { settled, watch } from "../e2e/browser.mjs";

const [page, folder, ...hashes] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
});
for (const [width, theme] of [[1440, "light"], [1440, "dark"], [900, "light"], [900, "dark"]]) {
  if (process.env.ONLY && process.env.ONLY !== `${width}-${theme}`) continue;
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: theme });
  for (const hash of hashes.length ? hashes : [""]) {
    const tab = await context.newPage();
    tab.on("pageerror", (error) => console.log("ERROR", hash, error.message, error.stack?.split("\n")[1]));
    tab.on("console", (message) => message.type() === "error" && console.log("CONSOLE", hash, message.text()));
    await watch(tab);
    await tab.goto(`${pathToFileURL(page)}#${hash}`);
    await tab.waitForSelector("html[data-ready]", { timeout: 20000 });
    await settled(tab);
    const name = hash.replace(/[^\w-]+/g, "_").slice(0, 40) || "summary";
    await tab.screenshot({ path: `${folder}/${name}-${width}-${theme}.png` });
    await tab.close();
  }
  await context.close();
}
await browser.close();
