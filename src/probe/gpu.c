/* What the GPUs do for this process. */
#include "probe/gpu.h"

#include "os/clock.h"
#include "os/nvml.h"
#include "os/process.h"
#include "probe/plot.h"

#include <pthread.h>
#include <string.h>

/* A driver measures once a second or so: the last answer holds until there is a new one, but not much longer. */
#define HOLD_NS UINT64_C(1200000000)
#define GPUS 64u

/* The first part is of the thread that looks. Nobody asks a driver with a lock held: it allocates, and who measures
 * memory needs the sampler's lock for that. */
static struct gpu {
    snd_nvml *_Atomic nvml; /* NULL: none */
    uint32_t process_id;
    double shares[GPUS];
    uint64_t share_ns[GPUS]; /* when the share was told */

    pthread_mutex_t lock; /* of what follows */
    uint64_t last_ns, next_ns;
    snd_plot busy, memory;
    double busy_ns, length_ns; /* since the last point */
} gpu = {.lock = PTHREAD_MUTEX_INITIALIZER, .busy.step_ns = SND_GPU_NS, .memory.step_ns = SND_GPU_NS};

/* ---- start and stop ---- */

static void
open_gpus(void)
{
    double share;
    snd_nvml *opened = snd_nvml_open();

    memset(gpu.shares, 0, sizeof gpu.shares);
    memset(gpu.share_ns, 0, sizeof gpu.share_ns);
    gpu.process_id = snd_process_id();
    for (unsigned i = 0; opened != NULL && i < snd_nvml_count(opened); i++)
        (void)snd_nvml_busy(opened, i, &share); /* what was before does not count */
    atomic_store_explicit(&gpu.nvml, opened, memory_order_release);
}

int
snd_gpu_start(void)
{
    if (SND_GET(gpu.nvml) != NULL && gpu.process_id != snd_process_id()) { /* we are a child */
        snd_nvml_forget(SND_GET(gpu.nvml));
        SND_SET(gpu.nvml, NULL);
    }
    if (SND_GET(gpu.nvml) == NULL) {
        open_gpus();
        snd_gpu_rebase(snd_clock_monotonic_ns());
    }
    return SND_GET(gpu.nvml) != NULL;
}

void
snd_gpu_stop(void)
{
    snd_nvml_close(SND_GET(gpu.nvml));
    SND_SET(gpu.nvml, NULL);
}

void
snd_gpu_rebase(uint64_t now_ns)
{
    pthread_mutex_lock(&gpu.lock);
    gpu.last_ns = now_ns;
    gpu.next_ns = now_ns + SND_GPU_NS;
    pthread_mutex_unlock(&gpu.lock);
}

void
snd_gpu_clear(void)
{
    pthread_mutex_lock(&gpu.lock);
    snd_plot_clear(&gpu.busy, SND_GPU_NS);
    snd_plot_clear(&gpu.memory, SND_GPU_NS);
    gpu.busy_ns = gpu.length_ns = 0;
    pthread_mutex_unlock(&gpu.lock);
}

/* ---- looking ---- */

static void
keep(uint64_t now_ns, const snd_gpu_reading *reading)
{
    pthread_mutex_lock(&gpu.lock);
    gpu.busy_ns += (double)reading->busy_ns;
    gpu.length_ns += (double)reading->elapsed_ns;
    if (now_ns >= gpu.busy.next_ns) {
        snd_plot_add(&gpu.busy, now_ns, 100 * gpu.busy_ns / gpu.length_ns);
        snd_plot_add(&gpu.memory, now_ns, (double)reading->memory);
        gpu.busy_ns = gpu.length_ns = 0;
    }
    pthread_mutex_unlock(&gpu.lock);
}

static double
share_of(snd_nvml *nvml, unsigned index, uint64_t now_ns)
{
    double share = 0;
    snd_nvml_answer answer = snd_nvml_busy(nvml, index, &share);

    if (answer == SND_NVML_PROCESS || answer == SND_NVML_DEVICE) {
        gpu.shares[index] = share;
        gpu.share_ns[index] = now_ns;
    }
    else if (answer == SND_NVML_NONE || now_ns - gpu.share_ns[index] > HOLD_NS) {
        gpu.shares[index] = 0;
    }
    return gpu.shares[index];
}

/* The time since the last look; 0: the next is not due. */
static uint64_t
take_turn(uint64_t now_ns)
{
    uint64_t elapsed = 0;

    pthread_mutex_lock(&gpu.lock);
    if (now_ns >= gpu.next_ns) {
        elapsed = now_ns - gpu.last_ns;
        gpu.last_ns = now_ns;
        gpu.next_ns = now_ns + SND_GPU_NS;
    }
    pthread_mutex_unlock(&gpu.lock);
    return elapsed;
}

int
snd_gpu_look(uint64_t now_ns, snd_gpu_reading *out)
{
    snd_nvml *nvml = atomic_load_explicit(&gpu.nvml, memory_order_acquire);

    if (nvml == NULL)
        return 0;
    *out = (snd_gpu_reading){.elapsed_ns = take_turn(now_ns)};
    if (out->elapsed_ns == 0)
        return 0;
    for (unsigned i = 0; i < snd_nvml_count(nvml) && i < GPUS; i++) {
        out->busy_ns += (uint64_t)((double)out->elapsed_ns * share_of(nvml, i, now_ns));
        out->memory += snd_nvml_memory(nvml, i);
    }
    keep(now_ns, out);
    return 1;
}

/* ---- into a profile ---- */

snd_status
snd_gpu_describe(snd_profile *profile, uint64_t origin_ns)
{
    snd_status status = SND_OK;

    pthread_mutex_lock(&gpu.lock);
    if (gpu.busy.count != 0)
        status = snd_plot_put(&gpu.busy, profile, "gpu", "%", origin_ns);
    if (gpu.busy.count != 0 && status == SND_OK)
        status = snd_plot_put(&gpu.memory, profile, "gpu_memory", "bytes", origin_ns);
    pthread_mutex_unlock(&gpu.lock);
    return status;
}
