/* The operators of a profile as Python has them: averages. */
#include "python/op_averages.h"
#include "python/profile.h"
#include "view/ops_averages.h"

static snd_status
make_averages(const snd_profile *now, const snd_profile *before, const snd_view_options *options, snd_op_averages *out)
{
    snd_ops ops = {0}, ops_before = {0};
    snd_status status = snd_ops_make(now, options, &ops);

    if (status == SND_OK && before != NULL)
        status = snd_ops_make(before, options, &ops_before);
    if (status == SND_OK)
        status = snd_ops_averages(&ops, before == NULL ? NULL : &ops_before, out);
    snd_ops_free(&ops);
    snd_ops_free(&ops_before);
    return status;
}

PyObject *
snd_profile_op_averages(snd_state *state, const snd_profile *now, const snd_profile *before,
                        const snd_view_options *options)
{
    snd_op_averages *list = snd_op_averages_new();
    snd_status status = list == NULL ? SND_NO_MEMORY : make_averages(now, before, options, list);

    if (status == SND_OK)
        return snd_op_averages_wrap(state, list);
    snd_op_averages_free(list);
    return snd_raise_status(status, NULL);
}
