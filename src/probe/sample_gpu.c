/* What GPUs do, in samples. A driver's library is the program's, too, and has its files open among the program's: so it
 * is asked by a thread that shares those, not by the one that looks. */
#include "probe/sample_private.h"

#include "os/clock.h"
#include "os/process.h"
#include "os/worker.h"
#include "probe/gpu.h"
#include "probe/memory_private.h"

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
    snd_sample_node *node = &self->seen.nodes[place == SND_NONE ? self->seen.rows[thread->row].root : place];
    node->gpu_ns += reading->busy_ns;
    node->gpu_seen_ns += reading->elapsed_ns;
    node->gpu_area += (double)reading->memory * (double)reading->elapsed_ns;
    node->changed = self->seen.look;
}

static void
look(void)
{
    snd_sampler *self = &snd_sample_state;
    snd_gpu_reading reading;

    if (SND_GET(self->is_paused) || !snd_gpu_look(snd_clock_monotonic_ns(), &reading))
        return;
    snd_lock_take(&self->lock);
    charge(self, &reading);
    snd_lock_leave(&self->lock);
}

static void *
run(void *nothing)
{
    (void)nothing;
    snd_memory_exempt();
    while (!SND_GET(asking.stop)) {
        look();
        snd_worker_wait(&asking.wake, snd_clock_monotonic_ns() + SND_GPU_NS / 4);
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
