// What the flame graph shows for a state of the page.
import type { Recording } from "../data";
import type { Lane, TrackLanes } from "./frames/lanes";
import { entryAt, firstAfter, lanesOf, lengthOf } from "./frames/lanes";
import { frameOfSample, type Frames } from "./frames/frames";
import { frameAt, laneBoxes, timeBoxes, visibleBoxes, type Box, type View } from "./layout";
import { cutRemark, invertFrames, sandwich } from "./frames/merge";
import { trackName, type Names } from "./frames/names";

export const ROW = 20;

/** Rows that grow from a line, up or down. */
export interface Panel {
  frames: Frames;
  isUp: boolean;
  boxes(view: View, emit: (box: Box) => void): void;
  /** The frame there; -1: none. */
  at(place: number, row: number): number;
  /** Where a frame stands on the axis; null where it stands at many places. */
  extent(frame: number): readonly [number, number] | null;
}

export interface FlameModel {
  panels: Panel[];
  /** The length of the axis, and the narrowest part of it worth looking at. */
  whole: number;
  least: number;
  isTime: boolean;
  rows: number;
  /** Rows above the line that a sandwich grows from; -1: it is none. */
  above: number;
  remark: string;
}

/** Where a row begins, in pixels from the top. */
export function topOf(model: FlameModel, panel: Panel, row: number, height: number, scroll: number): number {
  if (model.above >= 0) return (model.above + (panel.isUp ? -row : row)) * ROW - scroll;
  return panel.isUp ? height - (row + 1) * ROW + scroll : row * ROW - scroll;
}

/** The row at `y`: the other way round. */
export function rowAt(model: FlameModel, panel: Panel, y: number, height: number, scroll: number): number {
  if (model.above >= 0) {
    const row = Math.floor((y + scroll) / ROW) - model.above;
    return panel.isUp ? 0 - row : row;
  }
  return Math.floor((panel.isUp ? height - y + scroll - 0.001 : y + scroll) / ROW);
}

export function mostScroll(model: FlameModel, height: number): number {
  return Math.max(0, model.rows * ROW - height);
}

export interface FlameChoice {
  isUp: boolean;
  isTime: boolean;
  isInverted: boolean;
  /** A function; -1: none. */
  sandwich: number;
  thread: number;
}

function weightPanel(frames: Frames, isUp: boolean): Panel {
  return {
    frames,
    isUp,
    boxes: (view, emit) => visibleBoxes(frames, view, emit),
    at: (place, row) => frameAt(frames, place, row),
    extent: (frame) => [frames.left[frame], frames.left[frame] + frames.total[frame]],
  };
}

function byWeight(panels: Panel[], rows: number, above: number, remark = ""): FlameModel {
  const whole = panels[0].frames.total[0];
  return { panels, whole, least: whole / 1e6, isTime: false, rows, above, remark };
}

/** Callers above, callees below the function; it is drawn once. */
function sandwichModel(frames: Frames, what: number): FlameModel {
  const { callers, callees } = sandwich(frames, what);
  const above = callers.deepest;
  return byWeight([weightPanel(callees, false), weightPanel(callers, true)], above + callees.deepest + 1, above, cutRemark(frames));
}

function samplePanel(frames: Frames, names: Names, lane: Lane, isUp: boolean): Panel {
  return {
    frames,
    isUp,
    boxes: (view, emit) => timeBoxes(frames, names, lane, view, emit),
    at(place, row) {
      const entry = entryAt(lane, place);
      let frame = entry < 0 ? -1 : frameOfSample(frames, names, lane.node[entry], lane.state[entry]);
      while (frame >= 0 && frames.depth[frame] > row) frame = frames.parent[frame];
      return frame >= 0 && frames.depth[frame] === row ? frame : -1;
    },
    extent: () => null,
  };
}

/** Spans have a tree of their own here: each is a frame, so that a tooltip can say how long this very one took. */
function spanFrames(names: Names, lanes: Lane[], whole: number): { frames: Frames; starts: number[] } {
  const starts: number[] = [];
  let count = 1;
  for (const lane of lanes) {
    starts.push(count);
    count += lane.count;
  }
  const frames: Frames = {
    count, parent: new Int32Array(count), what: new Int32Array(count), depth: new Int32Array(count), own: new Float64Array(count),
    total: new Float64Array(count), parts: null, ownParts: null, hidden: new Int32Array(count), first: new Int32Array(count + 1),
    kids: new Int32Array(0), left: new Float64Array(count), deepest: lanes.length, ofNode: null,
  };
  frames.parent[0] = -1;
  frames.what[0] = names.all;
  frames.total[0] = whole;
  lanes.forEach((lane, depth) => fillSpans(frames, names, lane, depth, starts));
  return { frames, starts };
}

