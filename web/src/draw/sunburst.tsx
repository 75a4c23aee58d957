// The sunburst: callers inside, callees around them, as accelerate.profiler.plot and snakeviz draw it.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { sameSelection } from "../state";
import { arcAt, arcsOf, type Arc } from "./arcs";
import { coloursByFile, inkOn, rankFiles, type Theme } from "./colours";
import { amount, amountAndShare, detailsOf, labelOf, sayFrame, share } from "./describe";
import type { Frames } from "./frames/frames";
import { placeOf, type Names } from "./frames/names";
import { Bar, Choice, framed, Live, option, Remarks, selectionOf, Tooltip, whatOf, type FramedProps, type Tip } from "./parts";
import { findFrames, type Found } from "./frames/search";
import type { Drawn } from "./frames/source";
import { fit, FONT, oneLine, useStage, useTheme } from "./stage";
import { ARROWS } from "./viewport";
import "./draw.css";

export const Sunburst = framed("sunburst", SunburstView);

/** The middle, as it stands in the address: a frame, and of which tree. */
function middleOf({ state, drawn }: FramedProps): number {
  const [of, frame] = (state.options["sunburst.zoom"] ?? "").split("~");
  return of === treeOf({ state, drawn }) && Number(frame) < drawn.frames.count ? Number(frame) : 0;
}

function treeOf({ state, drawn }: Pick<FramedProps, "state" | "drawn">): string {
  return [drawn.measure.id, state.thread, state.range?.join("-") ?? "", state.options["sunburst.fold"] ?? ""].join("_");
}

interface Geometry {
  x: number;
  y: number;
  ring: number;
}

function geometryOf(width: number, height: number, rings: number): Geometry {
  return { x: width / 2, y: height / 2, ring: (Math.min(width, height) / 2 - 8) / (rings + 1) };
}

/** Ring 0 is the middle; -1: outside. Angles begin at the top. */
function polar(geometry: Geometry, x: number, y: number): { ring: number; angle: number } {
  const [dx, dy] = [x - geometry.x, y - geometry.y];
  const angle = (Math.atan2(dx, -dy) / (2 * Math.PI) + 1) % 1;
  return { ring: Math.floor(Math.hypot(dx, dy) / geometry.ring), angle };
}

interface Look {
  theme: Theme;
  colours: string[];
  found: Found | null;
  selected: number;
  marked: number;
}

function trace(context: CanvasRenderingContext2D, { x, y, ring }: Geometry, arc: Arc): void {
  const turn = (angle: number) => (angle - 0.25) * 2 * Math.PI;
  context.beginPath();
  context.arc(x, y, (arc.ring + 1) * ring - 1, turn(arc.from), turn(arc.to));
  context.arc(x, y, arc.ring * ring, turn(arc.to), turn(arc.from), true);
  context.closePath();
}

/** Along the ring where there is more room than across it. */
function paintLabel(context: CanvasRenderingContext2D, geometry: Geometry, arc: Arc, label: string): void {
  const radius = (arc.ring + 0.5) * geometry.ring;
  const angle = (arc.to - arc.from) * 2 * Math.PI;
  if (angle * radius < 13) return;
  const bend = Math.max(0, geometry.ring / 2 - 6); // so far may straight letters leave the middle of the ring
  const along = 2 * Math.min(radius * Math.sin(Math.min(angle, Math.PI) / 2) - 4, Math.sqrt(2 * radius * bend - bend * bend));
  const isAlong = along > geometry.ring && geometry.ring > 13;
  const text = fit(context, label, isAlong ? along : geometry.ring - 2);
  if (!text) return;
  const middle = (arc.from + arc.to) / 2;
  const isTurned = isAlong ? middle > 0.25 && middle < 0.75 : middle > 0.5;
  context.save();
  context.translate(geometry.x, geometry.y);
  context.rotate((middle - 0.25) * 2 * Math.PI);
  context.translate(radius, 0);
  context.rotate((isAlong ? Math.PI / 2 : 0) + (isTurned ? Math.PI : 0));
  context.textAlign = "center";
  context.fillText(text, 0, 4);
  context.restore();
}

