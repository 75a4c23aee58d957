// The drawn views.
export { Flame } from "./flame";
export { Tree } from "./tree";
export { Sunburst } from "./sunburst";
export { Timeline } from "./timeline";
