// The flame graph: boxes as wide as what they stand for, caller and callee above each other.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { sameSelection } from "../state";
import { coloursByFile, rankFiles, type Theme } from "./colours";
import { amount, detailsOf, labelOf, sayFrame } from "./describe";
import { flameModel, mostScroll, ROW, rowAt, topOf, type FlameModel } from "./flame_model";
import { paintFlame, type Look, type Pointed } from "./flame_paint";
import { baseName } from "../model/format";
import { Bar, Choice, framed, Legend, Live, option, Remarks, selectionOf, Toggle, Tooltip, whatOf, type FramedProps, type Tip } from "./parts";
import { findFrames } from "./frames/search";
import { follow, useStage, useTheme, useWheel } from "./stage";
import { ARROWS, keyMoves, Viewport, wheelMoves } from "./viewport";
import "./draw.css";

export const Flame = framed("flame", FlameView);

function useModel({ state, drawn, names }: FramedProps, selected: number): FlameModel {
  const choose = (name: string) => state.options[`flame.${name}`];
  const [isUp, isTime, isInverted] = [choose("shape") === "flame", choose("order") === "time", choose("invert") === "1"];
  const middle = choose("sandwich") === "1" && drawn.frames.what.includes(selected) ? selected : -1;
  return useMemo(
    () => flameModel(drawn.frames, names, drawn.measure.from, { isUp, isTime, isInverted, sandwich: middle, thread: state.thread }),
    [drawn.frames, isUp, isTime, isInverted, middle, state.thread],
  );
}

function useLook(props: FramedProps, theme: Theme, selected: number): Look {
  const { names, drawn, state } = props;
  const isByState = state.options["flame.colour"] === "state";
  const colours = useMemo(() => (isByState ? null : coloursByFile(theme, names, rankFiles(drawn.frames, names))), [theme, drawn.frames, isByState]);
  const found = useMemo(() => findFrames(drawn.frames, names, state.search), [drawn.frames, state.search]);
  return { theme, names, colours, found, selected };
}

/** Where one has zoomed to, as it stands in the address: parts of the axis, and of which one. */
function axisOf({ state, drawn }: FramedProps, model: FlameModel): string {
  const names = ["order", "invert", "fold"].map((name) => state.options[`flame.${name}`] ?? "");
  return [drawn.measure.id, state.thread, ...names, model.above].join("_");
}

function readZoom(text: string | undefined, axis: string): [number, number] | null {
  const [of, from, to] = (text ?? "").split("~");
  return of === axis && Number(to) > Number(from) ? [Number(from), Number(to)] : null;
}

/** The part of the axis that is seen; follows the address. */
function useViewport(props: FramedProps, model: FlameModel, redraw: () => void): Viewport {
  const axis = axisOf(props, model);
  const last = useRef({ props, axis });
  last.current = { props, axis };
  const view = useRef<Viewport | null>(null);
  view.current ??= new Viewport(redraw, () => writeZoom(last.current.props, last.current.axis, view.current!, false));
  const shown = useRef<FlameModel | null>(null);
  const zoom = props.state.options["flame.zoom"];
  if (shown.current !== model) {
    shown.current = model;
    view.current.reset(model.whole, model.least);
    const start = readZoom(zoom, axis) ?? (model.isTime && props.state.range ? props.state.range.map((at) => at / model.whole) : null);
    if (start) view.current.set(start[0] * model.whole, start[1] * model.whole);
  }
  useEffect(() => {
    const [from, to] = readZoom(zoom, axis) ?? [0, 1];
    const now = view.current!;
    if (zoom !== undefined && Math.abs(now.from / now.whole - from) + Math.abs(now.to / now.whole - to) > 1e-5)
      now.glide(from * now.whole, to * now.whole);
    if (zoom === undefined && !now.isWhole && !(model.isTime && props.state.range)) now.glide(0, now.whole);
  }, [zoom]);
  useEffect(() => () => view.current?.stop(), []);
  return view.current;
}

function writeZoom(props: FramedProps, axis: string, view: Viewport, push: boolean, from = view.from, to = view.to): void {
  const isWhole = from <= 0 && to >= view.whole;
  const text = isWhole ? null : [axis, (from / view.whole).toPrecision(7), (to / view.whole).toPrecision(7)].join("~");
  if ((props.state.options["flame.zoom"] ?? null) !== text) props.onOption("flame.zoom", text, push);
}

