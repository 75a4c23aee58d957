/* Standard output and error as they are at this moment. */
#ifndef SND_OS_TERMINAL_H
#define SND_OS_TERMINAL_H

#include <stddef.h>

/* How text looks there. */
typedef struct snd_terminal {
    int unicode;    /* by the locale */
    int colour;     /* it is a terminal that has colours, and NO_COLOR is not set */
    unsigned width; /* what COLUMNS says, or the terminal; 0: neither does */
} snd_terminal;

snd_terminal snd_terminal_look(int file);

/* Writes to descriptor 2, whatever the program has made of its streams. Silent when that is closed, broken, full, or a
 * file that the program opened for itself, which has the number only because it was free; no SIGPIPE reaches the
 * program. Waits for a slow reader only if `waits`, until a signal comes: what is left then, to be written by another
 * call; else 0. Safe in a signal handler; keeps errno. */
size_t snd_terminal_say(const char *text, size_t size, int waits);

#endif
