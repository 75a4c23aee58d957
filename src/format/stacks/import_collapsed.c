/* Folded stacks as a profile of samples: thread;caller;callee number, a line each. */
#include "base/alloc.h"
#include "base/map.h"
#include "format/stacks/import.h"
#include "format/stacks/stacks.h"

#include <string.h>

/* More is not what a program's stacks are like. */
#define DEPTH_LIMIT 10000u
#define NODE_LIMIT (1u << 24)

typedef struct reading {
    const snd_import_options *options;
    snd_profile *profile;
    snd_map sites;    /* by a hash of what a frame is */
    snd_map children; /* by parent and site */
    snd_intern *threads;
    uint32_t *roots;  /* by thread */
    uint64_t *totals; /* of each, in ns */
    uint32_t root_capacity, total_capacity;
    uint64_t sum; /* of all numbers, as they are kept */
    uint64_t sum_limit;
    uint64_t line;
    int roots_are_frames; /* no frame says where it is: nothing tells a thread from a function */
    snd_buffer name, file;
    snd_buffer *problem;
} reading;

static snd_status
refuse(reading *self, const char *problem)
{
    snd_buffer_printf(self->problem, "line %llu: %s", (unsigned long long)self->line, problem);
    return SND_BAD_ARGUMENT;
}

/* ---- frames ---- */

typedef struct span {
    const char *start;
    size_t len;
} span;

/* Finds " (file:line)" or " (file)" at the end; 0 when there is none. The file has no blank at an end. */
static int
split_place(span frame, span *name, span *file, uint32_t *line)
{
    const char *open = NULL, *end = frame.start + frame.len;
    uint64_t number = 0, unit = 1;

    if (frame.len < 4 || end[-1] != ')')
        return 0;
    for (const char *at = end - 2; at > frame.start + 1 && open == NULL; at--)
        if (*at == '(' && at[-1] == ' ')
            open = at;
    if (open == NULL || open + 2 >= end)
        return 0;
    *name = (span){frame.start, (size_t)(open - 1 - frame.start)};
    *file = (span){open + 1, (size_t)(end - 2 - open)};
    *line = 0;
    const char *digit = end - 2;
    for (; digit > open && *digit >= '0' && *digit <= '9' && unit <= 100000000; digit--, unit *= 10)
        number += (uint64_t)(*digit - '0') * unit;
    if (*digit == ':' && digit > open + 1 && unit > 1 && number != 0 && digit[1] != '0') {
        *line = (uint32_t)number;
        file->len = (size_t)(digit - open - 1);
    }
    return 1;
}

/* A line of Python has a number, native code a file; the rest has no place. */
static snd_site_kind
kind_of(span file, uint32_t line)
{
    if (line != 0)
        return SND_SITE_LINE;
    return file.len == 0 ? SND_SITE_OTHER : SND_SITE_NATIVE;
}

static int
is_same(const snd_profile_site *site, snd_site_kind kind, const char *name, const char *file, uint32_t line)
{
    return site->kind == kind && site->line == line && strcmp(site->name, name) == 0 && strcmp(site->file, file) == 0;
}

static snd_status
find_site(reading *self, span frame, uint32_t *site)
{
    uint64_t hash = snd_hash(frame.start, frame.len, 0);
    span name = frame, file = {"", 0};
    uint32_t line = 0, cursor = 0;

    split_place(frame, &name, &file, &line);
    snd_site_kind kind = kind_of(file, line);
    snd_buffer_clear(&self->name);
    snd_buffer_clear(&self->file);
    snd_buffer_put(&self->name, name.start, name.len);
    snd_buffer_put(&self->file, file.start, file.len);
    if (self->name.failed || self->file.failed)
        return SND_NO_MEMORY;
    const snd_profile_site added = {.kind = kind,
                                    .name = snd_buffer_str(&self->name),
                                    .file = snd_buffer_str(&self->file),
                                    .line = line,
                                    .first_line = line,
                                    .detail = ""};
    while ((*site = snd_map_next(&self->sites, hash, &cursor)) != SND_MAP_NONE)
        if (is_same(&self->profile->sites[*site], kind, added.name, added.file, line))
            return SND_OK;
    snd_status status = snd_profile_add_site(self->profile, &added, site);
    return status == SND_OK ? snd_map_add(&self->sites, hash, *site) : status;
}

