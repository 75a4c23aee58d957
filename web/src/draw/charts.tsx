// Numbers over time, on the axis of the timeline: CPU, memory, GPU.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Recording, Series } from "../data";
import { bytes } from "../model/format";
import type { Range } from "../state";
import type { Theme } from "./colours";
import { lanesOf, lengthOf, partsOf } from "./lanes";
import { CPU_STATES } from "./names";
import { GUTTER, MARGIN } from "./timeline_paint";
import type { Viewport } from "./viewport";
import { PARTS } from "./weights";

const HEIGHT = 76;
const TITLES: Record<string, string> = { heap: "heap", rss: "resident", gpu: "GPU", gpu_memory: "GPU memory", cpu: "CPU" };

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

function write(value: number | null | undefined, unit: string): string {
  if (value === null || value === undefined) return "";
  return unit === "bytes" ? bytes(value) : `${Math.round(value * 10) / 10}${unit === "%" ? "%" : ` ${unit}`}`;
}

function colourOf(theme: Theme, name: string): string {
  const colours: Record<string, string> = { cpu: theme.parts[0], heap: theme.memory, rss: theme.copies, gpu: theme.gpu, gpu_memory: theme.gpu };
  return colours[name] ?? theme.accent;
}

/** Several series have points at different times: uPlot wants one list of times. */
function dataOf(chart: Chart): uPlot.AlignedData {
  const tables = chart.series.map(({ at_ns, value }): uPlot.AlignedData => [Array.from(at_ns), Array.from(value)]);
  return tables.length === 1 ? tables[0] : uPlot.join(tables);
}

function optionsOf(chart: Chart, theme: Theme, width: number, view: Viewport, onBrush: (range: Range) => void): uPlot.Options {
  const font = "11px system-ui, sans-serif";
  return {
    width,
    height: HEIGHT,
    padding: [6, MARGIN, 2, 0],
    legend: { show: false },
    cursor: { y: false, points: { size: 5 }, drag: { x: true, y: false, setScale: false } },
    scales: { x: { time: false, min: view.from, max: view.to }, y: { range: (_, __, most) => [0, Math.max(most, 1e-9) * 1.08] } },
    axes: [
      { show: false },
      { size: GUTTER, stroke: theme.muted, font, space: 26, gap: 6, grid: { stroke: theme.line, width: 1 }, ticks: { show: false }, values: (_, ticks) => ticks.map((tick) => write(tick, chart.unit)) },
    ],
    series: [
      {},
      ...chart.series.map(({ name }) => ({ stroke: colourOf(theme, name), width: 1.5, spanGaps: true, points: { show: false }, fill: chart.series.length === 1 ? `${colourOf(theme, name)}33` : undefined })),
    ],
    hooks: {
      setSelect: [
        (plot) => {
          const { left, width: wide } = plot.select;
          if (wide > 3) onBrush([Math.max(0, plot.posToVal(left, "x")), plot.posToVal(left + wide, "x")]);
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
    },
  };
}

/** What the timeline tells its charts. */
export interface ChartHandle {
  follow(view: Viewport): void;
  point(x: number): void;
}

export function Plot(props: { chart: Chart; theme: Theme; width: number; view: Viewport; onBrush(range: Range): void; onReady(handle: ChartHandle | null): void }) {
  const { chart, theme, width } = props;
  const ref = useRef<HTMLDivElement>(null);
  const last = useRef(props);
  last.current = props;
  useEffect(() => {
    const plot = new uPlot(optionsOf(chart, theme, width, props.view, (range) => last.current.onBrush(range)), dataOf(chart), ref.current!);
    last.current.onReady({
      follow: (view) => plot.setScale("x", { min: view.from, max: view.to }),
      point: (x) => plot.setCursor({ left: x - GUTTER, top: 0 }, false),
    });
    return () => {
      last.current.onReady(null);
      plot.destroy();
    };
  }, [chart, theme, width]);
  const label = chart.series.map((series) => `${TITLES[series.name] ?? series.name}: at most ${write(maxOf(series.value), chart.unit)}`).join("; ");
  return (
    <div class="draw-chart" role="img" aria-label={label}>
      <p aria-hidden="true">
        {chart.series.length === 1 ? <b>{chart.title}</b> : chart.series.map(({ name }) => <b key={name} style={{ borderColor: colourOf(theme, name) }}>{TITLES[name] ?? name}</b>)}
      </p>
      <div ref={ref} />
    </div>
  );
}

function maxOf(values: Float64Array): number {
  let most = 0;
  for (const value of values) if (value > most) most = value;
  return most;
}
