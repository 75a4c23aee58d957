// The part of an axis that is seen: zoom, pan, and moving there smoothly.

export class Viewport {
  from = 0;
  to = 1;
  whole = 1;
  /** The narrowest part that can be seen. */
  least = 1e-9;
  private animation = 0;

  /** `changed`: paint. `settled`: the user came to rest. */
  constructor(private changed: () => void, private settled: () => void) {}

  private timer: ReturnType<typeof setTimeout> | undefined;

  get isWhole(): boolean {
    return this.from <= 0 && this.to >= this.whole;
  }

  /** Another axis: all of it is seen. */
  reset(whole: number, least: number): void {
    cancelAnimationFrame(this.animation);
    this.whole = whole > 0 ? whole : 1;
    this.least = Math.min(least, this.whole);
    this.from = 0;
    this.to = this.whole;
  }

  /** At once, and as near to it as the axis allows. */
  set(from: number, to: number): void {
    const width = Math.min(this.whole, Math.max(this.least, to - from));
    const start = Math.min(this.whole - width, Math.max(0, (from + to - width) / 2));
    this.from = start;
    this.to = start + width;
    this.changed();
  }

  /** By the user: tells when it has come to rest. */
  private move(from: number, to: number): void {
    cancelAnimationFrame(this.animation);
    this.set(from, to);
    clearTimeout(this.timer);
    this.timer = setTimeout(this.settled, 250);
  }

  /** `factor` below 1 zooms in; `at`, on the axis, stays where it is. */
  zoom(factor: number, at = (this.from + this.to) / 2): void {
    const width = Math.min(this.whole, Math.max(this.least, (this.to - this.from) * factor));
    const share = (at - this.from) / (this.to - this.from);
    this.move(at - share * width, at + (1 - share) * width);
  }

  /** By a share of what is seen. */
  pan(share: number): void {
    const by = Math.min(this.whole - this.to, Math.max(-this.from, (this.to - this.from) * share));
    this.move(this.from + by, this.to + by);
  }

  /** Goes there in a moment; at once for people who want no motion. */
  glide(from: number, to: number): void {
    cancelAnimationFrame(this.animation);
    clearTimeout(this.timer);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return this.set(from, to);
    const start = performance.now();
    const [fromStart, toStart] = [this.from, this.to];
    const step = (now: number) => {
      const time = Math.min(1, Math.max(0, (now - start) / 160));
      const share = 1 - (1 - time) ** 3;
      this.set(fromStart + (from - fromStart) * share, toStart + (to - toStart) * share);
      if (time < 1) this.animation = requestAnimationFrame(step);
    };
    this.animation = requestAnimationFrame(step);
  }

  stop(): void {
    cancelAnimationFrame(this.animation);
    clearTimeout(this.timer);
  }
}

/** What wheels and keys mean, the same in all drawn views. Returns whether it was taken. */
export function wheelMoves(view: Viewport, event: WheelEvent, width: number, at: number): void {
  const unit = event.deltaMode === 1 ? 16 : 1;
  if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
    return view.pan(((event.deltaX || event.deltaY) * unit) / width);
  view.zoom(Math.exp(Math.min(240, Math.max(-240, event.deltaY * unit)) * 0.0022), at);
}

/** Arrows and the letters that mean the same. */
export const ARROWS: Record<string, string> = { ArrowUp: "w", ArrowLeft: "a", ArrowDown: "s", ArrowRight: "d" };

export function keyMoves(view: Viewport, key: string): boolean {
  const pan = { a: -0.15, d: 0.15 }[key];
  const zoom = { w: 0.8, "+": 0.8, "=": 0.8, s: 1.25, "-": 1.25, "\u2212": 1.25 }[key];
  if (pan) view.pan(pan);
  else if (zoom) view.zoom(zoom);
  else if (key === "0") view.glide(0, view.whole);
  else return false;
  return true;
}
