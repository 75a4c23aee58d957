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
  ["1 … 9", "the views, from left to right"],
  ["/ or Ctrl F", "search: names, files, source"],
  ["Esc", "leave the search, the selection, the range, one after the other"],
  ["n p", "the next and the previous thread"],
  ["↑ ↓ ← →", "in a table move, fold and unfold; in a graph from box to box"],
  ["W A S D", "in a graph and in time zoom in, left, zoom out, right; in a table as the arrows"],
  ["+ − 0", "zoom in, zoom out, all of it; in a table unfold all, fold all, its first order"],
  ["Enter", "select a row: the other views follow"],
  ["Page Up/Down, Home, End", "move far in a table"],
  ["Tab", "through all controls"],
  ["Alt ←", "back: every state of the page has an address"],
  ["?", "this list"],
];
