/* The call probe when memory runs out: nothing crashes, nothing leaks, what is lost is counted. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "fixture_calls.h"
#include "probe/core/snapshot.h"

#include <stdio.h>

#define FUNCTIONS 150
#define DEPTH 200

static uint32_t bases[FUNCTIONS], signatures[FUNCTIONS];

/* Sites are made once, by the interpreter's side. */
static void
make_sites(void)
{
    char name[32], detail[32];

    for (int i = 0; i < FUNCTIONS; i++) {
        snprintf(name, sizeof name, "function %d", i);
        snprintf(detail, sizeof detail, "function %d(int)", i);
        bases[i] = call_site(name, "");
        signatures[i] = call_site(name, detail);
    }
}

/* Every function with and without a signature, by the one before it, and one deep inside itself. Whether all of them
 * found room. */
static int
run_calls(snd_call_book *book)
{
    int is_whole = 1;

    for (int i = 0; i < FUNCTIONS; i++) {
        snd_call_thread *thread = snd_call_thread_get(book);
        if (thread == NULL)
            return 0;
        snd_call_enter(book, thread, signatures[i], bases[i], &bases[i], 1);
        snd_call_enter(book, thread, bases[i], bases[i], &signatures[i], 1);
        is_whole &= thread->depth == 2;
        pass_time(1);
        snd_call_leave(book, thread, &signatures[i]);
        snd_call_leave(book, thread, &bases[i]);
        CHECK_NUMBER(thread->depth, 0);
    }
    snd_call_thread *thread = snd_call_thread_get(book);
    for (int i = 0; i < DEPTH; i++)
        snd_call_enter(book, thread, bases[0], bases[0], &bases[0], 1);
    is_whole &= thread->depth == DEPTH;
    for (int i = 0; i < DEPTH; i++)
        snd_call_leave(book, thread, &bases[0]);
    CHECK_NUMBER(thread->depth, 0);
    return is_whole;
}

/* What was lost is said, and what is left is in order. */
static void
check_losses(const snd_call_book *book, int is_whole)
{
    uint64_t lost = book->lost;

    for (const snd_call_thread *thread = book->threads; thread != NULL; thread = thread->next) {
        lost += SND_GET(thread->track->dropped);
        for (uint32_t i = 1; i < SND_GET(thread->track->node_count); i++) {
            const snd_node *node = snd_node_get(thread->track, i);
            if (!snd_site_is_call(snd_site_kind_get(node->site)))
                continue;
            CHECK_NUMBER(SND_GET(node->call.level), 0);
            CHECK(SND_GET(node->call.function) != NULL);
        }
    }
    CHECK((lost == 0) == is_whole);
}

static snd_status
take_profile(const snd_call_book *book)
{
    snd_snapshot snapshot = {0};
    snd_profile *profile = snd_profile_new();
    snd_status status = profile == NULL ? SND_NO_MEMORY : SND_OK;

    for (const snd_call_thread *thread = book->threads; thread != NULL && status == SND_OK; thread = thread->next)
        status = snd_snapshot_add(&snapshot, profile, thread->track, 0, snd_call_now(book));
    snd_snapshot_free(&snapshot);
    snd_profile_free(profile);
    return status;
}

static snd_status
take_private(void *context)
{
    snd_call_book *book = snd_call_book_new(1);

    (void)context;
    if (book == NULL)
        return SND_NO_MEMORY;
    int is_whole = run_calls(book);
    check_losses(book, is_whole);
    snd_call_book_flush(book);
    snd_status status = take_profile(book);
    snd_call_book_free(book);
    return is_whole ? status : SND_NO_MEMORY;
}

static void
every_failing_allocation_of_a_private_book_is_counted_or_reported(void)
{
    CHECK(take_private(NULL) == SND_OK); /* the thread has a name then */
    CHECK(fail_each_allocation(take_private, NULL) > 20);
}

static snd_status
take_shared(void *context)
{
    snd_call_book *book = snd_call_book_new(0);
    uint64_t lost = snd_track_lost();

    if (book == NULL)
        return SND_NO_MEMORY;
    const snd_track *track = snd_track_mine;
    uint64_t dropped = track == NULL ? 0 : SND_GET(track->dropped);
    int is_whole = run_calls(book);
    lost = snd_track_lost() - lost;
    if (snd_track_mine != NULL)
        lost += SND_GET(snd_track_mine->dropped) - dropped;
    CHECK((lost == 0) == is_whole);
    snd_call_book_free(book);
    *(unsigned *)context += (unsigned)is_whole;
    return is_whole ? SND_OK : SND_NO_MEMORY;
}

static void
fail_on_a_new_thread(void)
{
    unsigned whole = 0;

    CHECK(fail_each_allocation(take_shared, &whole) > 5);
    CHECK_NUMBER(whole, 1);
}

static void
every_failing_allocation_of_a_shared_book_is_counted(void)
{
    (void)start_anew("main");
    run_in_thread(fail_on_a_new_thread);
}

/* The node of a signature is there, that of all its signatures found no room: it is as if neither were. */
static void
a_signature_without_its_function_is_not_entered(void)
{
    for (long n = 0; n < 8; n++) {
        snd_call_book *book = snd_call_book_new(1);
        snd_call_thread *thread = snd_call_thread_get(book);
        REQUIRE(thread != NULL && snd_call_grow(thread));
        for (int i = 0; SND_GET(thread->track->node_count) < 63; i++) {
            snd_call_enter(book, thread, bases[i], bases[i], &bases[i], 1);
            snd_call_leave(book, thread, &bases[i]);
        }
        snd_alloc_fail_after(n);
        for (int i = 0; i < 2; i++) {
            snd_call_enter(book, thread, signatures[100], bases[100], &bases[100], 1);
            snd_call_leave(book, thread, &bases[100]);
        }
        snd_alloc_fail_after(-1);
        check_losses(book, SND_GET(thread->track->node_count) == 65);
        snd_call_book_free(book);
    }
}

int
main(void)
{
    make_sites();
    RUN(every_failing_allocation_of_a_private_book_is_counted_or_reported);
    RUN(every_failing_allocation_of_a_shared_book_is_counted);
    RUN(a_signature_without_its_function_is_not_entered);
    return check_report();
}
