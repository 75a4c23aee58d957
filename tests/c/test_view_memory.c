/* The views of memory on a profile made by hand. */
#include "base/alloc.h"
#include "base/text.h"
#include "check.h"
#include "fixture.h"
#include "fixture_memory.h"
#include "fixture_samples.h"
#include "fixture_table.h"
#include "fixture_walk.h"
#include "format/table/draw.h"
#include "format/table/format.h"
#include "format/table/reports.h"
#include "view/core/arrange.h"
#include "view/memory/memory_lines.h"
#include "view/memory/memory_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const views[] = {"memory", "leaks", "copies", "footprint", "owners", "sizes"};
#define VIEWS (sizeof views / sizeof views[0])

static uint64_t
sum_of(const snd_table *table, const char *column)
{
    uint64_t sum = 0;

    for (uint32_t r = 0; r < table->row_count; r++)
        sum += table->rows[r].is_extra ? 0 : (uint64_t)cell_of(table, r, column)->whole;
    return sum;
}

static uint64_t
total_of(const snd_profile *profile, snd_metric metric)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < profile->node_count; i++)
        sum += snd_profile_whole(profile, i, metric);
    return sum;
}

static snd_buffer
report_of(const snd_profile *profile, const char *view, snd_view_options options, snd_format_options format)
{
    snd_buffer text = {0};

    CHECK(snd_report_find(view)(profile, &options, &format, &text) == SND_OK);
    return text;
}

/* ---- by line ---- */

static const struct {
    const char *column;
    snd_metric metric;
} summed[] = {
    {"peak_bytes", SND_METRIC_LIVE_PEAK},      {"alloc_python_bytes", SND_METRIC_ALLOC_PYTHON},
    {"alloc_blocks", SND_METRIC_ALLOC_BLOCKS}, {"alloc_native_bytes", SND_METRIC_ALLOC_NATIVE},
    {"live_bytes", SND_METRIC_LIVE},           {"live_average_bytes", SND_METRIC_LIVE_AVERAGE},
    {"temporary_bytes", SND_METRIC_TEMPORARY}, {"taken", SND_METRIC_TAKEN},
};

static void
every_column_adds_up(void)
{
    static const snd_view_options all[] = {{0}, {.all_code = 1}, {.exclude = "*prog*"}, {.include = "*json*"}};
    snd_profile *profile = memory_profile();

    for (size_t o = 0; o < sizeof all / sizeof all[0]; o++) {
        snd_table *memory = make_view(profile, "memory", all[o]), *copies = make_view(profile, "copies", all[o]);
        for (size_t i = 0; i < sizeof summed / sizeof summed[0]; i++)
            CHECK_NUMBER(sum_of(memory, summed[i].column), total_of(profile, summed[i].metric));
        CHECK_NUMBER(sum_of(copies, "copied_bytes"), total_of(profile, SND_METRIC_COPIED));
        CHECK_NUMBER(sum_of(copies, "copies"), total_of(profile, SND_METRIC_COPIES));
        snd_table_free(memory);
        snd_table_free(copies);
    }
    snd_profile_free(profile);
}

static void
memory_of_libraries_stands_at_the_line_that_led_there(void)
{
    snd_profile *profile = memory_profile();
    snd_table *table = make_view(profile, "memory", (snd_view_options){0});

    CHECK_NUMBER(whole_of(table, "place", "prog.py:6", "peak"), 96 * MIB);
    CHECK_NUMBER(whole_of(table, "place", "prog.py:2", "peak"), 24 * MIB);
    CHECK_NUMBER(whole_of(table, "place", "[native code]", "peak"), 12 * MIB);
    CHECK_TEXT(cell_of(table, 0, "place")->text, "prog.py:10");
    CHECK_TEXT(cell_of(table, 0, "source")->text, "return numpy.zeros(n)");
    CHECK_TEXT(cell_of(table, 0, "function")->text, "build");
    snd_table_free(table);
    table = make_view(profile, "memory", (snd_view_options){.all_code = 1});
    CHECK_NUMBER(whole_of(table, "place", "prog.py:6", "peak"), MIB / 2);
    CHECK_NUMBER(whole_of(table, "place", "json/decoder.py:337", "peak"), 95 * MIB + MIB / 2);
    snd_table_free(table);
    snd_profile_free(profile);
}

