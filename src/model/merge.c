/* Several processes as one profile. */
#include "model/merge.h"

#include "base/alloc.h"
#include "model/merge_private.h"
#include "model/processes.h"

#include <string.h>

snd_merger *
snd_merger_new(void)
{
    snd_merger *self = snd_calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    self->sum = snd_profile_new();
    self->sites = snd_intern_new();
    if (self->sum == NULL || self->sites == NULL) {
        snd_merger_free(self);
        return NULL;
    }
    return self;
}

void
snd_merger_free(snd_merger *self)
{
    if (self == NULL)
        return;
    snd_profile_free(self->sum);
    snd_intern_free(self->sites);
    snd_map_free(&self->nodes);
    snd_map_free(&self->tracks);
    snd_map_free(&self->sources);
    snd_free(self->twins);
    snd_free(self->extras);
    snd_free(self->facts);
    snd_free(self->lines);
    snd_free(self->first_line);
    snd_free(self);
}

const snd_profile *
snd_merger_sum(const snd_merger *self)
{
    return self->sum;
}

uint64_t
snd_merger_offset(const snd_merger *self, uint32_t process)
{
    return self->sum->processes[process].offset_ns;
}

uint32_t
snd_merger_line(const snd_merger *self, uint32_t process)
{
    return self->first_line[process];
}

/* ---- processes and tracks ---- */

snd_status
snd_merger_add_process(snd_merger *self, const snd_process *process, uint32_t *id)
{
    return snd_profile_add_process(self->sum, process, id);
}

snd_status
snd_merger_add_track(snd_merger *self, uint32_t process, const snd_profile_track *track)
{
    snd_profile_track line = *track;

    if (!snd_make_room(&self->lines, self->line_count + 1, &self->line_capacity, sizeof line))
        return SND_NO_MEMORY;
    line.process = process;
    snd_status status = snd_profile_keep_text(self->sum, track->name, &line.name);
    if (status == SND_OK)
        self->lines[self->line_count++] = line;
    return status;
}

static int
is_main(const snd_profile_track *track)
{
    return track->thread_id == track->process_id;
}

/* The track of the sum for threads of this name. */
static snd_status
find_track(snd_merger *self, const snd_profile_track *line, uint32_t *id)
{
    uint64_t hash = snd_hash(line->name, strlen(line->name), (uint64_t)is_main(line));
    uint32_t cursor = 0;

    while ((*id = snd_map_next(&self->tracks, hash, &cursor)) != SND_MAP_NONE) {
        const snd_profile_track *known = &self->sum->tracks[*id];
        if (is_main(known) == is_main(line) && known->name == line->name)
            return SND_OK;
    }
    snd_profile_track added = *line;
    added.thread_count = 0;
    added.start_ns = UINT64_MAX;
    added.end_ns = added.dropped_entries = added.dropped_events = 0;
    snd_status status = snd_profile_add_track(self->sum, &added, id);
    return status == SND_OK ? snd_map_add(&self->tracks, hash, *id) : status;
}

/* What is dropped stays with the line, so that a sum over all tracks is right. */
static void
add_to_track(snd_profile_track *track, const snd_profile_track *line)
{
    int was_main = is_main(track);

    if (track->process != line->process)
        track->process = SND_NONE;
    if (track->process_id != line->process_id)
        track->process_id = 0;
    if (was_main)
        track->thread_id = track->process_id;
    else if (line->thread_id < track->thread_id)
        track->thread_id = line->thread_id;
    track->thread_count += line->thread_count;
    if (line->start_ns < track->start_ns)
        track->start_ns = line->start_ns;
    if (line->end_ns > track->end_ns)
        track->end_ns = line->end_ns;
}

/* Two threads of one number in two processes must not become a main thread. */
static void
keep_apart(snd_profile_track *track, int is_a_main)
{
    if (!is_a_main && is_main(track))
        track->thread_id = UINT32_MAX;
}

