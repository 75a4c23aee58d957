/* What the sentences under tables share. */
#ifndef SND_VIEW_FOOTER_H
#define SND_VIEW_FOOTER_H

#include "base/buffer.h"
#include "view/core/view.h"

/* Of what is still open, so many are named. */
#define SND_FOOTER_NAMED 3u

/* Entries into regions, those for which there was no room, and events that are missing. */
typedef struct snd_entry_counts {
    uint64_t entries, dropped_entries, dropped_events;
} snd_entry_counts;

snd_entry_counts snd_footer_count(const snd_profile *profile);

/* "none dropped"; "; profiler overhead ≤ 1.2 ms (0.10%)"; "3 samples". */
void snd_footer_add_dropped(const snd_profile *profile, snd_buffer *text);
void snd_footer_add_cost(const snd_profile *profile, const char *how, uint64_t cost, snd_buffer *text);
void snd_footer_add_count(snd_buffer *text, const char *before, uint64_t count, const char *what);

/* Adds the note of the run, and hands the text to the table. */
void snd_footer_set(const snd_profile *profile, snd_buffer *text, snd_table *table);

#endif
