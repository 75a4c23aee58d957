/* What each place did with memory, and how that went on. */
#include "probe/memory/memory_private.h"

#include "base/alloc.h"
#include "os/usage/usage.h"
#include "probe/core/snapshot.h"

#include <math.h>
#include <string.h>

#define TEMPORARY_NS 10000000u
#define PLOT_NS 50000000u     /* from one point to the next, at first */
#define HISTORY_NS 100000000u /* the same for the histories of places */

snd_memory_state snd_memory = {.peak_serial = 1};

uint64_t
snd_memory_weight_of_some(size_t size, double *share)
{
    *share = -expm1(-(double)size / (double)snd_memory.options.interval);
    return *share <= 0 ? 0 : (uint64_t)((double)size / *share + 0.5);
}

/* ---- the values of a place ---- */

snd_memory_values *
snd_memory_new_values(uint32_t node, uint64_t now_ns)
{
    uint32_t room = node < snd_memory.value_of_count ? 0 : snd_sample_state.tree.node_capacity;

    if (!snd_make_longer(&snd_memory.value_of, room, &snd_memory.value_of_count, sizeof *snd_memory.value_of, 0) ||
        !snd_make_room(&snd_memory.values, snd_memory.value_count + 1, &snd_memory.value_capacity,
                       sizeof *snd_memory.values))
        return NULL;
    snd_memory.values[snd_memory.value_count] = (snd_memory_values){
        .node = node,
        .area_ns = now_ns,
        .history.count = snd_memory.history_count, /* nothing so far */
    };
    snd_memory.value_of[node] = ++snd_memory.value_count;
    return snd_memory_values_of(node, now_ns);
}

static uint64_t
peak_of(const snd_memory_values *values)
{
    return values->peak_serial == snd_memory.peak_serial ? values->peak : values->live;
}

static double
peak_variance_of(const snd_memory_values *values)
{
    return values->peak_serial == snd_memory.peak_serial ? values->peak_variance : values->live_variance;
}

static void
add_area(snd_memory_values *values, uint64_t now_ns)
{
    if (now_ns > values->area_ns) {
        values->area += (double)values->live * (double)(now_ns - values->area_ns);
        values->area_ns = now_ns;
    }
}

/* Its live bytes are about to change: those at the last peak are kept first. */
static void
prepare_change(snd_memory_values *values, uint64_t now_ns)
{
    if (values->peak_serial != snd_memory.peak_serial) {
        values->peak = values->live;
        values->peak_variance = values->live_variance;
        values->peak_serial = snd_memory.peak_serial;
    }
    add_area(values, now_ns);
}

static void
add_size(const snd_memory_kept *kept, double share)
{
    unsigned power = kept->size == 0 ? 0 : 63u - (unsigned)__builtin_clzll(kept->size);
    int is_python = (kept->flags & SND_BLOCK_PYTHON) != 0;

    snd_memory.size_blocks[is_python][power] += 1 / share;
    snd_memory.size_bytes[is_python][power] += (double)kept->weight;
}

static double
share_of(const snd_memory_kept *kept)
{
    double share;

    (void)snd_memory_weight(kept->size, &share);
    return (kept->flags & SND_BLOCK_MAP) != 0 || share <= 0 ? 1 : share;
}

static double
variance_of(const snd_memory_kept *kept, double share)
{
    return (double)kept->weight * (double)kept->weight * (1 - share);
}

static void
subtract(double *from, double what)
{
    *from = *from > what ? *from - what : 0;
}

static void
add_live(snd_memory_values *values, const snd_memory_kept *kept, double variance, uint64_t now_ns)
{
    prepare_change(values, now_ns);
    values->live += kept->weight;
    values->live_variance += variance;
    snd_memory.live += kept->weight;
    snd_memory.live_variance += variance;
    if (snd_memory.live > snd_memory.since_peak) {
        snd_memory.since_peak = snd_memory.live;
        snd_memory.since_variance = snd_memory.live_variance;
    }
    if (snd_memory.live > snd_memory.peak) {
        snd_memory.peak = snd_memory.live;
        snd_memory.peak_variance = snd_memory.live_variance;
        snd_memory.peak_at_ns = now_ns;
        snd_memory.peak_serial++;
    }
}

