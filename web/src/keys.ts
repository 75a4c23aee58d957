// The keys of the page. Those that move and zoom belong to the view: they go to its element with data-keys.

export interface Actions {
  view(index: number): void;
  search(): void;
  escape(): void;
  thread(step: 1 | -1): void;
  help(): void;
}

const FORWARDED = new Set(["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "w", "a", "s", "d", "W", "A", "S", "D", "+", "-", "=", "0", "PageUp", "PageDown", "Home", "End"]);

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.matches("input, select, textarea") || target.isContentEditable);
}

/** A key that nobody took goes to the view's own element. */
function forward(event: KeyboardEvent): void {
  const element = document.querySelector<HTMLElement>("main [data-keys]");
  const isOfTabs = (event.target as HTMLElement).closest?.("[role=tablist]") && /^(Arrow|Home|End)/.test(event.key);
  if (!element || isOfTabs || element.contains(event.target as Node)) return;
  element.focus();
  const { key, code, shiftKey } = event;
  element.dispatchEvent(new KeyboardEvent("keydown", { key, code, shiftKey, bubbles: false, cancelable: true }));
  event.preventDefault();
}

function plainKey(event: KeyboardEvent, actions: Actions): boolean {
  if (/^[1-9]$/.test(event.key)) actions.view(Number(event.key) - 1);
  else if (event.key === "/") actions.search();
  else if (event.key === "n") actions.thread(1);
  else if (event.key === "p") actions.thread(-1);
  else if (event.key === "?") actions.help();
  else return false;
  return true;
}

export function onKey(event: KeyboardEvent, actions: Actions): void {
  if (event.defaultPrevented || event.isComposing || document.querySelector("dialog[open]")) return;
  if (event.key === "Escape") return actions.escape();
  if ((event.ctrlKey || event.metaKey) && event.key === "f") {
    actions.search();
    event.preventDefault();
  }
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (plainKey(event, actions)) event.preventDefault();
  else if (FORWARDED.has(event.key)) forward(event);
}

export const HELP: readonly (readonly [string, string])[] = [
  ["1 … 9", "switch views, from left to right"],
  ["/ or Ctrl F", "search: names, files, source"],
  ["Esc", "clear the search, then the selection, then the range"],
  ["n p", "next and previous thread"],
  ["↑ ↓ ← →", "table: move, fold and unfold; graph: move from box to box"],
  ["W A S D", "graph and timeline: zoom in, left, zoom out, right; table: same as the arrows"],
  ["+ − 0", "zoom in, zoom out, show all; table: unfold all, fold all, original order"],
  ["Enter", "select a row in all views"],
  ["Page Up/Down, Home, End", "move faster in a table"],
  ["Tab", "move through all controls"],
  ["Alt ←", "go back: every state of the page has its own address"],
  ["?", "show this list"],
];
