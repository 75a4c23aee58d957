/* The call probe on one thread, with a clock that the tests move: every number is exact. */
#include "check.h"
#include "fixture.h"
#include "fixture_calls.h"

#include <string.h>

static snd_call_book *book;
static snd_profile *profile;

static void
begin(void)
{
    snd_call_book_free(book);
    book = snd_call_book_new(1);
    REQUIRE(book != NULL);
    book->clock = test_clock;
}

static void
enter(const char *name)
{
    call_begin(book, name);
}

static void
leave(const char *name)
{
    call_end(book, name);
}

static void
call(const char *name, uint64_t ticks)
{
    enter(name);
    pass_time(ticks);
    leave(name);
}

static void
look(void)
{
    snd_profile_free(profile);
    profile = book_profile(book);
}

static uint64_t
number(const char *path, snd_metric metric)
{
    return node_whole(profile, "main", path, metric);
}

/* "name" is the function, "caller/name" what it did for that caller. */
static void
check_call(const char *path, uint64_t count, uint64_t total, uint64_t self)
{
    CHECK(find_node(profile, "main", path) != SND_NONE);
    CHECK_NUMBER(number(path, SND_METRIC_COUNT), count);
    CHECK_NUMBER(number(path, SND_METRIC_TOTAL), total);
    CHECK_NUMBER(number(path, SND_METRIC_SELF), self);
}

static void
calls_are_counted_and_timed_by_function_and_by_pair(void)
{
    begin();
    enter("main");
    pass_time(1);
    for (uint64_t i = 0; i < 3; i++) {
        enter("load");
        pass_time(10);
        call("parse", 100 + i);
        pass_time(10);
        leave("load");
        pass_time(1);
    }
    call("parse", 1000);
    leave("main");
    look();
    check_call("main", 1, 1367, 4);
    check_call("main/load", 3, 363, 60);
    check_call("load", 3, 363, 60);
    check_call("load/parse", 3, 303, 303);
    check_call("main/parse", 1, 1000, 1000);
    check_call("parse", 4, 1303, 1303);
    CHECK_NUMBER(number("load", SND_METRIC_OPEN), 0);
    CHECK(!snd_profile_has(profile, find_node(profile, "main", "load"), SND_METRIC_RECURSIVE));
}

/* Memory follows the functions and the pairs, not the depth. */
static void
a_call_has_one_caller_and_no_grandparents(void)
{
    begin();
    enter("main");
    enter("load");
    enter("parse");
    enter("read");
    leave("read");
    leave("parse");
    leave("load");
    leave("main");
    look();
    CHECK(find_node(profile, "main", "parse/read") != SND_NONE);
    CHECK(find_node(profile, "main", "load/parse/read") == SND_NONE);
    CHECK_NUMBER(profile->node_count, 1 + 4 + 3);
}

static void
recursion_counts_every_call_and_its_total_once(void)
{
    begin();
    for (int i = 0; i < 3; i++) {
        enter("fib");
        pass_time(10);
    }
    for (int i = 0; i < 3; i++) {
        leave("fib");
        pass_time(1);
    }
    look();
    check_call("fib", 3, 32, 32);
    CHECK_NUMBER(number("fib", SND_METRIC_RECURSIVE), 2);
    check_call("fib/fib", 2, 21, 21);
    CHECK_NUMBER(number("fib/fib", SND_METRIC_RECURSIVE), 1);
}

static void
mutual_recursion_counts_the_total_of_both_once(void)
{
    begin();
    enter("even");
    pass_time(1);
    enter("odd");
    pass_time(10);
    enter("even");
    pass_time(100);
    enter("odd");
    pass_time(1000);
    leave("odd");
    leave("even");
    leave("odd");
    leave("even");
    look();
    check_call("even", 2, 1111, 101);
    check_call("odd", 2, 1110, 1010);
    check_call("even/odd", 2, 1110, 1010);
    check_call("odd/even", 1, 1100, 100);
    CHECK_NUMBER(number("even", SND_METRIC_RECURSIVE), 1);
    CHECK_NUMBER(number("odd", SND_METRIC_RECURSIVE), 1);
    CHECK_NUMBER(number("even/odd", SND_METRIC_RECURSIVE), 1);
    CHECK_NUMBER(number("odd/even", SND_METRIC_RECURSIVE), 0);
}

