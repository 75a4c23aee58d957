/* A running measurement. */
#include "collect/session.h"

#include "base/alloc.h"
#include "collect/about.h"
#include "collect/children.h"
#include "collect/collector.h"
#include "collect/extras.h"
#include "collect/probes.h"
#include "collect/signals.h"
#include "os/process.h"
#include "os/task.h"
#include "os/worker.h"
#include "probe/region/region.h"
#include "probe/sample/sample.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct session {
    pthread_mutex_t lock;
    _Atomic int is_running;
    _Atomic int is_orphan; /* a forked child that has not yet opened outputs of its own */
    int paused;
    uint32_t process_id;
    uint64_t cpu_before_ns; /* of the process, when the measurement began */
    snd_settings set;
    uint64_t (*clock)(void);
    const snd_sample_interpreter *interpreter;
    uint64_t origin;                  /* ticks */
    _Atomic uint64_t end;             /* ticks; 0: it goes on */
    char working_directory[PATH_MAX]; /* when the measurement began */
    uint64_t start_realtime_ns;
    uint64_t start_monotonic_ns;
    char *recording_path, *trace_path;
    char *first_recording_path, *first_trace_path; /* of the process that all are forked from; NULL: this one */
    const char *_Atomic note;
    snd_collector *_Atomic collector;
} session = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- what the recording says of the run ---- */

static snd_status
describe(snd_profile *profile, uint64_t now, int is_last)
{
    const snd_about about = {.set = &session.set,
                             .note = session.note,
                             .working_directory = session.working_directory,
                             .start_realtime_ns = session.start_realtime_ns,
                             .start_monotonic_ns = session.start_monotonic_ns,
                             .cpu_before_ns = session.cpu_before_ns,
                             .length_ns = now > session.origin ? snd_clock_ns(now - session.origin) : 0,
                             .is_complete = is_last};

    return snd_about_describe(&about, profile);
}

/* ---- signals: a process that is told to end saves first ---- */

/* A forked child has a copy of its parent's, without a thread and with files that are not its own. */
static snd_collector *
own_collector(void)
{
    return session.is_orphan ? NULL : session.collector;
}

static void
on_signal(int number)
{
    int saved = errno;
    snd_collector *collector = own_collector();

    if (collector != NULL && snd_process_id() == session.process_id)
        snd_collector_save_and_raise(collector, number);
    else {
        signal(number, SIG_DFL);
        raise(number);
    }
    errno = saved;
}

/* ---- start and stop ---- */

static void
mark_start(void)
{
    session.process_id = snd_process_id();
    if (getcwd(session.working_directory, sizeof session.working_directory) == NULL)
        session.working_directory[0] = '\0';
    session.cpu_before_ns = snd_process_cpu_ns();
    session.origin = snd_clock_ticks();
    session.end = 0;
    session.start_realtime_ns = snd_clock_realtime_ns();
    session.start_monotonic_ns = snd_clock_monotonic_ns();
}

static snd_status
take_outputs(snd_opened_files *new, const snd_settings *set)
{
    int with_timeline = set->timeline || set->chrome_trace != NULL;
    int with_files = new->outputs.recording != NULL || new->outputs.trace != NULL;
    snd_collector *collector = NULL;

    snd_track_keep_timeline(with_files && with_timeline);
    if (with_files) {
        snd_status status = snd_collector_start(new->outputs, with_timeline, session.origin, describe, &collector);
        if (status != SND_OK)
            return status;
    }
    snd_free(session.recording_path);
    snd_free(session.trace_path);
    session.recording_path = new->recording_path;
    session.trace_path = new->trace_path;
    session.collector = collector;
    snd_signals_watch(with_files, on_signal);
    return SND_OK;
}

static void
free_collector(void)
{
    snd_collector *old = session.collector;

    snd_signals_watch(0, on_signal);
    session.collector = NULL;
    session.is_orphan = 0;
    snd_collector_free(old);
}

