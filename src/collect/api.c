/* The public C API on top of the session and the probes. */
#include "sonde.h"

#include "collect/session.h"
#include "probe/counter/counter.h"
#include "probe/region/region.h"

#include <stdio.h>
#include <string.h>

static _Thread_local char error[512];

static int
answer(snd_status status, snd_buffer *message)
{
    if (status == SND_OK)
        error[0] = '\0';
    else
        snprintf(error, sizeof error, "%s", message->size != 0 ? message->data : snd_status_text(status));
    snd_buffer_free(message);
    return status == SND_OK ? 0 : -1;
}

int
sonde_start(const sonde_options *options)
{
    static const sonde_options none;
    snd_buffer message = {0};

    if (options == NULL)
        options = &none;
    if (snd_session_is_running())
        return answer(SND_ALREADY, &message);
    snd_session_options chosen = {
        .recording = options->recording,
        .chrome_trace = options->chrome_trace,
        .timeline = options->timeline,
        .cpu = options->cpu,
    };
    snd_session_use_clock(NULL);
    return answer(snd_session_start(&chosen, &message), &message);
}

int
sonde_stop(void)
{
    snd_buffer message = {0};

    if (!snd_session_is_running())
        return answer(SND_NOT_RUNNING, &message);
    return answer(snd_session_stop(&message, NULL), &message);
}

const char *
sonde_error(void)
{
    return error;
}

const char *
sonde_version(void)
{
    return SND_VERSION;
}

/* 0 is "not asked yet" in a zeroed site, so the id is kept plus one. */
static uint32_t
site_id(sonde_site *site, snd_site_kind kind)
{
    uint32_t id = __atomic_load_n(&site->id, __ATOMIC_RELAXED);
    if (SND_LIKELY(id != 0))
        return id - 1;
    id = snd_site_add(kind, site->name, strlen(site->name), site->file, site->line);
    if (id != SND_NONE)
        __atomic_store_n(&site->id, id + 1, __ATOMIC_RELAXED);
    return id;
}

SND_HOT snd_span *
enter(uint32_t site)
{
    snd_track *track = snd_track_get();
    if (SND_UNLIKELY(track == NULL || site == SND_NONE))
        return NULL;
    return snd_region_enter(track, site);
}

sonde_span *
sonde_enter(sonde_site *site)
{
    if (SND_UNLIKELY(!SND_GET(snd_region_mode)))
        return NULL;
    return (sonde_span *)enter(site_id(site, SND_SITE_REGION));
}

static void
begin(uint32_t site)
{
    snd_span *span = enter(site);
    if (span != NULL)
        span->is_unpaired = 1;
}

void
sonde_begin(sonde_site *site)
{
    if (SND_GET(snd_region_mode))
        begin(site_id(site, SND_SITE_REGION));
}

void
sonde_begin_named(const char *name)
{
    if (SND_GET(snd_region_mode))
        begin(snd_site_add(SND_SITE_REGION, name, strlen(name), "", 0));
}

void
sonde_leave(sonde_span *handle)
{
    snd_span *span = (snd_span *)handle;
    if (SND_UNLIKELY(span == NULL || span->stack == NULL))
        return;
    snd_track *track = snd_track_get();
    if (SND_LIKELY(track != NULL))
        snd_region_leave(track, span);
}

void
sonde_end(void)
{
    snd_track *track = snd_track_mine == NULL ? NULL : snd_track_get();
    snd_span *top = track == NULL ? NULL : track->current->top;
    if (top != NULL && top->is_unpaired)
        snd_region_leave(track, top);
}

static void
count(sonde_site *site, double value, void (*update)(snd_track *, uint32_t, double))
{
    if (!SND_GET(snd_region_mode))
        return;
    uint32_t id = site_id(site, SND_SITE_COUNTER);
    snd_track *track = snd_track_get();
    if (track != NULL && id != SND_NONE)
        update(track, id, value);
}

void
sonde_counter_set(sonde_site *site, double value)
{
    count(site, value, snd_counter_set);
}

void
sonde_counter_add(sonde_site *site, double delta)
{
    count(site, delta, snd_counter_add);
}

void
sonde_mark(const char *name, const char *detail)
{
    snd_track *track = SND_GET(snd_region_mode) ? snd_track_get() : NULL;
    uint32_t site = track == NULL ? SND_NONE : snd_mark_site(name, detail == NULL ? "" : detail);

    if (site != SND_NONE)
        snd_mark(track, site);
}

void
sonde_thread_name(const char *name)
{
    snd_track *track = snd_track_get();
    if (track != NULL)
        snd_track_set_name(track, name);
}
