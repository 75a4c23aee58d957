// The pictures of docs/: real recordings, on a machine that does nothing else. From web/:
//     SONDE=../build/venv/bin/sonde PYTHON=../build/venv/bin/python node e2e/pictures.mjs ../docs/images
import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { launch, open, settled } from "./browser.mjs";

const [images] = process.argv.slice(2).map((path) => resolve(path));
const sonde = resolve(process.env.SONDE ?? "sonde");
const python = resolve(process.env.PYTHON ?? "python3");
const programs = join(dirname(fileURLToPath(import.meta.url)), "programs");
const folder = mkdtempSync(join(tmpdir(), "sonde-pictures-"));
const run = (program, ...words) => execFileSync(program, words, { cwd: folder, stdio: ["ignore", "inherit", "ignore"] });

run(python, join(programs, "orders.py"), "before.sonde", "12");
run(python, join(programs, "orders.py"), "after.sonde", "16");
run(sonde, "trace", "--no-report", "--signatures", "-o", "calls.sonde", join(programs, "busy.py"));
run(sonde, "report", "before.sonde", "-o", "orders.html");
run(sonde, "report", "calls.sonde", "-o", "calls.html");
run(sonde, "report", "before.sonde", "after.sonde", "-o", "compare.html");

/** name: page, address, height, theme. */
const PICTURES = {
  summary: ["orders", "", 900, "light"],
  lines: ["orders", "v=lines", 640, "light"],
  flame: ["orders", "v=flame", 400, "light"],
  tree: ["orders", "v=tree", 640, "light"],
  timeline: ["orders", "v=timeline", 560, "dark"],
  sunburst: ["orders", "v=sunburst", 900, "dark"],
  calls: ["calls", "v=calls", 600, "light"],
  compare: ["compare", "v=compare", 560, "light"],
};

const browser = await launch();
for (const [name, [page, hash, height, theme]] of Object.entries(PICTURES)) {
  const opened = await open(browser, join(folder, `${page}.html`), { hash: `#${hash}`, height, theme });
  await settled(opened.page);
  await opened.page.screenshot({ path: join(images, `page-${name}.png`) });
  if (opened.wrong.length) throw new Error(opened.wrong.join("\n"));
  await opened.close();
}
await browser.close();
