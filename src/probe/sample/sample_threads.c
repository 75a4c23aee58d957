/* Which threads there are: those of the process, as the sampler knows them. */
#include "probe/sample/sample_private.h"

#include "base/alloc.h"
#include "os/clock.h"
#include "os/process.h"

#include <string.h>

#define COUNT_NS 4000000u    /* threads are counted this often */
#define REFRESH_NS 50000000u /* they are listed this often even when their number stays the same */
#define THREAD_LIMIT 65536u
#define QUIET_LIMIT 64u
#define QUIET_NS 1000000u /* a quiet thread is shown once it has run this long */

static struct known {
    uint64_t refreshed_ns, counted_ns;
    uint64_t task_count;
} known;

static struct quiet {
    uint32_t thread_id;
    uint64_t cpu_ns; /* when it was given */
} quiet[QUIET_LIMIT];
static uint32_t quiet_count;

static uint64_t
cpu_of(uint32_t thread_id)
{
    const snd_task task = snd_task_of(thread_id);
    uint64_t cpu_ns;

    return snd_task_cpu_ns(&task, &cpu_ns) ? cpu_ns : 0;
}

void
snd_sample_set_quiet(const uint32_t *thread_ids, uint32_t count)
{
    snd_lock_take(&snd_sample_state.lock);
    quiet_count = count < QUIET_LIMIT ? count : QUIET_LIMIT;
    for (uint32_t i = 0; i < quiet_count; i++)
        quiet[i] = (struct quiet){thread_ids[i], cpu_of(thread_ids[i])};
    snd_lock_leave(&snd_sample_state.lock);
}

static const struct quiet *
find_quiet(uint32_t thread_id)
{
    for (uint32_t i = 0; i < quiet_count; i++)
        if (quiet[i].thread_id == thread_id)
            return &quiet[i];
    return NULL;
}

int
snd_sample_is_quiet(uint32_t thread_id)
{
    snd_lock_take(&snd_sample_state.lock);
    int found = find_quiet(thread_id) != NULL;
    snd_lock_leave(&snd_sample_state.lock);
    return found;
}

/* Whether a thread that is not known is to be left alone for now. */
static int
stays_quiet(uint32_t thread_id)
{
    const struct quiet *found = find_quiet(thread_id);

    return found != NULL && cpu_of(thread_id) < found->cpu_ns + QUIET_NS;
}