void
snd_memory_add_block(uint32_t node, const snd_memory_kept *kept, uint64_t now_ns)
{
    snd_memory_values *values = snd_memory_values_of(node, now_ns);
    double share = share_of(kept), variance = variance_of(kept, share);

    if (values == NULL)
        return;
    *((kept->flags & SND_BLOCK_PYTHON) != 0 ? &values->python : &values->native) += kept->weight;
    values->blocks += 1 / share;
    values->variance += variance;
    values->taken++;
    add_size(kept, share);
    snd_memory.allocated += kept->weight;
    snd_memory.variance += variance;
    add_live(values, kept, variance, now_ns);
}

void
snd_memory_remove_block(const snd_memory_kept *kept, uint64_t now_ns)
{
    snd_memory_values *values = snd_memory_values_of(kept->node, now_ns);
    double variance = variance_of(kept, share_of(kept));

    if (values == NULL)
        return;
    prepare_change(values, now_ns);
    values->freed++;
    values->live -= kept->weight < values->live ? kept->weight : values->live;
    subtract(&values->live_variance, variance);
    if (now_ns - kept->at_ns < TEMPORARY_NS)
        values->temporary += kept->weight;
    snd_memory.live -= kept->weight < snd_memory.live ? kept->weight : snd_memory.live;
    subtract(&snd_memory.live_variance, variance);
}

void
snd_memory_return_block(const snd_memory_kept *kept, uint64_t now_ns)
{
    snd_memory_values *values = snd_memory_values_of(kept->node, now_ns);

    if (values == NULL)
        return;
    values->freed -= values->freed != 0;
    if (now_ns - kept->at_ns < TEMPORARY_NS)
        values->temporary -= kept->weight < values->temporary ? kept->weight : values->temporary;
    add_live(values, kept, variance_of(kept, share_of(kept)), now_ns);
}

/* ---- over time ---- */

static void
add_to_plots(uint64_t now_ns)
{
    uint64_t rss = snd_footprint_rss();

    snd_plot_add(&snd_memory.heap, now_ns, (double)snd_memory.live);
    snd_plot_add(&snd_memory.rss, now_ns, (double)rss);
    if (rss > snd_memory.rss_peak)
        snd_memory.rss_peak = rss;
}

static void
add_to_history(snd_memory_values *values, int is_halved)
{
    snd_history *history = &values->history;

    if (is_halved)
        for (uint32_t i = 0; i < SND_HISTORY_POINTS / 2; i++)
            history->points[i] = history->points[2 * i + 1];
    history->points[snd_memory.history_count] = (snd_history_point){values->live, values->taken, values->freed};
    history->count = snd_memory.history_count + 1;
}

static void
add_to_histories(void)
{
    int is_full = snd_memory.history_count == SND_HISTORY_POINTS;

    if (is_full) {
        snd_memory.history_count /= 2;
        snd_memory.history_step_ns *= 2;
    }
    for (uint32_t i = 0; i < snd_memory.value_count; i++)
        add_to_history(&snd_memory.values[i], is_full);
    snd_memory.history_count++;
}

void
snd_memory_tick(uint64_t now_ns)
{
    if (SND_GET(snd_memory.serial) == 0)
        return;
    if (now_ns >= snd_memory.heap.next_ns)
        add_to_plots(now_ns);
    while (now_ns >= snd_memory.history_next_ns) {
        add_to_histories();
        snd_memory.history_next_ns += snd_memory.history_step_ns;
    }
}

/* ---- into a profile ---- */

static snd_value
rounded(double value)
{
    return (snd_value){.whole = (uint64_t)(value + 0.5)};
}

static snd_status
put_history(snd_profile *profile, const snd_memory_values *values, uint32_t id)
{
    snd_history history = values->history;

    if (history.count < SND_HISTORY_POINTS)
        history.points[history.count++] = (snd_history_point){values->live, values->taken, values->freed};
    return snd_profile_set_history(profile, id, &history);
}