/* Whether a second start asks for what is being written already. */
static int
keeps_outputs(const snd_settings *set)
{
    return session.is_running && !session.is_orphan && session.collector != NULL &&
           snd_settings_have_same_outputs(set, &session.set);
}

/* New outputs in place of the old ones, which are completed first: both may go by one name. */
static snd_status
change_outputs(snd_settings *set, snd_buffer *message)
{
    snd_opened_files new = {0};
    snd_buffer ignored = {0};

    (void)snd_collector_finish(own_collector(), &ignored);
    snd_buffer_free(&ignored);
    snd_status status = snd_opened_files_open(set, &(snd_parent_files){0}, &new, message);
    if (status != SND_OK) {
        if (session.collector != NULL && !session.is_orphan)
            snd_collector_resume(session.collector);
        return status;
    }
    free_collector();
    if (!session.is_running) {
        snd_probes_clear();
        snd_children_end_at(0);
        mark_start();
    }
    status = take_outputs(&new, set);
    if (status != SND_OK)
        snd_opened_files_close(&new);
    snd_free(session.first_recording_path);
    snd_free(session.first_trace_path);
    session.first_recording_path = session.first_trace_path = NULL;
    return status == SND_OK ? snd_children_take(set, session.recording_path) : status;
}

static void before_fork(void);
static void after_fork_in_parent(void);
static void after_fork_in_child(void);
static void on_attach(void);

static void
register_once(void)
{
    atexit(snd_session_save); /* for C programs that end without sonde_stop */
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    snd_track_on_attach = on_attach;
}

/* Takes the texts of `set`, also those that a collector's next checkpoint will look at. */
static void
take_settings(snd_settings *set)
{
    snd_settings old = session.set;

    if (session.collector != NULL)
        snd_collector_pause(session.collector);
    session.set = *set;
    *set = (snd_settings){0};
    snd_settings_free(&old);
    if (session.collector != NULL)
        snd_collector_resume(session.collector);
}

static snd_status
start_probes(void)
{
    const snd_probe_wishes wishes = {.cpu = session.set.cpu,
                                     .debug = session.set.debug,
                                     .counters = session.set.counters,
                                     .calls = session.set.calls,
                                     .ops = session.set.ops,
                                     .graphs = session.set.graphs,
                                     .sample = session.set.sample,
                                     .memory = session.set.memory,
                                     .interpreter = session.interpreter,
                                     .origin_ns = session.start_monotonic_ns};

    snd_status status = snd_probes_start(&wishes);
    if (session.note == NULL)
        session.note = snd_probes_note();
    return status;
}

static snd_status
start_locked(snd_settings *set, snd_buffer *message)
{
    if (!session.is_running)
        snd_clock_start(session.clock);
    if (set->own_cost_ns == 0)
        set->own_cost_ns = snd_region_own_cost_ns();
    snd_status status = keeps_outputs(set) ? SND_OK : change_outputs(set, message);
    if (status != SND_OK)
        return status;
    take_settings(set);
    if (!session.is_running)
        (void)snd_track_get(); /* the starting thread is measured from the start */
    session.is_running = 1;
    return start_probes();
}

void
snd_session_note(const char *text)
{
    session.note = text;
}

void
snd_session_use_interpreter(const snd_sample_interpreter *interpreter)
{
    session.interpreter = interpreter;
}

void
snd_session_pause_samples(int paused)
{
    pthread_mutex_lock(&session.lock);
    session.set.sample.paused = paused; /* a child goes on as its parent is */
    snd_probes_pause(paused);
    pthread_mutex_unlock(&session.lock);
}

/* Also on the collector's thread. */
static uint64_t
end_now(void)
{
    snd_probes_end();
    if (session.end == 0)
        session.end = snd_clock_ticks();
    return session.end;
}

void
snd_session_end(void)
{
    pthread_mutex_lock(&session.lock);
    if (session.is_running && !session.is_orphan) {
        uint64_t ended = end_now();
        if (session.collector != NULL)
            snd_collector_ended(session.collector, ended);
    }
    pthread_mutex_unlock(&session.lock);
}

