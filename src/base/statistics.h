/* What repeated measurements say: mean, deviation, and how far two of them are apart. */
#ifndef SND_BASE_STATISTICS_H
#define SND_BASE_STATISTICS_H

#include "base/attr.h"

typedef struct snd_statistics {
    uint32_t count;
    double mean;
    double deviation; /* of the values, with count - 1 below; 0 for one value */
    double min, median, max;
} snd_statistics;

/* All zero for no values. Sorts `values`. */
snd_statistics snd_statistics_of(double *values, uint32_t count);

/* The ratio of two means with the interval that holds it in 95 of 100 such measurements. */
typedef struct snd_ratio {
    int is_known; /* 0: the mean below is 0 */
    double ratio;
    int has_interval; /* 0: too few values, or too much noise to exclude any ratio */
    double low, high;
} snd_ratio;

/* mean(above) / mean(below), of values that were measured in turns: the i-th of both belong together, so what changed
 * the two alike counts for neither. The interval is Fieller's, for normal means. */
snd_ratio snd_ratio_of(const double *above, const double *below, uint32_t count);

/* The number that a normally distributed one (standard deviation 1), or one of Student's t with these degrees of
 * freedom, exceeds to either side in the share `alpha` of all cases. */
double snd_normal_limit(double alpha);
double snd_student_limit(double alpha, double freedom);

#endif
