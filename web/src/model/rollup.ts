// One roll-up: numbers summed by a key under each metric's own rule. Whatever the page computes itself, for a thread or a
// range, is a key to it.
import { METRICS, type Rule } from "./metrics";

export interface Sum {
  /** What was summed, in order. */
  items: number[];
  /** In the order of the metrics. */
  values: Float64Array;
}

const JOINS: Record<Rule, (a: number, b: number) => number> = { sum: (a, b) => a + b, least: Math.min, most: Math.max, every: Math.min, last: (_, b) => b };

/** `columns`: for each of the metrics the numbers of all items (nodes, events, rows). Items without a key, and those that
 * have nothing but zeros, are left out. */
export function rollup<K>(metrics: readonly string[], columns: readonly Float64Array[], key: (item: number) => K | undefined): Map<K, Sum> {
  const joins = metrics.map((name) => JOINS[METRICS[name][1] ?? "sum"]);
  const sums = new Map<K, Sum>();
  for (let item = 0; item < columns[0].length; item++) {
    const of = columns.some((column) => column[item]) ? key(item) : undefined;
    if (of === undefined) continue;
    const sum = sums.get(of);
    if (!sum) {
      sums.set(of, { items: [item], values: Float64Array.from(columns, (column) => column[item]) });
      continue;
    }
    sum.items.push(item);
    for (let i = 0; i < joins.length; i++) sum.values[i] = joins[i](sum.values[i], columns[i][item]);
  }
  return sums;
}
