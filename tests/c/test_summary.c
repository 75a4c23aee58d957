/* The summary, sources line by line, and views of large profiles. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "fixture_calls.h"
#include "fixture_walk.h"
#include "format/table/format.h"
#include "view/core/source.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static snd_buffer
summary(const snd_profile *profile, snd_view_options options, snd_format_options format)
{
    snd_buffer text = {0};

    CHECK(snd_summary_write(profile, &options, &format, &text) == SND_OK);
    return text;
}

static void
it_starts_with_the_program_and_ends_with_the_cost(void)
{
    snd_profile *profile = walk_profile();
    snd_buffer text = summary(profile, (snd_view_options){0}, (snd_format_options){0});
    static const char *const parts[] = {"\nHottest lines\n", "\nHottest functions\n", "\nCall tree", "\nRegions\n",
                                        "\n3730 samples at 1000 Hz, 3 missed"};
    const char *at = snd_buffer_str(&text);

    CHECK(strstr(at, "walk.py --steps 1000\nran for 1.600 s, 1.870 s CPU (117% of one core)") == at);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const char *next = strstr(at, parts[i]);
        if (next == NULL)
            CHECK_HAS(snd_buffer_str(&text), parts[i]);
        at = next == NULL ? at : next;
    }
    snd_buffer_free(&text);
    text = summary(profile, (snd_view_options){0}, (snd_format_options){.no_footer = 1, .colour = 1});
    CHECK(strstr(snd_buffer_str(&text), "samples at") == NULL);
    CHECK_HAS(snd_buffer_str(&text), "\033[1mHottest lines\033[0m\n");
    snd_buffer_free(&text);
    snd_profile_free(profile);
}

static void
arguments_are_words_again(void)
{
    snd_profile *profile = walk_profile();

    set_info(profile, "arguments", "[\"a b\", \"\\\"c\\\"\", \"d\\u00e9e\", \"\\");
    snd_buffer text = summary(profile, (snd_view_options){0}, (snd_format_options){0});
    CHECK(strncmp(snd_buffer_str(&text), "a b \"c\" d?e \n", 13) == 0);
    snd_buffer_free(&text);
    set_info(profile, "arguments", "");
    text = summary(profile, (snd_view_options){0}, (snd_format_options){0});
    CHECK(strncmp(snd_buffer_str(&text), "walk.py\n", 8) == 0);
    snd_buffer_free(&text);
    snd_profile_free(profile);
}

static void
a_program_without_files_has_a_summary_too(void)
{
    snd_profile *profile = snd_profile_new();

    uint32_t root = add_root(profile, add_track(profile, "main", 100, 0, 1000), 1000, 0);
    add_cpu(profile, add_walk_symbol(profile, root, SND_SITE_NATIVE, "spin", "/usr/lib/libspin.so"), 0, 5, 0);
    snd_buffer text = summary(profile, (snd_view_options){0}, (snd_format_options){0});
    CHECK(strstr(snd_buffer_str(&text), "Hottest lines") == NULL);
    CHECK_HAS(snd_buffer_str(&text), "5.000 ms CPU: 0% Python, 100% native, 0% system; 1 thread\n");
    snd_buffer_free(&text);
    snd_profile_free(profile);
}

static void
a_large_tree_has_its_largest_rows(void)
{
    snd_profile *profile = snd_profile_new();
    uint32_t root = add_root(profile, add_track(profile, "main", 100, 0, 1000), 1000, 0);
    char name[] = "a";

    for (; name[0] <= 'z'; name[0]++) {
        uint32_t caller = add_walk_symbol(profile, root, SND_SITE_NATIVE, name, "/usr/lib/libspin.so");
        add_cpu(profile, add_walk_symbol(profile, caller, SND_SITE_NATIVE, "spin", "/usr/lib/libspin.so"), 0, 5, 0);
    }
    snd_buffer text = summary(profile, (snd_view_options){.show_all = 1}, (snd_format_options){0});
    CHECK_HAS(snd_buffer_str(&text), "\nCall tree (the 30 largest of 52 rows)\n");
    snd_buffer_free(&text);
    snd_profile_free(profile);
}

static void
without_samples_there_is_none(void)
{
    snd_profile *profile = calls_profile();
    snd_buffer text = {0};

    CHECK(snd_summary_write(profile, &(snd_view_options){0}, &(snd_format_options){0}, &text) == SND_NO_DATA);
    CHECK_NUMBER(text.size, 0);
    snd_profile_free(profile);
}

static snd_status
write_summary(void *context)
{
    snd_buffer text = {0};
    snd_status status = snd_summary_write(context, &(snd_view_options){0}, &(snd_format_options){0}, &text);

    snd_buffer_free(&text);
    return status;
}

static void
every_failing_allocation_is_reported(void)
{
    snd_profile *profile = walk_profile();

    CHECK(fail_each_allocation(write_summary, profile) > 100);
    snd_profile_free(profile);
}

/* ---- large profiles ---- */

