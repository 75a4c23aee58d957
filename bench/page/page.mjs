// Puts data into a built page, as `sonde report` does, and opens it in Debian's Chromium.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const web = fileURLToPath(new URL("../../web/", import.meta.url));
const { chromium } = createRequire(`${web}package.json`)("playwright-core");

/** Returns the size of the page in bytes. */
export function writePage(data, path, template = `${web}../build/web/page/packed.html`) {
  const packed = gzipSync(JSON.stringify(data)).toString("base64");
  const script = `<script id="sonde-data" type="application/octet-stream">${packed}</script>`;
  const html = readFileSync(template, "utf8").replace("<!--sonde-data-->", () => script);
  writeFileSync(path, html);
  return html.length;
}

export function openBrowser() {
  return chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
}
