/* What the system counts of a thread, for regions. */
#include "probe/core/system_counter.h"

#include "base/alloc.h"
#include "model/metric.h"
#include "os/usage/perf.h"

#include "probe/core/snapshot.h"
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>

#define BIT(counted) (1u << (unsigned)(counted))
#define OF_RESOURCES (BIT(SND_SYSTEM_COUNTER_PAGE_FAULTS) | BIT(SND_SYSTEM_COUNTER_CONTEXT_SWITCHES))
#define OF_PERF(event) ((snd_system_counter)((unsigned)SND_SYSTEM_COUNTER_MIGRATIONS + (unsigned)(event)))

#define SAME_ORDER(id, name) \
    _Static_assert((int)SND_METRIC_##id - (int)SND_METRIC_PAGE_FAULTS == (int)SND_SYSTEM_COUNTER_##id, name);
SND_SYSTEM_COUNTER_MAP(SAME_ORDER)
#undef SAME_ORDER
#define SAME_ORDER(id, type, number) _Static_assert((int)OF_PERF(SND_PERF_##id) == (int)SND_SYSTEM_COUNTER_##id, #id);
SND_PERF_MAP(SAME_ORDER)
#undef SAME_ORDER

static const char *const names_of[] = {
#define COUNTED_NAME(id, name) name,
    SND_SYSTEM_COUNTER_MAP(COUNTED_NAME)
#undef COUNTED_NAME
};

/* The events of one thread, which are read together. */
typedef struct thread_events {
    struct thread_events *next, *before;
    uint32_t turn;
    uint32_t count;
    snd_perf_event events[SND_PERF_COUNT_OF];
    snd_system_counter counted[SND_PERF_COUNT_OF]; /* what each stands for */
} thread_events;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list */
static thread_events *all;
static _Thread_local thread_events *mine __attribute__((tls_model("initial-exec")));

static _Atomic snd_system_counter_set chosen; /* and counted here */
static snd_system_counter_set wanted_before;
static const char
    *_Atomic why[SND_SYSTEM_COUNTER_COUNT_OF]; /* one that was wanted is not counted; NULL: it is, or was not */
static _Atomic uint32_t turn = 1;

const char *
snd_system_counter_name(snd_system_counter which)
{
    return names_of[which];
}

snd_status
snd_system_counter_parse(const char *names, snd_system_counter_set *out, snd_buffer *message)
{
    *out = 0;
    for (const char *at = names; *at != '\0';) {
        size_t len = strcspn(at, ",");
        unsigned i = 0;
        while (i < SND_SYSTEM_COUNTER_COUNT_OF && (strlen(names_of[i]) != len || strncmp(names_of[i], at, len) != 0))
            i++;
        if (i == SND_SYSTEM_COUNTER_COUNT_OF) {
            snd_buffer_printf(message, "unknown counter '%.*s'; choose from ", (int)len, at);
            for (unsigned n = 0; n < SND_SYSTEM_COUNTER_COUNT_OF; n++)
                snd_buffer_printf(message, "%s%s", n == 0 ? "" : ", ", names_of[n]);
            return SND_BAD_ARGUMENT;
        }
        *out |= BIT(i);
        at += len + (at[len] == ',');
    }
    return SND_OK;
}

static void
close_events(thread_events *self)
{
    for (uint32_t i = 0; i < self->count; i++)
        snd_perf_close(&self->events[i]);
    self->count = 0;
}

/* Opens what is wanted for the calling thread; what cannot be is left out, and of the first thread we keep why. All are
 * of one group that counts all the time: a region's numbers are never guesses. */
static void
open_events(thread_events *self, snd_system_counter_set wanted, int is_first)
{
    close_events(self);
    for (unsigned i = SND_PERF_COUNT_OF; i-- > 0;) { /* the processor's first: their group is the stricter one */
        snd_system_counter counted = OF_PERF(i);
        if ((wanted & BIT(counted)) == 0)
            continue;
        snd_perf_event event =
            snd_perf_open((snd_perf)i, 0, self->count == 0 ? NULL : &self->events[0], SND_PERF_ALWAYS);
        if (event.file < 0) {
            if (is_first)
                why[counted] = snd_perf_why((snd_perf)i, event.error);
            continue;
        }
        self->events[self->count] = event;
        self->counted[self->count++] = counted;
    }
    self->turn = SND_GET(turn);
}

/* The calling thread's list of events, maybe of an earlier turn. NULL when memory runs out. */
static thread_events *
my_events(void)
{
    if (mine != NULL)
        return mine;
    thread_events *made = snd_calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    pthread_mutex_lock(&lock);
    made->next = all;
    if (all != NULL)
        all->before = made;
    all = made;
    pthread_mutex_unlock(&lock);
    return mine = made;
}

/* Those that were opened and can be read. */
static snd_system_counter_set
read_events(const thread_events *self, uint64_t *values)
{
    uint64_t read_out[SND_PERF_COUNT_OF];
    snd_system_counter_set known = 0;

    if (self->count == 0 || !snd_perf_read_all(&self->events[0], read_out, self->count))
        return 0;
    for (uint32_t i = 0; i < self->count; i++) {
        values[self->counted[i]] = read_out[i];
        known |= BIT(self->counted[i]);
    }
    return known;
}

static snd_system_counter_set
read_resources(uint64_t *values)
{
    struct rusage used;

    if (getrusage(RUSAGE_THREAD, &used) != 0)
        return 0;
    values[SND_SYSTEM_COUNTER_PAGE_FAULTS] = (uint64_t)used.ru_minflt + (uint64_t)used.ru_majflt;
    values[SND_SYSTEM_COUNTER_CONTEXT_SWITCHES] = (uint64_t)used.ru_nvcsw + (uint64_t)used.ru_nivcsw;
    return OF_RESOURCES;
}

void
snd_system_counter_read(snd_system_counter_values *out)
{
    snd_system_counter_set wanted = SND_GET(chosen);
    snd_system_counter_set known = 0;

    out->turn = SND_GET(turn);
    if ((wanted & OF_RESOURCES) != 0)
        known |= read_resources(out->values);
    thread_events *events = (wanted & ~OF_RESOURCES) == 0 ? NULL : my_events();
    if (events != NULL && events->turn != out->turn)
        open_events(events, wanted, 0);
    if (events != NULL)
        known |= read_events(events, out->values);
    out->known = known & wanted;
}

snd_system_counter_set
snd_system_counter_choose(snd_system_counter_set wanted)
{
    uint64_t values[SND_SYSTEM_COUNTER_COUNT_OF];
    snd_system_counter_set counted = wanted & OF_RESOURCES;

    if (wanted == wanted_before)
        return SND_GET(chosen);
    wanted_before = wanted;
    for (unsigned i = 0; i < SND_SYSTEM_COUNTER_COUNT_OF; i++)
        why[i] = NULL;
    SND_ADD(turn, 1);
    thread_events *events = (wanted & ~OF_RESOURCES) == 0 ? mine : my_events();
    if (events != NULL) {
        open_events(events, wanted, 1);
        counted |= read_events(events, values);
    }
    for (unsigned i = 0; i < SND_SYSTEM_COUNTER_COUNT_OF; i++)
        if ((wanted & ~counted & BIT(i)) != 0 && why[i] == NULL)
            why[i] = "the processor is counting something else";
    SND_SET(chosen, counted);
    return counted;
}

void
snd_system_counter_describe(snd_buffer *counted, snd_buffer *missing)
{
    snd_system_counter_set set = SND_GET(chosen);

    for (unsigned i = 0; i < SND_SYSTEM_COUNTER_COUNT_OF; i++) {
        int is_told = 0;
        if ((set & BIT(i)) != 0)
            snd_buffer_printf(counted, "%s%s", counted->size == 0 ? "" : ", ", names_of[i]);
        const char *reason = why[i];
        for (unsigned j = 0; j < i && reason != NULL; j++)
            is_told |= why[j] == reason;
        if (reason == NULL || is_told)
            continue;
        for (unsigned j = i; j < SND_SYSTEM_COUNTER_COUNT_OF; j++)
            if (why[j] == reason)
                snd_buffer_printf(missing, "%s%s", j != i ? ", " : missing->size == 0 ? "" : "; ", names_of[j]);
        snd_buffer_printf(missing, ": %s", reason);
    }
}

void
snd_system_counter_end_thread(void)
{
    thread_events *self = mine;

    if (self == NULL)
        return;
    mine = NULL;
    pthread_mutex_lock(&lock);
    if (self->next != NULL)
        self->next->before = self->before;
    *(self->before == NULL ? &all : &self->before->next) = self->next;
    pthread_mutex_unlock(&lock);
    close_events(self);
    snd_free(self);
}

/* Files of threads that are not here any more would stay open. */
void
snd_system_counter_after_fork(void)
{
    pthread_mutex_init(&lock, NULL); /* another thread may have had it */
    for (thread_events *at = all; at != NULL; at = at->next)
        close_events(at);
    SND_ADD(turn, 1);
}

snd_system_counter_values
snd_snapshot_read_counted(const snd_track *live, const snd_node *node)
{
    const snd_system_counter_sums *sums = snd_node_counted(live, node);
    snd_system_counter_values now = {0};

    if (sums == NULL)
        return now;
    now.known = SND_GET(sums->known);
    for (unsigned i = 0; i < SND_SYSTEM_COUNTER_COUNT_OF; i++)
        now.values[i] = SND_GET(sums->values[i]);
    return now;
}

snd_status
snd_snapshot_put_counted(snd_snapshot *self, snd_profile *profile, uint32_t node, const snd_system_counter_values *now)
{
    snd_status status = SND_OK;

    for (unsigned i = 0; i < SND_SYSTEM_COUNTER_COUNT_OF && status == SND_OK; i++) {
        snd_metric metric = (snd_metric)((unsigned)SND_METRIC_PAGE_FAULTS + i);
        if ((now->known & 1u << i) != 0 || snd_profile_has(profile, node, metric))
            status = snd_snapshot_put(self, profile, node, metric, (snd_value){.whole = now->values[i]});
    }
    return status;
}

snd_status
snd_system_counter_add_info(snd_profile *profile)
{
    snd_buffer counted = {0}, missing = {0};

    snd_system_counter_describe(&counted, &missing);
    snd_status status = snd_buffer_status(&counted);
    if (status == SND_OK)
        status = snd_buffer_status(&missing);
    int is_asked = counted.size != 0 || missing.size != 0;
    if (status == SND_OK && is_asked)
        status = snd_profile_set_info(profile, "counters", snd_buffer_str(&counted));
    if (status == SND_OK && is_asked)
        status = snd_profile_set_info(profile, "counters_missing", snd_buffer_str(&missing));
    snd_buffer_free(&counted);
    snd_buffer_free(&missing);
    return status;
}
