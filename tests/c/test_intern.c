/* Text to dense ids. */
#include "base/alloc.h"
#include "base/intern.h"
#include "check.h"
#include "fixture.h"

#include <stdio.h>
#include <string.h>

static uint32_t
add(snd_intern *table, const char *text)
{
    uint32_t id = UINT32_MAX;
    CHECK(snd_intern_add(table, text, strlen(text), &id) == SND_OK);
    return id;
}

static void
ids_are_dense_and_equal_text_has_one(void)
{
    snd_intern *table = snd_intern_new();

    REQUIRE(table != NULL);
    CHECK_NUMBER(snd_intern_count(table), 0);
    CHECK_NUMBER(add(table, "main"), 0);
    CHECK_NUMBER(add(table, "work"), 1);
    CHECK_NUMBER(add(table, "main"), 0);
    CHECK_NUMBER(add(table, ""), 2);
    CHECK_NUMBER(snd_intern_count(table), 3);
    CHECK_TEXT(snd_intern_text(table, 0), "main");
    CHECK_TEXT(snd_intern_text(table, 2), "");
    snd_intern_free(table);
}

static void
only_the_given_length_counts(void)
{
    snd_intern *table = snd_intern_new();
    uint32_t prefix, whole, with_nul;

    CHECK(snd_intern_add(table, "prefix and more", 6, &prefix) == SND_OK);
    CHECK(snd_intern_add(table, "a\0b", 3, &with_nul) == SND_OK);
    CHECK(snd_intern_add(table, "a", 1, &whole) == SND_OK);
    CHECK_TEXT(snd_intern_text(table, prefix), "prefix");
    CHECK(with_nul != whole);
    CHECK(memcmp(snd_intern_text(table, with_nul), "a\0b", 4) == 0);
    snd_intern_free(table);
}

static void
texts_stay_in_place_as_the_table_grows(void)
{
    snd_intern *table = snd_intern_new();
    char text[16];
    const char *first = snd_intern_text(table, add(table, "first"));

    for (int i = 0; i < 5000; i++) {
        snprintf(text, sizeof text, "name %d", i);
        CHECK_NUMBER(add(table, text), i + 1);
    }
    CHECK(snd_intern_text(table, 0) == first);
    CHECK_TEXT(snd_intern_text(table, 5000), "name 4999");
    CHECK_NUMBER(add(table, "name 2500"), 2501);
    snd_intern_free(table);
}

static void
a_failed_add_leaves_no_trace(void)
{
    uint32_t id = 77;
    snd_intern *table = snd_intern_new();

    for (long n = 0; n < 4; n++) {
        snd_alloc_fail_after(n);
        CHECK(snd_intern_add(table, "main", 4, &id) == SND_NO_MEMORY);
        snd_alloc_fail_after(-1);
        CHECK_NUMBER(id, 77);
        CHECK_NUMBER(snd_intern_count(table), 0);
        snd_intern_free(table);
        table = snd_intern_new();
    }
    CHECK_NUMBER(add(table, "main"), 0);
    snd_intern_free(table);
}

static snd_status
fill(void *context)
{
    char text[16];
    uint32_t id;
    snd_intern *table = snd_intern_new();
    snd_status status = table == NULL ? SND_NO_MEMORY : SND_OK;

    (void)context;
    for (uint32_t i = 0; i < 100 && status == SND_OK; i++) {
        snprintf(text, sizeof text, "name %u", i);
        status = snd_intern_add(table, text, strlen(text), &id);
        if (status == SND_OK)
            CHECK_NUMBER(id, i);
        else
            CHECK_NUMBER(snd_intern_count(table), i);
    }
    snd_intern_free(table);
    return status;
}

static void
every_failing_allocation_is_reported(void)
{
    CHECK(fail_each_allocation(fill, NULL) > 100);
}

int
main(void)
{
    RUN(ids_are_dense_and_equal_text_has_one);
    RUN(only_the_given_length_counts);
    RUN(texts_stay_in_place_as_the_table_grows);
    RUN(a_failed_add_leaves_no_trace);
    RUN(every_failing_allocation_is_reported);
    return check_report();
}
