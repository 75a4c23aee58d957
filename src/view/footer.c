/* The sentence under every table. */
#include "base/buffer.h"
#include "base/duration.h"
#include "base/utf8.h"
#include "view/call_table.h"
#include "view/facts.h"
#include "view/ops.h"
#include "view/sample_table.h"
#include "view/view.h"

/* Of what is still open, so many are named. */
#define NAMED 3u

static void
add_dropped(const snd_profile *profile, snd_buffer *text)
{
    snd_facts facts;

    snd_facts_count(profile, &facts);
    uint64_t entries = facts.dropped_entries, events = facts.dropped_events;
    if (entries == 0 && events == 0)
        snd_buffer_text(text, "nothing dropped");
    if (entries != 0)
        snd_buffer_printf(text, "%llu entries dropped (no room for their nodes)", (unsigned long long)entries);
    if (events != 0)
        snd_buffer_printf(text, "%s%llu events missing from the timeline", entries == 0 ? "" : ", ",
                          (unsigned long long)events);
}

static void
add_cost(const snd_profile *profile, const char *how, uint64_t cost, snd_buffer *text)
{
    uint64_t length = snd_profile_info_number(profile, "length_ns");
    char spent[SND_DURATION_SIZE];

    snd_duration_text(cost, spent);
    snd_buffer_printf(text, ", own cost %s %s", how, spent);
    if (length != 0)
        snd_buffer_printf(text, " (%.2f%%)", 100.0 * (double)cost / (double)length);
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

/* The note of the run, and the text to the table; the text is used up. */
static snd_status
finish(const snd_profile *profile, snd_buffer *text, snd_table *table)
{
    const char *note = snd_profile_info(profile, "note");

    if (note != NULL && *note != '\0') {
        snd_buffer_char(text, '\n');
        snd_utf8_clean(note, text);
    }
    snd_status status = snd_buffer_status(text);
    if (status == SND_OK)
        status = snd_table_set_footer(table, snd_buffer_str(text));
    snd_buffer_free(text);
    return status;
}

snd_status
snd_view_add_footer(const snd_profile *profile, snd_table *table)
{
    snd_buffer text = {0};
    snd_facts facts;

    snd_facts_count(profile, &facts);
    snd_buffer_printf(&text, "%llu entr%s, ", (unsigned long long)facts.entries, facts.entries == 1 ? "y" : "ies");
    add_dropped(profile, &text);
    add_cost(profile, "up to", facts.entries * snd_profile_info_number(profile, "own_cost_ns"), &text);
    add_open(profile, &text);
    const char *missing = snd_profile_info(profile, "counters_missing");
    if (missing != NULL && *missing != '\0') {
        snd_buffer_text(&text, "\nnot counted: ");
        snd_utf8_clean(missing, &text);
    }
    return finish(profile, &text, table);
}

static void
add_open_calls(const snd_calls *calls, snd_buffer *text)
{
    uint32_t open = 0;

    for (uint32_t i = 0; i < calls->row_count; i++) {
        snd_buffer name = {0};
        if (calls->rows[i].function != i || calls->rows[i].numbers.open == 0)
            continue;
        if (open < NAMED) {
            snd_buffer_text(text, open == 0 ? "\nstill open, counted up to now: " : ", ");
            snd_call_text(&calls->rows[i].site, &name);
            text->failed |= name.failed;
            snd_utf8_clean(snd_buffer_str(&name), text);
            snd_buffer_free(&name);
        }
        open++;
    }
    if (open > NAMED)
        snd_buffer_printf(text, " and %u more", open - NAMED);
}

snd_status
snd_view_add_call_footer(const snd_profile *profile, const snd_calls *calls, snd_table *table)
{
    uint64_t each_ns = snd_profile_info_number(profile, "own_call_cost_ns");
    snd_calls_numbers all = {0};
    snd_buffer text = {0};
    char spent[SND_DURATION_SIZE];

    for (uint32_t i = 0; i < calls->row_count; i++)
        if (calls->rows[i].function == i) {
            all.count += calls->rows[i].numbers.count;
            all.primitive += calls->rows[i].numbers.primitive;
            all.self_ns += calls->rows[i].numbers.self_ns;
        }
    snd_duration_text(all.self_ns, spent);
    snd_buffer_printf(&text, "%llu call%s", (unsigned long long)all.count, all.count == 1 ? "" : "s");
    if (all.primitive != all.count)
        snd_buffer_printf(&text, " (%llu primitive)", (unsigned long long)all.primitive);
    snd_buffer_printf(&text, " in %s, ", spent);
    add_dropped(profile, &text);
    if (each_ns != 0) /* 0: it was not measured */
        add_cost(profile, "up to", all.count * each_ns, &text);
    add_open_calls(calls, &text);
    return finish(profile, &text, table);
}

static void
add_count(snd_buffer *text, const char *before, uint64_t count, const char *what)
{
    snd_buffer_printf(text, "%s%llu %s%s", before, (unsigned long long)count, what, count == 1 ? "" : "s");
}

snd_status
snd_view_add_op_footer(const snd_profile *profile, const snd_ops *ops, snd_table *table)
{
    snd_buffer text = {0};
    char spent[SND_DURATION_SIZE];

    snd_duration_text(ops->whole_ns, spent);
    add_count(&text, "", ops->calls, "call");
    snd_buffer_printf(&text, " of operators; shares are of %s in operators and regions, ", spent);
    add_dropped(profile, &text);
    uint64_t each_ns = snd_profile_info_number(profile, "own_op_cost_ns");
    if (each_ns != 0)
        add_cost(profile, "about", ops->entries * each_ns, &text);
    return finish(profile, &text, table);
}

/* What sampling cost: our own threads, and the threads that were looked at. */
static void
add_sample_cost(const snd_profile *profile, snd_buffer *text)
{
    uint64_t own = snd_profile_info_number(profile, "own_cpu_ns");
    uint64_t cpu = snd_profile_info_number(profile, "cpu_ns");
    uint64_t each = snd_profile_info_number(profile, "own_sample_cost_ns");
    char spent[SND_DURATION_SIZE];

    if (own != 0) {
        snd_duration_text(own, spent);
        snd_buffer_printf(text, "\nsonde itself took %s of CPU", spent);
        if (cpu != 0)
            snd_buffer_printf(text, " (%.2f%%)", 100.0 * (double)own / (double)cpu);
    }
    if (each != 0) {
        snd_duration_text(each, spent);
        snd_buffer_printf(text, "%s%s a look at a running thread", own == 0 ? "\nsonde took " : ", and ", spent);
    }
}

snd_status
snd_view_add_sample_footer(const snd_samples *samples, snd_table *table)
{
    const snd_profile *profile = samples->profile;
    uint64_t rate = snd_profile_info_number(profile, "sample_rate_hz");
    uint64_t missed = snd_profile_info_number(profile, "samples_missed");
    uint64_t interrupted = snd_profile_info_number(profile, "interrupted_calls");
    snd_buffer text = {0};

    if (samples->all.samples == 0 && snd_profile_info(profile, "imported") != NULL) {
        snd_buffer_text(&text, "imported; nobody knows how many samples these were");
        return finish(profile, &text, table);
    }
    add_count(&text, "", samples->all.samples, "sample");
    if (rate != 0)
        snd_buffer_printf(&text, " at %llu Hz", (unsigned long long)rate);
    if (missed != 0)
        snd_buffer_printf(&text, ", %llu missed", (unsigned long long)missed);
    if (interrupted != 0)
        snd_buffer_printf(&text, ", %llu system call%s ended early", (unsigned long long)interrupted,
                          interrupted == 1 ? "" : "s");
    snd_buffer_printf(&text, "; a share of 50%% is good to +-%.2f%%", snd_samples_error(samples, 50));
    add_sample_cost(profile, &text);
    if (samples->own.has_none)
        snd_buffer_text(
            &text, "\nnone of this is code outside installed packages and the standard library, so all code is shown");
    return finish(profile, &text, table);
}
