/* PyTorch's operators in the measurement that runs: each below the region that ran on its thread when it began. */
#include "base/alloc.h"
#include "os/clock.h"
#include "probe/op/op.h"
#include "probe/region/timed_calls.h"
#include "python/torch/kineto.h"

#include <string.h>

#define SLACK_NS UINT64_C(1000) /* so far are PyTorch's clock and ours apart, at most */
#define TRIES 16                /* to read two clocks without an interruption */

/* One moment on the clock of the tracks and on the one that PyTorch writes. */
typedef struct meeting {
    uint64_t ticks, realtime_ns;
} meeting;

/* The calls of one thread: of a track of the profile. */
typedef struct thread_calls {
    snd_timed_call *calls;
    uint32_t count, capacity;
} thread_calls;

typedef struct joining {
    const snd_profile *profile;
    int64_t start_ns; /* of its timeline */
    meeting first, last;
    thread_calls *threads;
    uint32_t *places; /* per node: its number among the calls of its thread; SND_NONE: it is none of them */
    uint32_t *sites;  /* of the measurement, per site of the profile; SND_NONE: not known yet */
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

static uint32_t
site_of(const joining *self, uint32_t number)
{
    const snd_profile_site *site = &self->profile->sites[number];
    snd_buffer inputs = {0};

    if (self->sites[number] == SND_NONE) {
        snd_op_detail detail = snd_op_detail_read(site->detail);
        snd_buffer_put(&inputs, detail.inputs, self->by_shapes ? detail.inputs_size : 0);
        const snd_profile_site added = {.name = site->name, .file = "", .detail = snd_buffer_str(&inputs)};
        self->sites[number] = snd_op_site(&added, NULL);
        snd_buffer_free(&inputs);
    }
    return self->sites[number];
}

static snd_status
add_call(joining *self, const snd_profile_event *event)
{
    const snd_profile_node *node = &self->profile->nodes[event->node];
    thread_calls *thread = &self->threads[event->track];
    int64_t start_ns = (int64_t)event->start_ns + self->start_ns;

    if (!snd_make_room(&thread->calls, thread->count + 1, &thread->capacity, sizeof *thread->calls))
        return SND_NO_MEMORY;
    self->places[event->node] = thread->count;
    thread->calls[thread->count++] = (snd_timed_call){
        .start = ticks_at(self, start_ns),
        .end = ticks_at(self, start_ns + (int64_t)event->duration_ns),
        .above = self->places[node->parent],
        .site = site_of(self, node->site),
        .flops = snd_profile_real(self->profile, event->node, SND_METRIC_OP_FLOPS),
        .is_async = snd_op_detail_read(self->profile->sites[node->site].detail).is_async != 0,
    };
    return SND_OK;
}

static void
join_thread(const joining *self, uint32_t track_number)
{
    const thread_calls *thread = &self->threads[track_number];
    uint64_t million_ns = snd_clock_ns(1000000); /* of a million ticks */
    uint64_t slack = million_ns == 0 ? 0 : SLACK_NS * 1000000 / million_ns;
    uint32_t count = 0, id = self->profile->tracks[track_number].thread_id;
    snd_track *track = thread->count == 0 ? NULL : snd_track_of_thread(id, self->first.ticks, self->last.ticks);

    if (track == NULL)
        return;
    snd_change *changes = snd_changes_take(track, &count);
    snd_timed_calls_report(track, changes, count, thread->calls, thread->count, slack);
    snd_free(changes);
}

/* What ran on a processor and is an operator, or was marked by the program. */
static snd_status
join_all(joining *self)
{
    const snd_profile *profile = self->profile;
    size_t node_size = ((size_t)profile->node_count + 1) * sizeof *self->places;
    size_t site_size = ((size_t)profile->site_count + 1) * sizeof *self->sites;

    self->places = snd_malloc(node_size);
    self->sites = snd_malloc(site_size);
    self->threads = snd_calloc((size_t)profile->track_count + 1, sizeof *self->threads);
    if (self->places == NULL || self->sites == NULL || self->threads == NULL)
        return SND_NO_MEMORY;
    memset(self->places, 0xff, node_size); /* SND_NONE */
    memset(self->sites, 0xff, site_size);
    for (uint64_t i = 0; i < profile->event_count; i++) {
        const snd_profile_event *event = &profile->events[i];
        if (snd_site_is_entered(snd_profile_kind(profile, event->node)) &&
            profile->tracks[event->track].thread_id != 0 && add_call(self, event) != SND_OK)
            return SND_NO_MEMORY;
    }
    for (uint32_t i = 0; i < profile->track_count; i++)
        join_thread(self, i);
    return SND_OK;
}

static void
free_joining(joining *self)
{
    for (uint32_t i = 0; self->threads != NULL && i < self->profile->track_count; i++)
        snd_free(self->threads[i].calls);
    snd_free(self->threads);
    snd_free(self->places);
    snd_free(self->sites);
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
    if (events != Py_None && !Py_IS_TYPE(events, state->kineto_type)) {
        PyErr_SetString(PyExc_TypeError, "kineto_end() takes the events of kineto_events()");
    }
    else if (events != Py_None) {
        unsigned wanted = SND_KINETO_TIMES | (self.by_shapes ? SND_KINETO_SHAPES : 0u);
        self.start_ns = ((snd_kineto *)events)->start_ns;
        self.profile = snd_kineto_profile((snd_kineto *)events, wanted);
        if (self.profile != NULL && join_all(&self) != SND_OK)
            PyErr_NoMemory();
    }
    drop_changes();
    free_joining(&self);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}
