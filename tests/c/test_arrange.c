/* Sorting, matching and limiting the rows of a table. */
#include "base/alloc.h"
#include "base/buffer.h"
#include "check.h"
#include "fixture.h"
#include "fixture_calls.h"
#include "view/core/arrange.h"
#include "view/core/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME, COUNT, TIME, SHARE, COLUMN_COUNT };

static const snd_column columns[] = {
    {"name", "name", SND_UNIT_TEXT, 1},
    {"count", "count", SND_UNIT_COUNT, 1},
    {"total_ns", "cumtime", SND_UNIT_NS, 1},
    {"share", "share", SND_UNIT_NUMBER, 1},
};

static void
add(snd_table *table, uint32_t depth, const char *name, int64_t count, double share)
{
    snd_cell *cells;

    REQUIRE(snd_table_add_row(table, depth, &cells) == SND_OK);
    cells[NAME] = (snd_cell){.is_there = 1, .text = snd_table_text(table, name)};
    cells[COUNT] = (snd_cell){.is_there = count >= 0, .whole = count};
    cells[TIME] = (snd_cell){.is_there = 1, .whole = 100 - count};
    cells[SHARE] = (snd_cell){.is_there = 1, .real = share};
}

/* b (c, a (x, y)), a, d (q); counts as they come. */
static snd_table *
make_tree(void)
{
    static const struct {
        uint32_t depth;
        const char *name;
        int64_t count;
        double share;
    } rows[] = {{0, "b", 3, 1},  {1, "c", 1, NAN},  {1, "a", 5, 2}, {2, "x", 2, 0},
                {2, "y", 9, -1}, {0, "a", -1, NAN}, {0, "d", 7, 4}, {1, "q", 3, 5}};
    snd_table *table = snd_table_new("tree", columns, COLUMN_COUNT);

    REQUIRE(table != NULL);
    table->is_tree = 1;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        add(table, rows[i].depth, rows[i].name, rows[i].count, rows[i].share);
    return table;
}

/* Names with a dot for every level. */
static void
check_rows(const snd_table *table, const char *wanted)
{
    snd_buffer text = {0};

    for (uint32_t r = 0; r < table->row_count; r++) {
        snd_buffer_text(&text, r == 0 ? "" : " ");
        snd_buffer_repeat(&text, '.', table->rows[r].depth);
        snd_buffer_text(&text, table->rows[r].cells[0].text);
    }
    CHECK_TEXT(snd_buffer_str(&text), wanted);
    snd_buffer_free(&text);
}

static void
check_sorted(const char *key, const char *wanted)
{
    snd_table *table = make_tree();

    CHECK(snd_table_sort(table, key) == SND_OK);
    check_rows(table, wanted);
    snd_table_free(table);
}

static void
check_matched(int matches_groups, const char *pattern, const char *wanted)
{
    snd_table *table = make_tree();
    char why[64];

    table->matches_groups = matches_groups;
    CHECK(snd_table_match(table, pattern, why, sizeof why) == SND_OK);
    check_rows(table, wanted);
    snd_table_free(table);
}

static void
siblings_are_sorted_and_stay_below_their_row(void)
{
    check_sorted("name", "a b .a ..x ..y .c d .q");
    check_sorted("count", "d .q b .a ..y ..x .c a");
    check_sorted("total", "a b .c .a ..x ..y d .q");
    check_sorted("total_ns", "a b .c .a ..x ..y d .q");
}

static void
what_is_unknown_comes_last(void)
{
    check_sorted("share", "d .q b .a ..x ..y .c a");
}

static void
equal_rows_stay_in_their_order(void)
{
    snd_table *table = snd_table_new("flat", columns, COLUMN_COUNT);

    for (char name[] = "a"; name[0] < 'z'; name[0]++)
        add(table, 0, name, (name[0] - 'a') % 2, 1);
    REQUIRE(snd_table_sort(table, "share") == SND_OK);
    check_rows(table, "a b c d e f g h i j k l m n o p q r s t u v w x y");
    REQUIRE(snd_table_sort(table, "count") == SND_OK);
    check_rows(table, "b d f h j l n p r t v x a c e g i k m o q s u w y");
    snd_table_free(table);
}

