/* What is known of code: read once, forgotten when it dies, and right for the next one at its address. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "probe/core/site.h"
#include "probe/sample/sample_code.h"

#include <stdio.h>
#include <string.h>

#define UNITS 4u

static snd_sample_codes codes;
static unsigned reads;
static const char *name = "first"; /* of the code at any address */
static int is_there = 1, is_ours;
static const char callee_texts[] = "\0data.count\0json\0operator.add";
static uint64_t mark = 1; /* of the code at any address */

/* A function that begins in line 10 and has an instruction a line; the last one calls something, the second imports,
 * the first is an operator. */
static int
read_code(uintptr_t code, snd_sample_code *out)
{
    snd_sample_code made = {.first_line = 10, .unit_count = UNITS, .is_ours = is_ours, .mark = mark};

    reads++;
    if (!is_there)
        return 0;
    char text[64];
    snprintf(text, sizeof text, "%s %lx", name, (unsigned long)code);
    made.name = snd_strdup(text);
    made.file = snd_strdup("file.py");
    made.lines = snd_calloc(UNITS + 1, sizeof *made.lines);
    made.is_call = snd_calloc(UNITS + 1, 1);
    made.callees = snd_calloc(UNITS + 1, sizeof *made.callees);
    made.callee_texts = snd_malloc(sizeof callee_texts);
    if (made.name == NULL || made.file == NULL || made.lines == NULL || made.is_call == NULL || made.callees == NULL ||
        made.callee_texts == NULL) {
        snd_free(made.callees);
        snd_free(made.callee_texts);
        snd_free(made.name);
        snd_free(made.file);
        snd_free(made.lines);
        snd_free(made.is_call);
        return 0;
    }
    for (uint32_t i = 1; i < UNITS; i++)
        made.lines[i] = 10 + i;
    made.is_call[UNITS - 1] = 1;
    memcpy(made.callee_texts, callee_texts, sizeof callee_texts);
    made.callees[UNITS - 1] = 1;
    made.callees[1] = 1 + sizeof "data.count";
    made.is_call[0] = SND_SAMPLE_OPERATOR;
    made.callees[0] = 1 + sizeof "data.count" + sizeof "json";
    *out = made;
    return 1;
}

static uint64_t
mark_code(uintptr_t code)
{
    (void)code;
    return is_there ? mark : 0;
}

static const snd_sample_interpreter python = {.read_code = read_code, .mark_code = mark_code};

static snd_sample_place
place(uintptr_t code, int32_t offset)
{
    return snd_sample_place_of(&codes, &python, &(snd_sample_frame){.code = code, .offset = offset});
}

static void
start_empty(void)
{
    snd_sample_codes_free(&codes);
    reads = 0;
    is_there = 1;
    is_ours = 0;
    name = "first";
}

static void
check_site(uint32_t id, const char *wanted, uint32_t line)
{
    REQUIRE(id != SND_NONE);
    snd_profile_site site = snd_site_get(id);
    CHECK_TEXT(site.name, wanted);
    CHECK_TEXT(site.file, "file.py");
    CHECK_NUMBER(site.line, line);
    CHECK_NUMBER(site.first_line, 10);
    CHECK(site.kind == SND_SITE_LINE);
}

static void
code_is_read_once_and_every_line_is_a_site(void)
{
    start_empty();
    check_site(place(0x1000, 2).site, "first 1000", 11);
    check_site(place(0x1000, 4).site, "first 1000", 12);
    CHECK_NUMBER(place(0x1000, 2).site, place(0x1000, 3).site);
    CHECK_NUMBER(reads, 1);
    CHECK(place(0x1000, 6).is_call && !place(0x1000, 4).is_call);
    check_site(place(0x2000, 2).site, "first 2000", 11);
    CHECK_NUMBER(reads, 2);
}

static void
a_line_is_told_apart_by_what_it_calls(void)
{
    const snd_sample_frame call = {.code = 0x1000, .offset = 2 * (UNITS - 1)}, import = {.code = 0x1000, .offset = 2},
                           neither = {.code = 0x1000, .offset = 4}, operator = {.code = 0x1000},
                           before = {.code = 0x1000, .offset = -2};

    start_empty();
    uint32_t line = snd_sample_place_of(&codes, &python, &call).site;
    uint32_t site = snd_sample_called_site(&codes, &python, &call, line);
    check_site(site, "first 1000", 10 + UNITS - 1);
    CHECK_TEXT(snd_site_get(site).detail, "data.count");
    CHECK(site != line);
    CHECK_NUMBER(snd_sample_called_site(&codes, &python, &call, line), site);
    CHECK(snd_sample_called_site(&codes, &python, &call, site) == SND_NONE);
    CHECK_TEXT(snd_sample_imported(&codes, &python, &import), "json");
    CHECK(snd_sample_called_site(&codes, &python, &import, place(0x1000, import.offset).site) == SND_NONE);
    CHECK(snd_sample_imported(&codes, &python, &call) == NULL);
    site = snd_sample_called_site(&codes, &python, &operator, place(0x1000, operator.offset).site);
    CHECK_TEXT(snd_site_get(site).detail, "operator.add");
    CHECK(!place(0x1000, operator.offset).is_call && snd_sample_imported(&codes, &python, &operator) == NULL);
    CHECK(snd_sample_called_site(&codes, &python, &neither, place(0x1000, neither.offset).site) == SND_NONE);
    CHECK(snd_sample_called_site(&codes, &python, &before, place(0x1000, before.offset).site) == SND_NONE);
}

