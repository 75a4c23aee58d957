/* A library with NVML's entry points, for machines without a GPU. SONDE_NVML leads to it. It needs nothing else:
 *     cc -shared -fPIC -o stand_in.so nvml_library.c
 * The environment says what its GPUs do: STAND_IN_GPUS (how many; 1), STAND_IN_BUSY (per cent of the time for the
 * process that asks; 40), STAND_IN_MEMORY (bytes of that process; 256 MiB), STAND_IN_WHOLE (set: it does not tell
 * processes apart, and is busy by that per cent). A test may change the same in `stand_in`. */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { SUCCESS = 0, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7, UNKNOWN = 999 };

struct stand_in {
    unsigned gpus, busy, whole;
    unsigned long long memory;
    unsigned inits, shutdowns; /* calls */
    int is_failing;            /* every question fails */
    int is_silent;             /* there is nothing new */
};
extern struct stand_in stand_in;
struct stand_in stand_in;

struct process_share {
    unsigned process_id;
    unsigned long long at_us;
    unsigned sm, memory, encoder, decoder;
};

struct process_info {
    unsigned process_id;
    unsigned long long memory;
#ifndef STAND_IN_OLD
    unsigned gpu_instance, compute_instance;
#endif
};

struct device_share {
    unsigned gpu, memory;
};

static char devices[64];

static unsigned long long
setting(const char *name, unsigned long long otherwise)
{
    const char *text = getenv(name);

    return text == NULL || text[0] == '\0' ? otherwise : strtoull(text, NULL, 10);
}

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetProcessUtilization(void *device, struct process_share *out, unsigned *count, unsigned long long since);
int nvmlDeviceGetUtilizationRates(void *device, struct device_share *out);
int nvmlDeviceGetComputeRunningProcesses(void *device, unsigned *count, struct process_info *out);
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, struct process_info *out);

int
nvmlInit_v2(void)
{
    if (stand_in.inits++ == 0) {
        stand_in.gpus = (unsigned)setting("STAND_IN_GPUS", 1);
        stand_in.busy = (unsigned)setting("STAND_IN_BUSY", 40);
        stand_in.memory = setting("STAND_IN_MEMORY", 256u << 20);
        stand_in.whole = (unsigned)setting("STAND_IN_WHOLE", 0);
    }
    return SUCCESS;
}

int
nvmlShutdown(void)
{
    stand_in.shutdowns++;
    return SUCCESS;
}

int
nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = stand_in.gpus;
    return SUCCESS;
}

int
nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    if (index >= stand_in.gpus || index >= sizeof devices)
        return INVALID_ARGUMENT;
    *device = &devices[index];
    return SUCCESS;
}

/* One share of the asking process, one of another, and one that is too old. */
int
nvmlDeviceGetProcessUtilization(void *device, struct process_share *out, unsigned *count, unsigned long long since)
{
    struct timespec now;
    unsigned own = (unsigned)getpid();

    (void)device;
    if (stand_in.whole != 0)
        return NOT_SUPPORTED;
    if (stand_in.is_failing || stand_in.is_silent)
        return stand_in.is_failing ? UNKNOWN : NOT_FOUND;
    if (*count < 3)
        return INSUFFICIENT_SIZE;
    clock_gettime(CLOCK_REALTIME, &now);
    unsigned long long at = (unsigned long long)now.tv_sec * 1000000u + (unsigned long long)now.tv_nsec / 1000u;
    out[0] = (struct process_share){.process_id = own, .at_us = at > since ? at : since + 1, .sm = stand_in.busy};
    out[1] = (struct process_share){.process_id = own + 1, .at_us = out[0].at_us, .sm = 55};
    out[2] = (struct process_share){.process_id = own, .at_us = since, .sm = 100};
    *count = 3;
    return SUCCESS;
}

int
nvmlDeviceGetUtilizationRates(void *device, struct device_share *out)
{
    (void)device;
    if (stand_in.is_failing)
        return UNKNOWN;
    *out = (struct device_share){.gpu = stand_in.whole, .memory = 1};
    return SUCCESS;
}

static int
list_processes(unsigned *count, struct process_info *out)
{
    if (stand_in.is_failing)
        return UNKNOWN;
    if (*count < 2)
        return INSUFFICIENT_SIZE;
    out[0] = (struct process_info){.process_id = (unsigned)getpid() + 1, .memory = 12345};
    out[1] = (struct process_info){.process_id = (unsigned)getpid(), .memory = stand_in.memory};
    *count = 2;
    return SUCCESS;
}

#ifdef STAND_IN_OLD
int
nvmlDeviceGetComputeRunningProcesses(void *device, unsigned *count, struct process_info *out)
{
    (void)device;
    return list_processes(count, out);
}
#else
int
nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, struct process_info *out)
{
    (void)device;
    return list_processes(count, out);
}
#endif
