/* The nodes of a profile in the order in which a tree is printed. */
#ifndef SND_VIEW_TREE_H
#define SND_VIEW_TREE_H

#include "model/profile.h"

typedef struct snd_tree_row {
    uint32_t node;
    uint32_t depth;
    uint32_t parent_row; /* SND_NONE: a root */
} snd_tree_row;

typedef struct snd_tree {
    snd_tree_row *rows;
    uint32_t count;
} snd_tree;

/* Depth first, siblings by `metric` descending, roots by track: the main thread, then as they started. Nodes of
 * `kind` and roots only; those without any entry, and without one below them, are left out. The caller owns rows. */
void snd_tree_make(const snd_profile *profile, snd_site_kind kind, snd_metric metric, snd_tree *out);

/* The main thread's track, or the first one; SND_NONE when there is none. */
uint32_t snd_tree_main_track(const snd_profile *profile);

/* The track's root node; SND_NONE when there is none. */
uint32_t snd_tree_root(const snd_profile *profile, uint32_t track);

#endif
