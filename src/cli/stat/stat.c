/* sonde stat: what was measured, and what follows from it. */
#include "cli/stat/stat.h"

#include "base/alloc.h"

const snd_stat_derived snd_stat_derived_list[] = {
#define DERIVED(name, above, below, factor, unit) {name, SND_USED_##above, SND_USED_##below, factor, unit},
    SND_STAT_DERIVED_MAP(DERIVED)
#undef DERIVED
};
const unsigned snd_stat_derived_count = sizeof snd_stat_derived_list / sizeof snd_stat_derived_list[0];

void
snd_stat_free(snd_stat *self)
{
    for (unsigned i = 0; i < 2; i++) {
        snd_free(self->sides[i].samples);
        snd_free(self->sides[i].failures);
    }
    *self = (snd_stat){0};
}

snd_status
snd_stat_add_sample(snd_stat_side *self, uint32_t round, const snd_usage *used)
{
    if (!snd_make_room(&self->samples, self->sample_count + 1, &self->sample_capacity, sizeof *self->samples))
        return SND_NO_MEMORY;
    self->samples[self->sample_count++] = (snd_stat_sample){round, *used};
    return SND_OK;
}

snd_status
snd_stat_add_failure(snd_stat_side *self, uint32_t run, snd_child_end end)
{
    if (!snd_make_room(&self->failures, self->failure_count + 1, &self->failure_capacity, sizeof *self->failures))
        return SND_NO_MEMORY;
    self->failures[self->failure_count++] = (snd_stat_failure){run, end};
    return SND_OK;
}

snd_statistics
snd_stat_of(const snd_stat_side *self, snd_used which, double *values)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < self->sample_count && snd_stat_is_asked(self, which); i++)
        if (self->samples[i].used.why[which] == NULL)
            values[count++] = self->samples[i].used.values[which];
    return snd_statistics_of(values, count);
}

/* The mean of a round's samples, which stand from `*at` on. 0 when one of them lacks it, or there is none. */
static int
mean_of_round(const snd_stat_side *self, snd_used which, uint32_t round, uint32_t *at, double *mean)
{
    double sum = 0;
    uint32_t count = 0;
    int is_whole = 1;

    for (; *at < self->sample_count && self->samples[*at].round == round; (*at)++) {
        is_whole &= self->samples[*at].used.why[which] == NULL;
        sum += self->samples[*at].used.values[which];
        count++;
    }
    *mean = count == 0 ? 0 : sum / count;
    return count != 0 && is_whole;
}

snd_status
snd_stat_ratio(const snd_stat *self, snd_used which, snd_ratio *out)
{
    uint32_t count = 0;
    uint32_t at[2] = {0};

    *out = (snd_ratio){0};
    if (self->side_count < 2 || !snd_stat_is_asked(&self->sides[0], which))
        return SND_OK;
    double *above = snd_calloc(2 * (size_t)self->runs + 1, sizeof *above);
    if (above == NULL)
        return SND_NO_MEMORY;
    double *below = above + self->runs;
    for (uint32_t round = 0; round < self->runs; round++) {
        int has_below = mean_of_round(&self->sides[0], which, round, &at[0], &below[count]);
        int has_above = mean_of_round(&self->sides[1], which, round, &at[1], &above[count]);
        count += has_below && has_above;
    }
    *out = snd_ratio_of(above, below, count);
    snd_free(above);
    return SND_OK;
}

const char *
snd_stat_verdict(const snd_ratio *ratio)
{
    if (!ratio->is_known || !ratio->has_interval || (ratio->low <= 1 && ratio->high >= 1))
        return "no difference shown";
    return ratio->low > 1 ? "more" : "less";
}

int
snd_stat_is_asked(const snd_stat_side *self, snd_used which)
{
    if (self->statement == NULL)
        return 1;
    switch (which) {
    case SND_USED_USER:
    case SND_USED_SYSTEM:
    case SND_USED_VOLUNTARY:
    case SND_USED_INVOLUNTARY:
    case SND_USED_MAJOR_FAULTS:
    case SND_USED_READ:
    case SND_USED_WRITTEN:
    case SND_USED_DISK_READ:
    case SND_USED_DISK_WRITTEN:
        return 0;
    default:
        return 1;
    }
}

const char *
snd_stat_why(const snd_stat_side *self, snd_used which)
{
    const char *why = NULL;

    if (!snd_stat_is_asked(self, which))
        return NULL;
    for (uint32_t i = 0; i < self->sample_count; i++) {
        why = self->samples[i].used.why[which];
        if (why == NULL)
            return NULL;
    }
    return why;
}

const char *
snd_stat_scope(const snd_stat_side *self, snd_used which)
{
    for (uint32_t i = 0; i < self->sample_count; i++) {
        const snd_usage *used = &self->samples[i].used;
        if (used->why[which] != NULL)
            continue;
        if (which == SND_USED_MIGRATIONS && used->is_first_thread_only)
            return "first thread only";
        if (used->share[which] != 0)
            return used->is_user_only[which] ? "without the kernel; estimated" : "estimated";
        if (used->is_user_only[which])
            return "without the kernel";
    }
    return NULL;
}

/* 0 when no sample has it. */
static int
mean_of(const snd_stat_side *self, snd_used which, double *mean)
{
    uint32_t count = 0;
    double sum = 0;

    for (uint32_t i = 0; i < self->sample_count; i++)
        if (self->samples[i].used.why[which] == NULL) {
            sum += self->samples[i].used.values[which];
            count++;
        }
    *mean = count == 0 ? 0 : sum / count;
    return count != 0;
}

int
snd_stat_derive(const snd_stat_side *self, const snd_stat_derived *what, double *out)
{
    double above, below;

    if (!mean_of(self, what->above, &above) || !mean_of(self, what->below, &below) || below == 0)
        return 0;
    *out = above / below * what->factor;
    return 1;
}
