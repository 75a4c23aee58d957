/* NVIDIA's management library. */
#include "os/usage/nvml.h"

#include "base/alloc.h"
#include "os/process.h"

#include <dlfcn.h>
#include <stdlib.h>

enum {
    GPU_LIMIT = 64,
    PROCESS_LIMIT = 256,       /* of one GPU; more are not looked at */
    OLD_DRIVER_INFO_SIZE = 16, /* of the process information before _v2 */
    SUCCESS = 0,
    NOT_SUPPORTED = 3, /* what the functions return */
    NOT_FOUND = 6,
};

#define NOT_AVAILABLE UINT64_MAX

typedef void *device;

/* As the library lays them out. */
typedef struct process_share {
    unsigned process_id;
    unsigned long long at_us;
    unsigned sm, memory, encoder, decoder; /* per cent */
} process_share;

typedef struct process_info {
    unsigned process_id;
    unsigned long long memory;
    unsigned gpu_instance, compute_instance; /* not before _v2 */
} process_info;

typedef struct device_share {
    unsigned gpu, memory; /* per cent */
} device_share;

/* X(field, name): what must be there. */
#define NEEDED_MAP(X)                 \
    X(init, "nvmlInit_v2")            \
    X(shutdown, "nvmlShutdown")       \
    X(count, "nvmlDeviceGetCount_v2") \
    X(handle, "nvmlDeviceGetHandleByIndex_v2")

struct snd_nvml {
    void *library;
    int (*init)(void);
    int (*shutdown)(void);
    int (*count)(unsigned *count);
    int (*handle)(unsigned number, device *out);
    int (*process_shares)(device, process_share *, unsigned *count, unsigned long long since_us); /* NULL: none */
    int (*device_shares)(device, device_share *);                                                 /* NULL: none */
    int (*processes)(device, unsigned *count, void *infos);                                       /* NULL: none */
    size_t info_size;

    device devices[GPU_LIMIT];
    unsigned device_count;
    unsigned long long seen_us[GPU_LIMIT]; /* the newest share that was looked at */
    int has_no_processes[GPU_LIMIT];       /* it cannot tell them apart */
    union {
        process_share shares[PROCESS_LIMIT];
        process_info infos[PROCESS_LIMIT];
    } room;
};

/* ---- opening ---- */

static int
find_functions(snd_nvml *self)
{
    int is_complete = 1;

#define FIND(field, name) is_complete &= (*(void **)&self->field = dlsym(self->library, name)) != NULL;
    NEEDED_MAP(FIND)
#undef FIND
    *(void **)&self->process_shares = dlsym(self->library, "nvmlDeviceGetProcessUtilization");
    *(void **)&self->device_shares = dlsym(self->library, "nvmlDeviceGetUtilizationRates");
    self->info_size = sizeof(process_info);
    *(void **)&self->processes = dlsym(self->library, "nvmlDeviceGetComputeRunningProcesses_v3");
    if (self->processes == NULL)
        *(void **)&self->processes = dlsym(self->library, "nvmlDeviceGetComputeRunningProcesses_v2");
    if (self->processes == NULL) {
        *(void **)&self->processes = dlsym(self->library, "nvmlDeviceGetComputeRunningProcesses");
        self->info_size = OLD_DRIVER_INFO_SIZE;
    }
    return is_complete;
}

static int
find_devices(snd_nvml *self)
{
    unsigned count = 0;

    if (self->count(&count) != SUCCESS)
        return 0;
    /* one that is not ours to use has no handle */
    for (unsigned i = 0; i < count && self->device_count < GPU_LIMIT; i++)
        if (self->handle(i, &self->devices[self->device_count]) == SUCCESS)
            self->device_count++;
    return self->device_count != 0;
}

static void *
load(void)
{
    const char *given = getenv("SONDE_NVML");

    /* whoever sets the environment may load what he likes: NOLINTNEXTLINE(clang-analyzer-optin.taint.GenericTaint) */
    return dlopen(given != NULL && given[0] != '\0' ? given : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
}

snd_nvml *
snd_nvml_open(void)
{
    void *library = load();
    if (library == NULL)
        return NULL;
    snd_nvml *self = snd_calloc(1, sizeof *self);
    if (self == NULL) {
        dlclose(library);
        return NULL;
    }
    self->library = library;
    if (!find_functions(self) || self->init() != SUCCESS) {
        snd_nvml_forget(self);
        return NULL;
    }
    if (!find_devices(self)) {
        snd_nvml_close(self);
        return NULL;
    }
    return self;
}

void
snd_nvml_forget(snd_nvml *self)
{
    if (self == NULL)
        return;
    dlclose(self->library);
    snd_free(self);
}

void
snd_nvml_close(snd_nvml *self)
{
    if (self != NULL)
        self->shutdown();
    snd_nvml_forget(self);
}

unsigned
snd_nvml_count(const snd_nvml *self)
{
    return self->device_count;
}

/* ---- asking ---- */

static double
limited(double share)
{
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

/* The average of our shares that are new. Where there are new ones of others only, we had none. */
static snd_nvml_answer
own_share(snd_nvml *self, unsigned gpu, unsigned count, double *share)
{
    unsigned long long since = self->seen_us[gpu];
    unsigned own = snd_process_id(), found = 0, is_new = 0;
    double sum = 0;

    for (unsigned i = 0; i < count; i++) {
        const process_share *one = &self->room.shares[i];
        if (one->at_us <= since) /* also places that were not filled */
            continue;
        is_new = 1;
        if (one->at_us > self->seen_us[gpu])
            self->seen_us[gpu] = one->at_us;
        if (one->process_id == own) {
            sum += one->sm;
            found++;
        }
    }
    if (!is_new)
        return SND_NVML_NOTHING;
    *share = found == 0 ? 0 : limited(sum / found / 100);
    return SND_NVML_PROCESS;
}

static snd_nvml_answer
whole_share(snd_nvml *self, unsigned gpu, double *share)
{
    device_share of_device = {0};

    if (self->device_shares == NULL || self->device_shares(self->devices[gpu], &of_device) != SUCCESS)
        return SND_NVML_NONE;
    *share = limited(of_device.gpu / 100.0);
    return SND_NVML_DEVICE;
}

snd_nvml_answer
snd_nvml_busy(snd_nvml *self, unsigned gpu, double *share)
{
    unsigned count = PROCESS_LIMIT;

    if (self->process_shares == NULL || self->has_no_processes[gpu])
        return whole_share(self, gpu, share);
    int result = self->process_shares(self->devices[gpu], self->room.shares, &count, self->seen_us[gpu]);
    if (result == SUCCESS)
        return own_share(self, gpu, count < PROCESS_LIMIT ? count : PROCESS_LIMIT, share);
    if (result == NOT_FOUND)
        return SND_NVML_NOTHING;
    self->has_no_processes[gpu] = result == NOT_SUPPORTED;
    return self->has_no_processes[gpu] ? whole_share(self, gpu, share) : SND_NVML_NONE;
}

uint64_t
snd_nvml_memory(snd_nvml *self, unsigned gpu)
{
    unsigned count = PROCESS_LIMIT, own = snd_process_id();
    uint64_t sum = 0;

    if (self->processes == NULL || self->processes(self->devices[gpu], &count, &self->room) != SUCCESS)
        return 0;
    for (unsigned i = 0; i < count && i < PROCESS_LIMIT; i++) {
        /* the old information is the beginning of the new one */
        const process_info *one = (const void *)((const char *)&self->room + i * self->info_size);
        if (one->process_id == own && one->memory != NOT_AVAILABLE)
            sum += one->memory;
    }
    return sum;
}
