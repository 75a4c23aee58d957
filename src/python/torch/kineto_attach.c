/* PyTorch's operators in the measurement that runs: each below the region that ran on its thread when it began. */
#include "base/alloc.h"
#include "base/map.h"
#include "os/clock.h"
#include "probe/op/op.h"
#include "probe/region/timed_calls.h"
#include "python/torch/kineto.h"

#define SLACK_NS UINT64_C(1000) /* so far are PyTorch's clock and ours apart, at most */
#define TRIES 16                /* to read two clocks without an interruption */

/* One moment on the clock of the tracks and on the one that PyTorch writes. */
typedef struct meeting {
    uint64_t ticks, realtime_ns;
} meeting;

/* The calls of one thread. */
typedef struct thread {
    uint32_t thread_id;
    snd_timed_call *calls;
    uint32_t count, capacity;
} thread;

typedef struct joining {
    snd_kineto *kineto;
    meeting first, last;
    thread *threads;
    uint32_t thread_count, thread_capacity;
    snd_map numbers;  /* thread id to its number in `threads` */
    uint32_t *places; /* per event: its number among the calls of its thread; SND_NONE: it is none of them */
    int by_shapes;
} joining;

static meeting
meet(void)
{
    meeting best = {0};
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < TRIES; i++) {
        uint64_t before = snd_clock_ticks(), realtime = snd_clock_realtime_ns(), after = snd_clock_ticks();
        if (after - before < least) {
            least = after - before;
            best = (meeting){before + (after - before) / 2, realtime};
        }
    }
    return best;
}

/* Between the two meetings the clocks ran evenly. */
static uint64_t
ticks_at(const joining *self, int64_t realtime_ns)
{
    double ns = (double)(realtime_ns - (int64_t)self->first.realtime_ns);
    double length_ns = (double)(self->last.realtime_ns - self->first.realtime_ns);
    double ticks = (double)(self->last.ticks - self->first.ticks);

    if (!(length_ns > 0) || ns < 0)
        return self->first.ticks;
    return self->first.ticks + (uint64_t)(ns >= length_ns ? ticks : ns / length_ns * ticks);
}

/* NULL with an exception. */
static thread *
thread_of(joining *self, PyObject *source)
{
    int64_t id;
    uint32_t cursor = 0;

    if (!snd_kineto_ask_whole(self->kineto, source, SND_KINETO_device_resource_id, &id))
        return NULL;
    uint32_t number = snd_map_next(&self->numbers, (uint64_t)id, &cursor);
    if (number != SND_MAP_NONE)
        return &self->threads[number];
    if (!snd_make_room(&self->threads, self->thread_count + 1, &self->thread_capacity, sizeof *self->threads) ||
        snd_map_add(&self->numbers, (uint64_t)id, self->thread_count) != SND_OK) {
        PyErr_NoMemory();
        return NULL;
    }
    self->threads[self->thread_count] = (thread){.thread_id = (uint32_t)id};
    return &self->threads[self->thread_count++];
}

static uint32_t
site_of(const joining *self, const snd_op_event *event)
{
    const snd_intern *texts = snd_op_events_texts(self->kineto->events);
    snd_profile_site site = {
        .name = snd_intern_text(texts, event->name),
        .file = "",
        .detail = self->by_shapes && event->shapes != 0 ? snd_intern_text(texts, event->shapes) : "",
    };
    return snd_op_site(&site, NULL);
}

/* 0 with an exception. */
static int
add_call(joining *self, uint32_t index)
{
    const snd_op_event *event = snd_op_events_at(self->kineto->events, index);
    thread *thread = thread_of(self, PyList_GET_ITEM(self->kineto->sources, (Py_ssize_t)index));

    if (thread == NULL)
        return 0;
    if (!snd_make_room(&thread->calls, thread->count + 1, &thread->capacity, sizeof *thread->calls)) {
        PyErr_NoMemory();
        return 0;
    }
    self->places[index] = thread->count;
    thread->calls[thread->count++] = (snd_timed_call){
        .start = ticks_at(self, event->start_ns + self->kineto->start_ns),
        .end = ticks_at(self, event->end_ns + self->kineto->start_ns),
        .above = event->parent == SND_OP_NO_EVENT ? SND_NONE : self->places[event->parent],
        .site = site_of(self, event),
        .flops = (double)event->flops,
        .is_async = event->is_async,
    };
    return 1;
}