static snd_status
find_child(reading *self, uint32_t parent, span frame, uint32_t *node)
{
    uint32_t site, cursor = 0;
    snd_status status = find_site(self, frame, &site);
    if (status != SND_OK)
        return status;
    uint64_t key = (uint64_t)parent << 32 | site;
    *node = snd_map_next(&self->children, key, &cursor);
    if (*node != SND_MAP_NONE)
        return SND_OK;
    if (self->profile->node_count >= (self->options->node_limit == 0 ? NODE_LIMIT : self->options->node_limit))
        return refuse(self, "too many stacks");
    status = snd_profile_add_node(self->profile, parent, self->profile->nodes[parent].track, site, node);
    return status == SND_OK ? snd_map_add(&self->children, key, *node) : status;
}

static snd_status
find_thread(reading *self, span name, uint32_t *thread)
{
    uint32_t count = snd_intern_count(self->threads);

    if (!snd_make_room(&self->roots, count + 1, &self->root_capacity, sizeof *self->roots) ||
        !snd_make_room(&self->totals, count + 1, &self->total_capacity, sizeof *self->totals))
        return SND_NO_MEMORY;
    snd_status status = snd_intern_add(self->threads, name.start, name.len, thread);
    if (status != SND_OK || *thread < count)
        return status;
    self->totals[*thread] = 0;
    return snd_import_add_track(self->profile, snd_intern_text(self->threads, *thread), &self->roots[*thread]);
}

/* ---- numbers ---- */

static snd_status
add_value(reading *self, uint32_t node, snd_metric metric, uint64_t value)
{
    uint64_t sum = snd_profile_whole(self->profile, node, metric) + value;
    return snd_profile_set(self->profile, node, metric, (snd_value){.whole = sum});
}

static snd_metric
cpu_metric(const reading *self, uint32_t node)
{
    snd_site_kind kind = self->profile->sites[self->profile->nodes[node].site].kind;
    return kind == SND_SITE_LINE ? SND_METRIC_PYTHON : SND_METRIC_NATIVE;
}

/* The time that a number stands for; it has been checked that it fits. */
static uint64_t
time_of(const reading *self, uint64_t number)
{
    static const uint64_t ns[] = {
#define UNIT_NS(name, value) value,
        SND_IMPORT_UNIT_MAP(UNIT_NS)
#undef UNIT_NS
    };
    if (self->options->unit == SND_IMPORT_samples)
        return (uint64_t)((__uint128_t)number * 1000000000u / self->options->rate_hz);
    return number * ns[self->options->unit];
}

/* Adds a line's number to its node; `state`: what the thread waited for, or SND_SAMPLE_STATES. */
static snd_status
add_number(reading *self, uint32_t thread, uint32_t node, uint32_t state, uint64_t number)
{
    uint64_t ns = time_of(self, number);
    snd_metric metric = state == SND_SAMPLE_STATES ? cpu_metric(self, node) : SND_SAMPLE_METRIC(state);
    snd_status status = SND_OK;

    if (self->options->unit == SND_IMPORT_bytes) {
        metric = metric == SND_METRIC_NATIVE ? SND_METRIC_ALLOC_NATIVE : SND_METRIC_ALLOC_PYTHON;
        status = add_value(self, node, metric, number);
        return status == SND_OK ? add_value(self, node, SND_METRIC_LIVE_PEAK, number) : status;
    }
    if (self->options->unit == SND_IMPORT_samples)
        status = add_value(self, node, SND_METRIC_SAMPLES, number);
    self->totals[thread] += ns;
    return status == SND_OK ? add_value(self, node, metric, ns) : status;
}

/* ---- lines ---- */

