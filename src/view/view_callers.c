/* The view of callers: each function and, below it, who called it. */
#include "view/call_table.h"

snd_status
snd_view_callers(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    snd_call_table self;
    snd_status status = snd_call_table_start(&self, profile, "callers", 1);

    (void)options;
    if (status == SND_OK) {
        self.table->matches_groups = 1;
        snd_calls_turn_pairs(&self.calls);
        status = snd_call_table_add_pairs(&self);
    }
    return snd_call_table_finish(&self, status, "total_ns", out);
}