static void
a_thread_can_be_chosen(void)
{
    snd_profile *profile = memory_profile();
    snd_table *table = make_view(profile, "memory", (snd_view_options){.thread = "pool"});

    CHECK_NUMBER(table->row_count, 1);
    CHECK(fabs(cell_of(table, 0, "peak_percent")->real - 100) < 1e-9);
    snd_table_free(table);
    table = NULL;
    for (size_t i = 0; i < VIEWS; i++)
        CHECK(snd_view_find(views[i])->make(profile, &(snd_view_options){.region = "none"}, &table) == SND_NO_DATA);
    snd_profile_free(profile);
}

static void
small_errors_are_for_programs_only(void)
{
    snd_profile *profile = memory_profile();
    snd_table *table = make_view(profile, "memory", (snd_view_options){0});
    const snd_cell *large = cell_of(table, find_row(table, "place", "prog.py:14"), "peak_error");
    const snd_cell *small = cell_of(table, find_row(table, "place", "prog.py:6"), "peak_error");

    CHECK(large->is_there && !large->is_quiet && small->is_there && small->is_quiet);
    CHECK_NUMBER(small->whole, 3632373); /* the root of 96 MiB × 128 KiB */
    snd_table_free(table);
    snd_profile_free(profile);
}

/* ---- the others ---- */

static void
a_tree_of_memory_adds_up(void)
{
    snd_profile *profile = memory_profile();
    snd_table *table = make_view(profile, "owners", (snd_view_options){.show_all = 1, .by_time = 1});
    uint64_t top = 0, self = 0;

    for (uint32_t r = 0; r < table->row_count; r++) {
        uint64_t peak = (uint64_t)cell_of(table, r, "peak")->whole;
        top += table->rows[r].depth == 0 ? peak : 0;
        if (r + 1 == table->row_count || table->rows[r + 1].depth <= table->rows[r].depth)
            self += peak; /* what has nothing below it */
    }
    CHECK_NUMBER(top, 412 * MIB);
    CHECK_NUMBER(self, top);
    CHECK(find_row(table, "name", "[self]") != SND_NONE); /* load() has memory beside what it calls */
    snd_table_free(table);
    snd_profile_free(profile);
}

static void
only_the_line_that_leaks_is_accused(void)
{
    snd_profile *profile = memory_profile();
    snd_table *table = make_view(profile, "leaks", (snd_view_options){0});

    CHECK_NUMBER(table->row_count, 1);
    CHECK_TEXT(cell_of(table, 0, "place")->text, "prog.py:14");
    CHECK_TEXT(cell_of(table, 0, "stack")->text, "main > remember");
    CHECK_TEXT(cell_of(table, 0, "verdict")->text, "leak");
    CHECK(strncmp(table->footer, "1 leak; ", 8) == 0);
    CHECK_HAS(table->footer, " skipped (too few surviving blocks)");
    snd_table_free(table);
    table = make_view(profile, "leaks", (snd_view_options){.show_all = 1});
    CHECK(table->row_count > 3);
    CHECK(find_row(table, "place", "prog.py:2") == SND_NONE); /* memory of imports is never judged */
    snd_table_free(table);
    set_info(profile, "length_ns", "1000000000");
    table = make_view(profile, "leaks", (snd_view_options){0});
    CHECK_NUMBER(table->row_count, 0);
    CHECK_HAS(table->footer, "; 0 lines checked, ");
    CHECK_HAS(table->footer, " skipped (the run is too short)");
    snd_table_free(table);
    snd_profile_free(profile);
}

