/* Live tracks and their trees: the slow paths. */
#include "probe/core/track.h"

#include "base/alloc.h"
#include "base/blocks.h"
#include "base/intern.h"
#include "os/process.h"
#include "os/task.h"
#include "probe/core/reported.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

_Atomic uint32_t snd_track_epoch = 1;
_Thread_local snd_track *snd_track_mine __attribute__((tls_model("initial-exec")));
int (*_Atomic snd_track_namer)(char *name, size_t size);
void (*_Atomic snd_track_on_end)(snd_track *track);
void (*_Atomic snd_track_on_attach)(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list, the names and who owns a track */
static snd_track *_Atomic first;
static uint32_t track_count;
static snd_intern *names; /* a reader may hold any of them: none is freed */
static int keep_timeline;
static _Atomic uint64_t lost;
static _Atomic uint64_t reset_ticks;
static pthread_key_t thread_end;
static pthread_once_t thread_end_once = PTHREAD_ONCE_INIT;

snd_node *
snd_node_get(const snd_track *track, uint32_t id)
{
    uint32_t offset;
    uint32_t block = snd_block_of(id, &offset);
    return &track->blocks[block][offset];
}

static int
is_call(const snd_node *node)
{
    return node->site != SND_NONE && snd_site_is_call(snd_site_kind_get(node->site));
}

static uint32_t
table_home(const snd_track *track, const snd_node *parent, uint32_t site)
{
    uint64_t key = (uint64_t)(parent == NULL ? 0 : parent->id + 1) << 32 | site;
    return (uint32_t)((key * 0x9E3779B97F4A7C15u) >> 32) & track->table_mask;
}

static void
table_put(snd_track *track, snd_node *node)
{
    uint32_t slot = table_home(track, node->parent, node->site);
    while (track->table[slot] != NULL)
        slot = (slot + 1) & track->table_mask;
    track->table[slot] = node;
}

static int
table_grow(snd_track *track)
{
    uint32_t count = SND_GET(track->node_count);
    uint32_t slots = track->table == NULL ? 128 : (track->table_mask + 1) * 2;
    if (track->table != NULL && count < (track->table_mask + 1) / 2)
        return 1;
    snd_node **table = snd_calloc(slots, sizeof *table);
    if (table == NULL)
        return 0;
    snd_free(track->table);
    track->table = table;
    track->table_mask = slots - 1;
    for (uint32_t i = 0; i < count; i++)
        table_put(track, snd_node_get(track, i));
    return 1;
}

static snd_node *
new_node(snd_track *track, snd_node *parent, uint32_t site)
{
    uint32_t id = SND_GET(track->node_count);
    uint32_t offset;
    uint32_t block = snd_block_of(id, &offset);

    if (id >= SND_NODE_LIMIT || !table_grow(track))
        return NULL;
    if (track->blocks[block] == NULL) {
        track->blocks[block] = snd_calloc(snd_block_room(block), sizeof(snd_node));
        if (track->blocks[block] == NULL)
            return NULL;
    }
    snd_node *node = &track->blocks[block][offset];
    node->parent = parent;
    node->site = site;
    node->id = id;
    if (!is_call(node))
        SND_SET(node->min, UINT64_MAX);
    table_put(track, node);
    atomic_store_explicit(&track->node_count, id + 1, memory_order_release);
    return node;
}

snd_node *
snd_node_find(snd_track *track, snd_node *parent, uint32_t site)
{
    snd_node *node;

    for (uint32_t slot = table_home(track, parent, site);; slot = (slot + 1) & track->table_mask) {
        node = track->table[slot];
        if (node == NULL || (node->parent == parent && node->site == site))
            break;
    }
    if (node == NULL)
        node = new_node(track, parent, site);
    if (node == NULL)
        SND_ADD(track->dropped, 1);
    else
        parent->cache[site % SND_NODE_CACHE] = node;
    return node;
}

int
snd_node_is_here(const snd_track *track, const snd_node *node)
{
    return node->id < SND_GET(track->node_count) && snd_node_get(track, node->id) == node;
}

snd_node *
snd_node_here(snd_track *track, snd_node *node)
{
    if (snd_node_is_here(track, node))
        return node;
    if (node->parent == NULL)
        return track->root;
    uint32_t depth = 0;
    for (const snd_node *at = node; at->parent != NULL; at = at->parent)
        depth++;
    uint32_t *path = snd_malloc(depth * sizeof *path);
    if (path == NULL)
        return NULL;
    for (uint32_t i = depth; i-- > 0; node = node->parent)
        path[i] = node->site;
    snd_node *here = track->root;
    for (uint32_t i = 0; i < depth && here != NULL; i++)
        here = snd_node_child(track, here, path[i]);
    snd_free(path);
    return here;
}

_Atomic uint32_t *
snd_node_make_histogram(snd_node *node, uint64_t first_ns)
{
    _Atomic uint32_t *histogram = snd_calloc(SND_HISTOGRAM_BUCKETS, sizeof *histogram);
    if (histogram == NULL)
        return NULL; /* the percentiles of this node stay unknown */
    SND_SET(histogram[snd_histogram_bucket(first_ns)], 1);
    atomic_store_explicit(&node->histogram, histogram, memory_order_release);
    return histogram;
}

snd_system_counter_sums *
snd_node_counted(const snd_track *track, const snd_node *node)
{
    uint32_t offset;
    uint32_t block = snd_block_of(node->id, &offset);
    snd_system_counter_sums *sums = atomic_load_explicit(&track->counted[block], memory_order_acquire);
    return sums == NULL ? NULL : sums + offset;
}

snd_system_counter_sums *
snd_node_make_counted(snd_track *track, const snd_node *node)
{
    uint32_t offset;
    uint32_t block = snd_block_of(node->id, &offset);

    if (SND_GET(track->counted[block]) == NULL)
        atomic_store_explicit(&track->counted[block],
                              snd_calloc(snd_block_room(block), sizeof(snd_system_counter_sums)), memory_order_release);
    return snd_node_counted(track, node);
}

/* Runs as the thread ends: what it left open ends with it. */
static void
on_thread_end(void *value)
{
    snd_track *track = value;

    void (*on_end)(snd_track *) = atomic_load_explicit(&snd_track_on_end, memory_order_acquire);
    if (on_end != NULL)
        on_end(track);
    uint64_t now = snd_clock_ticks();
    snd_track_write_begin(track);
    snd_track_charge(track, now);
    snd_track_charge_call(track, now);
    snd_track_write_end(track);
    track->current = &track->stack; /* a coroutine's stack stays with the coroutine */
    snd_system_counter_end_thread();
    pthread_mutex_lock(&lock);
    SND_SET(track->end, now);
    pthread_mutex_unlock(&lock);
    snd_track_mine = NULL;
}

static void
make_thread_end(void)
{
    pthread_key_create(&thread_end, on_thread_end);
}

/* A ring once made is kept: its thread may be writing to it at any time. Whoever calls has the lock. */
static snd_ring *
make_ring(snd_track *track)
{
    snd_ring *ring = snd_track_ring(track);

    if (ring == NULL) {
        char *memory = snd_calloc(1, sizeof(snd_ring) + 64);
        if (memory == NULL)
            return NULL;
        ring = (snd_ring *)(void *)(memory + (64 - (uintptr_t)memory % 64));
        atomic_store_explicit(&track->kept_ring, ring, memory_order_release);
    }
    return ring;
}

static void
set_ring(snd_track *track, int on)
{
    atomic_store_explicit(&track->ring, on ? make_ring(track) : NULL, memory_order_release);
}

snd_ring *
snd_track_make_ring(snd_track *self)
{
    pthread_mutex_lock(&lock);
    snd_ring *ring = make_ring(self);
    pthread_mutex_unlock(&lock);
    return ring;
}

snd_ring *
snd_track_ring(const snd_track *self)
{
    return atomic_load_explicit(&self->kept_ring, memory_order_acquire);
}

static void
name_track(snd_track *track)
{
    char text[256];
    char system[16];

    if (snd_track_namer != NULL && snd_track_namer(text, sizeof text - 1)) {
        snd_track_set_name(track, text);
        return;
    }
    snd_thread_system_name(system);
    int is_main = SND_GET(track->thread_id) == snd_process_id();
    snd_track_set_name(track, is_main ? "main" : system);
}

void
snd_track_set_name(snd_track *self, const char *name)
{
    const char *old = atomic_load_explicit(&self->name, memory_order_acquire);
    if (old != NULL && strcmp(old, name) == 0)
        return;
    uint32_t id;
    pthread_mutex_lock(&lock);
    if (names == NULL)
        names = snd_intern_new();
    if (names != NULL && snd_intern_add(names, name, strlen(name), &id) == SND_OK)
        atomic_store_explicit(&self->name, snd_intern_text(names, id), memory_order_release);
    pthread_mutex_unlock(&lock);
}

static snd_track *
new_track(void)
{
    snd_track *track = snd_calloc(1, sizeof *track);
    if (track == NULL)
        return NULL;
    track->current = &track->stack;
    if (!table_grow(track) || (track->root = new_node(track, NULL, SND_NONE)) == NULL) {
        snd_free(track->table);
        snd_free(track);
        return NULL;
    }
    SND_SET(track->running, track->root);
    SND_SET(track->epoch, SND_GET(snd_track_epoch));
    return track;
}

snd_track *
snd_track_private(uint32_t id, uint64_t now, int is_in_ns)
{
    snd_track *track = new_track();
    if (track == NULL)
        return NULL;
    track->id = id;
    track->is_in_ns = is_in_ns;
    SND_SET(track->thread_id, snd_thread_id());
    SND_SET(track->thread_count, 1);
    SND_SET(track->start, now);
    SND_SET(track->last, now);
    name_track(track);
    return track;
}

void
snd_track_free(snd_track *self)
{
    if (self == NULL)
        return;
    for (uint32_t i = 0; i < SND_GET(self->node_count); i++)
        snd_free(SND_GET(snd_node_get(self, i)->histogram));
    for (size_t i = 0; i < sizeof self->blocks / sizeof self->blocks[0]; i++) {
        snd_free(self->blocks[i]);
        snd_free(SND_GET(self->counted[i]));
    }
    snd_free(self->table);
    snd_free(self);
}

snd_track *
snd_track_scratch(void)
{
    static snd_track *scratch;

    pthread_mutex_lock(&lock);
    if (scratch == NULL)
        scratch = new_track();
    if (scratch != NULL)
        SND_SET(scratch->epoch, SND_GET(snd_track_epoch));
    pthread_mutex_unlock(&lock);
    return scratch;
}

static snd_track *
take_over(void)
{
    for (snd_track *track = SND_GET(first); track != NULL; track = track->next)
        if (SND_GET(track->end) != 0)
            return track;
    return NULL;
}

void
snd_track_forget_open(snd_track *self)
{
    for (snd_span *span = self->stack.top, *below; span != NULL; span = below) {
        below = span->below;
        snd_span_give(self, span);
    }
    for (uint32_t i = 0; i < SND_GET(self->node_count); i++) {
        snd_node *node = snd_node_get(self, i);
        if (is_call(node))
            SND_SET(node->call.level, 0);
        else
            SND_SET(node->open, 0);
    }
    self->stack = (snd_stack){0};
    self->current = &self->stack;
    SND_SET(self->running, self->root);
    SND_SET(self->call_running, NULL);
    SND_SET(self->version, SND_GET(self->version) & ~1u); /* it may have been in the middle of a write */
}

static void
empty_region(const snd_track *track, snd_node *node, uint64_t now)
{
    SND_SET(node->total, 0);
    SND_SET(node->self, 0);
    SND_SET(node->min, UINT64_MAX);
    SND_SET(node->max, 0);
    SND_SET(node->suspended, 0);
    SND_SET(node->cpu_ns, 0);
    SND_SET(node->square, 0.0);
    SND_SET(node->open_start, SND_GET(node->open) * now);
    _Atomic uint32_t *histogram = SND_GET(node->histogram);
    for (uint32_t b = 0; histogram != NULL && b < SND_HISTOGRAM_BUCKETS; b++)
        SND_SET(histogram[b], 0);
    snd_system_counter_sums *counted = snd_node_counted(track, node);
    for (unsigned i = 0; counted != NULL && i < SND_SYSTEM_COUNTER_COUNT_OF; i++)
        SND_SET(counted->values[i], 0);
}

static void
empty_call(snd_node *node, uint64_t now)
{
    SND_SET(node->call.total, 0);
    SND_SET(node->call.self, 0);
    SND_SET(node->call.suspended, 0);
    SND_SET(node->call.recursive, 0);
    SND_SET(node->call.resumes, 0);
    SND_SET(node->call.start, now);
}

void
snd_track_empty(snd_track *self, uint64_t now)
{
    snd_track_write_begin(self);
    for (uint32_t i = 0; i < SND_GET(self->node_count); i++) {
        snd_node *node = snd_node_get(self, i);
        SND_SET(node->count, 0);
        if (is_call(node))
            empty_call(node, now);
        else
            empty_region(self, node, now);
    }
    SND_SET(self->dropped, 0);
    if (snd_track_ring(self) != NULL)
        SND_SET(snd_track_ring(self)->dropped, 0);
    SND_SET(self->reset, now);
    SND_SET(self->start, now);
    SND_SET(self->thread_count, 1);
    SND_SET(self->last, now);
    SND_SET(self->call_last, now);
    SND_SET(self->epoch, SND_GET(snd_track_epoch));
    snd_track_write_end(self);
}

static void
list(snd_track *track)
{
    track->id = track_count++;
    track->next = SND_GET(first);
    atomic_store_explicit(&first, track, memory_order_release);
}

static snd_track *
claim(void)
{
    snd_track *track = track_count >= SND_TRACK_LIMIT ? take_over() : NULL;
    int is_new = track == NULL;
    if (is_new)
        track = new_track();
    if (track == NULL)
        return NULL;
    uint64_t now = snd_clock_ticks();
    if (!is_new && SND_GET(track->epoch) != SND_GET(snd_track_epoch)) {
        snd_track_forget_open(track);
        snd_track_empty(track, SND_GET(reset_ticks));
        SND_SET(track->thread_count, 0);
    }
    if (SND_GET(track->thread_count) == 0)
        SND_SET(track->start, now);
    else /* the gap between the two threads belongs to neither */
        SND_ADD(track->start, now - SND_GET(track->end));
    SND_SET(track->thread_id, snd_thread_id());
    SND_ADD(track->thread_count, 1);
    SND_SET(track->end, 0);
    SND_SET(track->last, now);
    SND_SET(track->call_running, NULL);
    set_ring(track, keep_timeline);
    if (is_new)
        list(track);
    return track;
}

/* One that counts; if it lives still, rather than one that ended. */
static snd_track *
find_thread(uint32_t thread_id)
{
    snd_track *found = NULL;

    for (snd_track *track = SND_GET(first); track != NULL; track = track->next)
        if (SND_GET(track->thread_id) == thread_id && SND_GET(track->epoch) == SND_GET(snd_track_epoch) &&
            (found == NULL || SND_GET(track->end) == 0))
            found = track;
    return found;
}

static snd_track *
new_foreign(uint32_t thread_id, uint64_t start, uint64_t end)
{
    snd_track *track = track_count >= SND_TRACK_LIMIT ? NULL : new_track();

    if (track == NULL)
        return NULL;
    SND_SET(track->thread_id, thread_id);
    SND_SET(track->thread_count, 1);
    SND_SET(track->start, start);
    SND_SET(track->last, start);
    SND_SET(track->end, end);
    list(track);
    return track;
}

/* As far as the system knows a name for it still. */
static void
name_foreign(snd_track *track, uint32_t thread_id)
{
    char name[32];

    snd_task_name(&(snd_task){.thread_id = thread_id}, name);
    if (name[0] == '\0')
        snprintf(name, sizeof name, "thread %u", thread_id);
    snd_track_set_name(track, name);
}

snd_track *
snd_track_of_thread(uint32_t thread_id, uint64_t start, uint64_t end)
{
    pthread_mutex_lock(&lock);
    snd_track *track = find_thread(thread_id);
    int is_new = track == NULL;
    if (is_new)
        track = new_foreign(thread_id, start, end);
    pthread_mutex_unlock(&lock);
    if (is_new && track != NULL)
        name_foreign(track, thread_id);
    return track;
}

snd_track *
snd_track_attach(void)
{
    snd_track *track = snd_track_mine;

    if (track == NULL) {
        pthread_once(&thread_end_once, make_thread_end);
        pthread_mutex_lock(&lock);
        track = claim();
        pthread_mutex_unlock(&lock);
        if (track == NULL) {
            atomic_fetch_add_explicit(&lost, 1, memory_order_relaxed);
            return NULL;
        }
        snd_track_mine = track;
        pthread_setspecific(thread_end, track);
        if (SND_GET(track->thread_count) == 1)
            name_track(track);
    }
    if (SND_GET(track->epoch) != SND_GET(snd_track_epoch))
        snd_track_empty(track, SND_GET(reset_ticks));
    if (snd_track_on_attach != NULL)
        snd_track_on_attach();
    return track;
}

snd_track *
snd_track_first(void)
{
    return atomic_load_explicit(&first, memory_order_acquire);
}

uint64_t
snd_track_lost(void)
{
    return SND_GET(lost) + snd_reported_lost();
}

void
snd_track_reset_all(void)
{
    SND_SET(reset_ticks, snd_clock_ticks());
    SND_SET(lost, 0);
    snd_site_reset_lost();
    snd_reported_reset();
    atomic_fetch_add_explicit(&snd_track_epoch, 1, memory_order_release);
}

void
snd_track_before_fork(void)
{
    snd_reported_lock();
    pthread_mutex_lock(&lock);
}

void
snd_track_after_fork(int in_child)
{
    for (snd_track *track = SND_GET(first); in_child && track != NULL; track = track->next) {
        if (track == snd_track_mine)
            SND_SET(track->thread_id, snd_thread_id());
        else if (SND_GET(track->end) == 0)
            SND_SET(track->end, snd_clock_ticks());
    }
    pthread_mutex_unlock(&lock);
    snd_reported_unlock();
    if (in_child) {
        snd_system_counter_after_fork();
        snd_track_reset_all();
    }
}

void
snd_track_keep_timeline(int on)
{
    pthread_mutex_lock(&lock);
    keep_timeline = on;
    for (snd_track *track = SND_GET(first); track != NULL; track = track->next)
        set_ring(track, on);
    pthread_mutex_unlock(&lock);
}
