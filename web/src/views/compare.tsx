// Two recordings: what got more (red, to the right) and what got less (blue, to the left).
import { useMemo } from "preact/hooks";
import type { Recording } from "../data";
import { compare, normalise, pairsTable, relative, subjects } from "../model/compare";
import { bytes, difference, duration, visible } from "../model/format";
import type { ViewProps } from "../props";
import { Choice, Empty } from "./bits";
import { Grid } from "./grid";

function kindOf(change: number): string {
  return Math.abs(change) < 0.05 ? "" : change > 0 ? "more" : "less";
}

function Total({ title, a, b, write }: { title: string; a: number; b: number; write(value: number): string }) {
  if (!a && !b) return null;
  const change = relative({ a, b });
  return (
    <div class="fact">
      <span>{title}</span>
      <b class={kindOf(change ?? 100)}>{difference(change, "percent")}</b>
      <span class="clip">
        {write(a)} → {write(b)}
      </span>
    </div>
  );
}

function Totals({ a, b }: { a: Recording; b: Recording }) {
  const of = (recording: Recording, key: string) => Number(recording.infos[key] ?? 0);
  return (
    <section class="facts" style={{ padding: "12px 16px 4px" }} aria-label="totals">
      <div class="fact">
        <span>compared</span>
        <div class="clip">{nameOf(a)}</div>
        <div class="clip">{nameOf(b)}</div>
      </div>
      <Total title="length" a={a.length_ns} b={b.length_ns} write={duration} />
      <Total title="CPU time" a={of(a, "cpu_ns")} b={of(b, "cpu_ns")} write={duration} />
      <Total title="memory at the peak" a={of(a, "peak_bytes")} b={of(b, "peak_bytes")} write={bytes} />
      <Total title="allocated" a={of(a, "alloc_bytes")} b={of(b, "alloc_bytes")} write={bytes} />
      <Total title="copied" a={of(a, "copied_bytes")} b={of(b, "copied_bytes")} write={bytes} />
    </section>
  );
}

export function Compare(props: ViewProps) {
  const { recording: a, other: b, state, onOption } = props;
  if (!b) return <Empty>There is one recording in this page. Two are compared with: sonde report FIRST SECOND.</Empty>;
  const list = subjects(a, b);
  const subject = list.find((one) => one.id === state.options["compare.what"]) ?? list[0];
  if (!subject) return <Empty>These two recordings have nothing in common that could be compared.</Empty>;
  const isShare = state.options["compare.as"] === "share";
  const pairs = useMemo(() => {
    const found = compare(a, b, subject);
    return isShare ? normalise(found) : found;
  }, [a, b, subject, isShare]);
  const table = useMemo(() => pairsTable(pairs, isShare ? "percent" : subject.unit, !!subject.isLine), [pairs]);
  return (
    <>
      <Totals a={a} b={b} />
      <Grid
        table={table}
        label="comparison"
        search={state.search}
        selection={state.selection}
        onSelect={props.onSelect}
        sort={state.options["compare.sort"] ?? null}
        onSort={(sort) => onOption("compare.sort", sort)}
      >
        <Choice label="what" value={subject.id} choices={list.map((one) => [one.id, one.title] as const)} onChange={(value) => onOption("compare.what", value, true)} />
        <Choice
          label="as"
          value={isShare ? "share" : "absolute"}
          choices={[
            ["absolute", "Absolute"],
            ["share", "Share of each run"],
          ]}
          onChange={(value) => onOption("compare.as", value === "share" ? "share" : null)}
        />
        <span class="muted">
          <span class="dot" style={{ background: "var(--b)" }} />
          more in the second <span class="dot" style={{ background: "var(--a)", marginInlineStart: "10px" }} />
          less
        </span>
      </Grid>
    </>
  );
}

/** The program and, since that is often the same, when it started. */
function nameOf(recording: Recording): string {
  const started = Number(recording.infos.start_realtime_ns ?? 0);
  const at = started ? new Date(started / 1e6).toISOString().slice(11, 19) : "";
  return visible(`${(recording.infos.program ?? "").slice(0, 60)} ${at}`);
}