static void
without_a_history_no_line_is_accused(void)
{
    snd_profile *profile = memory_profile();
    const snd_history none = {0};

    for (uint32_t i = 0; i < profile->node_count; i++)
        REQUIRE(snd_profile_set_history(profile, i, &none) == SND_OK);
    snd_table *table = make_view(profile, "leaks", (snd_view_options){0});
    CHECK_NUMBER(table->row_count, 0);
    CHECK(strncmp(table->footer, "no leaks found; ", 16) == 0);
    snd_table_free(table);
    snd_profile_free(profile);
}

static void
check_cost(const snd_profile *profile, const char *wanted)
{
    snd_buffer text = {0};

    snd_memory_view_cost(profile, &text);
    CHECK(strncmp(snd_buffer_str(&text), wanted, strlen(wanted)) == 0);
    snd_buffer_free(&text);
}

static void
the_footer_says_which_blocks_were_seen(void)
{
    snd_profile *profile = memory_profile();

    check_cost(profile, "sampled one block per 128 KiB; standard errors");
    set_info(profile, "memory_interval_bytes", "0");
    check_cost(profile, "blocks were sampled at random; standard errors");
    set_info(profile, "memory_exact", "1");
    check_cost(profile, "every allocation was recorded; standard errors");
    snd_profile_free(profile);
}

/* A line that also loads a module is judged without it, and has one growth all the same. */
static void
growth_is_the_same_in_all_views(void)
{
    const snd_profile_site importing = {SND_SITE_LINE, "_find_and_load", "<frozen importlib._bootstrap>", 9, "", 0, 1};
    snd_profile *profile = memory_profile();
    snd_table *leaks = make_view(profile, "leaks", (snd_view_options){.show_all = 1});
    uint32_t remember = SND_NONE;

    for (uint32_t i = 0; i < profile->node_count; i++)
        if (strcmp(profile->sites[profile->nodes[i].site].name, "remember") == 0)
            remember = i;
    REQUIRE(remember != SND_NONE);
    uint64_t judged = (uint64_t)whole_of(leaks, "place", "prog.py:14", "judged"), growth;
    growth = (uint64_t)whole_of(leaks, "place", "prog.py:14", "live_bytes");
    snd_table_free(leaks);
    set_whole(profile, add_frame(profile, remember, &importing), SND_METRIC_LIVE, MIB);
    leaks = make_view(profile, "leaks", (snd_view_options){.show_all = 1});
    snd_table *memory = make_view(profile, "memory", (snd_view_options){0});
    snd_table *lines = make_view(profile, "lines", (snd_view_options){0});
    for (uint32_t r = 0; r < leaks->row_count; r++) {
        const char *place = cell_of(leaks, r, "place")->text;
        CHECK_NUMBER(cell_of(leaks, r, "live_bytes")->whole, whole_of(memory, "place", place, "live_bytes"));
        CHECK_NUMBER(cell_of(leaks, r, "live_bytes")->whole, whole_of(lines, "place", place, "live_bytes"));
    }
    CHECK_NUMBER(whole_of(leaks, "place", "prog.py:14", "live_bytes"), growth + MIB);
    CHECK_NUMBER(whole_of(leaks, "place", "prog.py:14", "judged"), judged);
    snd_table_free(leaks);
    snd_table_free(memory);
    snd_table_free(lines);
    snd_profile_free(profile);
}

static void
the_footprint_is_both_series(void)
{
    snd_profile *profile = memory_profile();
    const snd_point more[] = {{5, 7.9}, {MEMORY_STEP_NS, NAN}};

    REQUIRE(snd_profile_set_series(profile, "rss", "bytes", more, 2) == SND_OK);
    snd_table *table = make_view(profile, "footprint", (snd_view_options){0});
    CHECK_NUMBER(table->row_count, 33);
    CHECK(!cell_of(table, 0, "rss")->is_there && !cell_of(table, 1, "heap")->is_there);
    CHECK_NUMBER(cell_of(table, 1, "rss")->whole, 7);
    CHECK_NUMBER(cell_of(table, 2, "heap")->whole, 24 * MIB);
    CHECK_NUMBER(cell_of(table, 2, "rss")->whole, 0);
    snd_table_free(table);
    snd_profile_free(profile);
}

