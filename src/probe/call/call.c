/* The call probe: the slow paths. */
#include "probe/call/call.h"

#include "base/alloc.h"
#include "os/process.h"
#include "probe/sample/sample.h"

#include <string.h>

#define FIRST_FRAMES 64u
#define PRIVATE_TRACK_LIMIT 64u /* from then on a new thread takes over what an ended one left */

_Thread_local snd_call_thread *snd_call_mine __attribute__((tls_model("initial-exec")));
_Thread_local uint64_t snd_call_mine_serial __attribute__((tls_model("initial-exec")));

static _Atomic uint64_t serials;
static _Thread_local uint64_t my_serial; /* 0: this thread has had no book yet */

static uint64_t
next_serial(void)
{
    return atomic_fetch_add_explicit(&serials, 1, memory_order_relaxed) + 1;
}

snd_call_book *
snd_call_book_new(int is_private)
{
    snd_call_book *self = snd_calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    self->serial = next_serial();
    self->is_private = is_private;
    return self;
}

void
snd_call_book_free(snd_call_book *self)
{
    if (self == NULL)
        return;
    while (self->threads != NULL) {
        snd_call_thread *next = self->threads->next;
        if (self->is_private)
            snd_track_free(self->threads->track);
        snd_free(self->threads->frames);
        snd_free(self->threads);
        self->threads = next;
    }
    snd_free(self);
}

/* Until its thread comes again: as a track of an old epoch it is looked at then. */
static void
end_track(snd_track *track, uint64_t now)
{
    SND_SET(track->end, now);
    SND_SET(track->epoch, 0);
}

void
snd_call_book_start(snd_call_book *self)
{
    for (snd_call_thread *thread = self->threads; thread != NULL && self->is_private; thread = thread->next)
        while (thread->depth > 0) /* entered while somebody else ended it all */
            snd_call_pop(thread, SND_GET(thread->track->call_last));
}

void
snd_call_book_flush(snd_call_book *self)
{
    uint64_t now = snd_call_now(self);

    for (snd_call_thread *thread = self->threads; thread != NULL; thread = thread->next) {
        if (!self->is_private && (thread != snd_call_mine || snd_call_mine_serial != self->serial))
            continue; /* its thread may be in a region of C, which needs no GIL: what it has open stays open */
        while (thread->depth > 0)
            snd_call_pop(thread, now);
        if (self->is_private)
            end_track(thread->track, now);
    }
}

void
snd_call_book_clear(snd_call_book *self)
{
    uint64_t now = snd_call_now(self);

    for (snd_call_thread *thread = self->threads; thread != NULL; thread = thread->next) {
        snd_track_empty(thread->track, now);
        if (SND_GET(thread->track->end) != 0)
            end_track(thread->track, now);
    }
}

void
snd_call_book_after_fork(snd_call_book *self)
{
    for (snd_call_thread *thread = self->threads; thread != NULL; thread = thread->next)
        if (thread != snd_call_mine || snd_call_mine_serial != self->serial) {
            thread->depth = 0;
            thread->is_muted = 0;
            snd_track_forget_open(thread->track);
        }
        else if (self->is_private)
            SND_SET(thread->track->thread_id, snd_thread_id());
}

/* The one that has this track already: the process hands its tracks on. */
static snd_call_thread *
find_by_track(const snd_call_book *book, const snd_track *track)
{
    snd_call_thread *thread = book->threads;

    while (thread != NULL && thread->track != track)
        thread = thread->next;
    return thread;
}

/* The one that the calling thread has already: the process was reset, or it had turned to another book. */
static snd_call_thread *
find_mine(const snd_call_book *book)
{
    snd_call_thread *thread = book->threads;

    while (thread != NULL && thread->owner != my_serial)
        thread = thread->next;
    return thread;
}

static uint32_t
thread_count(const snd_call_book *book)
{
    uint32_t count = 0;

    for (const snd_call_thread *thread = book->threads; thread != NULL; thread = thread->next)
        count++;
    return count;
}

/* The one that an ended thread left; NULL: all live. */
static snd_call_thread *
find_ended(const snd_call_book *book)
{
    for (snd_call_thread *thread = book->threads; thread != NULL; thread = thread->next)
        if (!snd_thread_lives(SND_GET(thread->track->thread_id)))
            return thread;
    return NULL;
}

static snd_call_thread *
add_thread(snd_call_book *book, snd_track *track)
{
    snd_call_thread *thread = track == NULL ? NULL : snd_calloc(1, sizeof *thread);
    if (thread == NULL)
        return NULL;
    thread->track = track;
    thread->next = book->threads;
    book->threads = thread;
    return thread;
}