function FlameView(props: FramedProps) {
  const { names, drawn, state } = props;
  const theme = useTheme();
  const selected = useMemo(() => whatOf(names, state.selection), [names, state.selection]);
  const model = useModel(props, selected);
  const look = useLook(props, theme, selected);
  const [tip, setTip] = useState<Tip | null>(null);
  const [said, setSaid] = useState("");
  const scroll = useRef(0);
  const hover = useRef<Pointed | null>(null);
  const focus = useRef<Pointed | null>(null);
  const shown = useRef<FlameModel | null>(null);

  const stage = useStage((context, width, height) => {
    if (shown.current !== model) {
      shown.current = model;
      hover.current = focus.current = null;
      scroll.current = model.above >= 0 ? (model.above + 0.5) * ROW - height * 0.4 : 0;
    }
    scroll.current = Math.min(mostScroll(model, height), Math.max(0, scroll.current));
    paintFlame(context, width, height, model, view, scroll.current, look, hover.current, focus.current);
  });
  const view = useViewport(props, model, stage.redraw);
  const whole = drawn.frames.total[0];

  const size = () => stage.ref.current!.getBoundingClientRect();
  const placeOf = (x: number) => view.from + (x / size().width) * (view.to - view.from);

  function pointed(x: number, y: number): Pointed | null {
    for (const panel of model.panels) {
      const row = rowAt(model, panel, y, size().height, scroll.current);
      const frame = row < 0 || (model.above >= 0 && panel.isUp && row === 0) ? -1 : panel.at(placeOf(x), row);
      if (frame >= 0) return { panel, frame };
    }
    return null;
  }

  function point(x: number, y: number): void {
    const now = pointed(x, y);
    const isSame = now?.frame === hover.current?.frame && now?.panel === hover.current?.panel;
    hover.current = now;
    if (!isSame) stage.redraw();
    setTip(now && { title: labelOf(now.panel.frames, names, now.frame), rows: detailsOf(now.panel.frames, names, now.frame, drawn.measure, model.isTime && now.panel.frames.parts === null ? model.whole : whole), x, y });
  }

  function leave(): void {
    hover.current = null;
    setTip(null);
    stage.redraw();
  }

  /** Zooms to the box, selects its function: one step for Back. */
  function enter({ panel, frame }: Pointed): void {
    focus.current = { panel, frame };
    say();
    const selection = selectionOf(names, panel.frames.what[frame]);
    const isNew = selection !== null && !sameSelection(selection, state.selection) && state.options["flame.sandwich"] !== "1";
    if (isNew) props.onSelect(selection);
    const extent = panel.extent(frame);
    if (!extent) return stage.redraw();
    view.glide(extent[0], extent[1]);
    writeZoom(props, axisOf(props, model), view, !isNew, extent[0], extent[1]);
  }

  /** In a sandwich: the function of the box becomes its middle. */
  function select(): void {
    const selection = focus.current && selectionOf(names, focus.current.panel.frames.what[focus.current.frame]);
    if (selection) props.onSelect(selection);
  }

  function say(): void {
    const now = focus.current;
    setSaid(now ? sayFrame(now.panel.frames, names, now.frame, drawn.measure, whole) : "");
  }

  /** To the caller, a callee, or a neighbour. */
  function step(key: string): void {
    const panel = focus.current?.panel ?? model.panels[0];
    const { parent, first, kids } = panel.frames;
    const frame = focus.current?.frame ?? -1;
    const isDown = (key === "ArrowDown") !== panel.isUp;
    let next = frame;
    if (frame < 0) next = 0;
    else if (key === "ArrowLeft" || key === "ArrowRight") {
      const siblings: ArrayLike<number> = frame > 0 ? kids.subarray(first[parent[frame]], first[parent[frame] + 1]) : [];
      next = siblings[Array.from(siblings).indexOf(frame) + (key === "ArrowLeft" ? -1 : 1)] ?? frame;
    } else if (isDown) next = kids.length > 0 && first[frame] < first[frame + 1] ? kids[first[frame]] : frame;
    else next = Math.max(0, parent[frame]);
    focus.current = { panel, frame: next };
    reveal(focus.current);
    say();
  }

  function reveal({ panel, frame }: Pointed): void {
    const height = size().height;
    const row = panel.frames.depth[frame];
    const top = topOf(model, panel, row, height, scroll.current);
    const by = top < 0 ? top - ROW : top + ROW > height ? top + 2 * ROW - height : 0;
    scroll.current += panel.isUp && model.above < 0 ? -by : by;
    const extent = panel.extent(frame);
    if (extent && (extent[0] >= view.to || extent[1] <= view.from)) view.glide(extent[0], extent[1]);
    stage.redraw();
  }

  function onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isArrow = event.key.startsWith("Arrow");
    if (isArrow && model.isTime) keyMoves(view, ARROWS[event.key]);
    else if (isArrow) step(event.key);
    else if (event.key === "Enter" && focus.current) (event.shiftKey ? select : enter)(focus.current);
    else if (event.key === "PageDown" || event.key === "PageUp") {
      scroll.current += (event.key === "PageDown" ? 1 : -1) * size().height * 0.8;
      stage.redraw();
    } else if (!keyMoves(view, event.key)) return;
    else if (event.key === "0") writeZoom(props, "", view, true, 0, view.whole);
    event.preventDefault();
    event.stopPropagation();
  }

  function onPointerDown(event: PointerEvent): void {
    if (event.button !== 0) return;
    const start = event;
    let last = event;
    let isDrag = false;
    const move = (next: PointerEvent) => {
      isDrag ||= Math.abs(next.offsetX - start.offsetX) + Math.abs(next.offsetY - start.offsetY) > 4;
      if (!isDrag) return;
      setTip(null);
      view.pan((last.offsetX - next.offsetX) / size().width);
      scroll.current += (last.offsetY - next.offsetY) * (model.panels[0].isUp && model.above < 0 ? -1 : 1);
      last = next;
    };
    follow(event, move, (next, isDone) => {
      const target = isDone && !isDrag ? pointed(next.offsetX, next.offsetY) : null;
      if (target) enter(target);
    });
  }

  useWheel(stage.ref, (event) => {
    wheelMoves(view, event, size().width, placeOf(event.offsetX));
    setTip(null);
  });

  const label = `Flame graph of ${drawn.measure.title}: ${amount(whole, drawn.measure)} in ${drawn.frames.count} frames. Arrows move, Enter zooms.`;
  return (
    <section class="draw" aria-label="Flame graph">
      <FlameBar {...props} selected={selected} theme={theme} look={look} />
      <Remarks texts={[...drawn.remarks, model.remark]} />
      <div class="draw-place">
        <canvas ref={stage.ref} data-keys tabIndex={0} role="application" aria-label={label} onKeyDown={onKey} onPointerDown={onPointerDown} onDblClick={select}
          onPointerMove={(event) => event.buttons === 0 && point(event.offsetX, event.offsetY)} onPointerLeave={leave} />
        <Tooltip tip={tip} />
      </div>
      <Live text={said} />
    </section>
  );
}

