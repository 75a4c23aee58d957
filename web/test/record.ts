// A real program, recorded by the core and read back from its page. Needs `sonde` with a report page (SONDE names it).
import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unpack, type Recording } from "../src/data";

const SONDE = process.env.SONDE ?? "sonde";

function folderOf(): string {
  return mkdtempSync(join(tmpdir(), "sonde-page-"));
}

function run(folder: string, ...words: string[]): string {
  return execFileSync(SONDE, words, { cwd: folder, maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] }).toString();
}

function make(folder: string, name: string, program: string, options: string[]): string {
  writeFileSync(join(folder, "prog.py"), program);
  run(folder, "run", ...options, "--no-report", "-o", name, "prog.py");
  return name;
}

export async function record(program: string, ...options: string[]): Promise<Recording> {
  const folder = folderOf();
  const page = run(folder, "report", make(folder, "r.sonde", program, options), "-o", "-");
  return unpack(/<script id="sonde-data"[^>]*>([^<]*)</.exec(page)![1]);
}

/** Two programs: the second recording as it is in the page of both, and what `sonde diff` says. */
export async function compared(before: string, after: string, ...options: string[]): Promise<{ second: Recording; diff: unknown[] }> {
  const folder = folderOf();
  const names = [make(folder, "a.sonde", before, options), make(folder, "b.sonde", after, options)];
  const page = run(folder, "report", ...names, "-o", "-");
  const second = await unpack(/<script id="sonde-data-2"[^>]*>([^<]*)</.exec(page)![1]);
  return { second, diff: JSON.parse(run(folder, "diff", ...names, "--format", "json")).rows };
}