static snd_status
put_values(snd_snapshot *snapshot, snd_profile *profile, snd_memory_values *values, uint32_t id)
{
    uint64_t now = snd_clock_monotonic_ns();
    if (snd_memory.end_ns != 0)
        now = snd_memory.end_ns;
    double length = now > snd_memory.start_ns ? (double)(now - snd_memory.start_ns) : 1;
    add_area(values, now);
    const snd_number numbers[] = {
        {SND_METRIC_ALLOC_PYTHON, 1, {.whole = values->python}},
        {SND_METRIC_ALLOC_NATIVE, 1, {.whole = values->native}},
        {SND_METRIC_ALLOC_BLOCKS, 1, rounded(values->blocks)},
        {SND_METRIC_ALLOC_VARIANCE, 1, {.real = values->variance}},
        {SND_METRIC_TEMPORARY, 1, {.whole = values->temporary}},
        {SND_METRIC_LIVE, 1, {.whole = values->live}},
        {SND_METRIC_LIVE_AVERAGE, 1, rounded(values->area / length)},
        {SND_METRIC_LIVE_PEAK, 1, {.whole = peak_of(values)}},
        {SND_METRIC_PEAK_VARIANCE, 1, {.real = peak_variance_of(values)}},
        {SND_METRIC_TAKEN, 1, {.whole = values->taken}},
        {SND_METRIC_FREED, 1, {.whole = values->freed}},
        {SND_METRIC_COPIED, 1, {.whole = values->copied}},
        {SND_METRIC_COPIES, 1, rounded(values->copies)},
        {SND_METRIC_COPY_VARIANCE, 1, {.real = values->copy_variance}},
    };
    snd_status status = SND_PUT_NUMBERS(snapshot, profile, id, numbers);
    if (status == SND_OK && values->taken != 0)
        status = put_history(profile, values, id);
    return status;
}

snd_status
snd_memory_put_all(snd_snapshot *snapshot, snd_profile *profile)
{
    snd_status status = SND_OK;

    for (uint32_t i = 0; i < snd_memory.value_count && status == SND_OK; i++) {
        uint32_t node = snd_memory.values[i].node;
        if (node < snapshot->sample_count && /* else it came after the sampler's nodes were put there */
            (int32_t)(snd_sample_state.tree.nodes[node].changed - snapshot->memory_tick) >= 0)
            status = put_values(snapshot, profile, &snd_memory.values[i], snapshot->sample_nodes[node]);
    }
    if (status == SND_OK)
        snapshot->memory_tick = snd_sample_state.tree.tick;
    return status;
}

static snd_status
put_sizes(snd_profile *profile)
{
    snd_block_size sizes[SND_BLOCK_SIZES];

    for (unsigned i = 0; i < SND_BLOCK_SIZES; i++)
        sizes[i] = (snd_block_size){
            .python_blocks = rounded(snd_memory.size_blocks[1][i]).whole,
            .python_bytes = rounded(snd_memory.size_bytes[1][i]).whole,
            .native_blocks = rounded(snd_memory.size_blocks[0][i]).whole,
            .native_bytes = rounded(snd_memory.size_bytes[0][i]).whole,
        };
    return snd_profile_set_sizes(profile, sizes);
}

static uint64_t
own_size(void)
{
    return (snd_memory.blocks.places == NULL ? 0 : (uint64_t)(snd_memory.blocks.mask + 1) * sizeof(snd_memory_block)) +
           (uint64_t)snd_memory.value_capacity * sizeof *snd_memory.values + sizeof snd_memory +
           (uint64_t)snd_sample_state.tree.node_capacity * sizeof *snd_sample_state.tree.nodes;
}

static snd_status
describe(snd_profile *profile, uint64_t origin_ns)
{
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {
        {"memory_interval_bytes", snd_memory.options.exact ? 0 : snd_memory.options.interval},
        {"memory_exact", (uint64_t)snd_memory.options.exact},
        {"peak_bytes", snd_memory.peak},
        {"peak_at_ns", snd_memory.peak_at_ns > origin_ns ? snd_memory.peak_at_ns - origin_ns : 0},
        {"peak_error_bytes", rounded(sqrt(snd_memory.peak_variance)).whole},
        {"live_bytes", snd_memory.live},
        {"alloc_bytes", snd_memory.allocated},
        {"alloc_error_bytes", rounded(sqrt(snd_memory.variance)).whole},
        {"copied_bytes", snd_memory.copied},
        {"copy_error_bytes", rounded(sqrt(snd_memory.copy_variance)).whole},
        {"rss_start_bytes", snd_memory.rss_start},
        {"rss_peak_bytes", snd_memory.rss_peak},
        {"history_step_ns", snd_memory.history_step_ns},
        {"memory_unseen_bytes", SND_GET(snd_memory.unseen)},
        {"own_memory_bytes", own_size()},
    };
    snd_status status = SND_OK;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0] && status == SND_OK; i++)
        status = snd_profile_set_info_number(profile, numbers[i].key, numbers[i].value);
    if (status == SND_OK)
        status = snd_plot_put(&snd_memory.heap, profile, "heap", "bytes", origin_ns);
    if (status == SND_OK)
        status = snd_plot_put(&snd_memory.rss, profile, "rss", "bytes", origin_ns);
    return status == SND_OK ? put_sizes(profile) : status;
}

