/* sonde run and sonde trace: a program runs, and where its time and its memory go is measured, or every call. */
#include "cli/commands.h"
#include "cli/core/program.h"
#include "collect/setting_table.h"
#include "format/page/page.h"

#include <stddef.h>

static int
run(const snd_arguments *given)
{
    int wants_page = snd_arguments_value(given, "html") != NULL || snd_arguments_value(given, "open") != NULL;

    if (wants_page && !snd_page_exists())
        return snd_complain("%s", SND_PAGE_MISSING);
    return snd_program_start(given, "run");
}

static const snd_setting options[] = {SND_PROGRAM_OPTIONS{0}};

const snd_command snd_command_run = {
    .name = "run",
    .usage = SND_PROGRAM_USAGE,
    .about = "run a program and show where its time goes, line by line",
    .settings = SND_OF_RUN,
    .options = options,
    .run = run,
    .takes_program = SND_PROGRAM_LETTERS,
    .examples = {{"sonde run --memory train.py --epochs 3",
                  "profile time and memory; arguments after train.py go to it"},
                 {"sonde run -o before.sonde -- pytest -x",
                  "profile a script on PATH; you choose the recording's name"}},
};

static int
trace(const snd_arguments *given)
{
    return snd_program_start(given, "trace");
}

const snd_command snd_command_trace = {
    .name = "trace",
    .usage = SND_PROGRAM_USAGE,
    .about = "run a program and measure every call exactly",
    .settings = SND_OF_TRACE,
    .options = options,
    .run = trace,
    .takes_program = SND_PROGRAM_LETTERS,
    .examples = {{"sonde trace prog.py", "count and time every call, like cProfile"},
                 {"sonde trace --signatures --include '*model*' prog.py",
                  "only the model's files, and which argument types each function got"}},
};
