/* What the GPUs do for this process. */
#include "probe/sample/gpu.h"

#include "os/clock.h"
#include "os/process.h"
#include "os/usage/nvml.h"
#include "os/worker.h"
#include "probe/core/plot.h"
#include "probe/sample/sample_private.h"

#include <pthread.h>
#include <string.h>

/* A driver measures once a second or so: the last answer holds until there is a new one, but not much longer. */
#define HOLD_NS UINT64_C(1200000000)
#define GPUS 64u

/* The first part is of the thread that asks. Nobody asks a driver with a lock held: it allocates, and who measures
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
} gpu = {.lock = PTHREAD_MUTEX_INITIALIZER, .busy.step_ns = SND_GPU_PERIOD_NS, .memory.step_ns = SND_GPU_PERIOD_NS};

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
    gpu.next_ns = now_ns + SND_GPU_PERIOD_NS;
    pthread_mutex_unlock(&gpu.lock);
}

void
snd_gpu_clear(void)
{
    pthread_mutex_lock(&gpu.lock);
    snd_plot_clear(&gpu.busy, SND_GPU_PERIOD_NS);
    snd_plot_clear(&gpu.memory, SND_GPU_PERIOD_NS);
    gpu.busy_ns = gpu.length_ns = 0;
    pthread_mutex_unlock(&gpu.lock);
}

/* ---- asking ---- */

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

/* The time since the last answer; 0: the next is not due. */
static uint64_t
take_turn(uint64_t now_ns)
{
    uint64_t elapsed = 0;

    pthread_mutex_lock(&gpu.lock);
    if (now_ns >= gpu.next_ns) {
        elapsed = now_ns - gpu.last_ns;
        gpu.last_ns = now_ns;
        gpu.next_ns = now_ns + SND_GPU_PERIOD_NS;
    }
    pthread_mutex_unlock(&gpu.lock);
    return elapsed;
}

int
snd_gpu_read(uint64_t now_ns, snd_gpu_reading *out)
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

/* ---- the thread that asks ----
 *
 * A driver's library is the program's, too, and has its files open among the program's: so it is asked by a thread that
 * shares those, not by the sampler's. */

static struct asking {
    int is_wanted; /* there is a GPU */
    int is_running;
    pthread_t thread;
    sem_t wake;
    _Atomic int stop;
} asking;

/* What a GPU does is asked for by the main thread, mostly. */
static void
charge(snd_sampler *self, const snd_gpu_reading *reading)
{
    const snd_sample_thread *thread = snd_sample_find_thread(snd_process_id());
    uint32_t place = thread == NULL ? SND_NONE : thread->is_waiting ? thread->wait_node : thread->run_node;

    if (thread == NULL)
        return;
    snd_sample_node *node = &self->tree.nodes[place == SND_NONE ? self->tree.rows[thread->row].root : place];
    node->gpu_ns += reading->busy_ns;
    node->gpu_seen_ns += reading->elapsed_ns;
    node->gpu_area += (double)reading->memory * (double)reading->elapsed_ns;
    node->changed = self->tree.tick;
}

static void
read_and_charge(void)
{
    snd_sampler *self = &snd_sample_state;
    snd_gpu_reading reading;

    if (SND_GET(self->is_paused) || !snd_gpu_read(snd_clock_monotonic_ns(), &reading))
        return;
    snd_lock_take(&self->lock);
    charge(self, &reading);
    snd_lock_leave(&self->lock);
}

static void *
run(void *nothing)
{
    (void)nothing;
    while (!SND_GET(asking.stop)) {
        snd_sample_tell_before_tick();
        read_and_charge();
        snd_worker_wait(&asking.wake, snd_clock_monotonic_ns() + SND_GPU_PERIOD_NS / 4);
    }
    return NULL;
}

void
snd_sample_gpu_resume(void)
{
    if (!asking.is_wanted || asking.is_running)
        return;
    SND_SET(asking.stop, 0);
    sem_init(&asking.wake, 0, 0);
    asking.is_running = snd_worker_start_beside(&asking.thread, run, NULL);
}

void
snd_sample_gpu_suspend(void)
{
    if (!asking.is_running)
        return;
    SND_SET(asking.stop, 1);
    sem_post(&asking.wake);
    pthread_join(asking.thread, NULL);
    sem_destroy(&asking.wake);
    asking.is_running = 0;
}

void
snd_sample_gpu_start(void)
{
    asking.is_wanted = snd_gpu_start();
}

void
snd_sample_gpu_stop(void)
{
    snd_sample_gpu_suspend();
    snd_gpu_stop();
    asking.is_wanted = 0;
}
