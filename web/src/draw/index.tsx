// Stand-ins until the drawn views are there.
import type { ViewProps } from "../props";

function Missing({ state }: ViewProps) {
  return <p class="empty">The view “{state.view}” is not built yet.</p>;
}

export const Flame = Missing;
export const Tree = Missing;
export const Sunburst = Missing;
export const Timeline = Missing;
