/* A command that is run once, and what it used: it and the processes that it started and waited for. */
#ifndef SND_OS_USAGE_CHILD_H
#define SND_OS_USAGE_CHILD_H

#include "os/usage/usage.h"

/* What a run is given. */
typedef struct snd_child_wish {
    const char *const *argv; /* ended by NULL; looked for on PATH */
    int input;               /* its standard input; -1: nothing */
    int output;              /* its standard output */
    int kept;                /* a file that it gets by the same number; -1: none */
} snd_child_wish;

/* How a run ended. */
typedef struct snd_child_end {
    int start_error; /* it could not be started: an errno; the rest says nothing */
    int status;      /* its exit status, 0 to 255 */
    int signal;      /* that ended it; 0: none */
} snd_child_end;

/* Runs a command and waits for its end. Not for two threads at once. 0 when a system call failed, errno says why. */
int snd_child_run(const snd_child_wish *wish, snd_usage *used, snd_child_end *end);

/* From now on SIGINT, SIGQUIT, SIGTERM and SIGHUP are passed on to the command that runs, unless the terminal sent them
 * to both. */
void snd_child_pass_signals(void);

/* The first signal that came since; 0: none. */
int snd_child_signal(void);

/* Ends this process by the signal, as it would have ended without snd_child_pass_signals. */
void snd_child_end_by(int signal);

#endif