static void
a_flat_book_has_no_pairs(void)
{
    begin();
    book->is_flat = 1;
    enter("main");
    pass_time(1);
    call("load", 10);
    enter("main");
    pass_time(100);
    leave("main");
    leave("main");
    look();
    CHECK_NUMBER(profile->node_count, 1 + 2);
    check_call("main", 2, 111, 101);
    CHECK_NUMBER(number("main", SND_METRIC_RECURSIVE), 1);
    check_call("load", 1, 10, 10);
}

static void
open_calls_count_up_to_now(void)
{
    begin();
    enter("main");
    pass_time(5);
    enter("wait");
    pass_time(30);
    look();
    check_call("main", 0, 35, 5);
    CHECK_NUMBER(number("main", SND_METRIC_OPEN), 1);
    check_call("main/wait", 0, 30, 30);
    check_call("wait", 0, 30, 30);
    leave("wait");
    look();
    check_call("wait", 1, 30, 30);
    CHECK_NUMBER(number("wait", SND_METRIC_OPEN), 0);
    check_call("main", 0, 35, 5);
}

static void
a_clock_that_steps_back_counts_nothing(void)
{
    begin();
    enter("back");
    SND_ADD(test_ticks, (uint64_t)-50);
    leave("back");
    call("back", 5);
    look();
    check_call("back", 2, 5, 5);
}

/* ---- ends that do not match ---- */

static void
leaving_a_caller_ends_what_it_called(void)
{
    begin();
    enter("outer");
    pass_time(1);
    enter("middle");
    pass_time(10);
    enter("inner");
    pass_time(100);
    leave("outer");
    pass_time(1000);
    look();
    check_call("outer", 1, 111, 1);
    check_call("outer/middle", 1, 110, 10);
    check_call("middle/inner", 1, 100, 100);
    CHECK_NUMBER(snd_call_thread_get(book)->depth, 0);
}

static void
the_end_of_something_that_was_not_entered_is_passed_over(void)
{
    begin();
    leave("never");
    enter("known");
    pass_time(10);
    leave("never");
    pass_time(10);
    leave("known");
    leave("known");
    look();
    check_call("known", 1, 20, 20);
    CHECK(find_node(profile, "main", "never") == SND_NONE);
}

static void
unwinding_ends_at_the_innermost_call_of_the_name(void)
{
    begin();
    enter("twice");
    enter("twice");
    enter("lost");
    pass_time(10);
    leave("twice");
    CHECK_NUMBER(snd_call_thread_get(book)->depth, 1);
    leave("twice");
    look();
    CHECK_NUMBER(number("twice", SND_METRIC_COUNT), 2);
    CHECK_NUMBER(number("twice/lost", SND_METRIC_TOTAL), 10);
}

static void
a_deep_stack_needs_no_more_nodes(void)
{
    enum { DEPTH = 100000 };

    begin();
    uint32_t site = call_site("deep", "");
    snd_call_thread *thread = snd_call_thread_get(book);
    for (int i = 0; i < DEPTH; i++) {
        snd_call_enter(book, thread, site, site, &site, 1);
        pass_time(1);
    }
    CHECK_NUMBER(thread->depth, DEPTH);
    look();
    CHECK_NUMBER(number("deep", SND_METRIC_OPEN), DEPTH);
    check_call("deep", 0, DEPTH, DEPTH);
    for (int i = 0; i < DEPTH; i++)
        snd_call_leave(book, thread, &site);
    look();
    CHECK_NUMBER(profile->node_count, 1 + 2);
    check_call("deep", DEPTH, DEPTH, DEPTH);
    CHECK_NUMBER(number("deep", SND_METRIC_RECURSIVE), DEPTH - 1);
    check_call("deep/deep", DEPTH - 1, DEPTH - 1, DEPTH - 1);
    CHECK_NUMBER(profile->tracks[0].dropped_entries, 0);
}

