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
    {"signatures", "tell calls apart by the types and shapes of their arguments", TRACE | MAGIC, SND_FLAG},
    {"no-builtins", "leave out what is written in C", TRACE, SND_FLAG, .more = "It is cheaper: see below"},
    {"include", "only files or functions like this, as in *model*; several with commas", TRACE, SND_PATTERNS,
     .more =
         "A pattern, with `*` and `?`, is of a path, a file's name or a function's qualified name. Time in code that "
         "is left out belongs to its caller"},
    {"exclude", "none of these", TRACE, SND_PATTERNS},
    {"timeline", "keep every call, for a trace, not only sums", TRACE, SND_FLAG,
     .more = "`sonde export --format chrome` makes one"},
    {"output", "the recording; PROG-PID.sonde when not given", RUN | TRACE | MAGIC, SND_TEXT("FILE"), .letter = 'o',
     .is_settled = 1, .more = "%p is the process id, %h the host, %r the rank"},
    {"rate", "how often to look, 1 to 20000 times a second; 1000 when not given, 250 with memory", RUN | MAGIC,
     SND_COUNT("HZ", 1, SND_SAMPLE_RATE_MAX, SND_SAMPLE_RATE), .letter = 'r', .keyword = "rate"},
    {"native", "native functions too, between the Python functions that called them", RUN | MAGIC, SND_FLAG,
     .keyword = "native", .part_of = "rate"},
    {"cpu-only", "leave out threads that wait", RUN | MAGIC, SND_FLAG, .keyword = "cpu_only", .part_of = "rate"},
    {"memory", "memory too: who allocates it, has it at the peak, keeps and copies it", RUN | MAGIC, SND_FLAG},
    {"exact", "memory with every allocation, not a sample of them", RUN | MAGIC, SND_FLAG, .keyword = "exact",
     .part_of = "memory", .more = "Copies are sampled as ever. `--memory` is meant, too"},
    {"memory-interval", "look at a block every so many bytes, 1024 to 1073741824; 131072 when not given", RUN | MAGIC,
     SND_COUNT("BYTES", 1u << 10, 1u << 30, SND_MEMORY_INTERVAL), .keyword = "interval", .part_of = "memory",
     .more = "With `--exact` it holds for copies only"},
    {"ops", "the operators of NumPy too: time, inputs, bytes and the lines that called them", RUN | MAGIC, SND_FLAG,
     .more = "See [ops.md](ops.md)"},
    {"graph", "functions compiled by Aesara and PyTensor too, by class, op and node", RUN | MAGIC, SND_FLAG,
     .more = "See [graph.md](graph.md)"},
    {"include", "files that are the program's own, as in */model/*; several with commas", RUN | MAGIC, SND_PATTERNS,
     .keyword = "include",
     .more = "A pattern, with `*` and `?`, is of a path. Time in other files is shown at the line that called them"},
    {"exclude", "files that are not", RUN | MAGIC, SND_PATTERNS, .keyword = "exclude"},
    {"all-code", "show libraries like the program's own files", RUN | MAGIC, SND_FLAG, .keyword = "all_code"},
    {"no-signals", "for programs that cannot bear a signal: read every thread from outside", RUN | MAGIC, SND_FLAG,
     .keyword = "signals", .part_of = "rate"},
    {"no-timeline", "keep sums only, not when each look was", RUN | MAGIC, SND_FLAG, .keyword = "timeline",
     .part_of = "rate"},
    {"start-paused", "look only from where the program calls sonde.start()", RUN, SND_FLAG},
    {"duration", "look for this many seconds; the program goes on", RUN, SND_SECONDS, .letter = 'd', .is_settled = 1,
     .more = "The recording is complete by then"},
    {"children", "processes that the program starts too, which is what you get anyway", RUN | TRACE, SND_FLAG,
     .is_settled = 1, .more = "They go into the same recording"},
    {"no-children", "this process only", RUN | TRACE, SND_FLAG, .is_settled = 1,
     .more = "Nothing stays in the environment, and forked children are not looked at"},
    {"html", "a page for a browser too, beside the recording; sonde report makes one later", RUN, SND_FLAG,
     .more =
         "`run.sonde` gives `run.html`, once the program ends by itself; after a signal or `os._exit` there is none"},
    {"no-report", "no summary at the end", RUN, SND_FLAG},
    {"no-report", "no table at the end", TRACE, SND_FLAG},
    {"with-waiting", "a summary by CPU time and waiting together, not by CPU time alone", RUN | MAGIC, SND_FLAG},
    {"cli", "the summary on the terminal, which is what you get anyway", RUN | MAGIC, SND_FLAG, .is_settled = 1},
    {0},
};
