/* The view of functions: a row a function or builtin, all its calls on all threads. */
#include "view/call_table.h"

snd_status
snd_view_functions(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    snd_call_table self;
    snd_status status = snd_call_table_start(&self, profile, "functions", 0);

    (void)options;
    for (uint32_t i = 0; i < self.calls.row_count && status == SND_OK; i++)
        if (self.calls.rows[i].function == i && snd_calls_is_used(&self.calls.rows[i].numbers))
            status = snd_call_table_add(&self, i);
    return snd_call_table_finish(&self, status, "self_ns", out);
}
