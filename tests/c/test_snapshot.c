/* From the live tracks to a profile, on a thread that stands still. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "fixture_calls.h"
#include "probe/core/snapshot.h"
#include "probe/counter/counter.h"
#include "probe/region/region.h"

static snd_track *track;

static void
enter_for(const char *name, uint64_t ticks)
{
    snd_span *span = snd_region_enter(track, region_site(name));
    pass_time(ticks);
    snd_region_leave(track, span);
}

static void
update(snd_snapshot *snapshot, snd_profile *profile, uint64_t origin)
{
    CHECK(snd_snapshot_update(snapshot, profile, origin, snd_clock_ticks()) == SND_OK);
}

static void
a_second_update_adds_what_is_new(void)
{
    snd_snapshot snapshot = {0};
    snd_profile *profile = snd_profile_new();

    track = start_anew("main");
    enter_for("old", 10);
    update(&snapshot, profile, 0);
    uint32_t old = find_node(profile, "main", "old");
    enter_for("old", 10);
    enter_for("new", 5);
    update(&snapshot, profile, 0);
    CHECK_NUMBER(find_node(profile, "main", "old"), old);
    CHECK_NUMBER(node_whole(profile, "main", "old", SND_METRIC_COUNT), 2);
    CHECK_NUMBER(node_whole(profile, "main", "new", SND_METRIC_COUNT), 1);
    snd_snapshot_free(&snapshot);
    snd_profile_free(profile);
}

static void
only_nodes_that_changed_are_marked(void)
{
    snd_snapshot snapshot = {0};
    snd_profile *profile = snd_profile_new();

    track = start_anew("main");
    enter_for("busy", 10);
    enter_for("idle", 10);
    update(&snapshot, profile, 0);
    CHECK_NUMBER(snapshot.changed_count, profile->node_count);
    snd_snapshot_written(&snapshot);
    enter_for("busy", 10);
    update(&snapshot, profile, 0);
    update(&snapshot, profile, 0);
    CHECK(snapshot.changed[find_node(profile, "main", "busy")]);
    CHECK(!snapshot.changed[find_node(profile, "main", "idle")]);
    snd_snapshot_free(&snapshot);
    snd_profile_free(profile);
}

static void
times_count_from_the_origin(void)
{
    snd_snapshot snapshot = {0};
    snd_profile *profile = snd_profile_new();
    uint64_t origin = test_clock();

    pass_time(100);
    track = start_anew("main");
    pass_time(50);
    update(&snapshot, profile, origin);
    const snd_profile_track *about = &profile->tracks[find_track(profile, "main")];
    CHECK_NUMBER(about->start_ns, 100);
    CHECK_NUMBER(about->end_ns, 150);
    snd_snapshot_free(&snapshot);
    snd_profile_free(profile);
}

static void
live_ids_lead_to_the_profiles_ids(void)
{
    snd_snapshot snapshot = {0};
    snd_profile *profile = snd_profile_new();

    track = start_anew("main");
    CHECK(snd_snapshot_track_id(&snapshot, track) == SND_NONE);
    CHECK(snd_snapshot_node(&snapshot, track, 0) == SND_NONE);
    snd_span *span = snd_region_enter(track, region_site("known"));
    uint32_t live = span->node->id;
    snd_region_leave(track, span);
    update(&snapshot, profile, 0);
    CHECK_NUMBER(snd_snapshot_track_id(&snapshot, track), find_track(profile, "main"));
    CHECK_NUMBER(snd_snapshot_node(&snapshot, track, live), find_node(profile, "main", "known"));
    CHECK(snd_snapshot_node(&snapshot, track, SND_GET(track->node_count)) == SND_NONE);
    snd_snapshot_free(&snapshot);
    snd_profile_free(profile);
}

/* A thread that has not entered anything since the reset does not know of it yet. */
static void
a_reset_that_a_thread_has_not_met_empties_its_nodes_all_the_same(void)
{
    snd_snapshot snapshot = {0};
    snd_profile *profile = snd_profile_new();

    track = start_anew("main");
    enter_for("before", 10);
    snd_counter_set(track, counter_site("count before"), 3);
    update(&snapshot, profile, 0);
    snd_track_reset_all();
    update(&snapshot, profile, 0);
    CHECK_NUMBER(node_whole(profile, "main", "before", SND_METRIC_COUNT), 0);
    CHECK_NUMBER(node_whole(profile, "main", "before", SND_METRIC_TOTAL), 0);
    CHECK_NUMBER(node_whole(profile, "main", "count before", SND_METRIC_COUNT), 0);
    CHECK(snapshot.changed[find_node(profile, "main", "before")]);
    snd_snapshot_free(&snapshot);
    snd_profile_free(profile);
}

