/* The samples of a profile: which count, whose they are. */
#include "view/samples.h"

#include "base/alloc.h"
#include "base/map.h"

#include <math.h>
#include <string.h>

int
snd_samples_exist(const snd_profile *profile)
{
    int exist = profile->columns[SND_METRIC_SAMPLES] != NULL;

    for (unsigned state = 0; state < SND_SAMPLE_STATES; state++)
        exist |= profile->columns[SND_SAMPLE_METRIC(state)] != NULL;
    return exist;
}

/* ---- functions ---- */

static uint64_t
hash_text(const char *text, uint64_t seed)
{
    return snd_hash(text, strlen(text), seed);
}

/* Regions of one name are one, wherever they are opened. */
static uint64_t
hash_site(const snd_profile_site *site)
{
    uint64_t hash = hash_text(site->name, (uint64_t)site->kind);

    if (site->kind == SND_SITE_REGION)
        return hash;
    return hash_text(site->file, hash ^ site->first_line);
}

static int
is_same_function(const snd_profile_site *a, const snd_profile_site *b)
{
    if (a->kind != b->kind || strcmp(a->name, b->name) != 0)
        return 0;
    return a->kind == SND_SITE_REGION || (a->first_line == b->first_line && strcmp(a->file, b->file) == 0);
}

static snd_status
find_function(snd_samples *self, snd_map *map, uint32_t site)
{
    const snd_profile_site *sites = self->profile->sites;
    uint64_t hash = hash_site(&sites[site]);
    uint32_t cursor = 0, found;

    while ((found = snd_map_next(map, hash, &cursor)) != SND_MAP_NONE)
        if (is_same_function(&sites[self->functions[found].site], &sites[site])) {
            self->functions_by_site[site] = found;
            return SND_OK;
        }
    snd_status status = snd_map_add(map, hash, self->function_count);
    if (status != SND_OK)
        return status;
    int is_own = sites[site].kind == SND_SITE_LINE && snd_own_has(&self->own, sites[site].file);
    self->functions_by_site[site] = self->function_count;
    self->functions[self->function_count++] = (snd_samples_function){site, is_own};
    return SND_OK;
}

static snd_status
find_functions(snd_samples *self)
{
    snd_map map = {0};
    snd_status status = SND_OK;

    for (uint32_t i = 0; i < self->profile->site_count && status == SND_OK; i++) {
        snd_site_kind kind = self->profile->sites[i].kind;
        self->functions_by_site[i] = SND_NONE;
        if (snd_site_is_sampled(kind) || kind == SND_SITE_REGION)
            status = find_function(self, &map, i);
    }
    snd_map_free(&map);
    return status;
}

uint32_t
snd_samples_function_of(const snd_samples *self, uint32_t node)
{
    return self->functions_by_site[self->profile->nodes[node].site];
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

static void
add_up(snd_samples *self)
{
    snd_samples_numbers numbers;

    for (uint32_t i = 0; i < self->profile->node_count; i++)
        if (snd_samples_read(self, i, &numbers))
            snd_samples_add(&self->all, &numbers);
    self->whole_ns = snd_samples_ranked(self, &self->all);
}

static snd_status
make_room(snd_samples *self)
{
    size_t sites = (size_t)self->profile->site_count + 1, nodes = (size_t)self->profile->node_count + 1;

    self->functions = snd_malloc(sites * sizeof *self->functions);
    self->functions_by_site = snd_malloc(sites * sizeof *self->functions_by_site);
    self->is_taken = snd_calloc(nodes, 1);
    self->ran_python = snd_calloc((size_t)self->profile->track_count + 1, 1);
    self->charged = snd_malloc(nodes * sizeof *self->charged);
    return self->functions == NULL || self->functions_by_site == NULL || self->is_taken == NULL ||
                   self->ran_python == NULL || self->charged == NULL
               ? SND_NO_MEMORY
               : SND_OK;
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

snd_status
snd_samples_weigh(const snd_profile *profile, const snd_view_options *options, snd_metric weight, snd_samples *out)
{
    snd_samples self = {.profile = profile, .options = options, .weight = weight};

    snd_own_start(&self.own, profile, options);
    snd_status status = make_room(&self);
    if (status == SND_OK)
        status = find_functions(&self);
    if (status == SND_OK) {
        mark_nodes(&self);
        add_up(&self);
        status = is_any_taken(&self) ? SND_OK : SND_NO_DATA;
    }
    if (status != SND_OK) {
        snd_samples_free(&self);
        return status;
    }
    *out = self;
    return SND_OK;
}

snd_status
snd_samples_make(const snd_profile *profile, const snd_view_options *options, snd_samples *out)
{
    if (!snd_samples_exist(profile))
        return SND_NO_DATA;
    snd_status status = snd_samples_weigh(profile, options, SND_METRIC_COUNT_OF, out);
    if (status != SND_OK || snd_samples_time(&out->all) != 0 || out->all.samples != 0)
        return status;
    snd_samples_free(out);
    return SND_NO_DATA;
}

void
snd_samples_free(snd_samples *self)
{
    snd_free(self->functions);
    snd_free(self->functions_by_site);
    snd_free(self->is_taken);
    snd_free(self->ran_python);
    snd_free(self->charged);
    *self = (snd_samples){0};
}

/* ---- sums ---- */

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
