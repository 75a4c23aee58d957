/* sonde stat: what was measured, what follows from it, and how it is told. */
#include "base/alloc.h"
#include "check.h"
#include "cli/stat/stat.h"

#include <math.h>
#include <signal.h>
#include <string.h>

/* A run of which only these are known. */
static snd_usage
usage_of(double wall, double task_clock, double faults)
{
    snd_usage used = {0};

    for (unsigned i = 0; i < SND_USED_COUNT_OF; i++)
        used.why[i] = "not counted in this test";
    used.values[SND_USED_WALL] = wall;
    used.values[SND_USED_TASK_CLOCK] = task_clock;
    used.values[SND_USED_PAGE_FAULTS] = faults;
    used.why[SND_USED_WALL] = used.why[SND_USED_TASK_CLOCK] = used.why[SND_USED_PAGE_FAULTS] = NULL;
    return used;
}

static void
add(snd_stat_side *side, uint32_t round, double wall, double task_clock, double faults)
{
    snd_usage used = usage_of(wall, task_clock, faults);

    REQUIRE(snd_stat_add_sample(side, round, &used) == SND_OK);
    side->run_count = round + 1;
}

static snd_stat
two_sides(void)
{
    static const char *const first[] = {"one", "a b", NULL}, *const second[] = {"two", NULL};
    snd_stat self = {.side_count = 2, .runs = 3};

    self.sides[0].text = "one a b";
    self.sides[0].argv = first;
    self.sides[1].text = "two";
    self.sides[1].argv = second;
    for (uint32_t i = 0; i < 3; i++) {
        add(&self.sides[0], i, 1e6 * (10 + i), 5e6, 100);
        add(&self.sides[1], i, 2e6 * (10 + i), 5e6, 300);
    }
    return self;
}

static void
words_are_split_as_a_shell_does(void)
{
    const char **words = snd_stat_words("  grep -c 'a b'\t\"c d\"e ''f");

    REQUIRE(words != NULL);
    CHECK_TEXT(words[0], "grep");
    CHECK_TEXT(words[1], "-c");
    CHECK_TEXT(words[2], "a b");
    CHECK_TEXT(words[3], "c de");
    CHECK_TEXT(words[4], "f");
    CHECK(words[5] == NULL);
    snd_free(words);
    words = snd_stat_words("x");
    CHECK(words != NULL && strcmp(words[0], "x") == 0 && words[1] == NULL);
    snd_free(words);
}

static void
what_needs_a_shell_gets_one(void)
{
    static const char *const lines[] = {"a | b",   "a > b",  "echo $HOME", "a; b",   "X=1 a",         "echo \"$HOME\"",
                                        "a\\ b",   "ls *.c", "(a)",        "a 'b",   "echo \"a\\b\"", "~/bin/x",
                                        "a # why", "a\nb",   "a `b`",      "a && b", "!true",         "a {b,c}"};

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        const char **words = snd_stat_words(lines[i]);
        REQUIRE(words != NULL);
        CHECK_TEXT(words[0], "/bin/sh");
        CHECK_TEXT(words[1], "-c");
        CHECK_TEXT(words[2], lines[i]);
        CHECK(words[3] == NULL);
        snd_free(words);
    }
    const char **plain = snd_stat_words("a --name=value");
    CHECK(plain != NULL && strcmp(plain[0], "a") == 0 && strcmp(plain[1], "--name=value") == 0);
    snd_free(plain);
}

static void
counters_are_summed_up_over_the_runs(void)
{
    snd_stat self = two_sides();
    double values[3];
    snd_statistics of = snd_stat_of(&self.sides[0], SND_USED_WALL, values);

    CHECK(of.count == 3 && fabs(of.mean - 11e6) < 1e-3 && fabs(of.deviation - 1e6) < 1e-3);
    CHECK_NUMBER(snd_stat_of(&self.sides[0], SND_USED_CYCLES, values).count, 0);
    CHECK_TEXT(snd_stat_why(&self.sides[0], SND_USED_CYCLES), "not counted in this test");
    CHECK(snd_stat_why(&self.sides[0], SND_USED_WALL) == NULL);
    snd_stat_free(&self);
}

