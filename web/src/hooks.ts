// What several views need of the browser.
import { useLayoutEffect, useRef, useState } from "preact/hooks";

export interface Box {
  width: number;
  height: number;
}

/** The inner size of an element, kept up to date. */
export function useBox<T extends HTMLElement>(): [{ current: T | null }, Box] {
  const element = useRef<T>(null);
  const [box, setBox] = useState<Box>({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const at = element.current;
    if (!at) return;
    const measure = () => setBox({ width: at.clientWidth, height: at.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(at);
    measure();
    return () => observer.disconnect();
  }, []);
  return [element, box];
}

/** Puts a text on the clipboard; false when the browser does not let us. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyByHand(text);
  }
}

/** In frames that may not use the clipboard the old way may still work. */
function copyByHand(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.style.position = "fixed";
  area.style.opacity = "0";
  document.body.append(area);
  area.select();
  const isDone = document.execCommand("copy");
  area.remove();
  return isDone;
}