/* Where the thread is, or would be: threads are kept in the order of their numbers. */
static uint32_t
place_of(uint32_t thread_id)
{
    uint32_t low = 0, high = snd_sample_state.thread_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (snd_sample_state.threads[middle].task.thread_id < thread_id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

snd_sample_thread *
snd_sample_find_thread(uint32_t thread_id)
{
    snd_sampler *self = &snd_sample_state;
    uint32_t place = place_of(thread_id);

    return place < self->thread_count && self->threads[place].task.thread_id == thread_id ? &self->threads[place]
                                                                                          : NULL;
}

static const snd_track *
track_of(uint32_t thread_id)
{
    for (const snd_track *track = snd_track_first(); track != NULL; track = track->next)
        if (SND_GET(track->thread_id) == thread_id && SND_GET(track->end) == 0 &&
            SND_GET(track->epoch) == SND_GET(snd_track_epoch))
            return track;
    return NULL;
}

/* The regions of a thread; those of a track that was another thread's, and has a row, stay with that. */
static void
take_track(uint32_t row, uint32_t thread_id)
{
    snd_sample_tree *tree = &snd_sample_state.tree;
    const snd_track *track = tree->rows[row].track == NULL ? track_of(thread_id) : NULL;

    if (track != NULL && snd_sample_tree_row_of(tree, track) == SND_NONE)
        tree->rows[row].track = track;
}

static void
add_thread(uint32_t thread_id, uint64_t now_ns, int is_first)
{
    snd_sampler *self = &snd_sample_state;

    if (!snd_make_room(&self->threads, self->thread_count + 1, &self->thread_capacity, sizeof *self->threads))
        return;
    uint32_t row = snd_sample_tree_row(&self->tree, thread_id, track_of(thread_id), now_ns);
    if (row == SND_NONE)
        return;
    const struct quiet *calm = find_quiet(thread_id);
    snd_sample_thread added = {.row = row,
                               .interval = 1,
                               .wait_node = SND_NONE,
                               .run_node = SND_NONE,
                               .wall_ns = now_ns,
                               .is_ours = snd_task_is_ours(thread_id),
                               .is_quiet = calm != NULL,
                               .cpu_ns = calm == NULL ? 0 : calm->cpu_ns,
                               .seen_alive = 1};
    added.task = snd_task_of(thread_id);
    if (is_first && calm == NULL &&
        !snd_task_cpu_ns(&added.task, &added.cpu_ns)) /* what it did before is not ours to tell */
        added.cpu_ns = 0;
    added.delay_ns = SND_SAMPLE_NO_DELAY;
    take_track(row, thread_id);
    snd_sample_thread *place = &self->threads[place_of(thread_id)];
    memmove(place + 1, place, (size_t)(self->threads + self->thread_count - place) * sizeof *place);
    *place = added;
    self->thread_count++;
}

void
snd_sample_end_thread(snd_sample_thread *thread, uint64_t now_ns)
{
    snd_sampler *self = &snd_sample_state;

    snd_sample_settle(self, thread, now_ns);
    self->tree.rows[thread->row].end_ns = now_ns;
    self->tree.nodes[self->tree.rows[thread->row].root].changed = self->tree.tick;
    snd_task_close(&thread->task);
    if (thread->slot != NULL)
        snd_sample_slot_give_back(thread->slot);
    self->thread_count--;
    memmove(thread, thread + 1, (size_t)(self->threads + self->thread_count - thread) * sizeof *thread);
}

/* On a thread with files of ours: one that is new here, or was met by a thread of the program, which opens none. */
static void
learn_more(snd_sample_thread *thread)
{
    char *name = snd_sample_state.tree.rows[thread->row].name;

    if (thread->delay_ns == SND_SAMPLE_NO_DELAY)
        thread->delay_ns = thread->is_ours ? 0 : snd_task_delay_ns(&thread->task);
    if (name[0] == '\0')
        snd_task_name(&thread->task, name);
}

static void
take_state(void *context, uint32_t thread_id, uintptr_t state)
{
    (void)context;
    snd_sample_thread *thread = snd_sample_find_thread(thread_id);
    if (thread != NULL) {
        if (thread->state == 0)
            thread->is_waiting = 0; /* where it waits can be told now */
        thread->state = state;
        snd_sample_state.tree.rows[thread->row].is_python = 1;
    }
}

void
snd_sample_refresh(uint64_t now_ns, int is_first)
{
    static uint32_t ids[THREAD_LIMIT]; /* of the sampler's thread */
    snd_sampler *self = &snd_sample_state;
    uint32_t count = snd_tasks_list(ids, THREAD_LIMIT);

    for (uint32_t i = 0; i < self->thread_count; i++)
        self->threads[i].seen_alive = 0;
    for (uint32_t i = 0; i < count; i++) {
        snd_sample_thread *thread = snd_sample_find_thread(ids[i]);
        if (thread == NULL && !stays_quiet(ids[i])) {
            add_thread(ids[i], now_ns, is_first);
            thread = snd_sample_find_thread(ids[i]);
        }
        else if (thread != NULL) {
            thread->seen_alive = 1;
            snd_task_open_again(&thread->task);
            thread->is_ours = snd_task_is_ours(ids[i]);
            take_track(thread->row, ids[i]);
        }
        if (thread != NULL)
            learn_more(thread);
    }
    for (uint32_t i = self->thread_count; i-- > 0 && count != 0;)
        if (!self->threads[i].seen_alive)
            snd_sample_end_thread(&self->threads[i], now_ns);
    if (self->python != NULL && self->python->list_threads != NULL)
        self->python->list_threads(take_state, NULL);
    known.refreshed_ns = now_ns;
}

void
snd_sample_refresh_if_needed(uint64_t now_ns)
{
    if (now_ns - known.counted_ns < COUNT_NS)
        return;
    known.counted_ns = now_ns;
    uint64_t count = snd_tasks_count();
    if (count == known.task_count && now_ns - known.refreshed_ns < REFRESH_NS)
        return;
    known.task_count = count;
    snd_sample_refresh(now_ns, 0);
}

void
snd_sample_forget_threads(void)
{
    snd_sampler *self = &snd_sample_state;

    for (uint32_t i = 0; i < self->thread_count; i++) {
        snd_task_close(&self->threads[i].task);
        if (self->threads[i].slot != NULL)
            snd_sample_slot_give_back(self->threads[i].slot);
    }
    self->thread_count = 0;
    snd_tasks_close();
}

static snd_sample_thread *
find_or_add(uint32_t thread_id, uint64_t now_ns)
{
    snd_sample_thread *thread = snd_sample_find_thread(thread_id);

    if (thread == NULL && snd_sample_is_running()) {
        add_thread(thread_id, now_ns, 0);
        thread = snd_sample_find_thread(thread_id);
    }
    return thread;
}

uint32_t
snd_sample_row_here(uint64_t now_ns)
{
    const snd_sample_thread *thread = find_or_add(snd_thread_id(), now_ns);

    if (thread == NULL)
        return SND_NONE;
    if (snd_sample_state.tree.rows[thread->row].name[0] == '\0')
        snd_thread_system_name(snd_sample_state.tree.rows[thread->row].name);
    return thread->row;
}

void
snd_sample_name_thread(uint32_t thread_id, const char *name)
{
    snd_sampler *self = &snd_sample_state;
    uint64_t now = snd_clock_monotonic_ns();

    snd_lock_take(&self->lock);
    const snd_sample_thread *thread = stays_quiet(thread_id) ? NULL : find_or_add(thread_id, now);
    if (thread != NULL) {
        char *place = self->tree.rows[thread->row].name;
        strncpy(place, name, SND_SAMPLE_NAME_SIZE - 1);
        place[SND_SAMPLE_NAME_SIZE - 1] = '\0';
    }
    snd_lock_leave(&self->lock);
}
