// Regions, calls and operators of a range or a thread, from the timeline: how often, how long, how much of it alone.
import { MAIN, NO_EMPTY, SHOWN, type Cell, type Events, type Recording, type Table } from "../data";
import type { Range } from "../state";
import { fileName } from "./format";
import { column, listTable } from "./table";
import { overlap } from "./values";

interface SpanSum {
  site: number;
  count: number;
  total: number;
  self: number;
  min: number;
  max: number;
}

const WHOLE: Range = [0, Number.MAX_SAFE_INTEGER];

/** By site. Spans of one track and task stand nested, the outer one first; the time of a span that lies in another
 * one of the same site counts once. */
function addSpans(recording: Recording, events: Events, kinds: readonly string[], thread: number, range: Range) {
  const { nodes, sites } = recording;
  const isWanted = recording.kinds.map((kind) => kinds.includes(kind));
  const sums = new Map<number, SpanSum>();
  const open = new Map<string, number[]>();
  for (let i = events.sample_count; i < events.count; i++) {
    const node = events.node[i];
    const site = nodes.site[node];
    if (!isWanted[sites.kind[site]] || (thread >= 0 && nodes.track[node] !== thread)) continue;
    const key = `${events.track[i]} ${events.task[i]}`;
    const stack = open.get(key) ?? [];
    open.set(key, stack);
    while (stack.length && events.start[stack.at(-1)!] + events.value[stack.at(-1)!] <= events.start[i]) stack.pop();
    addSpan(sums, site, events, i, range, stack, nodes.site);
    stack.push(i);
  }
  return sums;
}

function addSpan(sums: Map<number, SpanSum>, site: number, events: Events, i: number, range: Range, stack: number[], siteOf: Uint32Array) {
  const part = overlap(events, i, range);
  const isIn = events.start[i] < range[1] && events.start[i] + events.value[i] >= range[0];
  if (!isIn) return;
  const sum = sums.get(site) ?? { site, count: 0, total: 0, self: 0, min: Infinity, max: 0 };
  sums.set(site, sum);
  sum.count++;
  sum.self += part;
  if (!stack.some((above) => siteOf[events.node[above]] === site)) sum.total += part;
  sum.min = Math.min(sum.min, events.value[i]);
  sum.max = Math.max(sum.max, events.value[i]);
  const around = stack.length ? sums.get(siteOf[events.node[stack.at(-1)!]]) : undefined;
  if (around) around.self -= part;
}

/** Sites with the same name and detail are one row. Null where the recording has no timeline of these. */
export function spansTable(recording: Recording, view: string, kinds: readonly string[], thread: number, range: Range | null): Table | null {
  const { events, sites, texts } = recording;
  if (!events || events.count === events.sample_count) return null;
  const sums = [...addSpans(recording, events, kinds, thread, range ?? WHOLE).values()].sort((a, b) => b.self - a.self);
  if (sums.length === 0) return null;
  const whole = sums.reduce((total, sum) => total + sum.self, 0);
  const rows = sums.map(({ site, count, total, self, min, max }): Cell[] => {
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
