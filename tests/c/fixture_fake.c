/* An interpreter for tests of the sampler. */
#include "fixture_fake.h"

#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "os/process.h"
#include "os/task.h"
#include "probe/memory/memory.h"
#include "probe/sample/sample.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 8u
#define UNITS 64u
#define STATES 256u

/* A code object: its address is that of the struct. */
static struct fake_code {
    _Atomic uint32_t version;
} codes[FAKE_CODES];

/* What the interpreter knows of a thread. Frames are written by the thread; the sampler reads them at any time. */
typedef struct fake_state {
    _Atomic uint32_t thread_id; /* 0: free */
    _Atomic uint32_t count;
    _Atomic uint32_t collects; /* `count` when a garbage collection began; 0: none runs */
    _Atomic uintptr_t code[DEPTH];
    _Atomic int32_t offset[DEPTH];
} fake_state;

static fake_state states[STATES];
static _Thread_local fake_state *mine;

static void
copy_frames(const fake_state *state, snd_sample_stack *stack)
{
    uint32_t count = atomic_load(&state->count);

    stack->count = stack->is_cut = 0;
    uint32_t depth = atomic_load(&state->collects);
    stack->collects = depth != 0 && depth <= count ? count - depth + 1 : 0;
    while (count-- > 0)
        stack->frames[stack->count++] =
            (snd_sample_frame){atomic_load(&state->code[count]), atomic_load(&state->offset[count]), 1, 0};
}

static void
walk_here(snd_sample_stack *stack, uintptr_t stack_end, uintptr_t *state)
{
    (void)stack_end;
    *state = (uintptr_t)mine;
    if (mine != NULL)
        copy_frames(mine, stack);
}

static int
walk_thread(uint32_t thread_id, uintptr_t number, snd_sample_stack *stack)
{
    const fake_state *state = (const fake_state *)number;

    if (atomic_load(&state->thread_id) != thread_id)
        return 0;
    copy_frames(state, stack);
    return 1;
}

static void
list_threads(snd_sample_take_thread *take, void *context)
{
    for (fake_state *state = states; state < states + STATES; state++)
        if (atomic_load(&state->thread_id) != 0)
            take(context, atomic_load(&state->thread_id), (uintptr_t)state);
}

/* Only the unit of its version has a line of its own: a frame of another version shows. */
static int
read_code(uintptr_t address, snd_sample_code *out)
{
    uintptr_t index = (address - (uintptr_t)codes) / sizeof *codes;
    snd_sample_code made = {.first_line = 1, .unit_count = UNITS};
    char name[32];

    if (address < (uintptr_t)codes || index >= FAKE_CODES)
        return 0;
    uint32_t version = atomic_load(&codes[index].version);
    snprintf(name, sizeof name, "f%u", (unsigned)index);
    made.name = snd_strdup(name);
    made.file = snd_strdup("fake.py");
    made.lines = snd_calloc(UNITS + 1, sizeof *made.lines);
    made.is_call = snd_calloc(UNITS + 1, 1);
    if (made.name == NULL || made.file == NULL || made.lines == NULL || made.is_call == NULL) {
        snd_sample_code_free(&made);
        return 0;
    }
    for (uint32_t i = 0; i < UNITS; i++)
        made.lines[i] = i == version % UNITS ? 1 + version : FAKE_WRONG_LINE;
    *out = made;
    return 1;
}

const snd_sample_interpreter fake_python = {
    .walk_here = walk_here, .walk_thread = walk_thread, .list_threads = list_threads, .read_code = read_code};

void
fake_attach(void)
{
    for (fake_state *state = states; state < states + STATES; state++) {
        uint32_t nobody = 0;
        if (atomic_compare_exchange_strong(&state->thread_id, &nobody, snd_thread_id())) {
            atomic_store(&state->count, 0);
            mine = state;
            return;
        }
    }
    REQUIRE(!"a free state");
}

void
fake_detach(void)
{
    fake_state *state = mine;
    mine = NULL;
    atomic_store(&state->thread_id, 0);
}

void
fake_push(unsigned code)
{
    uint32_t count = atomic_load(&mine->count);

    atomic_store(&mine->code[count], (uintptr_t)&codes[code]);
    atomic_store(&mine->offset[count], (int32_t)(atomic_load(&codes[code].version) % UNITS * 2));
    atomic_store(&mine->count, count + 1);
}