static snd_status
sum_lines(snd_merger *self)
{
    snd_status status = SND_OK;

    for (uint32_t i = 0; i < self->line_count && status == SND_OK; i++) {
        snd_profile_track *line = &self->lines[i];
        uint64_t offset = snd_merger_offset(self, line->process);
        uint32_t id;
        line->start_ns += offset;
        line->end_ns += offset;
        status = find_track(self, line, &id);
        if (status != SND_OK)
            break;
        int is_a_main = is_main(line);
        add_to_track(&self->sum->tracks[id], line);
        keep_apart(&self->sum->tracks[id], is_a_main);
        line->summed_on = id + 1;
    }
    return status;
}

/* A process without a track has none in any list. */
snd_status
snd_merger_start(snd_merger *self)
{
    uint32_t id;
    snd_processes_align(self->sum->processes, self->sum->process_count, &self->length_ns);
    self->first_line = snd_calloc(self->sum->process_count + 1u, sizeof *self->first_line);
    snd_status status = self->first_line == NULL ? SND_NO_MEMORY : sum_lines(self);
    uint32_t first = self->sum->track_count;
    for (uint32_t i = 0; i < self->line_count && status == SND_OK; i++) {
        if (i == 0 || self->lines[i].process != self->lines[i - 1].process)
            self->first_line[self->lines[i].process] = first + i;
        status = snd_profile_add_track(self->sum, &self->lines[i], &id);
    }
    return status;
}

/* ---- sites ---- */

static snd_status
make_twins(snd_merger *self)
{
    if (self->sum->site_count <= self->twins_count)
        return SND_OK;
    uint32_t count = self->sum->site_count + self->sum->site_count / 2 + 64;
    return snd_make_longer(&self->twins, count, &self->twins_count, sizeof *self->twins, 0) ? SND_OK : SND_NO_MEMORY;
}

/* The sum's site with these texts and this number among its twins; a new one if there is none. The texts are kept by
 * the sum: their addresses tell them apart. */
static snd_status
find_twin(snd_merger *self, const snd_profile_site *wanted, uint32_t *id)
{
    const uint64_t key[] = {(uint64_t)wanted->kind << 32 | wanted->line, (uintptr_t)wanted->name,
                            (uintptr_t)wanted->file, (uintptr_t)wanted->detail,
                            (uint64_t)wanted->first_line << 32 | wanted->twin};
    snd_status status = snd_intern_add(self->sites, (const char *)key, sizeof key, id);

    if (status != SND_OK || *id < self->sum->site_count)
        return status;
    status = snd_profile_add_site(self->sum, wanted, id);
    return status == SND_OK ? make_twins(self) : status;
}

/* Sites of one profile with the same texts are not the same: the second of them is the second of the sum's. */
static snd_status
find_site(snd_merger *self, const snd_profile_site *site, uint32_t *id)
{
    snd_profile_site wanted = *site;
    snd_status status = snd_profile_keep_text(self->sum, site->name, &wanted.name);
    if (status == SND_OK)
        status = snd_profile_keep_text(self->sum, site->file, &wanted.file);
    if (status == SND_OK)
        status = snd_profile_keep_text(self->sum, site->detail, &wanted.detail);
    wanted.twin = 0;
    if (status == SND_OK)
        status = find_twin(self, &wanted, id);
    if (status != SND_OK)
        return status;
    snd_merge_twins *twins = &self->twins[*id];
    if (twins->turn != self->turn)
        *twins = (snd_merge_twins){.turn = self->turn};
    wanted.twin = twins->count++;
    return wanted.twin == 0 ? SND_OK : find_twin(self, &wanted, id);
}

/* ---- nodes ---- */

static snd_status
make_extra(snd_merger *self)
{
    if (!snd_make_room(&self->extras, self->sum->node_count, &self->extra_capacity, sizeof *self->extras))
        return SND_NO_MEMORY;
    while (self->extra_count < self->sum->node_count)
        self->extras[self->extra_count++] = (snd_merge_node){0};
    return SND_OK;
}

/* A root is found by its track, whatever its thread was called at first. */
static int
is_node(const snd_profile_node *known, uint32_t parent, uint32_t track, uint32_t site)
{
    return known->parent == parent && (parent == SND_NONE ? known->track == track : known->site == site);
}

