/* Where data moves: copies, transfers between host and device and waits for a data loader, by the line that asked. */
#include "base/work.h"
#include "model/rollup.h"
#include "view/core/arrange.h"
#include "view/ops/ops.h"

#include <string.h>

enum { NAME, PLACE, COUNT, TIME, BYTES, RATE, COLUMN_COUNT };

static const snd_column columns[] = {
    [NAME] = {"name", "name", SND_UNIT_TEXT, SND_COLUMN_SHOWN | SND_COLUMN_MAIN},
    [PLACE] = {"place", "place", SND_UNIT_TEXT, SND_COLUMN_SHOWN | SND_COLUMN_NO_EMPTY},
    [COUNT] = {"count", "count", SND_UNIT_COUNT, SND_COLUMN_SHOWN},
    [TIME] = {"time_ns", "time", SND_UNIT_NS, SND_COLUMN_SHOWN},
    [BYTES] = {"bytes", "bytes", SND_UNIT_BYTES, SND_COLUMN_SHOWN},
    [RATE] = {"bytes_per_second", "rate", SND_UNIT_RATE, SND_COLUMN_SHOWN},
};

static int
begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static int
is_function_of_program(const snd_profile_site *site)
{
    return site->kind == SND_SITE_FUNCTION && !begins_with(site->name, "<built-in") &&
           !begins_with(site->name, "nn.Module") && !begins_with(site->name, "torch/") &&
           strchr(site->name, '(') != NULL;
}

/* The first line of the stack, or the function of the program around it; "": not known. It has `*size` bytes. A device
 * was asked by the operator that it works for. */
static const char *
place_of(const snd_profile *profile, uint32_t node, size_t *size)
{
    uint32_t above = profile->nodes[node].parent;

    if (profile->nodes[above].track != profile->nodes[node].track)
        node = above;
    const char *place = profile->sites[profile->nodes[node].site].file;
    for (; *place == '\0' && node != SND_NONE; node = profile->nodes[node].parent)
        if (is_function_of_program(&profile->sites[profile->nodes[node].site]))
            place = profile->sites[profile->nodes[node].site].name;
    *size = (size_t)(strchrnul(place, '\n') - place);
    return place;
}

static uint32_t
row_of_node(const snd_rollup *self, uint32_t node)
{
    const snd_profile *profile = self->profile;
    const char *name = profile->sites[profile->nodes[node].site].name;
    snd_buffer key = {0};
    size_t size;

    if (!snd_profile_has(profile, node, SND_METRIC_COPIES))
        return SND_NONE;
    const char *place = place_of(profile, node, &size);
    snd_buffer_put(&key, name, strlen(name) + 1);
    snd_buffer_put(&key, place, size);
    uint32_t row = snd_rollup_key(self, snd_buffer_str(&key), key.size);
    snd_buffer_free(&key);
    return row;
}

static void
add_row(const snd_rollup *rows, uint32_t row, int has_bytes, snd_table *table)
{
    snd_cell *cells = snd_table_row(table, 0);
    const snd_profile *profile = rows->profile;
    uint64_t bytes = snd_rollup_whole(rows, row, SND_METRIC_COPIED);
    uint64_t ns = snd_rollup_whole(rows, row, SND_METRIC_TOTAL);
    snd_buffer place = {0};
    size_t size;

    const char *text = place_of(profile, rows->first[row], &size);
    snd_buffer_put(&place, text, size);
    snd_set_text(table, &cells[NAME], profile->sites[profile->nodes[rows->first[row]].site].name);
    snd_set_buffer(table, &cells[PLACE], &place);
    snd_set_whole(&cells[COUNT], snd_rollup_whole(rows, row, SND_METRIC_COUNT));
    snd_set_whole(&cells[TIME], ns);
    if (has_bytes)
        snd_set_whole(&cells[BYTES], bytes);
    if (has_bytes && ns != 0)
        snd_set_whole(&cells[RATE], (uint64_t)((double)bytes * 1e9 / (double)ns));
}

static snd_table *
make_table(const void *context)
{
    const snd_profile *profile = context;
    snd_table *table = snd_table_new("transfers", columns, COLUMN_COUNT);
    snd_rollup rows;

    snd_rollup_make(profile, row_of_node, NULL, NULL, &rows);
    unsigned char *is_unknown = snd_new(rows.count, 1); /* where the bytes of one node are, those of its row are */
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (rows.row_of[i] != SND_NONE)
            is_unknown[rows.row_of[i]] |= !snd_profile_has(profile, i, SND_METRIC_COPIED);
    for (uint32_t i = 0; i < rows.count; i++)
        add_row(&rows, i, !is_unknown[i], table);
    snd_work_need(snd_table_sort(table, "time_ns"));
    return table;
}

snd_status
snd_transfers_make(const snd_profile *profile, snd_table **out)
{
    return snd_table_make(make_table, profile, out);
}