typedef struct attempt {
    snd_snapshot snapshot;
    snd_profile *profile;
} attempt;

static snd_status
update_again(void *context)
{
    attempt *self = context;
    return snd_snapshot_update(&self->snapshot, self->profile, 0, snd_clock_ticks());
}

static void
an_update_that_failed_can_be_repeated(void)
{
    attempt self = {.profile = snd_profile_new()};

    track = start_anew("main");
    for (char name[] = "a"; name[0] <= 'z'; name[0]++) {
        enter_for(name, 10);
        enter_for(name, 10);
    }
    CHECK(fail_each_allocation(update_again, &self) > 10);
    for (char name[] = "a"; name[0] <= 'z'; name[0]++) {
        CHECK_NUMBER(node_whole(self.profile, "main", name, SND_METRIC_COUNT), 2);
        CHECK_NUMBER(node_whole(self.profile, "main", name, SND_METRIC_TOTAL), 20);
    }
    CHECK_NUMBER(self.snapshot.changed_count, self.profile->node_count);
    snd_snapshot_free(&self.snapshot);
    snd_profile_free(self.profile);
}

static void
a_histogram_that_found_no_memory_comes_with_the_next_update(void)
{
    attempt self = {.profile = snd_profile_new()};

    track = start_anew("main");
    enter_for("lasting", 10);
    enter_for("lasting", 10);
    (void)fail_each_allocation(update_again, &self);
    uint32_t node = find_node(self.profile, "main", "lasting");
    CHECK(self.profile->histograms != NULL && self.profile->histograms[node] != NULL);
    snd_snapshot_free(&self.snapshot);
    snd_profile_free(self.profile);
}

/* ---- a thread that is stopped in the middle of a change ---- */

static void
a_thread_stopped_while_it_enters_is_read_as_it_was_before(void)
{
    attempt self = {.profile = snd_profile_new()};

    track = start_anew("main");
    enter_for("stopped", 10);
    CHECK(update_again(&self) == SND_OK);
    snd_node *node = snd_node_child(track, track->root, region_site("stopped"));
    snd_track_write_begin(track);
    SND_ADD(node->open, 1);
    CHECK(update_again(&self) == SND_OK);
    CHECK_NUMBER(node_whole(self.profile, "main", "stopped", SND_METRIC_TOTAL), 10);
    CHECK_NUMBER(node_whole(self.profile, "main", "stopped", SND_METRIC_OPEN), 0);
    SND_ADD(node->open, UINT64_MAX);
    snd_track_write_end(track);
    snd_snapshot_free(&self.snapshot);
    snd_profile_free(self.profile);
}

static void
a_thread_stopped_while_it_calls_is_read_as_it_was_before(void)
{
    attempt self = {.profile = snd_profile_new()};
    snd_call_book *book = snd_call_book_new(0);

    track = start_anew("main");
    call_begin(book, "halted");
    pass_time(10);
    call_end(book, "halted");
    CHECK(update_again(&self) == SND_OK);
    snd_node *node = snd_node_child(track, track->root, call_site("halted", ""));
    snd_track_write_begin(track);
    SND_ADD(node->call.level, 1);
    CHECK(update_again(&self) == SND_OK);
    CHECK_NUMBER(node_whole(self.profile, "main", "halted", SND_METRIC_TOTAL), 10);
    CHECK_NUMBER(node_whole(self.profile, "main", "halted", SND_METRIC_COUNT), 1);
    CHECK_NUMBER(node_whole(self.profile, "main", "halted", SND_METRIC_OPEN), 0);
    SND_SET(node->call.level, 0);
    snd_track_write_end(track);
    snd_call_book_free(book);
    snd_snapshot_free(&self.snapshot);
    snd_profile_free(self.profile);
}

