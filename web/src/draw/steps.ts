// Marks on an axis of time.

/** Round steps of time, about one in `room` pixels. */
export function timeSteps(from: number, to: number, width: number, room: number): number[] {
  const raw = ((to - from) / width) * room;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= raw) ?? 10);
  const steps: number[] = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) steps.push(at);
  return steps;
}