static void
sizes_have_every_class_between(void)
{
    snd_profile *profile = memory_profile();
    snd_table *table = make_view(profile, "sizes", (snd_view_options){0});

    CHECK_NUMBER(table->row_count, 25);
    CHECK_TEXT(cell_of(table, 0, "size")->text, "16 B");
    CHECK_TEXT(cell_of(table, 24, "size")->text, "256 MiB");
    snd_table_free(table);
    snd_profile_free(profile);
}

/* ---- lines ---- */

static void
lines_have_columns_of_memory(void)
{
    snd_profile *profile = memory_profile(), *without = walk_profile();
    snd_table *table = make_view(profile, "lines", (snd_view_options){0});

    CHECK_NUMBER(whole_of(table, "place", "prog.py:10", "peak"), 256 * MIB); /* a line without a sample */
    CHECK_NUMBER(whole_of(table, "place", "[native code]", "alloc_native"), 12 * MIB);
    CHECK_NUMBER(whole_of(table, "place", "prog.py:22", "copied_bytes_per_second"), 40 * MIB);
    CHECK_TEXT(cell_of(table, find_row(table, "place", "prog.py:10"), "timeline")->text, "0088888888");
    CHECK(snd_table_find(table, "gpu_percent") < 0);
    snd_table_free(table);
    set_whole(profile, profile->node_count - 1, SND_METRIC_GPU, 303500000);
    table = make_view(profile, "lines", (snd_view_options){0});
    CHECK(fabs(cell_of(table, find_row(table, "place", "[native code]"), "gpu_percent")->real - 10) < 1e-6);
    snd_table_free(table);
    table = make_view(without, "lines", (snd_view_options){0});
    CHECK(snd_table_find(table, "peak_bytes") < 0);
    snd_table_free(table);
    snd_profile_free(profile);
    snd_profile_free(without);
}

static void
lines_of_memory_need_no_samples(void)
{
    snd_profile *profile = memory_only_profile();
    snd_table *table = make_view(profile, "lines", (snd_view_options){0}), *shown = NULL;

    CHECK_NUMBER(whole_of(table, "place", "prog.py:10", "peak"), 256 * MIB);
    CHECK_TEXT(table->rows[0].heading, "prog.py: % of memory = 97.09% (400 MiB) out of 412 MiB at the peak");
    CHECK(strncmp(table->footer, "peak 412 MiB at ", 16) == 0);
    REQUIRE(snd_table_select_shown(table, &shown) == SND_OK);
    CHECK(snd_table_find(shown, "python_percent") < 0);
    snd_table_free(shown);
    snd_table_free(table);
    snd_profile_free(profile);
}

/* ---- texts ---- */

static void
the_report_has_all_parts(void)
{
    static const char *const parts[] = {"peak 412 MiB at 2.400 s, growth 316 MiB, copied 130 MiB (40.6 MiB/s)\n",
                                        "resident memory: at most 442 MiB, 30.0 MiB at the start\n",
                                        "\nMemory at the peak, by owner\n",
                                        "\nThe same by call stack\n",
                                        "\nTemporary memory: freed within 10 ms",
                                        "\nAllocations by size\n",
                                        "\nsampled one block per 128 KiB; standard errors above 5%"};
    snd_profile *profile = memory_only_profile();
    snd_buffer text = report_of(profile, "memory", (snd_view_options){0}, (snd_format_options){0});
    const char *at = snd_buffer_str(&text);

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const char *next = strstr(at, parts[i]);
        if (next == NULL)
            CHECK_HAS(snd_buffer_str(&text), parts[i]);
        at = next == NULL ? at : next;
    }
    CHECK_TEXT(snd_view_default(profile)->name, "memory");
    snd_buffer_clear(&text);
    CHECK(snd_summary_write(profile, &(snd_view_options){0}, &(snd_format_options){0}, &text) == SND_OK);
    CHECK_HAS(snd_buffer_str(&text), "prog.py rows.json\n\nMemory\npeak 412 MiB");
    CHECK_HAS(snd_buffer_str(&text), "\n\nsampled one block per 128 KiB");
    snd_buffer_free(&text);
    snd_profile_free(profile);
}

