// The views of the page, in their order, and for which recordings they are there.
import type { FunctionComponent } from "preact";
import type { Recording } from "../data";
import { Flame, Sunburst, Timeline, Tree } from "../draw";
import { hasCalls, hasSamples } from "../model/choose";
import { findTable } from "../model/table";
import type { ViewProps } from "../props";
import { Compare } from "./compare";
import { Lines } from "./lines";
import { Summary } from "./summary";
import { partsOf, TableView } from "./tables";

export interface View {
  id: string;
  title: string;
  component: FunctionComponent<ViewProps>;
  has(recording: Recording, other?: Recording): boolean;
}

const hasRegions = (recording: Recording) => recording.sites.kind.includes(recording.kinds.indexOf("region"));
const hasStacks = (recording: Recording) => hasSamples(recording) || hasRegions(recording) || recording.metrics.has("live_peak");
const hasPart = (view: string) => (recording: Recording) => partsOf(recording, view).length > 0;

export const VIEWS: View[] = [
  { id: "summary", title: "Summary", component: Summary, has: () => true },
  { id: "lines", title: "Lines", component: Lines, has: (recording) => !!findTable(recording, "lines") },
  { id: "flame", title: "Flame", component: Flame, has: hasStacks },
  { id: "tree", title: "Tree", component: Tree, has: hasStacks },
  { id: "sunburst", title: "Sunburst", component: Sunburst, has: (recording) => hasStacks(recording) || hasCalls(recording) },
  { id: "timeline", title: "Timeline", component: Timeline, has: (recording) => !!recording.events || recording.series.length > 0 },
  { id: "regions", title: "Regions", component: TableView, has: (recording) => hasRegions(recording) && hasPart("regions")(recording) },
  { id: "calls", title: "Calls", component: TableView, has: hasCalls },
  { id: "ops", title: "Ops", component: TableView, has: hasPart("ops") },
  { id: "graph", title: "Graph", component: TableView, has: hasPart("graph") },
  { id: "memory", title: "Memory", component: TableView, has: (recording) => !!findTable(recording, "memory") },
  { id: "threads", title: "Threads", component: TableView, has: hasPart("threads") },
  { id: "compare", title: "Compare", component: Compare, has: (_, other) => !!other },
];

export function viewsOf(recording: Recording, other?: Recording): View[] {
  return VIEWS.filter((view) => view.has(recording, other));
}
