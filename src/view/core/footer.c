/* The sentence under every table. */
#include "view/core/footer.h"

#include "base/text.h"
#include "base/utf8.h"
#include "view/core/view.h"

snd_entry_counts
snd_footer_count(const snd_profile *profile)
{
    snd_entry_counts self = {.dropped_entries = snd_profile_info_number(profile, "lost_entries"),
                             .dropped_events = snd_profile_info_number(profile, "lost_events")};

    for (uint32_t i = 0; i < profile->node_count; i++)
        if (snd_profile_kind(profile, i) == SND_SITE_REGION)
            self.entries += snd_profile_entries(profile, i);
    for (uint32_t i = 0; i < profile->track_count; i++) {
        self.dropped_entries += profile->tracks[i].dropped_entries;
        self.dropped_events += profile->tracks[i].dropped_events;
    }
    return self;
}

void
snd_footer_add_dropped(const snd_profile *profile, snd_buffer *text)
{
    snd_entry_counts counts = snd_footer_count(profile);
    uint64_t entries = counts.dropped_entries, events = counts.dropped_events;
    if (entries == 0 && events == 0)
        snd_buffer_text(text, "none dropped");
    if (entries != 0)
        snd_buffer_printf(text, "%llu entries dropped (out of room for nodes)", (unsigned long long)entries);
    if (events != 0)
        snd_buffer_printf(text, "%s%llu events missing from the timeline", entries == 0 ? "" : ", ",
                          (unsigned long long)events);
}

void
snd_footer_add_cost(const snd_profile *profile, const char *how, uint64_t cost, snd_buffer *text)
{
    uint64_t length = snd_profile_info_number(profile, "length_ns");
    double share = length == 0 ? 0 : 100.0 * (double)cost / (double)length;
    char spent[SND_DURATION_SIZE];

    snd_duration_short(cost, spent);
    snd_buffer_printf(text, "; profiler overhead %s %s", how, spent);
    if (length != 0)
        snd_buffer_printf(text, " (%.*f%%)", snd_short_digits(share), share);
}

/* Regions that no thread had left when this was measured, the first few by name. */
static void
add_open(const snd_profile *profile, snd_buffer *text)
{
    uint32_t open = 0;

    for (uint32_t i = 0; i < profile->node_count; i++) {
        const snd_profile_node *node = &profile->nodes[i];
        if (profile->sites[node->site].kind != SND_SITE_REGION || snd_profile_whole(profile, i, SND_METRIC_OPEN) == 0)
            continue;
        if (open < SND_FOOTER_NAMED) {
            snd_buffer_text(text, open == 0 ? "\nstill open, counted so far: " : ", ");
            snd_utf8_clean(profile->sites[node->site].name, text);
            snd_buffer_text(text, " in thread ");
            snd_utf8_clean(profile->tracks[node->track].name, text);
        }
        open++;
    }
    if (open > SND_FOOTER_NAMED)
        snd_buffer_printf(text, " and %u more", open - SND_FOOTER_NAMED);
}

/* The note of the run, and the text to the table; the text is used up. */
void
snd_footer_set(const snd_profile *profile, snd_buffer *text, snd_table *table)
{
    const char *note = snd_profile_info(profile, "note");

    if (note != NULL && *note != '\0') {
        snd_buffer_char(text, '\n');
        snd_utf8_clean(note, text);
    }
    snd_work_need(snd_table_set_footer(table, snd_buffer_str(text)));
}

void
snd_view_add_footer(const snd_profile *profile, snd_table *table)
{
    snd_buffer text = {0};
    snd_entry_counts counts = snd_footer_count(profile);
    snd_buffer_printf(&text, "%llu entr%s, ", (unsigned long long)counts.entries, counts.entries == 1 ? "y" : "ies");
    snd_footer_add_dropped(profile, &text);
    snd_footer_add_cost(profile, "≤", counts.entries * snd_profile_info_number(profile, "own_cost_ns"), &text);
    add_open(profile, &text);
    if (counts.entries == 0 && !snd_profile_has_kind(profile, SND_SITE_REGION))
        snd_buffer_text(&text, "\nno regions; mark them with sonde.region(name)");
    const char *missing = snd_profile_info(profile, "counters_missing");
    if (missing != NULL && *missing != '\0') {
        snd_buffer_text(&text, "\nnot counted: ");
        snd_utf8_clean(missing, &text);
    }
    snd_footer_set(profile, &text, table);
}

void
snd_footer_add_count(snd_buffer *text, const char *before, uint64_t count, const char *what)
{
    snd_buffer_printf(text, "%s%llu %s%s", before, (unsigned long long)count, what, count == 1 ? "" : "s");
}
