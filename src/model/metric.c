/* The list of metrics as data. */
#include "model/metric.h"

#include <string.h>

static const snd_metric_info infos[] = {
#define SND_METRIC_INFO(id, name, unit, real, rule, merge_rule, meaning) \
    {name, unit, real, SND_RULE_##rule, SND_RULE_##merge_rule, meaning},
    SND_METRIC_MAP(SND_METRIC_INFO)
#undef SND_METRIC_INFO
};

const snd_metric_info *
snd_metric_get(snd_metric metric)
{
    return &infos[metric];
}

snd_metric
snd_metric_find(const char *name)
{
    for (unsigned i = 0; i < SND_METRIC_COUNT_OF; i++)
        if (strcmp(infos[i].name, name) == 0)
            return (snd_metric)i;
    return SND_METRIC_COUNT_OF;
}

int
snd_metric_is_less(snd_metric metric, snd_value a, snd_value b)
{
    return infos[metric].is_real ? a.real < b.real : a.whole < b.whole;
}

snd_value
snd_metric_combine(snd_metric metric, snd_metric_rule rule, snd_value known, snd_value added)
{
    switch (rule) {
    case SND_RULE_LEAST:
        return snd_metric_is_less(metric, added, known) ? added : known;
    case SND_RULE_MOST:
        return snd_metric_is_less(metric, known, added) ? added : known;
    case SND_RULE_LAST:
        return added;
    case SND_RULE_EVERY:
        return (snd_value){.whole = known.whole != 0 && added.whole != 0};
    default:
        if (infos[metric].is_real)
            return (snd_value){.real = known.real + added.real};
        return (snd_value){.whole = known.whole + added.whole};
    }
}
