// Real recordings of each kind, and their pages: made anew by every run of the tests that needs them, with the program in $SONDE.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const programs = join(here, "programs");
// Two folders: the tests of the code and those in a browser may run at once.
export const folder = join(here, "../../build", process.env.VITEST ? "page-tables" : "page");
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

function run(...words) {
  return runWith({}, ...words);
}

function runWith(env, ...words) {
  return execFileSync(sonde, words, { env: { ...process.env, ...env }, cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], maxBuffer: 1 << 28 });
}

/** Pages that are not of one recording as it is: what `sonde report` is given. */
const PAGES = {
  compare: () => [recordingOf("samples"), recordingOf("longer")],
  "no-source": () => [recordingOf("samples"), "--no-source"],
};

const made = new Set();

function once(file, make) {
  if (made.has(file)) return file;
  make(file);
  made.add(file);
  return file;
}

/** To be called first: nothing of an earlier run is looked at. */
export function empty() {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, "shots"), { recursive: true });
}

const libraryOf = (name) =>
  once(join(folder, name), (file) => execFileSync("cc", ["-shared", "-fPIC", "-o", file, join(here, "../../tests/c/nvml_library.c")]));

/** The recording, which is made when it is first asked for. */
export const recordingOf = (name) =>
  once(join(folder, `${name}.sonde`), (file) => {
    const { words, program, env, stacks } = KINDS[name];
    if (stacks) {
      writeFileSync(join(folder, `${name}.txt`), stacks);
      run("import", `${name}.txt`, "-o", file);
    } else
      runWith(env ? { ...env, SONDE_NVML: libraryOf(env.SONDE_NVML) } : {}, ...words, "-o", file, join(programs, program[0]), ...program.slice(1));
  });

export const pageOf = (name) =>
  once(join(folder, `${name}.html`), (file) => run("report", ...(PAGES[name]?.() ?? [recordingOf(name)]), "-o", file));

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
