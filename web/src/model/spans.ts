// Regions, calls and operators of a range or a thread, from the timeline: how often, how long, how much of it alone.
import { MAIN, NO_EMPTY, SHOWN, type Cell, type Events, type Recording, type Table } from "../data";
import type { Range } from "../state";
import { fileName } from "./format";
import { rollup } from "./rollup";
import { column, listTable } from "./table";
import { overlap } from "./values";

const WHOLE: Range = [0, Number.MAX_SAFE_INTEGER];
const SPANS = ["count", "total", "self", "min", "max"];

/** By site. Spans of one track and task stand nested, the outer one first; the time of a span that lies in another
 * one of the same site counts once. */
function addSpans(recording: Recording, events: Events, kinds: readonly string[], thread: number, range: Range) {
  const { nodes, sites } = recording;
  const { count, start, value } = events;
  const isWanted = recording.kinds.map((kind) => kinds.includes(kind));
  const [total, self] = [new Float64Array(count), new Float64Array(count)];
  const open = new Map<string, number[]>();
  const siteOf = (i: number) => nodes.site[events.node[i]];
  const isIn = (i: number) =>
    i >= events.sample_count && isWanted[sites.kind[siteOf(i)]] && (thread < 0 || nodes.track[events.node[i]] === thread) && start[i] < range[1] && start[i] + value[i] >= range[0];
  for (let i = events.sample_count; i < count; i++) {
    if (!isIn(i)) continue;
    const key = `${events.track[i]} ${events.task[i]}`;
    const stack = open.get(key) ?? [];
    open.set(key, stack);
    while (stack.length && start[stack.at(-1)!] + value[stack.at(-1)!] <= start[i]) stack.pop();
    const part = overlap(events, i, range);
    self[i] = part;
    if (stack.length) self[stack.at(-1)!] -= part;
    if (!stack.some((above) => siteOf(above) === siteOf(i))) total[i] = part;
    stack.push(i);
  }
  return rollup(SPANS, [new Float64Array(count).fill(1), total, self, value, value], (i) => (isIn(i) ? siteOf(i) : undefined));
}

/** Sites with the same name and detail are one row. Null where the recording has no timeline of these. */
export function spansTable(recording: Recording, view: string, kinds: readonly string[], thread: number, range: Range | null): Table | null {
  const { events, sites, texts } = recording;
  if (!events || events.count === events.sample_count) return null;
  const sums = [...addSpans(recording, events, kinds, thread, range ?? WHOLE)].sort((a, b) => b[1].values[2] - a[1].values[2]);
  if (sums.length === 0) return null;
  const whole = sums.reduce((total, [, { values }]) => total + values[2], 0);
  const rows = sums.map(([site, { values: [count, total, self, min, max] }]): Cell[] => {
    const file = texts[sites.file[site]];
    return [
      texts[sites.name[site]],
      texts[sites.detail[site]] || null,
      total,
      self,
      whole > 0 ? (100 * self) / whole : 0,
      count,
      min,
      count > 0 ? total / count : 0,
      max,
      file ? `${fileName(recording, file)}:${sites.line[site]}` : null,
      file || null,
      sites.line[site] || null,
    ];
  });
  const ns = (name: string) => column(`${name}_ns`, name, "ns");
  const columns = [
    column("name", "name", "text", SHOWN | MAIN),
    column("detail", "signature", "text", SHOWN | NO_EMPTY),
    ns("total"),
    ns("self"),
    column("self_percent", "share", "percent"),
    column("count", "count", "count"),
    ns("min"),
    ns("average"),
    ns("max"),
    column("place", "place", "text"),
    column("file", "file", "text", 0),
    column("line", "line", "count", 0),
  ];
  return listTable(view, columns, rows);
}