void
snd_session_end_after(uint64_t after_ns)
{
    pthread_mutex_lock(&session.lock);
    snd_children_end_at(snd_clock_monotonic_ns() + after_ns);
    if (session.collector != NULL && !session.is_orphan)
        snd_collector_end_at(session.collector, snd_children_end(), end_now);
    pthread_mutex_unlock(&session.lock);
}

void
snd_session_stop_samples(void)
{
    pthread_mutex_lock(&session.lock);
    snd_probes_stop_samples();
    pthread_mutex_unlock(&session.lock);
}

void
snd_session_watch_signals(void)
{
    if (own_collector() != NULL && snd_process_id() == session.process_id)
        snd_signals_watch(1, on_signal);
}

void
snd_session_use_clock(uint64_t (*function)(void))
{
    session.clock = function;
}

snd_status
snd_session_start(const snd_session_options *options, snd_buffer *message)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    snd_settings set = {0};

    pthread_once(&once, register_once);
    pthread_mutex_lock(&session.lock);
    snd_status status = snd_settings_copy(options, &set);
    if (status == SND_OK)
        status = start_locked(&set, message);
    snd_settings_free(&set);
    pthread_mutex_unlock(&session.lock);
    return status;
}

/* What is counted at this moment, or was at the end. */
static snd_status
take_profile(int is_last, snd_profile **out)
{
    uint64_t now = session.end == 0 ? snd_clock_ticks() : session.end;
    snd_snapshot snapshot = {0};
    snd_profile *profile = snd_profile_new();
    if (profile == NULL)
        return SND_NO_MEMORY;
    (void)snd_track_get(); /* the calling thread has met the last reset */
    snd_status status = snd_probes_snapshot(&snapshot, profile, session.origin, now);
    if (status == SND_OK)
        status = describe(profile, now, is_last);
    if (status == SND_OK)
        status = snd_sources_add(profile, &(uint32_t){0});
    snd_snapshot_free(&snapshot);
    if (status == SND_OK)
        *out = profile;
    else
        snd_profile_free(profile);
    return status;
}

/* What was saved, or would have been; NULL where memory has run out, and in a child that has measured nothing. */
static snd_profile *
take_last(void)
{
    snd_profile *last = NULL;

    if (own_collector() != NULL)
        last = snd_collector_take_profile(session.collector);
    else if (session.is_running && !session.is_orphan)
        (void)take_profile(1, &last);
    return last;
}

snd_status
snd_session_stop(snd_buffer *message, snd_profile **last)
{
    pthread_mutex_lock(&session.lock);
    snd_probes_stop();
    snd_status status = snd_collector_finish(own_collector(), message);
    if (last != NULL)
        *last = take_last();
    free_collector();
    snd_track_keep_timeline(0);
    snd_probes_release();
    session.is_running = 0;
    session.note = NULL;
    snd_extras_forget();
    pthread_mutex_unlock(&session.lock);
    snd_children_say_failure();
    return status;
}

int
snd_session_is_running(void)
{
    return session.is_running;
}

int
snd_session_is_orphan(void)
{
    return session.is_orphan;
}

snd_status
snd_session_profile(snd_profile **out)
{
    return session.is_running ? take_profile(session.end != 0, out) : SND_NOT_RUNNING;
}

void
snd_session_reset(void)
{
    snd_probes_reset();
    (void)snd_track_get();
}

const char *
snd_session_recording_path(void)
{
    return session.recording_path;
}

const char *
snd_session_trace_path(void)
{
    return session.trace_path;
}

/* ---- fork and exit ---- */

static void
pause_locked(void)
{
    if (session.paused++ != 0 || snd_process_id() != session.process_id)
        return;
    snd_probes_suspend();
    if (own_collector() != NULL)
        snd_collector_pause(session.collector);
}

static void
resume_locked(void)
{
    if (session.paused == 0 || --session.paused != 0 || snd_process_id() != session.process_id)
        return;
    if (own_collector() != NULL)
        snd_collector_resume(session.collector);
    snd_probes_resume();
}

