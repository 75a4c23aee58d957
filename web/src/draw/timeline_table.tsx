// The timeline as a table: what the threads did in the time that is seen, for those who do not see it or use no mouse.
import { useMemo } from "preact/hooks";
import { MAIN, SHOWN, type Cell, type Table } from "../data";
import { STATES } from "../model/metrics";
import { column, listTable } from "../model/table";
import type { ViewProps } from "../props";
import type { Range } from "../state";
import { Grid } from "../views/grid";
import { firstAfter } from "./frames/lanes";
import { entryName, fileOf, placeOf, trackName, type Names } from "./frames/names";
import type { TimeRows } from "./timeline_rows";

const MOST_ROWS = 5000;

const COLUMNS = [
  column("name", "name", "text", SHOWN | MAIN),
  column("what", "what", "text"),
  column("thread", "thread", "text"),
  column("start_ns", "from", "ns"),
  column("time_ns", "for", "ns"),
  column("place", "place", "text"),
  column("file", "file", "text", 0),
];

/** Everything that lies in the range, by its start; `row_count` has how many there are. */
export function timeTable(names: Names, rows: TimeRows, thread: number, [from, to]: Range): Table {
  const all: Cell[][] = [];
  let count = 0;
  for (const track of rows.tracks)
    for (const { kind, lane } of thread < 0 || thread === track.track ? track.rows : []) {
      const first = firstAfter(lane, from);
      for (let i = first; i < lane.count && lane.start[i] < to; i++, count++) {
        if (i - first >= MOST_ROWS) continue;
        const what = names.ofSite[names.recording.nodes.site[lane.node[i]]];
        const state = kind === "samples" ? STATES[lane.state[i]].replace("_", " for ") : kind.replace(/s$/, "");
        all.push([entryName(names, lane.node[i]), state, trackName(names.recording, track.track), lane.start[i], lane.end[i] - lane.start[i], placeOf(names, what), fileOf(names, what)]);
      }
    }
  all.sort((a, b) => Number(a[3]) - Number(b[3]) || Number(b[4]) - Number(a[4]));
  return { ...listTable("timeline", COLUMNS, all.slice(0, MOST_ROWS)), row_count: count };
}

export function TimeGrid(props: ViewProps & { names: Names; rows: TimeRows; seen: Range }) {
  const { names, rows, seen, state } = props;
  const table = useMemo(() => timeTable(names, rows, state.thread, seen), [names, rows, state.thread, seen[0], seen[1]]);
  const sort = state.options["timeline.sort"] ?? null;
  return <Grid table={table} label="timeline" search={state.search} selection={state.selection} onSelect={props.onSelect} sort={sort} onSort={(next) => props.onOption("timeline.sort", next)} />;
}
