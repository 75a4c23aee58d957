/* The model in memory. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "model/profile.h"

#include <stdio.h>
#include <string.h>

static void
a_new_profile_is_empty(void)
{
    snd_profile *profile = snd_profile_new();

    CHECK_NUMBER(profile->site_count, 0);
    CHECK_NUMBER(profile->track_count, 0);
    CHECK_NUMBER(profile->node_count, 0);
    CHECK_NUMBER(profile->info_count, 0);
    CHECK(snd_profile_info(profile, "program") == NULL);
    CHECK_NUMBER(snd_profile_info_number(profile, "length_ns"), 0);
    snd_profile_free(profile);
    snd_profile_free(NULL);
}

static void
texts_are_copied(void)
{
    snd_profile *profile = snd_profile_new();
    char name[] = "load", file[] = "work.c", value[] = "work";
    snd_profile_site site = {SND_SITE_REGION, name, file, 7, "", 0, 0};
    uint32_t id;

    CHECK(snd_profile_add_site(profile, &site, &id) == SND_OK);
    set_info(profile, "program", value);
    memset(name, 'x', 4);
    memset(file, 'x', 6);
    memset(value, 'x', 4);
    CHECK_TEXT(profile->sites[id].name, "load");
    CHECK_TEXT(profile->sites[id].file, "work.c");
    CHECK_NUMBER(profile->sites[id].line, 7);
    CHECK_TEXT(snd_profile_info(profile, "program"), "work");
    snd_profile_free(profile);
}

static void
metrics_that_were_not_set_are_absent_and_read_as_zero(void)
{
    snd_profile *profile = snd_profile_new();
    uint32_t track = add_track(profile, "main", 1, 0, 10);
    uint32_t root = add_root(profile, track, 10, 10);

    CHECK(snd_profile_has(profile, root, SND_METRIC_TOTAL));
    CHECK(!snd_profile_has(profile, root, SND_METRIC_CPU));
    CHECK_NUMBER(snd_profile_whole(profile, root, SND_METRIC_TOTAL), 10);
    CHECK_NUMBER(snd_profile_whole(profile, root, SND_METRIC_CPU), 0);
    CHECK(snd_profile_real(profile, root, SND_METRIC_VALUE_LAST) == 0);
    set_real(profile, root, SND_METRIC_VALUE_LAST, -2.5);
    CHECK(snd_profile_real(profile, root, SND_METRIC_VALUE_LAST) == -2.5);
    set_whole(profile, root, SND_METRIC_CPU, 0);
    CHECK(snd_profile_has(profile, root, SND_METRIC_CPU));
    snd_profile_free(profile);
}

static void
values_survive_growth(void)
{
    snd_profile *profile = snd_profile_new();
    uint64_t counts[SND_HISTOGRAM_BUCKETS] = {1, 2, 3};
    uint32_t track = add_track(profile, "main", 1, 0, 10);
    uint32_t root = add_root(profile, track, 10, 10);

    CHECK(snd_profile_set_histogram(profile, root, counts) == SND_OK);
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t node;
        CHECK(snd_profile_add_node(profile, root, track, 0, &node) == SND_OK);
        CHECK_NUMBER(node, i + 1);
        CHECK(!snd_profile_has(profile, node, SND_METRIC_TOTAL));
        CHECK(profile->histograms[node] == NULL);
        set_whole(profile, node, SND_METRIC_COUNT, i);
    }
    CHECK_NUMBER(snd_profile_whole(profile, root, SND_METRIC_TOTAL), 10);
    CHECK(memcmp(profile->histograms[root], counts, sizeof counts) == 0);
    CHECK_NUMBER(snd_profile_whole(profile, 1000, SND_METRIC_COUNT), 999);
    counts[0] = 9;
    CHECK(snd_profile_set_histogram(profile, root, counts) == SND_OK);
    CHECK_NUMBER(profile->histograms[root][0], 9);
    snd_profile_free(profile);
}

static void
a_second_info_under_one_key_replaces_the_first(void)
{
    snd_profile *profile = snd_profile_new();
    char key[16];

    set_info(profile, "program", "one");
    set_info(profile, "program", "two");
    CHECK_NUMBER(profile->info_count, 1);
    CHECK_TEXT(snd_profile_info(profile, "program"), "two");
    CHECK(snd_profile_set_info_number(profile, "length_ns", UINT64_MAX) == SND_OK);
    CHECK_TEXT(snd_profile_info(profile, "length_ns"), "18446744073709551615");
    CHECK_NUMBER(snd_profile_info_number(profile, "length_ns"), UINT64_MAX);
    CHECK_NUMBER(snd_profile_info_number(profile, "program"), 0);
    for (int i = 0; i < 100; i++) {
        snprintf(key, sizeof key, "key %d", i);
        set_info(profile, key, key);
    }
    CHECK_TEXT(snd_profile_info(profile, "key 57"), "key 57");
    snd_profile_free(profile);
}

static void
a_track_can_be_described_anew(void)
{
    snd_profile *profile = snd_profile_new();
    uint32_t id = add_track(profile, "main", 1, 0, 10);
    snd_profile_track track = profile->tracks[id];

    track.name = "renamed";
    track.end_ns = 20;
    CHECK(snd_profile_set_track(profile, id, &track) == SND_OK);
    CHECK_TEXT(profile->tracks[id].name, "renamed");
    CHECK_NUMBER(profile->tracks[id].end_ns, 20);
    CHECK_NUMBER(profile->track_count, 1);
    snd_profile_free(profile);
}

static void
kinds_and_metrics_are_found_by_name(void)
{
    for (unsigned i = 0; i < SND_SITE_KIND_COUNT; i++)
        CHECK_NUMBER(snd_site_kind_find(snd_site_kind_name((snd_site_kind)i)), i);
    CHECK_NUMBER(snd_site_kind_find("planet"), SND_SITE_KIND_COUNT);
    CHECK_NUMBER(snd_site_kind_find(""), SND_SITE_KIND_COUNT);
    for (unsigned i = 0; i < SND_METRIC_COUNT_OF; i++)
        CHECK_NUMBER(snd_metric_find(snd_metric_get((snd_metric)i)->name), i);
    CHECK_NUMBER(snd_metric_find("TOTAL"), SND_METRIC_COUNT_OF);
    for (unsigned i = 0; i < SND_METRIC_COUNT_OF; i++)
        CHECK_NUMBER(snd_metric_first(SND_METRIC_BIT(i) | SND_METRIC_BIT(127)), i);
    CHECK(SND_METRIC_COUNT_OF <= 128); /* snd_profile_node.present has a bit for each */
}

