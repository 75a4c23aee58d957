/* What the GPUs do for this process. */
#include "probe/gpu.h"

#include "base/alloc.h"
#include "os/clock.h"
#include "os/nvml.h"
#include "os/process.h"

#include <pthread.h>
#include <string.h>

#define POINTS (SND_SERIES_POINTS / 2)
/* A driver measures once a second or so: the last answer holds until there is a new one, but not much longer. */
#define HOLD_NS UINT64_C(1200000000)
#define GPUS 64u

/* The points of a series; half of them go, and the step doubles, when there is no room. */
typedef struct plot {
    snd_point points[POINTS];
} plot;

/* The first part is of the thread that looks. Nobody asks a driver with a lock held: it allocates, and who measures
 * memory needs the sampler's lock for that. */
static struct gpu {
    snd_nvml *_Atomic nvml; /* NULL: none */
    uint32_t process_id;
    double shares[GPUS];
    uint64_t share_ns[GPUS]; /* when the share was told */

    pthread_mutex_t lock; /* of what follows */
    uint64_t last_ns, next_ns;
    plot busy, memory;
    uint32_t count;
    uint64_t step_ns, point_ns; /* from one point to the next; when the next is due */
    double busy_ns, length_ns;  /* since the last point */
} gpu = {.lock = PTHREAD_MUTEX_INITIALIZER, .step_ns = SND_GPU_NS};

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
    gpu.count = 0;
    gpu.step_ns = SND_GPU_NS;
    gpu.point_ns = 0;
    gpu.busy_ns = gpu.length_ns = 0;
    pthread_mutex_unlock(&gpu.lock);
}

/* ---- looking ---- */

static void
make_room(void)
{
    if (gpu.count < POINTS)
        return;
    for (size_t i = 0; i < POINTS / 2; i++) {
        gpu.busy.points[i] = gpu.busy.points[2 * i];
        gpu.memory.points[i] = gpu.memory.points[2 * i];
    }
    gpu.count /= 2;
    gpu.step_ns *= 2;
}

static void
keep(uint64_t now_ns, const snd_gpu_reading *reading)
{
    pthread_mutex_lock(&gpu.lock);
    gpu.busy_ns += (double)reading->busy_ns;
    gpu.length_ns += (double)reading->elapsed_ns;
    if (now_ns >= gpu.point_ns) {
        make_room();
        gpu.busy.points[gpu.count] = (snd_point){now_ns, 100 * gpu.busy_ns / gpu.length_ns};
        gpu.memory.points[gpu.count++] = (snd_point){now_ns, (double)reading->memory};
        gpu.busy_ns = gpu.length_ns = 0;
        gpu.point_ns = now_ns + gpu.step_ns;
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

static snd_status
put(snd_profile *profile, const char *name, const char *unit, const plot *from, uint64_t origin_ns)
{
    snd_point *points = snd_malloc(sizeof *from);
    if (points == NULL)
        return SND_NO_MEMORY;
    for (uint32_t i = 0; i < gpu.count; i++) {
        points[i] = from->points[i];
        points[i].at_ns = points[i].at_ns > origin_ns ? points[i].at_ns - origin_ns : 0;
    }
    snd_status status = snd_profile_set_series(profile, name, unit, points, gpu.count);
    snd_free(points);
    return status;
}

snd_status
snd_gpu_describe(snd_profile *profile, uint64_t origin_ns)
{
    snd_status status = SND_OK;

    pthread_mutex_lock(&gpu.lock);
    if (gpu.count != 0)
        status = put(profile, "gpu", "per cent", &gpu.busy, origin_ns);
    if (gpu.count != 0 && status == SND_OK)
        status = put(profile, "gpu_memory", "bytes", &gpu.memory, origin_ns);
    pthread_mutex_unlock(&gpu.lock);
    return status;
}
