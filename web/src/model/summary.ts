// The facts of a recording that a reader wants first.
import type { Recording, Table } from "../data";
import { withWaiting, type State } from "../state";
import { answer, hasSamples } from "./choose";
import { baseName, bytes, count, duration, percent, plural } from "./format";
import { STATES } from "./metrics";
import { rollup } from "./rollup";
import { kindOfSite } from "./sites";
import { columnIndex, findTable, numbers, texts } from "./table";
import { CPU, overlap, ownValues, WAITING } from "./values";

export interface Fact {
  title: string;
  value: string;
  more: string;
}

function info(recording: Recording, key: string): number {
  return Number(recording.infos[key] ?? 0) || 0;
}

const total = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0);

/** CPU time by what it was, and waiting. */
export function timeParts(recording: Recording, state: State): { name: string; colour: string; value: number }[] {
  const { python_ns, native_ns, system_ns, waiting_ns } = recording.facts;
  const of = (names: readonly string[]) => total(ownValues(recording, names, state.thread, state.range));
  const values = isWhole(state) ? [python_ns, native_ns, system_ns, waiting_ns] : [...CPU.map((name) => of([name])), of(WAITING)];
  return [...CPU, "waiting"].map((name, i) => ({ name: name === "python" ? "Python" : name, colour: name, value: values[i] }));
}

/** What the core has summed up already. */
function isWhole(state: State): boolean {
  return !state.range && state.thread < 0;
}

/** The garbage collections of a thread, of the whole recording or a range. */
export function collections(recording: Recording, { thread, range }: State): { count: number; total: number; max: number } {
  const { events, facts, nodes } = recording;
  if (thread < 0 && !(range && events)) return { count: facts.collections, total: facts.collections_ns, max: facts.longest_ns };
  const isWanted = (node: number) => kindOfSite(recording, nodes.site[node]) === "gc" && (thread < 0 || nodes.track[node] === thread);
  const names = ["count", "total", "max"];
  let columns = names.map((name) => ownValues(recording, [name], thread, null));
  let key = isWanted;
  if (range && events) {
    const parts = events.value.map((_, i) => (i < events.sample_count ? 0 : overlap(events, i, range)));
    columns = [parts.map(Math.sign), parts, events.value];
    key = (i) => parts[i] > 0 && isWanted(events.node[i]);
  }
  const [count, total, max] = rollup(names, columns, (item) => key(item) || undefined).get(true)?.values ?? [0, 0, 0];
  return { count, total, max };
}

/** The core's number of the whole recording; of a thread or a range what is summed up here by the same rule. */
function timeFacts(recording: Recording, state: State): { cpu: number; waited: number } {
  const { facts } = recording;
  if (isWhole(state)) return { cpu: facts.cpu_ns, waited: facts.waiting_ns };
  const of = (names: readonly string[]) => total(ownValues(recording, names, state.thread, state.range));
  return { cpu: of(CPU), waited: of(WAITING) };
}

export function facts(recording: Recording, state: State): Fact[] {
  const length = state.range ? state.range[1] - state.range[0] : recording.length_ns;
  const list: Fact[] = [{ title: state.range ? "selected range" : "length", value: duration(length), more: plural(recording.facts.threads, "thread") }];
  if (hasSamples(recording)) {
    const { cpu, waited } = timeFacts(recording, state);
    const share = length > 0 ? `${percent((100 * cpu) / length)} of one core` : "";
    list.push({ title: "CPU time", value: duration(cpu), more: share });
    list.push({ title: "waited", value: duration(waited), more: "by threads that ran Python" });
  }
  const gc = collections(recording, state);
  if (gc.count > 0) list.push({ title: "garbage collection", value: duration(gc.total), more: `${plural(gc.count, "run")}, longest ${duration(gc.max)}` });
  if (recording.infos.peak_bytes) {
    const at = `at ${duration(info(recording, "peak_at_ns"))}, ± ${bytes(info(recording, "peak_error_bytes"))}`;
    list.push({ title: "memory at the peak", value: bytes(info(recording, "peak_bytes")), more: at });
    list.push({ title: "growth", value: bytes(info(recording, "live_bytes")), more: `not freed, of ${bytes(info(recording, "alloc_bytes"))} allocated` });
    const rate = recording.length_ns > 0 ? `${bytes(info(recording, "copied_bytes") / (recording.length_ns / 1e9))}/s` : "";
    list.push({ title: "copied", value: bytes(info(recording, "copied_bytes")), more: rate });
  }
  return list;
}

