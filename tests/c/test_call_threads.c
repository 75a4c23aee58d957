/* Reading calls while they are made. One lock stands for the interpreter's; the clock counts its own reads, so that
 * every call takes a known time and every torn value shows. */
#include "check.h"
#include "fixture.h"
#include "fixture_calls.h"
#include "probe/core/snapshot.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WRITERS 2
#define ROUNDS 12u      /* in which all functions are called */
#define FUNCTIONS 1200u /* so many that the tracks grow while they are read */
#define STEP 10u

static pthread_mutex_t gil = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint64_t ticks;
static _Atomic int writers_left;
static snd_call_book *book;
static uint32_t outer_site, inner_site, bases[FUNCTIONS], signatures[FUNCTIONS];
static char keys[4 * FUNCTIONS]; /* by site */

static uint64_t
step_clock(void)
{
    return atomic_fetch_add_explicit(&ticks, STEP, memory_order_relaxed) + STEP;
}

static void
enter(uint32_t site, uint32_t base)
{
    snd_call_thread *thread = snd_call_thread_get(book);
    REQUIRE(thread != NULL);
    snd_call_enter(book, thread, site, base, &keys[base], 1);
}

static void
leave(uint32_t base)
{
    snd_call_leave(book, snd_call_thread_get(book), &keys[base]);
}

/* outer() calls inner() and one more function, which calls itself. All of it in seven steps. */
static void
call_one(uint32_t i)
{
    enter(outer_site, outer_site);
    enter(inner_site, inner_site);
    leave(inner_site);
    enter(signatures[i], bases[i]);
    enter(bases[i], bases[i]);
    leave(bases[i]);
    leave(bases[i]);
    leave(outer_site);
}

static void *
make_calls(void *context)
{
    uint32_t number = 0;

    (void)context;
    for (uint32_t i = 0; i < ROUNDS * FUNCTIONS; i++) {
        if (i % 8 == 0)
            pthread_mutex_lock(&gil);
        call_one(number++ % FUNCTIONS);
        if (i % 8 == 7)
            pthread_mutex_unlock(&gil);
    }
    atomic_fetch_sub(&writers_left, 1);
    while (SND_GET(writers_left) != 0) /* a thread that ends reads the clock, in the middle of another one's call */
        sched_yield();
    return NULL;
}

/* ---- the reader ---- */

/* What a node had when it was looked at last. */
typedef struct seen {
    uint64_t started, total, self, recursive;
} seen;

static seen *before;
static uint32_t before_count;

static uint64_t
value(const snd_profile *profile, uint32_t node, snd_metric metric)
{
    return snd_profile_whole(profile, node, metric);
}

static unsigned
gone_back(const snd_profile *profile, uint32_t node)
{
    seen now = {
        value(profile, node, SND_METRIC_COUNT) + value(profile, node, SND_METRIC_OPEN),
        value(profile, node, SND_METRIC_TOTAL),
        value(profile, node, SND_METRIC_SELF),
        value(profile, node, SND_METRIC_RECURSIVE),
    };
    const seen *then = &before[node];
    unsigned wrong = now.started < then->started || now.total < then->total || now.self < then->self ||
                     now.recursive < then->recursive;

    before[node] = now;
    return wrong;
}

/* A pair of which no call is open has finished calls of a known length only. */
static unsigned
torn(const snd_profile *profile, uint32_t node)
{
    const char *name = profile->sites[profile->nodes[node].site].name;
    uint32_t parent = profile->nodes[node].parent;
    uint64_t count = value(profile, node, SND_METRIC_COUNT);

    if (profile->nodes[parent].parent == SND_NONE || value(profile, node, SND_METRIC_OPEN) != 0)
        return 0;
    int is_outer = strcmp(profile->sites[profile->nodes[parent].site].name, "outer") == 0;
    uint64_t each = is_outer && strcmp(name, "inner") != 0 ? 3 : 1;
    return value(profile, node, SND_METRIC_TOTAL) != count * each * STEP ||
           value(profile, node, SND_METRIC_SELF) != count * (each == 3 ? 2 : 1) * STEP;
}

static unsigned
judge(const snd_profile *profile)
{
    unsigned wrong = 0;

    if (profile->node_count > before_count) {
        before = realloc(before, profile->node_count * sizeof *before);
        REQUIRE(before != NULL);
        memset(before + before_count, 0, (profile->node_count - before_count) * sizeof *before);
        before_count = profile->node_count;
    }
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (snd_site_is_call(profile->sites[profile->nodes[i].site].kind))
            wrong += gone_back(profile, i) + torn(profile, i);
    return wrong;
}

