// Frames for a state of the page, kept: several views ask for the same, and Back asks for what was there before.
import type { Recording } from "../../data";
import type { Range } from "../../state";
import { makeCallFrames } from "./calls";
import { foldFrames, makeFrames, type Frames } from "./frames";
import { makeNames, type Names } from "./names";
import { measuresOf, weigh, type Measure } from "./weights";

export interface Source {
  names: Names;
  measures: Measure[];
}

export interface Drawn {
  frames: Frames;
  measure: Measure;
  /** Sentences that the view must say. */
  remarks: string[];
}

const sources = new WeakMap<Recording, Source>();

export function sourceOf(recording: Recording): Source {
  let source = sources.get(recording);
  if (!source) sources.set(recording, (source = { names: makeNames(recording), measures: measuresOf(recording) }));
  return source;
}

/** null: the recording has nothing to draw. An unknown id gives the first measure. */
export function measureOf(source: Source, id: string | undefined): Measure | null {
  return source.measures.find((measure) => measure.id === id) ?? source.measures[0] ?? null;
}

const KEPT = 6;
const kept = new Map<string, { recording: Recording; drawn: Drawn }>();

export function framesFor(recording: Recording, measure: Measure, thread: number, range: Range | null, fold: boolean): Drawn {
  const key = [measure.id, thread, range?.join("-") ?? "", fold].join(" ");
  const known = kept.get(key);
  if (known?.recording === recording) return known.drawn;
  const drawn = make(recording, measure, thread, range, fold);
  kept.delete(key);
  kept.set(key, { recording, drawn });
  if (kept.size > KEPT) kept.delete(kept.keys().next().value!);
  return drawn;
}

function make(recording: Recording, measure: Measure, thread: number, range: Range | null, fold: boolean): Drawn {
  const { names } = sourceOf(recording);
  if (fold) {
    const whole = framesFor(recording, measure, thread, range, false);
    return { ...whole, frames: foldFrames(whole.frames, names) };
  }
  const remarks: string[] = [];
  const remark = (is: boolean, text: string) => is && remarks.push(text);
  const unbrushed = "Known only for the whole recording, not for the range.";
  if (measure.from === "calls") {
    const calls = makeCallFrames(names, thread, range);
    remark(calls.isEstimate, "Call stacks are estimated: each caller gets its share of what it called.");
    remark(calls.ignoresRange, unbrushed);
    return { frames: calls.frames, measure, remarks };
  }
  const weights = weigh(names, measure, thread, range);
  remark(weights.ignoresRange, unbrushed);
  return { frames: makeFrames(names, weights), measure, remarks };
}
