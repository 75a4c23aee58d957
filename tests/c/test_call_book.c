/* Books of calls: their life, their threads, and the process around them. */
#include "check.h"
#include "fixture.h"
#include "fixture_calls.h"
#include "os/process.h"
#include "probe/region/region.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

static snd_call_book *book;
static snd_profile *profile;

static void
begin(int is_private)
{
    if (book != NULL)
        snd_call_book_flush(book); /* what is shared stays open on the process's tracks else */
    snd_call_book_free(book);
    (void)start_anew("main");
    book = snd_call_book_new(is_private);
    REQUIRE(book != NULL);
}

static void
call(const char *name, uint64_t ticks)
{
    call_begin(book, name);
    pass_time(ticks);
    call_end(book, name);
}

static void
look(void)
{
    snd_profile_free(profile);
    profile = book->is_private ? book_profile(book) : profile_now();
}

static uint64_t
number(const char *path, snd_metric metric)
{
    return node_whole(profile, "main", path, metric);
}

/* Over all tracks, of the nodes below the roots. */
static uint64_t
sum_of(const char *name, snd_metric metric)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < profile->node_count; i++) {
        const snd_profile_node *node = &profile->nodes[i];
        if (node->parent != SND_NONE && profile->nodes[node->parent].parent == SND_NONE &&
            strcmp(profile->sites[node->site].name, name) == 0)
            sum += snd_profile_whole(profile, i, metric);
    }
    return sum;
}

/* ---- beginning, stopping, forgetting ---- */

static void
a_flush_ends_what_is_open(void)
{
    begin(1);
    call_begin(book, "main");
    pass_time(10);
    call_begin(book, "open");
    pass_time(100);
    snd_call_book_flush(book);
    pass_time(1000);
    look();
    CHECK_NUMBER(number("main", SND_METRIC_TOTAL), 110);
    CHECK_NUMBER(number("main", SND_METRIC_COUNT), 1);
    CHECK_NUMBER(number("open", SND_METRIC_SELF), 100);
    CHECK_NUMBER(number("open", SND_METRIC_OPEN), 0);
    CHECK_NUMBER(profile->tracks[0].end_ns - profile->tracks[0].start_ns, 110);
    call_end(book, "open"); /* its end is seen after all */
    look();
    CHECK_NUMBER(number("open", SND_METRIC_COUNT), 1);
}

static void
a_book_goes_on_after_a_flush(void)
{
    begin(1);
    call("again", 10);
    snd_call_book_flush(book);
    pass_time(1000);
    call_begin(book, "again");
    pass_time(5);
    look();
    CHECK_NUMBER(number("again", SND_METRIC_TOTAL), 15);
    CHECK_NUMBER(number("again", SND_METRIC_SELF), 15);
    CHECK_NUMBER(number("again", SND_METRIC_COUNT) + number("again", SND_METRIC_OPEN), 2);
    CHECK_NUMBER(profile->tracks[0].end_ns - profile->tracks[0].start_ns, 1015);
    CHECK_NUMBER(profile->track_count, 1);
}

static void
a_cleared_book_counts_what_is_open_from_then(void)
{
    begin(1);
    call("before", 10);
    call_begin(book, "main");
    pass_time(100);
    snd_call_book_clear(book);
    pass_time(1);
    call("after", 20);
    look();
    CHECK_NUMBER(number("before", SND_METRIC_COUNT) + number("before", SND_METRIC_TOTAL), 0);
    CHECK_NUMBER(number("main", SND_METRIC_TOTAL), 21);
    CHECK_NUMBER(number("main", SND_METRIC_SELF), 1);
    CHECK_NUMBER(number("main", SND_METRIC_OPEN), 1);
    CHECK_NUMBER(number("main/after", SND_METRIC_TOTAL), 20);
    call_end(book, "main");
    look();
    CHECK_NUMBER(number("main", SND_METRIC_TOTAL), 21);
    CHECK_NUMBER(profile->tracks[0].end_ns - profile->tracks[0].start_ns, 21);
}

static void
a_book_cleared_after_its_flush_has_no_length(void)
{
    begin(1);
    call("before", 10);
    snd_call_book_flush(book);
    pass_time(100);
    snd_call_book_clear(book);
    pass_time(100);
    look();
    CHECK_NUMBER(profile->tracks[0].start_ns, profile->tracks[0].end_ns);
    call_begin(book, "after");
    pass_time(5);
    look();
    CHECK_NUMBER(number("after", SND_METRIC_TOTAL), 5);
    CHECK_NUMBER(number("before", SND_METRIC_TOTAL), 0);
}