/* Processes that run the same program have their nodes in much the same order: `guess` is looked at first. */
static snd_status
find_node(snd_merger *self, const snd_profile_node *wanted, uint32_t guess, uint32_t *id)
{
    uint32_t parent = wanted->parent, track = wanted->track, site = wanted->site;
    const uint32_t key[] = {parent, parent == SND_NONE ? track : site};
    uint32_t cursor = 0;

    *id = guess;
    if (guess < self->sum->node_count && is_node(&self->sum->nodes[guess], parent, track, site))
        return SND_OK;
    uint64_t hash = snd_hash(key, sizeof key, 0);
    while ((*id = snd_map_next(&self->nodes, hash, &cursor)) != SND_MAP_NONE)
        if (is_node(&self->sum->nodes[*id], parent, track, site))
            return SND_OK;
    snd_status status = snd_profile_add_node(self->sum, parent, track, site, id);
    if (status == SND_OK)
        status = snd_map_add(&self->nodes, hash, *id);
    return status == SND_OK ? make_extra(self) : status;
}

/* ---- metrics ---- */

typedef struct adding {
    snd_merger *merger;
    const snd_profile *profile;
    uint64_t length_ns; /* of the process */
    uint64_t end_ns;    /* of the track of the node at hand, as the sum counts */
} adding;

/* Whether the sum's value is to be kept as it is: one from a track that ended later is there. Of two that ended at the
 * same moment the larger counts. */
static int
is_later_known(const adding *self, uint32_t to, snd_metric metric, snd_value added)
{
    snd_merge_node *extra = &self->merger->extras[to];
    const snd_profile *sum = self->merger->sum;

    if (snd_profile_has(sum, to, metric) &&
        (extra->last_ns > self->end_ns ||
         (extra->last_ns == self->end_ns && !snd_metric_is_less(metric, sum->columns[metric][to], added))))
        return 1;
    extra->last_ns = self->end_ns;
    return 0;
}

static snd_status
add_value(const adding *self, uint32_t from, uint32_t to, snd_metric metric)
{
    snd_profile *sum = self->merger->sum;
    snd_metric_rule rule = snd_metric_get(metric)->merge_rule;
    snd_value added = self->profile->columns[metric][from];

    if ((rule == SND_RULE_LEAST || rule == SND_RULE_LAST) && !snd_profile_was_entered(self->profile, from))
        return SND_OK;
    if (rule == SND_RULE_LAST)
        return is_later_known(self, to, metric, added) ? SND_OK : snd_profile_set(sum, to, metric, added);
    if (rule == SND_RULE_AVERAGE) {
        self->merger->extras[to].weighted += (unsigned __int128)added.whole * self->length_ns;
        added.whole = 0; /* known at the end */
    }
    if (rule == SND_RULE_EVERY && self->merger->extras[to].seen != 0 && !snd_profile_has(sum, to, metric))
        return SND_OK; /* another has the node without it */
    if (snd_profile_has(sum, to, metric))
        added = snd_metric_combine(metric, rule, sum->columns[metric][to], added);
    return snd_profile_set(sum, to, metric, added);
}

/* Where every process must have it, one that has not takes it away. */
static void
take_away(const adding *self, uint32_t from, uint32_t to)
{
    snd_profile *sum = self->merger->sum;

    for (snd_metric_set left = sum->nodes[to].present & ~self->profile->nodes[from].present; left != 0;
         left &= left - 1) {
        snd_metric metric = snd_metric_first(left);
        if (snd_metric_get(metric)->merge_rule == SND_RULE_EVERY)
            sum->nodes[to].present &= ~SND_METRIC_BIT(metric);
    }
}

static snd_status
add_histogram(const adding *self, uint32_t from, uint32_t to)
{
    const uint64_t *counts = self->profile->histograms == NULL ? NULL : self->profile->histograms[from];
    snd_profile *sum = self->merger->sum;

    if (counts == NULL)
        return SND_OK;
    if (sum->histograms == NULL || sum->histograms[to] == NULL)
        return snd_profile_set_histogram(sum, to, counts);
    for (uint32_t i = 0; i < SND_HISTOGRAM_BUCKETS; i++)
        sum->histograms[to][i] += counts[i];
    return SND_OK;
}