static void
the_summary_names_the_peak_its_owners_and_the_leak(void)
{
    snd_profile *profile = memory_profile();
    snd_buffer text = {0};

    CHECK(snd_summary_write(profile, &(snd_view_options){0}, &(snd_format_options){0}, &text) == SND_OK);
    CHECK_HAS(snd_buffer_str(&text),
              "\nMemory\npeak 412 MiB at 2.400 s, growth 316 MiB, copied 130 MiB (40.6 MiB/s)\n");
    CHECK_HAS(
        snd_buffer_str(&text),
        "\nleak: prog.py:14 grows by 7.50 MiB/s (24.0 MiB in total, 99% confidence): cache[key] = value.copy()\n");
    snd_buffer_clear(&text);
    set_info(profile, "peak_error_bytes", "52428800");
    CHECK(snd_summary_write(profile, &(snd_view_options){0}, &(snd_format_options){0}, &text) == SND_OK);
    CHECK_HAS(snd_buffer_str(&text), "peak 412 MiB +- 50.0 MiB at 2.400 s");
    snd_buffer_free(&text);
    snd_profile_free(profile);
}

/* 30 lines that have memory at the peak, give some back at once, and grow all the time. */
static snd_profile *
many_lines(void)
{
    snd_profile *profile = memory_only_profile();
    uint32_t root = find_node(profile, "main", "");
    snd_history history = new_history();

    for (unsigned i = 0; i < 32; i++)
        add_step(&history, 7, 0, 128 * KIB);
    for (unsigned i = 0; i < 30; i++) {
        char line[64];
        snprintf(line, sizeof line, "/app/many.py:grow%u:%u:%u", i, 10 * i + 1, 10 * i + 2);
        uint32_t node = add_walk_line(profile, root, line);
        set_whole(profile, node, SND_METRIC_ALLOC_PYTHON, 30 * MIB);
        set_whole(profile, node, SND_METRIC_TEMPORARY, MIB);
        set_whole(profile, node, SND_METRIC_LIVE, 28 * MIB);
        set_whole(profile, node, SND_METRIC_LIVE_PEAK, 28 * MIB);
        REQUIRE(snd_profile_set_history(profile, node, &history) == SND_OK);
    }
    return profile;
}

static void
what_is_left_out_is_counted(void)
{
    snd_profile *profile = many_lines();
    snd_buffer text = report_of(profile, "memory", (snd_view_options){0}, (snd_format_options){0});

    CHECK_HAS(snd_buffer_str(&text), "\nMemory at the peak, by owner (the 15 largest of 36 lines)\n");
    CHECK_HAS(snd_buffer_str(&text), "\nThe same by call stack (the 25 largest of ");
    CHECK_HAS(snd_buffer_str(&text), "share of the line's allocations (the 8 largest of ");
    snd_buffer_clear(&text);
    CHECK(snd_summary_write(profile, &(snd_view_options){0}, &(snd_format_options){0}, &text) == SND_OK);
    CHECK_NUMBER(count_text(snd_buffer_str(&text), "\nleak: "), 5);
    CHECK_HAS(snd_buffer_str(&text), "\n26 more leaks: --leaks\n");
    snd_buffer_free(&text);
    snd_profile_free(profile);
}

