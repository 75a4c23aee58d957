// The page as notebooks show it: in a frame of a notebook, with or without an origin, below the policies that they have.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { test } from "node:test";
import { assertQuiet, open } from "./browser.mjs";
import { folder, KINDS, pageOf } from "./recordings.mjs";

const escaped = (html) => html.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
const READY = '<script>document.documentElement.dataset.ready="1"</script>';
/** What a cell's output is: the same that python/sonde/_display.py writes. */
const cell = () => `<iframe sandbox="allow-scripts" style="width:1000px;height:640px" srcdoc="${escaped(readFileSync(pageOf("samples"), "utf8"))}"></iframe>`;
/** Colab puts every output into a frame of another origin; here it has none at all. */
const inFrame = (html, sandbox) => `<iframe sandbox="${sandbox}" style="width:1040px;height:700px" srcdoc="${escaped(`<!doctype html>${html}`)}"></iframe>`;

/** As VS Code's webview for the outputs of a notebook has it (backLayerWebView.ts). */
const VS_CODE = "default-src 'none'; script-src 'self' https://*.vscode-cdn.net 'unsafe-inline' 'unsafe-eval'; style-src 'self' https://*.vscode-cdn.net 'unsafe-inline'; img-src 'self' https://*.vscode-cdn.net https: http: data:; font-src 'self' https://*.vscode-cdn.net https:; connect-src https:; child-src https: data:";

/** Goes through all views in a frame. */
async function useAll(frame) {
  await frame.locator("html[data-ready='1']").waitFor();
  for (const title of KINDS.samples.views) await frame.getByRole("tab", { name: new RegExp(`^${title}`) }).click();
  await frame.getByRole("button", { name: /theme/ }).click();
  await frame.getByRole("gridcell", { name: "background" }).first().waitFor();
  await frame.getByRole("searchbox").fill("background");
  await frame.getByText("1 row with").waitFor();
}

export function frameTests(browser) {
  const cases = {
    "in a frame without an origin": [cell, 1, ""],
    "in a frame in a frame without an origin, as in Colab": [() => inFrame(cell(), "allow-scripts allow-forms allow-popups"), 2, ""],
    "below the policy of VS Code's webview": [cell, 1, VS_CODE],
    "in a frame below that policy": [() => inFrame(cell(), "allow-scripts allow-same-origin allow-forms"), 2, VS_CODE],
  };
  for (const [name, [html, depth, policy]] of Object.entries(cases))
    test(`${name} all views work`, async () => {
      const file = `${folder}/framed.html`;
      const meta = policy && `<meta http-equiv="Content-Security-Policy" content="${policy}">`;
      writeFileSync(file, `<!doctype html><meta charset="utf-8">${meta}${html()}${READY}`);
      const { page, wrong, close } = await open(browser(), file);
      let frame = page;
      for (let i = 0; i < depth; i++) frame = frame.frameLocator("iframe");
      await useAll(frame);
      assertQuiet(wrong);
      await close();
    });

  test("below a policy that a server sends, as Jupyter's, it works too", async () => {
    const policy = "frame-ancestors 'self'; report-uri /api/security/csp-report; sandbox allow-scripts";
    const server = createServer((_, answer) => {
      answer.writeHead(200, { "content-type": "text/html; charset=utf-8", "content-security-policy": policy });
      answer.end(`<!doctype html>${cell()}${READY}`);
    });
    await new Promise((done) => server.listen(0, "127.0.0.1", done));
    const page = await browser().newPage();
    const wrong = [];
    page.on("pageerror", (error) => wrong.push(error.message));
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    await useAll(page.frameLocator("iframe"));
    assert.deepEqual(wrong, []);
    await page.close();
    server.close();
  });
}