void
snd_session_pause(void)
{
    pthread_mutex_lock(&session.lock);
    pause_locked();
    pthread_mutex_unlock(&session.lock);
}

void
snd_session_resume(void)
{
    pthread_mutex_lock(&session.lock);
    resume_locked();
    pthread_mutex_unlock(&session.lock);
}

void
snd_session_checkpoint(void)
{
    snd_buffer message = {0};

    pthread_mutex_lock(&session.lock);
    if (session.is_running && snd_process_id() == session.process_id)
        (void)snd_collector_finish(own_collector(), &message);
    pthread_mutex_unlock(&session.lock);
    snd_buffer_free(&message);
}

void
snd_session_save(void)
{
    snd_buffer message = {0};

    if (session.is_running && snd_process_id() == session.process_id) {
        snd_parts_gathered gathered;
        snd_children_take_notes();
        (void)snd_session_stop(&message, NULL);
        (void)snd_children_gather(&gathered, &message);
        snd_signals_say(session.recording_path, snd_buffer_str(&message), NULL);
    }
    snd_buffer_free(&message);
}

static void
before_fork(void)
{
    pthread_mutex_lock(&session.lock);
    pause_locked();
    snd_worker_before_fork(); /* before all that somebody may need who has files of ours */
    snd_probes_before_fork();
}

static void
after_fork_in_parent(void)
{
    snd_probes_after_fork(0);
    snd_worker_after_fork(0);
    resume_locked();
    pthread_mutex_unlock(&session.lock);
}

/* The child opens files of its own only when it enters a region: most children run another program at once. */
static void
after_fork_in_child(void)
{
    snd_worker_after_fork(1);
    snd_probes_after_fork(1);
    session.paused = 0;
    session.is_orphan = session.is_running;
    pthread_mutex_unlock(&session.lock);
}

/* Children of children have other names than the first process, too. */
static void
keep_first(char **first, char **path)
{
    if (*first != NULL)
        return;
    *first = *path;
    *path = NULL;
}

static void
open_in_child(void)
{
    snd_opened_files new = {0};
    snd_buffer message = {0};
    snd_collector *parents = session.collector;

    session.collector = NULL;
    session.is_orphan = 0;
    snd_collector_free(parents);
    if (session.process_id != snd_process_id())
        mark_start();
    keep_first(&session.first_recording_path, &session.recording_path);
    keep_first(&session.first_trace_path, &session.trace_path);
    const snd_parent_files taken = {session.first_recording_path, session.first_trace_path, snd_children_parts()};
    if (snd_opened_files_open(&session.set, &taken, &new, &message) != SND_OK)
        snd_children_keep_failure(snd_buffer_str(&message));
    else if (take_outputs(&new, &session.set) != SND_OK)
        snd_opened_files_close(&new);
    else if (snd_children_end() != 0 && session.collector != NULL)
        snd_collector_end_at(session.collector, snd_children_end(), end_now);
    snd_buffer_free(&message);
}

/* Runs on the sampler's thread, which must not wait for somebody who waits for it. */
static int
on_busy(void)
{
    if (pthread_mutex_trylock(&session.lock) != 0)
        return 0;
    if (session.is_orphan)
        open_in_child();
    pthread_mutex_unlock(&session.lock);
    return 1;
}

void
snd_session_follow(void)
{
    pthread_mutex_lock(&session.lock);
    if (session.is_orphan && snd_children_are_followed() &&
        (session.set.sample.rate_hz != 0 || session.set.memory.on) && !snd_sample_is_running()) {
        mark_start();
        if (start_probes() == SND_OK)
            snd_sample_call_when_busy(on_busy);
    }
    pthread_mutex_unlock(&session.lock);
}

/* Runs on a thread that enters its first region after a fork or a reset. */
static void
on_attach(void)
{
    if (!session.is_orphan || !snd_children_are_followed())
        return;
    pthread_mutex_lock(&session.lock);
    if (session.is_orphan)
        open_in_child();
    pthread_mutex_unlock(&session.lock);
    snd_children_say_failure();
}
