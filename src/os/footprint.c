#include "os/footprint.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

uint64_t
snd_footprint_rss(void)
{
    char text[128];
    char *resident;
    int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? 0 : read(file, text, sizeof text - 1);

    if (file >= 0)
        close(file);
    if (size <= 0)
        return 0;
    text[size] = '\0';
    (void)strtoull(text, &resident, 10); /* the first number is the address space */
    return strtoull(resident, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}
