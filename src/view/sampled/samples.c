/* The samples of a profile: which count, whose they are. */
#include "view/sampled/samples.h"

#include "base/alloc.h"

#include <math.h>
#include <string.h>

/* ---- functions ---- */

/* A profile keeps each text once: the addresses tell them apart. Regions of one name are one, wherever they are opened.
 */
static uint32_t
find_function(const snd_profile_site *site, snd_intern *functions)
{
    int is_region = site->kind == SND_SITE_REGION;
    const uint64_t key[] = {(uint64_t)site->kind << 32 | (is_region ? 0 : site->first_line), (uintptr_t)site->name,
                            is_region ? 0 : (uintptr_t)site->file};
    uint32_t id;

    snd_work_need(snd_intern_add(functions, (const char *)key, sizeof key, &id));
    return id;
}

static void
find_functions(snd_samples *self)
{
    snd_intern *functions = snd_intern_new();

    for (uint32_t i = 0; i < self->profile->site_count; i++) {
        const snd_profile_site *site = &self->profile->sites[i];
        self->functions_by_site[i] = SND_NONE;
        if (!snd_site_is_sampled(site->kind) && site->kind != SND_SITE_REGION)
            continue;
        self->functions_by_site[i] = find_function(site, functions);
        if (self->functions_by_site[i] != self->function_count)
            continue;
        int is_own = snd_site_is_code(site) && snd_own_has(&self->own, site->file);
        self->functions[self->function_count++] = (snd_samples_function){i, is_own};
    }
}

uint32_t
snd_samples_function_of(const snd_samples *self, uint32_t node)
{
    return self->functions_by_site[self->profile->nodes[node].site];
}

uint32_t
snd_samples_by_function(const snd_rollup *rows, uint32_t node)
{
    const snd_samples *self = rows->context;
    uint32_t function = snd_samples_function_of(self, node);

    return function == SND_NONE ? self->function_count : function;
}

const snd_profile_site *
snd_samples_site(const snd_samples *self, uint32_t function)
{
    static const snd_profile_site nowhere = {SND_SITE_OTHER, SND_NO_FRAME, "", 0, "", 0, 0};

    return function < self->function_count ? &self->profile->sites[self->functions[function].site] : &nowhere;
}

/* ---- nodes ---- */

static int
is_like(const char *wanted, const char *name)
{
    return wanted == NULL || strcmp(wanted, name) == 0;
}

/* A parent's id is smaller than its children's: what holds above is known before. */
static void
mark_nodes(snd_samples *self)
{
    const snd_profile *profile = self->profile;

    for (uint32_t i = 0; i < profile->node_count; i++) {
        const snd_profile_node *node = &profile->nodes[i];
        const snd_profile_site *site = &profile->sites[node->site];
        uint32_t function = self->functions_by_site[node->site];
        int is_root = node->parent == SND_NONE;
        int is_own = function != SND_NONE && self->functions[function].is_own;
        int is_apart = is_root || (site->kind == SND_SITE_OTHER && strcmp(site->name, SND_SITE_COLLECTION) == 0);

        self->charged[i] = is_own ? i : is_apart ? SND_NONE : self->charged[node->parent];
        self->is_taken[i] = !is_root && self->is_taken[node->parent];
        if (self->options->region == NULL ? is_root
                                          : site->kind == SND_SITE_REGION && is_like(self->options->region, site->name))
            self->is_taken[i] = (unsigned char)is_like(self->options->thread, profile->tracks[node->track].name);
        self->ran_python[node->track] |= site->kind == SND_SITE_LINE;
    }
}

/* Whether time in this state counts on the node's track. */
static int
counts(const snd_samples *self, uint32_t node, unsigned state)
{
    return SND_SAMPLE_IS_CPU(state) || (!self->options->cpu_only && self->ran_python[self->profile->nodes[node].track]);
}

