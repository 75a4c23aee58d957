// The views that are tables of the core: regions, calls, operators, graphs, memory, threads.
import type { ComponentChildren } from "preact";
import type { Recording, Table } from "../data";
import { Flame } from "../draw";
import { answer } from "../model/choose";
import { findTable, numbers, texts } from "../model/table";
import type { ViewProps } from "../props";
import { Choice, Empty } from "./bits";
import { Grid } from "./grid";

/** Tables of one view: the core's name, the variant, what it is called here. */
type Part = readonly [view: string, variant: string, title: string];

export const PARTS: Record<string, readonly Part[]> = {
  regions: [["regions", "", "Tree"]],
  calls: [
    ["signatures", "", "By signature"],
    ["functions", "", "Functions"],
    ["callers", "", "Callers"],
    ["callees", "", "Callees"],
  ],
  ops: [
    ["ops", "", "Operators"],
    ["ops", "by_shape", "By shape"],
    ["ops", "by_line", "By line"],
  ],
  graph: [
    ["graph", "", "All"],
    ["graph", "by_class", "Class"],
    ["graph", "by_op", "Op"],
    ["graph", "by_apply", "Apply"],
    ["graph", "by_rewriter", "Rewriting"],
  ],
  memory: [
    ["memory", "", "Lines"],
    ["flame", "", "Peak owners"],
    ["leaks", "", "Leaks"],
    ["copies", "", "Copies"],
    ["sizes", "", "Sizes"],
    ["owners", "", "Owners as a tree"],
  ],
  threads: [
    ["threads", "", "Threads"],
    ["waiting", "", "Waiting"],
    ["counters", "", "Counters"],
    ["marks", "", "Marks"],
  ],
};

const hasPeak = (recording: Recording) => recording.metrics.has("live_peak");

/** The parts of a view for which the recording has data; variants of graph that this page does not know come too. */
export function partsOf(recording: Recording, view: string): Part[] {
  const known = (PARTS[view] ?? [[view, "", ""]]).filter(([name, variant]) =>
    name === "flame" ? hasPeak(recording) : findTable(recording, name, variant),
  );
  const others = recording.tables
    .filter((table) => table.view === view && !known.some(([name, variant]) => name === view && variant === (table.variant ?? "")))
    .map((table): Part => [view, table.variant ?? "", (table.variant ?? view).replace(/^by_/, "").replaceAll("_", " ")]);
  return [...known, ...others];
}

const id = ([view, variant]: Part) => (variant ? `${view}-${variant}` : view);

export function TableView(props: ViewProps) {
  const { recording, state, onOption } = props;
  const parts = partsOf(recording, state.view);
  const chosen = state.options[`${state.view}.part`];
  const part = parts.find((one) => id(one) === chosen) ?? parts[0];
  if (!part) return <Empty>This recording has nothing to show here.</Empty>;
  const choice = parts.length > 1 && (
    <Choice
      label="table"
      value={id(part)}
      choices={parts.map((one) => [id(one), one[2]] as const)}
      onChange={(value) => onOption(`${state.view}.part`, value, true)}
    />
  );
  if (part[0] !== "flame") return <TablePart {...props} part={part} choice={choice} />;
  return (
    <>
      <div class="bar">{choice}</div>
      <div class="panel drawn">
        <PeakFlame {...props} />
      </div>
    </>
  );
}

/** The flame graph of whose memory it was at the peak. */
function PeakFlame(props: ViewProps) {
  const state = { ...props.state, options: { ...props.state.options, "flame.metric": "live_peak" } };
  return <Flame {...props} state={state} />;
}

/** A row of a thread chooses it, for all views; -1 for what is no thread. */
function threadOf(recording: Recording, table: Table, row: number): number {
  const [name, number] = [texts(table, "name")(row), numbers(table, "thread_id")(row)];
  return recording.tracks.findIndex((track) => track.name === name && (!number || track.thread_id === number));
}

function TablePart(props: ViewProps & { part: Part; choice: ComponentChildren }) {
  const { recording, state, part, onOption } = props;
  const found = answer(recording, part[0], part[1], state);
  if (!found) return <Empty>This recording has nothing to show here.</Empty>;
  const key = id(part);
  const isThreads = part[0] === "threads";
  const thread = recording.tracks[state.thread];
  return (
    <>
      {found.note && <div class="note">{found.note}</div>}
      <Grid
        key={key}
        table={found.table}
        label={part[2] || part[0]}
        search={state.search}
        selection={isThreads ? thread && { name: thread.name, file: "", line: 0 } : state.selection}
        onSelect={props.onSelect}
        onRow={isThreads ? (row) => props.onThread(threadOf(recording, found.table, row)) : undefined}
        sort={state.options[`${key}.sort`] ?? null}
        onSort={(sort) => onOption(`${key}.sort`, sort)}
        isWide={state.options[`${key}.all`] === "1"}
        onWide={(isWide) => onOption(`${key}.all`, isWide ? "1" : null)}
      >
        {props.choice}
      </Grid>
      {found.table.footer && <div class="footer">{found.table.footer}</div>}
    </>
  );
}
