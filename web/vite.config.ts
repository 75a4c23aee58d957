// One HTML file with all scripts and styles in it: dist/index.html, the template that `sonde report` puts data into.
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import { viteSingleFile } from "vite-plugin-singlefile";

/** Parts of uPlot that no chart of ours uses: other lines than straight ones, other scales than linear ones, its legend, and
 * calendars, since our time is in nanoseconds from the start. The page may have 200 KB of code, and uPlot cannot be taken in parts. */
const UNUSED: readonly (readonly [RegExp, string])[] = [
  [/\(paths\.(?:stepped|bars|spline)\s*= \w+\);/g, ""],
  [/^\s*uPlot\.(?:fmtNum|rangeNum|rangeLog|rangeAsinh|orient|assign|fmtDate|tzDate|addGap|clipGaps)\s*=.*$/gm, ""],
  [/const (_timeAxisSplits|_timeAxisVals|_timeSeriesVal)\s*= .*;/g, "const $1 = null;"],
  [/\bisTime \?/g, "false ?"],
  [/\b(?:sc\.)?distr == [34]\s*\?/g, "false ?"],
  [/\blegend\.(?:live|show)\b/g, "false"],
  [/const \[ timeIncrs(?:Ms|S),.*\] = genTimeStuffs\(.*\);/g, ""],
];

function smallPlot(): Plugin {
  return {
    name: "small-plot",
    transform(code, id) {
      if (!id.includes("uPlot.esm")) return null;
      for (const [pattern, instead] of UNUSED) {
        if (code.search(pattern) < 0) this.error(`uPlot has changed: nothing is like ${pattern}`);
        code = code.replace(pattern, instead);
      }
      return { code, map: null };
    },
  };
}

export default defineConfig({
  plugins: [smallPlot(), viteSingleFile({ removeViteModuleLoader: true })],
  build: { target: "es2022", cssMinify: true, modulePreload: false, reportCompressedSize: false },
  test: { include: ["test/**/*.test.{ts,tsx}", "src/**/*.test.{ts,tsx}"] },
});
