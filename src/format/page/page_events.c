/* The data of a page: the timeline. What a browser cannot hold is joined or left out, and said. */
#include "base/alloc.h"
#include "base/text.h"
#include "format/page/page_private.h"

#include <stdlib.h>

/* Times that no clock shows are left out: a damaged file may hold any number. */
#define TIME_LIMIT (UINT64_C(1) << 52)

/* Samples in units of about a twentieth of the time from one to the next: digits are most of what a timeline takes, and
 * nobody sees more of them. */
#define UNITS_A_SAMPLE 20u
static const uint64_t sample_units_ns[] = {50000, 20000, 10000, 5000, 2000, 1000};

/* An event in units of its list. */
typedef struct item {
    uint64_t start, value;
    uint32_t track, node, task;
} item;

/* What stands in a list of its own. */
typedef enum list_kind { SAMPLES, SPANS, MARKS } list_kind;

typedef struct items {
    item *list;
    uint64_t count;
    uint64_t unit_ns;
} items;

static int
is_wanted(const snd_profile *profile, const snd_profile_event *event, list_kind list)
{
    snd_site_kind kind = snd_profile_kind(profile, event->node);
    list_kind is_in = snd_site_is_sampled(kind) ? SAMPLES : kind == SND_SITE_MARK ? MARKS : SPANS;

    return kind != SND_SITE_COUNTER && is_in == list && event->start_ns <= TIME_LIMIT &&
           event->duration_ns <= TIME_LIMIT;
}

static int
compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* By track, then by start, the longer one first; nothing is left to chance. */
static int
compare_items(const void *left, const void *right)
{
    const item *a = left, *b = right;
    int order = compare_numbers(a->track, b->track);

    if (order == 0)
        order = compare_numbers(a->start, b->start);
    if (order == 0)
        order = compare_numbers(b->value, a->value);
    if (order == 0)
        order = compare_numbers(a->node, b->node);
    return order != 0 ? order : compare_numbers(a->task, b->task);
}

/* Both ends are rounded, so that what touched still does; nothing becomes shorter than one unit. */
static item
make_item(const snd_page_maker *self, const snd_profile_event *event, uint64_t unit_ns)
{
    uint64_t start = (event->start_ns + unit_ns / 2) / unit_ns;
    uint64_t end = (event->start_ns + event->duration_ns + unit_ns / 2) / unit_ns;

    return (item){
        .start = start,
        .value = end == start && event->duration_ns != 0 ? 1 : end - start,
        .track = event->track,
        .node = self->nodes.of_node[event->node],
        .task = event->task,
    };
}

static uint64_t
sample_unit(const snd_profile *profile)
{
    uint64_t rate = snd_profile_info_number(profile, "sample_rate_hz");
    uint64_t wanted_ns = rate == 0 ? sample_units_ns[0] : UINT64_C(1000000000) / rate / UNITS_A_SAMPLE;
    size_t i = 0;

    while (i + 1 < sizeof sample_units_ns / sizeof sample_units_ns[0] && sample_units_ns[i] > wanted_ns)
        i++;
    return sample_units_ns[i];
}

static void
gather(const snd_page_maker *self, list_kind list, items *out)
{
    const snd_profile *profile = self->profile;
    uint64_t count = 0;

    for (uint64_t i = 0; i < profile->event_count; i++)
        count += is_wanted(profile, &profile->events[i], list) ? 1 : 0;
    *out = (items){.unit_ns = list == SAMPLES ? sample_unit(profile) : 1};
    out->list = snd_malloc((count + 1) * sizeof *out->list);
    for (uint64_t i = 0; i < profile->event_count; i++)
        if (is_wanted(profile, &profile->events[i], list))
            out->list[out->count++] = make_item(self, &profile->events[i], out->unit_ns);
    qsort(out->list, out->count, sizeof *out->list, compare_items);
}

/* ---- samples that are joined ---- */

/* Neighbours of one node in one state that touch become one: nothing is lost. */
static void
join_neighbours(items *self)
{
    uint64_t kept = 0;

    for (uint64_t i = 0; i < self->count; i++) {
        const item *next = &self->list[i];
        item *last = kept == 0 ? NULL : &self->list[kept - 1];
        if (last != NULL && last->track == next->track && last->node == next->node && last->task == next->task &&
            next->start <= last->start + last->value + 1) {
            uint64_t end = next->start + next->value;
            if (end > last->start + last->value)
                last->value = end - last->start;
            continue;
        }
        self->list[kept++] = *next;
    }
    self->count = kept;
}

/* A number below `bound` that is the same every time. */
static uint64_t
draw(uint64_t *state, uint64_t bound)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return bound == 0 ? 0 : (*state >> 33) % bound;
}

/* One of the events, each with a chance by its length, stands for all of them. */
static item
choose(const item *group, uint64_t count, uint64_t *state)
{
    uint64_t sum = 0, i = 0;

    for (uint64_t k = 0; k < count; k++)
        sum += group[k].value;
    for (uint64_t left = draw(state, sum); i + 1 < count && left >= group[i].value; i++)
        left -= group[i].value;
    item chosen = group[i];
    chosen.start = group[0].start;
    chosen.value = sum;
    return chosen;
}

/* As if looked at less often: of every `step` events of a thread that touch, one. Sums stay what they were for the
 * thread, and for a place on average. */
static void
thin_out(items *self, uint64_t step)
{
    uint64_t kept = 0, state = 1;

    for (uint64_t first = 0; first < self->count;) {
        const item *group = &self->list[first];
        uint64_t count = 1;
        while (first + count < self->count && count < step && group[count].track == group[0].track &&
               group[count].start <= group[count - 1].start + group[count - 1].value + 1)
            count++;
        self->list[kept++] = choose(group, count, &state);
        first += count;
    }
    self->count = kept;
}

