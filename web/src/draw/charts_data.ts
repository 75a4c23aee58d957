// Which charts there are, and their numbers. Pure.
import type { Recording, Series } from "../data";
import { lanesOf, lengthOf, partsOf } from "./frames/lanes";
import { CPU_STATES } from "./frames/names";
import { PARTS } from "./frames/weights";

export const TITLES: Record<string, string> = { heap: "heap", rss: "resident", gpu: "GPU", gpu_memory: "GPU memory", cpu: "CPU" };

/** Series that stand in one chart, as they have one unit. */
export interface Chart {
  title: string;
  unit: string;
  series: Series[];
}

/** CPU time of all threads together; 100% is one processor. */
export function cpuSeries(recording: Recording, columns = 1024): Series | null {
  const length = lengthOf(recording);
  const tracks = lanesOf(recording).filter(({ samples }) => samples.count > 0);
  if (tracks.length === 0) return null;
  const step = length / columns;
  const value = new Float64Array(columns);
  for (const track of tracks) {
    const parts = partsOf(track, length, 0, length, columns);
    for (let i = 0; i < columns; i++) for (let part = 0; part < CPU_STATES; part++) value[i] += (100 * parts[i * PARTS + part]) / step;
  }
  return { name: "cpu", unit: "%", at_ns: value.map((_, i) => (i + 0.5) * step), value };
}

export function chartsOf(recording: Recording): Chart[] {
  const cpu = cpuSeries(recording);
  const charts: Chart[] = cpu ? [{ title: "CPU", unit: "%", series: [cpu] }] : [];
  const memory = recording.series.filter(({ name }) => name === "heap" || name === "rss");
  if (memory.length > 0) charts.push({ title: "memory", unit: "bytes", series: memory });
  for (const series of recording.series)
    if (!memory.includes(series)) charts.push({ title: TITLES[series.name] ?? series.name, unit: series.unit, series: [series] });
  return charts;
}
