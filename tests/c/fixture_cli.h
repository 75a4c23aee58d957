/* The program sonde, run on a recording. */
#ifndef SND_TEST_FIXTURE_CLI_H
#define SND_TEST_FIXTURE_CLI_H

/* What the last run gave. */
typedef struct cli_run {
    int status;
    char *text; /* standard output and standard error */
} cli_run;

extern cli_run last;
extern const char *program; /* its path; a test sets it */

/* "PROGRAM COMMAND 'PATH' OPTIONS". */
void run(const char *command, const char *path, const char *options);

/* The same must end well and print `wanted` somewhere. */
void check_run_shows(const char *command, const char *path, const char *options, const char *wanted);

#endif
