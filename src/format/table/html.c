/* A page for a browser: one table, no scripts, light or dark as the reader has it. */
#include "format/table/format.h"

#include "base/utf8.h"

#include <string.h>

/* Deeper rows say their depth in words, as they do in a terminal. */
#define INDENT_LIMIT 32u

static const char style[] =
    ":root { color-scheme: light dark; --line: #d0d7de; --head: #f6f8fa; --dim: #59636e; }\n"
    "@media (prefers-color-scheme: dark) { :root { --line: #3d444d; --head: #151b23; --dim: #9198a1; } }\n"
    "body { font: 14px/1.5 system-ui, sans-serif; margin: 2em; }\n"
    "table { border-collapse: collapse; }\n"
    "th, td { padding: 0.2em 0.8em; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }\n"
    "th { position: sticky; top: 0; background: var(--head); }\n"
    "td { font-variant-numeric: tabular-nums; }\n"
    ".text { text-align: left; }\n"
    ".heading { text-align: left; padding-top: 1.5em; }\n"
    "td:first-child, .main { font-family: ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere;"
    " padding-left: calc(0.8em + var(--depth, 0) * 1.5em); }\n"
    ".main { text-align: left; }\n"
    ".notable { font-weight: 600; background: #ffbf0055; }\n"
    "p { color: var(--dim); }\n";

/* `text` has no control characters any more. */
static void
put_escaped(snd_buffer *out, const char *text)
{
    while (*text != '\0') {
        size_t plain = strcspn(text, "&<>\"'\n");
        snd_buffer_put(out, text, plain);
        text += plain;
        switch (*text) {
        case '\0':
            return;
        case '&':
            snd_buffer_text(out, "&amp;");
            break;
        case '<':
            snd_buffer_text(out, "&lt;");
            break;
        case '>':
            snd_buffer_text(out, "&gt;");
            break;
        case '"':
            snd_buffer_text(out, "&quot;");
            break;
        case '\'':
            snd_buffer_text(out, "&#39;");
            break;
        default:
            snd_buffer_text(out, "<br>\n");
        }
        text++;
    }
}

/* `scratch` is empty before and after. */
static void
put_clean(snd_buffer *out, const char *text, snd_buffer *scratch)
{
    snd_utf8_clean(text, scratch);
    out->failed |= scratch->failed;
    put_escaped(out, snd_buffer_str(scratch));
    snd_buffer_clear(scratch);
}

static const char *
class_of(snd_unit unit)
{
    return unit == SND_UNIT_TEXT || unit == SND_UNIT_BAR || unit == SND_UNIT_SPARK ? " class=\"text\"" : "";
}

static void
put_head(const snd_table *table, snd_buffer *out, snd_buffer *scratch)
{
    snd_buffer_text(out, "<thead>\n<tr>");
    for (uint32_t c = 0; c < table->column_count; c++) {
        snd_buffer_printf(out, "<th scope=\"col\"%s>", class_of(table->columns[c].unit));
        put_clean(out, table->columns[c].title, scratch);
        snd_buffer_text(out, "</th>");
    }
    snd_buffer_text(out, "</tr>\n</thead>\n");
}

static void
put_cell(const snd_table *table, uint32_t row, uint32_t column, snd_buffer *out, snd_buffer *scratch)
{
    snd_unit unit = table->columns[column].unit;
    int is_main = column == snd_format_main_column(table);
    uint32_t depth = is_main && table->is_tree ? table->rows[row].depth : 0;

    int is_notable = snd_format_is_notable(table, row, column);
    const char *class = is_notable ? " class=\"notable\"" : class_of(unit);

    snd_buffer_printf(out, "<td%s", is_main && column != 0 ? " class=\"main\"" : class);
    if (depth != 0)
        snd_buffer_printf(out, " style=\"--depth: %u\"", depth < INDENT_LIMIT ? depth : INDENT_LIMIT);
    snd_buffer_char(out, '>');
    if (depth > INDENT_LIMIT)
        snd_buffer_printf(out, "(%u deep) ", depth);
    snd_format_cell_of(table, row, column, scratch);
    out->failed |= scratch->failed;
    put_escaped(out, snd_buffer_str(scratch));
    snd_buffer_clear(scratch);
    snd_buffer_text(out, "</td>");
}

static void
put_heading(const snd_table *table, uint32_t row, snd_buffer *out, snd_buffer *scratch)
{
    snd_buffer_printf(out, "<td class=\"heading\" colspan=\"%u\">", table->column_count);
    put_clean(out, table->rows[row].heading, scratch);
    snd_buffer_text(out, "</td>");
}

static void
put_rows(const snd_table *table, snd_buffer *out, snd_buffer *scratch)
{
    snd_buffer_text(out, "<tbody>\n");
    for (uint32_t r = 0; r < table->row_count; r++) {
        snd_buffer_text(out, "<tr>");
        if (table->rows[r].heading != NULL)
            put_heading(table, r, out, scratch);
        else
            for (uint32_t c = 0; c < table->column_count; c++)
                put_cell(table, r, c, out, scratch);
        snd_buffer_text(out, "</tr>\n");
    }
    snd_buffer_text(out, "</tbody>\n");
}

void
snd_format_html(const snd_table *table, const snd_format_options *options, snd_buffer *out)
{
    snd_buffer scratch = {0};

    snd_buffer_text(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>sonde: ");
    put_clean(out, table->view, &scratch);
    snd_buffer_text(out, "</title>\n<style>\n");
    snd_buffer_text(out, style);
    snd_buffer_text(out, "</style>\n</head>\n<body>\n<table>\n");
    if (!options->no_head)
        put_head(table, out, &scratch);
    put_rows(table, out, &scratch);
    snd_buffer_text(out, "</table>\n");
    if (table->footer != NULL && !options->no_footer) {
        snd_buffer_text(out, "<p>");
        put_escaped(out, table->footer);
        snd_buffer_text(out, "</p>\n");
    }
    snd_buffer_text(out, "</body>\n</html>\n");
    snd_buffer_free(&scratch);
}
