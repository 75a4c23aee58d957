/* Room: views of memory: who owns the peak, what leaks, what is copied. */
/* The memory of a profile by line: every number belongs to one line of the program's own files, or to no file. */
#ifndef SND_VIEW_MEMORY_H
#define SND_VIEW_MEMORY_H

#include "view/sampled/samples.h"

/* The metrics that are added up, side by side in the list of metrics. */
#define SND_MEMORY_METRICS (SND_METRIC_GPU_MEMORY - SND_METRIC_ALLOC_PYTHON + 1)

typedef struct snd_memory_view_numbers {
    snd_value values[SND_MEMORY_METRICS];
} snd_memory_view_numbers;

typedef struct snd_memory_view_line {
    const char *file;  /* as in the sites; NULL: no line of the program led here */
    const char *name;  /* of the function with the most memory; without a file what it is instead, never NULL */
    uint32_t line;     /* 0 without a file */
    uint32_t function; /* of the samples; SND_NONE without a file */
    uint32_t node;     /* the one with the most memory that was not freed */
    snd_memory_view_numbers numbers;
    snd_history history; /* sums; no points where no node has any */
    snd_history judged;  /* the same without what modules keep that were loaded; only where leaks are looked for */
    int is_import;       /* nothing else is here; only where leaks are looked for */
} snd_memory_view_line;

/* Read freely. The numbers of all lines add up to `all`. */
typedef struct snd_memory_view {
    snd_memory_view_line *lines; /* by file and line, those without a file last */
    uint32_t count;
    snd_memory_view_numbers all;
} snd_memory_view;

/* The caller owns what `*out` points to, on SND_OK only. For leaks: what was allocated below frames of the import
 * system is told apart. */
void snd_memory_view_make(const snd_samples *samples, int for_leaks, snd_memory_view *out);

/* NULL: that line has none. */
const snd_memory_view_line *snd_memory_view_find(const snd_memory_view *self, const char *file, uint32_t line);

/* `metric` must be one of those above, and of the kind that is asked for. */
uint64_t snd_memory_view_whole(const snd_memory_view_numbers *numbers, snd_metric metric);

/* Allocated by Python and by native code. */
uint64_t snd_memory_view_allocated(const snd_memory_view_numbers *numbers);

/* The root of a variance as bytes. */
uint64_t snd_memory_view_error(const snd_memory_view_numbers *numbers, snd_metric variance);

void snd_memory_view_add(snd_memory_view_numbers *sum, const snd_memory_view_numbers *more);
void snd_memory_view_add_history(snd_history *sum, const snd_history *more);

/* 0 where the whole is nothing. */
double snd_memory_view_share(uint64_t part, uint64_t whole);

#endif
