/* The view of memory by call stack: who owned it when the program had most. */
#include "view/memory/memory_table.h"
#include "view/sampled/tree_table.h"

enum { PEAK, SHARE, ABOUT };

static const snd_column columns[] = {
    [PEAK] = {"peak_bytes", "peak", SND_UNIT_BYTES, SND_COLUMN_SHOWN},
    [SHARE] = {"peak_percent", "share", SND_UNIT_PERCENT, SND_COLUMN_SHOWN},
    SND_TREE_COLUMNS(ABOUT),
};

static void
put(const snd_samples *samples, const snd_samples_numbers *numbers, snd_cell *cells)
{
    uint64_t peak = snd_samples_time(numbers);

    snd_set_whole(&cells[PEAK], peak);
    snd_set_share(&cells[SHARE], snd_samples_share(samples, peak));
}

static const snd_tree_numbers of_memory = {"owners", columns, ABOUT, put};

static void
ask_owners(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    snd_view_options chosen = *options;
    snd_memory_view_maker self;

    chosen.by_time = 0; /* what was live at one moment has no order in time */
    snd_memory_view_start(profile, &chosen, 0, &self);
    snd_tree_table_make(&self.samples, &of_memory, &self.table);
    snd_memory_view_finish(&self, NULL, NULL, out);
}

SND_VIEW(owners, ask_owners)
