/* What a process used. */
#include "os/usage/usage.h"

#include "os/clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const snd_used_info infos[] = {
#define USED_INFO(id, name, unit, meaning) {name, unit, meaning},
    SND_USED_MAP(USED_INFO)
#undef USED_INFO
};

static const snd_used of_perf[] = {
#define USED_OF_PERF(id, type, number) SND_USED_##id,
    SND_PERF_MAP(USED_OF_PERF)
#undef USED_OF_PERF
};

const snd_used_info *
snd_used_get(snd_used which)
{
    return &infos[which];
}

snd_used
snd_used_find(const char *name)
{
    for (unsigned i = 0; i < SND_USED_COUNT_OF; i++)
        if (strcmp(infos[i].name, name) == 0)
            return (snd_used)i;
    return SND_USED_COUNT_OF;
}

snd_used
snd_used_of_perf(snd_perf which)
{
    return of_perf[which];
}

static void
put(snd_usage *self, snd_used which, double value)
{
    self->values[which] = value;
    self->why[which] = NULL;
}

static double
ns_of(struct timeval time)
{
    return (double)time.tv_sec * 1e9 + (double)time.tv_usec * 1e3;
}

void
snd_usage_put_resources(snd_usage *self, const struct rusage *from)
{
    put(self, SND_USED_USER, ns_of(from->ru_utime));
    put(self, SND_USED_SYSTEM, ns_of(from->ru_stime));
    put(self, SND_USED_TASK_CLOCK, ns_of(from->ru_utime) + ns_of(from->ru_stime));
    put(self, SND_USED_VOLUNTARY, (double)from->ru_nvcsw);
    put(self, SND_USED_INVOLUNTARY, (double)from->ru_nivcsw);
    put(self, SND_USED_CONTEXT_SWITCHES, (double)from->ru_nvcsw + (double)from->ru_nivcsw);
    put(self, SND_USED_PAGE_FAULTS, (double)from->ru_minflt + (double)from->ru_majflt);
    put(self, SND_USED_MAJOR_FAULTS, (double)from->ru_majflt);
    put(self, SND_USED_PEAK_RSS, (double)from->ru_maxrss * 1024);
}

static int
open_about(pid_t process, const char *name)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/%s", (int)process, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* All that a file has; "" when it cannot be read. */
static void
read_text(int file, char *text, size_t size)
{
    size_t len = 0;
    ssize_t part = -1;

    while (file >= 0 && len < size - 1 && (part = read(file, text + len, size - 1 - len)) > 0)
        len += (size_t)part;
    text[part < 0 ? 0 : len] = '\0';
}

/* The number behind a name, spaces and a colon at the start of a line. 0 when there is none. */
static int
find_number(const char *text, const char *name, double *number)
{
    size_t len = strlen(name);

    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, len) != 0)
            continue;
        const char *rest = line + len + strspn(line + len, " \t");
        if (*rest != ':')
            continue;
        *number = strtod(rest + 1, NULL);
        return 1;
    }
    return 0;
}

/* Of a process that has ended and is not waited for yet: it counts with those that it waited for. */
static void
put_files(snd_usage *self, int file)
{
    static const struct {
        const char *name;
        snd_used which;
    } lines[] = {{"rchar", SND_USED_READ},
                 {"wchar", SND_USED_WRITTEN},
                 {"read_bytes", SND_USED_DISK_READ},
                 {"write_bytes", SND_USED_DISK_WRITTEN}};
    char text[1024];
    double number;

    read_text(file, text, sizeof text);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        self->why[lines[i].which] = "/proc/PID/io cannot be read";
        if (find_number(text, lines[i].name, &number))
            put(self, lines[i].which, number);
    }
}

/* Where no perf event counts them, the kernel still tells those of the first thread. */
static void
put_migrations(snd_usage *self, pid_t process)
{
    char text[4096];
    double number;

    if (self->why[SND_USED_MIGRATIONS] == NULL)
        return;
    int file = open_about(process, "sched");
    read_text(file, text, sizeof text);
    if (file >= 0)
        close(file);
    if (!find_number(text, "se.nr_migrations", &number))
        return;
    put(self, SND_USED_MIGRATIONS, number);
    self->is_first_thread_only = 1;
}

int
snd_usage_open_process(pid_t process)
{
    return open_about(process, "io");
}

void
snd_usage_put_process(snd_usage *self, pid_t process, int file)
{
    put_files(self, file);
    put_migrations(self, process);
}

void
snd_usage_put_event(snd_usage *self, snd_perf which, const snd_perf_event *event)
{
    snd_used to = snd_used_of_perf(which);
    snd_perf_reading got;

    self->why[to] = event->file < 0 ? snd_perf_why(which, event->error) : "it could not be read";
    if (!snd_perf_read(event, &got))
        return;
    self->why[to] = "the processor was counting other events all the time";
    if (got.running_ns == 0 && got.enabled_ns != 0)
        return;
    self->is_user_only[to] = (unsigned char)event->is_user_only;
    put(self, to, (double)got.value);
    if (got.running_ns >= got.enabled_ns)
        return;
    self->share[to] = (double)got.running_ns / (double)got.enabled_ns;
    self->values[to] /= self->share[to];
}

/* A process has these for itself as long as it lives. */
static snd_perf_event own_events[SND_PERF_COUNT_OF];

static void
open_own_events(void)
{
    static pid_t opened_by;

    if (opened_by == getpid()) /* a forked child's are its parent's */
        return;
    opened_by = getpid();
    for (unsigned i = 0; i < SND_PERF_COUNT_OF; i++)
        own_events[i] = snd_perf_open((snd_perf)i, 0, NULL, SND_PERF_INHERIT);
}

/* What costs time to read. */
static void
read_own_counts(snd_usage *self)
{
    for (unsigned i = 0; i < SND_PERF_COUNT_OF; i++)
        snd_usage_put_event(self, (snd_perf)i, &own_events[i]);
}

static void
read_own_clocks(snd_usage *self, double wall_ns)
{
    struct rusage resources;
    struct timespec clock;

    if (getrusage(RUSAGE_SELF, &resources) == 0)
        snd_usage_put_resources(self, &resources);
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &clock) == 0)
        put(self, SND_USED_TASK_CLOCK, (double)clock.tv_sec * 1e9 + (double)clock.tv_nsec);
    put(self, SND_USED_WALL, wall_ns);
}

void
snd_usage_begin(snd_usage *self)
{
    *self = (snd_usage){0};
    open_own_events();
    read_own_counts(self);
    read_own_clocks(self, 0);
    put(self, SND_USED_WALL, (double)snd_clock_monotonic_ns());
}

void
snd_usage_end(const snd_usage *before, snd_usage *self)
{
    *self = (snd_usage){0};
    read_own_clocks(self, (double)snd_clock_monotonic_ns());
    read_own_counts(self);
    for (unsigned i = 0; i < SND_USED_COUNT_OF; i++)
        if (i != SND_USED_PEAK_RSS && self->why[i] == NULL)
            self->values[i] -= before->values[i];
}

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
