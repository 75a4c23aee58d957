// Where the rows of the timeline stand: threads, and in each its samples, marks, collections, regions and calls. Pure.
import type { Recording } from "../data";
import { firstAfter, lanesOf, type Lane, type TrackLanes } from "./frames/lanes";

export const AXIS = 22;
const STRIP = 32;
const SPAN = 17;
const GAP = 10;
/** Deeper calls than this are not drawn: the flame graph in the order of time has them all. */
const MOST_LANES = 16;

/** A row of a thread: its samples, or spans of one depth. */
export interface TimeRow {
  track: number;
  kind: "samples" | "marks" | "gc" | "regions" | "calls";
  lane: Lane;
  top: number;
  height: number;
}

export interface TimeTrack {
  track: number;
  top: number;
  height: number;
  lanes: TrackLanes;
  rows: TimeRow[];
  /** Lanes that are not drawn. */
  hidden: number;
}

export interface TimeRows {
  tracks: TimeTrack[];
  height: number;
}

function rowsOf(track: number, lanes: TrackLanes, top: number): TimeTrack {
  const rows: TimeRow[] = [];
  let at = top + 4;
  const add = (kind: TimeRow["kind"], lane: Lane, height: number) => {
    rows.push({ track, kind, lane, top: at, height: height - 1 });
    at += height;
  };
  if (lanes.samples.count > 0) add("samples", lanes.samples, STRIP);
  for (const kind of ["marks", "gc", "regions", "calls"] as const)
    for (const lane of lanes[kind].slice(0, MOST_LANES)) add(kind, lane, SPAN);
  const hidden = Math.max(0, lanes.regions.length - MOST_LANES) + Math.max(0, lanes.calls.length - MOST_LANES);
  return { track, top, height: Math.max(24, at + GAP - 4 - top), lanes, rows, hidden };
}

/** Threads without any event have no rows, as long as another one has some. */
export function timeRows(recording: Recording): TimeRows {
  const tracks: TimeTrack[] = [];
  let top = AXIS;
  lanesOf(recording).forEach((lanes, track) => {
    const next = rowsOf(track, lanes, top);
    if (next.rows.length === 0) return;
    tracks.push(next);
    top += next.height;
  });
  return { tracks, height: top };
}

/** The row at a height; null: none. */
export function timeRowAt({ tracks }: TimeRows, y: number): { track: TimeTrack; row: TimeRow | null } | null {
  const track = tracks.find((each) => y >= each.top && y < each.top + each.height);
  if (!track) return null;
  return { track, row: track.rows.find((row) => y >= row.top && y < row.top + row.height + 1) ?? null };
}

/** Whether the samples that are seen are so few that each can be drawn. */
export function isSparse(lane: Lane, from: number, to: number, width: number): boolean {
  return firstAfter(lane, to) - firstAfter(lane, from) < width / 3;
}