static void
show_all_views(const snd_profile *profile)
{
    static const char *const names[] = {"lines", "functions", "tree", "threads"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snd_table *table = NULL, *shown = NULL;
        snd_buffer text = {0};
        REQUIRE(snd_view_find(names[i])->make(profile, &(snd_view_options){0}, &table) == SND_OK);
        REQUIRE(snd_table_select_shown(table, &shown) == SND_OK);
        snd_format_table(shown, &(snd_format_options){.width = 100, .unicode = 1}, &text);
        CHECK(snd_buffer_status(&text) == SND_OK && text.size > 0);
        snd_buffer_free(&text);
        snd_table_free(shown);
        snd_table_free(table);
    }
}

static void
stacks_may_be_very_deep(void)
{
    snd_profile *profile = deep_profile(100000);

    show_all_views(profile);
    snd_profile_free(profile);
}

/* 200,000 nodes of 20,000 lines in 200 files, 20 levels deep. */
static snd_profile *
large_profile(void)
{
    enum { NODES = 200000, SITES = 20000 };
    snd_profile *profile = snd_profile_new();
    uint32_t node, sites[SITES], levels[20];

    REQUIRE(profile != NULL);
    levels[0] = add_root(profile, add_track(profile, "main", 100, 0, 1000), 1000, 0);
    for (uint32_t i = 0; i < SITES; i++) {
        char file[64], name[32];
        snprintf(file, sizeof file, "%s/f%u.py", i % 3 == 0 ? "/usr/lib/python3.11/site-packages" : "/app", i % 200);
        snprintf(name, sizeof name, "f%u", i / 4);
        snd_profile_site site = {SND_SITE_LINE, name, file, i, "", 0, i / 4 * 4};
        REQUIRE(snd_profile_add_site(profile, &site, &sites[i]) == SND_OK);
    }
    for (uint32_t i = 0; i < NODES; i++) {
        uint32_t level = 1 + i % 19;
        REQUIRE(snd_profile_add_node(profile, levels[level - 1], 0, sites[i * 7919u % SITES], &node) == SND_OK);
        set_whole(profile, node, SND_METRIC_PYTHON, 1000 + i % 100);
        set_whole(profile, node, SND_METRIC_SAMPLES, 1);
        levels[level] = node;
    }
    return profile;
}

static void
a_large_profile_is_shown_at_once(void)
{
    snd_profile *profile = large_profile();
    struct timespec start, end;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    show_all_views(profile);
    snd_buffer text = summary(profile, (snd_view_options){0}, (snd_format_options){.width = 80});
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    double took = (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
    printf("four views and the summary of 200,000 nodes: %.2f s\n", took);
    CHECK(took < 20); /* with sanitizers; else far below one second */
    snd_buffer_free(&text);
    snd_profile_free(profile);
}

int
main(void)
{
    RUN(it_starts_with_the_program_and_ends_with_the_cost);
    RUN(arguments_are_words_again);
    RUN(a_program_without_files_has_a_summary_too);
    RUN(a_large_tree_has_its_largest_rows);
    RUN(without_samples_there_is_none);
    RUN(every_failing_allocation_is_reported);
    RUN(stacks_may_be_very_deep);
    RUN(a_large_profile_is_shown_at_once);
    return check_report();
}