static void
the_ratio_is_taken_by_rounds(void)
{
    snd_stat self = two_sides();
    snd_ratio ratio;

    REQUIRE(snd_stat_ratio(&self, SND_USED_WALL, &ratio) == SND_OK);
    CHECK(ratio.is_known && fabs(ratio.ratio - 2) < 1e-9 && fabs(ratio.low - 2) < 1e-6 && fabs(ratio.high - 2) < 1e-6);
    CHECK_TEXT(snd_stat_verdict(&ratio), "more");
    REQUIRE(snd_stat_ratio(&self, SND_USED_TASK_CLOCK, &ratio) == SND_OK);
    CHECK_TEXT(snd_stat_verdict(&ratio), "no difference shown");
    REQUIRE(snd_stat_ratio(&self, SND_USED_CYCLES, &ratio) == SND_OK);
    CHECK(!ratio.is_known);
    snd_stat_free(&self);
}

/* A run that was broken off has no partner: it does not count for the ratio. */
static void
a_round_that_only_one_side_has_is_left_out(void)
{
    snd_stat self = two_sides();
    snd_ratio ratio;

    self.runs = 4;
    add(&self.sides[0], 3, 1e9, 5e6, 100);
    REQUIRE(snd_stat_ratio(&self, SND_USED_WALL, &ratio) == SND_OK);
    CHECK(fabs(ratio.ratio - 2) < 1e-9);
    snd_stat_free(&self);
}

static void
a_verdict_needs_an_interval_on_one_side_of_one(void)
{
    CHECK_TEXT(snd_stat_verdict(&(snd_ratio){1, 1.1, 1, 0.9, 1.3}), "no difference shown");
    CHECK_TEXT(snd_stat_verdict(&(snd_ratio){1, 1.1, 1, 1.05, 1.15}), "more");
    CHECK_TEXT(snd_stat_verdict(&(snd_ratio){1, 0.9, 1, 0.85, 0.95}), "less");
    CHECK_TEXT(snd_stat_verdict(&(snd_ratio){1, 5, 0, 0, 0}), "no difference shown");
}

