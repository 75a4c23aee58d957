// The summary: what ran, where its time and memory went, and how far the numbers can be trusted.
import type { Selection } from "../state";
import { hasCalls } from "../model/choose";
import { duration, percent } from "../model/format";
import { facts, hottest, leaks, origins, quality, timeParts, type Hot } from "../model/summary";
import type { ViewProps } from "../props";
import { DigitSpark, Stack } from "./bits";

const COLOURS = ["python", "native", "system", "waiting"];

function HotList(props: { title: string; more: string; rows: Hot[]; view: string; onView: ViewProps["onView"] }) {
  if (props.rows.length === 0) return null;
  const most = Math.max(...props.rows.map((row) => row.share), 0.001);
  const isSplit = props.rows.some((row) => row.parts.some((part) => part > 0));
  return (
    <section class="card half" aria-label={props.title}>
      <h2>
        {props.title} <span class="muted">{props.more}</span>
      </h2>
      <table>
        <colgroup>
          <col style={{ width: "76px" }} />
          <col style={{ width: "86px" }} />
          <col style={{ width: "15%" }} />
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
                  label={COLOURS.map((name, i) => `${name} ${percent(row.parts[i])}`).join(", ")}
                  parts={isSplit ? row.parts.map((value, i) => ({ name: COLOURS[i], colour: COLOURS[i], value })) : [{ name: "share", colour: props.view === "memory" ? "memory" : "python", value: row.share }]}
                />
              </td>
              <td class="clip">
                <button class="link clip" style={{ maxWidth: "100%" }} title={`${row.text}\n${row.place}`.slice(0, 2000)}>
                  <span class={row.selection.line ? "code" : "name"}>{row.text.slice(0, 300)}</span>
                </button>
                <div class="muted clip">{row.place.slice(0, 300) || "\u00a0"}</div>
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
    <section class="card half" aria-label={title}>
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
  const parts = timeParts(recording, state);
  const whole = parts.reduce((sum, part) => sum + part.value, 0);
  if (whole === 0) return null;
  return (
    <section aria-label="time">
      <Stack big parts={parts} whole={whole} label="time by what the threads did" />
      <div class="legend">
        {parts.map(({ name, colour, value }) => (
          <span>
            <span class="dot" style={{ background: `var(--${colour})` }} />
            {name} <b>{percent((100 * value) / whole)}</b> <span class="muted">{duration(value)}</span>
          </span>
        ))}
      </div>
    </section>
  );
}

function Leaks({ recording, onView }: ViewProps) {
  if (!recording.infos.peak_bytes) return null;
  const found = leaks(recording);
  return (
    <section class="card half" aria-label="Leaks">
      <h2>Leaks</h2>
      {found.length === 0 && <p class="muted">No line's memory grows and grows.</p>}
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

export function Summary(props: ViewProps) {
  const { recording, state, onView } = props;
  const lists = { recording, state };
  const hot = (view: string, by: string, share: string) => hottest(lists.recording, lists.state, view, by, share);
  const time = "by CPU time and waiting";
  return (
    <div class="summary">
      <h1 class="clip" title={recording.infos.program}>
        {recording.infos.program || "a recording"}
      </h1>
      <section class="facts" aria-label="facts">
        {facts(recording, state).map(({ title, value, more }) => (
          <div class="fact" key={title}>
            <span>{title}</span>
            <b>{value}</b>
            <span class="clip">{more || "\u00a0"}</span>
          </div>
        ))}
      </section>
      <TimeBar {...props} />
      <HotList title="Hottest lines" more={time} view="lines" onView={onView} rows={hot("lines", "time_ns", "percent")} />
      <HotList title="Hottest functions" more="by time of their own" view="lines" onView={onView} rows={hot("sampled_functions", "self_ns", "self_percent")} />
      {hasCalls(recording) && (
        <HotList title="Hottest calls" more="by time of their own, measured exactly" view="calls" onView={onView} rows={hot("functions", "self_ns", "percent_of_time")} />
      )}
      <HotList title="Regions" more="by total time" view="regions" onView={onView} rows={hot("regions", "total_ns", "percent_of_total")} />
      <HotList title="Operators" more="by time of their own" view="ops" onView={onView} rows={hot("ops", "self_ns", "self_percent")} />
      <HotList title="Memory at the peak" more="lines that owned it" view="memory" onView={onView} rows={hot("memory", "peak_bytes", "peak_percent")} />
      <Leaks {...props} />
      <HotList title="Copies" more="lines that copied most" view="memory" onView={onView} rows={hot("copies", "copied_bytes", "copied_percent")} />
      <Pairs title="Quality" rows={quality(recording)} />
      <Pairs title="Run" rows={origins(recording)} />
    </div>
  );
}
