/* sonde.h: regions, counters and recordings for C11 and C++17 programs and extension modules.
 *
 * Compile and link with the flags that `sonde config --cflags --libs` prints. In a Python process the regions of an
 * extension module are in the same tree as those of Python, on the same thread below the same parent.
 *
 *     #include <sonde.h>
 *
 *     static void work(void)
 *     {
 *         SONDE_REGION("work");      // until the end of this scope
 *         ...
 *     }
 *
 *     int main(void)
 *     {
 *         sonde_options options = {.recording = "run-%p.sonde"};
 *         if (sonde_start(&options) != 0)
 *             fprintf(stderr, "%s\n", sonde_error());
 *         work();
 *         sonde_stop();
 *     }
 */
#ifndef SONDE_H
#define SONDE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How to record. All zero: regions are measured, nothing is written. Paths take %p (process id), %h (host) and %r
 * (rank). */
typedef struct sonde_options {
    const char *recording;    /* the file to write, updated about once a second; NULL: none */
    const char *chrome_trace; /* a trace for Chrome and Perfetto, written while running; NULL: none */
    int timeline;             /* 1: keep every entry in the recording, not only totals */
    int cpu;                  /* 1: also measure CPU time; costs two system calls per entry */
} sonde_options;

/* Starts measuring. Returns 0, or -1 with sonde_error() set: a file cannot be written, or a recording is already
 * running (in a Python program Python may have started it). `options` may be NULL. */
int sonde_start(const sonde_options *options);

/* Stops and saves. Returns 0, or -1 with sonde_error() set when not everything could be saved. Done at exit if the
 * program does not call it. */
int sonde_stop(void);

/* Why the last sonde_start or sonde_stop of this thread failed. Never NULL; valid until the thread's next call. */
const char *sonde_error(void);

/* "0.1.0". */
const char *sonde_version(void);

/* A place in the program. Make one with SONDE_SITE in static storage; `id` belongs to the library. */
typedef struct sonde_site {
    const char *name;
    const char *file;
    uint32_t line;
    uint32_t id;
} sonde_site;

#define SONDE_SITE(name) {name, __FILE__, __LINE__, 0}

/* An open region. NULL when nothing is being measured; every function accepts that. */
typedef struct sonde_span sonde_span;

/* Enters a region below the one that this thread is in. About 30 ns with sonde_leave; next to nothing when no
 * recording runs. Leaving a region also leaves those entered since then. */
sonde_span *sonde_enter(sonde_site *site);
void sonde_leave(sonde_span *span);

/* The same without a handle: sonde_end leaves the innermost region of this thread, if one of these two entered it, and
 * does nothing otherwise. A name made at run time costs a lookup under a lock. */
void sonde_begin(sonde_site *site);
void sonde_begin_named(const char *name);
void sonde_end(void);

/* A named value per thread: set it, or add to it (from 0). Its extremes and average are kept, and its curve: every
 * update with a timeline, else up to 200 points per second. */
void sonde_counter_set(sonde_site *site, double value);
void sonde_counter_add(sonde_site *site, double delta);

/* Marks this moment on the calling thread's timeline. `detail` says more about it, such as "version=2"; NULL: nothing.
 * Costs a lookup under a lock. */
void sonde_mark(const char *name, const char *detail);

/* The name of the calling thread in tables and traces. */
void sonde_thread_name(const char *name);

/* Measures until the end of the enclosing scope, however it is left (except by longjmp). */
#define SONDE_REGION(name)                                                                      \
    static sonde_site SONDE_UNIQUE(sonde_site_) = SONDE_SITE(name);                             \
    __attribute__((cleanup(sonde_leave_scope), unused)) sonde_span *SONDE_UNIQUE(sonde_span_) = \
        sonde_enter(&SONDE_UNIQUE(sonde_site_))

/* Measures from SONDE_BEGIN to SONDE_END, which need not be in one scope. */
#define SONDE_BEGIN(name)                                     \
    do {                                                      \
        static sonde_site sonde_site_here = SONDE_SITE(name); \
        sonde_begin(&sonde_site_here);                        \
    } while (0)
#define SONDE_END() sonde_end()

/* Sets, or adds to, a named value. */
#define SONDE_COUNTER_SET(name, value)                        \
    do {                                                      \
        static sonde_site sonde_site_here = SONDE_SITE(name); \
        sonde_counter_set(&sonde_site_here, (value));         \
    } while (0)
#define SONDE_COUNTER_ADD(name, delta)                        \
    do {                                                      \
        static sonde_site sonde_site_here = SONDE_SITE(name); \
        sonde_counter_add(&sonde_site_here, (delta));         \
    } while (0)

/* Part of SONDE_REGION. */
static inline void
sonde_leave_scope(sonde_span **span)
{
    sonde_leave(*span);
}

#define SONDE_JOIN_(a, b) a##b
#define SONDE_JOIN(a, b) SONDE_JOIN_(a, b)
#define SONDE_UNIQUE(prefix) SONDE_JOIN(prefix, __LINE__)

#ifdef __cplusplus
}
#endif

#endif
