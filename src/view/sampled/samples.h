/* Room: views of samples: functions, call tree, threads, waiting, timeline. */
/* The samples of a profile, as views want them: which count, whose they are, and their sums. */
#ifndef SND_VIEW_SAMPLES_H
#define SND_VIEW_SAMPLES_H

#include "model/rollup.h"
#include "view/core/own_code.h"

/* What code of others is called that no line of the program led to. */
#define SND_SAMPLES_OUTSIDE "(outside your own code)"

/* Time by state (see SND_SAMPLE_METRIC), and how many samples it comes from. */
typedef struct snd_samples_numbers {
    uint64_t states[SND_SAMPLE_STATES];
    uint64_t samples;
} snd_samples_numbers;

/* A function, all its lines together; or a native symbol, a region, or something without a place. */
typedef struct snd_samples_function {
    uint32_t site; /* the first of its sites */
    int is_own;    /* code of the program itself, of Python or Cython */
} snd_samples_function;

/* Read freely. Not thread-safe. The profile and the options must live longer. */
typedef struct snd_samples {
    const snd_profile *profile;
    const snd_view_options *options;
    snd_own own;
    snd_samples_function *functions;
    uint32_t function_count;
    uint32_t *functions_by_site; /* SND_NONE: nothing that stands in a stack */
    unsigned char *is_taken;     /* per node: it is of the threads and regions that were asked for */
    unsigned char *ran_python;   /* per track; of others, waiting does not count */
    uint32_t *charged; /* per node: the innermost own line from it upwards, up to a collection; SND_NONE: none */
    snd_metric weight; /* counts as the time in Python, in place of all samples; SND_METRIC_COUNT_OF: none does */
    snd_samples_numbers all;
    uint64_t whole_ns; /* snd_samples_ranked of `all`: what shares are shares of */
} snd_samples;

/* The caller owns what `*out` points to, on SND_OK only. SND_NO_DATA: no samples, or none that were asked for. */
void snd_samples_make(const snd_profile *profile, const snd_view_options *options, snd_samples *out);

/* The same with another metric of the same nodes in place of samples, such as memory: whoever adds up time adds up
 * that. SND_NO_DATA only when a region or a thread was asked for that has nothing. */
void snd_samples_weigh(const snd_profile *profile, const snd_view_options *options, snd_metric weight,
                       snd_samples *out);

/* What was found at this node itself, as far as it counts. Returns 0 for nothing. */
int snd_samples_read(const snd_samples *self, uint32_t node, snd_samples_numbers *out);

/* What counts, summed by row; the roll-up's context is `self`, which may be the first member of something larger. */
void snd_samples_rollup(const snd_samples *self, snd_rollup_row *row, snd_rollup *out);
snd_samples_numbers snd_samples_row(const snd_rollup *rows, uint32_t row);

/* The function of a node; SND_NONE for a thread's root and what was not sampled. */
uint32_t snd_samples_function_of(const snd_samples *self, uint32_t node);

/* `function_count` stands for a thread that is in none, such as one that starts: its site is called SND_NO_FRAME. */
#define SND_NO_FRAME "[no frame]"
snd_rollup_row snd_samples_by_function;
const snd_profile_site *snd_samples_site(const snd_samples *self, uint32_t function);

int snd_samples_is_any(const snd_samples_numbers *numbers); /* time or samples */
void snd_samples_add(snd_samples_numbers *sum, const snd_samples_numbers *more);
uint64_t snd_samples_cpu(const snd_samples_numbers *numbers);
uint64_t snd_samples_waiting(const snd_samples_numbers *numbers);
uint64_t snd_samples_time(const snd_samples_numbers *numbers);   /* both */
uint64_t snd_samples_waited(const snd_samples_numbers *numbers); /* waiting, but for a processor: the program's own */

/* What lists are ordered by and shares are of: CPU time, or with waiting where the options want that. */
uint64_t snd_samples_ranked(const snd_samples *self, const snd_samples_numbers *numbers);

/* For sorting, the larger one first: by that, and where it is the same, by CPU time and waiting. */
int snd_samples_compare(const snd_samples *self, const snd_samples_numbers *a, const snd_samples_numbers *b);

/* In per cent of the whole; 0 where the whole is nothing. */
double snd_samples_share(const snd_samples *self, uint64_t ns);

/* Waiting in per cent of all waiting or, where waiting is part of the whole, of that. */
double snd_samples_waiting_share(const snd_samples *self, const snd_samples_numbers *numbers);

/* Whether its share of the whole, or of what the program waited, is at least `percent`. */
int snd_samples_is_large(const snd_samples *self, const snd_samples_numbers *numbers, double percent);

/* How far a share may be off because only so many samples were taken: in 19 of 20 cases not farther, in per cent. */
double snd_samples_error(const snd_samples *self, double share);

#endif
