/* The program sonde, run on a recording. */
#include "fixture_cli.h"

#include "check.h"
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

cli_run last;
const char *program;

void
run(const char *command, const char *path, const char *options)
{
    char line[2048];
    const char *out = temp_path("out");

    snprintf(line, sizeof line, "'%s' %s '%s' %s >'%s' 2>&1", program, command, path, options, out);
    int status = system(line);
    free(last.text);
    last.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    last.text = read_file(out, NULL);
}

void
check_run_shows(const char *command, const char *path, const char *options, const char *wanted)
{
    run(command, path, options);
    CHECK_NUMBER(last.status, 0);
    CHECK_HAS(last.text, wanted);
}
