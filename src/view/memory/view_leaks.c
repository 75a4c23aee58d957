/* The view of leaks: the lines whose memory keeps growing, and how sure that is. */
#include "view/core/footer.h"
#include "view/memory/leaks.h"
#include "view/memory/memory_table.h"

enum {
    FILE_NAME,
    GROWTH,
    RATE,
    CONFIDENCE,
    JUDGED,
    SURVIVING,
    TIMELINE,
    VERDICT,
    WHERE,
    STACK = WHERE + SND_PLACE_COLUMN_COUNT,
    COLUMN_COUNT
};

#define SHOWN SND_COLUMN_SHOWN
#define PART (SND_COLUMN_SHOWN | SND_COLUMN_OPTIONAL)
/* Functions of a stack that are named, the innermost ones. */
#define NAMED 12u
#define CURVE_CELLS 10u

static const snd_column columns[] = {
    [FILE_NAME] = SND_FILE_COLUMN,
    [GROWTH] = {"live_bytes", "growth", SND_UNIT_BYTES, SHOWN | SND_COLUMN_NO_ZERO}, /* as in the view of memory */
    [RATE] = {"bytes_per_second", "rate", SND_UNIT_RATE, SHOWN | SND_COLUMN_NO_ZERO},
    [CONFIDENCE] = {"confidence_percent", "confidence", SND_UNIT_PERCENT, SHOWN | SND_COLUMN_NO_ZERO},
    [JUDGED] = {"judged", "judged", SND_UNIT_COUNT, PART},
    [SURVIVING] = {"surviving", "surviving", SND_UNIT_COUNT, PART},
    [TIMELINE] = {"timeline", "over time", SND_UNIT_SPARK, PART | SND_COLUMN_NO_EMPTY},
    [VERDICT] = {"verdict", "verdict", SND_UNIT_TEXT, 0},
    SND_PLACE_COLUMNS(WHERE),
    [STACK] = {"stack", "stack", SND_UNIT_TEXT, 0},
};

/* How many lines were judged, and what came out. */
typedef struct tally {
    uint32_t leaks, judged, unknown;
} tally;

/* The functions from the outermost to the line's own, those far outside left out. */
static void
put_stack(const snd_samples *samples, uint32_t node, snd_buffer *out)
{
    const snd_profile *profile = samples->profile;
    const char *names[NAMED];
    uint32_t count = 0;

    for (uint32_t at = samples->charged[node]; at != SND_NONE && count < NAMED; at = profile->nodes[at].parent)
        if (profile->nodes[at].parent != SND_NONE)
            names[count++] = profile->sites[profile->nodes[at].site].name;
    while (count > 0) {
        count--;
        snd_buffer_printf(out, "%s%s", names[count], count == 0 ? "" : " > ");
    }
}

static void
add_line(snd_memory_view_maker *self, const snd_memory_view_line *line, const snd_leak *leak)
{
    snd_buffer spark = {0}, stack = {0};
    snd_cell *cells;
    snd_memory_view_add_row(self, line, &cells);
    snd_set_whole(&cells[GROWTH], snd_memory_view_whole(&line->numbers, SND_METRIC_LIVE));
    snd_set_whole(&cells[RATE], leak->rate);
    snd_set_share(&cells[CONFIDENCE], 100 * leak->confidence);
    snd_set_whole(&cells[JUDGED], leak->taken);
    snd_set_whole(&cells[SURVIVING], leak->surviving);
    snd_set_text(self->table, &cells[VERDICT], snd_verdict_text(leak->verdict));
    snd_memory_view_spark(&line->history, CURVE_CELLS, &spark);
    snd_set_buffer(self->table, &cells[TIMELINE], &spark);
    put_stack(&self->samples, line->node, &stack);
    snd_set_buffer(self->table, &cells[STACK], &stack);
    snd_table_last(self->table)->colour = leak->verdict == SND_VERDICT_LEAK ? SND_COLOUR_HOT : SND_COLOUR_PLAIN;
}

static void
add_lines(snd_memory_view_maker *self, tally *count)
{
    const snd_profile *profile = self->samples.profile;
    uint64_t step = snd_profile_info_number(profile, "history_step_ns");
    uint64_t length = snd_profile_info_number(profile, "length_ns");
    int all = self->samples.options->show_all;

    if (all)
        self->table->columns[VERDICT].traits |= SND_COLUMN_SHOWN;
    for (uint32_t i = 0; i < self->memory.count; i++) {
        const snd_memory_view_line *line = &self->memory.lines[i];
        snd_leak leak;
        if (line->file == NULL || line->is_import) /* there is no line to accuse */
            continue;
        snd_leak_judge(&line->judged, step, length, &leak);
        count->unknown += leak.verdict == SND_VERDICT_UNKNOWN;
        count->judged += leak.verdict != SND_VERDICT_UNKNOWN;
        count->leaks += leak.verdict == SND_VERDICT_LEAK;
        if (all || leak.verdict == SND_VERDICT_LEAK)
            add_line(self, line, &leak);
    }
}

static void
put_footer(const tally *count, snd_buffer *out)
{
    if (count->leaks == 0)
        snd_buffer_text(out, "no leaks found");
    else
        snd_footer_add_count(out, "", count->leaks, "leak");
    snd_footer_add_count(out, "; ", count->judged, "line");
    snd_buffer_printf(out, " checked, %u skipped (too few surviving blocks)", count->unknown);
}

static void
ask_leaks(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    snd_memory_view_maker self;
    snd_buffer footer = {0};
    tally count = {0};
    snd_memory_view_start(profile, options, 1, &self);
    self.place = WHERE;
    self.table = snd_table_new("leaks", columns, COLUMN_COUNT);
    add_lines(&self, &count);
    put_footer(&count, &footer);
    snd_memory_view_finish(&self, "live_bytes", snd_buffer_str(&footer), out);
}

SND_VIEW(leaks, ask_leaks)
