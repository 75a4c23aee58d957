/* Signals that end a process, which saves first. */
#ifndef SND_COLLECT_SIGNALS_H
#define SND_COLLECT_SIGNALS_H

/* Where the program has left the default action `handler` comes in its place; or it is given back. The program's own
 * handlers stay, and come to its own exit. */
void snd_signals_watch(int on, void (*handler)(int));

#endif