/* The collector came between the making of a node and its first call. */
static void
a_node_that_has_no_function_yet_is_passed_over(void)
{
    attempt self = {.profile = snd_profile_new()};
    snd_call_book *book = snd_call_book_new(0);

    track = start_anew("main");
    call_begin(book, "half made");
    call_begin(book, "half made below");
    snd_call_book_flush(book);
    snd_node *function = snd_node_child(track, track->root, call_site("half made", ""));
    snd_node *cell = snd_node_child(track, function, call_site("half made below", ""));
    snd_node *below = SND_GET(cell->call.function);
    SND_SET(cell->call.function, NULL);
    CHECK(update_again(&self) == SND_OK);
    uint32_t node = find_node(self.profile, "main", "half made/half made below");
    CHECK(node != SND_NONE && !snd_profile_has(self.profile, node, SND_METRIC_COUNT));
    SND_SET(cell->call.function, below);
    CHECK(update_again(&self) == SND_OK);
    CHECK_NUMBER(node_whole(self.profile, "main", "half made", SND_METRIC_COUNT), 1);
    CHECK_NUMBER(node_whole(self.profile, "main", "half made/half made below", SND_METRIC_COUNT), 1);
    snd_call_book_free(book);
    snd_snapshot_free(&self.snapshot);
    snd_profile_free(self.profile);
}

static void
a_thread_stopped_while_it_counts_is_read_as_it_was_before(void)
{
    attempt self = {.profile = snd_profile_new()};

    track = start_anew("main");
    snd_counter_set(track, counter_site("stopped count"), 3);
    CHECK(update_again(&self) == SND_OK);
    snd_node *node = snd_node_child(track, track->root, counter_site("stopped count"));
    snd_track_write_begin(track);
    SND_SET(node->value_max, 99.0);
    CHECK(update_again(&self) == SND_OK);
    CHECK(node_real(self.profile, "main", "stopped count", SND_METRIC_VALUE_MAX) == 3);
    snd_track_write_end(track);
    snd_snapshot_free(&self.snapshot);
    snd_profile_free(self.profile);
}

static snd_status
update_from_nothing(void *context)
{
    snd_snapshot snapshot = {0};
    snd_profile *profile = snd_profile_new();
    snd_status status = profile == NULL ? SND_NO_MEMORY : SND_OK;

    (void)context;
    if (status == SND_OK)
        status = snd_snapshot_update(&snapshot, profile, 0, snd_clock_ticks());
    snd_snapshot_free(&snapshot);
    snd_profile_free(profile);
    return status;
}

static void
every_failing_allocation_is_reported(void)
{
    track = start_anew("main");
    enter_for("once", 10);
    CHECK(fail_each_allocation(update_from_nothing, NULL) > 10);
}

int
main(void)
{
    RUN(a_second_update_adds_what_is_new);
    RUN(only_nodes_that_changed_are_marked);
    RUN(times_count_from_the_origin);
    RUN(live_ids_lead_to_the_profiles_ids);
    RUN(a_reset_that_a_thread_has_not_met_empties_its_nodes_all_the_same);
    RUN(an_update_that_failed_can_be_repeated);
    RUN(a_histogram_that_found_no_memory_comes_with_the_next_update);
    RUN(a_thread_stopped_while_it_enters_is_read_as_it_was_before);
    RUN(a_thread_stopped_while_it_calls_is_read_as_it_was_before);
    RUN(a_node_that_has_no_function_yet_is_passed_over);
    RUN(a_thread_stopped_while_it_counts_is_read_as_it_was_before);
    RUN(every_failing_allocation_is_reported);
    return check_report();
}
