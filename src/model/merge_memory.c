/* Memory over time of several processes: what each had at the same moments, added. */
#include "base/alloc.h"
#include "model/merge_private.h"

#include <string.h>

/* Points of a series come so often at most: more than one in that time would say nothing. */
#define POINT_NS UINT64_C(50000000)

/* ---- series ---- */

/* No two at the same moment. */
static uint32_t
point_count(const snd_merger *self)
{
    uint64_t count = self->length_ns / POINT_NS + 1 + (self->length_ns != 0);
    return count < SND_SERIES_POINTS ? (uint32_t)count : SND_SERIES_POINTS;
}

static uint64_t
point_at(const snd_merger *self, uint32_t i, uint32_t count)
{
    return i == 0 ? 0 : (uint64_t)((unsigned __int128)self->length_ns * i / (count - 1));
}

static snd_status
make_series(snd_merger *self, const snd_series *like)
{
    snd_point points[SND_SERIES_POINTS];
    uint32_t count = point_count(self);

    for (uint32_t i = 0; i < count; i++)
        points[i] = (snd_point){point_at(self, i, count), 0};
    return snd_profile_set_series(self->sum, like->name, like->unit, points, count);
}

/* A value holds until the next one, the last until the process ends. How busy a device is does not add up. */
static void
add_points(const snd_series *series, uint64_t offset, uint64_t length, const snd_series *sum)
{
    int is_share = strcmp(series->unit, "%") == 0;
    uint32_t at = 0;

    for (uint32_t i = 0; i < sum->count; i++) {
        snd_point *to = &sum->points[i];
        if (to->at_ns < offset)
            continue;
        uint64_t now = to->at_ns - offset;
        while (at < series->count && series->points[at].at_ns <= now)
            at++;
        if (at == 0)
            continue;
        if (now > length && now > series->points[series->count - 1].at_ns)
            break;
        double value = series->points[at - 1].value;
        to->value = !is_share ? to->value + value : value > to->value ? value : to->value;
    }
}

static snd_status
add_series(snd_merger *self, const snd_process *process, const snd_series *series)
{
    snd_status status = SND_OK;

    if (snd_profile_series(self->sum, series->name) == NULL)
        status = make_series(self, series);
    if (status == SND_OK)
        add_points(series, process->offset_ns, process->length_ns, snd_profile_series(self->sum, series->name));
    return status;
}

/* ---- histories ---- */

uint64_t
snd_merge_history_step(const snd_merger *self)
{
    return self->length_ns / SND_HISTORY_POINTS + 1;
}

/* What had happened by then: memory that a process has at its end stays. */
static const snd_history_point *
point_by(const snd_history *history, uint64_t step_ns, uint64_t length_ns, uint64_t now)
{
    uint64_t passed = step_ns == 0 ? 0 : now / step_ns;

    if (history->count == 0)
        return NULL;
    if (now >= length_ns || passed > history->count)
        passed = history->count;
    return passed == 0 ? NULL : &history->points[passed - 1];
}

static snd_status
add_history(snd_merger *self, const snd_process *process, const snd_history *history, uint64_t step_ns, uint32_t node)
{
    const snd_history *known = snd_profile_history(self->sum, node);
    snd_history sum = {.count = SND_HISTORY_POINTS};

    if (known != NULL)
        sum = *known;

    for (uint32_t i = 0; i < SND_HISTORY_POINTS; i++) {
        uint64_t at = (i + 1) * snd_merge_history_step(self);
        if (at < process->offset_ns)
            continue;
        const snd_history_point *point = point_by(history, step_ns, process->length_ns, at - process->offset_ns);
        if (point == NULL)
            continue;
        sum.points[i].live += point->live;
        sum.points[i].taken += point->taken;
        sum.points[i].freed += point->freed;
    }
    return snd_profile_set_history(self->sum, node, &sum);
}

/* ---- sizes ---- */

static snd_status
add_sizes(snd_profile *sum, const snd_block_size *sizes)
{
    if (sum->memory.sizes == NULL)
        return snd_profile_set_sizes(sum, sizes);
    for (uint32_t i = 0; i < SND_BLOCK_SIZES; i++) {
        snd_block_size *to = &sum->memory.sizes[i];
        to->python_blocks += sizes[i].python_blocks;
        to->python_bytes += sizes[i].python_bytes;
        to->native_blocks += sizes[i].native_blocks;
        to->native_bytes += sizes[i].native_bytes;
    }
    return SND_OK;
}

snd_status
snd_merge_memory(snd_merger *self, uint32_t process, const snd_profile *profile, const uint32_t *nodes)
{
    const snd_process *about = &self->sum->processes[process];
    const snd_profile_memory *memory = &profile->memory;
    uint64_t step_ns = snd_profile_info_number(profile, "history_step_ns");
    snd_status status = SND_OK;

    for (uint32_t i = 0; i < memory->series_count && status == SND_OK; i++)
        status = add_series(self, about, &memory->series[i]);
    for (uint32_t i = 0; i < memory->history_count && status == SND_OK; i++)
        if (memory->histories[i] != NULL)
            status = add_history(self, about, memory->histories[i], step_ns, nodes[i]);
    if (status == SND_OK && memory->sizes != NULL)
        status = add_sizes(self->sum, memory->sizes);
    return status;
}
