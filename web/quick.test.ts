import { test } from "vitest";
import { decode } from "./src/data";
// @ts-ignore
import { synthetic } from "../bench/page/synthetic.mjs";
import { sourceOf, framesFor } from "./src/draw/source";
import { weigh } from "./src/draw/weights";
import { makeFrames, foldFrames } from "./src/draw/frames";
import { invertFrames } from "./src/draw/merge";
import { lanesOf } from "./src/draw/lanes";
test("t", () => {
  const raw = synthetic({});
  const t=(n:string,f:()=>any)=>{const s=performance.now(); // @ts-ignore
 const c=process.cpuUsage(); const r=f(); // @ts-ignore
 const d=process.cpuUsage(c); console.log(n,(performance.now()-s).toFixed(0),"cpu",(d.user+d.system)/1000|0); return r;};
  const text = JSON.stringify(raw); console.log(text.length);
  const raw2 = t("parse",()=>JSON.parse(text));
  const rec = t("decode",()=>decode(raw2));
  const s = t("names",()=>sourceOf(rec));
  const w = t("weigh",()=>weigh(s.names,s.measures[0],-1,null));
  const f = t("frames",()=>makeFrames(s.names,w));
  const g = t("fold",()=>foldFrames(f,s.names));
  console.log(f.count,g.count,f.deepest);
  t("invert",()=>invertFrames(g)); t("invert all",()=>console.log(invertFrames(f).count));
  t("lanes",()=>lanesOf(rec));
  t("range",()=>weigh(s.names,s.measures[0],-1,[1e12,2e12]));
}, 60000);
