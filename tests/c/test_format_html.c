/* The page for a browser. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "format/table/format.h"

#include <string.h>

static const snd_column columns[] = {
    {"name", "<name> & more", SND_UNIT_TEXT, 1},
    {"count", "count", SND_UNIT_COUNT, 1},
};

static snd_table *
make_table(const char *name, uint32_t depth)
{
    snd_table *table = snd_table_new("calls", columns, 2);
    snd_cell *cells;

    REQUIRE(table != NULL && snd_table_add_row(table, depth, &cells) == SND_OK);
    table->is_tree = depth != 0;
    cells[0] = (snd_cell){.is_there = 1, .text = snd_table_text(table, name)};
    cells[1] = (snd_cell){.is_there = 1, .whole = 7};
    return table;
}

/* Writes the page and says whether `part` stands in it once. */
static int
page_has(const snd_table *table, snd_format_options options, const char *part)
{
    snd_buffer text = {0};

    snd_format_html(table, &options, &text);
    CHECK(snd_buffer_status(&text) == SND_OK);
    CHECK(strncmp(snd_buffer_str(&text), "<!DOCTYPE html>\n", 16) == 0);
    unsigned count = count_text(snd_buffer_str(&text), part);
    snd_buffer_free(&text);
    return count == 1;
}

static void
names_cannot_leave_their_cell(void)
{
    snd_table *table = make_table("</td><script>alert(\"1\" + '&')</script>\033[2J\xff\n", 0);
    const snd_format_options plain = {0};

    CHECK(page_has(table, plain,
                   "<td class=\"text\">&lt;/td&gt;&lt;script&gt;alert(&quot;1&quot; + "
                   "&#39;&amp;&#39;)&lt;/script&gt;\\x1b[2J\\xff\\n</td><td>7</td>"));
    CHECK(page_has(table, plain, "<th scope=\"col\" class=\"text\">&lt;name&gt; &amp; more</th>"));
    CHECK(!page_has(table, plain, "<script"));
    snd_table_free(table);
}

static void
rows_of_a_tree_are_indented(void)
{
    snd_table *table = make_table("deep", 3), *deeper = make_table("deeper", 1000);

    CHECK(page_has(table, (snd_format_options){0}, "<td class=\"text\" style=\"--depth: 3\">deep</td>"));
    CHECK(
        page_has(deeper, (snd_format_options){0}, "<td class=\"text\" style=\"--depth: 32\">(1000 deep) deeper</td>"));
    snd_table_free(table);
    snd_table_free(deeper);
}

static void
head_and_footer_can_be_left_off(void)
{
    snd_table *table = make_table("a", 0);

    REQUIRE(snd_table_set_footer(table, "the <end>\nreally") == SND_OK);
    CHECK(page_has(table, (snd_format_options){0}, "<p>the &lt;end&gt;<br>\nreally</p>"));
    CHECK(!page_has(table, (snd_format_options){.no_footer = 1}, "<p>"));
    CHECK(!page_has(table, (snd_format_options){.no_head = 1}, "<thead>"));
    snd_table_free(table);
}

static void
a_table_without_rows_or_columns_is_a_page_too(void)
{
    snd_table *empty = snd_table_new("empty", columns, 2), *nothing = snd_table_new("nothing", NULL, 0);

    CHECK(page_has(empty, (snd_format_options){0}, "<tbody>\n</tbody>\n"));
    CHECK(page_has(nothing, (snd_format_options){0}, "<thead>\n<tr></tr>\n</thead>\n"));
    snd_table_free(empty);
    snd_table_free(nothing);
}

static snd_status
write_page(void *context)
{
    snd_buffer text = {0};

    snd_format_html(context, &(snd_format_options){0}, &text);
    snd_status status = snd_buffer_status(&text);
    snd_buffer_free(&text);
    return status;
}

static void
every_failing_allocation_is_reported(void)
{
    snd_table *table = make_table("name", 1);

    CHECK(fail_each_allocation(write_page, table) >= 3);
    snd_table_free(table);
}

int
main(void)
{
    RUN(names_cannot_leave_their_cell);
    RUN(rows_of_a_tree_are_indented);
    RUN(head_and_footer_can_be_left_off);
    RUN(a_table_without_rows_or_columns_is_a_page_too);
    RUN(every_failing_allocation_is_reported);
    return check_report();
}
