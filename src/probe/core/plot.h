/* Something that is looked at now and then, in a fixed number of points. */
#ifndef SND_PROBE_PLOT_H
#define SND_PROBE_PLOT_H

#include "model/profile.h"

#define SND_PLOT_POINTS (SND_SERIES_POINTS / 2)

typedef struct snd_plot {
    snd_point points[SND_PLOT_POINTS];
    uint32_t count;
    uint64_t step_ns, next_ns; /* from one point to the next; when the next is due */
} snd_plot;

/* Forgets all points; the first is due at once. */
void snd_plot_clear(snd_plot *self, uint64_t step_ns);

/* Due or not. When there is no room, every second point goes and the step doubles. */
void snd_plot_add(snd_plot *self, uint64_t now_ns, double value);

/* The caller guards the plot. */
SND_MUST_USE snd_status snd_plot_put(const snd_plot *self, snd_profile *profile, const char *name, const char *unit,
                                     uint64_t origin_ns);

#endif
