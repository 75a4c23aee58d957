/* How much memory and time a command may take to read files. */
#include "cli/budget.h"

#include "base/alloc.h"
#include "base/status.h"
#include "store/reader.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

/* What any file may take, and what each byte of one may take besides: several times what real ones take. */
#define MEMORY_BASE (UINT64_C(256) << 20)
#define MEMORY_EACH 64u
#define SECONDS_BASE 30u
#define SECONDS_EACH_MIB 5u

/* For what does not end when its allocations fail. */
#define SECONDS_TO_END 10

static char last_words[512];

/* Of all files among the words; what is none is somebody else's to complain about. */
static uint64_t
size_of_words(const snd_arguments *given)
{
    struct stat about;
    uint64_t size = 0;

    for (int i = 0; i < given->word_count; i++)
        if (stat(given->words[i], &about) == 0 && S_ISREG(about.st_mode))
            size += (uint64_t)about.st_size;
    return size;
}

static uint64_t
memory_for(uint64_t size)
{
    uint64_t wanted = MEMORY_BASE + (size < UINT64_MAX / MEMORY_EACH / 2 ? size * MEMORY_EACH : UINT64_MAX / 2);
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t most = pages <= 0 || page <= 0 ? UINT64_MAX : (uint64_t)pages * (uint64_t)page / 4 * 3;

    if (most < MEMORY_BASE)
        most = MEMORY_BASE;
    return wanted < most ? wanted : most;
}

static void
stop(int number)
{
    (void)number;
    if (snd_alloc_is_stopped() == SND_ALLOC_TOO_SLOW) {
        ssize_t written = write(STDERR_FILENO, last_words, strlen(last_words));
        (void)written;
        _exit(SND_EXIT_USAGE);
    }
    snd_alloc_stop_all();
}

static void
start_timer(const snd_arguments *given, uint64_t seconds)
{
    struct sigaction action = {.sa_handler = stop, .sa_flags = SA_RESTART};
    struct itimerval timer = {.it_value = {.tv_sec = (time_t)seconds}, .it_interval = {.tv_sec = SECONDS_TO_END}};

    snprintf(last_words, sizeof last_words, "sonde: %.300s: %s\n", given->words[0],
             snd_status_stopped(SND_ALLOC_TOO_SLOW));
    sigaction(SIGPROF, &action, NULL);
    setitimer(ITIMER_PROF, &timer, NULL);
}

/* "seconds=600" has another limit on time. */
static uint64_t
seconds_for(uint64_t size, const char *wish)
{
    uint64_t seconds = SECONDS_BASE + (size >> 20) * SECONDS_EACH_MIB;

    if (strncmp(wish, "seconds=", 8) == 0) {
        uint64_t wanted = strtoull(wish + 8, NULL, 10);
        seconds = wanted == 0 ? seconds : wanted;
    }
    return seconds;
}

void
snd_budget_start(const snd_arguments *given)
{
    const char *wish = getenv("SONDE_LIMITS");
    uint64_t size = size_of_words(given);

    wish = wish == NULL ? "" : wish;
    if (given->command->reads == SND_READS_NOTHING || given->word_count == 0 || strcmp(wish, "off") == 0)
        return;
    snd_alloc_limit(memory_for(size));
    snd_reader_limit_memory(memory_for(size));
    if (given->command->reads == SND_READS_FILES)
        start_timer(given, seconds_for(size, wish));
}
