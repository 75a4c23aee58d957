// Real recordings of each kind, and their pages: made anew for every run of the tests, by the program in $SONDE.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const programs = join(here, "programs");
export const folder = join(here, "../../build/page");
const sonde = process.env.SONDE ?? "sonde";

/** name: the words after `sonde` that make the recording, and the views that its page must have. */
export const KINDS = {
  samples: { words: ["run", "--no-report"], program: ["busy.py"], views: ["Summary", "Lines", "Flame", "Tree", "Sunburst", "Timeline", "Regions", "Threads"] },
  longer: { words: ["run", "--no-report"], program: ["busy.py", "--more"], views: [] },
  memory: { words: ["run", "--no-report", "--memory"], program: ["memory.py"], views: ["Summary", "Lines", "Flame", "Tree", "Timeline", "Memory"] },
  calls: { words: ["trace", "--no-report", "--signatures", "--timeline"], program: ["busy.py"], views: ["Summary", "Sunburst", "Timeline", "Calls"] },
  gc: { words: ["run", "--no-report"], program: ["gc.py"], views: ["Summary", "Timeline"] },
  gpu: { words: ["run", "--no-report", "--memory"], program: ["gpu.py"], views: ["Summary", "Lines", "Timeline"], env: { SONDE_NVML: "stand_in.so", STAND_IN_BUSY: "40" } },
  ops: { words: ["run", "--no-report", "--ops"], program: ["ops.py"], views: ["Summary", "Lines", "Ops", "Regions"] },
  imported: { stacks: "start 5000\nstart;parse;lex 40000\nstart;parse;lex;read 12000\nstart;render 30000\nstart;render;paint 8000\nstart;write 3000\nstart;render;clip 2000\nidle 9000\nidle;poll 1000\n", views: ["Summary", "Flame", "Tree", "Sunburst", "Threads"] },
  hostile: { words: ["run", "--no-report"], program: ["hostile.py"], views: [] },
  "hostile-calls": { words: ["trace", "--no-report", "--signatures"], program: ["hostile.py"], views: [] },
};

export const recordingOf = (name) => join(folder, `${name}.sonde`);
export const pageOf = (name) => join(folder, `${name}.html`);

function run(...words) {
  return runWith({}, ...words);
}

function runWith(env, ...words) {
  return execFileSync(sonde, words, { env: { ...process.env, ...env }, cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], maxBuffer: 1 << 28 });
}

export function report(name, ...words) {
  run("report", ...words, "-o", pageOf(name));
  return pageOf(name);
}

export function makeAll() {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, "shots"), { recursive: true });
  execFileSync("cc", ["-shared", "-fPIC", "-o", join(folder, "stand_in.so"), join(here, "../../tests/c/nvml_library.c")]);
  for (const [name, { words, program, env, stacks }] of Object.entries(KINDS)) {
    if (stacks) {
      writeFileSync(join(folder, `${name}.txt`), stacks);
      run("import", `${name}.txt`, "-o", recordingOf(name));
    } else
      runWith(env?.SONDE_NVML ? { ...env, SONDE_NVML: join(folder, env.SONDE_NVML) } : {}, ...words, "-o", recordingOf(name), join(programs, program[0]), ...program.slice(1));
    report(name, recordingOf(name));
  }
  report("compare", recordingOf("samples"), recordingOf("longer"));
  report("no-source", recordingOf("samples"), "--no-source");
}

/** Rows of a query of the recording. */
export function asked(name, question) {
  return JSON.parse(run("sql", recordingOf(name), question, "--format", "json")).rows;
}

/** A view as the program writes it for other programs. */
export function exported(name, view, ...words) {
  return JSON.parse(run("export", recordingOf(name), "--format", "json", "--view", view, ...words));
}

/** What `sonde info` says, by name. */
export function factsOf(name) {
  return Object.fromEntries(JSON.parse(run("info", recordingOf(name), "--format", "json")).rows.map(({ fact, value }) => [fact, value]));
}

/** What a terminal shows of it. */
export function summaryOf(name) {
  return run("view", recordingOf(name), "--color", "never");
}

/** The rows of `sonde diff`. */
export function compared(before, after) {
  return JSON.parse(run("diff", recordingOf(before), recordingOf(after), "--format", "json")).rows;
}
