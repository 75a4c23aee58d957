// The summary: what ran, where its time and memory went, and how far the numbers can be trusted.
import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import { withWaiting, type Selection } from "../state";
import { hasCalls } from "../model/choose";
import { duration, percent, visible } from "../model/format";
import { facts, hottest, hottestRegions, leaks, origins, quality, timeParts, waits, type Hot } from "../model/summary";
import type { ViewProps } from "../props";
import { DigitSpark, Stack } from "./bits";

const COLOURS = ["python", "native", "system", "waiting"];

function HotList(props: { title: string; more: string; rows: Hot[]; view: string; onView: ViewProps["onView"] }) {
  if (props.rows.length === 0) return null;
  const most = Math.max(...props.rows.map((row) => row.share), 0.001);
  const isSplit = props.rows.some((row) => row.parts.some((part) => part > 0));
  return (
    <section class="card" aria-label={props.title}>
      <h2>
        {props.title} <span class="muted">{props.more}</span>
      </h2>
      <table>
        <colgroup>
          <col style={{ width: "76px" }} />
          <col style={{ width: "94px" }} />
          <col style={{ width: "14%" }} />
          <col />
        </colgroup>
        <tbody>
          {props.rows.map((row) => (
            <tr class="go" onClick={() => props.onView(props.view, row.selection)}>
              <td class="num" style={{ paddingInlineEnd: 0 }}>
                {percent(row.share)}
              </td>
              <td class="num muted">{row.value}</td>
              <td style={{ paddingInline: 0 }}>
                <Stack
                  whole={most}
                  label={row.parts.map((part, i) => `${COLOURS[i]} ${percent(part)}`).join(", ")}
                  parts={isSplit ? row.parts.map((value, i) => ({ name: COLOURS[i], colour: COLOURS[i], value })) : [{ name: "share", colour: props.view === "memory" ? "memory" : "python", value: row.share }]}
                />
              </td>
              <td class="clip">
                <button class="link clip" style={{ maxWidth: "100%" }} title={`${row.text}\n${row.place}`.slice(0, 2000)}>
                  <span class={row.selection.line ? "code" : "name"}>{visible(row.text.slice(0, 300))}</span>
                </button>
                {row.place && <div class="muted clip">{visible(row.place.slice(0, 300))}</div>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Pairs({ title, rows }: { title: string; rows: [string, string][] }) {
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      <table>
        <colgroup>
          <col style={{ width: "160px" }} />
          <col />
        </colgroup>
        <tbody>
          {rows.map(([name, text]) => (
            <tr>
              <th scope="row">{name}</th>
              <td style={{ overflowWrap: "anywhere" }}>{text.slice(0, 1000)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function TimeBar({ recording, state }: ViewProps) {
  const parts = useMemo(() => timeParts(recording, state), [recording, state.range, state.thread]);
  const whole = parts.reduce((sum, part) => sum + part.value, 0);
  if (whole === 0) return null;
  return (
    <section aria-label="time">
      <Stack big parts={parts} whole={whole} label="time by what threads did" />
      <div class="legend">
        {parts.map(({ name, colour, value }) => (
          <span>
            <span class="dot" style={{ background: `var(--${colour})` }} />
            {name} <b>{percent((100 * value) / whole)}</b> <span class="muted">{duration(value)}</span>
          </span>
        ))}
      </div>
      {waits(recording, state).machine && <p class="note">{waits(recording, state).machine}</p>}
    </section>
  );
}

function Leaks({ recording, onView }: ViewProps) {
  if (!recording.infos.peak_bytes) return null;
  const found = leaks(recording);
  return (
    <section class="card" aria-label="Leaks">
      <h2>Leaks</h2>
      {found.length === 0 && <p class="muted">No leaks found.</p>}
      {found.length > 0 && (
        <table>
          <colgroup>
            <col style={{ width: "110px" }} />
            <col />
          </colgroup>
          <tbody>
            {found.slice(0, 5).map((leak) => (
              <tr class="go" onClick={() => onView("lines", leak.selection as Selection)}>
                <td>
                  <DigitSpark digits={leak.digits} />
                </td>
                <td>
                  <button class="link">{leak.place}</button> <span style={{ overflowWrap: "anywhere" }}>{leak.text.slice(0, 400)}</span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

/** What the cards are, and about how high: they go to the shorter of two columns, in their order. */
function cards(props: ViewProps): [height: number, card: VNode][] {
  const { recording, state, onView } = props;
  const list = (title: string, more: string, view: string, rows: Hot[]): [number, VNode] => [
    rows.length ? 1 + rows.length : 0,
    <HotList key={title} title={title} more={more} view={view} rows={rows} onView={onView} />,
  ];
  const hot = (view: string, by: string, share: string) => hottest(recording, state, view, by, share);
  const calls = hasCalls(recording) ? hot("functions", "self_ns", state.range ? "self_percent" : "percent_of_time") : [];
  const isAll = withWaiting(state);
  const by = isAll ? "by CPU plus waiting time" : "by CPU time";
  const pairs = (title: string, rows: [string, string][]): [number, VNode] => [1 + rows.length * 0.7, <Pairs key={title} title={title} rows={rows} />];
  return [
    list("Hottest lines", by, "lines", hot("lines", isAll ? "time_ns" : "cpu_ns", "percent")),
    list("Hottest functions", `${by}, without callees`, "lines", hot("sampled_functions", isAll ? "self_ns" : "self_cpu_ns", "self_percent")),
    list("Waiting", "share of all waiting", "lines", waits(recording, state).rows),
    list("Calls", "by self time, every call measured", "calls", calls),
    list("Regions", "by total time", "regions", hottestRegions(recording, state)),
    list("Operators", "by self time", "ops", hot("ops", "self_ns", "self_percent")),
    list("Memory at the peak", "by line", "memory", hot("memory", "peak_bytes", "peak_percent")),
    [recording.infos.peak_bytes ? 2 : 0, <Leaks key="leaks" {...props} />],
    list("Copies", "lines that copied most", "memory", hot("copies", "copied_bytes", "copied_percent")),
    pairs("Quality", quality(recording)),
    pairs("Run", origins(recording)),
  ];
}

function Columns(props: ViewProps) {
  const columns: [VNode[], VNode[]] = [[], []];
  const heights = [0, 0];
  cards(props).forEach(([height, card], i) => {
    if (height === 0) return;
    const at = heights[0] <= heights[1] ? 0 : 1;
    columns[at].push(<div style={{ order: i }}>{card}</div>); // the order counts where there is one column
    heights[at] += height;
  });
  return (
    <div class="columns">
      <div>{columns[0]}</div>
      <div>{columns[1]}</div>
    </div>
  );
}

export function Summary(props: ViewProps) {
  const { recording, state } = props;
  const known = useMemo(() => facts(recording, state), [recording, state.range, state.thread]);
  return (
    <div class="summary">
      <h1 class="clip name" title={recording.infos.program_path ?? recording.infos.program}>
        {visible((recording.infos.program || "a recording").slice(0, 300))}
      </h1>
      <section class="facts" aria-label="facts">
        {known.map(({ title, value, more }) => (
          <div class="fact" key={title}>
            <span>{title}</span>
            <b>{value}</b>
            <span>{more || "\u00a0"}</span>
          </div>
        ))}
      </section>
      <TimeBar {...props} />
      <Columns {...props} />
    </div>
  );
}
