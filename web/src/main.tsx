// The start: decode what is in the page, then show it.
import { render } from "preact";
import { App } from "./app";
import { readRecordings } from "./data";
import "./style.css";
import { startTheme } from "./theme";

startTheme();

async function start(root: HTMLElement): Promise<void> {
  try {
    const recordings = await readRecordings(document);
    if (recordings.length === 0) throw new Error("This page has no recording; make one with: sonde report FILE");
    render(<App recordings={recordings} />, root);
  } catch (error) {
    render(<p class="empty">{error instanceof Error ? error.message : String(error)}</p>, root);
  }
}

void start(document.getElementById("app")!);
