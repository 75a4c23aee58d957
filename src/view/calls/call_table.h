/* What the views of calls share: columns, the text of a function, a table that grows row by row. */
#ifndef SND_VIEW_CALL_TABLE_H
#define SND_VIEW_CALL_TABLE_H

#include "base/buffer.h"
#include "view/calls/calls.h"
#include "view/core/view.h"

/* A table in the making. */
typedef struct snd_call_table {
    const snd_profile *profile;
    snd_calls calls;
    snd_table *table;
    uint64_t all_self_ns; /* of all functions: the whole of which rows are a share */
    uint32_t above;       /* the last row of the table at depth 0 */
} snd_call_table;

/* SND_NO_DATA when the profile has no calls. Whatever it says, snd_call_table_finish comes last. */
void snd_call_table_start(snd_call_table *self, const snd_profile *profile, const char *view, int is_tree);

/* A row at depth 0 for `row` of the calls; below it (depth 1) one with numbers of its own and a text that may leave out
 * the place. */
void snd_call_table_add(snd_call_table *self, uint32_t row);
void snd_call_table_add_below(snd_call_table *self, uint32_t row, const snd_calls_numbers *numbers, int has_place);

/* A row for each function (or signature, where it has some) and below it the callees of its pairs. */
void snd_call_table_add_pairs(snd_call_table *self);

/* Sorts the rows by `key` and adds the footer, if `status` is SND_OK; hands over the table or frees it. */
void snd_call_table_finish(snd_call_table *self, const char *key, snd_table **out);

/* As pstats writes it: "file.py:7(name)", "{built-in method builtins.len}"; a signature takes the name's place. */
void snd_call_text(const snd_profile_site *site, snd_buffer *out);

#endif
