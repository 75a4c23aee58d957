/* What happened inside regions of one name, as a profile. */
#include "check.h"
#include "fixture.h"
#include "fixture_samples.h"
#include "model/rollup.h"
#include "view/core/view.h"

static snd_profile *
inside(const snd_profile *profile, const char *region)
{
    snd_profile *part = NULL;

    REQUIRE(snd_profile_inside(profile, region, &part) == SND_OK);
    return part;
}

static void
the_region_and_what_is_below_it_stay_as_they_are(void)
{
    snd_profile *profile = small_profile();
    snd_profile *part = inside(profile, "load");

    CHECK_NUMBER(part->track_count, 1);
    CHECK_NUMBER(part->node_count, 3); /* the root, load and parse */
    CHECK_NUMBER(part->site_count, 3);
    CHECK_NUMBER(node_whole(part, "main", "load", SND_METRIC_COUNT), 2);
    CHECK_NUMBER(node_whole(part, "main", "load", SND_METRIC_SELF), 7000000);
    CHECK_NUMBER(node_whole(part, "main", "load/parse", SND_METRIC_COUNT), 10);
    CHECK(node_real(part, "main", "load/parse", SND_METRIC_SQUARE) ==
          node_real(profile, "main", "load/parse", SND_METRIC_SQUARE));
    CHECK(part->histograms[find_node(part, "main", "load/parse")] != NULL);
    CHECK(find_node(part, "main", "write") == SND_NONE);
    CHECK_TEXT(snd_profile_info(part, "program"), "work");
    snd_profile_free(part);
    snd_profile_free(profile);
}

static void
the_root_and_the_length_are_those_of_the_regions(void)
{
    snd_profile *profile = small_profile();
    snd_profile *part = inside(profile, "parse");

    CHECK_NUMBER(part->track_count, 2);
    CHECK_NUMBER(node_whole(part, "main", "", SND_METRIC_TOTAL), 1000000);
    CHECK_NUMBER(node_whole(part, "main", "", SND_METRIC_SELF), 0);
    CHECK_NUMBER(node_whole(part, "worker", "", SND_METRIC_TOTAL), 1600000);
    CHECK_NUMBER(snd_profile_info_number(part, "length_ns"), 2600000);
    CHECK(!snd_profile_has(part, find_node(part, "main", "load"), SND_METRIC_TOTAL)); /* it is only above */
    snd_profile_free(part);
    snd_profile_free(profile);
}

static void
a_region_inside_one_of_its_own_name_counts_once(void)
{
    snd_profile *profile = small_profile();
    uint32_t parse = find_node(profile, "main", "load/parse");

    add_region(profile, parse, "parse", 5, 1000, 5000);
    snd_profile *part = inside(profile, "parse");
    CHECK_NUMBER(node_whole(part, "main", "", SND_METRIC_TOTAL), 1000000);
    CHECK_NUMBER(node_whole(part, "main", "load/parse/parse", SND_METRIC_COUNT), 5);
    snd_profile_free(part);
    snd_profile_free(profile);
}

static void
samples_are_those_of_the_region(void)
{
    snd_profile *profile = samples_profile(), *part = inside(profile, "load");
    snd_table *whole = NULL, *lines = NULL;

    REQUIRE(snd_view_lines(part, &(snd_view_options){0}, &lines) == SND_OK);
    REQUIRE(snd_view_lines(profile, &(snd_view_options){.region = "load"}, &whole) == SND_OK);
    CHECK_NUMBER(lines->row_count, whole->row_count); /* as the view would have chosen them */
    for (uint32_t i = 0; i < lines->row_count * lines->column_count && lines->row_count == whole->row_count; i++)
        CHECK_NUMBER(lines->rows[i / lines->column_count].cells[i % lines->column_count].whole,
                     whole->rows[i / whole->column_count].cells[i % whole->column_count].whole);
    snd_table_free(lines);
    snd_table_free(whole);
    snd_profile_free(part);
    snd_profile_free(profile);
}

static void
sums_of_the_whole_process_are_left_out(void)
{
    snd_profile *profile = small_profile();

    set_info(profile, "cpu_ns", "99");
    set_info(profile, "peak_bytes", "99");
    set_info(profile, "sample_rate_hz", "1000");
    snd_profile *part = inside(profile, "load");
    CHECK(snd_profile_info(part, "cpu_ns") == NULL);
    CHECK(snd_profile_info(part, "peak_bytes") == NULL);
    CHECK_TEXT(snd_profile_info(part, "sample_rate_hz"), "1000");
    snd_profile_free(part);
    snd_profile_free(profile);
}

static void
a_source_that_nothing_is_in_is_left_out(void)
{
    snd_profile *profile = small_profile();

    REQUIRE(snd_profile_add_source(profile, "work.c", "int x;\n", 7) == SND_OK);
    REQUIRE(snd_profile_add_source(profile, "other.c", "int y;\n", 7) == SND_OK);
    snd_profile *part = inside(profile, "load");
    CHECK(snd_profile_source(part, "work.c") != NULL);
    CHECK(snd_profile_source(part, "other.c") == NULL);
    snd_profile_free(part);
    snd_profile_free(profile);
}

static void
a_name_that_no_region_has_gives_nothing(void)
{
    snd_profile *profile = small_profile(), *part = profile, *empty = snd_profile_new();

    CHECK(snd_profile_inside(profile, "nowhere", &part) == SND_NO_DATA);
    CHECK(snd_profile_inside(profile, "main", &part) == SND_NO_DATA); /* a thread */
    CHECK(snd_profile_inside(empty, "load", &part) == SND_NO_DATA);
    CHECK(part == profile);
    snd_profile_free(empty);
    snd_profile_free(profile);
}

static snd_status
attempt(void *context)
{
    snd_profile *part = NULL;
    snd_status status = snd_profile_inside(context, "load", &part);

    CHECK(status == SND_OK || part == NULL);
    snd_profile_free(part);
    return status;
}

static void
every_failing_allocation_is_reported(void)
{
    snd_profile *profile = small_profile();

    REQUIRE(snd_profile_add_source(profile, "work.c", "int x;\n", 7) == SND_OK);
    CHECK(fail_each_allocation(attempt, profile) > 10);
    snd_profile_free(profile);
}

int
main(void)
{
    RUN(the_region_and_what_is_below_it_stay_as_they_are);
    RUN(the_root_and_the_length_are_those_of_the_regions);
    RUN(a_region_inside_one_of_its_own_name_counts_once);
    RUN(samples_are_those_of_the_region);
    RUN(sums_of_the_whole_process_are_left_out);
    RUN(a_source_that_nothing_is_in_is_left_out);
    RUN(a_name_that_no_region_has_gives_nothing);
    RUN(every_failing_allocation_is_reported);
    return check_report();
}
