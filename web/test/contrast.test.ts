// Colours: contrast as WCAG 2 wants it, and told apart with the common kinds of colour blindness.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { fileColours, inkOn } from "../src/draw/colours";

const css = readFileSync(new URL("../src/style.css", import.meta.url), "utf8");

function tokens(selector: string): Record<string, string> {
  const block = css.slice(css.indexOf(selector));
  return Object.fromEntries([...block.slice(0, block.indexOf("}")).matchAll(/--([\w-]+): (#[0-9a-f]{6})\b/g)].map(([, name, value]) => [name, value]));
}

const light = tokens(":root {");
const THEMES = { light, dark: { ...light, ...tokens(':root[data-theme="dark"]') } };
const GROUNDS = ["bg", "panel", "hover", "select"];
const TEXTS = ["text", "muted", "accent", "keyword", "string", "comment", "number", "name", "a-text", "b-text"];
const PARTS = ["python", "native", "system", "waiting", "gpu"];
const BARS = [...PARTS, "memory", "copies", "a", "b"];

type Triple = [number, number, number];

const linear = (colour: string): Triple => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)) as Triple;

function contrast(a: string, b: string): number {
  const [high, low] = [a, b].map((colour) => linear(colour)).map(([red, green, blue]) => 0.2126 * red + 0.7152 * green + 0.0722 * blue).sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

/** Machado, Oliveira and Fernandes (2009), the strongest degree of each. */
const EYES: Record<string, Triple[]> = {
  "all colours": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

/** CIE L*a*b* of a colour as such an eye sees it. */
function seen(colour: string, eye: Triple[]): Triple {
  const from = linear(colour);
  const [red, green, blue] = eye.map((row) => Math.min(1, Math.max(0, row[0] * from[0] + row[1] * from[1] + row[2] * from[2])));
  const root = (t: number) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  const [x, y, z] = [(0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047, 0.2126 * red + 0.7152 * green + 0.0722 * blue, (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883].map(root);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

function distance(a: string, b: string, eye: Triple[]): number {
  const [one, other] = [seen(a, eye), seen(b, eye)];
  return Math.hypot(...one.map((part, i) => part - other[i]));
}

for (const [theme, colours] of Object.entries(THEMES)) {
  test(`${theme}: every text has a contrast of 4.5 on every ground`, () => {
    for (const text of TEXTS) for (const ground of GROUNDS) expect(contrast(colours[text], colours[ground]), `${text} on ${ground}`).toBeGreaterThanOrEqual(4.5);
    expect(contrast(colours.bg, colours.accent), "a button that is pressed").toBeGreaterThanOrEqual(4.5);
  });

  test(`${theme}: every bar has a contrast of 3 on the page and on its panels`, () => {
    for (const bar of BARS) for (const ground of ["bg", "panel"]) expect(contrast(colours[bar], colours[ground]), `${bar} on ${ground}`).toBeGreaterThanOrEqual(3);
    expect(contrast(colours.accent, colours.bg), "what shows the focus").toBeGreaterThanOrEqual(3);
  });

  test(`${theme}: parts of time and both recordings are told apart by every eye`, () => {
    for (const [name, eye] of Object.entries(EYES)) {
      PARTS.forEach((a, i) => PARTS.slice(i + 1).forEach((b) => expect(distance(colours[a], colours[b], eye), `${a} and ${b}, ${name}`).toBeGreaterThan(15)));
      expect(distance(colours.a, colours.b, eye), `compared, ${name}`).toBeGreaterThan(40);
    }
  });

  test(`${theme}: names in boxes are read`, () => {
    const parts = PARTS.map((part) => colours[part]);
    for (const colour of [...fileColours(theme === "dark"), ...parts, colours.b]) expect(contrast(inkOn(colour), colour), colour).toBeGreaterThanOrEqual(4.5);
  });
}
