/* Functions and pairs of a profile, added up over its tracks. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "fixture_calls.h"
#include "view/calls/calls.h"

#include <stdio.h>
#include <string.h>

static snd_calls
make(const snd_profile *profile)
{
    snd_calls calls = {0};
    REQUIRE(snd_calls_make(profile, SND_PAIRS_OF_SIGNATURES, &calls) == SND_OK);
    return calls;
}

/* The row of that name and signature; SND_NONE: there is none. */
static uint32_t
find_row(const snd_calls *calls, const char *name, const char *detail)
{
    for (uint32_t i = 0; i < calls->row_count; i++)
        if (strcmp(calls->rows[i].site.name, name) == 0 && strcmp(calls->rows[i].site.detail, detail) == 0)
            return i;
    return SND_NONE;
}

static const snd_calls_numbers *
numbers_of(const snd_calls *calls, const char *name)
{
    uint32_t row = find_row(calls, name, "");
    REQUIRE(row != SND_NONE);
    return &calls->rows[row].numbers;
}

static const snd_calls_numbers *
pair_of(const snd_calls *calls, uint32_t caller, uint32_t callee)
{
    for (uint32_t i = 0; i < calls->pair_count; i++)
        if (calls->pairs[i].caller == caller && calls->pairs[i].callee == callee)
            return &calls->pairs[i].numbers;
    REQUIRE(!"there is such a pair");
    return NULL;
}

static void
a_function_on_two_threads_is_one_row(void)
{
    snd_profile *profile = calls_profile();
    snd_calls calls = make(profile);

    CHECK_NUMBER(calls.row_count, 6);
    CHECK_NUMBER(calls.pair_count, 6);
    CHECK_NUMBER(numbers_of(&calls, "Point.move")->count, 15);
    CHECK_NUMBER(numbers_of(&calls, "Point.move")->self_ns, 2500000);
    CHECK_NUMBER(numbers_of(&calls, "Point.move")->total_ns, 3000000);
    CHECK_NUMBER(numbers_of(&calls, "fetch")->suspended_ns, 400000);
    CHECK_NUMBER(numbers_of(&calls, "fetch")->resumes, 3);
    snd_calls_free(&calls);
    snd_profile_free(profile);
}

static void
open_calls_count_and_only_the_outermost_is_primitive(void)
{
    snd_profile *profile = calls_profile();
    uint32_t fib = find_node(profile, "main", "fib");

    snd_calls calls = make(profile);
    CHECK_NUMBER(numbers_of(&calls, "main")->count, 1);
    CHECK_NUMBER(numbers_of(&calls, "main")->primitive, 1);
    CHECK_NUMBER(numbers_of(&calls, "fib")->count, 21891);
    CHECK_NUMBER(numbers_of(&calls, "fib")->primitive, 1);
    snd_calls_free(&calls);

    set_whole(profile, fib, SND_METRIC_OPEN, 5);
    set_whole(profile, fib, SND_METRIC_RECURSIVE, 21890 + 4);
    calls = make(profile);
    CHECK_NUMBER(numbers_of(&calls, "fib")->count, 21896);
    CHECK_NUMBER(numbers_of(&calls, "fib")->open, 5);
    CHECK_NUMBER(numbers_of(&calls, "fib")->primitive, 2);
    snd_calls_free(&calls);
    snd_profile_free(profile);
}

static void
pairs_say_who_called_whom(void)
{
    snd_profile *profile = calls_profile();
    snd_calls calls = make(profile);
    uint32_t fib = find_row(&calls, "fib", "");

    CHECK_NUMBER(pair_of(&calls, find_row(&calls, "main", ""), fib)->count, 1);
    CHECK_NUMBER(pair_of(&calls, fib, fib)->count, 21890);
    CHECK_NUMBER(pair_of(&calls, fib, fib)->primitive, 2);
    for (uint32_t i = 1; i < calls.pair_count; i++)
        CHECK(
            calls.pairs[i - 1].caller < calls.pairs[i].caller ||
            (calls.pairs[i - 1].caller == calls.pairs[i].caller && calls.pairs[i - 1].callee < calls.pairs[i].callee));
    snd_calls_turn_pairs(&calls);
    CHECK_NUMBER(pair_of(&calls, fib, find_row(&calls, "main", ""))->count, 1);
    CHECK_NUMBER(calls.pair_count, 6);
    snd_calls_free(&calls);
    snd_profile_free(profile);
}

static void
signatures_know_their_function(void)
{
    snd_profile *profile = signatures_profile();
    snd_calls calls = make(profile);
    uint32_t dot = find_row(&calls, "dot", ""), one = find_row(&calls, "dot", "dot(a:int, b:int)");

    CHECK_NUMBER(calls.row_count, 6);
    CHECK_NUMBER(calls.rows[one].function, dot);
    CHECK_NUMBER(calls.rows[dot].function, dot);
    CHECK_NUMBER(calls.rows[dot].signature_count, 2);
    CHECK_NUMBER(calls.rows[one].signature_count, 0);
    CHECK_NUMBER(calls.rows[dot].numbers.count, 21);
    CHECK_NUMBER(calls.pair_count, 3);
    snd_calls_free(&calls);
    REQUIRE(snd_calls_make(profile, SND_PAIRS_OF_FUNCTIONS, &calls) == SND_OK);
    CHECK_NUMBER(calls.pair_count, 2);
    CHECK_NUMBER(pair_of(&calls, find_row(&calls, "main", ""), dot)->count, 21);
    CHECK_NUMBER(pair_of(&calls, find_row(&calls, "main", ""), dot)->self_ns, 700);
    snd_calls_free(&calls);
    snd_profile_free(profile);
}

