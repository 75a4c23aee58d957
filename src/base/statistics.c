/* What repeated measurements say. */
#include "base/statistics.h"

#include <math.h>
#include <stdlib.h>

static int
by_size(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double
mean_of(const double *values, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += values[i];
    return sum / count;
}

/* Of the values with one another: the variance for twice the same values. */
static double
covariance(const double *a, const double *b, uint32_t count)
{
    double mean_a = mean_of(a, count), mean_b = mean_of(b, count);
    double sum = 0;

    if (count < 2)
        return 0;
    for (uint32_t i = 0; i < count; i++)
        sum += (a[i] - mean_a) * (b[i] - mean_b);
    return sum / (count - 1);
}

snd_statistics
snd_statistics_of(double *values, uint32_t count)
{
    if (count == 0)
        return (snd_statistics){0};
    qsort(values, count, sizeof *values, by_size);
    return (snd_statistics){
        .count = count,
        .mean = mean_of(values, count),
        .deviation = sqrt(covariance(values, values, count)),
        .min = values[0],
        .median = (values[(count - 1) / 2] + values[count / 2]) / 2,
        .max = values[count - 1],
    };
}

double
snd_student_95(uint32_t degrees)
{
    static const double few[] = {12.706205, 4.302653, 3.182446, 2.776445, 2.570582,
                                 2.446912,  2.364624, 2.306004, 2.262157, 2.228139};
    const double z = 1.959964;
    double z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z, z9 = z7 * z * z;
    double n = degrees;

    if (degrees <= sizeof few / sizeof few[0])
        return few[degrees - 1];
    return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
           (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n) +
           (79 * z9 + 776 * z7 + 1482 * z5 - 1920 * z3 - 945 * z) / (92160 * n * n * n * n);
}

/* All ratios r for which the mean of above - r * below is not significantly away from 0: between the roots of a
 * quadratic equation, where its first coefficient is positive. */
static void
find_interval(snd_ratio *self, const double *above, const double *below, uint32_t count)
{
    double t = snd_student_95(count - 1);
    double weight = t * t / count;
    double mean_above = mean_of(above, count), mean_below = mean_of(below, count);
    double a = mean_below * mean_below - weight * covariance(below, below, count);
    double b = mean_above * mean_below - weight * covariance(above, below, count);
    double c = mean_above * mean_above - weight * covariance(above, above, count);
    double under_root = b * b - a * c;

    if (a <= 0)
        return; /* the mean below may be 0 */
    double root = under_root > 0 ? sqrt(under_root) : 0;
    self->has_interval = 1;
    self->low = self->ratio >= 0 ? fmax((b - root) / a, 0) : (b - root) / a; /* what is counted is never below 0 */
    self->high = (b + root) / a;
}

snd_ratio
snd_ratio_of(const double *above, const double *below, uint32_t count)
{
    snd_ratio self = {0};

    if (count == 0 || mean_of(below, count) == 0)
        return self;
    self.is_known = 1;
    self.ratio = mean_of(above, count) / mean_of(below, count);
    if (count >= 2)
        find_interval(&self, above, below, count);
    return self;
}