/* Takes the first frame off. */
static span
next_frame(span *rest)
{
    const char *end = memchr(rest->start, ';', rest->len);
    span frame = {rest->start, end == NULL ? rest->len : (size_t)(end - rest->start)};
    size_t taken = frame.len + (end != NULL);

    rest->start += taken;
    rest->len -= taken;
    return frame;
}

static uint32_t
state_of(span frame)
{
    uint32_t state = 0;

    for (; state < SND_SAMPLE_STATES; state++) {
        const char *name = snd_stacks_state_name(state);
        if (name != NULL && strlen(name) == frame.len && memcmp(name, frame.start, frame.len) == 0)
            break;
    }
    return state;
}

/* A first frame with a line is no thread but a function of one that has no name. */
static int
is_thread(span frame)
{
    span name, file;
    uint32_t line;
    return !split_place(frame, &name, &file, &line) || line == 0;
}

/* Whether any frame of a line, without its number, says where it is. */
static int
has_place(span line)
{
    span name, file;
    uint32_t number;

    while (line.len > 0 && strchr("\r 0123456789", line.start[line.len - 1]) != NULL)
        line.len--;
    while (line.len > 0)
        if (split_place(next_frame(&line), &name, &file, &number))
            return 1;
    return 0;
}

static int
has_places(const char *data, size_t size)
{
    const char *end = data + size;

    while (data < end) {
        const char *stop = memchr(data, '\n', (size_t)(end - data));
        stop = stop == NULL ? end : stop;
        if (has_place((span){data, (size_t)(stop - data)}))
            return 1;
        data = stop == end ? end : stop + 1;
    }
    return 0;
}

static snd_status
read_stack(reading *self, span stack, uint64_t number)
{
    span rest = stack, first = next_frame(&rest);
    uint32_t thread, node, state = SND_SAMPLE_STATES, depth = 0;
    snd_status status;

    if (self->roots_are_frames)
        rest = stack;
    else if (!is_thread(first)) {
        rest = stack;
        first = (span){"main", 4};
    }
    status = find_thread(self, first, &thread);
    if (status != SND_OK)
        return status;
    node = self->roots[thread];
    if (rest.len == 0) /* a thread that is on no stack; only nodes below a root are samples */
        rest = (span){SND_STACKS_OUTSIDE, strlen(SND_STACKS_OUTSIDE)};
    while (status == SND_OK && rest.len != 0) {
        span frame = next_frame(&rest);
        if (frame.len == 0)
            return refuse(self, "a frame has no name");
        if (depth++ == DEPTH_LIMIT)
            return refuse(self, "the stack is too deep");
        state = rest.len == 0 && depth > 1 ? state_of(frame) : SND_SAMPLE_STATES;
        if (state == SND_SAMPLE_STATES)
            status = find_child(self, node, frame, &node);
    }
    return status == SND_OK ? add_number(self, thread, node, state, number) : status;
}

/* The number behind the last blank, which `line` loses. */
static snd_status
split_number(reading *self, span *line, uint64_t *number)
{
    size_t at = line->len;

    *number = 0;
    while (at > 0 && line->start[at - 1] != ' ' && line->start[at - 1] != '\t')
        at--;
    if (at < 2 || at == line->len)
        return refuse(self, "no number after the stack");
    for (size_t i = at; i < line->len; i++) {
        if (line->start[i] < '0' || line->start[i] > '9')
            return refuse(self, "no whole number after the stack");
        if (*number > (UINT64_MAX - 9) / 10)
            return refuse(self, "the number is too large");
        *number = *number * 10 + (uint64_t)(line->start[i] - '0');
    }
    line->len = at - 1;
    if (*number > self->sum_limit - self->sum)
        return refuse(self, "the numbers are too large");
    self->sum += *number;
    return SND_OK;
}

