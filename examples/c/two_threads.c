/* Two threads with regions and counters, recorded into two_threads.sonde and two_threads.json. */
#include <pthread.h>
#include <sonde.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 200, NUMBERS = 2000 };

typedef struct worker {
    const char *name;
    uint32_t seed;
    uint32_t numbers[NUMBERS];
} worker;

static int
compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void
fill(worker *self)
{
    SONDE_REGION("fill"); /* until the end of this function */
    for (int i = 0; i < NUMBERS; i++)
        self->numbers[i] = self->seed = self->seed * 1664525u + 1013904223u;
}

static void
sort(worker *self)
{
    SONDE_REGION("sort");
    qsort(self->numbers, NUMBERS, sizeof self->numbers[0], compare);
}

static void *
work(void *argument)
{
    worker *self = argument;

    sonde_thread_name(self->name);
    for (int round = 0; round < ROUNDS; round++) {
        SONDE_BEGIN("round"); /* until SONDE_END, wherever that is */
        fill(self);
        sort(self);
        SONDE_COUNTER_ADD("numbers sorted", NUMBERS);
        SONDE_COUNTER_SET("median", self->numbers[NUMBERS / 2] / 4294967296.0);
        SONDE_END();
    }
    return NULL;
}

int
main(void)
{
    static worker workers[2] = {{"left", 1, {0}}, {"right", 2, {0}}};
    pthread_t threads[2];
    sonde_options options = {.recording = "two_threads.sonde", .chrome_trace = "two_threads.json"};

    if (sonde_start(&options) != 0) {
        fprintf(stderr, "two_threads: %s\n", sonde_error());
        return 1;
    }
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, work, &workers[i]) != 0)
            return 1;
    {
        SONDE_REGION("wait");
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
    }
    if (sonde_stop() != 0) {
        fprintf(stderr, "two_threads: %s\n", sonde_error());
        return 1;
    }
    puts("recorded in two_threads.sonde and two_threads.json");
    return 0;
}
