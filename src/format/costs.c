/* The costs of stacks. */
#include "format/costs.h"

#include <string.h>

const snd_cost_info snd_costs[SND_COST_COUNT] = {
#define SND_COST_ENTRY(id, name, unit, metrics, meaning) {name, unit, metrics, meaning},
    SND_COST_MAP(SND_COST_ENTRY)
#undef SND_COST_ENTRY
};

snd_cost
snd_cost_find(const char *name)
{
    unsigned cost = 0;
    while (cost < SND_COST_COUNT && strcmp(snd_costs[cost].name, name) != 0)
        cost++;
    return (snd_cost)cost;
}

void
snd_cost_add(snd_cost_values *sum, const snd_cost_values *more)
{
    for (unsigned i = 0; i < SND_COST_COUNT; i++)
        sum->of[i] += more->of[i];
}

int
snd_cost_is_any(const snd_cost_values *values)
{
    for (unsigned i = 0; i < SND_COST_COUNT; i++)
        if (values->of[i] != 0)
            return 1;
    return 0;
}

snd_cost_values
snd_cost_read(const snd_profile *profile, uint32_t node)
{
    uint64_t present = profile->nodes[node].present;
    snd_site_kind kind = profile->sites[profile->nodes[node].site].kind;
    snd_cost_values values = {{0}};

    if (kind == SND_SITE_THREAD) {
        values.of[SND_COST_TIME] = snd_profile_whole(profile, node, SND_METRIC_SELF);
        return values;
    }
    for (unsigned i = 0; i < SND_COST_COUNT; i++)
        for (uint64_t left = present & snd_costs[i].metrics; left != 0; left &= left - 1)
            values.of[i] += snd_profile_whole(profile, node, (snd_metric)__builtin_ctzll(left));
    return values;
}
