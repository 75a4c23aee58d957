/* A profile summed by a key. */
#include "check.h"
#include "fixture.h"
#include "model/rollup.h"

/* Nodes of one site are one row; the root has none. */
static uint32_t
by_site(const snd_rollup *self, uint32_t node)
{
    const snd_profile_node *about = &self->profile->nodes[node];
    return about->parent == SND_NONE ? SND_NONE : snd_rollup_key(self, &about->site, sizeof about->site);
}

static uint32_t
add_node(snd_profile *profile, uint32_t parent, uint32_t site)
{
    uint32_t node;

    REQUIRE(snd_profile_add_node(profile, parent, 0, site, &node) == SND_OK);
    return node;
}

static void
put(snd_profile *profile, uint32_t node, snd_metric metric, uint64_t number)
{
    snd_value value = {.whole = number};

    if (snd_metric_get(metric)->is_real)
        value.real = (double)number;
    REQUIRE(snd_profile_set(profile, node, metric, value) == SND_OK);
}

/* A root, and below it f, which calls g, which calls f. */
static snd_profile *
recursive_profile(void)
{
    snd_profile *profile = snd_profile_new();
    uint32_t f = add_site(profile, SND_SITE_REGION, "f"), g = add_site(profile, SND_SITE_REGION, "g");
    uint32_t root = add_root(profile, add_track(profile, "main", 1, 0, 100), 100, 0);

    add_node(profile, add_node(profile, add_node(profile, root, f), g), f);
    return profile;
}

static uint64_t
number_of(const snd_rollup *rows, uint32_t row, snd_metric metric)
{
    return snd_metric_get(metric)->is_real ? (uint64_t)snd_rollup_real(rows, row, metric)
                                           : snd_rollup_whole(rows, row, metric);
}

/* None is left out: a metric that is new has a rule too. */
static void
every_metric_is_summed_by_its_rule(void)
{
    snd_profile *profile = recursive_profile();
    snd_rollup rows;

    for (unsigned metric = 0; metric < SND_METRIC_COUNT_OF; metric++) {
        put(profile, 1, (snd_metric)metric, 5);
        put(profile, 3, (snd_metric)metric, 3);
    }
    snd_rollup_make(profile, by_site, NULL, NULL, &rows);
    REQUIRE(rows.count == 2);
    for (unsigned metric = 0; metric < SND_METRIC_COUNT_OF; metric++) {
        static const uint64_t wanted[] = {[SND_RULE_SUM] = 8,  [SND_RULE_LEAST] = 3,   [SND_RULE_MOST] = 5,
                                          [SND_RULE_LAST] = 3, [SND_RULE_AVERAGE] = 8, [SND_RULE_EVERY] = 1};
        CHECK_NUMBER(number_of(&rows, 0, (snd_metric)metric), wanted[snd_metric_get((snd_metric)metric)->rule]);
        CHECK_NUMBER(number_of(&rows, 1, (snd_metric)metric), 0);
    }
    snd_profile_free(profile);
}

static void
recursion_counts_once_in_totals(void)
{
    snd_profile *profile = recursive_profile();
    snd_rollup rows;

    for (uint32_t node = 1; node <= 3; node++) {
        put(profile, node, SND_METRIC_TOTAL, 40 - 10 * node);
        put(profile, node, SND_METRIC_PYTHON, 10);
    }
    snd_rollup_make(profile, by_site, NULL, NULL, &rows);
    CHECK_NUMBER(snd_rollup_totals(&rows, SND_METRIC_TOTAL)[0], 30);
    CHECK_NUMBER(snd_rollup_totals(&rows, SND_METRIC_TOTAL)[1], 20);
    CHECK_NUMBER(snd_rollup_totals(&rows, SND_METRIC_PYTHON)[0], 30);
    CHECK_NUMBER(snd_rollup_totals(&rows, SND_METRIC_PYTHON)[1], 20);
    CHECK_NUMBER(snd_rollup_whole(&rows, 0, SND_METRIC_PYTHON), 20);
    snd_profile_free(profile);
}

static void
what_was_never_entered_is_not_the_shortest(void)
{
    snd_profile *profile = recursive_profile();
    snd_rollup rows;

    put(profile, 1, SND_METRIC_COUNT, 2);
    put(profile, 1, SND_METRIC_MIN, 7);
    put(profile, 3, SND_METRIC_COUNT, 0);
    put(profile, 3, SND_METRIC_MIN, 0);
    snd_rollup_make(profile, by_site, NULL, NULL, &rows);
    CHECK_NUMBER(snd_rollup_whole(&rows, 0, SND_METRIC_MIN), 7);
    snd_profile_free(profile);
}

static void
make_totals(void *context)
{
    snd_rollup rows;

    snd_rollup_make(context, by_site, NULL, NULL, &rows);
    (void)snd_rollup_totals(&rows, SND_METRIC_TOTAL);
    (void)snd_profile_without_ops(context);
}

static snd_status
make(void *context)
{
    return snd_work_run(make_totals, context, NULL);
}

static void
every_failing_allocation_is_reported(void)
{
    snd_profile *profile = small_profile();
    CHECK(fail_each_allocation(make, profile) >= 10);
    snd_profile_free(profile);
}

int
main(void)
{
    RUN_WORK(every_metric_is_summed_by_its_rule);
    RUN_WORK(recursion_counts_once_in_totals);
    RUN_WORK(what_was_never_entered_is_not_the_shortest);
    RUN(every_failing_allocation_is_reported);
    return check_report();
}
