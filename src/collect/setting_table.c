/* The one list of what a user may set for a measurement. */
#include "collect/setting_table.h"

#include "probe/core/probe.h"

#include <stddef.h>

enum {
    TRACE = SND_OF_TRACE,
    RUN = SND_OF_RUN,
    MAGIC = SND_OF_MAGIC,
};

const snd_setting snd_setting_table[] = {
    {"signatures", "separate calls by the types and shapes of their arguments", TRACE | MAGIC, SND_FLAG},
    {"no-builtins", "leave out functions written in C", TRACE, SND_FLAG, .more = "This is cheaper: see below"},
    {"include", "profile only matching files or functions, such as *model*; separate patterns with commas", TRACE,
     SND_PATTERNS,
     .more = "A pattern (with `*` and `?`) matches a path, a file name or a function's qualified name. Time in code "
             "that is left out counts for its caller"},
    {"exclude", "leave out matching files or functions", TRACE, SND_PATTERNS},
    {"timeline", "keep every call for a trace, not only totals", TRACE, SND_FLAG,
     .more = "`sonde export --format chrome` writes the trace"},
    {"output", "the recording (default PROG-PID.sonde)", RUN | TRACE | MAGIC, SND_TEXT("FILE"), .letter = 'o',
     .is_settled = 1, .more = "%p is the process id, %h the host, %r the rank"},
    {"rate", "samples per second (1–20000, default 1000; 250 with memory)", RUN | MAGIC,
     SND_COUNT("HZ", 1, SND_SAMPLE_RATE_MAX, SND_SAMPLE_RATE), .letter = 'r', .keyword = "rate"},
    {"native", "also show native functions, between the Python functions that called them", RUN | MAGIC, SND_FLAG,
     .keyword = "native", .part_of = "rate"},
    {"cpu-only", "leave out waiting threads", RUN | MAGIC, SND_FLAG, .keyword = "cpu_only", .part_of = "rate"},
    {"memory", "also profile memory: allocations, peak owners, leaks, copies", RUN | MAGIC, SND_FLAG},
    {"exact", "record every allocation instead of sampling them", RUN | MAGIC, SND_FLAG, .keyword = "exact",
     .part_of = "memory", .more = "Copies are still sampled. Implies `--memory`"},
    {"memory-interval", "sample one block per this many bytes (1024–1073741824, default 131072)", RUN | MAGIC,
     SND_COUNT("BYTES", 1u << 10, 1u << 30, SND_MEMORY_INTERVAL), .keyword = "interval", .part_of = "memory",
     .more = "With `--exact`, this applies to copies only"},
    {"ops", "also profile NumPy operators: time, inputs, bytes and calling lines", RUN | MAGIC, SND_FLAG,
     .more = "See [ops.md](ops.md)"},
    {"graph", "also profile functions compiled by Aesara and PyTensor, by class, op and node", RUN | MAGIC, SND_FLAG,
     .more = "See [graph.md](graph.md)"},
    {"include", "treat matching files as your own code, such as */model/*; separate patterns with commas", RUN | MAGIC,
     SND_PATTERNS, .keyword = "include",
     .more = "A pattern (with `*` and `?`) matches a path. Time in other files is shown at the line that called them"},
    {"exclude", "do not treat matching files as your own code", RUN | MAGIC, SND_PATTERNS, .keyword = "exclude"},
    {"all-code", "show library code like your own", RUN | MAGIC, SND_FLAG, .keyword = "all_code"},
    {"no-signals", "for programs that break when interrupted by signals: read every thread from outside", RUN | MAGIC,
     SND_FLAG, .keyword = "signals", .part_of = "rate"},
    {"no-timeline", "keep totals only, not the time of each sample", RUN | MAGIC, SND_FLAG, .keyword = "timeline",
     .part_of = "rate"},
    {"start-paused", "start sampling when the program calls sonde.start()", RUN, SND_FLAG},
    {"duration", "stop sampling after this many seconds; the program keeps running", RUN, SND_SECONDS, .letter = 'd',
     .is_settled = 1, .more = "The recording is complete at that point"},
    {"children", "also profile child processes (default)", RUN | TRACE, SND_FLAG, .is_settled = 1,
     .more = "They go into the same recording"},
    {"no-children", "profile this process only", RUN | TRACE, SND_FLAG, .is_settled = 1,
     .more = "Sets nothing in the environment, and does not profile forked children"},
    {"html", "also write an HTML page next to the recording; sonde report can do it later", RUN, SND_FLAG,
     .more = "`run.sonde` gets `run.html` when the program ends normally; after a signal or `os._exit`, no page is "
             "written"},
    {"no-report", "print no summary at the end", RUN, SND_FLAG},
    {"no-report", "print no table at the end", TRACE, SND_FLAG},
    {"with-waiting", "rank the summary by CPU plus waiting time, not by CPU time alone", RUN | MAGIC, SND_FLAG},
    {"cli", "print the summary on the terminal (default)", RUN | MAGIC, SND_FLAG, .is_settled = 1},
    {0},
};
