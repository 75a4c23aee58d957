/* Rows of lines, which are matched by the text of the sources. */
#ifndef SND_VIEW_DIFF_LINES_H
#define SND_VIEW_DIFF_LINES_H

#include "view/compare/diff_rows.h"

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
