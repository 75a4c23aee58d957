/* The view of counters: a row a counter and thread. */
#include "base/buffer.h"
#include "view/core/own_code.h"

enum { NAME, LAST, MIN, AVERAGE, MAX, UPDATES, THREAD, PLACE, COLUMN_COUNT };

static const snd_column columns[] = {
    [NAME] = {"name", "counter", SND_UNIT_TEXT, 1},    [LAST] = {"last", "last", SND_UNIT_NUMBER, 1},
    [MIN] = {"min", "min", SND_UNIT_NUMBER, 1},        [AVERAGE] = {"average", "average", SND_UNIT_NUMBER, 1},
    [MAX] = {"max", "max", SND_UNIT_NUMBER, 1},        [UPDATES] = {"updates", "updates", SND_UNIT_COUNT, 1},
    [THREAD] = {"thread", "thread", SND_UNIT_TEXT, 1}, [PLACE] = {"place", "place", SND_UNIT_TEXT, 0},
};

static snd_cell
real(double value)
{
    return (snd_cell){.is_there = 1, .real = value};
}

static void
add_row(const snd_profile *profile, const snd_own *own, snd_table *table, uint32_t node, uint64_t updates)
{
    const snd_profile_site *site = &profile->sites[profile->nodes[node].site];
    snd_buffer place = {0};
    snd_cell *cells = snd_table_row(table, 0);
    if (site->file[0] != '\0')
        snd_buffer_printf(&place, "%s:%u", snd_own_name(own, site->file), site->line);
    cells[NAME] = (snd_cell){.is_there = 1, .text = snd_table_text(table, site->name)};
    cells[LAST] = real(snd_profile_real(profile, node, SND_METRIC_VALUE_LAST));
    cells[MIN] = real(snd_profile_real(profile, node, SND_METRIC_VALUE_MIN));
    cells[AVERAGE] = real(snd_profile_real(profile, node, SND_METRIC_VALUE_SUM) / (double)updates);
    cells[MAX] = real(snd_profile_real(profile, node, SND_METRIC_VALUE_MAX));
    cells[UPDATES] = (snd_cell){.is_there = 1, .whole = (int64_t)updates};
    cells[THREAD] =
        (snd_cell){.is_there = 1, .text = snd_table_text(table, profile->tracks[profile->nodes[node].track].name)};
    cells[PLACE] = (snd_cell){.is_there = 1, .text = snd_table_text(table, snd_buffer_str(&place))};
}

static void
ask_counters(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    snd_table *table = snd_table_new("counters", columns, COLUMN_COUNT);

    snd_own own;

    snd_own_rules(&own, profile, options);
    for (uint32_t i = 0; i < profile->node_count; i++) {
        uint64_t updates = snd_profile_whole(profile, i, SND_METRIC_COUNT);
        if (profile->sites[profile->nodes[i].site].kind == SND_SITE_COUNTER && updates != 0)
            add_row(profile, &own, table, i, updates);
    }
    if (table->row_count == 0)
        snd_work_end(SND_NO_DATA);
    *out = table;
}

SND_VIEW(counters, ask_counters)
