/* The sentence under every table. */
#include "base/buffer.h"
#include "base/duration.h"
#include "base/utf8.h"
#include "view/view.h"

static uint64_t
count_entries(const snd_profile *profile)
{
    uint64_t entries = 0;

    for (uint32_t i = 0; i < profile->node_count; i++)
        if (profile->sites[profile->nodes[i].site].kind == SND_SITE_REGION)
            entries += snd_profile_whole(profile, i, SND_METRIC_COUNT) + snd_profile_whole(profile, i, SND_METRIC_OPEN);
    return entries;
}

static void
add_dropped(const snd_profile *profile, snd_buffer *text)
{
    uint64_t entries = snd_profile_info_number(profile, "lost_entries");
    uint64_t events = snd_profile_info_number(profile, "lost_events");

    for (uint32_t i = 0; i < profile->track_count; i++) {
        entries += profile->tracks[i].dropped_entries;
        events += profile->tracks[i].dropped_events;
    }
    if (entries == 0 && events == 0)
        snd_buffer_text(text, "nothing dropped");
    if (entries != 0)
        snd_buffer_printf(text, "%llu entries dropped (no room for their nodes)", (unsigned long long)entries);
    if (events != 0)
        snd_buffer_printf(text, "%s%llu events missing from the timeline", entries == 0 ? "" : ", ",
                          (unsigned long long)events);
}

static void
add_cost(const snd_profile *profile, uint64_t entries, snd_buffer *text)
{
    uint64_t cost = entries * snd_profile_info_number(profile, "own_cost_ns");
    uint64_t length = snd_profile_info_number(profile, "length_ns");
    char spent[SND_DURATION_SIZE];

    snd_duration_text(cost, spent);
    snd_buffer_printf(text, ", own cost up to %s", spent);
    if (length != 0)
        snd_buffer_printf(text, " (%.2f%%)", 100.0 * (double)cost / (double)length);
}

/* Regions that no thread had left when this was measured, the first few by name. */
static void
add_open(const snd_profile *profile, snd_buffer *text)
{
    enum { NAMED = 3 };
    uint32_t open = 0;

    for (uint32_t i = 0; i < profile->node_count; i++) {
        const snd_profile_node *node = &profile->nodes[i];
        if (profile->sites[node->site].kind != SND_SITE_REGION || snd_profile_whole(profile, i, SND_METRIC_OPEN) == 0)
            continue;
        if (open < NAMED) {
            snd_buffer_text(text, open == 0 ? "\nstill open, counted up to now: " : ", ");
            snd_utf8_clean(profile->sites[node->site].name, text);
            snd_buffer_text(text, " in thread ");
            snd_utf8_clean(profile->tracks[node->track].name, text);
        }
        open++;
    }
    if (open > NAMED)
        snd_buffer_printf(text, " and %u more", open - NAMED);
}

snd_status
snd_view_add_footer(const snd_profile *profile, snd_table *table)
{
    snd_buffer text = {0};
    uint64_t entries = count_entries(profile);

    snd_buffer_printf(&text, "%llu entr%s, ", (unsigned long long)entries, entries == 1 ? "y" : "ies");
    add_dropped(profile, &text);
    add_cost(profile, entries, &text);
    add_open(profile, &text);
    const char *note = snd_profile_info(profile, "note");
    if (note != NULL && *note != '\0') {
        snd_buffer_char(&text, '\n');
        snd_utf8_clean(note, &text);
    }
    snd_status status = snd_buffer_status(&text);
    if (status == SND_OK)
        status = snd_table_set_footer(table, snd_buffer_str(&text));
    snd_buffer_free(&text);
    return status;
}
