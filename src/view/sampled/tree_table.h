/* The call tree as a table, whatever is added up in it: time or memory. */
#ifndef SND_VIEW_TREE_TABLE_H
#define SND_VIEW_TREE_TABLE_H

#include "view/sampled/sample_table.h"
#include "view/sampled/samples.h"

/* Columns that stand side by side in this order, behind those of the view's own numbers. */
enum {
    SND_TREE_NAME,
    SND_TREE_PLACE,
    SND_TREE_KIND,
    SND_TREE_START,
    SND_TREE_ID,
    SND_TREE_PARENT_ID,
    SND_TREE_COLUMN_COUNT
};

#define SND_TREE_COLUMNS(at)                                                                          \
    [(at) + SND_TREE_NAME] = {"name", "function", SND_UNIT_TEXT, SND_COLUMN_SHOWN | SND_COLUMN_MAIN}, \
            [(at) + SND_TREE_PLACE] = {"place", "place", SND_UNIT_TEXT,                               \
                                       SND_COLUMN_SHOWN | SND_COLUMN_OPTIONAL | SND_COLUMN_NO_EMPTY}, \
            [(at) + SND_TREE_KIND] = {"kind", "kind", SND_UNIT_TEXT, 0},                              \
            [(at) + SND_TREE_START] = {"start_ns", "start", SND_UNIT_NS, 0},                          \
            [(at) + SND_TREE_ID] = {"id", "id", SND_UNIT_COUNT, 0},                                   \
            [(at) + SND_TREE_PARENT_ID] = {"parent_id", "parent id", SND_UNIT_COUNT, 0}

/* What a tree adds up. */
typedef struct snd_tree_numbers {
    const char *view;
    const snd_column *columns; /* `at` of its own, then those above */
    uint32_t at;
    void (*put)(const snd_samples *samples, const snd_samples_numbers *numbers, snd_cell *cells);
} snd_tree_numbers;

/* The caller owns the table, which has no footer yet. */
void snd_tree_table_make(const snd_samples *samples, const snd_tree_numbers *of, snd_table **out);

/* ---- the tree that people read: functions merged over their lines, frames of libraries folded, waiting as rows ----
 */

typedef enum snd_tree_frame_kind {
    SND_FRAME_THREAD,
    SND_FRAME_FUNCTION, /* or a region, a native symbol, something without a place */
    SND_FRAME_HIDDEN,   /* frames that were to be hidden */
    SND_FRAME_CALLEE,   /* CPU time in a C function that the frame above calls */
    SND_FRAME_SELF,     /* CPU time in the frame above itself */
    SND_FRAME_WAITING,
    SND_FRAME_SMALL, /* rows that are too small to be shown */
} snd_tree_frame_kind;

/* Of the packages that hidden frames are of, so many are named. */
#define SND_FRAME_PACKAGES 3u

typedef struct snd_tree_frame {
    snd_tree_frame_kind kind;
    uint32_t which;  /* a track, a function of the samples, a site that names a callee, a state; of small rows what the
                        view wants */
    uint32_t parent; /* SND_NONE: a thread. Smaller than the frame's own number */
    uint32_t track;
    uint32_t first, last, next; /* children, as they were met, and the next one of its parent; SND_NONE: none */
    uint32_t hidden;            /* functions folded into this frame; rows that SMALL stands for */
    uint32_t packages[SND_FRAME_PACKAGES]; /* functions of different packages among them */
    uint32_t package_count;
    int has_more_packages;
    uint64_t start_ns;           /* of the first sample; in a tree by time only */
    snd_samples_numbers numbers; /* with all below */
} snd_tree_frame;

/* Read freely. */
typedef struct snd_tree_frames {
    const snd_samples *samples;
    snd_tree_frame *frames;
    uint32_t count, capacity;
    uint32_t thread_count;
} snd_tree_frames;

/* The caller owns what `*out` points to, on SND_OK only. SND_BAD_ARGUMENT when the pattern of what to hide is not
 * valid. SND_NO_TIMELINE when it is to be by time and there are no events. */
void snd_tree_frames_make(const snd_samples *samples, snd_tree_frames *out);

/* A new frame, the last child of its parent. */
void snd_tree_frames_add(snd_tree_frames *self, uint32_t parent, snd_tree_frame_kind kind, uint32_t which,
                         uint32_t *frame);

#endif
