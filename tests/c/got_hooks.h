/* A library that leads malloc to a function of its own. */
#ifndef SND_TEST_GOT_HOOKS_H
#define SND_TEST_GOT_HOOKS_H

#define GOT_SIZE 4321u

int got_hooks_start(void); /* 0: it does not work */
void got_hooks_stop(void);

unsigned got_hooks_calls(void); /* for that many bytes */
void *got_hooks_take(void);     /* a block of them, from malloc */
void *got_hooks_real(void);     /* the function that ours goes on with */

#endif
