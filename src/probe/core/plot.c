/* Points of a series while it is measured. */
#include "probe/core/plot.h"

#include "base/alloc.h"

void
snd_plot_clear(snd_plot *self, uint64_t step_ns)
{
    self->count = 0;
    self->step_ns = step_ns;
    self->next_ns = 0;
}

void
snd_plot_add(snd_plot *self, uint64_t now_ns, double value)
{
    if (self->count == SND_PLOT_POINTS) {
        for (uint32_t i = 0; i < SND_PLOT_POINTS / 2; i++)
            self->points[i] = self->points[2 * i + 1];
        self->count /= 2;
        self->step_ns *= 2;
    }
    self->points[self->count++] = (snd_point){now_ns, value};
    self->next_ns = now_ns + self->step_ns;
}

snd_status
snd_plot_put(const snd_plot *self, snd_profile *profile, const char *name, const char *unit, uint64_t origin_ns)
{
    snd_point *points = snd_malloc((self->count + 1u) * sizeof *points);
    if (points == NULL)
        return SND_NO_MEMORY;
    for (uint32_t i = 0; i < self->count; i++) {
        uint64_t at = self->points[i].at_ns;
        points[i] = (snd_point){at > origin_ns ? at - origin_ns : 0, self->points[i].value};
    }
    snd_status status = snd_profile_set_series(profile, name, unit, points, self->count);
    snd_free(points);
    return status;
}
