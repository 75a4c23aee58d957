/* How far a measured number may be off. */
#include "view/core/noise.h"

#include "base/statistics.h"

#include <math.h>

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
