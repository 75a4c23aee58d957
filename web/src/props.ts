// What every view gets, and what it can ask for.
import type { Recording } from "./data";
import type { Range, Selection, State } from "./state";

export interface ViewProps {
  recording: Recording;
  /** The recording to compare with, if there is one. */
  other?: Recording;
  state: State;
  /** The selection of all views; null: nothing. */
  onSelect(selection: Selection | null): void;
  /** The brushed range; null: the whole recording. */
  onRange(range: Range | null): void;
  /** Index of Recording.tracks; -1: all. */
  onThread(thread: number): void;
  /** A choice of this view, kept in the address: onOption("flame.order", "time"). `null` removes it. `push`: Back
   * undoes it (a zoom by click); else it replaces the address (a wheel). */
  onOption(name: string, value: string | null, push?: boolean): void;
  /** Another view, with what is selected (or, if given, with another selection). */
  onView(view: string, selection?: Selection): void;
}
