// A real program, recorded by the core and read back from its page. Needs `sonde` with a report page (SONDE names it).
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unpack, type Recording } from "../src/data";

const SONDE = process.env.SONDE ?? "sonde";

export const canRecord = spawnSync(SONDE, ["report", "--help"]).status === 0;

export async function record(program: string, ...options: string[]): Promise<Recording> {
  const folder = mkdtempSync(join(tmpdir(), "sonde-page-"));
  writeFileSync(join(folder, "prog.py"), program);
  execFileSync(SONDE, ["run", ...options, "--no-report", "-o", "r.sonde", "prog.py"], { cwd: folder, stdio: "ignore" });
  const page = execFileSync(SONDE, ["report", "r.sonde", "-o", "-"], { cwd: folder, maxBuffer: 1 << 28 }).toString();
  return unpack(/<script id="sonde-data"[^>]*>([^<]*)</.exec(page)![1]);
}