snd_status
snd_memory_describe(snd_profile *profile)
{
    snd_lock_take(&snd_sample_state.lock);
    snd_status status = describe(profile, snd_sample_state.origin_ns);
    snd_lock_leave(&snd_sample_state.lock);
    return status;
}

/* ---- ending, and beginning anew ---- */

void
snd_memory_settle(void)
{
    uint64_t now = snd_clock_monotonic_ns();

    for (uint32_t i = 0; i < snd_memory.value_count; i++) {
        add_area(&snd_memory.values[i], now);
        snd_sample_state.tree.nodes[snd_memory.values[i].node].changed = snd_sample_state.tree.tick;
    }
    add_to_plots(now); /* also where it was too short for another */
    snd_memory.end_ns = now;
}

static void
forget_numbers(uint64_t now_ns)
{
    snd_memory.since_peak = snd_memory.live;
    snd_memory.since_variance = snd_memory.live_variance;
    snd_memory.peak = snd_memory.live;
    snd_memory.peak_variance = snd_memory.live_variance;
    snd_memory.peak_at_ns = now_ns;
    snd_memory.peak_serial++;
    snd_memory.allocated = snd_memory.copied = 0;
    snd_memory.variance = snd_memory.copy_variance = 0;
    SND_SET(snd_memory.unseen, 0);
    memset(snd_memory.size_blocks, 0, sizeof snd_memory.size_blocks);
    memset(snd_memory.size_bytes, 0, sizeof snd_memory.size_bytes);
    snd_plot_clear(&snd_memory.heap, PLOT_NS);
    snd_plot_clear(&snd_memory.rss, PLOT_NS);
    snd_memory.history_count = 0;
    snd_memory.history_step_ns = HISTORY_NS;
    snd_memory.history_next_ns = now_ns + HISTORY_NS;
    snd_memory.start_ns = now_ns;
    snd_memory.end_ns = 0;
    snd_memory.rss_start = snd_memory.rss_peak = snd_footprint_rss();
}

void
snd_memory_begin(void)
{
    uint64_t now = snd_clock_monotonic_ns();

    if (snd_memory.value_count == 0) {
        snd_memory_clear();
        return;
    }
    for (uint32_t i = 0; i < snd_memory.value_count; i++) {
        prepare_change(&snd_memory.values[i], now);
        snd_memory.values[i].live = 0;
        snd_memory.values[i].live_variance = 0;
    }
    snd_memory.live = 0;
    snd_memory.live_variance = 0;
    snd_memory.end_ns = 0;
}

void
snd_memory_reset(void)
{
    uint64_t now = snd_clock_monotonic_ns();

    snd_lock_take(&snd_sample_state.lock);
    for (uint32_t i = 0; i < snd_memory.value_count; i++) {
        snd_memory_values *values = &snd_memory.values[i];
        snd_memory_values kept = {
            .node = values->node, .area_ns = now, .live = values->live, .live_variance = values->live_variance};
        *values = kept;
        snd_sample_state.tree.nodes[kept.node].changed = snd_sample_state.tree.tick;
    }
    forget_numbers(now);
    snd_lock_leave(&snd_sample_state.lock);
}

void
snd_memory_reset_peak(void)
{
    snd_lock_take(&snd_sample_state.lock);
    snd_memory.since_peak = snd_memory.live;
    snd_memory.since_variance = snd_memory.live_variance;
    snd_lock_leave(&snd_sample_state.lock);
}

void
snd_memory_clear(void)
{
    snd_memory_blocks_free(&snd_memory.blocks);
    snd_memory_maps_free(&snd_memory.maps);
    snd_free(snd_memory.values);
    snd_free(snd_memory.value_of);
    snd_memory.values = NULL;
    snd_memory.value_of = NULL;
    snd_memory.value_count = snd_memory.value_capacity = snd_memory.value_of_count = 0;
    snd_memory.live = 0;
    snd_memory.live_variance = 0;
    snd_memory_forget_stack();
    forget_numbers(snd_clock_monotonic_ns());
}

void
snd_memory_get(snd_memory_now *out)
{
    snd_lock_take(&snd_sample_state.lock);
    *out = (snd_memory_now){
        .live = snd_memory.live,
        .peak = snd_memory.since_peak,
        .allocated = snd_memory.allocated,
        .copied = snd_memory.copied,
        .blocks = snd_memory.blocks.count,
        .live_error = sqrt(snd_memory.live_variance),
        .peak_error = sqrt(snd_memory.since_variance),
    };
    snd_lock_leave(&snd_sample_state.lock);
}