static void
a_book_in_the_place_of_a_freed_one_starts_empty(void)
{
    begin(1);
    uint64_t serial = book->serial;
    call("once", 10);
    call_begin(book, "left open");
    begin(1);
    CHECK(book->serial != serial);
    call("once", 5);
    look();
    CHECK_NUMBER(number("once", SND_METRIC_COUNT), 1);
    CHECK(find_node(profile, "main", "left open") == SND_NONE);
    snd_call_book_free(NULL);
}

static void
two_books_in_turn_do_not_mix(void)
{
    begin(1);
    snd_call_book *other = snd_call_book_new(1);
    call("mine", 10);
    call_begin(other, "yours");
    call_end(other, "yours");
    call("mine", 10);
    look();
    CHECK_NUMBER(number("mine", SND_METRIC_COUNT), 2);
    CHECK(find_node(profile, "main", "yours") == SND_NONE);
    snd_call_book_free(other);
}

/* ---- the process around it ---- */

static void
shared_calls_stand_beside_regions_and_leave_their_times_alone(void)
{
    begin(0);
    snd_track *track = snd_track_get();
    call_begin(book, "main");
    pass_time(1);
    snd_span *span = snd_region_enter(track, region_site("phase"));
    pass_time(10);
    call("step", 100);
    pass_time(10);
    snd_region_leave(track, span);
    call_end(book, "main");
    look();
    CHECK_NUMBER(number("phase", SND_METRIC_TOTAL), 120);
    CHECK_NUMBER(number("phase", SND_METRIC_SELF), 120);
    CHECK_NUMBER(number("phase", SND_METRIC_COUNT), 1);
    CHECK_NUMBER(number("", SND_METRIC_SELF), 1);
    CHECK_NUMBER(number("main", SND_METRIC_TOTAL), 121);
    CHECK_NUMBER(number("main", SND_METRIC_SELF), 21);
    CHECK_NUMBER(number("main/step", SND_METRIC_SELF), 100);
    CHECK(find_node(profile, "main", "phase/step") == SND_NONE);
}

static void
a_reset_of_the_process_counts_shared_calls_from_then(void)
{
    begin(0);
    call("before", 10);
    call_begin(book, "main");
    pass_time(100);
    snd_track_reset_all();
    pass_time(3);
    look();
    CHECK_NUMBER(number("before", SND_METRIC_COUNT) + number("main", SND_METRIC_TOTAL), 0);
    call("after", 20);
    call_end(book, "main");
    look();
    CHECK_NUMBER(number("before", SND_METRIC_COUNT), 0);
    CHECK_NUMBER(number("main", SND_METRIC_TOTAL), 23);
    CHECK_NUMBER(number("main", SND_METRIC_SELF), 3);
    CHECK_NUMBER(number("main", SND_METRIC_OPEN), 0);
    CHECK_NUMBER(number("main/after", SND_METRIC_TOTAL), 20);
}

static void
a_reset_of_the_process_is_nothing_to_a_private_book(void)
{
    begin(1);
    call_begin(book, "main");
    pass_time(100);
    snd_track_reset_all();
    call("step", 10);
    call_end(book, "main");
    look();
    CHECK_NUMBER(number("main", SND_METRIC_TOTAL), 110);
    CHECK_NUMBER(number("main/step", SND_METRIC_COUNT), 1);
}

static void
private_calls_are_not_in_the_profile_of_the_process(void)
{
    begin(1);
    call("in private", 10);
    snd_profile_free(profile);
    profile = profile_now();
    CHECK(find_node(profile, "main", "in private") == SND_NONE);
}

static void
the_ticks_of_a_shared_book_are_those_of_the_machine(void)
{
    begin(1);
    call("in ticks", 10);
    look();
    CHECK_NUMBER(number("in ticks", SND_METRIC_TOTAL), 10);
    CHECK(!book->threads->track->is_in_ns);
    begin(1);
    book->clock = test_clock;
    call("in ns", 10);
    CHECK(book->threads->track->is_in_ns);
}

/* ---- the timeline ---- */

static void
check_event(snd_ring *ring, const char *path, uint64_t start, uint64_t duration)
{
    snd_event event = {0};

    CHECK(snd_ring_pop(ring, &event));
    CHECK_NUMBER(event.start, start);
    CHECK_NUMBER(event.value, duration);
    CHECK_NUMBER(event.task, 0);
    const snd_node *node = snd_node_get(snd_track_get(), event.node);
    CHECK_TEXT(snd_site_get(node->site).name, path);
}

static void
every_call_is_an_event_of_the_timeline(void)
{
    begin(0);
    snd_track_keep_timeline(1);
    uint64_t start = test_clock();
    call_begin(book, "main");
    pass_time(10);
    call("step", 5);
    call_resume(book, "step", 0);
    pass_time(1);
    call_end(book, "step");
    call_end(book, "main");
    snd_track_keep_timeline(0);
    call("unseen", 1);
    snd_ring *ring = snd_track_ring(snd_track_get());
    REQUIRE(ring != NULL);
    check_event(ring, "step", start + 10, 5);
    check_event(ring, "step", start + 15, 1);
    check_event(ring, "main", start, 16);
    CHECK(!snd_ring_pop(ring, &(snd_event){0}));
}

