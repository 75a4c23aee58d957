/* The growing run of bytes. */
#include "base/alloc.h"
#include "base/buffer.h"
#include "check.h"
#include "fixture.h"

#include <string.h>

static void
an_empty_buffer_is_an_empty_text(void)
{
    snd_buffer buffer = {0};

    CHECK_TEXT(snd_buffer_str(&buffer), "");
    CHECK(snd_buffer_status(&buffer) == SND_OK);
    snd_buffer_put(&buffer, "", 0);
    snd_buffer_repeat(&buffer, 'x', 0);
    CHECK_TEXT(snd_buffer_str(&buffer), "");
    CHECK_NUMBER(buffer.size, 0);
    snd_buffer_free(&buffer);
}

static void
what_is_appended_stands_one_after_the_other(void)
{
    snd_buffer buffer = {0};

    snd_buffer_text(&buffer, "one");
    snd_buffer_char(&buffer, ' ');
    snd_buffer_put(&buffer, "two and", 3);
    snd_buffer_repeat(&buffer, '.', 3);
    snd_buffer_printf(&buffer, "%d%%", 42);
    CHECK_TEXT(snd_buffer_str(&buffer), "one two...42%");
    CHECK_NUMBER(buffer.size, 13);
    snd_buffer_free(&buffer);
    CHECK_TEXT(snd_buffer_str(&buffer), "");
}

static void
a_buffer_grows_over_many_appends(void)
{
    snd_buffer buffer = {0};

    for (int i = 0; i < 10000; i++)
        snd_buffer_printf(&buffer, "%04d,", i);
    CHECK(snd_buffer_status(&buffer) == SND_OK);
    CHECK_NUMBER(buffer.size, 50000);
    CHECK_NUMBER(strlen(snd_buffer_str(&buffer)), 50000);
    CHECK(memcmp(buffer.data + 49995, "9999,", 6) == 0);
    snd_buffer_free(&buffer);
}

static void
a_long_printf_is_whole_or_not_there(void)
{
    snd_buffer buffer = {0};

    snd_buffer_text(&buffer, "before ");
    snd_alloc_fail_after(1); /* the first room is found, more is not */
    snd_buffer_printf(&buffer, "%0500d", 7);
    snd_alloc_fail_after(-1);
    CHECK(snd_buffer_status(&buffer) == SND_NO_MEMORY);
    CHECK_TEXT(snd_buffer_str(&buffer), "before ");
    snd_buffer_clear(&buffer);
    for (size_t len = 0; len < 300; len++) {
        snd_buffer_clear(&buffer);
        snd_buffer_printf(&buffer, "%*d", (int)len + 1, 7);
        CHECK_NUMBER(buffer.size, len + 1);
        CHECK_NUMBER(strlen(snd_buffer_str(&buffer)), len + 1);
    }
    snd_buffer_free(&buffer);
}

static void
numbers_are_written_in_decimal(void)
{
    snd_buffer buffer = {0};

    snd_buffer_number(&buffer, 0);
    snd_buffer_char(&buffer, ' ');
    snd_buffer_number(&buffer, 1200);
    snd_buffer_char(&buffer, ' ');
    snd_buffer_number(&buffer, UINT64_MAX);
    CHECK_TEXT(snd_buffer_str(&buffer), "0 1200 18446744073709551615");
    snd_buffer_free(&buffer);
}

static void
bytes_of_value_zero_are_kept(void)
{
    snd_buffer buffer = {0};

    snd_buffer_put(&buffer, "a\0b", 3);
    CHECK_NUMBER(buffer.size, 3);
    CHECK(memcmp(buffer.data, "a\0b", 4) == 0);
    snd_buffer_free(&buffer);
}

static void
clearing_keeps_the_memory(void)
{
    snd_buffer buffer = {0};

    snd_buffer_repeat(&buffer, 'x', 1000);
    const char *data = buffer.data;
    snd_buffer_clear(&buffer);
    CHECK_TEXT(snd_buffer_str(&buffer), "");
    snd_buffer_repeat(&buffer, 'y', 1000);
    CHECK(buffer.data == data);
    snd_buffer_free(&buffer);
}

static void
a_failed_append_leaves_the_text_and_sticks(void)
{
    snd_buffer buffer = {0};

    snd_buffer_text(&buffer, "kept");
    snd_alloc_fail_after(0);
    snd_buffer_repeat(&buffer, 'x', 1000);
    snd_alloc_fail_after(-1);
    CHECK(snd_buffer_status(&buffer) == SND_NO_MEMORY);
    CHECK_TEXT(snd_buffer_str(&buffer), "kept");
    snd_buffer_text(&buffer, "!");
    snd_buffer_printf(&buffer, "%d", 1);
    CHECK_TEXT(snd_buffer_str(&buffer), "kept");
    CHECK_NUMBER(buffer.size, 4);
    snd_buffer_free(&buffer);
}

static void
clearing_forgets_a_failure(void)
{
    snd_buffer buffer = {0};

    snd_alloc_fail_after(0);
    snd_buffer_text(&buffer, "lost");
    snd_alloc_fail_after(-1);
    CHECK(snd_buffer_status(&buffer) == SND_NO_MEMORY);
    CHECK_TEXT(snd_buffer_str(&buffer), "");
    snd_buffer_clear(&buffer);
    snd_buffer_text(&buffer, "found");
    CHECK(snd_buffer_status(&buffer) == SND_OK);
    CHECK_TEXT(snd_buffer_str(&buffer), "found");
    snd_buffer_free(&buffer);
}

static void
a_size_that_no_machine_has_fails_without_a_try(void)
{
    snd_buffer buffer = {0};

    snd_buffer_repeat(&buffer, 'x', SIZE_MAX - 1);
    CHECK(snd_buffer_status(&buffer) == SND_NO_MEMORY);
    CHECK_NUMBER(buffer.size, 0);
    snd_buffer_free(&buffer);
}

static snd_status
build(void *context)
{
    snd_buffer buffer = {0};

    (void)context;
    for (int i = 0; i < 100; i++) {
        snd_buffer_text(&buffer, "some text");
        snd_buffer_char(&buffer, ';');
        snd_buffer_repeat(&buffer, '-', 20);
        snd_buffer_printf(&buffer, "%d", i);
    }
    snd_status status = snd_buffer_status(&buffer);
    snd_buffer_free(&buffer);
    return status;
}

static void
every_failing_allocation_is_reported_at_the_end(void)
{
    CHECK(fail_each_allocation(build, NULL) > 3);
}

int
main(void)
{
    RUN(an_empty_buffer_is_an_empty_text);
    RUN(what_is_appended_stands_one_after_the_other);
    RUN(a_buffer_grows_over_many_appends);
    RUN(a_long_printf_is_whole_or_not_there);
    RUN(numbers_are_written_in_decimal);
    RUN(bytes_of_value_zero_are_kept);
    RUN(clearing_keeps_the_memory);
    RUN(a_failed_append_leaves_the_text_and_sticks);
    RUN(clearing_forgets_a_failure);
    RUN(a_size_that_no_machine_has_fails_without_a_try);
    RUN(every_failing_allocation_is_reported_at_the_end);
    return check_report();
}
