// A recording small enough to check by hand: two threads, three lines, a library, a region.
import type { Facts, RawRecording } from "../src/data";

export const noFacts: Facts = {
  length_ns: 0,
  cpu_ns: 0,
  python_ns: 0,
  native_ns: 0,
  system_ns: 0,
  waiting_ns: 0,
  samples: 0,
  threads: 0,
  collections: 0,
  collections_ns: 0,
  longest_ns: 0,
  entries: 0,
  dropped_entries: 0,
  dropped_events: 0,
};

/** Times in ms of 1e6 ns. Track 0: main > work:2 > (lib:9); track 1: a thread without Python. */
export function tinyRaw(): RawRecording {
  return {
    version: 1,
    infos: { program: "a.py", program_path: "/p/a.py", length_ns: "100000000", samples: "40", sample_rate_hz: "1000" },
    facts: { ...noFacts, length_ns: 100e6, cpu_ns: 72e6, python_ns: 45e6, native_ns: 27e6, waiting_ns: 15e6, samples: 132, threads: 2 },
    texts: ["", "main", "/p/a.py", "work", "lib", "/usr/lib/lib.py", "native", "step", "blas"],
    kinds: ["thread", "region", "line", "native", "other"],
    sites: {
      kind: [0, 2, 2, 2, 0, 3, 2, 1],
      name: [1, 1, 3, 4, 6, 8, 3, 7],
      file: [0, 2, 2, 5, 0, 0, 2, 2],
      line: [0, 10, 2, 9, 0, 0, 3, 7],
      detail: [0, 0, 0, 0, 0, 0, 0, 0],
      first_line: [0, 8, 1, 5, 0, 0, 1, 0],
    },
    tracks: [
      { name: "main", process_id: 1, thread_id: 1, start_ns: 0, end_ns: 100e6 },
      { name: "native", process_id: 1, thread_id: 2, start_ns: 0, end_ns: 100e6 },
    ],
    // 0 main; 1 main:10; 2 work:2 below it; 3 lib:9 below that; 4 native thread; 5 blas; 6 work:3 inside lib (a callback); 7 region
    nodes: { parent: [-1, 0, 1, 2, -1, 4, 3, 0], track: [0, 0, 0, 0, 1, 1, 0, 0], site: [0, 1, 2, 3, 4, 5, 6, 7] },
    metrics: {
      python: { node: [1, 1, 4], value: [10e6, 30e6, 5e6] }, // nodes 1, 2, 6
      native: { node: [3, 2], value: [20e6, 7e6] }, // nodes 3, 5
      wait_lock: { node: [2, 3], value: [15e6, 50e6] }, // nodes 2, 5
      samples: { node: [1, 1, 1, 2], value: [10, 45, 20, 57] }, // nodes 1, 2, 3, 5
    },
    sources: [{ file: 2, text: "def work():\n    x = 1\n    y = 2\n\n\n\n\ndef main():\n    pass\n    work()\n" }],
    own_files: [2],
    file_names: [[2, "a.py"]],
    series: [{ name: "rss", unit: "bytes", at_ns: [0, 10, 10], value: [1, 2, 3] }],
    histories: { step_ns: 5, node: [2, 1], live: [[1, 2], [3]] },
    events: [
      {
        kind: "spans",
        unit_ns: 1,
        gap: [10e6, -20e6],
        value: [20e6, 5e6],
        node: [7, 7],
        task: [0, 0],
      },
      {
        kind: "samples",
        unit_ns: 1e6,
        gap: [0, 0, 10, 0],
        value: [10, 30, 20, 7],
        node: [1, 2, 3, 5],
        task: [0, 0, 1, 1],
      },
    ],
    tables: [],
    diff: [],
    pruned: null,
  };
}