/* ---- threads: one at a time, as the interpreter's lock has it ---- */

static pthread_barrier_t step;

static void *
work_in_between(void *context)
{
    (void)context;
    pthread_barrier_wait(&step);
    call_begin(book, "worker");
    pass_time(10);
    pthread_barrier_wait(&step);
    pthread_barrier_wait(&step);
    call_end(book, "worker");
    return NULL;
}

static void
check_two_threads(int is_private)
{
    pthread_t thread;

    begin(is_private);
    pthread_barrier_init(&step, NULL, 2);
    REQUIRE(pthread_create(&thread, NULL, work_in_between, NULL) == 0);
    call_begin(book, "main");
    pass_time(1);
    pthread_barrier_wait(&step);
    pthread_barrier_wait(&step);
    call("inner", 100);
    call_end(book, "main");
    pthread_barrier_wait(&step);
    REQUIRE(pthread_join(thread, NULL) == 0);
    look();
    CHECK_NUMBER(number("main", SND_METRIC_TOTAL), 111);
    CHECK_NUMBER(number("main", SND_METRIC_SELF), 11);
    CHECK_NUMBER(number("main/inner", SND_METRIC_COUNT), 1);
    CHECK(find_node(profile, "main", "worker") == SND_NONE);
    CHECK_NUMBER(sum_of("worker", SND_METRIC_TOTAL), 110);
    CHECK_NUMBER(sum_of("worker", SND_METRIC_COUNT), 1);
    pthread_barrier_destroy(&step);
}

static void
every_thread_has_its_own_stack(void)
{
    check_two_threads(1);
    CHECK_NUMBER(profile->track_count, 2);
    check_two_threads(0);
}

static void
call_once(void)
{
    call_begin(book, "thread");
    call("work", 10);
    call_end(book, "thread");
}

static void
leave_open(void)
{
    call_begin(book, "thread");
    snd_call_thread_get(book)->is_muted = 1;
    call_begin(book, "endless");
    pass_time(10);
}

static void
many_threads_in_turn_share_the_tracks_of_ended_ones(void)
{
    begin(1);
    call("main", 1);
    for (int i = 0; i < 200; i++)
        run_in_thread(call_once);
    look();
    CHECK(profile->track_count <= 64);
    CHECK_NUMBER(thread_count(profile), 201);
    CHECK_NUMBER(sum_of("work", SND_METRIC_COUNT), 200);
    CHECK_NUMBER(sum_of("work", SND_METRIC_TOTAL), 2000);
    CHECK_NUMBER(sum_of("thread", SND_METRIC_SELF), 0);
    CHECK_NUMBER(number("main", SND_METRIC_COUNT), 1);
}

static void
what_an_ended_thread_left_open_ends_when_its_track_is_taken_over(void)
{
    begin(1);
    for (int i = 0; i < 64; i++)
        run_in_thread(leave_open);
    for (int i = 0; i < 64; i++)
        run_in_thread(call_once);
    look();
    CHECK_NUMBER(profile->track_count, 64);
    CHECK_NUMBER(sum_of("endless", SND_METRIC_COUNT) + sum_of("endless", SND_METRIC_OPEN), 64);
    CHECK(sum_of("endless", SND_METRIC_COUNT) >= 1);
    CHECK_NUMBER(sum_of("thread", SND_METRIC_COUNT) + sum_of("thread", SND_METRIC_OPEN), 128);
    CHECK_NUMBER(sum_of("thread", SND_METRIC_RECURSIVE), 0);
    CHECK_NUMBER(sum_of("work", SND_METRIC_TOTAL), 640);
    for (const snd_call_thread *thread = book->threads; thread != NULL; thread = thread->next)
        CHECK(!thread->is_muted || thread->depth == 2);
}

static void
the_same_on_the_tracks_of_the_process(void)
{
    begin(0);
    for (unsigned i = 0; i < SND_TRACK_LIMIT + 10; i++)
        run_in_thread(leave_open);
    look();
    CHECK_NUMBER(sum_of("endless", SND_METRIC_COUNT) + sum_of("endless", SND_METRIC_OPEN), SND_TRACK_LIMIT + 10);
    CHECK_NUMBER(sum_of("endless", SND_METRIC_TOTAL), 10 * (SND_TRACK_LIMIT + 10));
    CHECK_NUMBER(sum_of("thread", SND_METRIC_RECURSIVE), 0);
    run_in_thread(call_once);
    look();
    CHECK_NUMBER(sum_of("work", SND_METRIC_TOTAL), 10);
    CHECK_NUMBER(sum_of("thread", SND_METRIC_RECURSIVE), 0);
}

