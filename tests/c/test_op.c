/* Operators: their sites, what a call does, and how that comes into a profile. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "probe/core/snapshot.h"
#include "probe/op/op.h"
#include "probe/region/region.h"

#include <pthread.h>
#include <stdio.h>

#define THREADS 4

static const snd_op_facts facts_of_add = {160, 80, 10, 1, 2};

static uint32_t
add_op(const char *name, const char *detail, uint32_t line, const snd_op_facts *facts)
{
    snd_profile_site site = {.name = name, .file = line == 0 ? "" : "a.py", .line = line, .detail = detail};
    return snd_op_site(&site, facts);
}

static void
an_op_is_known_by_its_inputs_and_its_place_too(void)
{
    uint32_t site = add_op("numpy.add", "float64[10]", 0, &facts_of_add);

    CHECK(site != SND_NONE);
    CHECK_NUMBER(add_op("numpy.add", "float64[10]", 0, &facts_of_add), site);
    CHECK(add_op("numpy.add", "float64[11]", 0, &facts_of_add) != site);
    CHECK(add_op("numpy.add", "float64[10]", 3, &facts_of_add) != site);
    CHECK(add_op("numpy.subtract", "float64[10]", 0, &facts_of_add) != site);
    CHECK(snd_site_kind_get(site) == SND_SITE_OP);
    CHECK_TEXT(snd_site_get(site).detail, "float64[10]");
}

static void
facts_never_change(void)
{
    uint32_t site = add_op("numpy.exp", "float64[10]", 0, NULL);
    snd_op_facts facts;

    CHECK(!snd_op_facts_of(site, &facts));
    snd_op_set_facts(site, &facts_of_add);
    snd_op_set_facts(site, &(snd_op_facts){1, 1, 1, 1, 1});
    CHECK_NUMBER(add_op("numpy.exp", "float64[10]", 0, &(snd_op_facts){2, 2, 2, 2, 2}), site);
    CHECK(snd_op_facts_of(site, &facts));
    CHECK_NUMBER(facts.read_bytes, 160);
    CHECK_NUMBER(facts.written_bytes, 80);
    CHECK(facts.flops == 10);
    CHECK_NUMBER(facts.copies, 1);
    CHECK_NUMBER(facts.casts, 2);
    CHECK(!snd_op_facts_of(SND_NONE, &facts));
}

static void
facts_without_memory_are_not_known(void)
{
    char name[32];
    uint32_t site = SND_NONE;
    snd_op_facts facts;

    for (unsigned i = 0; i < 300; i++) { /* far enough that its block is not there */
        snprintf(name, sizeof name, "numpy.op%u", i);
        site = add_op(name, "", 0, NULL);
    }
    snd_alloc_fail_after(0);
    snd_op_set_facts(site, &facts_of_add);
    snd_alloc_fail_after(-1);
    CHECK(!snd_op_facts_of(site, &facts));
    snd_op_set_facts(site, &facts_of_add);
    CHECK(snd_op_facts_of(site, &facts));
}

static void *
set_facts_of_many(void *context)
{
    uint32_t *sites = context;
    snd_op_facts facts;

    for (uint32_t i = 0; i < 1000; i++) {
        uint64_t number = sites[i];
        snd_op_set_facts(sites[i], &(snd_op_facts){number, number, 0, 0, 0});
        if (snd_op_facts_of(sites[i], &facts)) /* or another thread is writing them */
            CHECK(facts.read_bytes == number && facts.written_bytes == number);
    }
    return NULL;
}

static void
threads_that_give_the_same_facts_do_not_meet(void)
{
    static uint32_t sites[1000];
    pthread_t threads[THREADS];
    snd_op_facts facts;
    char name[32];

    for (unsigned i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "numpy.many%u", i);
        sites[i] = add_op(name, "", 0, NULL);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, set_facts_of_many, sites) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < 1000; i++)
        CHECK(snd_op_facts_of(sites[i], &facts) && facts.read_bytes == sites[i]);
}

