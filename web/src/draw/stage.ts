// A canvas that fills its place, is as sharp as the screen, and is painted at most once a frame.
import { useEffect, useRef, useState } from "preact/hooks";
import { readTheme, type Theme } from "./colours";

export type Paint = (context: CanvasRenderingContext2D, width: number, height: number) => void;

export interface Stage {
  ref: { current: HTMLCanvasElement | null };
  /** Asks for painting in the next frame. */
  redraw(): void;
}

/** `paint` may change with every render; the last one is used. */
export function useStage(paint: Paint): Stage {
  const ref = useRef<HTMLCanvasElement>(null);
  const last = useRef(paint);
  const stage = useRef<Stage | null>(null);
  last.current = paint;
  stage.current ??= { ref, redraw: makeRedraw(ref, last) };
  const { redraw } = stage.current;
  useEffect(() => {
    const observer = new ResizeObserver(redraw);
    observer.observe(placeOf(ref.current!));
    return () => observer.disconnect();
  }, []);
  useEffect(redraw);
  return stage.current;
}

function makeRedraw(ref: { current: HTMLCanvasElement | null }, paint: { current: Paint }): () => void {
  let isAsked = false;
  return () => {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => {
      isAsked = false;
      if (ref.current) paintNow(ref.current, paint.current);
    });
  };
}

/** What a canvas fills: without borders and scroll bars. */
function placeOf(canvas: HTMLCanvasElement): HTMLElement {
  return canvas.closest<HTMLElement>(".draw-place")!;
}

function paintNow(canvas: HTMLCanvasElement, paint: Paint): void {
  const { clientWidth: width, clientHeight: height } = placeOf(canvas);
  const ratio = devicePixelRatio || 1;
  const [wide, high] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d", { alpha: false })!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.direction = "ltr";
  paint(context, width, height);
}

/** The colours of the page; changes with its theme. */
export function useTheme(): Theme {
  const [theme, setTheme] = useState(() => readTheme(document.documentElement));
  useEffect(() => {
    const update = () => setTheme(readTheme(document.documentElement));
    const system = matchMedia("(prefers-color-scheme: dark)");
    addEventListener("sonde-theme", update);
    system.addEventListener("change", update);
    return () => {
      removeEventListener("sonde-theme", update);
      system.removeEventListener("change", update);
    };
  }, []);
  return theme;
}

export const FONT = "11px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
let letterWidth = 0;

/** A label that fits into `width` pixels; "" where nothing does. The font has letters of one width. */
export function fit(context: CanvasRenderingContext2D, label: string, width: number): string {
  letterWidth ||= context.measureText("mmmmmmmmmm").width / 10;
  const room = Math.floor((width - 6) / letterWidth);
  if (room < 2) return "";
  if (label.length <= room) return label;
  return room < 4 ? "" : `${Array.from(label.slice(0, room - 1)).join("").replace(/[\ud800-\udbff]$/, "")}…`;
}

/** Texts of a recording may have anything in them: on one line, and not endless. */
export function oneLine(text: string, most = 300): string {
  const line = text.slice(0, most + 1).replace(/[\u0000-\u001f\u007f\u202a-\u202e\u2066-\u2069]/g, " ");
  return text.length > most ? `${line.slice(0, most)}…` : line;
}

/** Follows a pointer from where it was pressed until it is let go; `end` hears whether that was so. */
export function follow(event: PointerEvent, move: (event: PointerEvent) => void, end: (event: PointerEvent, isDone: boolean) => void): void {
  const target = event.currentTarget as HTMLElement;
  const stop = new AbortController();
  const up = (next: PointerEvent) => {
    stop.abort();
    end(next, next.type === "pointerup");
  };
  target.setPointerCapture(event.pointerId);
  target.addEventListener("pointermove", move, stop);
  target.addEventListener("pointerup", up, stop);
  target.addEventListener("pointercancel", up, stop);
}

/** Wheels over an element do what the view wants, not what the page would do. The last `turn` is used. */
export function useWheel(ref: { current: HTMLElement | null }, turn: (event: WheelEvent) => void): void {
  const last = useRef(turn);
  last.current = turn;
  useEffect(() => {
    const listen = (event: WheelEvent) => {
      event.preventDefault();
      last.current(event);
    };
    const element = ref.current!;
    element.addEventListener("wheel", listen, { passive: false });
    return () => element.removeEventListener("wheel", listen);
  }, []);
}
