// Numbers and names of frames as texts: for labels, tooltips, the live region.
import { percent, quantity } from "../model/format";
import { METRICS } from "../model/metrics";
import { PART_NAMES } from "./colours";
import type { Frames } from "./frames/frames";
import { kindOf, placeOf, titleOf, type Names } from "./frames/names";
import { oneLine } from "./stage";
import { PARTS, type Measure } from "./frames/weights";

export function amount(value: number, measure: Measure): string {
  return quantity(value, METRICS[measure.metrics[0]][0]);
}

export function share(value: number, whole: number): string {
  return percent(whole > 0 ? (100 * value) / whole : 0);
}

/** "12.3 ms, 4.56%" */
export function amountAndShare(value: number, whole: number, measure: Measure): string {
  return `${amount(value, measure)}, ${share(value, whole)}`;
}

export function labelOf(frames: Frames, names: Names, frame: number): string {
  const name = oneLine(titleOf(names, frames.what[frame]));
  return frames.hidden[frame] > 0 ? `${name} [+${frames.hidden[frame]}]` : name;
}

export interface Row {
  label: string;
  value: string;
}

/** What a tooltip says below the name. `whole`: what shares are shares of. */
export function detailsOf(frames: Frames, names: Names, frame: number, measure: Measure, whole: number): Row[] {
  const rows: Row[] = [];
  const what = frames.what[frame];
  const place = placeOf(names, what);
  if (place) rows.push({ label: "at", value: oneLine(place, 80) });
  else if (kindOf(names, what) !== "all") rows.push({ label: "kind", value: kindOf(names, what) });
  rows.push({ label: "total", value: amountAndShare(frames.total[frame], whole, measure) });
  rows.push({ label: "own", value: amountAndShare(frames.own[frame], whole, measure) });
  const parent = frames.parent[frame];
  if (parent > 0) rows.push({ label: "of its caller", value: share(frames.total[frame], frames.total[parent]) });
  if (frames.parts)
    PART_NAMES.forEach((part, i) => {
      const ns = frames.parts![frame * PARTS + i];
      if (ns > 0) rows.push({ label: part, value: amountAndShare(ns, whole, measure) });
    });
  if (frames.hidden[frame] > 0) rows.push({ label: "folded", value: `${frames.hidden[frame]} library functions` });
  return rows;
}

/** The same as a sentence. */
export function sayFrame(frames: Frames, names: Names, frame: number, measure: Measure, whole: number): string {
  const rows = detailsOf(frames, names, frame, measure, whole);
  return `${labelOf(frames, names, frame)}: ${rows.map(({ label, value }) => `${label} ${value}`).join("; ")}`;
}
