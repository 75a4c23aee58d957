/* The view of leaks: the lines whose memory grows and grows, and how sure that is. */
#include "base/text.h"
#include "view/core/footer.h"
#include "view/memory/leaks.h"
#include "view/memory/memory_table.h"

#include <math.h>

/* ---- the verdict on a line ---- */

#define LAST_PART (31.0 / 32)
#define LARGE_FALL (1.0 / 3)
#define LEAST_LATE_RATE 0.5
#define WINDOWS 8u
#define FEW_WINDOWS 4u
#define FEW_BLOCKS 24
#define CHANCE 0.002
#define LATE_CHANCE 0.01

static const char *
text_of(snd_verdict verdict)
{
    static const char *const texts[] = {
#define SND_VERDICT_TEXT(id, text) [SND_VERDICT_##id] = (text),
        SND_VERDICT_MAP(SND_VERDICT_TEXT)
#undef SND_VERDICT_TEXT
    };
    return texts[verdict];
}

/* Living blocks from the end of the first fifth on. */
typedef struct course {
    double living[SND_HISTORY_POINTS];
    uint32_t steps; /* one less than there are numbers */
} course;

static double
growth_between(const course *self, uint32_t from, uint32_t to)
{
    return self->living[to] - self->living[from];
}

static int
has_fallen(const course *self, double growth)
{
    double highest = self->living[0], fall = 0;

    for (uint32_t i = 1; i <= self->steps; i++) {
        highest = self->living[i] > highest ? self->living[i] : highest;
        fall = highest - self->living[i] > fall ? highest - self->living[i] : fall;
    }
    return fall > growth * LARGE_FALL;
}

static int
has_stopped(const course *self, double growth)
{
    uint32_t quarter = self->steps / 4;

    return growth_between(self, self->steps - quarter, self->steps) * self->steps < LEAST_LATE_RATE * growth * quarter;
}

static int
is_steady(const course *self, double growth)
{
    uint32_t windows = growth < FEW_BLOCKS ? FEW_WINDOWS : WINDOWS, growing = 0;

    for (uint32_t i = 0; i < windows; i++)
        growing += growth_between(self, self->steps * i / windows, self->steps * (i + 1) / windows) > 0;
    return growing * 4 >= windows * 3;
}

/* How likely steps that do not grow on average grow as much as those from `from` on: the upper tail of Student's
 * distribution, by Wallace's approximation, which is good to 0.1% here. */
static double
chance_of(const course *self, uint32_t from)
{
    uint32_t count = self->steps - from;
    double mean = growth_between(self, from, self->steps) / count, squares = 0;

    for (uint32_t i = from; i < self->steps; i++) {
        double off = growth_between(self, i, i + 1) - mean;
        squares += off * off;
    }
    if (mean <= 0 || count < 2)
        return 1;
    if (squares <= 0)
        return 0;
    double freedom = count - 1.0, t_square = mean * mean * count * freedom / squares;
    double z = sqrt(freedom * log1p(t_square / freedom)) * (8 * freedom + 1) / (8 * freedom + 3);
    return 0.5 * erfc(z / sqrt(2));
}

static snd_verdict
judge(const course *self, double growth, double *late_chance)
{
    *late_chance = chance_of(self, self->steps / 2);
    if (has_fallen(self, growth))
        return SND_VERDICT_FELL;
    if (has_stopped(self, growth))
        return SND_VERDICT_STOPPED;
    if (!is_steady(self, growth))
        return SND_VERDICT_PART;
    return chance_of(self, 0) < CHANCE && *late_chance < LATE_CHANCE ? SND_VERDICT_LEAK : SND_VERDICT_CHANCE;
}

static double
living_at(const snd_history_point *point)
{
    return (double)point->taken - (double)point->freed;
}

/* How many points are before the end of the program. The last step is not over when the recording is. */
static uint32_t
points_before_end(const snd_history *history, uint64_t step_ns, uint64_t length_ns)
{
    double end = (double)step_ns * history->count;
    uint32_t count = history->count;

    if (length_ns != 0 && (double)length_ns < end)
        end = (double)length_ns;
    while (count > 0 && (double)step_ns * count > end * LAST_PART)
        count--;
    return count;
}

/* What is known of the time that is judged. */
static void
measure(const snd_history *history, uint32_t first, uint32_t last, uint64_t step_ns, snd_leak *out)
{
    const snd_history_point *from = &history->points[first], *to = &history->points[last];
    double seconds = (double)step_ns * (last - first) / 1e9;
    double living = living_at(to) - living_at(from);

    out->growth = to->live > from->live ? to->live - from->live : 0;
    out->rate = seconds > 0 ? snd_bytes_of((double)out->growth / seconds) : 0;
    out->taken = to->taken > from->taken ? to->taken - from->taken : 0;
    out->surviving = snd_bytes_of(living);
}

void
snd_leak_judge(const snd_history *history, uint64_t step_ns, uint64_t length_ns, snd_leak *out)
{
    uint32_t count = history->count > SND_HISTORY_POINTS ? 0 : points_before_end(history, step_ns, length_ns);
    uint32_t first = (count + 4) / 5 - 1; /* the point at the end of the first fifth */
    course self = {.steps = count - 1 - first};
    double late_chance;

    *out = (snd_leak){.verdict = SND_VERDICT_UNKNOWN};
    if (count < SND_LEAK_POINTS)
        return;
    measure(history, first, count - 1, step_ns, out);
    if (out->taken < SND_LEAK_BLOCKS)
        return;
    if (out->surviving < SND_LEAK_BLOCKS || out->growth < SND_LEAK_BYTES) {
        out->verdict = out->surviving <= out->taken / 10 ? SND_VERDICT_FREED : SND_VERDICT_UNKNOWN;
        return;
    }
    for (uint32_t i = 0; i <= self.steps; i++)
        self.living[i] = living_at(&history->points[first + i]);
    out->verdict = judge(&self, growth_between(&self, 0, self.steps), &late_chance);
    if (out->verdict == SND_VERDICT_LEAK)
        out->confidence = (1 - late_chance) * ((double)out->surviving + 1) / ((double)out->surviving + 2);
}

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
    int is_short; /* the run: nothing is judged */
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
    snd_set_text(self->table, &cells[VERDICT], text_of(leak->verdict));
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
    count->is_short = length != 0 && (double)length * LAST_PART < (double)step * SND_LEAK_POINTS;
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
    snd_buffer_printf(out, " checked, %u skipped (%s)", count->unknown,
                      count->is_short ? "the run is too short" : "too few surviving blocks");
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