/* Takes over tracks that a reset emptied while their threads were gone. */
static void
what_a_reset_has_forgotten_does_not_end_again(void)
{
    begin(0);
    for (unsigned i = 0; i < SND_TRACK_LIMIT + 1; i++)
        run_in_thread(leave_open);
    snd_track_reset_all();
    for (unsigned i = 0; i < SND_TRACK_LIMIT; i++)
        run_in_thread(call_once);
    look();
    CHECK_NUMBER(sum_of("work", SND_METRIC_TOTAL), 10 * SND_TRACK_LIMIT);
    CHECK_NUMBER(sum_of("endless", SND_METRIC_OPEN), 0);
    CHECK_NUMBER(sum_of("thread", SND_METRIC_OPEN), 0);
    CHECK_NUMBER(sum_of("thread", SND_METRIC_TOTAL), 10 * SND_TRACK_LIMIT);
}

/* ---- fork ---- */

static void *
wait_with_an_open_call(void *context)
{
    (void)context;
    call_begin(book, "waiting");
    snd_call_thread_get(book)->is_muted = 1;
    pthread_barrier_wait(&step);
    pthread_barrier_wait(&step);
    snd_call_thread_get(book)->is_muted = 0;
    call_end(book, "waiting");
    return NULL;
}

/* Another part of the process may hold the sites around a fork, and be told of its end later than the book. */
static int
go_on_in_child(void)
{
    alarm(100);
    snd_site_before_fork();
    snd_call_book_after_fork(book);
    snd_site_after_fork();
    pass_time(1000);
    call("in child", 10);
    call_end(book, "main");
    look();
    CHECK_NUMBER(number("main", SND_METRIC_TOTAL), 1110);
    CHECK_NUMBER(number("main", SND_METRIC_SELF), 1100);
    CHECK_NUMBER(number("main/in child", SND_METRIC_COUNT), 1);
    CHECK_NUMBER(sum_of("waiting", SND_METRIC_OPEN), 0);
    CHECK_NUMBER(sum_of("waiting", SND_METRIC_TOTAL), 0);
    CHECK_NUMBER(profile->tracks[find_track(profile, "main")].thread_id, snd_thread_id());
    for (const snd_call_thread *thread = book->threads; thread != NULL; thread = thread->next)
        CHECK(!thread->is_muted && thread->depth == 0);
    return check_child_status();
}

static void
in_a_forked_child_only_the_calling_thread_goes_on(void)
{
    pthread_t thread;

    begin(1);
    pthread_barrier_init(&step, NULL, 2);
    REQUIRE(pthread_create(&thread, NULL, wait_with_an_open_call, NULL) == 0);
    pthread_barrier_wait(&step);
    call_begin(book, "main");
    pass_time(100);
    CHECK_NUMBER(run_in_child(go_on_in_child), 0);
    call_end(book, "main");
    pthread_barrier_wait(&step);
    REQUIRE(pthread_join(thread, NULL) == 0);
    look();
    CHECK_NUMBER(number("main", SND_METRIC_TOTAL), 100);
    CHECK_NUMBER(sum_of("waiting", SND_METRIC_TOTAL), 100);
    pthread_barrier_destroy(&step);
}

int
main(void)
{
    RUN(a_flush_ends_what_is_open);
    RUN(a_book_goes_on_after_a_flush);
    RUN(a_cleared_book_counts_what_is_open_from_then);
    RUN(a_book_cleared_after_its_flush_has_no_length);
    RUN(a_book_in_the_place_of_a_freed_one_starts_empty);
    RUN(two_books_in_turn_do_not_mix);
    RUN(shared_calls_stand_beside_regions_and_leave_their_times_alone);
    RUN(a_reset_of_the_process_counts_shared_calls_from_then);
    RUN(a_reset_of_the_process_is_nothing_to_a_private_book);
    RUN(private_calls_are_not_in_the_profile_of_the_process);
    RUN(the_ticks_of_a_shared_book_are_those_of_the_machine);
    RUN(every_call_is_an_event_of_the_timeline);
    RUN(every_thread_has_its_own_stack);
    RUN(many_threads_in_turn_share_the_tracks_of_ended_ones);
    RUN(what_an_ended_thread_left_open_ends_when_its_track_is_taken_over);
    RUN(the_same_on_the_tracks_of_the_process);
    RUN(what_a_reset_has_forgotten_does_not_end_again);
    RUN(in_a_forked_child_only_the_calling_thread_goes_on);
    snd_profile_free(profile);
    snd_call_book_free(book);
    return check_report();
}
