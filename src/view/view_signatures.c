/* The view of signatures: each function and, below it, the types and shapes that it was called with. */
#include "base/alloc.h"
#include "view/call_table.h"

/* Rows of signatures as lists, one a function. */
typedef struct lists {
    uint32_t *first; /* per function; SND_NONE: none */
    uint32_t *next;  /* per signature */
} lists;

static snd_status
make_lists(const snd_calls *calls, lists *out)
{
    size_t room = (size_t)calls->row_count + 1;

    out->first = snd_malloc(room * sizeof *out->first);
    out->next = snd_malloc(room * sizeof *out->next);
    if (out->first == NULL || out->next == NULL)
        return SND_NO_MEMORY;
    for (uint32_t i = 0; i < calls->row_count; i++)
        out->first[i] = out->next[i] = SND_NONE;
    for (uint32_t i = calls->row_count; i-- > 0;) {
        uint32_t function = calls->rows[i].function;
        if (function == i)
            continue;
        out->next[i] = out->first[function];
        out->first[function] = i;
    }
    return SND_OK;
}

static snd_status
add_function(snd_call_table *self, const lists *signatures, uint32_t function)
{
    const snd_calls_row *rows = self->calls.rows;
    snd_status status = snd_call_table_add(self, function);

    for (uint32_t i = signatures->first[function]; i != SND_NONE && status == SND_OK; i = signatures->next[i])
        if (snd_calls_is_used(&rows[i].numbers))
            status = snd_call_table_add_below(self, i, &rows[i].numbers, 0);
    return status;
}

snd_status
snd_view_signatures(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    (void)options;
    snd_call_table self;
    lists signatures = {0};
    snd_status status = snd_call_table_start(&self, profile, "signatures", 1);

    if (status == SND_OK)
        status = make_lists(&self.calls, &signatures);
    for (uint32_t i = 0; i < self.calls.row_count && status == SND_OK; i++)
        if (self.calls.rows[i].function == i && snd_calls_is_used(&self.calls.rows[i].numbers))
            status = add_function(&self, &signatures, i);
    snd_free(signatures.first);
    snd_free(signatures.next);
    return snd_call_table_finish(&self, status, "self_ns", out);
}
