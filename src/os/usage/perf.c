/* Events that the kernel and the processor count. */
#include "os/usage/perf.h"

#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    uint32_t type;
    uint64_t number;
} events[] = {
#define PERF_EVENT(id, type, number) {PERF_TYPE_##type, PERF_COUNT_##number},
    SND_PERF_MAP(PERF_EVENT)
#undef PERF_EVENT
};

static int
open_event(struct perf_event_attr *about, int32_t thread, int group)
{
    return (int)syscall(SYS_perf_event_open, about, thread, -1, group, PERF_FLAG_FD_CLOEXEC);
}

snd_perf_event
snd_perf_open(snd_perf which, int32_t thread, const snd_perf_event *leader, unsigned how)
{
    struct perf_event_attr about;
    snd_perf_event made = {.file = -1};
    int is_alone = leader == NULL;
    int group = is_alone ? -1 : leader->file;

    memset(&about, 0, sizeof about);
    about.size = sizeof about;
    about.type = events[which].type;
    about.config = events[which].number;
    about.inherit = (how & SND_PERF_INHERIT) != 0;
    about.disabled = (how & SND_PERF_ON_EXEC) != 0;
    about.enable_on_exec = (how & SND_PERF_ON_EXEC) != 0;
    about.pinned = is_alone && (how & SND_PERF_ALWAYS) != 0;
    about.exclude_hv = 1;
    about.read_format = (how & SND_PERF_INHERIT) != 0 ? PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING
                                                      : (uint64_t)PERF_FORMAT_GROUP;
    int file = open_event(&about, thread, group);
    /* A software event happens in the kernel: without that nothing would be counted. */
    if (file < 0 && (errno == EACCES || errno == EPERM) && about.type == PERF_TYPE_HARDWARE) {
        about.exclude_kernel = 1;
        made.is_user_only = 1;
        file = open_event(&about, thread, group);
    }
    if (file < 0) {
        made.error = errno;
        return made;
    }
    made.file = snd_file_lift(file);
    if (ioctl(made.file, PERF_EVENT_IOC_ID, &made.identity) != 0)
        made.identity = 0;
    return made;
}

void
snd_perf_close(snd_perf_event *self)
{
    uint64_t identity;

    if (self->file >= 0 && ioctl(self->file, PERF_EVENT_IOC_ID, &identity) == 0 && identity == self->identity)
        close(self->file);
    self->file = -1;
}

int
snd_perf_read(const snd_perf_event *self, snd_perf_reading *out)
{
    return self->file >= 0 && read(self->file, out, sizeof *out) == (ssize_t)sizeof *out;
}

int
snd_perf_read_all(const snd_perf_event *leader, uint64_t *values, uint32_t count)
{
    uint64_t read_out[1 + SND_PERF_COUNT_OF];
    uint64_t identity;
    size_t size = (1 + (size_t)count) * sizeof *values;

    if (leader->file < 0 || count > SND_PERF_COUNT_OF || ioctl(leader->file, PERF_EVENT_IOC_ID, &identity) != 0 ||
        identity != leader->identity || read(leader->file, read_out, size) != (ssize_t)size || read_out[0] != count)
        return 0;
    memcpy(values, read_out + 1, count * sizeof *values);
    return 1;
}

const char *
snd_perf_why(snd_perf which, int error)
{
    int is_hardware = events[which].type == PERF_TYPE_HARDWARE;

    switch (error) {
    case EACCES:
        return "kernel.perf_event_paranoid does not allow this user to count";
    case EPERM:
        return "perf events are not allowed for this process, as in a container";
    case ENOSYS:
        return "this system has no perf events";
    case EMFILE:
    case ENFILE:
        return "too many open files";
    case EBUSY:
    case EINVAL:
    case ENOSPC:
        return "the processor cannot count so many events at once";
    default:
        return is_hardware ? "this machine has no hardware counters" : "this system cannot count this";
    }
}
