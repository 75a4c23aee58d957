// One HTML file with all scripts and styles in it: dist/index.html, the template that `sonde report` puts data into.
import { defineConfig } from "vitest/config";
import { viteSingleFile } from "vite-plugin-singlefile";

/** uPlot hangs all it can on itself, so that nothing of it falls away: without bars, steps, splines and dates it is a tenth smaller. */
const leanPlot = {
  name: "lean-plot",
  transform(code: string, id: string) {
    if (!id.includes("uPlot.esm")) return undefined;
    return code.replace(/^\s*(\(paths\.(stepped|bars|spline)|uPlot\.(fmtNum|rangeNum|rangeLog|rangeAsinh|orient|assign|fmtDate|tzDate|addGap|clipGaps))\s*=.*$/gm, "");
  },
};

export default defineConfig({
  plugins: [leanPlot, viteSingleFile({ removeViteModuleLoader: true })],
  build: { target: "es2022", cssMinify: true, modulePreload: false, reportCompressedSize: false },
  test: { include: ["test/**/*.test.{ts,tsx}", "src/**/*.test.{ts,tsx}"] },
});