static void
bytes_have_three_digits(void)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } all[] = {{0, "0 B"},          {1023, "1023 B"},         {1024, "1.00 KiB"},     {10229, "9.99 KiB"},
               {10240, "10.0 KiB"}, {1023 * KIB, "1.00 MiB"}, {512 * MIB, "512 MiB"}, {UINT64_MAX, "16.0 EiB"}};
    char text[SND_BYTES_SIZE];

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        snd_bytes_text(all[i].bytes, text);
        CHECK_TEXT(text, all[i].text);
    }
    CHECK_NUMBER(snd_bytes_of(NAN), 0);
    CHECK_NUMBER(snd_bytes_of(-1), 0);
    CHECK_NUMBER(snd_bytes_of(INFINITY), INT64_MAX);
    CHECK_NUMBER(snd_bytes_of(1.9), 1);
}

static void
drawings_follow_the_terminal(void)
{
    snd_buffer text = {0};

    snd_draw_bar(50, 4, 1, &text);
    snd_draw_bar(0.001, 4, 1, &text);
    snd_draw_bar(NAN, 4, 1, &text);
    CHECK_TEXT(snd_buffer_str(&text), "██▏");
    snd_buffer_clear(&text);
    snd_draw_bar(INFINITY, 4, 0, &text);
    snd_draw_spark("0148x", 0, &text);
    CHECK_TEXT(snd_buffer_str(&text), "#### .=@");
    snd_buffer_clear(&text);
    snd_draw_spark("0148", 1, &text);
    CHECK_TEXT(snd_buffer_str(&text), " ▁▄█");
    snd_buffer_free(&text);
}

static unsigned
widest(const char *text)
{
    unsigned most = 0;

    for (; *text != '\0'; text += strcspn(text, "\n") + 1)
        most = strcspn(text, "\n") > most ? (unsigned)strcspn(text, "\n") : most;
    return most;
}

static void
a_plot_is_as_wide_as_the_terminal(void)
{
    snd_profile *profile = memory_profile();

    for (unsigned width = 1; width < 300; width += 7) {
        snd_buffer text = report_of(profile, "footprint", (snd_view_options){0},
                                    (snd_format_options){.width = width, .no_footer = 1});
        CHECK(widest(snd_buffer_str(&text)) <= (width < 60 ? 60 : width));
        CHECK_HAS(snd_buffer_str(&text), "peak 412 MiB at 2.400 s");
        snd_buffer_free(&text);
    }
    snd_profile_free(profile);
}

/* ---- what goes wrong ---- */

static void
without_memory_there_is_nothing(void)
{
    snd_profile *profile = walk_profile();
    snd_table *table = NULL;
    snd_buffer text = {0};

    for (size_t i = 0; i < VIEWS; i++) {
        CHECK(snd_view_needs_memory(snd_view_find(views[i])));
        CHECK(snd_view_find(views[i])->make(profile, &(snd_view_options){0}, &table) == SND_NO_DATA);
    }
    CHECK(!snd_view_needs_memory(snd_view_find("lines")));
    CHECK(snd_report_memory(profile, &(snd_view_options){0}, &(snd_format_options){0}, &text) == SND_NO_DATA);
    CHECK(snd_report_footprint(profile, &(snd_view_options){0}, &(snd_format_options){0}, &text) == SND_NO_DATA);
    CHECK(snd_report_find("lines") == NULL);
    CHECK_NUMBER(text.size, 0);
    snd_profile_free(profile);
}

typedef snd_status writer(const snd_profile *profile, const snd_view_options *options, const snd_format_options *format,
                          snd_buffer *out);

static writer *const writers[] = {snd_report_memory, snd_report_footprint, snd_summary_write};
#define WRITERS (sizeof writers / sizeof writers[0])

typedef struct attempt {
    writer *write;
    const snd_profile *profile;
} attempt;