static void
a_hundred_callees_of_one_caller_are_told_apart(void)
{
    char name[] = "callee 00";

    begin();
    enter("hub");
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 100; i++) {
            name[7] = (char)('0' + i / 10);
            name[8] = (char)('0' + i % 10);
            call(name, 1 + (uint64_t)i);
        }
    leave("hub");
    look();
    check_call("hub", 1, 2 * 5050, 0);
    check_call("hub/callee 00", 2, 2, 2);
    check_call("hub/callee 42", 2, 86, 86);
    check_call("callee 99", 2, 200, 200);
}

/* ---- signatures ---- */

/* The node below `parent` (SND_NONE: below the root) of a signature. */
static uint32_t
find_signature(uint32_t parent, const char *detail)
{
    for (uint32_t i = 1; i < profile->node_count; i++)
        if (profile->nodes[i].parent == (parent == SND_NONE ? 0 : parent) &&
            strcmp(profile->sites[profile->nodes[i].site].detail, detail) == 0)
            return i;
    return SND_NONE;
}

static void
check_signature(uint32_t node, uint64_t count, uint64_t total, uint64_t self)
{
    REQUIRE(node != SND_NONE);
    CHECK_NUMBER(snd_profile_whole(profile, node, SND_METRIC_COUNT), count);
    CHECK_NUMBER(snd_profile_whole(profile, node, SND_METRIC_TOTAL), total);
    CHECK_NUMBER(snd_profile_whole(profile, node, SND_METRIC_SELF), self);
}

static uint32_t
find_whole(const char *name)
{
    for (uint32_t i = 1; i < profile->node_count; i++) {
        const snd_profile_site *site = &profile->sites[profile->nodes[i].site];
        if (profile->nodes[i].parent == 0 && strcmp(site->name, name) == 0 && *site->detail == '\0')
            return i;
    }
    return SND_NONE;
}

static void
signatures_are_counted_apart_and_together(void)
{
    begin();
    enter("run");
    for (int i = 0; i < 3; i++) {
        call_begin_signature(book, "add", "add(int)");
        pass_time(10);
        leave("add");
    }
    call_begin_signature(book, "add", "add(str)");
    pass_time(100);
    leave("add");
    call("add", 1000); /* one whose arguments could not be told */
    leave("run");
    look();
    uint32_t run = find_whole("run");
    check_signature(find_signature(SND_NONE, "add(int)"), 3, 30, 30);
    check_signature(find_signature(run, "add(int)"), 3, 30, 30);
    check_signature(find_signature(SND_NONE, "add(str)"), 1, 100, 100);
    check_signature(find_whole("add"), 5, 1130, 1130);
    check_signature(run, 1, 1130, 0);
}

/* add(int) calls add(str), which calls add(int): for the function it is one call inside another. */
static void
recursion_across_signatures_counts_once(void)
{
    static const char *const details[] = {"down(int)", "down(str)", "down(int)"};

    begin();
    for (int i = 0; i < 3; i++) {
        call_begin_signature(book, "down", details[i]);
        pass_time(10);
    }
    for (int i = 0; i < 3; i++)
        leave("down");
    look();
    uint32_t whole = find_whole("down");
    check_signature(whole, 3, 30, 30);
    CHECK_NUMBER(snd_profile_whole(profile, whole, SND_METRIC_RECURSIVE), 2);
    uint32_t with_int = find_signature(SND_NONE, "down(int)");
    uint32_t with_str = find_signature(SND_NONE, "down(str)");
    check_signature(with_int, 2, 30, 20);
    CHECK_NUMBER(snd_profile_whole(profile, with_int, SND_METRIC_RECURSIVE), 1);
    check_signature(with_str, 1, 20, 10);
    CHECK_NUMBER(snd_profile_whole(profile, with_str, SND_METRIC_RECURSIVE), 0);
    check_signature(find_signature(with_int, "down(str)"), 1, 20, 10);
    check_signature(find_signature(with_str, "down(int)"), 1, 10, 10);
}

static void
open_signatures_count_up_to_now_in_all_their_nodes(void)
{
    begin();
    call_begin_signature(book, "hold", "hold(int)");
    pass_time(7);
    look();
    uint32_t whole = find_whole("hold"), with_int = find_signature(SND_NONE, "hold(int)");
    check_signature(with_int, 0, 7, 7);
    check_signature(whole, 0, 7, 7);
    CHECK_NUMBER(snd_profile_whole(profile, whole, SND_METRIC_OPEN), 1);
    leave("hold");
}