void
fake_pop(void)
{
    atomic_store(&mine->count, atomic_load(&mine->count) - 1);
}

void
fake_collect(int on)
{
    atomic_store(&mine->collects, on ? atomic_load(&mine->count) : 0);
}

void
fake_replace(unsigned code)
{
    snd_sample_forget_code((uintptr_t)&codes[code]);
    atomic_fetch_add(&codes[code].version, 1);
}

/* ---- threads ---- */

void
spin_us(unsigned us)
{
    uint64_t start = snd_clock_monotonic_ns();
    while (snd_clock_monotonic_ns() - start < us * UINT64_C(1000))
        ;
}

void
let_run(uint32_t thread_id, unsigned ms)
{
    const snd_task task = snd_task_of(thread_id);
    uint64_t ns = 0;

    while (snd_task_cpu_ns(&task, &ns) && ns < ms * UINT64_C(1000000))
        sleep_ms(5);
    REQUIRE(ns >= ms * UINT64_C(1000000));
}

static void *
run(void *context)
{
    fake_thread *self = context;

    self->thread_id = snd_thread_id();
    fake_attach();
    atomic_store(&self->is_ready, 1);
    while (atomic_load(&self->may_end) == 0)
        self->work(self);
    atomic_store(&self->is_done, 1);
    while (atomic_load(&self->may_end) == 1)
        sleep_ms(2);
    fake_detach();
    return NULL;
}

void
fake_start(fake_thread *self, void (*work)(fake_thread *self), unsigned code)
{
    pthread_t thread;

    *self = (fake_thread){.work = work, .code = code};
    REQUIRE(pthread_create(&thread, NULL, run, self) == 0);
    self->handle = (unsigned long)thread;
    while (!atomic_load(&self->is_ready))
        sleep_ms(1);
}

void
fake_halt(fake_thread *self)
{
    atomic_store(&self->may_end, 1);
    while (!atomic_load(&self->is_done))
        sleep_ms(1);
}

void
fake_end(fake_thread *self)
{
    atomic_store(&self->may_end, 2);
    pthread_join((pthread_t)self->handle, NULL);
}

/* ---- what the sampler has seen ---- */

snd_profile *
sampled_profile(void)
{
    snd_snapshot snapshot = {0};
    snd_profile *profile = snd_profile_new();

    REQUIRE(profile != NULL);
    REQUIRE(snd_snapshot_update(&snapshot, profile, 0, snd_clock_ticks()) == SND_OK);
    REQUIRE(snd_sample_update(&snapshot, profile) == SND_OK);
    REQUIRE(snd_memory_probe.snapshot(&snapshot, profile, 0, 0) == SND_OK);
    snd_snapshot_free(&snapshot);
    return profile;
}

uint64_t
sampled_sum(const snd_profile *profile, snd_metric metric, uint32_t track)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < profile->node_count; i++)
        if (track == SND_NONE || profile->nodes[i].track == track)
            sum += snd_profile_whole(profile, i, metric);
    return sum;
}

uint64_t
sampled_cpu(const snd_profile *profile, uint32_t track)
{
    return sampled_sum(profile, SND_METRIC_PYTHON, track) + sampled_sum(profile, SND_METRIC_NATIVE, track) +
           sampled_sum(profile, SND_METRIC_SYSTEM, track);
}

uint64_t
sampled_wait(const snd_profile *profile, uint32_t track)
{
    uint64_t sum = 0;

    for (unsigned state = 0; state < SND_SAMPLE_STATES; state++)
        sum += SND_SAMPLE_IS_CPU(state) ? 0 : sampled_sum(profile, SND_SAMPLE_METRIC(state), track);
    return sum;
}

uint32_t
sampled_track(const snd_profile *profile, uint32_t thread_id)
{
    for (uint32_t i = 0; i < profile->track_count; i++)
        if (profile->tracks[i].thread_id == thread_id)
            return i;
    return SND_NONE;
}

uint64_t
sampled_fact(const char *key)
{
    snd_profile *profile = snd_profile_new();

    REQUIRE(profile != NULL && snd_sample_describe(profile) == SND_OK);
    const char *text = snd_profile_info(profile, key);
    REQUIRE(text != NULL);
    uint64_t value = strtoull(text, NULL, 10);
    snd_profile_free(profile);
    return value;
}