function paintArcs(context: CanvasRenderingContext2D, geometry: Geometry, frames: Frames, names: Names, arcs: Arc[], look: Look): void {
  context.font = FONT;
  context.lineWidth = 1;
  for (const arc of arcs) {
    const what = frames.what[arc.frame];
    const isHit = !look.found || look.found.isHit[what] === 1;
    trace(context, geometry, arc);
    context.globalAlpha = isHit ? 1 : 0.3;
    context.fillStyle = look.colours[what];
    context.fill();
    context.strokeStyle = look.theme.background;
    context.stroke();
    context.fillStyle = isHit ? inkOn(look.colours[what]) : look.theme.muted;
    paintLabel(context, geometry, arc, labelOf(frames, names, arc.frame));
  }
  context.globalAlpha = 1;
  for (const arc of arcs) {
    const isMarked = arc.frame === look.marked;
    if (!isMarked && frames.what[arc.frame] !== look.selected) continue;
    trace(context, geometry, arc);
    context.lineWidth = isMarked ? 3 : 2;
    context.strokeStyle = isMarked ? look.theme.accent : look.theme.text;
    context.stroke();
  }
}

function paintMiddle(context: CanvasRenderingContext2D, geometry: Geometry, { frames, measure }: Drawn, names: Names, middle: number, theme: Theme): void {
  const { x, y, ring } = geometry;
  context.beginPath();
  context.arc(x, y, ring - 1, 0, 2 * Math.PI);
  context.fillStyle = theme.line;
  context.fill();
  context.fillStyle = theme.text;
  context.textAlign = "center";
  context.fillText(fit(context, labelOf(frames, names, middle), ring * 1.8), x, y - 4);
  context.fillText(fit(context, amount(frames.total[middle], measure), ring * 1.8), x, y + 11);
  context.textAlign = "left";
}

