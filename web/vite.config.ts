// One HTML file with all scripts and styles in it: dist/index.html, the template that `sonde report` puts data into.
import { defineConfig } from "vitest/config";
import { viteSingleFile } from "vite-plugin-singlefile";

export default defineConfig({
  plugins: [viteSingleFile({ removeViteModuleLoader: true })],
  build: { target: "es2022", cssMinify: true, modulePreload: false, reportCompressedSize: false },
  test: { include: ["test/**/*.test.{ts,tsx}", "src/**/*.test.{ts,tsx}"] },
});
