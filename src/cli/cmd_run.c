/* sonde run: runs a program and looks at where its time and its memory go. */
#include "cli/commands.h"
#include "cli/program.h"
#include "format/page.h"

#include <stddef.h>

static int
run(const snd_arguments *given)
{
    static const char *const passed[] = {
        "output",          "rate",        "native",       "cpu-only",     "memory",   "exact",
        "memory-interval", "ops",         "graph",        "include",      "exclude",  "all-code",
        "no-signals",      "no-timeline", "start-paused", "duration",     "children", "no-children",
        "no-report",       "cli",         "html",         "with-waiting", NULL};
    if (snd_arguments_value(given, "html") != NULL && !snd_page_exists())
        return snd_complain("%s", SND_PAGE_MISSING);
    return snd_program_start(given, "_run", passed);
}

static const snd_option options[] = {
    {"output", 'o', "FILE", "the recording; PROG-PID.sonde when not given"},
    {"rate", 'r', "HZ", "how often to look, 1 to 20000 times a second; 1000 when not given, 250 with memory"},
    {"native", 0, NULL, "native functions too, between the Python functions that called them"},
    {"cpu-only", 0, NULL, "leave out threads that wait"},
    {"memory", 0, NULL, "memory too: who allocates it, has it at the peak, keeps and copies it"},
    {"exact", 0, NULL, "memory with every allocation, not a sample of them"},
    {"memory-interval", 0, "BYTES", "look at a block every so many bytes, 1024 to 1073741824; 131072 when not given"},
    {"ops", 0, NULL, "the operators of NumPy too: time, inputs, bytes and the lines that called them"},
    {"graph", 0, NULL, "functions compiled by Aesara and PyTensor too, by class, op and node"},
    {"include", 0, "PATTERN", "files that are the program's own, as in */model/*; several with commas"},
    {"exclude", 0, "PATTERN", "files that are not"},
    {"all-code", 0, NULL, "show libraries like the program's own files"},
    {"no-signals", 0, NULL, "for programs that cannot bear a signal: read every thread from outside"},
    {"no-timeline", 0, NULL, "keep sums only, not when each look was"},
    {"start-paused", 0, NULL, "look only from where the program calls sonde.start()"},
    {"duration", 'd', "S", "look for this many seconds; the program goes on"},
    {"children", 0, NULL, "processes that the program starts too, which is what you get anyway"},
    {"no-children", 0, NULL, "this process only"},
    {"html", 0, NULL, "a page for a browser too, beside the recording; sonde report makes one later"},
    {"no-report", 0, NULL, "no summary at the end"},
    {"with-waiting", 0, NULL, "a summary by CPU time and waiting together, not by CPU time alone"},
    {"cli", 0, NULL, "the summary on the terminal, which is what you get anyway"},
    SND_PROGRAM_OPTIONS{0},
};

const snd_command snd_command_run = {
    .name = "run",
    .usage = SND_PROGRAM_USAGE,
    .about = "run a program and show where its time goes, line by line",
    .options = options,
    .run = run,
    .takes_program = SND_PROGRAM_LETTERS,
};
