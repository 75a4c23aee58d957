/* The call tree as a table, whatever is added up in it: time or memory. */
#ifndef SND_VIEW_TREE_TABLE_H
#define SND_VIEW_TREE_TABLE_H

#include "view/sampled/sample_table.h"

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

#endif
