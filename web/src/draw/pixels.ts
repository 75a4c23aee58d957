// Thousands of thin things, painted as one picture: a pixel for each instead of a rectangle.

const known = new Map<string, number>();

/** "#rrggbb" as canvases keep it, in the order of bytes of all machines that browsers run on. */
function packed(colour: string, alpha: number): number {
  let value = known.get(colour);
  if (value === undefined) {
    const part = (at: number) => parseInt(colour.slice(at, at + 2), 16);
    known.set(colour, (value = part(1) | (part(3) << 8) | (part(5) << 16)));
  }
  return (value | ((alpha * 255) << 24)) >>> 0;
}

let shared: HTMLCanvasElement | null = null;

/** A picture of `columns` and `lines`, first empty. */
export class Pixels {
  private data: Uint32Array<ArrayBuffer>;
  private isEmpty = true;

  constructor(private columns: number, private lines: number) {
    this.data = new Uint32Array(Math.max(1, columns * lines));
  }

  put(x: number, width: number, line: number, colour: string, alpha = 1): void {
    const start = line * this.columns;
    const first = Math.floor(x);
    this.isEmpty = false;
    this.data.fill(packed(colour, alpha), start + first, start + Math.min(this.columns, Math.max(first + 1, Math.round(x + width))));
  }

  /** Each line `height` high, at `topOf` of it. */
  paint(context: CanvasRenderingContext2D, topOf: (line: number) => number, height: number, x = 0): void {
    if (this.isEmpty) return;
    const canvas = this.fill();
    context.imageSmoothingEnabled = false;
    for (let line = 0; line < this.lines; line++) context.drawImage(canvas, 0, line, this.columns, 1, x, topOf(line), this.columns, height);
  }

  /** All lines as they are, one below the other. */
  paintWhole(context: CanvasRenderingContext2D, x: number, y: number): void {
    if (!this.isEmpty) context.drawImage(this.fill(), 0, 0, this.columns, this.lines, x, y, this.columns, this.lines);
  }

  private fill(): HTMLCanvasElement {
    shared ??= document.createElement("canvas");
    if (shared.width < this.columns) shared.width = this.columns;
    if (shared.height < this.lines) shared.height = this.lines;
    const bytes = new Uint8ClampedArray(this.data.buffer, 0, this.columns * this.lines * 4);
    shared.getContext("2d")!.putImageData(new ImageData(bytes, this.columns, this.lines), 0, 0);
    return shared;
  }

  /** A column of one pixel, from `top` down to `bottom`. */
  column(x: number, top: number, bottom: number, colour: string): void {
    const value = packed(colour, 1);
    this.isEmpty = false;
    for (let line = top; line < bottom; line++) this.data[line * this.columns + x] = value;
  }
}