int
snd_samples_read(const snd_samples *self, uint32_t node, snd_samples_numbers *out)
{
    uint64_t any = 0, left_out = 0;

    *out = (snd_samples_numbers){0};
    if (!self->is_taken[node])
        return 0;
    if (self->weight != SND_METRIC_COUNT_OF)
        return (out->states[0] = snd_profile_whole(self->profile, node, self->weight)) != 0;
    for (unsigned state = 0; state < SND_SAMPLE_STATES; state++) {
        uint64_t ns = snd_profile_whole(self->profile, node, SND_SAMPLE_METRIC(state));
        if (counts(self, node, state))
            any |= out->states[state] = ns;
        else
            left_out |= ns;
    }
    if (any != 0 || left_out == 0) /* where nothing counts, no sample does */
        out->samples = snd_profile_whole(self->profile, node, SND_METRIC_SAMPLES);
    return any != 0 || out->samples != 0;
}

static snd_metric_set
counted(const snd_rollup *rows, uint32_t node)
{
    const snd_samples *self = rows->context;
    snd_samples_numbers numbers;
    snd_metric_set mask = 0;

    if (!snd_samples_read(self, node, &numbers))
        return 0;
    if (self->weight != SND_METRIC_COUNT_OF)
        return SND_METRIC_BIT(self->weight);
    for (unsigned state = 0; state < SND_SAMPLE_STATES; state++)
        mask |= (snd_metric_set)(numbers.states[state] != 0) << SND_SAMPLE_METRIC(state);
    return mask | (snd_metric_set)(numbers.samples != 0) << SND_METRIC_SAMPLES;
}

void
snd_samples_rollup(const snd_samples *self, snd_rollup_row *row, snd_rollup *out)
{
    snd_rollup_make(self->profile, row, counted, (void *)self, out);
}

snd_samples_numbers
snd_samples_row(const snd_rollup *rows, uint32_t row)
{
    snd_metric weight = ((const snd_samples *)rows->context)->weight;
    snd_samples_numbers numbers = {.samples = snd_rollup_whole(rows, row, SND_METRIC_SAMPLES)};

    for (unsigned state = 0; state < SND_SAMPLE_STATES; state++)
        numbers.states[state] = snd_rollup_whole(rows, row, SND_SAMPLE_METRIC(state));
    if (weight != SND_METRIC_COUNT_OF)
        numbers.states[0] = snd_rollup_whole(rows, row, weight);
    return numbers;
}

static uint32_t
in_one(const snd_rollup *rows, uint32_t node)
{
    (void)rows, (void)node;
    return 0;
}

static void
add_up(snd_samples *self)
{
    snd_rollup rows;

    snd_samples_rollup(self, in_one, &rows);
    if (rows.count != 0)
        self->all = snd_samples_row(&rows, 0);
    self->whole_ns = snd_samples_ranked(self, &self->all);
}

static void
make_room(snd_samples *self)
{
    size_t sites = (size_t)self->profile->site_count + 1, nodes = (size_t)self->profile->node_count + 1;

    self->functions = snd_malloc(sites * sizeof *self->functions);
    self->functions_by_site = snd_malloc(sites * sizeof *self->functions_by_site);
    self->is_taken = snd_calloc(nodes, 1);
    self->ran_python = snd_calloc((size_t)self->profile->track_count + 1, 1);
    self->charged = snd_malloc(nodes * sizeof *self->charged);
}

/* Whether anything is of the regions and threads that were asked for. */
static int
is_any_taken(const snd_samples *self)
{
    for (uint32_t i = 0; i < self->profile->node_count; i++)
        if (self->is_taken[i])
            return 1;
    return self->options->region == NULL && self->options->thread == NULL;
}

void
snd_samples_weigh(const snd_profile *profile, const snd_view_options *options, snd_metric weight, snd_samples *out)
{
    snd_samples self = {.profile = profile, .options = options, .weight = weight};

    snd_own_start(&self.own, profile, options);
    make_room(&self);
    find_functions(&self);
    mark_nodes(&self);
    add_up(&self);
    if (!is_any_taken(&self))
        snd_work_end(SND_NO_DATA);
    *out = self;
}

