/* Profiles of calls, made by hand. */
#ifndef SND_TEST_FIXTURE_CALLS_H
#define SND_TEST_FIXTURE_CALLS_H

#include "model/profile.h"
#include "probe/call/call.h"

/* On main main() (open), which calls fib() (recursive), Point.move(), fetch() (a coroutine) and len();
 * Point.move() calls append() and runs on worker too. The functions' self times add up to 11 ms. */
snd_profile *calls_profile(void);

/* main() calls len() and dot(), which has two signatures. The functions' self times add up to 1000 ns. */
snd_profile *signatures_profile(void);

/* What is called, in /app/run.py; a node for it below a root (a function) or below a function (a pair). */
uint32_t add_call_site(snd_profile *profile, snd_site_kind kind, const char *name, uint32_t line, const char *detail);
uint32_t add_call(snd_profile *profile, uint32_t parent, uint32_t site, uint64_t count, uint64_t total_ns,
                  uint64_t self_ns);

/* ---- live calls ---- */

/* The site of a function, or of one of its signatures; ends the program when it gets no id. */
uint32_t call_site(const char *name, const char *detail);

/* A call on the calling thread starts or ends, as the interpreter's hooks say it: by a key for each function. */
void call_begin(snd_call_book *book, const char *name);
void call_begin_signature(snd_call_book *book, const char *name, const char *detail);
void call_resume(snd_call_book *book, const char *name, uint64_t paused); /* its generator goes on */
void call_end(snd_call_book *book, const char *name);

/* What the tracks of a private book hold now, in a profile of the caller's. */
snd_profile *book_profile(const snd_call_book *book);

#endif