/* ---- events that are left out ---- */

static int
compare_values(const void *left, const void *right)
{
    return compare_numbers(*(const uint64_t *)right, *(const uint64_t *)left);
}

/* Keeps the longest `limit` at most; `*shorter_ns` gets what all that are gone were shorter than. */
static void
drop_short(items *self, uint64_t limit, uint64_t *shorter_ns)
{
    uint64_t *values = snd_malloc((self->count + 1) * sizeof *values), kept = 0;
    for (uint64_t i = 0; i < self->count; i++)
        values[i] = self->list[i].value;
    qsort(values, self->count, sizeof *values, compare_values);
    uint64_t bound = values[limit];
    for (uint64_t i = 0; i < self->count; i++)
        if (self->list[i].value > bound)
            self->list[kept++] = self->list[i];
    self->count = kept;
    *shorter_ns = (bound + 1) * self->unit_ns;
}

static void
drop(snd_page_maker *self, items *all, const char *what)
{
    uint64_t shorter, before = all->count;
    char text[SND_DURATION_SIZE];

    if (all->count <= self->options->event_limit)
        return;
    drop_short(all, self->options->event_limit, &shorter);
    snd_duration_text(shorter, text);
    self->pruned_events += before - all->count;
    snd_page_say_pruned(self, "%llu of %llu %s in the timeline, all shorter than %s, were left out.",
                        (unsigned long long)(before - all->count), (unsigned long long)before, what, text);
}

static void
reduce_samples(snd_page_maker *self, items *all)
{
    uint64_t limit = self->options->event_limit;

    join_neighbours(all);
    uint64_t before = all->count, step = (before + limit - 1) / limit;
    if (step > 1) {
        thin_out(all, step);
        join_neighbours(all);
        self->pruned_events += before - all->count;
        snd_page_say_pruned(self, "The timeline shows %llu of %llu samples, one for every %llu.",
                            (unsigned long long)all->count, (unsigned long long)before, (unsigned long long)step);
    }
    drop(self, all, "samples");
}

/* ---- writing ---- */

static void
put_gaps(snd_page_maker *self, const items *all)
{
    uint64_t end = 0;

    for (uint64_t i = 0; i < all->count; i++) {
        const item *at = &all->list[i];
        if (i != 0 && all->list[i - 1].track != at->track)
            end = 0;
        snd_page_put_signed(&self->pack, (int64_t)(at->start - end), i == 0);
        end = at->start + at->value;
        snd_work_need(snd_page_pack_flush(&self->pack));
    }
}

static uint64_t
value_of(const item *at)
{
    return at->value;
}

static uint64_t
node_of(const item *at)
{
    return at->node;
}

static uint64_t
task_of(const item *at)
{
    return at->task;
}

static uint64_t
track_of(const item *at)
{
    return at->track;
}

/* Else the node says it. */
static int
needs_tracks(const snd_profile *profile)
{
    for (uint32_t i = 0; i < profile->track_count; i++)
        if (profile->tracks[i].summed_on != 0)
            return 1;
    return 0;
}

static void
put_column(snd_page_maker *self, const items *all, const char *key, uint64_t (*number)(const item *))
{

    snd_buffer_printf(&self->pack.gzip.bytes, "],\"%s\":[", key);
    for (uint64_t i = 0; i < all->count; i++) {
        snd_page_put_whole(&self->pack, number(&all->list[i]), i == 0);
        snd_work_need(snd_page_pack_flush(&self->pack));
    }
}

static void
put_items(snd_page_maker *self, const items *all, const char *kind, int is_first)
{
    snd_buffer_printf(&self->pack.gzip.bytes, "%s{\"kind\":\"%s\",\"unit_ns\":%llu,\"gap\":[", is_first ? "" : ",\n",
                      kind, (unsigned long long)all->unit_ns);
    put_gaps(self, all);
    put_column(self, all, "value", value_of);
    put_column(self, all, "node", node_of);
    put_column(self, all, "task", task_of);
    if (needs_tracks(self->profile))
        put_column(self, all, "track", track_of);
    snd_buffer_text(&self->pack.gzip.bytes, "]}");
}

/* Marks have no length: the first ones of each thread stay. */
static void
drop_marks(snd_page_maker *self, items *all)
{
    uint64_t kept = self->options->event_limit, before = all->count;

    if (before <= kept)
        return;
    all->count = kept;
    self->pruned_events += before - kept;
    snd_page_say_pruned(self, "%llu of %llu marks in the timeline were left out.", (unsigned long long)(before - kept),
                        (unsigned long long)before);
}

static void
put_kind(snd_page_maker *self, list_kind list, int *is_first)
{
    static const char *const names[] = {[SAMPLES] = "samples", [SPANS] = "spans", [MARKS] = "marks"};
    items all;

    gather(self, list, &all);
    if (list == SAMPLES)
        reduce_samples(self, &all);
    else if (list == SPANS)
        drop(self, &all, "regions and calls");
    else
        drop_marks(self, &all);
    if (all.count != 0) {
        put_items(self, &all, names[list], *is_first);
        *is_first = 0;
    }
}

void
snd_page_put_events(snd_page_maker *self)
{
    int is_first = 1;

    if (self->profile->event_count == 0) {
        snd_buffer_text(&self->pack.gzip.bytes, "\"events\":null,\n");
        return;
    }
    snd_buffer_text(&self->pack.gzip.bytes, "\"events\":[");
    put_kind(self, SAMPLES, &is_first);
    put_kind(self, SPANS, &is_first);
    put_kind(self, MARKS, &is_first);
    snd_buffer_text(&self->pack.gzip.bytes, "],\n");
}
