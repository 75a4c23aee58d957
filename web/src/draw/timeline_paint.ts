// Paints the threads of the timeline: what is seen of them.
import { duration } from "../model/format";
import { inkOn, type Theme } from "./colours";
import { firstAfter, partsOf, type Lane } from "./frames/lanes";
import { laneBoxes } from "./layout";
import { CPU_STATES, entryName, trackName, type Names } from "./frames/names";
import { Pixels } from "./pixels";
import { fit, FONT, oneLine } from "./stage";
import { timeSteps } from "./steps";
import { AXIS, isSparse, type TimeRow, type TimeRows, type TimeTrack } from "./timeline_rows";
import type { Viewport } from "./viewport";
import { PARTS } from "./frames/weights";

export const GUTTER = 136;
export const MARGIN = 12;

export interface TimeLook {
  theme: Theme;
  names: Names;
  /** By number of Names. */
  colours: string[];
  isHit: ((what: number) => boolean) | null;
  selected: number;
  thread: number;
  /** What is brushed, on the axis. */
  range: readonly [number, number] | null;
  /** Where the pointer is, in pixels; below 0: nowhere. */
  cursor: number;
}

class TimePainter {
  private width: number;

  constructor(private context: CanvasRenderingContext2D, width: number, private height: number, private view: Viewport, private look: TimeLook, private length: number) {
    this.width = Math.max(1, width - GUTTER - MARGIN);
  }

  private seen() {
    return { from: this.view.from, to: this.view.to, width: this.width, firstRow: 0, lastRow: 0 };
  }

  track(track: TimeTrack, scroll: number): void {
    const { context, look } = this;
    const y = track.top - scroll;
    if (y > this.height || y + track.height < AXIS) return;
    if (look.thread === track.track) {
      context.globalAlpha = 0.1;
      context.fillStyle = look.theme.accent;
      context.fillRect(0, y, this.width + GUTTER + MARGIN, track.height);
      context.globalAlpha = 1;
    }
    for (const row of track.rows) this.row(track, row, row.top - scroll);
    this.gutter(track, y);
  }

  private row(track: TimeTrack, row: TimeRow, y: number): void {
    if (y > this.height || y + row.height < 0) return;
    if (row.kind === "samples" && (track.lanes.scale < 1 || !isSparse(row.lane, this.view.from, this.view.to, this.width))) this.strip(track, row, y);
    else if (row.kind === "marks") this.marks(row, y);
    else this.boxes(row, y);
  }

  /** A line for each mark, and its name as far as there is room up to the next one. */
  private marks({ lane, height }: TimeRow, y: number): void {
    const { context, look, view } = this;
    const place = (at: number) => ((at - view.from) / (view.to - view.from)) * this.width;
    context.font = FONT;
    let drawn = -1;
    for (let i = firstAfter(lane, view.from); i < lane.count && lane.start[i] <= view.to; i++) {
      const x = place(lane.start[i]);
      if (x < drawn + 1) continue;
      drawn = x;
      const room = (i + 1 < lane.count ? Math.min(this.width, place(lane.start[i + 1])) : this.width) - x;
      context.fillStyle = look.theme.accent;
      context.fillRect(GUTTER + x, y, 2, height);
      if (room < 26) continue;
      context.fillStyle = look.theme.text;
      context.fillText(fit(context, oneLine(entryName(look.names, lane.node[i])), room - 4), GUTTER + x + 5, y + height / 2 + 4);
    }
  }

  /** A column of pixels shows how its time is parted; what is missing was not measured. */
  private strip(track: TimeTrack, row: TimeRow, y: number): void {
    const { context, look, view } = this;
    const columns = Math.floor(this.width);
    const parts = partsOf(track.lanes, this.length, view.from, view.to, columns);
    const scale = row.height / ((view.to - view.from) / columns);
    const pixels = new Pixels(columns, row.height);
    for (let column = 0; column < columns; column++) {
      let sum = 0;
      for (let part = 0; part < PARTS; part++) {
        const bottom = row.height - Math.round(sum);
        sum = Math.min(row.height, sum + parts[column * PARTS + part] * scale);
        const top = row.height - Math.round(part === 0 && sum > 0 ? Math.max(sum, 0.5) : sum);
        if (top < bottom) pixels.column(column, top, bottom, look.theme.parts[part]);
      }
    }
    pixels.paintWhole(context, GUTTER, y);
  }

  private boxes(row: TimeRow, y: number): void {
    const { lane } = row;
    const first = (at: number, from: number) => firstAfter(lane, at, from);
    this.context.font = FONT;
    laneBoxes(lane, this.seen(), 0, first, (box) => this.box(row, lane, box.frame, box.x, box.width, y));
    this.context.globalAlpha = 1;
  }