function FlameBar(props: FramedProps & { selected: number; theme: Theme; look: Look }) {
  const { drawn, names, recording, look, theme } = props;
  const [shape, setShape] = option(props, "flame.shape", "icicle");
  const [order, setOrder] = option(props, "flame.order", "heavy");
  const [invert, setInvert] = option(props, "flame.invert", "0");
  const [middle, setMiddle] = option(props, "flame.sandwich", "0");
  const [colour, setColour] = option(props, "flame.colour", "file");
  const flag = (isOn: boolean) => (isOn ? "1" : "0");
  const files = rankFiles(drawn.frames, names).slice(0, 5);
  const items = [...files.map((file, i) => [baseName(recording.texts[file]), theme.files[i]] as const), ["libraries, native", theme.others[0]] as const];
  return (
    <Bar {...props} view="flame" found={look.found}>
      <Choice title="Shape" value={shape} options={[["icicle", "icicle"], ["flame", "flame"]]} onChange={setShape} />
      <Choice title="Order" value={order} options={[["heavy", "left-heavy"], ["time", "time"]]} onChange={setOrder} />
      <Choice title="Colour" value={colour} options={[["file", "file"], ["state", "Python / native"]]} onChange={setColour} />
      <Toggle title="Inverted" isOn={invert === "1"} hint="Callees first: where the time goes" onChange={(isOn) => setInvert(flag(isOn))} />
      <Toggle title="Sandwich" isOn={middle === "1"} isOff={props.selected < 0 && middle !== "1"} hint="Callers and callees of the selected function" onChange={(isOn) => setMiddle(flag(isOn))} />
      {colour === "state" ? <Legend theme={theme} /> : <Legend theme={theme} items={items} />}
    </Bar>
  );
}

