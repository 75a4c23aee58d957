// One HTML file with all scripts and styles in it: dist/index.html, the template that `sonde report` puts data into.
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import { viteSingleFile } from "vite-plugin-singlefile";

/** Parts of uPlot that no chart of ours uses: changes after a chart is made, charts that follow each other, other lines than straight ones, other scales than linear ones, its legend, and
 * calendars, since our time is in nanoseconds from the start. The page may have 200 KB of code, and uPlot cannot be taken in parts. */
const UNUSED: readonly (readonly [RegExp, string])[] = [
  [/^\s*self\.(?:setSize|addSeries|delSeries|setSeries|addBand|setBand|delBand|batch|setLegend|posToIdx|setData|redraw|syncRect) = \w+;$/gm, ""],
  [/^const (domEnv\s*= ).*;$/m, "const $1true;"],
  [/^const (FEAT_TIME\s*= )true;$/m, "const $1false;"],
  [/const cursorFocus = .*;/, "const cursorFocus = false;"],
  [/\bw?sc\.distr (?:== 3(?=\))|>= 3)/g, "false"],
  [/\bsrc != null/g, "false"],
  [/\bsrc == null/g, "true"],
  [/\bmode == 1\b/g, "true"],
  [/\bmode == 2\b/g, "false"],
  [/\b(?:xScaleDistr|scale\.distr|sc\.distr) == [234]\b/g, "false"],
  [/^const (days3|months3) = .*$/gm, "const $1 = [];"],
  [/^const localTz = .*$/m, "const localTz = null;"],
  [/\(paths\.(?:stepped|bars|spline)\s*= \w+\);/g, ""],
  [/^\s*uPlot\.(?:fmtNum|rangeNum|rangeLog|rangeAsinh|orient|assign|fmtDate|tzDate|addGap|clipGaps)\s*=.*$/gm, ""],
  [/const (_timeAxisSplits|_timeAxisVals|_timeSeriesVal)\s*= .*;/g, "const $1 = null;"],
  [/\bisTime \?/g, "false ?"],
  [/\b(?:sc\.)?distr == (?:[34]|100)\s*\?/g, "false ?"],
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
  // A recording is made within a test: the limit is for what never ends.
  test: { include: ["test/**/*.test.{ts,tsx}", "src/**/*.test.{ts,tsx}"], testTimeout: 300_000, hookTimeout: 300_000 },
});