static snd_status
try_to_write(void *context)
{
    const attempt *self = context;
    snd_buffer text = {0};
    snd_status status = self->write(self->profile, &(snd_view_options){0}, &(snd_format_options){.width = 80}, &text);

    snd_buffer_free(&text);
    return status;
}

static void
every_failing_allocation_is_reported(void)
{
    snd_profile *const profiles[] = {memory_profile(), memory_only_profile()};

    for (size_t i = 0; i < 2; i++) {
        CHECK(fail_each_view(profiles[i], (snd_view_options){0}) > 50);
        for (size_t w = 0; w < WRITERS; w++)
            CHECK(fail_each_allocation(try_to_write, &(attempt){writers[w], profiles[i]}) > 5);
        snd_profile_free(profiles[i]);
    }
}

/* Not numbers, infinite and huge ones in every place. */
static void
numbers_from_hostile_files_do_no_harm(void)
{
    static const double reals[] = {NAN, INFINITY, -INFINITY, -1, 1e308, 0};
    static const uint64_t wholes[] = {UINT64_MAX, INT64_MAX, 0, 1};
    snd_point points[4];
    snd_block_size sizes[SND_BLOCK_SIZES];

    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
        snd_profile *profile = memory_profile();
        uint64_t huge = wholes[i % 4];
        for (uint32_t node = 0; node < profile->node_count; node++)
            for (unsigned m = SND_METRIC_ALLOC_PYTHON; m < SND_METRIC_COUNT_OF; m++) {
                if (snd_metric_get((snd_metric)m)->is_real)
                    set_real(profile, node, (snd_metric)m, reals[i]);
                else
                    set_whole(profile, node, (snd_metric)m, huge);
            }
        for (unsigned p = 0; p < 4; p++)
            points[p] = (snd_point){wholes[(p + i) % 4], reals[(p + i) % 6]};
        for (unsigned s = 0; s < SND_BLOCK_SIZES; s++)
            sizes[s] = (snd_block_size){huge, huge, huge, huge};
        REQUIRE(snd_profile_set_series(profile, "heap", "bytes", points, 4) == SND_OK);
        REQUIRE(snd_profile_set_sizes(profile, sizes) == SND_OK);
        set_info(profile, "length_ns", i % 2 == 0 ? "18446744073709551615" : "1");
        set_info(profile, "peak_at_ns", "18446744073709551615");
        set_info(profile, "peak_bytes", "18446744073709551615");
        for (size_t v = 0; v < VIEWS; v++)
            snd_table_free(make_view(profile, views[v], (snd_view_options){0}));
        snd_table_free(make_view(profile, "lines", (snd_view_options){0}));
        for (size_t w = 0; w < WRITERS; w++)
            CHECK(try_to_write(&(attempt){writers[w], profile}) == SND_OK);
        snd_profile_free(profile);
    }
}

int
main(void)
{
    RUN(every_column_adds_up);
    RUN(memory_of_libraries_stands_at_the_line_that_led_there);
    RUN(a_thread_can_be_chosen);
    RUN(small_errors_are_for_programs_only);
    RUN(a_tree_of_memory_adds_up);
    RUN(only_the_line_that_leaks_is_accused);
    RUN(without_a_history_no_line_is_accused);
    RUN(the_footer_says_which_blocks_were_seen);
    RUN(growth_is_the_same_in_all_views);
    RUN(the_footprint_is_both_series);
    RUN(sizes_have_every_class_between);
    RUN(lines_have_columns_of_memory);
    RUN(lines_of_memory_need_no_samples);
    RUN(the_report_has_all_parts);
    RUN(the_summary_names_the_peak_its_owners_and_the_leak);
    RUN(what_is_left_out_is_counted);
    RUN(bytes_have_three_digits);
    RUN(drawings_follow_the_terminal);
    RUN(a_plot_is_as_wide_as_the_terminal);
    RUN(without_memory_there_is_nothing);
    RUN(every_failing_allocation_is_reported);
    RUN(numbers_from_hostile_files_do_no_harm);
    return check_report();
}