static void
values_have_units_that_people_read(void)
{
    static const struct {
        snd_used which;
        double value;
        const char *text;
    } cases[] = {
        {SND_USED_WALL, 8.25, "8.250 ns"},        {SND_USED_WALL, 0, "0 ns"},
        {SND_USED_WALL, 1234567, "1.235 ms"},     {SND_USED_WALL, 2.5e9, "2.500 s"},
        {SND_USED_WALL, 0.25, "0.250 ns"},        {SND_USED_PAGE_FAULTS, 1234, "1234"},
        {SND_USED_PAGE_FAULTS, 12.5, "12.50"},    {SND_USED_PAGE_FAULTS, 0.00026, "0.00026"},
        {SND_USED_PEAK_RSS, 1 << 20, "1.00 MiB"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snd_buffer text = {0};
        snd_stat_value_text(cases[i].which, cases[i].value, &text);
        CHECK_TEXT(snd_buffer_str(&text), cases[i].text);
        snd_buffer_free(&text);
    }
}

static void
the_text_names_what_failed_and_what_is_missing(void)
{
    snd_stat self = two_sides();
    snd_format_options plain = {0};
    snd_buffer text = {0};

    REQUIRE(snd_stat_add_failure(&self.sides[1], 2, (snd_child_end){.status = 3}) == SND_OK);
    REQUIRE(snd_stat_add_failure(&self.sides[1], 3, (snd_child_end){.signal = SIGSEGV}) == SND_OK);
    self.sides[0].empty_ns = 12;
    REQUIRE(snd_stat_text(&self, &plain, &text) == SND_OK);
    CHECK(strstr(snd_buffer_str(&text), "A: 3 runs of one a b\n") != NULL);
    CHECK(strstr(snd_buffer_str(&text), "+- 1.000 ms") != NULL);
    CHECK(strstr(snd_buffer_str(&text), "0.455 processors used") != NULL);
    CHECK(strstr(snd_buffer_str(&text),
                 "2 of 3 runs failed: run 2 ended with status 3, run 3 was ended by SIGSEGV\n") != NULL);
    CHECK(strstr(snd_buffer_str(&text), "cycles, instructions") != NULL);
    CHECK(strstr(snd_buffer_str(&text), "2.000 to 2.000") != NULL);
    CHECK(strstr(snd_buffer_str(&text), "no difference shown") != NULL);
    CHECK(strstr(snd_buffer_str(&text), "an empty loop takes 12.00 ns, which these numbers include\n") != NULL);
    CHECK(strstr(snd_buffer_str(&text),
                 "runs take turns, A B B A; Fieller's interval for the ratio of means, by rounds\n") != NULL);
    snd_buffer_free(&text);
    snd_stat_free(&self);
}

static void
what_was_counted_in_part_says_so(void)
{
    snd_stat self = two_sides();
    snd_usage *used = &self.sides[0].samples[0].used;

    CHECK(snd_stat_scope(&self.sides[0], SND_USED_PAGE_FAULTS) == NULL);
    used->is_user_only[SND_USED_PAGE_FAULTS] = 1;
    CHECK_TEXT(snd_stat_scope(&self.sides[0], SND_USED_PAGE_FAULTS), "without the kernel");
    used->share[SND_USED_PAGE_FAULTS] = 0.5;
    CHECK_TEXT(snd_stat_scope(&self.sides[0], SND_USED_PAGE_FAULTS), "without the kernel; estimated");
    used->is_user_only[SND_USED_PAGE_FAULTS] = 0;
    CHECK_TEXT(snd_stat_scope(&self.sides[0], SND_USED_PAGE_FAULTS), "estimated");
    used->why[SND_USED_MIGRATIONS] = NULL;
    used->is_first_thread_only = 1;
    CHECK_TEXT(snd_stat_scope(&self.sides[0], SND_USED_MIGRATIONS), "first thread only");
    snd_stat_free(&self);
}

static void
of_a_statement_fewer_counters_are_asked(void)
{
    snd_stat self = {.side_count = 1, .runs = 1, .setup = "import x"};
    snd_buffer json = {0};

    self.sides[0] = (snd_stat_side){.text = "x.f()", .statement = "x.f()", .loops = 100, .empty_ns = 12.5};
    add(&self.sides[0], 0, 1e6, 1e6, 0);
    CHECK(!snd_stat_is_asked(&self.sides[0], SND_USED_READ));
    CHECK(snd_stat_is_asked(&self.sides[0], SND_USED_WALL));
    REQUIRE(snd_stat_json(&self, &json) == SND_OK);
    CHECK(strstr(snd_buffer_str(&json), "\"statement\": \"x.f()\", \"setup\": \"import x\", \"loops\": 100, "
                                        "\"empty_loop_ns\": 12.5") != NULL);
    CHECK(strstr(snd_buffer_str(&json), "\"per\": \"loop\"") != NULL);
    CHECK(strstr(snd_buffer_str(&json), "disk_read") == NULL);
    snd_buffer_free(&json);
    snd_stat_free(&self);
}

/* Every allocation fails once; nothing is lost, and no half of an answer is given. */
static void
memory_that_runs_out_is_told(void)
{
    snd_format_options plain = {0};
    int succeeded = 0;

    for (int n = 0; n < 2000 && succeeded < 2; n++) {
        snd_stat self = two_sides();
        snd_buffer text = {0}, json = {0};
        snd_alloc_fail_after(n);
        snd_status told = snd_stat_text(&self, &plain, &text);
        snd_status written = snd_stat_json(&self, &json);
        const char **words = snd_stat_words("a b");
        snd_alloc_fail_after(-1);
        CHECK(told == SND_OK || told == SND_NO_MEMORY);
        CHECK(written == SND_OK || written == SND_NO_MEMORY);
        succeeded += told == SND_OK && written == SND_OK && words != NULL;
        snd_free(words);
        snd_buffer_free(&text);
        snd_buffer_free(&json);
        snd_stat_free(&self);
    }
    CHECK(succeeded == 2);
}

int
main(void)
{
    RUN(words_are_split_as_a_shell_does);
    RUN(what_needs_a_shell_gets_one);
    RUN(counters_are_summed_up_over_the_runs);
    RUN(the_ratio_is_taken_by_rounds);
    RUN(a_round_that_only_one_side_has_is_left_out);
    RUN(a_verdict_needs_an_interval_on_one_side_of_one);
    RUN(values_have_units_that_people_read);
    RUN(the_text_names_what_failed_and_what_is_missing);
    RUN(what_was_counted_in_part_says_so);
    RUN(of_a_statement_fewer_counters_are_asked);
    RUN(memory_that_runs_out_is_told);
    return check_report();
}