function fillSpans(frames: Frames, names: Names, lane: Lane, depth: number, starts: number[]): void {
  const { site } = names.recording.nodes;
  let above = depth > 0 ? starts[depth - 1] : 0;
  for (let i = 0; i < lane.count; i++) {
    const frame = starts[depth] + i;
    while (depth > 0 && above + 1 < starts[depth] && frames.left[above + 1] <= lane.start[i]) above++;
    frames.parent[frame] = above;
    frames.what[frame] = names.ofSite[site[lane.node[i]]];
    frames.depth[frame] = depth + 1;
    frames.left[frame] = lane.start[i];
    frames.total[frame] = frames.own[frame] = lane.end[i] - lane.start[i];
    frames.own[above] -= above > 0 ? frames.total[frame] : 0;
  }
}

function spanPanel(names: Names, lanes: Lane[], whole: number, isUp: boolean): Panel {
  const { frames, starts } = spanFrames(names, lanes, whole);
  return {
    frames,
    isUp,
    boxes(view, emit) {
      if (view.firstRow <= 0) emit({ frame: 0, x: (-view.from * view.width) / (view.to - view.from), width: (whole * view.width) / (view.to - view.from), row: 0 });
      lanes.forEach((lane, depth) => {
        if (depth + 1 < view.firstRow || depth + 1 > view.lastRow) return;
        const first = (at: number, from: number) => firstAfter(lane, at, from);
        laneBoxes(lane, view, depth + 1, first, (box) => emit({ ...box, frame: box.frame < 0 ? -1 : starts[depth] + box.frame }));
      });
    },
    at(place, row) {
      const entry = row > 0 && row <= lanes.length ? entryAt(lanes[row - 1], place) : -1;
      return row === 0 ? 0 : entry < 0 ? -1 : starts[row - 1] + entry;
    },
    extent: (frame) => [frames.left[frame], frames.left[frame] + frames.total[frame]],
  };
}

/** The thread that is drawn in the order of time: the chosen one, or the one with most of what there is to see. */
export function timeThread(recording: Recording, thread: number, size: (lanes: TrackLanes) => number): number {
  const lanes = lanesOf(recording);
  if (thread >= 0 && thread < lanes.length) return thread;
  let most = 0;
  lanes.forEach((track, i) => (most = size(track) > size(lanes[most]) ? i : most));
  return most;
}

const spansIn = (lanes: Lane[]) => lanes.reduce((sum, lane) => sum + lane.count, 0);

/** null: there is no timeline of it. */
function timeModel(frames: Frames, names: Names, from: string, choice: FlameChoice): FlameModel | null {
  const { recording } = names;
  const whole = lengthOf(recording);
  const lanes = lanesOf(recording);
  if (lanes.length === 0) return null;
  const remark = (track: number) => (choice.thread < 0 && recording.tracks.length > 1 ? `Thread ${trackName(recording, track)}; n and p show others.` : "");
  if (from === "samples") {
    const track = timeThread(recording, choice.thread, ({ samples }) => samples.count);
    if (lanes[track].samples.count === 0) return null;
    const panel = samplePanel(frames, names, lanes[track].samples, choice.isUp);
    return { panels: [panel], whole, least: 1000, isTime: true, rows: panel.frames.deepest + 1, above: -1, remark: remark(track) };
  }
  const of = (track: TrackLanes) => (from === "calls" ? track.calls : from === "regions" ? track.regions : []);
  const track = timeThread(recording, choice.thread, (each) => spansIn(of(each)));
  if (spansIn(of(lanes[track])) === 0) return null;
  const panel = spanPanel(names, of(lanes[track]), whole, choice.isUp);
  return { panels: [panel], whole, least: 1000, isTime: true, rows: panel.frames.deepest + 1, above: -1, remark: remark(track) };
}

export function flameModel(frames: Frames, names: Names, from: string, choice: FlameChoice): FlameModel {
  if (choice.sandwich >= 0) return sandwichModel(frames, choice.sandwich);
  const inTime = choice.isTime ? timeModel(frames, names, from, choice) : null;
  if (inTime) return inTime;
  const shown = choice.isInverted ? invertFrames(frames) : frames;
  const remark = choice.isTime ? "This recording has no timeline." : choice.isInverted ? cutRemark(frames) : "";
  return byWeight([weightPanel(shown, choice.isUp)], shown.deepest + 1, -1, remark);
}
