/* Small drawings in text: bars, curves, a plot over time. With Unicode's blocks, or in ASCII. */
#ifndef SND_FORMAT_DRAW_H
#define SND_FORMAT_DRAW_H

#include "base/buffer.h"
#include "model/profile.h"

#define SND_BAR_CELLS 20u

/* A bar of `percent` of so many cells; what is more than nothing has a part of a cell at least. */
void snd_draw_bar(double percent, unsigned cells, int unicode, snd_buffer *out);

/* A character for each digit of the text, from 0 to 8; others are left out. */
void snd_draw_spark(const char *levels, int unicode, snd_buffer *out);

/* Bytes over time: one series as an area, one as a line above it. */
typedef struct snd_plot {
    const snd_series *area, *line; /* NULL: none */
    uint64_t end_ns;               /* of the axis of time; 0: where the last point is */
    uint64_t mark_ns;              /* what is marked below the axis, with its words; NULL: nothing */
    const char *mark;
} snd_plot;

/* `width` cells at most; 0: 100. Nothing where there is no point. */
void snd_draw_plot(const snd_plot *plot, unsigned width, int unicode, snd_buffer *out);

#endif