static void
a_function_without_a_node_is_the_sum_of_its_signatures(void)
{
    snd_profile *profile = snd_profile_new();
    uint32_t root = add_root(profile, add_track(profile, "main", 100, 0, 10), 10, 0);

    add_call(profile, root, add_call_site(profile, SND_SITE_FUNCTION, "f", 1, "f(a:int)"), 2, 30, 20);
    add_call(profile, root, add_call_site(profile, SND_SITE_FUNCTION, "f", 1, "f(a:str)"), 3, 40, 30);
    snd_calls calls = make(profile);
    CHECK_NUMBER(calls.row_count, 3);
    CHECK_NUMBER(numbers_of(&calls, "f")->count, 5);
    CHECK_NUMBER(numbers_of(&calls, "f")->self_ns, 50);
    snd_calls_free(&calls);
    snd_profile_free(profile);
}

/* A recording may hold any kind of site anywhere. */
static void
what_stands_where_no_call_belongs_is_passed_over(void)
{
    snd_profile *profile = snd_profile_new();
    uint32_t track = add_track(profile, "main", 100, 0, 10);
    uint32_t root = add_root(profile, track, 10, 0), node;
    uint32_t site = add_call_site(profile, SND_SITE_FUNCTION, "f", 1, "");
    uint32_t region = add_region(profile, root, "region", 1, 5, 5);

    REQUIRE(snd_profile_add_node(profile, SND_NONE, track, site, &node) == SND_OK); /* a root */
    add_call(profile, region, site, 1, 1, 1);
    uint32_t function = add_call(profile, root, site, 7, 70, 7);
    set_whole(profile, function, SND_METRIC_RECURSIVE, 100); /* more than there were */
    uint32_t pair = add_call(profile, function, site, 2, 20, 2);
    add_call(profile, pair, site, 4, 40, 4);
    add_region(profile, function, "inside", 1, 5, 5);
    add_call(profile, function, add_call_site(profile, SND_SITE_BUILTIN, "only here", 0, ""), 1, 1, 1);

    snd_calls calls = make(profile);
    CHECK_NUMBER(calls.row_count, 2);
    CHECK_NUMBER(calls.pair_count, 2);
    CHECK_NUMBER(numbers_of(&calls, "f")->count, 7);
    CHECK_NUMBER(numbers_of(&calls, "f")->primitive, 0);
    CHECK(!snd_calls_is_used(numbers_of(&calls, "only here")));
    snd_calls_free(&calls);
    snd_profile_free(profile);
}

static void
a_generator_that_only_paused_is_used(void)
{
    CHECK(snd_calls_is_used(&(snd_calls_numbers){.self_ns = 1}));
    CHECK(snd_calls_is_used(&(snd_calls_numbers){.resumes = 1}));
    CHECK(!snd_calls_is_used(&(snd_calls_numbers){.open = 0}));
}

static void
a_profile_without_calls_has_no_rows(void)
{
    snd_profile *profile = small_profile(), *empty = snd_profile_new();
    snd_calls calls = make(profile), none = make(empty);

    CHECK_NUMBER(calls.row_count + calls.pair_count + none.row_count + none.pair_count, 0);
    snd_calls_free(&calls);
    snd_calls_free(&none);
    snd_profile_free(profile);
    snd_profile_free(empty);
}

static void
two_hundred_thousand_pairs_are_no_problem(void)
{
    enum { SITES = 200, TRACKS = 5 };
    snd_profile *profile = snd_profile_new();
    uint32_t sites[SITES];
    char name[16];

    for (uint32_t i = 0; i < SITES; i++) {
        snprintf(name, sizeof name, "f%u", i);
        sites[i] = add_call_site(profile, SND_SITE_FUNCTION, name, i, "");
    }
    for (uint32_t t = 0; t < TRACKS; t++) {
        uint32_t root = add_root(profile, add_track(profile, "thread", 100 + t, 0, 10), 10, 0);
        for (uint32_t i = 0; i < SITES; i++) {
            uint32_t function = add_call(profile, root, sites[i], SITES, 1, 1);
            for (uint32_t k = 0; k < SITES; k++)
                add_call(profile, function, sites[k], 1, 1, 1);
        }
    }
    snd_calls calls = make(profile);
    CHECK_NUMBER(calls.row_count, SITES);
    CHECK_NUMBER(calls.pair_count, SITES * SITES);
    CHECK_NUMBER(calls.pairs[7].numbers.count, TRACKS);
    snd_calls_free(&calls);
    snd_profile_free(profile);
}

static snd_status
attempt(void *context)
{
    snd_calls calls = {0};
    snd_status status = snd_calls_make(context, SND_PAIRS_OF_SIGNATURES, &calls);
    CHECK((status == SND_OK) == (calls.rows != NULL));
    snd_calls_free(&calls);
    return status;
}

static void
every_failing_allocation_is_reported(void)
{
    snd_profile *profile = signatures_profile();
    CHECK(fail_each_allocation(attempt, profile) >= 5);
    snd_profile_free(profile);
}

int
main(void)
{
    RUN(a_function_on_two_threads_is_one_row);
    RUN(open_calls_count_and_only_the_outermost_is_primitive);
    RUN(pairs_say_who_called_whom);
    RUN(signatures_know_their_function);
    RUN(a_function_without_a_node_is_the_sum_of_its_signatures);
    RUN(what_stands_where_no_call_belongs_is_passed_over);
    RUN(a_generator_that_only_paused_is_used);
    RUN(a_profile_without_calls_has_no_rows);
    RUN(two_hundred_thousand_pairs_are_no_problem);
    RUN(every_failing_allocation_is_reported);
    return check_report();
}