static void
signatures_in_a_flat_book_have_their_sum_too(void)
{
    begin();
    book->is_flat = 1;
    enter("run");
    call_begin_signature(book, "flat", "flat(int)");
    pass_time(3);
    leave("flat");
    call_begin_signature(book, "flat", "flat(str)");
    pass_time(4);
    leave("flat");
    leave("run");
    look();
    CHECK_NUMBER(profile->node_count, 1 + 1 + 3);
    check_signature(find_whole("flat"), 2, 7, 7);
    check_signature(find_signature(SND_NONE, "flat(str)"), 1, 4, 4);
}

/* ---- generators ---- */

static void
a_generator_that_goes_on_is_not_called_again(void)
{
    begin();
    enter("consume");
    call("generate", 5);
    for (int i = 0; i < 4; i++) {
        pass_time(1);
        call_resume(book, "generate", 25);
        pass_time(10);
        leave("generate");
    }
    leave("consume");
    look();
    check_call("generate", 1, 45, 45);
    check_call("consume/generate", 1, 45, 45);
    CHECK_NUMBER(number("generate", SND_METRIC_RESUMES), 4);
    CHECK_NUMBER(number("generate", SND_METRIC_SUSPENDED), 100);
    CHECK_NUMBER(number("consume/generate", SND_METRIC_SUSPENDED), 100);
    CHECK_NUMBER(number("generate", SND_METRIC_RECURSIVE), 0);
    check_call("consume", 1, 49, 4);
}

static void
a_generator_that_another_function_goes_on_with_has_two_callers(void)
{
    begin();
    enter("first");
    call("shared generator", 5);
    leave("first");
    enter("second");
    call_resume(book, "shared generator", 0);
    pass_time(10);
    leave("shared generator");
    leave("second");
    look();
    check_call("first/shared generator", 1, 5, 5);
    check_call("second/shared generator", 0, 10, 10);
    check_call("shared generator", 1, 15, 15);
}

static void
a_generator_whose_start_was_not_seen_has_time_but_no_call(void)
{
    begin();
    call_resume(book, "older", 0);
    pass_time(10);
    look();
    check_call("older", 0, 10, 10);
    CHECK_NUMBER(number("older", SND_METRIC_OPEN), 1);
    leave("older");
    look();
    check_call("older", 0, 10, 10);
    CHECK_NUMBER(number("older", SND_METRIC_RESUMES), 1);
}

static void
nothing_is_resumed_on_an_empty_stack(void)
{
    begin();
    snd_call_resumed(snd_call_thread_get(book), 10);
    look();
    CHECK_NUMBER(profile->node_count, 1);
}

int
main(void)
{
    RUN(calls_are_counted_and_timed_by_function_and_by_pair);
    RUN(a_call_has_one_caller_and_no_grandparents);
    RUN(recursion_counts_every_call_and_its_total_once);
    RUN(mutual_recursion_counts_the_total_of_both_once);
    RUN(a_flat_book_has_no_pairs);
    RUN(open_calls_count_up_to_now);
    RUN(a_clock_that_steps_back_counts_nothing);
    RUN(leaving_a_caller_ends_what_it_called);
    RUN(the_end_of_something_that_was_not_entered_is_passed_over);
    RUN(unwinding_ends_at_the_innermost_call_of_the_name);
    RUN(a_deep_stack_needs_no_more_nodes);
    RUN(a_hundred_callees_of_one_caller_are_told_apart);
    RUN(signatures_are_counted_apart_and_together);
    RUN(recursion_across_signatures_counts_once);
    RUN(open_signatures_count_up_to_now_in_all_their_nodes);
    RUN(signatures_in_a_flat_book_have_their_sum_too);
    RUN(a_generator_that_goes_on_is_not_called_again);
    RUN(a_generator_that_another_function_goes_on_with_has_two_callers);
    RUN(a_generator_whose_start_was_not_seen_has_time_but_no_call);
    RUN(nothing_is_resumed_on_an_empty_stack);
    snd_profile_free(profile);
    snd_call_book_free(book);
    return check_report();
}