/** How far the numbers can be trusted, as rows of a name and a text. */
export function quality(recording: Recording): [string, string][] {
  const rows: [string, string][] = [];
  const { samples } = recording.facts;
  if (samples > 0) {
    const missed = info(recording, "samples_missed");
    rows.push(["samples", `${count(samples)} at ${count(info(recording, "sample_rate_hz"))} Hz`]);
    rows.push(["missed", `${count(missed)} (${percent((100 * missed) / (samples + missed))} of all samples)`]);
    const exact = /sampling error: (±.* at 50%)/.exec(findTable(recording, "lines")?.footer ?? "");
    if (exact) rows.push(["sampling error", exact[1]]);
    const own = info(recording, "own_cpu_ns");
    const cpu = info(recording, "cpu_ns");
    rows.push(["profiler overhead", `${duration(own)} CPU in sonde's threads${cpu ? `, ${percent((100 * own) / cpu)} of all` : ""}`]);
    if (info(recording, "own_torch_ns")) rows.push(["PyTorch's profiler", `${duration(info(recording, "own_torch_ns"))} CPU to start, stop and read`]);
    if (info(recording, "own_sample_cost_ns")) rows.push(["per sample", `up to ${duration(info(recording, "own_sample_cost_ns"))} in a running thread`]);
    if (info(recording, "interrupted_calls")) rows.push(["interrupted", plural(info(recording, "interrupted_calls"), "system call")]);
  }
  if (info(recording, "own_cost_ns")) rows.push(["per region entry", `up to ${duration(info(recording, "own_cost_ns"))}`]);
  if (info(recording, "own_call_cost_ns")) rows.push(["per call", `about ${duration(info(recording, "own_call_cost_ns"))}`]);
  if (info(recording, "own_op_cost_ns")) rows.push(["per operator", `about ${duration(info(recording, "own_op_cost_ns"))}`]);
  if (recording.infos.memory_exact) rows.push(["memory", memoryText(recording)]);
  rows.push(["lost", lostText(recording)]);
  if (!recording.events) rows.push(["timeline", "none: only totals were kept"]);
  if (recording.infos.note) rows.push(["note", recording.infos.note]);
  if (recording.infos.complete === "0") rows.push(["state", "the program was still running, or was killed"]);
  if (recording.pruned) rows.push(["left out of this page", recording.pruned.text]);
  return rows;
}

function memoryText(recording: Recording): string {
  const how = recording.infos.memory_exact === "1" ? "every block" : `one block per ${bytes(info(recording, "memory_interval_bytes"))}`;
  const unseen = info(recording, "memory_unseen_bytes");
  return `${how}; profiler overhead ${bytes(info(recording, "own_memory_bytes"))}${unseen ? `; ${bytes(unseen)} not attributed` : ""}`;
}

function lostText(recording: Recording): string {
  const { dropped_entries: entries, dropped_events: events } = recording.facts;
  return entries || events ? `${plural(entries, "entry").replace("entrys", "entries")}, ${plural(events, "event")}` : "nothing";
}

/** What ran, as rows of a name and a text. */
export function origins(recording: Recording): [string, string][] {
  const { infos } = recording;
  const started = Number(infos.start_realtime_ns ?? 0);
  const rows: [string, string | undefined][] = [
    ["program", infos.program_path || infos.program],
    ["arguments", argumentsText(infos.arguments)],
    ["Python", infos.python],
    ["host", hostText(infos)],
    ["started", started ? new Date(started / 1e6).toISOString().replace("T", " ").slice(0, 19) + " UTC" : undefined],
    ["measured", infos.probes],
    ["sonde", infos.sonde],
  ];
  return rows.filter((row): row is [string, string] => !!row[1]);
}

/** Where it ran, and which process it was; of a merged recording how many there were. */
function hostText(infos: Recording["infos"]): string | undefined {
  const many = Number(infos.processes ?? 0) > 1;
  if (many) return [infos.host, plural(Number(infos.processes), "process").replace("processs", "processes")].filter(Boolean).join(", ");
  return infos.host && `${infos.host}, process ${infos.process_id ?? "?"}${infos.rank ? `, rank ${infos.rank}` : ""}`;
}

function argumentsText(json: string | undefined): string {
  try {
    const list: unknown = JSON.parse(json ?? "[]");
    return Array.isArray(list) ? list.slice(1).map(String).join(" ") : "";
  } catch {
    return json ?? "";
  }
}

export interface Hot {
  place: string;
  text: string;
  value: string;
  share: number;
  parts: number[];
  selection: { name: string; file: string; line: number };
}

/** What a table calls its things: lines by their source, others by their name. */
function hotRow(table: Table, row: number, by: string, share: string): Hot {
  const text = (name: string) => texts(table, name)(row);
  const line = columnIndex(table, "source") >= 0 ? numbers(table, "line")(row) : 0;
  const title = line ? text("source").trim() || text("function") : text("function") || text("name");
  const value = numbers(table, by)(row);
  return {
    place: text("place").startsWith("/") ? baseName(text("place")) : text("place"),
    text: title,
    value: by.endsWith("_bytes") ? bytes(value) : duration(value),
    share: numbers(table, share)(row),
    parts: PARTS.map((part) => numbers(table, `${part}_percent`)(row)),
    selection: { name: text("name") || text("function"), file: text("file"), line },
  };
}

