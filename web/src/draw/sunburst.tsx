import type { ViewProps } from "../props";
export function Sunburst(_: ViewProps) { return <p>soon</p>; }
