/* sonde config: how to compile and link a C program with sonde. */
#include "cli/commands.h"

#include "cli/core/program.h"

#include <stdio.h>
#include <string.h>

/* With a backslash before what a shell would take apart, as pkg-config prints it. */
static void
print_path(const char *flag, const char *path)
{
    for (fputs(flag, stdout); *path != '\0'; path++) {
        if (strchr(" \t\"'\\$&();<>|*?[]#~`!", *path) != NULL)
            putchar('\\');
        putchar(*path);
    }
}

static void
print_flags(const char *folder, int cflags, int libs)
{
    if (cflags) {
        print_path("-I", folder);
        fputs(libs ? "/include " : "/include", stdout);
    }
    if (libs) {
        print_path("-L", folder);
        print_path(" -lsonde -Wl,-rpath,", folder);
    }
    putchar('\n');
}

static int
run(const snd_arguments *given)
{
    snd_buffer folder = {0};
    const char *cflags = snd_arguments_value(given, "cflags");
    const char *libs = snd_arguments_value(given, "libs");
    int status = SND_EXIT_OK;

    if (cflags == NULL && libs == NULL)
        return snd_complain("config needs --cflags, --libs or both");
    if (!snd_python_ask("import os, sonde; print(os.path.dirname(sonde.__file__))", &folder))
        status =
            snd_complain("no Python with sonde installed was found next to this binary; install sonde-profiler there");
    else
        print_flags(folder.data, cflags != NULL, libs != NULL);
    snd_buffer_free(&folder);
    return status;
}

static const snd_setting options[] = {
    {"cflags", "compiler flags", SND_FLAG},
    {"libs", "linker flags", SND_FLAG},
    {0},
};

const snd_command snd_command_config = {
    .name = "config",
    .usage = "--cflags --libs",
    .about = "print the flags to build C programs that use sonde.h",
    .options = options,
    .run = run,
    .examples = {{"gcc prog.c $(sonde config --cflags --libs)", "compile and link a C program that uses sonde.h"},
                 {"sonde config --cflags", "print the compiler flags only"}},
};