function SunburstView(props: FramedProps) {
  const { drawn, names, state } = props;
  const { frames, measure } = drawn;
  const theme = useTheme();
  const middle = middleOf(props);
  const [depthText, setDepth] = option(props, "sunburst.depth", "8");
  const [cutoffText, setCutoff] = option(props, "sunburst.cutoff", "0.5");
  const rings = Math.min(30, Math.max(1, Number(depthText) || 8));
  const cutoff = Math.max(0.0005, (Number(cutoffText) || 0.5) / 100);
  const arcs = useMemo(() => arcsOf(frames, middle, rings, cutoff), [frames, middle, rings, cutoff]);
  const deepest = Math.max(1, ...arcs.map((arc) => arc.ring));
  const colours = useMemo(() => coloursByFile(theme, names, rankFiles(frames, names)), [theme, frames]);
  const found = useMemo(() => findFrames(frames, names, state.search), [frames, state.search]);
  const selected = useMemo(() => whatOf(names, state.selection), [names, state.selection]);
  const [marked, setMarked] = useState(-1);
  const [tip, setTip] = useState<Tip | null>(null);
  const [said, setSaid] = useState("");
  const isKeyboard = useRef(false);
  useEffect(() => setMarked(-1), [frames, middle]);

  const stage = useStage((context, width, height) => {
    context.globalAlpha = 1;
    context.fillStyle = theme.background;
    context.fillRect(0, 0, width, height);
    const geometry = geometryOf(width, height, deepest);
    paintArcs(context, geometry, frames, names, arcs, { theme, colours, found, selected, marked });
    paintMiddle(context, geometry, drawn, names, middle, theme);
  });

  function at(event: MouseEvent): number {
    const box = stage.ref.current!.getBoundingClientRect();
    const { ring, angle } = polar(geometryOf(box.width, box.height, deepest), event.offsetX, event.offsetY);
    return ring === 0 ? middle : arcAt(arcs, ring, angle);
  }

  function zoom(frame: number): void {
    const selection = selectionOf(names, frames.what[frame]);
    const isNew = selection !== null && !sameSelection(selection, state.selection);
    if (isNew) props.onSelect(selection);
    props.onOption("sunburst.zoom", frame > 0 ? `${treeOf(props)}~${frame}` : null, !isNew);
  }

  function point(event: PointerEvent): void {
    const frame = at(event);
    isKeyboard.current = false;
    setMarked(frame === middle ? -1 : frame);
    setTip(frame < 0 ? null : { title: labelOf(frames, names, frame), rows: detailsOf(frames, names, frame, measure, frames.total[0]), x: event.offsetX, y: event.offsetY });
  }

  function step(key: string): void {
    const from = marked < 0 ? middle : marked;
    const shown = (frame: number) => arcs.some((arc) => arc.frame === frame);
    const siblings = from === middle ? [] : Array.from(frames.kids.subarray(frames.first[frames.parent[from]], frames.first[frames.parent[from] + 1]));
    const beside = (by: number) => siblings[siblings.indexOf(from) + by] ?? from;
    const next = { w: frames.parent[from], s: frames.kids[frames.first[from]], d: beside(1), a: beside(-1) }[ARROWS[key] ?? key];
    if (next === undefined || (next !== middle && !shown(next))) return;
    isKeyboard.current = true;
    setMarked(next === middle ? -1 : next);
    setSaid(sayFrame(frames, names, next, measure, frames.total[0]));
  }

  function onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event;
    const isIn = key === "Enter" || key === "+" || key === "=";
    if (/^(Arrow.*|[wasd])$/.test(key)) step(key);
    else if (isIn && (marked >= 0 || frames.first[middle] < frames.first[middle + 1])) zoom(marked >= 0 ? marked : frames.kids[frames.first[middle]]);
    else if (key === "-" || key === "\u2212" || key === "Backspace") zoom(Math.max(0, frames.parent[middle]));
    else if (key === "0") zoom(0);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  const click = (event: MouseEvent) => {
    const frame = at(event);
    if (frame === middle) zoom(Math.max(0, frames.parent[middle]));
    else if (frame >= 0) zoom(frame);
  };
  const label = `Sunburst of ${measure.title}: ${arcs.length} pieces. Arrows move, Enter zooms in, minus out.`;
  return (
    <section class="draw" aria-label="Sunburst">
      <Bar {...props} view="sunburst" found={found}>
        <label class="draw-choice">
          Depth
          <input type="range" min="2" max="20" value={rings} onInput={(event) => setDepth(event.currentTarget.value)} />
          <output>{rings}</output>
        </label>
        <Choice title="Cutoff" value={cutoffText} options={["0.1", "0.5", "1", "2", "5"].map((value) => [value, `${value}%`])} onChange={setCutoff} />
      </Bar>
      <Remarks texts={drawn.remarks} />
      <div class="draw-columns">
        <div class="draw-place">
          <canvas ref={stage.ref} data-keys tabIndex={0} role="application" aria-label={label} onKeyDown={onKey} onClick={click}
            onPointerMove={point} onPointerLeave={() => { setTip(null); if (!isKeyboard.current) setMarked(-1); }} />
          <Tooltip tip={tip} />
        </div>
        <Path {...props} frame={marked >= 0 ? marked : middle} middle={middle} onZoom={zoom} />
      </div>
      <Live text={said} />
    </section>
  );
}

/** The stack of a piece, outermost first; then what it called most. */
function Path(props: FramedProps & { frame: number; middle: number; onZoom(frame: number): void }) {
  const { frames, measure } = props.drawn;
  const stack: number[] = [];
  for (let at = props.frame; at >= 0; at = frames.parent[at]) stack.unshift(at);
  const kids = Array.from(frames.kids.subarray(frames.first[props.frame], Math.min(frames.first[props.frame + 1], frames.first[props.frame] + 8)));
  const item = (frame: number) => (
    <li key={frame}>
      <button onClick={() => props.onZoom(frame)}>
        <span class="clip name">{labelOf(frames, props.names, frame)}</span>
        <small class="muted clip">{oneLine(placeOf(props.names, frames.what[frame]), 60)}</small>
        <span class="num">{share(frames.total[frame], frames.total[0])}</span>
      </button>
    </li>
  );
  return (
    <aside class="draw-path" aria-label="Stack">
      <h2 class="muted">Stack</h2>
      <ol>{stack.map((frame) => item(frame))}</ol>
      {kids.length > 0 && <h2 class="muted">Calls</h2>}
      <ol>{kids.map((frame) => item(frame))}</ol>
      <p class="muted">
        own {amountAndShare(frames.own[props.frame], frames.total[0], measure)}
      </p>
    </aside>
  );
}
