/* The view of the call tree: who called what, with the time in and below each. */
#include "view/tree_table.h"

enum { TIME, ABOUT = SND_SAMPLE_COLUMN_COUNT };

static const snd_column columns[] = {
    SND_SAMPLE_COLUMNS(TIME, "cpu_ns", "CPU", "time_ns", "time", "percent", SND_COLUMN_SHOWN | SND_COLUMN_NO_ZERO,
                       SND_COLUMN_NO_ZERO),
    SND_TREE_COLUMNS(ABOUT),
};

static const snd_tree_numbers of_time = {"tree", columns, ABOUT, snd_sample_cells};

snd_status
snd_view_tree(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    snd_samples samples;
    snd_table *table = NULL;

    if (options->flat)
        return snd_view_sampled_functions(profile, options, out);
    snd_status status = snd_samples_make(profile, options, &samples);
    if (status != SND_OK)
        return status;
    status = snd_tree_table_make(&samples, &of_time, &table);
    if (status == SND_OK) {
        snd_sample_table_adapt(table, TIME, options);
        if (!options->with_waiting && !options->cpu_only)
            table->columns[SND_SAMPLE_WAITED].traits |= SND_COLUMN_SHOWN | SND_COLUMN_OPTIONAL | SND_COLUMN_NO_EMPTY;
    }
    status = snd_sample_table_finish(&samples, status, NULL, table, out);
    snd_samples_free(&samples);
    return status;
}