static void
call(snd_track *track, uint32_t site, uint64_t ticks)
{
    snd_span *span = snd_region_enter(track, site);
    pass_time(ticks);
    snd_region_leave(track, span);
}

static void
a_profile_has_the_facts_times_the_calls(void)
{
    snd_track *track = start_anew("main");
    uint32_t site = add_op("numpy.multiply", "float64[10]", 0, &facts_of_add);
    uint32_t sort = add_op("numpy.sort", "float64[10]", 0, &(snd_op_facts){80, 80, 0, 0, 0});

    snd_span *region = snd_region_enter(track, region_site("step"));
    for (int i = 0; i < 3; i++)
        call(track, site, 5);
    call(track, sort, 7);
    snd_region_leave(track, region);
    snd_profile *profile = profile_now();
    CHECK_NUMBER(node_whole(profile, "main", "step/numpy.multiply", SND_METRIC_COUNT), 3);
    CHECK_NUMBER(node_whole(profile, "main", "step/numpy.multiply", SND_METRIC_TOTAL), 15);
    CHECK_NUMBER(node_whole(profile, "main", "step/numpy.multiply", SND_METRIC_OP_READ), 480);
    CHECK_NUMBER(node_whole(profile, "main", "step/numpy.multiply", SND_METRIC_OP_WRITTEN), 240);
    CHECK_NUMBER(node_whole(profile, "main", "step/numpy.multiply", SND_METRIC_OP_COPIES), 3);
    CHECK_NUMBER(node_whole(profile, "main", "step/numpy.multiply", SND_METRIC_OP_CASTS), 6);
    CHECK(node_real(profile, "main", "step/numpy.multiply", SND_METRIC_OP_FLOPS) == 30);
    CHECK(!snd_profile_has(profile, find_node(profile, "main", "step/numpy.sort"), SND_METRIC_OP_FLOPS));
    CHECK(!snd_profile_has(profile, find_node(profile, "main", "step"), SND_METRIC_OP_READ));
    snd_profile_free(profile);
}

static void
a_call_that_has_not_ended_has_done_nothing_yet(void)
{
    snd_track *track = start_anew("main");
    snd_span *span = snd_region_enter(track, add_op("numpy.dot", "float64[10]", 0, &facts_of_add));
    snd_profile *profile = profile_now();

    CHECK_NUMBER(node_whole(profile, "main", "numpy.dot", SND_METRIC_OPEN), 1);
    CHECK_NUMBER(node_whole(profile, "main", "numpy.dot", SND_METRIC_OP_READ), 0);
    snd_region_leave(track, span);
    snd_profile_free(profile);
}

static void
a_reset_empties_what_operators_did(void)
{
    snd_snapshot snapshot = {0};
    snd_profile *profile = snd_profile_new();
    snd_track *track = start_anew("main");

    call(track, add_op("numpy.sum", "float64[10]", 0, &facts_of_add), 5);
    CHECK(snd_snapshot_update(&snapshot, profile, 0, snd_clock_ticks()) == SND_OK);
    CHECK_NUMBER(node_whole(profile, "main", "numpy.sum", SND_METRIC_OP_READ), 160);
    snd_track_reset_all();
    CHECK(snd_snapshot_update(&snapshot, profile, 0, snd_clock_ticks()) == SND_OK);
    CHECK_NUMBER(node_whole(profile, "main", "numpy.sum", SND_METRIC_OP_READ), 0);
    CHECK(node_real(profile, "main", "numpy.sum", SND_METRIC_OP_FLOPS) == 0);
    snd_snapshot_free(&snapshot);
    snd_profile_free(profile);
}

int
main(void)
{
    RUN(an_op_is_known_by_its_inputs_and_its_place_too);
    RUN(facts_never_change);
    RUN(facts_without_memory_are_not_known);
    RUN(threads_that_give_the_same_facts_do_not_meet);
    RUN(a_profile_has_the_facts_times_the_calls);
    RUN(a_call_that_has_not_ended_has_done_nothing_yet);
    RUN(a_reset_empties_what_operators_did);
    return check_report();
}
