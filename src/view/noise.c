/* How far a measured number may be off. */
#include "view/noise.h"

#include <math.h>

/* From so many degrees of freedom on, Student's distribution is the normal one with a correction. */
#define MANY 60.0
#define STEPS 200
#define ONCE_NS 1e6
/* How much times scatter more, as a part of the share in which no processor was free. */
#define BUSY_SCATTER 0.1

/* ---- numbers ---- */

void
snd_estimate_add(snd_estimate *sum, const snd_estimate *more)
{
    int is_nothing = sum->value == 0 && sum->variance == 0;

    if (is_nothing || (more->value != 0 && (more->source == SND_NOISE_UNKNOWN || sum->source == SND_NOISE_EXACT)))
        sum->source = more->source;
    sum->value += more->value;
    sum->variance += more->variance;
    sum->doubt += more->doubt;
    sum->machine += more->machine;
}

snd_estimate
snd_estimate_exact(double value)
{
    return (snd_estimate){.value = value, .source = SND_NOISE_EXACT};
}

snd_estimate
snd_estimate_unknown(double value)
{
    return (snd_estimate){.value = value, .source = SND_NOISE_UNKNOWN};
}

snd_estimate
snd_estimate_once(double ns)
{
    return (snd_estimate){.value = ns, .variance = ONCE_NS * ONCE_NS, .source = SND_NOISE_UNKNOWN};
}

snd_estimate
snd_estimate_with(double value, double variance)
{
    return (snd_estimate){
        .value = value, .variance = isfinite(variance) && variance > 0 ? variance : 0, .source = SND_NOISE_KNOWN};
}

/* A count of n random events has the variance n, and the estimate n of that the variance n too: as if from 2n degrees
 * of freedom. Which of the samples were of waiting is not recorded: they are divided as the time is, which leaves the
 * CPU time too few, as waiting threads are looked at less often. */
snd_estimate
snd_estimate_samples(const snd_noise_samples *of)
{
    double time = of->cpu_ns + of->waiting_ns;
    double on_cpu = time > 0 ? of->samples * of->cpu_ns / time : 0;
    double others = of->whole_cpu_ns > of->cpu_ns ? 1 - of->cpu_ns / of->whole_cpu_ns : 0;
    snd_estimate self = snd_estimate_with(time, (of->samples - on_cpu) * of->period_ns * of->period_ns);

    if (of->cpu_ns > 0) {
        double count = on_cpu > 1 ? on_cpu : 1;
        double variance = of->cpu_ns * of->cpu_ns / count * others;
        self.variance += variance;
        self.doubt += variance * variance / (2 * count);
    }
    return self;
}

snd_estimate
snd_estimate_entries(uint64_t count, double total, double square)
{
    double number = (double)count;
    if (count < 2)
        return snd_estimate_once(total);
    /* A sum of squares has 16 digits: what is smaller than they are is none of its own. */
    double spread = square - total * total / number;
    double variance = number * (spread > square * 1e-14 ? spread : 0) / (number - 1);
    snd_estimate self = snd_estimate_with(total, variance);

    self.doubt = self.variance * self.variance / (number - 1);
    return self;
}

snd_estimate
snd_estimate_node(const snd_profile *profile, uint32_t node)
{
    double total = (double)snd_profile_whole(profile, node, SND_METRIC_TOTAL);

    if (snd_profile_whole(profile, node, SND_METRIC_OPEN) != 0 || !snd_profile_has(profile, node, SND_METRIC_SQUARE))
        return snd_estimate_once(total);
    return snd_estimate_entries(snd_profile_whole(profile, node, SND_METRIC_COUNT), total,
                                snd_profile_real(profile, node, SND_METRIC_SQUARE));
}

/* ---- limits ---- */

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

static double
square_of(double number)
{
    return number * number;
}

double
snd_noise_limit(const snd_estimate *before, const snd_estimate *after, const snd_noise_runs *runs, uint64_t tests)
{
    double alpha = SND_NOISE_FALSE_ALARMS / (double)(tests == 0 ? 1 : tests);
    double doubt = before->doubt + after->doubt;
    double variance = before->variance + after->variance +
                      square_of((runs->share + BUSY_SCATTER * runs->busy[0]) * before->value) +
                      square_of((runs->share + BUSY_SCATTER * runs->busy[1]) * after->value);
    double shift = fabs(runs->busy[1] - runs->busy[0]) * fmax(before->value, after->value) +
                   fabs(after->machine - before->machine);

    if (before->source == SND_NOISE_EXACT && after->source == SND_NOISE_EXACT)
        return 0;
    if (isnan(variance) || isnan(doubt) || isinf(doubt)) /* a damaged file may hold any number */
        return INFINITY;
    return shift + sqrt(variance) *
                       (doubt > 0 ? snd_student_limit(alpha, variance * variance / doubt) : snd_normal_limit(alpha));
}
