/* The verdict on a line.
 *
 * What is known: for up to 32 equal steps of the run how many of the line's sampled blocks had been taken and freed.
 * Blocks are counted, not bytes: one large block is one piece of evidence. A line is accused when all of this holds for
 * the time between the first fifth of the run, in which every program grows, and its last 32nd, in which a program that
 * ends gives back what its threads and functions held:
 *
 *   evidence    at least 10 more blocks survive at the end than at its start, and 64 KiB;
 *   kept        the number of living blocks never fell by more than a third of its whole growth (a sawtooth does);
 *   not over    the last quarter grew at least half as fast as all of it (a cache that is full, a bounded set, do not);
 *   steady      of 8 equal windows (4 below 24 blocks) three quarters grew (a final result, a warm-up, do not);
 *   not chance  Student's t-test of the steps against "does not grow": p < 0.002 for all of them, and p < 0.01 for the
 *               later half. A cache that turns over wins and loses blocks by chance, and has as many good steps as bad
 *               ones; its own scatter is what the growth is compared with, so temporary blocks of the same line, which
 *               come and go within a step, hide nothing.
 *
 * The confidence is 1 - p of the later half times (n + 1) / (n + 2), n the surviving blocks: Laplace's rule for the
 * next block to survive as well. */
#include "view/memory/leaks.h"

#include "base/text.h"

#include <math.h>

#define LAST_PART (31.0 / 32)
#define LARGE_FALL (1.0 / 3)
#define LEAST_LATE_RATE 0.5
#define WINDOWS 8u
#define FEW_WINDOWS 4u
#define FEW_BLOCKS 24
#define CHANCE 0.002
#define LATE_CHANCE 0.01

const char *
snd_verdict_text(snd_verdict verdict)
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