static void
keys_of_pstats_are_known_where_their_columns_are(void)
{
    static const char *const keys[] = {
#define KEY(key, columns, ascends) key,
        SND_SORT_KEY_MAP(KEY)
#undef KEY
    };
    snd_profile *profile = calls_profile();
    snd_table *table = NULL, *tree = make_tree();

    REQUIRE(snd_view_functions(profile, &(snd_view_options){0}, &table) == SND_OK);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        CHECK(snd_table_can_sort(table, keys[i]));
        CHECK(snd_table_sort(table, keys[i]) == SND_OK);
    }
    REQUIRE(snd_table_sort(table, "ncalls") == SND_OK);
    CHECK_TEXT(table->rows[0].cells[0].text, "run.py:10(fib)");
    CHECK_TEXT(table->rows[1].cells[0].text, "run.py:7(Point.move)");
    REQUIRE(snd_table_sort(table, "line") == SND_OK);
    CHECK_TEXT(table->rows[0].cells[0].text, "run.py:3(main)");
    REQUIRE(snd_table_sort(table, "nfl") == SND_OK);
    CHECK_TEXT(table->rows[0].cells[0].text, "{built-in method builtins.len}");
    CHECK(snd_table_can_sort(tree, "cumulative") && !snd_table_can_sort(tree, "nfl"));
    CHECK(snd_table_sort(tree, "nfl") == SND_BAD_ARGUMENT);
    CHECK(snd_table_sort(tree, "") == SND_BAD_ARGUMENT);
    check_rows(tree, "b .c .a ..x ..y a d .q");
    snd_table_free(tree);
    snd_table_free(table);
    snd_profile_free(profile);
}

static void
a_match_keeps_what_is_below_and_above_it(void)
{
    check_matched(0, "^y$", "b .a ..y");
    check_matched(0, "a", "b .a ..x ..y a");
    check_matched(0, "^[cq]", "b .c d .q");
    check_matched(0, "d|x", "b .a ..x d .q");
    check_matched(0, "nothing", "");
    check_matched(0, "", "b .c .a ..x ..y a d .q");
}

static void
groups_are_matched_by_their_first_row(void)
{
    check_matched(1, "a", "a");
    check_matched(1, "b", "b .c .a ..x ..y");
    check_matched(1, "q", "");
}

static void
a_pattern_that_is_none_says_why(void)
{
    snd_table *table = make_tree();
    char why[64] = "";

    CHECK(snd_table_match(table, "a(", why, sizeof why) == SND_BAD_ARGUMENT);
    CHECK(strlen(why) > 0);
    CHECK_NUMBER(table->row_count, 8);
    snd_table_free(table);
}

static void
a_limit_counts_rows_or_groups(void)
{
    snd_table *table = make_tree();

    snd_table_limit(table, UINT32_MAX);
    CHECK_NUMBER(table->row_count, 8);
    snd_table_limit(table, 6);
    check_rows(table, "b .c .a ..x ..y a");
    table->is_grouped = 1;
    snd_table_limit(table, 2);
    CHECK_NUMBER(table->row_count, 6);
    snd_table_limit(table, 1);
    check_rows(table, "b .c .a ..x ..y");
    snd_table_limit(table, 0);
    CHECK_NUMBER(table->row_count, 0);
    CHECK(snd_table_sort(table, "name") == SND_OK);
    add(table, 0, "again", 1, 1);
    check_rows(table, "again");
    snd_table_free(table);
}

static void
a_hundred_thousand_levels_are_no_problem(void)
{
    snd_table *table = snd_table_new("deep", columns, COLUMN_COUNT);
    char why[64];

    for (uint32_t i = 0; i < 100000; i++)
        add(table, i, i == 99999 ? "last" : "other", i, i);
    CHECK(snd_table_sort(table, "count") == SND_OK);
    CHECK_NUMBER(table->rows[99999].depth, 99999);
    CHECK(snd_table_match(table, "last", why, sizeof why) == SND_OK);
    CHECK_NUMBER(table->row_count, 100000);
    snd_table_free(table);
}

static snd_status
arrange(void *context)
{
    snd_table *table = context;
    char why[64];
    snd_status status = snd_table_sort(table, "name");

    if (status == SND_OK)
        status = snd_table_match(table, "b|a|d", why, sizeof why);
    CHECK_NUMBER(table->row_count, 8);
    return status;
}

static void
every_failing_allocation_leaves_the_table(void)
{
    snd_table *table = make_tree();

    CHECK(fail_each_allocation(arrange, table) >= 10);
    check_rows(table, "a b .a ..x ..y .c d .q");
    snd_table_free(table);
}

int
main(void)
{
    RUN(siblings_are_sorted_and_stay_below_their_row);
    RUN(what_is_unknown_comes_last);
    RUN(equal_rows_stay_in_their_order);
    RUN(keys_of_pstats_are_known_where_their_columns_are);
    RUN(a_match_keeps_what_is_below_and_above_it);
    RUN(groups_are_matched_by_their_first_row);
    RUN(a_pattern_that_is_none_says_why);
    RUN(a_limit_counts_rows_or_groups);
    RUN(a_hundred_thousand_levels_are_no_problem);
    RUN(every_failing_allocation_leaves_the_table);
    return check_report();
}