/* The lock is held for a look at the clock and at the list of threads, never while tracks are read. */
static void
update(snd_snapshot *snapshot, snd_profile *profile)
{
    const snd_track *tracks[WRITERS];
    size_t count = 0;

    pthread_mutex_lock(&gil);
    uint64_t now = SND_GET(ticks);
    for (const snd_call_thread *thread = book->threads; thread != NULL && book->is_private; thread = thread->next) {
        REQUIRE(count < WRITERS);
        tracks[count++] = thread->track;
    }
    pthread_mutex_unlock(&gil);
    for (size_t i = 0; i < count; i++)
        REQUIRE(snd_snapshot_add(snapshot, profile, tracks[i], 0, now) == SND_OK);
    if (!book->is_private)
        REQUIRE(snd_snapshot_update(snapshot, profile, 0, now) == SND_OK);
}

static uint64_t
sum_of(const snd_profile *profile, const char *name, const char *detail, snd_metric metric)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < profile->node_count; i++) {
        const snd_profile_site *site = &profile->sites[profile->nodes[i].site];
        uint32_t parent = profile->nodes[i].parent;
        if (parent != SND_NONE && profile->nodes[parent].parent == SND_NONE && strcmp(site->name, name) == 0 &&
            strcmp(site->detail, detail) == 0)
            sum += snd_profile_whole(profile, i, metric);
    }
    return sum;
}

static void
check_end(const snd_profile *profile)
{
    const uint64_t all = (uint64_t)WRITERS * ROUNDS * FUNCTIONS, each = (uint64_t)WRITERS * ROUNDS;

    CHECK_NUMBER(sum_of(profile, "outer", "", SND_METRIC_COUNT), all);
    CHECK_NUMBER(sum_of(profile, "outer", "", SND_METRIC_TOTAL), all * 7 * STEP);
    CHECK_NUMBER(sum_of(profile, "outer", "", SND_METRIC_SELF), all * 3 * STEP);
    CHECK_NUMBER(sum_of(profile, "inner", "", SND_METRIC_TOTAL), all * STEP);
    CHECK_NUMBER(sum_of(profile, "function 7", "", SND_METRIC_COUNT), 2 * each);
    CHECK_NUMBER(sum_of(profile, "function 7", "", SND_METRIC_RECURSIVE), each);
    CHECK_NUMBER(sum_of(profile, "function 7", "", SND_METRIC_TOTAL), 3 * STEP * each);
    CHECK_NUMBER(sum_of(profile, "function 7", "", SND_METRIC_SELF), 3 * STEP * each);
    CHECK_NUMBER(sum_of(profile, "function 7", "function 7(int)", SND_METRIC_COUNT), each);
    CHECK_NUMBER(sum_of(profile, "function 7", "function 7(int)", SND_METRIC_SELF), 2 * STEP * each);
}

static void
read_while_they_call(int is_private)
{
    pthread_t threads[WRITERS];
    snd_snapshot snapshot = {0};
    snd_profile *profile = snd_profile_new();
    unsigned wrong = 0, looks = 0;

    SND_SET(ticks, 1000);
    snd_clock_start(step_clock);
    snd_track_reset_all();
    book = snd_call_book_new(is_private);
    atomic_store(&writers_left, WRITERS);
    for (int i = 0; i < WRITERS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, make_calls, NULL) == 0);
    for (int is_last = 0; !is_last; looks++) {
        is_last = atomic_load(&writers_left) == 0;
        update(&snapshot, profile);
        wrong += judge(profile);
    }
    for (int i = 0; i < WRITERS; i++)
        REQUIRE(pthread_join(threads[i], NULL) == 0);
    CHECK_NUMBER(wrong, 0);
    CHECK(looks > 1);
    check_end(profile);
    snd_call_book_free(book);
    snd_snapshot_free(&snapshot);
    snd_profile_free(profile);
    free(before);
    before = NULL;
    before_count = 0;
}

static void
calls_of_a_private_book_are_never_read_torn(void)
{
    read_while_they_call(1);
}

static void
calls_on_the_tracks_of_the_process_are_never_read_torn(void)
{
    read_while_they_call(0);
}

int
main(void)
{
    char name[32], detail[32];

    outer_site = call_site("outer", "");
    inner_site = call_site("inner", "");
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        snprintf(name, sizeof name, "function %u", i);
        snprintf(detail, sizeof detail, "function %u(int)", i);
        bases[i] = call_site(name, "");
        signatures[i] = call_site(name, detail);
    }
    RUN(calls_of_a_private_book_are_never_read_torn);
    RUN(calls_on_the_tracks_of_the_process_are_never_read_torn);
    return check_report();
}
