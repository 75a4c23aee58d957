/* Where the rows of a comparison come from: a function for each kind, called for either recording. */
#ifndef SND_VIEW_DIFF_ROWS_H
#define SND_VIEW_DIFF_ROWS_H

#include "view/compare/diff.h"
#include "view/sampled/samples.h"

/* One of the two recordings. */
typedef struct snd_diff_source {
    const snd_profile *profile;
    const snd_profile *other;
    const snd_view_options *view;
    snd_own own, other_own;
    int side;            /* SND_BEFORE or SND_AFTER */
    snd_samples samples; /* only where the recording has some, or memory */
    int has_samples;
} snd_diff_source;

/* What a row is called by. */
typedef struct snd_diff_name {
    const char *key; /* equal in both recordings for the same thing */
    const char *name;
    const char *place;
} snd_diff_name;

/* Adds to the row of this key; the one that is made first gives it its name and place. `*row` is valid until the next
 * one is added. */
void snd_diff_add(snd_diff *self, const snd_diff_source *from, snd_diff_kind kind, const snd_diff_name *name,
                  snd_diff_row **row);

/* How long no processor was free, over all nodes; 0 where nothing was sampled. */
double snd_diff_processor_ns(const snd_diff_source *from);

/* Whether the profile has such rows. */
int snd_diff_exists(const snd_profile *profile, snd_diff_kind kind);

/* Adds the rows of one recording. */
void snd_diff_put(snd_diff *self, const snd_diff_source *from, snd_diff_kind kind);

/* ---- rows of lines, which are matched by the text of the sources ---- */

void snd_diff_put_lines(snd_diff *self, const snd_diff_source *from);
void snd_diff_put_memory(snd_diff *self, const snd_diff_source *from);
void snd_diff_put_allocated(snd_diff *self, const snd_diff_source *from);
void snd_diff_put_copies(snd_diff *self, const snd_diff_source *from);

/* A file's name that is the same in both recordings. */
const char *snd_diff_file_key(const snd_own *own, const char *file);

/* Whether time under this name says nothing of the program: our own, and what nobody saw. */
int snd_diff_is_unrated(const char *name);

/* Time with its noise, without waiting for a processor, which is the machine's; or waiting only. */
snd_estimate snd_diff_sampled(const snd_diff_source *from, const snd_samples_numbers *numbers, int only_waiting);

#endif
