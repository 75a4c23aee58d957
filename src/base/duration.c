/* Durations as people read them. */
#include "base/duration.h"

#include <stdio.h>

void
snd_duration_text(uint64_t ns, char text[SND_DURATION_SIZE])
{
    static const char *const units[] = {"s", "ms", "us"};
    double value = (double)ns / 1e9;

    for (int i = 0; i < 3; i++, value *= 1000) {
        if (value < 0.99999)
            continue;
        int digits = value >= 500 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : 3;
        snprintf(text, SND_DURATION_SIZE, "%.*f %s", digits, value, units[i]);
        return;
    }
    snprintf(text, SND_DURATION_SIZE, "%llu ns", (unsigned long long)ns);
}
