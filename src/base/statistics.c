/* What repeated measurements say. */
#include "base/statistics.h"

#include <math.h>
#include <stdlib.h>

/* From so many degrees of freedom on, Student's distribution is the normal one with a correction. */
#define MANY 60.0
#define STEPS 200

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

/* Where a falling function of a positive number goes below `wanted`. */
static double
find_limit(double (*tail)(double at, double freedom), double freedom, double wanted)
{
    double low = 0, high = 1;

    while (tail(high, freedom) > wanted && high < 1e12)
        high *= 2;
    for (int i = 0; i < 100; i++) {
        double middle = low + (high - low) / 2;
        if (tail(middle, freedom) > wanted)
            low = middle;
        else
            high = middle;
    }
    return high;
}

static double
normal_tail(double at, double freedom)
{
    (void)freedom;
    return erfc(at / sqrt(2));
}

double
snd_normal_limit(double alpha)
{
    return find_limit(normal_tail, 0, alpha);
}

/* The continued fraction of the incomplete beta function, from its first term on. */
static double
beta_fraction(double x, double a, double b)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double sum = d;

    for (int m = 1; m <= STEPS; m++) {
        double before = sum;
        for (int half = 0; half < 2; half++) {
            double term = half == 0 ? m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
                                    : -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
            d = 1 + term * d;
            c = 1 + term / c;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            sum *= c * d;
        }
        if (fabs(sum - before) <= 1e-15 * fabs(sum))
            break;
    }
    return sum;
}

static double
incomplete_beta(double x, double a, double b)
{
    double factor = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));

    if (x < (a + 1) / (a + b + 2))
        return factor * beta_fraction(x, a, b) / a;
    return 1 - factor * beta_fraction(1 - x, b, a) / b;
}

static double
student_tail(double at, double freedom)
{
    return at <= 0 ? 1 : incomplete_beta(freedom / (freedom + at * at), freedom / 2, 0.5);
}

double
snd_student_limit(double alpha, double freedom)
{
    if (freedom < MANY)
        return find_limit(student_tail, freedom < 1 ? 1 : freedom, alpha);
    double z = snd_normal_limit(alpha), z3 = z * z * z;
    return z + (z3 + z) / (4 * freedom) + (5 * z3 * z * z + 16 * z3 + 3 * z) / (96 * freedom * freedom);
}

/* All ratios r for which the mean of above - r * below is not significantly away from 0: between the roots of a
 * quadratic equation, where its first coefficient is positive. */
static void
find_interval(snd_ratio *self, const double *above, const double *below, uint32_t count)
{
    double t = snd_student_limit(0.05, count - 1);
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
