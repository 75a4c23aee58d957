// Numbers over time, on the axis of the timeline: CPU, memory, GPU.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { bytes } from "../model/format";
import type { Range } from "../state";
import { TITLES, type Chart } from "./charts_data";
import type { Theme } from "./colours";
import { GUTTER, MARGIN } from "./timeline_paint";
import type { Viewport } from "./viewport";

const HEIGHT = 84;
/** Steps of the axis of bytes: powers of 2. */
const BYTES = Array.from({ length: 44 }, (_, i) => 2 ** (i + 6));

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
    padding: [10, MARGIN, 10, 0],
    legend: { show: false },
    cursor: { y: false, points: { size: 5 }, drag: { x: true, y: false, setScale: false } },
    scales: { x: { time: false, min: view.from, max: view.to }, y: { range: (_, __, most) => [0, Math.max(most, 1e-9) * 1.08] } },
    axes: [
      { show: false },
      { size: GUTTER, stroke: theme.muted, font, space: 22, gap: 6, incrs: chart.unit === "bytes" ? BYTES : undefined, grid: { stroke: theme.line, width: 1 }, ticks: { show: false }, values: (_, ticks) => ticks.map((tick) => write(tick, chart.unit)) },
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
