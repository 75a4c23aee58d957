/* How far a measured number may be off, and what a difference of two of them is worth. All statistics of comparing
 * stand here. */
#ifndef SND_VIEW_NOISE_H
#define SND_VIEW_NOISE_H

#include "model/profile.h"

/* Of equal runs that are compared with all their rows, this share has any row marked as different. */
#define SND_NOISE_FALSE_ALARMS 0.01

/* What the noise of a number is known from. */
typedef enum snd_noise_source {
    SND_NOISE_EXACT,   /* counted, not measured: it has none */
    SND_NOISE_UNKNOWN, /* measured once: nothing in the recording tells */
    SND_NOISE_KNOWN,
} snd_noise_source;

/* A number with its noise. All zero: exactly nothing. */
typedef struct snd_estimate {
    double value;
    double variance;
    double doubt;   /* sum of variance² / degrees of freedom over its parts (Welch and Satterthwaite): how far the
                       variance itself may be off */
    double machine; /* part of the value in which no processor was free: it says nothing of the program */
    snd_noise_source source;
} snd_estimate;

/* The sum of two that do not depend on each other. Of their sources the less certain one is the sum's, but what is
 * exactly nothing does not count. */
void snd_estimate_add(snd_estimate *sum, const snd_estimate *more);

snd_estimate snd_estimate_exact(double value);
snd_estimate snd_estimate_unknown(double value);

/* A time that was measured once. A thread may lose its processor at any moment: its error is a millisecond at least. */
snd_estimate snd_estimate_once(double ns);

/* With a standard error that is known itself. */
snd_estimate snd_estimate_with(double value, double variance);

/* What was found in samples. */
typedef struct snd_noise_samples {
    double cpu_ns;
    double waiting_ns;
    double samples;      /* of both together */
    double whole_cpu_ns; /* of the recording, measured by clocks: samples only divide it */
    double period_ns;    /* between two looks at a thread */
} snd_noise_samples;

/* CPU time: each sample stands for what its thread ran since the last one, so n samples of one place are a draw from
 * all. Waiting: a thread is followed for as long as it waits; each end of it is off by about a period. */
snd_estimate snd_estimate_samples(const snd_noise_samples *of);

/* A sum of `count` durations, from that and the sum of their squares. Of one entry the noise is unknown. */
snd_estimate snd_estimate_entries(uint64_t count, double total, double square);

/* The total of a node that is entered and left. Where an entry is still open, or squares were not recorded, the noise
 * is unknown. */
snd_estimate snd_estimate_node(const snd_profile *profile, uint32_t node);

/* What is known of the two runs. */
typedef struct snd_noise_runs {
    double share; /* by which what is not counted differs from run to run, beside its own noise: a standard deviation */
    double busy[2]; /* of the time in which a thread could have run, the share in which no processor was free */
} snd_noise_runs;

/* The difference of two numbers that equal runs do not exceed, where `tests` such numbers are looked at, in the unit of
 * the numbers; 0 where both are exact.
 * A processor that others use too is slower while we have it: times scatter by a tenth of the busy share more, and are
 * longer by up to that share, so that runs of unequal busy shares differ by their difference (measured: docs/diff.md).
 */
double snd_noise_limit(const snd_estimate *before, const snd_estimate *after, const snd_noise_runs *runs,
                       uint64_t tests);

#endif
