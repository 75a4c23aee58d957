/* The list of metrics as data. */
#include "model/metric.h"

#include <string.h>

static const snd_metric_info infos[] = {
#define SND_METRIC_INFO(id, name, unit, real, rule, meaning) {name, unit, real, SND_RULE_##rule, meaning},
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
