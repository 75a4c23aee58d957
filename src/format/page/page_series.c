/* The data of a page: numbers over time, of the process and of single nodes. */
#include "base/text.h"
#include "format/page/page_private.h"
#include "format/table/format.h"

#include <string.h>

/* ---- series ---- */

static void
put_head(snd_page_maker *self, const char *name, const char *unit, int is_first)
{
    snd_buffer *out = &self->pack.gzip.bytes;

    snd_buffer_text(out, is_first ? "{\"name\":" : ",\n{\"name\":");
    snd_json_string(out, name);
    snd_buffer_text(out, ",\"unit\":");
    snd_json_string(out, unit);
    snd_buffer_text(out, ",\"at_ns\":[");
}

static void
put_points(snd_page_maker *self, const snd_series *series)
{
    uint64_t previous = 0;

    for (uint32_t i = 0; i < series->count; i++) {
        snd_page_put_signed(&self->pack, (int64_t)(series->points[i].at_ns - previous), i == 0);
        previous = series->points[i].at_ns;
    }
    snd_buffer_text(&self->pack.gzip.bytes, "],\"value\":[");
    for (uint32_t i = 0; i < series->count; i++)
        snd_page_put_real(&self->pack, series->points[i].value, i == 0);
    snd_buffer_text(&self->pack.gzip.bytes, "]}");
}

static int
is_of(const snd_profile *profile, const snd_profile_event *event, uint32_t node)
{
    return event->node == node && profile->sites[profile->nodes[node].site].kind == SND_SITE_COUNTER;
}

/* Takes every so many of a counter's values, so that there are not more than a series has. */
static void
put_counter(snd_page_maker *self, uint32_t node, uint64_t count)
{
    const snd_profile *profile = self->profile;
    uint64_t step = count / SND_SERIES_POINTS + 1, previous = 0, seen = 0;

    for (uint64_t i = 0; i < profile->event_count; i++) {
        const snd_profile_event *event = &profile->events[i];
        if (!is_of(profile, event, node) || seen++ % step != 0)
            continue;
        snd_page_put_signed(&self->pack, (int64_t)(event->start_ns - previous), seen == 1);
        previous = event->start_ns;
    }
    snd_buffer_text(&self->pack.gzip.bytes, "],\"value\":[");
    seen = 0;
    for (uint64_t i = 0; i < profile->event_count; i++) {
        const snd_profile_event *event = &profile->events[i];
        if (!is_of(profile, event, node) || seen++ % step != 0)
            continue;
        snd_page_put_real(&self->pack, event->value, seen == 1);
    }
    snd_buffer_text(&self->pack.gzip.bytes, "]}");
    if (step > 1) {
        uint64_t kept = (count + step - 1) / step;
        self->pruned_events += count - kept;
        snd_page_say_pruned(self, "The timeline shows %llu of a counter's %llu values.", (unsigned long long)kept,
                            (unsigned long long)count);
    }
    snd_work_need(snd_page_pack_flush(&self->pack));
}

/* What the program counted, where it has a timeline. */
static void
put_counters(snd_page_maker *self, int is_first)
{
    const snd_profile *profile = self->profile;

    for (uint32_t node = 0; node < profile->node_count; node++) {
        const snd_profile_site *site = &profile->sites[profile->nodes[node].site];
        uint64_t count = 0;
        if (site->kind != SND_SITE_COUNTER)
            continue;
        for (uint64_t i = 0; i < profile->event_count; i++)
            count += is_of(profile, &profile->events[i], node) ? 1 : 0;
        if (count == 0)
            continue;
        put_head(self, site->name, "", is_first);
        is_first = 0;
        put_counter(self, node, count);
    }
}

/* ---- histories ---- */

static void
put_histories(snd_page_maker *self)
{
    const snd_profile *profile = self->profile;
    uint32_t previous = 0;
    int is_first = 1;

    snd_buffer_printf(&self->pack.gzip.bytes, "\"histories\":{\"step_ns\":%llu,\"node\":[",
                      (unsigned long long)snd_profile_info_number(profile, "history_step_ns"));
    for (uint32_t i = 0; i < self->nodes.kept_count; i++) {
        if (snd_profile_history(profile, self->nodes.kept[i]) == NULL)
            continue;
        snd_page_put_whole(&self->pack, i - previous, is_first);
        previous = i;
        is_first = 0;
    }
    snd_buffer_text(&self->pack.gzip.bytes, "],\"live\":[");
    is_first = 1;
    for (uint32_t i = 0; i < self->nodes.kept_count; i++) {
        const snd_history *history = snd_profile_history(profile, self->nodes.kept[i]);
        if (history == NULL)
            continue;
        snd_buffer_text(&self->pack.gzip.bytes, is_first ? "[" : ",[");
        for (uint32_t p = 0; p < history->count; p++)
            snd_page_put_whole(&self->pack, history->points[p].live, p == 0);
        snd_buffer_char(&self->pack.gzip.bytes, ']');
        is_first = 0;
        snd_work_need(snd_page_pack_flush(&self->pack));
    }
    snd_buffer_text(&self->pack.gzip.bytes, "]},\n");
}

void
snd_page_put_series(snd_page_maker *self)
{
    const snd_profile_memory *memory = &self->profile->memory;

    snd_buffer_text(&self->pack.gzip.bytes, "\"series\":[");
    for (uint32_t i = 0; i < memory->series_count; i++) {
        put_head(self, memory->series[i].name, memory->series[i].unit, i == 0);
        put_points(self, &memory->series[i]);
        snd_work_need(snd_page_pack_flush(&self->pack));
    }
    put_counters(self, memory->series_count == 0);
    snd_buffer_text(&self->pack.gzip.bytes, "],\n");
    put_histories(self);
}
