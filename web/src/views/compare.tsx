// Two recordings: what got more (red, to the right) and what got less (blue, to the left).
import { useMemo } from "preact/hooks";
import type { Recording } from "../data";
import { comparison, kindOf, subjects, totals, type Total } from "../model/compare";
import { quantity, visible } from "../model/format";
import type { ViewProps } from "../props";
import { Choice, Empty } from "./bits";
import { Grid } from "./grid";

function TotalFact({ total }: { total: Total }) {
  return (
    <div class="fact">
      <span>{total.name}</span>
      <b class={kindOf(total.verdict)}>{total.change || total.verdict}</b>
      <span class="clip">
        {quantity(total.before, total.unit)} → {quantity(total.after, total.unit)}
      </span>
      <span class="clip">{total.verdict}</span>
    </div>
  );
}

function Totals({ a, b }: { a: Recording; b: Recording }) {
  return (
    <section class="facts" style={{ padding: "12px 16px 4px" }} aria-label="totals">
      <div class="fact">
        <span>compared</span>
        <div class="clip">{nameOf(a)}</div>
        <div class="clip">{nameOf(b)}</div>
      </div>
      {totals(b).map((total) => (
        <TotalFact key={total.name} total={total} />
      ))}
    </section>
  );
}

export function Compare(props: ViewProps) {
  const { recording: a, other: b, state, onOption } = props;
  if (!b) return <Empty>This page has one recording. To compare two: sonde report FIRST SECOND.</Empty>;
  const list = useMemo(() => subjects(b), [b]);
  const subject = list.find((one) => one.id === state.options["compare.what"]) ?? list.find((one) => one.id === "functions") ?? list[0];
  if (!subject) return <Empty>These two recordings have nothing in common to compare.</Empty>;
  const isShare = state.options["compare.as"] === "share";
  const table = useMemo(() => comparison(subject, isShare), [subject, isShare]);
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
          {subject.table.footer}; <span class="dot" style={{ background: "var(--b)" }} />
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