static void
what_has_no_line_or_lies_outside_is_the_function_itself(void)
{
    start_empty();
    check_site(place(0x1000, 0).site, "first 1000", 10);
    check_site(place(0x1000, -2).site, "first 1000", 10);
    check_site(place(0x1000, 8).site, "first 1000", 10);
    check_site(place(0x1000, INT32_MAX).site, "first 1000", 10);
    CHECK(!place(0x1000, 8).is_call);
}

static void
the_next_code_at_an_address_has_its_own_name(void)
{
    start_empty();
    check_site(place(0x1000, 2).site, "first 1000", 11);
    snd_sample_codes_forget(&codes, 0x1000);
    name = "second";
    check_site(place(0x1000, 2).site, "second 1000", 11);
    CHECK_NUMBER(codes.count, 1);
}

static void
an_address_used_a_thousand_times_takes_the_room_of_one(void)
{
    start_empty();
    for (int i = 0; i < 1000; i++) {
        CHECK(place(0x1000, 2).is_known);
        snd_sample_codes_forget(&codes, 0x1000);
    }
    CHECK_NUMBER(codes.count, 1);
    CHECK_NUMBER(reads, 1000);
}

static void
the_filter_knows_all_that_was_ever_asked_for(void)
{
    unsigned wrong = 0;

    start_empty();
    CHECK(!snd_sample_codes_may_know(&codes, 0x1000));
    for (uintptr_t code = 0x1000; code < 0x1000 + 16 * 2000; code += 16) {
        (void)place(code, 0);
        wrong += !snd_sample_codes_may_know(&codes, code);
    }
    CHECK_NUMBER(wrong, 0);
    unsigned taken = 0;
    for (uintptr_t code = 0x900000; code < 0x900000 + 16 * 2000; code += 16)
        taken += snd_sample_codes_may_know(&codes, code) != 0;
    CHECK(taken < 400); /* 3 % of the bits are set */
    snd_sample_codes_free(&codes);
    CHECK(!snd_sample_codes_may_know(&codes, 0x1000));
}

/* It may have died while it was read: whoever freed it has waited, since the filter says that it is known. */
static void
code_that_is_not_there_is_in_the_filter_too(void)
{
    start_empty();
    is_there = 0;
    CHECK_NUMBER(place(0x1000, 0).site, SND_NONE);
    CHECK(!place(0x1000, 0).is_known);
    CHECK(snd_sample_codes_may_know(&codes, 0x1000));
    is_there = 1;
    CHECK(place(0x1000, 0).is_known);
}

static void
our_own_code_is_known_but_no_site(void)
{
    start_empty();
    is_ours = SND_SAMPLE_OURS;
    CHECK(place(0x1000, 0).site == SND_NONE && place(0x1000, 0).is_known && !place(0x1000, 0).is_launcher);
    is_ours = SND_SAMPLE_LAUNCHER;
    CHECK(place(0x2000, 0).site == SND_NONE && place(0x2000, 0).is_launcher);
}

static void
what_was_never_known_can_be_forgotten(void)
{
    start_empty();
    snd_sample_codes_forget(&codes, 0x1000);
    (void)place(0x2000, 0);
    snd_sample_codes_forget(&codes, 0x1000);
    snd_sample_codes_forget(&codes, 0x2000);
    snd_sample_codes_forget(&codes, 0x2000);
}

static void
failing_allocations_leave_the_code_unknown_and_lose_nothing(void)
{
    for (long good = 0; good < 30; good++) {
        start_empty();
        snd_alloc_fail_after(good);
        for (uintptr_t code = 1; code < 200; code++)
            (void)place(code * 64, 2);
        snd_alloc_fail_after(-1);
        for (uintptr_t code = 1; code < 200; code++)
            CHECK(place(code * 64, 2).is_known && place(code * 64, 2).site != SND_NONE);
    }
}

/* Another interpreter's code dies without a word: each frame of it is looked at. */
static void
foreign_code_is_read_again_when_another_is_at_its_address(void)
{
    const snd_sample_frame frame = {.code = 0x5000, .is_foreign = 1};

    start_empty();
    uint32_t first = snd_sample_place_of(&codes, &python, &frame).site;
    CHECK_NUMBER(snd_sample_place_of(&codes, &python, &frame).site, first);
    CHECK_NUMBER(reads, 1);
    name = "second";
    mark = 2;
    CHECK(snd_sample_place_of(&codes, &python, &frame).site != first);
    CHECK_NUMBER(reads, 2);
    CHECK_NUMBER(codes.count, 1);
    is_there = 0;
    CHECK(!snd_sample_place_of(&codes, &python, &frame).is_known);
    is_there = 1;
    name = "first";
    mark = 1;
    CHECK_NUMBER(snd_sample_place_of(&codes, &python, &frame).site, first);
}

int
main(void)
{
    RUN(code_is_read_once_and_every_line_is_a_site);
    RUN(a_line_is_told_apart_by_what_it_calls);
    RUN(what_has_no_line_or_lies_outside_is_the_function_itself);
    RUN(the_next_code_at_an_address_has_its_own_name);
    RUN(an_address_used_a_thousand_times_takes_the_room_of_one);
    RUN(the_filter_knows_all_that_was_ever_asked_for);
    RUN(code_that_is_not_there_is_in_the_filter_too);
    RUN(our_own_code_is_known_but_no_site);
    RUN(what_was_never_known_can_be_forgotten);
    RUN(foreign_code_is_read_again_when_another_is_at_its_address);
    RUN(failing_allocations_leave_the_code_unknown_and_lose_nothing);
    snd_sample_codes_free(&codes);
    return check_report();
}