  private box(row: TimeRow, lane: Lane, entry: number, left: number, wide: number, y: number): void {
    const { context, look } = this;
    const x = Math.max(0, left);
    const width = Math.min(this.width, left + wide) - x;
    if (width <= 0) return;
    const what = entry < 0 ? -1 : look.names.ofSite[look.names.recording.nodes.site[lane.node[entry]]];
    const isHit = !look.isHit || (what >= 0 && look.isHit(what));
    const colour = row.kind === "gc" ? look.theme.gc : entry < 0 ? look.theme.others[1] : row.kind === "samples" ? look.theme.parts[Math.min(lane.state[entry], CPU_STATES)] : look.colours[what];
    context.globalAlpha = isHit ? 1 : 0.25;
    context.fillStyle = colour;
    context.fillRect(GUTTER + x, y, width > 3 ? width - 0.7 : width, row.height);
    if (what >= 0 && what === look.selected && width > 2) {
      context.strokeStyle = look.theme.text;
      context.lineWidth = 2;
      context.strokeRect(GUTTER + x + 1, y + 1, Math.max(1, width - 2.7), row.height - 2);
    }
    if (width < 26 || what < 0) return;
    context.fillStyle = inkOn(colour);
    context.fillText(fit(context, oneLine(entryName(look.names, lane.node[entry])), width), GUTTER + x + 4, y + row.height / 2 + 4);
  }

  private gutter(track: TimeTrack, y: number): void {
    const { context, look } = this;
    context.fillStyle = look.theme.background;
    context.fillRect(0, y, GUTTER - 1, track.height);
    context.fillStyle = look.thread === track.track ? look.theme.accent : look.theme.text;
    context.font = `600 ${FONT}`;
    context.fillText(fit(context, oneLine(trackName(look.names.recording, track.track)), GUTTER - 12), 8, y + 18);
    context.font = FONT;
    context.fillStyle = look.theme.muted;
    for (const row of track.rows)
      if (row.kind !== "samples" && row === track.rows.find((each) => each.kind === row.kind)) context.fillText(row.kind, 8, y + row.top - track.top + 12 + (row.top - track.top < 12 ? 18 : 0));
    if (track.hidden > 0) context.fillText(`${track.hidden} deeper`, 8, y + track.height - 8);
    context.fillStyle = look.theme.line;
    context.fillRect(0, y + track.height - 1, this.width + GUTTER + MARGIN, 1);
  }

  axis(): void {
    const { context, look, view } = this;
    context.fillStyle = look.theme.panel;
    context.fillRect(0, 0, this.width + GUTTER + MARGIN, AXIS);
    context.font = FONT;
    for (const at of timeSteps(view.from, view.to, this.width, 110)) {
      const x = GUTTER + ((at - view.from) / (view.to - view.from)) * this.width;
      context.fillStyle = look.theme.line;
      context.fillRect(x, 0, 1, this.height);
      context.fillStyle = look.theme.muted;
      if (x < GUTTER + this.width - 40) context.fillText(at === 0 ? "0 s" : duration(at), x + 4, 15);
    }
  }

  brush(): void {
    const { context, look, view } = this;
    const place = (at: number) => GUTTER + Math.min(1, Math.max(0, (at - view.from) / (view.to - view.from))) * this.width;
    if (look.range) {
      const [from, to] = look.range.map(place);
      context.globalAlpha = 0.62;
      context.fillStyle = look.theme.background;
      context.fillRect(GUTTER, AXIS, from - GUTTER, this.height);
      context.fillRect(to, AXIS, GUTTER + this.width + MARGIN - to, this.height);
      context.globalAlpha = 1;
      context.fillStyle = look.theme.accent;
      context.fillRect(from - 1, 0, 2, this.height);
      context.fillRect(to - 1, 0, 2, this.height);
      context.fillRect(from, 0, to - from, 3);
    }
    if (look.cursor < GUTTER) return;
    context.fillStyle = look.theme.muted;
    context.fillRect(look.cursor, 0, 1, this.height);
  }
}

export function paintTimeline(context: CanvasRenderingContext2D, width: number, height: number, rows: TimeRows, view: Viewport, scroll: number, look: TimeLook, length: number): void {
  context.globalAlpha = 1;
  context.fillStyle = look.theme.background;
  context.fillRect(0, 0, width, height);
  const painter = new TimePainter(context, width, height, view, look, length);
  painter.axis();
  for (const track of rows.tracks) painter.track(track, scroll);
  if (scroll > 0) painter.axis();
  painter.brush();
}