/* ---- failing allocations ---- */

static snd_status
add_many_sites(snd_profile *profile)
{
    snd_status status = SND_OK;

    for (uint32_t i = 0; i < 40 && status == SND_OK; i++) {
        char name[16];
        uint32_t id = 77, before = profile->site_count;
        snprintf(name, sizeof name, "site %u", i);
        snd_profile_site site = {SND_SITE_REGION, name, "work.c", i, "", 0, 0};
        status = snd_profile_add_site(profile, &site, &id);
        CHECK_NUMBER(profile->site_count, before + (status == SND_OK));
        CHECK_NUMBER(id, status == SND_OK ? before : 77);
    }
    return status;
}

static snd_status
add_many_nodes(snd_profile *profile)
{
    uint64_t counts[SND_HISTOGRAM_BUCKETS] = {0};
    snd_status status = SND_OK;

    for (uint32_t i = 0; i < 40 && status == SND_OK; i++) {
        uint32_t id = 77, before = profile->node_count;
        status = snd_profile_add_node(profile, i == 0 ? SND_NONE : 0, 0, 0, &id);
        CHECK_NUMBER(profile->node_count, before + (status == SND_OK));
        if (status == SND_OK)
            status = snd_profile_set(profile, id, (snd_metric)(i % SND_METRIC_COUNT_OF), (snd_value){.whole = i});
        if (status == SND_OK && i % 5 == 0)
            status = snd_profile_set_histogram(profile, id, counts);
    }
    return status;
}

static snd_status
build(void *context)
{
    snd_profile_track track = {.name = "main"};
    uint32_t id;
    snd_profile *profile = snd_profile_new();
    snd_status status = profile == NULL ? SND_NO_MEMORY : SND_OK;

    (void)context;
    for (int i = 0; i < 20 && status == SND_OK; i++)
        status = snd_profile_add_track(profile, &track, &id);
    if (status == SND_OK)
        status = add_many_sites(profile);
    if (status == SND_OK)
        status = add_many_nodes(profile);
    for (uint64_t i = 0; i < 20 && status == SND_OK; i++)
        status = snd_profile_set_info_number(profile, snd_metric_get((snd_metric)(i % SND_METRIC_COUNT_OF))->name, i);
    snd_profile_free(profile);
    return status;
}

static void
every_failing_allocation_is_reported_and_leaves_no_trace(void)
{
    CHECK(fail_each_allocation(build, NULL) > 50);
}

static void
a_failed_info_keeps_the_old_one(void)
{
    snd_profile *profile = snd_profile_new();

    set_info(profile, "program", "old");
    snd_alloc_fail_after(0);
    CHECK(snd_profile_set_info(profile, "program", "new") == SND_NO_MEMORY);
    snd_alloc_fail_after(-1);
    CHECK_TEXT(snd_profile_info(profile, "program"), "old");
    for (long n = 0; n < 2; n++) {
        snd_alloc_fail_after(n);
        CHECK(snd_profile_set_info(profile, "another", "value") == SND_NO_MEMORY);
        snd_alloc_fail_after(-1);
        CHECK(snd_profile_info(profile, "another") == NULL);
    }
    snd_profile_free(profile);
}

static void
a_failed_description_keeps_the_old_one(void)
{
    snd_profile *profile = snd_profile_new();
    uint32_t id = add_track(profile, "main", 1, 0, 10);
    snd_profile_track track = {.name = "another", .end_ns = 99};

    snd_alloc_fail_after(0);
    CHECK(snd_profile_set_track(profile, id, &track) == SND_NO_MEMORY);
    snd_alloc_fail_after(-1);
    CHECK_TEXT(profile->tracks[id].name, "main");
    CHECK_NUMBER(profile->tracks[id].end_ns, 10);
    snd_profile_free(profile);
}

int
main(void)
{
    RUN(a_new_profile_is_empty);
    RUN(texts_are_copied);
    RUN(metrics_that_were_not_set_are_absent_and_read_as_zero);
    RUN(values_survive_growth);
    RUN(a_second_info_under_one_key_replaces_the_first);
    RUN(a_track_can_be_described_anew);
    RUN(kinds_and_metrics_are_found_by_name);
    RUN(every_failing_allocation_is_reported_and_leaves_no_trace);
    RUN(a_failed_info_keeps_the_old_one);
    RUN(a_failed_description_keeps_the_old_one);
    return check_report();
}
