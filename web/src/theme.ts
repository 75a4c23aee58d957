// Light and dark: as the system is, unless the user said otherwise, which is kept.

export type Choice = "auto" | "light" | "dark";
const KEY = "sonde-theme";

/** Storage may be closed to us, in a frame of a notebook for example. */
function stored(): Choice {
  try {
    const kept = localStorage.getItem(KEY);
    return kept === "light" || kept === "dark" ? kept : "auto";
  } catch {
    return "auto";
  }
}

function keep(choice: Choice): void {
  try {
    if (choice === "auto") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, choice);
  } catch {
    // It holds until the page is closed.
  }
}

let choice = stored();
const system = matchMedia("(prefers-color-scheme: dark)");

function apply(): void {
  const theme = choice === "auto" ? (system.matches ? "dark" : "light") : choice;
  document.documentElement.dataset.theme = theme;
  dispatchEvent(new Event("sonde-theme"));
}

export function startTheme(): void {
  system.addEventListener("change", apply);
  apply();
}

export function themeChoice(): Choice {
  return choice;
}

export function setTheme(next: Choice): void {
  choice = next;
  keep(next);
  apply();
}