/* What ran on a processor and is an operator, or was marked by the program. */
static int
add_calls(joining *self)
{
    uint32_t known = (uint32_t)PyList_GET_SIZE(self->kineto->sources);
    uint32_t count = snd_op_events_count(self->kineto->events);

    for (uint32_t i = 0; i < count; i++)
        self->places[i] = SND_NONE;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = snd_op_events_in_time(self->kineto->events, i);
        const snd_op_event *event = snd_op_events_at(self->kineto->events, index);
        if (index >= known || event->is_removed || event->is_python || event->device != SND_OP_CPU)
            continue;
        if (!add_call(self, index) || (i % 4096 == 0 && PyErr_CheckSignals() != 0))
            return 0;
    }
    return 1;
}

static void
join_thread(const joining *self, thread *thread)
{
    uint64_t million_ns = snd_clock_ns(1000000); /* of a million ticks */
    uint64_t slack = million_ns == 0 ? 0 : SLACK_NS * 1000000 / million_ns;
    uint32_t count = 0;
    snd_track *track = snd_track_of_thread(thread->thread_id, self->first.ticks, self->last.ticks);

    if (track == NULL)
        return;
    snd_change *changes = snd_changes_take(track, &count);
    snd_timed_calls_report(track, changes, count, thread->calls, thread->count, slack);
    snd_free(changes);
}

/* 0 with an exception. */
static int
join_all(joining *self)
{
    if (self->by_shapes && !snd_kineto_read_shapes(self->kineto))
        return 0;
    self->places = snd_malloc(((size_t)snd_op_events_count(self->kineto->events) + 1) * sizeof *self->places);
    if (self->places == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    if (!add_calls(self))
        return 0;
    for (uint32_t i = 0; i < self->thread_count; i++)
        join_thread(self, &self->threads[i]);
    return 1;
}

/* Of threads that called no operator. */
static void
drop_changes(void)
{
    uint32_t count;

    for (snd_track *track = snd_track_first(); track != NULL; track = track->next)
        snd_free(snd_changes_take(track, &count));
}

/* kineto_begin() -> (ticks, ns since 1970): from now on it is noted what runs when. */
PyObject *
snd_py_kineto_begin(PyObject *module, PyObject *Py_UNUSED(args))
{
    (void)module;
    snd_changes_keep(1);
    meeting now = meet();
    return Py_BuildValue("(KK)", (unsigned long long)now.ticks, (unsigned long long)now.realtime_ns);
}

/* kineto_end(begun, events, by_shapes): no longer; unless `events` is None they join what was measured. */
PyObject *
snd_py_kineto_end(PyObject *module, PyObject *args)
{
    snd_state *state = snd_state_of_module(module);
    joining self = {.last = meet()};
    unsigned long long ticks, realtime_ns;
    PyObject *events;

    if (!PyArg_ParseTuple(args, "(KK)Op:kineto_end", &ticks, &realtime_ns, &events, &self.by_shapes))
        return NULL;
    self.first = (meeting){ticks, realtime_ns};
    snd_changes_keep(0);
    int is_fine = 1;
    if (events != Py_None && !Py_IS_TYPE(events, state->kineto_type)) {
        PyErr_SetString(PyExc_TypeError, "kineto_end() takes the events of kineto_events()");
        is_fine = 0;
    }
    else if (events != Py_None) {
        self.kineto = (snd_kineto *)events;
        is_fine = join_all(&self);
    }
    drop_changes();
    for (uint32_t i = 0; i < self.thread_count; i++)
        snd_free(self.threads[i].calls);
    snd_free(self.threads);
    snd_free(self.places);
    snd_map_free(&self.numbers);
    return is_fine ? Py_NewRef(Py_None) : NULL;
}
