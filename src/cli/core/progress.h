/* A line on the terminal while a command works for long. */
#ifndef SND_CLI_CORE_PROGRESS_H
#define SND_CLI_CORE_PROGRESS_H

/* From the first second on a line says what runs and for how long, if standard error is a terminal that can remove it
 * again. `what` is copied. */
void snd_progress_start(const char *what);

/* Removes the line; nothing where there is none. Before anything else is printed. */
void snd_progress_stop(void);

#endif
