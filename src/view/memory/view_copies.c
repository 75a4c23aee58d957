/* The view of copies: which lines copied how much memory. */
#include "view/memory/memory_table.h"

enum { FILE_NAME, COPIED, SHARE, ERROR, RATE, COPIES, EACH, WHERE, COLUMN_COUNT = WHERE + SND_PLACE_COLUMN_COUNT };

#define SHOWN SND_COLUMN_SHOWN

static const snd_column columns[] = {
    [FILE_NAME] = SND_FILE_COLUMN,
    [COPIED] = {"copied_bytes", "copied", SND_UNIT_BYTES, SHOWN},
    [SHARE] = {"copied_percent", "share", SND_UNIT_PERCENT, SHOWN | SND_COLUMN_OPTIONAL | SND_COLUMN_LATE},
    [ERROR] = {"copied_error_bytes", "±", SND_UNIT_BYTES, SHOWN | SND_COLUMN_NO_EMPTY},
    [RATE] = {"copied_bytes_per_second", "rate", SND_UNIT_RATE, SHOWN},
    [COPIES] = {"copies", "copies", SND_UNIT_COUNT, SHOWN | SND_COLUMN_OPTIONAL},
    [EACH] = {"bytes_per_copy", "each", SND_UNIT_BYTES, SHOWN | SND_COLUMN_OPTIONAL},
    SND_PLACE_COLUMNS(WHERE),
};

static void
add_line(snd_memory_view_maker *self, const snd_memory_view_line *line)
{
    uint64_t copied = snd_memory_view_whole(&line->numbers, SND_METRIC_COPIED);
    uint64_t copies = snd_memory_view_whole(&line->numbers, SND_METRIC_COPIES);
    uint64_t whole = snd_memory_view_whole(&self->memory.all, SND_METRIC_COPIED);
    snd_cell *cells;
    snd_memory_view_add_row(self, line, &cells);
    snd_set_whole(&cells[COPIED], copied);
    snd_set_share(&cells[SHARE], snd_memory_view_share(copied, whole));
    snd_set_error(&cells[ERROR], snd_memory_view_error(&line->numbers, SND_METRIC_COPY_VARIANCE), copied);
    snd_set_whole(&cells[RATE], snd_memory_view_rate(self->samples.profile, copied));
    snd_set_whole(&cells[COPIES], copies);
    if (copies != 0)
        snd_set_whole(&cells[EACH], copied / copies);
}

static void
ask_copies(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    snd_memory_view_maker self;
    snd_memory_view_start(profile, options, 0, &self);
    self.place = WHERE;
    self.table = snd_table_new("copies", columns, COLUMN_COUNT);

    for (uint32_t i = 0; i < self.memory.count; i++)
        if (snd_memory_view_whole(&self.memory.lines[i].numbers, SND_METRIC_COPIED) != 0)
            add_line(&self, &self.memory.lines[i]);
    snd_memory_view_finish(&self, "copied_bytes", NULL, out);
}

SND_VIEW(copies, ask_copies)
