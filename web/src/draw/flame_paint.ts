// Paints the boxes of a flame graph that are seen.
import { duration } from "../model/format";
import { inkOn, mainPart, type Theme } from "./colours";
import { labelOf } from "./describe";
import { ROW, rowAt, topOf, type FlameModel, type Panel } from "./flame_model";
import type { Frames } from "./frames/frames";
import type { Box } from "./layout";
import { Pixels } from "./pixels";
import { kindOf, type Names } from "./frames/names";
import type { Found } from "./frames/search";
import { fit, FONT } from "./stage";
import { timeSteps } from "./steps";
import type { Viewport } from "./viewport";
import { PARTS } from "./frames/weights";

export interface Look {
  theme: Theme;
  names: Names;
  /** By number of Names; null: by Python, native, system, waiting. */
  colours: string[] | null;
  found: Found | null;
  selected: number;
}

export interface Pointed {
  panel: Panel;
  frame: number;
}

const KIND_PARTS: Record<string, number> = { native: 1, builtin: 1, waiting: 3, op: 1, other: 2 };

function colourOf(look: Look, frames: Frames, frame: number): string {
  const what = frames.what[frame];
  if (look.colours) return look.colours[what];
  return look.theme.parts[frames.parts ? mainPart(frames, frame) : (KIND_PARTS[kindOf(look.names, what)] ?? 0)];
}

/** A stripe that says what the time of a box consists of. */
function paintParts(context: CanvasRenderingContext2D, look: Look, frames: Frames, frame: number, x: number, y: number, width: number): void {
  let at = x;
  for (let part = 0; part < PARTS; part++) {
    const wide = (width * frames.parts![frame * PARTS + part]) / frames.total[frame];
    if (wide <= 0) continue;
    context.fillStyle = look.theme.parts[part];
    context.fillRect(at, y + ROW - 5, wide, 4);
    at += wide;
  }
}

/** Narrower boxes than this, in pixels, are painted as a picture of one pixel a row: there may be thousands in each. */
const NARROW = 3;

class Painter {
  private narrow: Pixels;

  /** By colour: the context changes it seldom. */
  private texts = new Map<string, { label: string; x: number; y: number }[]>();

  constructor(private context: CanvasRenderingContext2D, private look: Look, private width: number, rows: number, private hasStripes: boolean) {
    this.narrow = new Pixels(Math.ceil(width), rows);
  }

  /** `line`: which row of those that are seen. */
  box(frames: Frames, box: Box, y: number, line: number): void {
    const { context, look } = this;
    const x = Math.max(0, box.x);
    const wide = Math.min(this.width, box.x + box.width) - x;
    if (wide <= 0) return;
    const isHit = box.frame >= 0 && (!look.found || look.found.isHit[frames.what[box.frame]] === 1);
    const alpha = isHit || (box.frame < 0 && !look.found) ? 1 : 0.28;
    const colour = box.frame < 0 ? look.theme.others[0] : colourOf(look, frames, box.frame);
    if (wide < NARROW) return this.narrow.put(x, wide, line, colour, alpha);
    const gap = wide > NARROW ? 1 : 0;
    context.globalAlpha = alpha;
    context.fillStyle = colour;
    context.fillRect(x, y, wide - gap, ROW - 1);
    if (box.frame < 0) return;
    if (this.hasStripes && frames.parts && wide > 24) this.stripe(frames, box, x, y, wide - gap);
    if (look.selected === frames.what[box.frame] && wide > 1) outline(context, x, y, wide - gap, look.theme.text);
    if (wide < 24) return;
    const label = fit(context, labelOf(frames, look.names, box.frame), wide);
    if (label) this.text(isHit ? inkOn(colour) : look.theme.muted, label, x + 4, y + 13);
  }

  private text(colour: string, label: string, x: number, y: number): void {
    const texts = this.texts.get(colour);
    if (texts) texts.push({ label, x, y });
    else this.texts.set(colour, [{ label, x, y }]);
  }

  private stripe(frames: Frames, box: Box, x: number, y: number, width: number): void {
    const { theme } = this.look;
    this.context.fillStyle = theme.background;
    this.context.fillRect(x, y + ROW - 6, width, 1);
    paintParts(this.context, this.look, frames, box.frame, x, y, width);
  }

  /** `topOf`: where the line of a row stands. */
  finish(topOf: (line: number) => number): void {
    this.context.globalAlpha = 1;
    this.narrow.paint(this.context, topOf, ROW - 1);
    this.labels();
  }

  private labels(): void {
    const { context } = this;
    context.font = FONT;
    context.globalAlpha = 1;
    for (const [colour, texts] of this.texts) {
      context.fillStyle = colour;
      for (const { label, x, y } of texts) context.fillText(label, x, y);
    }
  }
}

function outline(context: CanvasRenderingContext2D, x: number, y: number, width: number, colour: string): void {
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.strokeRect(x + 1, y + 1, Math.max(1, width - 2), ROW - 3);
}

function seenRows(model: FlameModel, panel: Panel, height: number, scroll: number): [number, number] {
  const [top, bottom] = [rowAt(model, panel, 0, height, scroll), rowAt(model, panel, height, height, scroll)];
  const first = Math.max(model.above >= 0 && panel.isUp ? 1 : 0, Math.min(top, bottom));
  return [first, Math.max(top, bottom)];
}

export function paintFlame(context: CanvasRenderingContext2D, width: number, height: number, model: FlameModel, view: Viewport, scroll: number, look: Look, hover: Pointed | null, focus: Pointed | null): void {
  context.globalAlpha = 1;
  context.fillStyle = look.theme.background;
  context.fillRect(0, 0, width, height);
  context.font = FONT;
  const marks: [Box, Panel, string][] = [];
  for (const panel of model.panels) {
    const [firstRow, lastRow] = seenRows(model, panel, height, scroll);
    const painter = new Painter(context, look, width, lastRow - firstRow + 1, !look.colours && !model.isTime);
    const top = (row: number) => topOf(model, panel, row, height, scroll);
    panel.boxes({ from: view.from, to: view.to, width, firstRow, lastRow }, (box) => {
      painter.box(panel.frames, box, top(box.row), box.row - firstRow);
      if (hover?.panel === panel && hover.frame === box.frame) marks.push([box, panel, look.theme.text]);
      if (focus?.panel === panel && focus.frame === box.frame) marks.push([box, panel, look.theme.accent]);
    });
    painter.finish((line) => top(line + firstRow));
  }
  for (const [box, panel, colour] of marks) {
    const x = Math.max(0, box.x);
    outline(context, x, topOf(model, panel, box.row, height, scroll), Math.min(width, box.x + box.width) - x, colour);
  }
  if (model.isTime) paintAxis(context, width, height, view, look.theme, model.panels[0].isUp);
}

function paintAxis(context: CanvasRenderingContext2D, width: number, height: number, view: Viewport, theme: Theme, isTop: boolean): void {
  const y = isTop ? 0 : height - 18;
  context.fillStyle = theme.panel;
  context.fillRect(0, y, width, 18);
  context.fillStyle = theme.muted;
  for (const at of timeSteps(view.from, view.to, width, 110)) {
    const x = ((at - view.from) / (view.to - view.from)) * width;
    context.fillRect(x, y, 1, 18);
    context.fillText(at === 0 ? "0 s" : duration(at), x + 4, y + 12);
  }
}
