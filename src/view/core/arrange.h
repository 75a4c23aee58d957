/* Other orders and parts of a table: sorting, matching, limiting. In a tree, rows stay with the row above them. */
#ifndef SND_VIEW_ARRANGE_H
#define SND_VIEW_ARRANGE_H

#include "view/core/table.h"

/* X(key as pstats has it, columns that it sorts by, does it ascend). Numbers descend and texts ascend where a column is
 * named; a key of this list comes before a column of that name. */
#define SND_SORT_KEY_MAP(X)              \
    X("calls", "calls", 0)               \
    X("ncalls", "calls", 0)              \
    X("pcalls", "primitive_calls", 0)    \
    X("primitive", "primitive_calls", 0) \
    X("cumtime", "total", 0)             \
    X("cumulative", "total", 0)          \
    X("tottime", "self", 0)              \
    X("time", "self", 0)                 \
    X("file", "file", 1)                 \
    X("filename", "file", 1)             \
    X("module", "file", 1)               \
    X("line", "line", 1)                 \
    X("name", "name", 1)                 \
    X("nfl", "name,file,line", 1)        \
    X("stdname", "function", 1)

/* Sorts siblings by a key of the list above or by a column; equal ones stay in their order, unknown cells come last.
 * Rows for people only, such as headings, are gone then.
 * SND_BAD_ARGUMENT when the table has no such column. On failure the table is as it was. */
SND_MUST_USE snd_status snd_table_sort(snd_table *self, const char *key);

/* Whether the table has what the key sorts by. */
int snd_table_can_sort(const snd_table *self, const char *key);

/* Keeps the rows whose first cell the POSIX extended regular expression matches, what stands below them, and the rows
 * above these. SND_BAD_ARGUMENT: it is none, and `why` has the reason. On failure the table is as it was. */
SND_MUST_USE snd_status snd_table_match(snd_table *self, const char *pattern, char *why, size_t why_size);

/* Keeps the rows that `is_kept` wants, in their order. On failure the table is as it was. */
SND_MUST_USE snd_status snd_table_keep(snd_table *self, int (*is_kept)(const snd_table *self, uint32_t row));

/* Keeps the `limit` rows with the largest numbers in a column that a row has no less of than those below it, in their
 * order. On failure the table is as it was. */
SND_MUST_USE snd_status snd_table_keep_largest(snd_table *self, const char *column, uint32_t limit);

/* Keeps the first `limit` rows; of a table of groups the first `limit` groups. */
void snd_table_limit(snd_table *self, uint32_t limit);

#endif
