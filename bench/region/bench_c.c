/* Cost of one region from C: ns for enter + leave, one thread and two at once. Prints "name ns" lines. */
#include <sonde.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define ENTRIES 2000000

static double
now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec * 1e9 + (double)at.tv_nsec;
}

static void *
run(void *result)
{
    double start = now();
    for (int i = 0; i < ENTRIES; i++) {
        SONDE_REGION("bench");
        __asm__ volatile("");
    }
    *(double *)result = (now() - start) / ENTRIES;
    return NULL;
}

static double
best_of(int threads)
{
    double best = 1e9;

    for (int round = 0; round < 5; round++) {
        double results[2] = {0};
        pthread_t others[2];
        for (int i = 0; i < threads; i++)
            pthread_create(&others[i], NULL, run, &results[i]);
        double slowest = 0;
        for (int i = 0; i < threads; i++) {
            pthread_join(others[i], NULL);
            slowest = results[i] > slowest ? results[i] : slowest;
        }
        best = slowest < best ? slowest : best;
    }
    return best;
}

int
main(int argc, char **argv)
{
    sonde_options options = {0};
    double off = best_of(1);

    if (argc > 1 && strcmp(argv[1], "timeline") == 0)
        options.chrome_trace = "bench-%p.json";
    if (sonde_start(&options) != 0) {
        fprintf(stderr, "%s\n", sonde_error());
        return 1;
    }
    printf("off %.2f\n", off);
    printf("one %.2f\n", best_of(1));
    printf("two %.2f\n", best_of(2));
    return 0;
}
