import type { ViewProps } from "../props";
export function Timeline(_: ViewProps) { return <p>soon</p>; }