static snd_status
read_line(reading *self, span line)
{
    uint64_t number;

    self->line++;
    while (line.len > 0 && (line.start[line.len - 1] == '\r' || line.start[line.len - 1] == ' '))
        line.len--;
    if (line.len == 0)
        return SND_OK;
    if (memchr(line.start, '\0', line.len) != NULL)
        return refuse(self, "this is not text");
    snd_status status = split_number(self, &line, &number);
    return status == SND_OK && number != 0 ? read_stack(self, line, number) : status;
}

static snd_status
read_all(reading *self, const char *data, size_t size)
{
    const char *end = data + size;
    snd_status status = SND_OK;

    while (data < end && status == SND_OK) {
        const char *stop = memchr(data, '\n', (size_t)(end - data));
        stop = stop == NULL ? end : stop;
        status = read_line(self, (span){data, (size_t)(stop - data)});
        data = stop == end ? end : stop + 1;
    }
    uint32_t threads = self->roots == NULL ? 0 : snd_intern_count(self->threads);
    if (status == SND_OK && threads == 0) {
        snd_buffer_text(self->problem, "it has no stacks");
        status = SND_BAD_ARGUMENT;
    }
    for (uint32_t i = 0; i < threads && status == SND_OK; i++)
        status = snd_import_end_track(self->profile, self->roots[i], self->totals[i]);
    return status;
}

/* Bytes count as allocated, and as those at the peak. */
static snd_status
set_memory_facts(snd_profile *profile, uint64_t bytes)
{
    static const char *const keys[] = {"alloc_bytes", "peak_bytes"};
    snd_status status = snd_profile_set_info(profile, "memory_exact", "1");

    for (size_t i = 0; i < 2 && status == SND_OK; i++)
        status = snd_profile_set_info_number(profile, keys[i], bytes);
    return status == SND_OK ? snd_profile_set_info(profile, "probes", "memory") : status;
}

/* What the views of samples want to know. */
static snd_status
set_facts(reading *self)
{
    uint64_t cpu_ns = 0;
    snd_profile *profile = self->profile;

    if (self->options->unit == SND_IMPORT_bytes)
        return set_memory_facts(profile, self->sum);
    for (uint32_t i = 0; i < profile->node_count; i++)
        cpu_ns += snd_profile_whole(profile, i, SND_METRIC_PYTHON) + snd_profile_whole(profile, i, SND_METRIC_NATIVE);
    snd_status status = snd_profile_set_info_number(profile, "cpu_ns", cpu_ns);
    if (status == SND_OK && self->options->unit == SND_IMPORT_samples) {
        status = snd_profile_set_info_number(profile, "samples", self->sum);
        if (status == SND_OK)
            status = snd_profile_set_info_number(profile, "sample_rate_hz", self->options->rate_hz);
    }
    return status == SND_OK ? snd_profile_set_info(profile, "probes", "sample") : status;
}

snd_status
snd_import_collapsed(const char *data, size_t size, const snd_import_options *options, snd_profile *profile,
                     snd_buffer *problem)
{
    reading self = {.options = options, .profile = profile, .threads = snd_intern_new(), .problem = problem};
    snd_status status = self.threads == NULL ? SND_NO_MEMORY : SND_OK;

    self.sum_limit = INT64_MAX / UINT64_C(1000000000);
    if (options->unit == SND_IMPORT_bytes || options->unit == SND_IMPORT_ns)
        self.sum_limit = INT64_MAX;
    else if (options->unit == SND_IMPORT_us)
        self.sum_limit = INT64_MAX / UINT64_C(1000);
    self.roots_are_frames = !has_places(data, size);
    if (status == SND_OK)
        status = read_all(&self, data, size);
    if (status == SND_OK)
        status = set_facts(&self);
    if (status == SND_OK && self.roots_are_frames)
        status = snd_profile_set_info(profile, SND_IMPORT_ROOTS, "1");
    snd_map_free(&self.sites);
    snd_map_free(&self.children);
    snd_intern_free(self.threads);
    snd_free(self.roots);
    snd_free(self.totals);
    snd_buffer_free(&self.name);
    snd_buffer_free(&self.file);
    return status;
}