const PARTS = ["python", "native", "system", "waiting"];

/** Threads, sums and what has no place are no answer to where the time goes. */
function isThing(table: Table, row: number): boolean {
  if (columnIndex(table, "source") >= 0) return numbers(table, "line")(row) > 0;
  if (texts(table, "code")(row) === "other") return false;
  return !(table.view === "regions" && table.is_tree && table.depths?.[row] === 0);
}

/** The first rows of a view by a column. */
export function hottest(recording: Recording, state: State, view: string, by: string, share: string, how = 5): Hot[] {
  const table = answer(recording, view, "", state)?.table;
  if (!table || columnIndex(table, by) < 0) return [];
  const value = numbers(table, by);
  const rows = table.rows.map((_, row) => row).filter((row) => value(row) > 0 && isThing(table, row));
  rows.sort((a, b) => value(b) - value(a));
  return rows.slice(0, how).map((row) => {
    const hot = hotRow(table, row, by, share);
    return withWaiting(state) ? hot : { ...hot, parts: hot.parts.slice(0, 3) };
  });
}

/** What threads waited for: lines with at least 0.5% of the time, then idle threads; the sentence about the machine. As the
 * core's summary. */
export function waits(recording: Recording, state: State, how = 5): { rows: Hot[]; machine: string } {
  const table = answer(recording, "waiting", "", state)?.table;
  if (!table) return { rows: [], machine: "" };
  const [ns, kind, note, reason] = [numbers(table, "wait_ns"), ...["kind", "note", "reason"].map((name) => texts(table, name))];
  const all = table.rows.map((_, row) => row);
  const length = state.range ? state.range[1] - state.range[0] : recording.length_ns;
  const sum = all.reduce((total, row) => total + (kind(row) === "machine" ? 0 : ns(row)), 0);
  const isMuch = 100 * sum >= total(ownValues(recording, STATES, state.thread, state.range));
  const isShown = (row: number) => kind(row) === "idle" || (kind(row) !== "machine" && row < how && 200 * ns(row) >= length);
  const rows = all.filter((row) => isMuch && isShown(row)).map((row) => {
    const hot = hotRow(table, row, "wait_ns", "wait_percent");
    const [text, place] = kind(row) === "idle" ? [hot.place, note(row)] : [hot.text || hot.place, hot.place];
    return { ...hot, text, place: `${place} · ${reason(row)}`, parts: [0, 0, 0, hot.share] };
  });
  const machine = all.find((row) => kind(row) === "machine");
  return { rows, machine: machine === undefined ? "" : note(machine) };
}

/** Regions of one name and place on all threads together; the share is of what all threads ran. */
export function hottestRegions(recording: Recording, state: State, how = 5): Hot[] {
  const table = answer(recording, "regions", "", state)?.table;
  if (!table) return [];
  const [total, depth] = [numbers(table, "total_ns"), (row: number) => table.depths?.[row] ?? 1];
  const whole = table.rows.reduce((sum, _, row) => sum + (table.depths ? (depth(row) ? 0 : total(row)) : numbers(table, "self_ns")(row)), 0);
  const hot = table.rows.map((_, row) => hotRow(table, row, "total_ns", ""));
  const sums = rollup(["total"], [Float64Array.from(table.rows, (_, row) => total(row))], (row) => (isThing(table, row) ? `${hot[row].text}\n${hot[row].place}` : undefined));
  const list = [...sums.values()].sort((a, b) => b.values[0] - a.values[0]).slice(0, how);
  return list.map(({ items, values: [ns] }) => ({ ...hot[items[0]], value: duration(ns), share: whole > 0 ? (100 * ns) / whole : 0 }));
}

export interface Leak {
  text: string;
  place: string;
  digits: string;
  selection: Hot["selection"];
}

export function leaks(recording: Recording): Leak[] {
  const table = recording.tables.find((one) => one.view === "leaks");
  if (!table) return [];
  const text = (name: string) => texts(table, name);
  const number = (name: string) => numbers(table, name);
  const rows = table.rows.map((_, row) => row).filter((row) => ["leak", ""].includes(text("verdict")(row)));
  return rows.map((row) => ({
    place: text("place")(row),
    text:
      `grows by ${bytes(number("bytes_per_second")(row))}/s, ${bytes(number("live_bytes")(row))} in total ` +
      `(${Math.round(number("confidence_percent")(row))}% confidence): ${text("source")(row).trim()}`,
    digits: text("timeline")(row),
    selection: { name: text("function")(row), file: text("file")(row), line: number("line")(row) },
  }));
}
