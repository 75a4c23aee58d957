/* Signals that end a process, which saves first and says where. */
#ifndef SND_COLLECT_SIGNALS_H
#define SND_COLLECT_SIGNALS_H

#include <stddef.h>

/* Where the program has left the default action `handler` comes in its place; or it is given back. The program's own
 * handlers stay, and come to its own exit. */
void snd_signals_watch(int on, void (*handler)(int));

/* From now on this process says where its recording is when it ends without a report of its own. */
void snd_signals_announce(void);

/* Says so on standard error if that is wanted of this process. `failure`: why not everything was saved; "": it was.
 * `parts`: where the processes that it started have left theirs; NULL: nowhere, or they are in the recording. */
void snd_signals_say(const char *recording, const char *failure, const char *parts);

/* The end of a process that was told to end and has saved: says the same on a thread of the program's, whose files they
 * are, and lets the signal do what it does by default. On a thread of ours. */
void snd_signals_end(int number, const char *recording, const char *failure, const char *parts);

#endif
