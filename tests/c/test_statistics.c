/* What repeated measurements say, against answers that are known. */
#include "base/statistics.h"
#include "check.h"
#include "fixture.h"

#include <math.h>

static void
a_few_values_have_the_mean_and_deviation_of_the_textbook(void)
{
    double values[] = {2, 4, 4, 4, 5, 5, 7, 9};
    snd_statistics of = snd_statistics_of(values, 8);

    CHECK_NUMBER(of.count, 8);
    CHECK_NEAR(of.mean, 5, 1e-12);
    CHECK_NEAR(of.deviation, sqrt(32.0 / 7), 1e-12);
    CHECK(of.min == 2 && of.max == 9);
    CHECK_NEAR(of.median, 4.5, 1e-12);
}

static void
an_odd_number_of_values_has_its_middle_one_for_median(void)
{
    double values[] = {30, 10, 20};
    CHECK(snd_statistics_of(values, 3).median == 20);
    CHECK(values[0] == 10 && values[2] == 30); /* sorted */
}

static void
one_value_has_no_deviation_and_none_has_nothing(void)
{
    double one[] = {7};
    snd_statistics of = snd_statistics_of(one, 1);

    CHECK(of.mean == 7 && of.deviation == 0 && of.min == 7 && of.median == 7 && of.max == 7);
    CHECK_NUMBER(snd_statistics_of(one, 0).count, 0);
}

static void
students_t_is_that_of_the_tables(void)
{
    CHECK_NEAR(snd_student_limit(0.05, 1), 12.7062, 1e-4);
    CHECK_NEAR(snd_student_limit(0.05, 4), 2.7764, 1e-4);
    CHECK_NEAR(snd_student_limit(0.05, 9), 2.2622, 1e-4);
    CHECK_NEAR(snd_student_limit(0.05, 11), 2.2010, 1e-4);
    CHECK_NEAR(snd_student_limit(0.05, 20), 2.0860, 1e-4);
    CHECK_NEAR(snd_student_limit(0.05, 30), 2.0423, 1e-4);
    CHECK_NEAR(snd_student_limit(0.05, 120), 1.9799, 1e-4);
    CHECK_NEAR(snd_student_limit(0.05, 1000000), 1.9600, 1e-4);
}

static void
values_without_noise_have_an_exact_ratio(void)
{
    double below[] = {10, 10, 10}, above[] = {25, 25, 25};
    snd_ratio of = snd_ratio_of(above, below, 3);

    CHECK(of.is_known && of.has_interval);
    CHECK_NEAR(of.ratio, 2.5, 1e-12);
    CHECK_NEAR(of.low, 2.5, 1e-9);
    CHECK_NEAR(of.high, 2.5, 1e-9);
}

/* The roots of (below^2 - w var) r^2 - 2 (above below - w cov) r + (above^2 - w var) = 0, worked out by hand for
 * means 10 and 20, variances 1 and 4, no covariance, n = 3: w = 4.302653^2 / 3 = 6.170941. */
static void
the_interval_is_fiellers(void)
{
    double below[] = {9, 10, 11}, above[] = {20 + 2 / sqrt(3), 20 - 4 / sqrt(3), 20 + 2 / sqrt(3)};
    double a = 100 - 6.170941, b = 200, c = 400 - 6.170941 * 4;
    double root = sqrt(b * b - a * c);
    snd_ratio of = snd_ratio_of(above, below, 3);

    CHECK_NEAR(of.ratio, 2, 1e-12);
    CHECK_NEAR(of.low, (b - root) / a, 1e-5);
    CHECK_NEAR(of.high, (b + root) / a, 1e-5);
}

static void
what_changes_both_alike_does_not_widen_the_interval(void)
{
    double below[] = {10, 20, 30, 40}, above[] = {20, 40, 60, 80};
    double shuffled[] = {60, 20, 80, 40};
    snd_ratio paired = snd_ratio_of(above, below, 4), apart = snd_ratio_of(shuffled, below, 4);

    CHECK(paired.has_interval);
    CHECK_NEAR(paired.low, 2, 1e-6);
    CHECK_NEAR(paired.high, 2, 1e-6);
    CHECK(!apart.has_interval || apart.high - apart.low > 0.5);
}

static void
a_ratio_to_nothing_is_not_known(void)
{
    double zeros[] = {0, 0}, ones[] = {1, 1};

    CHECK(!snd_ratio_of(ones, zeros, 2).is_known);
    CHECK(!snd_ratio_of(ones, ones, 0).is_known);
    CHECK(snd_ratio_of(ones, ones, 1).is_known && !snd_ratio_of(ones, ones, 1).has_interval);
    CHECK(snd_ratio_of(zeros, ones, 2).is_known && snd_ratio_of(zeros, ones, 2).ratio == 0);
}

static void
noise_that_reaches_zero_leaves_the_interval_open(void)
{
    double below[] = {0, 0, 1}, above[] = {5, 5, 6};
    snd_ratio of = snd_ratio_of(above, below, 3);

    CHECK(of.is_known && !of.has_interval);
}

static double
draw_normal(uint64_t *state)
{
    double radius = sqrt(-2 * log(draw_share(state)));
    return radius * cos(2 * 3.14159265358979 * draw_share(state));
}

/* Of so many measurements with a true ratio of 1.5 and drift that both share: how many intervals hold it. */
static unsigned
count_that_hold(unsigned rounds, unsigned trials)
{
    uint64_t state = 20261116;
    unsigned held = 0;

    for (unsigned t = 0; t < trials; t++) {
        double below[32], above[32];
        for (unsigned i = 0; i < rounds; i++) {
            double drift = 1 + 0.02 * i;
            below[i] = 100 * drift + 5 * draw_normal(&state);
            above[i] = 150 * drift + 12 * draw_normal(&state);
        }
        snd_ratio of = snd_ratio_of(above, below, rounds);
        held += of.has_interval && of.low <= 1.5 && of.high >= 1.5;
    }
    return held;
}

static void
ninety_five_of_a_hundred_intervals_hold_the_true_ratio(void)
{
    unsigned few = count_that_hold(3, 4000), some = count_that_hold(10, 4000), many = count_that_hold(30, 4000);

    CHECK(few >= 3740 && few <= 3860); /* 3800 +- 4 deviations of 13.8 */
    CHECK(some >= 3740 && some <= 3860);
    CHECK(many >= 3740 && many <= 3860);
}

int
main(void)
{
    RUN(a_few_values_have_the_mean_and_deviation_of_the_textbook);
    RUN(an_odd_number_of_values_has_its_middle_one_for_median);
    RUN(one_value_has_no_deviation_and_none_has_nothing);
    RUN(students_t_is_that_of_the_tables);
    RUN(values_without_noise_have_an_exact_ratio);
    RUN(the_interval_is_fiellers);
    RUN(what_changes_both_alike_does_not_widen_the_interval);
    RUN(a_ratio_to_nothing_is_not_known);
    RUN(noise_that_reaches_zero_leaves_the_interval_open);
    RUN(ninety_five_of_a_hundred_intervals_hold_the_true_ratio);
    return check_report();
}
