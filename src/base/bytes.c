/* Amounts of memory as people read them. */
#include "base/bytes.h"

#include <stdio.h>

void
snd_bytes_text(uint64_t bytes, char text[SND_BYTES_SIZE])
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes / 1024;
    unsigned unit = 0;

    if (bytes < 1024) {
        snprintf(text, SND_BYTES_SIZE, "%u B", (unsigned)bytes);
        return;
    }
    for (; value >= 999.5 && unit + 1 < sizeof units / sizeof units[0]; unit++) /* 1000 KiB would be four digits */
        value /= 1024;
    int digits = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    snprintf(text, SND_BYTES_SIZE, "%.*f %s", digits, value, units[unit]);
}

uint64_t
snd_bytes_of(double bytes)
{
    if (!(bytes > 0))
        return 0;
    return bytes < 9.2e18 ? (uint64_t)bytes : (uint64_t)INT64_MAX;
}