void
snd_samples_make(const snd_profile *profile, const snd_view_options *options, snd_samples *out)
{
    if (!snd_profile_has_samples(profile))
        snd_work_end(SND_NO_DATA);
    snd_samples_weigh(profile, options, SND_METRIC_COUNT_OF, out);
    if (!snd_samples_is_any(&out->all))
        snd_work_end(SND_NO_DATA);
}

/* ---- sums ---- */

int
snd_samples_is_any(const snd_samples_numbers *numbers)
{
    return numbers->samples != 0 || snd_samples_time(numbers) != 0;
}

void
snd_samples_add(snd_samples_numbers *sum, const snd_samples_numbers *more)
{
    for (unsigned state = 0; state < SND_SAMPLE_STATES; state++)
        sum->states[state] += more->states[state];
    sum->samples += more->samples;
}

uint64_t
snd_samples_cpu(const snd_samples_numbers *numbers)
{
    uint64_t sum = 0;

    for (unsigned state = 0; state < SND_SAMPLE_STATES; state++)
        sum += SND_SAMPLE_IS_CPU(state) ? numbers->states[state] : 0;
    return sum;
}

uint64_t
snd_samples_waiting(const snd_samples_numbers *numbers)
{
    uint64_t sum = 0;

    for (unsigned state = 0; state < SND_SAMPLE_STATES; state++)
        sum += SND_SAMPLE_IS_CPU(state) ? 0 : numbers->states[state];
    return sum;
}

uint64_t
snd_samples_time(const snd_samples_numbers *numbers)
{
    return snd_samples_cpu(numbers) + snd_samples_waiting(numbers);
}

uint64_t
snd_samples_waited(const snd_samples_numbers *numbers)
{
    return snd_samples_waiting(numbers) - numbers->states[SND_METRIC_WAIT_CPU - SND_METRIC_PYTHON];
}

uint64_t
snd_samples_ranked(const snd_samples *self, const snd_samples_numbers *numbers)
{
    return self->options->with_waiting ? snd_samples_time(numbers) : snd_samples_cpu(numbers);
}

int
snd_samples_compare(const snd_samples *self, const snd_samples_numbers *a, const snd_samples_numbers *b)
{
    uint64_t left = snd_samples_ranked(self, a), right = snd_samples_ranked(self, b);

    if (left == right) {
        left = snd_samples_time(a);
        right = snd_samples_time(b);
    }
    return left > right ? -1 : left < right;
}

static double
percent_of(uint64_t ns, uint64_t whole)
{
    return whole == 0 ? 0 : 100.0 * (double)ns / (double)whole;
}

double
snd_samples_share(const snd_samples *self, uint64_t ns)
{
    return percent_of(ns, self->whole_ns);
}

double
snd_samples_waiting_share(const snd_samples *self, const snd_samples_numbers *numbers)
{
    uint64_t whole = self->options->with_waiting ? self->whole_ns : snd_samples_waiting(&self->all);

    return percent_of(snd_samples_waiting(numbers), whole);
}

int
snd_samples_is_large(const snd_samples *self, const snd_samples_numbers *numbers, double percent)
{
    return snd_samples_share(self, snd_samples_ranked(self, numbers)) >= percent ||
           (!self->options->with_waiting &&
            percent_of(snd_samples_waited(numbers), snd_samples_waited(&self->all)) >= percent);
}

double
snd_samples_error(const snd_samples *self, double share)
{
    double part = share < 0 ? 0 : share > 100 ? 1 : share / 100, time = (double)snd_samples_time(&self->all);
    double samples = time > 0 ? (double)self->all.samples * (double)self->whole_ns / time : 0;

    return samples > 0 ? 196 * sqrt(part * (1 - part) / samples) : 100; /* of the samples, those of the whole */
}