static snd_status
add_metrics(adding *self, uint32_t from, uint32_t to)
{
    snd_status status = SND_OK;

    for (snd_metric_set left = self->profile->nodes[from].present; left != 0 && status == SND_OK; left &= left - 1)
        status = add_value(self, from, to, snd_metric_first(left));
    take_away(self, from, to);
    self->merger->extras[to].seen++;
    return status == SND_OK ? add_histogram(self, from, to) : status;
}

static snd_status
add_nodes(snd_merger *self, uint32_t process, const snd_profile *profile, const uint32_t *sites, uint32_t *nodes)
{
    adding turn = {self, profile, self->sum->processes[process].length_ns, 0};
    snd_status status = SND_OK;

    for (uint32_t i = 0; i < profile->node_count && status == SND_OK; i++) {
        const snd_profile_node *node = &profile->nodes[i];
        const snd_profile_track *line = &self->sum->tracks[self->first_line[process] + node->track];
        const snd_profile_node wanted = {
            .parent = node->parent == SND_NONE ? SND_NONE : nodes[node->parent],
            .track = line->summed_on - 1,
            .site = sites[node->site],
        };
        turn.end_ns = line->end_ns;
        status = find_node(self, &wanted, i == 0 ? 0 : nodes[i - 1] + 1, &nodes[i]);
        if (status == SND_OK)
            status = add_metrics(&turn, i, nodes[i]);
    }
    return status;
}

/* ---- sources ---- */

/* The first text of a file is the sum's. */
static snd_status
add_sources(snd_merger *self, const snd_profile *profile)
{
    snd_status status = SND_OK;

    for (uint32_t i = 0; i < profile->source_count && status == SND_OK; i++) {
        const snd_source *source = &profile->sources[i];
        uint64_t hash = snd_hash(source->file, strlen(source->file), 0);
        uint32_t cursor = 0, found;
        while ((found = snd_map_next(&self->sources, hash, &cursor)) != SND_MAP_NONE)
            if (strcmp(self->sum->sources[found].file, source->file) == 0)
                break;
        if (found != SND_MAP_NONE)
            continue;
        found = self->sum->source_count;
        status = snd_profile_copy_source(self->sum, source);
        if (status == SND_OK)
            status = snd_map_add(&self->sources, hash, found);
    }
    return status;
}

const snd_source *
snd_merger_source(const snd_merger *self, const char *file)
{
    uint32_t cursor = 0, found;

    while ((found = snd_map_next(&self->sources, snd_hash(file, strlen(file), 0), &cursor)) != SND_MAP_NONE)
        if (strcmp(self->sum->sources[found].file, file) == 0)
            return &self->sum->sources[found];
    return NULL;
}

/* ---- all of it ---- */

snd_status
snd_merger_add(snd_merger *self, uint32_t process, const snd_profile *profile, uint32_t *sites, uint32_t *nodes)
{
    snd_status status = make_twins(self);

    self->turn++;
    for (uint32_t i = 0; i < profile->site_count && status == SND_OK; i++)
        status = find_site(self, &profile->sites[i], &sites[i]);
    if (status == SND_OK)
        status = add_nodes(self, process, profile, sites, nodes);
    if (status == SND_OK)
        status = snd_merge_infos(self, process, profile);
    if (status == SND_OK)
        status = snd_merge_memory(self, process, profile, nodes);
    if (status == SND_OK)
        status = add_sources(self, profile);
    self->added++;
    return status;
}

snd_status
snd_merger_finish(snd_merger *self)
{
    const snd_value *column = self->sum->columns[SND_METRIC_LIVE_AVERAGE];
    snd_status status = SND_OK;

    for (uint32_t i = 0; column != NULL && i < self->sum->node_count && status == SND_OK; i++)
        if (snd_profile_has(self->sum, i, SND_METRIC_LIVE_AVERAGE)) {
            unsigned __int128 over = self->length_ns == 0 ? 1 : self->length_ns;
            snd_value value = {.whole = (uint64_t)(self->extras[i].weighted / over)};
            status = snd_profile_set(self->sum, i, SND_METRIC_LIVE_AVERAGE, value);
        }
    return status == SND_OK ? snd_merge_finish_infos(self) : status;
}
