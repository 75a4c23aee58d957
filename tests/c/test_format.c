/* CSV and JSON, and what formats share; whole tables are in tests/golden. */
#include "base/text.h"
#include "check.h"
#include "fixture.h"
#include "fixture_table.h"
#include "format/table/format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A spreadsheet would compute them, and names come from anybody. */
static void
csv_disarms_formulas_and_leaves_numbers(void)
{
    static const char *const texts[] = {"=1+1", "+1", "-1", "@sum", "\tx", "\rx", "a=b", "", "'", "=\"a\",b"};
    static const snd_column columns[] = {{"text", "text", SND_UNIT_TEXT, 1},
                                         {"whole", "whole", SND_UNIT_COUNT, 1},
                                         {"real", "real", SND_UNIT_NUMBER, 1}};
    static const char wanted[] = "text,whole,real\n'=1+1,-1,-0.5\n'+1,-1,-0.5\n'-1,-1,-0.5\n'@sum,-1,-0.5\n"
                                 "'\tx,-1,-0.5\n\"'\rx\",-1,-0.5\na=b,-1,-0.5\n,-1,-0.5\n',-1,-0.5\n"
                                 "\"'=\"\"a\"\",b\",-1,-0.5\n";
    snd_table *table = snd_table_new("odd", columns, 3);
    snd_buffer text = {0};
    snd_cell *cells;

    REQUIRE(table != NULL);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        REQUIRE(snd_table_add_row(table, 0, &cells) == SND_OK);
        cells[0] = (snd_cell){.is_there = 1, .text = snd_table_text(table, texts[i])};
        cells[1] = (snd_cell){.is_there = 1, .whole = -1};
        cells[2] = (snd_cell){.is_there = 1, .real = -0.5};
    }
    snd_format_csv(table, &(snd_format_options){0}, &text);
    CHECK_TEXT(snd_buffer_str(&text), wanted);
    text.size = 0;
    snd_format_csv(table, &(snd_format_options){.is_exact = 1}, &text);
    CHECK(strncmp(snd_buffer_str(&text), "text,whole,real\n=1+1,-1,-0.5\n", 29) == 0);
    text.size = 0;
    snd_format_json(table, &(snd_format_options){0}, &text);
    CHECK(strstr(snd_buffer_str(&text), "\"=1+1\"") != NULL);
    snd_buffer_free(&text);
    snd_table_free(table);
}

static void
a_table_without_rows_is_written_too(void)
{
    static const snd_column columns[] = {{"name", "name", SND_UNIT_TEXT, 1}};
    snd_table *table = snd_table_new("none", columns, 1);
    snd_buffer text = {0};

    snd_format_csv(table, &(snd_format_options){0}, &text);
    CHECK_TEXT(snd_buffer_str(&text), "name\n");
    snd_buffer_clear(&text);
    snd_format_json(table, &(snd_format_options){0}, &text);
    CHECK_TEXT(snd_buffer_str(&text),
               "{\"view\": \"none\",\n \"columns\": [{\"name\": \"name\", \"unit\": \"text\"}],\n \"rows\": []}\n");
    snd_buffer_free(&text);
    snd_table_free(table);
}

static void
every_byte_makes_a_string_of_json(void)
{
    for (int byte = 1; byte < 256; byte++) {
        const char text[] = {'a', (char)byte, 'z', '\0'};
        snd_buffer out = {0};

        snd_json_string(&out, text);
        CHECK(out.size >= 5 && out.data[0] == '"' && out.data[out.size - 1] == '"');
        for (size_t i = 0; i < out.size; i++)
            CHECK((unsigned char)out.data[i] >= 0x20 && (unsigned char)out.data[i] < 0x7f);
        CHECK_NUMBER(count_text(out.data, "\""), byte == '"' ? 3 : 2);
        snd_buffer_free(&out);
    }
}

static void
formats_are_found_by_name(void)
{
    for (unsigned i = 0; i < snd_format_count; i++) {
        CHECK(snd_format_find(snd_formats[i].name) == &snd_formats[i]);
        CHECK((snd_formats[i].write_table == NULL) != (snd_formats[i].write_recording == NULL));
    }
    CHECK(snd_format_find("yaml") == NULL);
}

static void
writing_all_writes_all_or_says_why(void)
{
    const char *path = temp_path("written");
    static char data[200000];
    size_t size;
    int file = open(path, O_WRONLY | O_CREAT, 0666);

    memset(data, 'x', sizeof data);
    CHECK(snd_write_all(file, data, sizeof data) == SND_OK);
    CHECK(snd_write_all(file, data, 0) == SND_OK);
    close(file);
    char *read = read_file(path, &size);
    CHECK_NUMBER(size, sizeof data);
    free(read);
    errno = 0;
    CHECK(snd_write_all(-1, data, 1) == SND_SYSTEM);
    CHECK_NUMBER(errno, EBADF);
    file = open("/dev/full", O_WRONLY);
    CHECK(snd_write_all(file, data, 1) == SND_SYSTEM);
    CHECK_NUMBER(errno, ENOSPC);
    close(file);
}

static snd_status
format_both(void *context)
{
    snd_buffer text = {0};

    snd_format_csv(context, &(snd_format_options){0}, &text);
    snd_format_json(context, &(snd_format_options){0}, &text);
    snd_status status = snd_buffer_status(&text);
    snd_buffer_free(&text);
    return status;
}

static void
every_failing_allocation_fails_the_buffer(void)
{
    snd_table *table = hostile_table();
    CHECK(fail_each_allocation(format_both, table) > 2);
    snd_table_free(table);
}

int
main(void)
{
    RUN(csv_disarms_formulas_and_leaves_numbers);
    RUN(a_table_without_rows_is_written_too);
    RUN(every_byte_makes_a_string_of_json);
    RUN(formats_are_found_by_name);
    RUN(writing_all_writes_all_or_says_why);
    RUN(every_failing_allocation_fails_the_buffer);
    return check_report();
}
