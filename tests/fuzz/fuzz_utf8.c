/* Bytes as a name: decoded, measured, and written as JSON, CSV and a table, which stay what they are. */
#include "base/alloc.h"
#include "base/text.h"
#include "base/utf8.h"
#include "format/table/format.h"
#include "fuzz.h"

#include <string.h>

/* Whole UTF-8 without anything that moves a cursor but the ends of lines. */
static void
check_printable(const char *text, int may_have_controls)
{
    const char *end = text + strlen(text);

    while (text < end) {
        uint32_t character = snd_utf8_next(&text, end);
        MUST(character != SND_UTF8_BAD);
        MUST(character == '\n' || may_have_controls || !snd_utf8_is_control(character));
    }
}

static void
check_characters(const char *text)
{
    const char *at = text, *end = text + strlen(text);
    size_t width = 0;

    while (at < end) {
        const char *from = at;
        uint32_t character = snd_utf8_next(&at, end);
        MUST(at > from && at <= end && at - from <= 4);
        MUST(character != SND_UTF8_BAD || at - from == 1);
        MUST(character == SND_UTF8_BAD || character <= 0x10FFFF);
        width += character == SND_UTF8_BAD ? 1 : snd_utf8_cells(character);
    }
    MUST(snd_utf8_width(text) == width);
}

static void
check_json_string(const char *text)
{
    snd_buffer out = {0};

    snd_json_string(&out, text);
    MUST(snd_buffer_status(&out) == SND_OK && out.size >= 2);
    MUST(out.data[0] == '"' && out.data[out.size - 1] == '"');
    for (size_t i = 1; i + 1 < out.size; i++) {
        MUST((unsigned char)out.data[i] >= 0x20 && out.data[i] != '"');
        if (out.data[i] == '\\')
            i++;
    }
    check_printable(out.data, 1);
    snd_buffer_free(&out);
}

static void
check_formats(const char *text)
{
    static const snd_column columns[] = {{"name", "name", SND_UNIT_TEXT, 1},
                                         {"label", "label", SND_UNIT_LABEL, 1},
                                         {"other", "other", SND_UNIT_TEXT, 1}};
    snd_table *table = snd_table_new("fuzz", columns, 3);
    snd_cell *cells;
    snd_buffer out = {0};

    MUST(table != NULL && snd_table_add_row(table, (uint32_t)strlen(text) % 40, &cells) == SND_OK);
    for (int i = 0; i < 3; i++)
        cells[i] = (snd_cell){.is_there = 1, .text = snd_table_text(table, text)};
    for (unsigned width = 0; width < 60; width += 7) {
        snd_format_options options = {.width = width, .unicode = width % 2 == 0};
        snd_buffer_clear(&out);
        snd_format_table(table, &options, &out);
        MUST(snd_buffer_status(&out) == SND_OK);
        check_printable(out.data, 0);
    }
    snd_buffer_clear(&out);
    snd_format_csv(table, &(snd_format_options){0}, &out);
    snd_format_json(table, &(snd_format_options){0}, &out);
    MUST(snd_buffer_status(&out) == SND_OK);
    snd_buffer_free(&out);
    snd_table_free(table);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = snd_malloc(size + 1);

    MUST(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    check_characters(text);
    check_json_string(text);
    check_formats(text);
    snd_free(text);
    return 0;
}
