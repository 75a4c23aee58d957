/* The view of the footprint: the heap and the resident memory over time. */
#include "view/memory/memory_table.h"

#include "base/text.h"

enum { AT, HEAP, RSS, GPU_MEMORY, COLUMN_COUNT };

#define SHOWN SND_COLUMN_SHOWN

static const snd_column columns[] = {
    [AT] = {"at_ns", "time", SND_UNIT_NS, SHOWN},
    [HEAP] = {"heap_bytes", "heap", SND_UNIT_BYTES, SHOWN},
    [RSS] = {"rss_bytes", "RSS", SND_UNIT_BYTES, SHOWN | SND_COLUMN_NO_EMPTY},
    [GPU_MEMORY] = {"gpu_memory_bytes", "GPU", SND_UNIT_BYTES, SHOWN | SND_COLUMN_NO_EMPTY},
};

/* The series behind the columns from the second on, and how far each was read. */
typedef struct cursor {
    const snd_series *series[COLUMN_COUNT];
    uint32_t next[COLUMN_COUNT];
} cursor;

/* The earliest time that was not read yet. 0: there is none. */
static int
find_next(const cursor *self, uint64_t *at_ns)
{
    int is_there = 0;

    for (unsigned c = HEAP; c < COLUMN_COUNT; c++) {
        const snd_series *series = self->series[c];
        if (series == NULL || self->next[c] >= series->count)
            continue;
        uint64_t at = series->points[self->next[c]].at_ns;
        *at_ns = !is_there || at < *at_ns ? at : *at_ns;
        is_there = 1;
    }
    return is_there;
}

static void
add_rows(snd_table *table, cursor *self)
{
    uint64_t at_ns = 0;

    while (find_next(self, &at_ns)) {
        snd_cell *cells = snd_table_row(table, 0);
        snd_set_whole(&cells[AT], at_ns);
        for (unsigned c = HEAP; c < COLUMN_COUNT; c++) {
            const snd_series *series = self->series[c];
            if (series != NULL && self->next[c] < series->count && series->points[self->next[c]].at_ns == at_ns)
                snd_set_whole(&cells[c], snd_bytes_of(series->points[self->next[c]++].value));
        }
    }
}

static void
ask_footprint(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    snd_memory_view_maker self;
    cursor series = {.series = {[HEAP] = snd_profile_series(profile, "heap"),
                                [RSS] = snd_profile_series(profile, "rss"),
                                [GPU_MEMORY] = snd_profile_series(profile, "gpu_memory")}};
    if (series.series[HEAP] == NULL)
        snd_work_end(SND_NO_DATA);
    snd_memory_view_start(profile, options, 0, &self);
    /* without a GPU there is no such column, rather than an empty one */
    self.table = snd_table_new("footprint", columns, series.series[GPU_MEMORY] == NULL ? GPU_MEMORY : COLUMN_COUNT);
    add_rows(self.table, &series);
    snd_memory_view_finish(&self, NULL, NULL, out);
}

SND_VIEW(footprint, ask_footprint)
