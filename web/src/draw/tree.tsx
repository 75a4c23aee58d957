import type { ViewProps } from "../props";
export function Tree(_: ViewProps) { return <p>soon</p>; }