/* Ends what an ended thread left open, as far as no reset has forgotten it. */
static void
end_open(snd_call_thread *thread, uint64_t now)
{
    while (thread->depth > 0 && SND_GET(thread->frames[thread->depth - 1].cell->call.level) > 0)
        snd_call_pop(thread, now);
    thread->depth = 0;
    thread->is_muted = 0;
}

static snd_call_thread *
attach_private(snd_call_book *book)
{
    snd_call_thread *thread = find_mine(book);
    if (thread != NULL)
        return thread;
    uint32_t count = thread_count(book);
    thread = count < PRIVATE_TRACK_LIMIT ? NULL : find_ended(book);
    if (thread != NULL) {
        SND_ADD(thread->track->thread_count, 1);
        end_open(thread, snd_call_now(book));
    }
    else {
        snd_track *track = snd_track_private(count, snd_call_now(book), book->clock != NULL);
        thread = add_thread(book, track);
        if (thread == NULL)
            snd_track_free(track);
    }
    if (thread == NULL)
        book->lost++;
    else
        SND_SET(thread->track->thread_id, snd_thread_id());
    return thread;
}

static snd_call_thread *
attach_shared(snd_call_book *book)
{
    snd_track *track = snd_track_get();
    snd_call_thread *thread = track == NULL ? NULL : find_by_track(book, track);

    if (thread != NULL && thread->owner != my_serial)
        end_open(thread, SND_GET(track->call_last));
    if (thread == NULL && track != NULL && (thread = add_thread(book, track)) == NULL)
        SND_ADD(track->dropped, 1);
    return thread;
}

snd_call_thread *
snd_call_attach(snd_call_book *book)
{
    static _Thread_local int is_attaching;
    snd_call_thread *thread;

    if (is_attaching)
        return NULL; /* naming the thread may run code of the program's language, which is no call of the program */
    if (snd_sample_is_quiet(snd_thread_id()))
        return NULL;
    is_attaching = 1;
    if (my_serial == 0)
        my_serial = next_serial();
    thread = book->is_private ? attach_private(book) : attach_shared(book);
    is_attaching = 0;
    if (thread == NULL)
        return NULL;
    thread->owner = my_serial;
    if (book->is_private) {
        SND_SET(thread->track->epoch, SND_GET(snd_track_epoch));
        SND_SET(thread->track->end, 0);
    }
    snd_call_mine = thread;
    snd_call_mine_serial = book->serial;
    return thread;
}

int
snd_call_grow(snd_call_thread *thread)
{
    uint32_t wanted = thread->capacity == 0 ? FIRST_FRAMES : thread->capacity + 1;
    int done = snd_make_room(&thread->frames, wanted, &thread->capacity, sizeof *thread->frames);

    if (!done)
        SND_ADD(thread->track->dropped, 1);
    return done;
}

/* The node of something that is called, whoever calls it. What stands for all signatures comes first: whoever sees a
 * node finds all that it points to. */
static snd_node *
function_node(snd_track *track, uint32_t site, uint32_t base)
{
    snd_node *whole = base == site ? NULL : function_node(track, base, base);
    snd_node *function = whole == NULL && base != site ? NULL : snd_node_find(track, track->root, site);
    if (function == NULL || SND_GET(function->call.function) != NULL)
        return function;
    SND_SET(function->call.base, whole);
    atomic_store_explicit(&function->call.function, function, memory_order_release);
    return function;
}

snd_node *
snd_call_new_cell(snd_track *track, snd_node *caller, uint32_t site, uint32_t base)
{
    snd_node *function = function_node(track, site, base);
    if (function == NULL || caller == NULL)
        return function;
    snd_node *cell = snd_node_find(track, caller, site);
    if (cell != NULL) {
        SND_SET(cell->call.base, SND_GET(function->call.base));
        atomic_store_explicit(&cell->call.function, function, memory_order_release);
    }
    return cell;
}

int
snd_call_unwind(snd_call_thread *thread, const void *key, uint64_t now)
{
    uint32_t depth = thread->depth;

    while (depth > 0 && thread->frames[depth - 1].key != key)
        depth--;
    if (depth == 0)
        return 0;
    while (thread->depth > depth)
        snd_call_pop(thread, now);
    return 1;
}

SND_PROBE_ON_TRACKS(snd_calls_probe, "call", wishes->calls, NULL)
