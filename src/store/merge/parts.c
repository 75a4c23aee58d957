/* A process of a merged recording as bytes. */
#include "store/merge/parts.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/varint.h"
#include "model/processes.h"
#include "os/file.h"

#include <math.h>
#include <string.h>

/* ---- writing ---- */

static void
put_text(snd_buffer *out, const char *text)
{
    size_t len = strlen(text);
    snd_varint_put(out, len);
    snd_buffer_put(out, text, len);
}

static void
put_real(snd_buffer *out, double value)
{
    uint64_t bits;
    unsigned char bytes[8];

    memcpy(&bits, &value, sizeof bits);
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(bits >> 8 * i);
    snd_buffer_put(out, bytes, sizeof bytes);
}

static void
put_infos(const snd_profile *profile, snd_buffer *out)
{
    snd_varint_put(out, profile->info_count);
    for (uint32_t i = 0; i < profile->info_count; i++) {
        put_text(out, profile->infos[i].key);
        put_text(out, profile->infos[i].value);
    }
}

static void
put_step(snd_buffer *out, uint32_t *previous, uint32_t value)
{
    uint64_t step = snd_zigzag((int64_t)value - (int64_t)*previous);

    *previous = value;
    if (step < 0x80 && out->size + 1 < out->capacity && !out->failed) { /* nearly always */
        out->data[out->size++] = (char)step;
        out->data[out->size] = '\0';
    }
    else
        snd_varint_put(out, step);
}

static void
put_nodes(const snd_profile *profile, const uint32_t *sites, const uint32_t *nodes, snd_buffer *out)
{
    uint32_t previous = 0;

    snd_varint_put(out, profile->site_count);
    for (uint32_t i = 0; i < profile->site_count; i++)
        put_step(out, &previous, sites[i]);
    snd_varint_put(out, profile->node_count);
    previous = 0;
    for (uint32_t i = 0; i < profile->node_count; i++)
        put_step(out, &previous, nodes[i]);
    previous = 0;
    for (uint32_t i = 0; i < profile->node_count; i++)
        put_step(out, &previous, profile->nodes[i].track);
    previous = 0;
    for (uint32_t i = 0; i < profile->node_count; i++)
        put_step(out, &previous, profile->nodes[i].site);
}

static void
put_column(const snd_profile *profile, snd_metric metric, snd_buffer *out)
{
    int is_real = snd_metric_get(metric)->is_real;
    uint32_t count = 0, previous = 0;

    for (uint32_t i = 0; i < profile->node_count; i++)
        count += snd_profile_has(profile, i, metric) ? 1 : 0;
    snd_varint_put(out, metric);
    snd_varint_put(out, (uint64_t)is_real);
    snd_varint_put(out, count);
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (snd_profile_has(profile, i, metric))
            put_step(out, &previous, i);
    for (uint32_t i = 0; i < profile->node_count; i++) {
        if (!snd_profile_has(profile, i, metric))
            continue;
        if (is_real)
            put_real(out, profile->columns[metric][i].real);
        else
            snd_varint_put(out, profile->columns[metric][i].whole);
    }
}

static void
put_values(const snd_profile *profile, snd_buffer *out)
{
    uint32_t count = 0;

    for (unsigned i = 0; i < SND_METRIC_COUNT_OF; i++)
        count += profile->columns[i] != NULL;
    snd_varint_put(out, count);
    for (unsigned i = 0; i < SND_METRIC_COUNT_OF; i++)
        if (profile->columns[i] != NULL)
            put_column(profile, (snd_metric)i, out);
}

static void
put_histograms(const snd_profile *profile, snd_buffer *out)
{
    uint32_t count = 0;
    snd_buffer bytes = {0};

    for (uint32_t i = 0; profile->histograms != NULL && i < profile->node_count; i++)
        count += profile->histograms[i] != NULL;
    snd_varint_put(out, count);
    for (uint32_t i = 0; count != 0 && i < profile->node_count; i++) {
        if (profile->histograms[i] == NULL)
            continue;
        snd_buffer_clear(&bytes);
        snd_histogram_encode(profile->histograms[i], &bytes);
        out->failed |= bytes.failed;
        snd_varint_put(out, i);
        snd_varint_put(out, bytes.size);
        snd_buffer_put(out, snd_buffer_str(&bytes), bytes.size);
    }
    snd_buffer_free(&bytes);
}

static void
put_histories(const snd_profile_memory *memory, snd_buffer *out)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < memory->history_count; i++)
        count += memory->histories[i] != NULL;
    snd_varint_put(out, count);
    for (uint32_t i = 0; i < memory->history_count; i++) {
        const snd_history *history = memory->histories[i];
        if (history == NULL)
            continue;
        snd_varint_put(out, i);
        snd_varint_put(out, history->count);
        for (uint32_t k = 0; k < history->count; k++) {
            snd_varint_put(out, history->points[k].live);
            snd_varint_put(out, history->points[k].taken);
            snd_varint_put(out, history->points[k].freed);
        }
    }
}

static void
put_series(const snd_profile_memory *memory, snd_buffer *out)
{
    snd_varint_put(out, memory->series_count);
    for (uint32_t i = 0; i < memory->series_count; i++) {
        const snd_series *series = &memory->series[i];
        put_text(out, series->name);
        put_text(out, series->unit);
        snd_varint_put(out, series->count);
        for (uint32_t k = 0; k < series->count; k++) {
            snd_varint_put(out, series->points[k].at_ns);
            put_real(out, series->points[k].value);
        }
    }
}

static void
put_sizes(const snd_block_size *sizes, snd_buffer *out)
{
    snd_varint_put(out, sizes == NULL ? 0 : SND_BLOCK_SIZES);
    for (uint32_t i = 0; sizes != NULL && i < SND_BLOCK_SIZES; i++) {
        snd_varint_put(out, sizes[i].python_blocks);
        snd_varint_put(out, sizes[i].python_bytes);
        snd_varint_put(out, sizes[i].native_blocks);
        snd_varint_put(out, sizes[i].native_bytes);
    }
}

/* What there is to say of a source. */
enum { AS_IN_SUM, OWN_TEXT, OWN_DIGEST };

/* Which files, and the text or the digest of those where the sum has another. */
static void
put_sources(const snd_profile *profile, const snd_merger *merger, snd_buffer *out)
{
    snd_varint_put(out, profile->source_count);
    for (uint32_t i = 0; i < profile->source_count; i++) {
        const snd_source *source = &profile->sources[i];
        const snd_source *known = snd_merger_source(merger, source->file);
        put_text(out, source->file);
        int is_known = known != NULL && snd_source_equal(known, source);
        snd_varint_put(out, is_known ? AS_IN_SUM : source->text == NULL ? OWN_DIGEST : OWN_TEXT);
        if (is_known)
            continue;
        snd_varint_put(out, source->size);
        if (source->text == NULL)
            snd_buffer_put(out, source->sha256, sizeof source->sha256);
        else
            snd_buffer_put(out, source->text, source->size);
    }
}

void
snd_part_encode(const snd_profile *profile, const snd_merger *merger, const uint32_t *sites, const uint32_t *nodes,
                snd_buffer *out)
{
    put_infos(profile, out);
    put_nodes(profile, sites, nodes, out);
    put_values(profile, out);
    put_histograms(profile, out);
    put_histories(&profile->memory, out);
    put_series(&profile->memory, out);
    put_sizes(profile->memory.sizes, out);
    put_sources(profile, merger, out);
}

/* ---- reading ---- */

typedef struct cursor {
    const snd_part_reading *with;
    const unsigned char *at, *end;
    snd_profile *profile;
    uint32_t *nodes; /* own node to the sum's */
    snd_map own;     /* by track and the sum's node */
} cursor;

/* A number up to `most`; 0: there is none. */
static int
get(cursor *self, uint64_t most, uint64_t *value)
{
    return snd_varint_get(&self->at, self->end, value) && *value <= most;
}

/* A count of things that take at least a byte each. */
static int
get_count(cursor *self, uint64_t *count)
{
    return get(self, UINT64_MAX, count) && *count <= (uint64_t)(self->end - self->at); /* what is left behind it */
}

static int
get_step(cursor *self, uint32_t *previous, uint32_t limit)
{
    uint64_t step;
    if (!get(self, UINT64_MAX, &step))
        return 0;
    int64_t value = (int64_t)((uint64_t)snd_unzigzag(step) + *previous);
    if (value < 0 || value >= (int64_t)limit)
        return 0;
    *previous = (uint32_t)value;
    return 1;
}

static int
get_real(cursor *self, double *value)
{
    uint64_t bits = 0;

    if (self->end - self->at < 8)
        return 0;
    for (unsigned i = 0; i < 8; i++)
        bits |= (uint64_t)*self->at++ << 8 * i;
    memcpy(value, &bits, sizeof *value);
    return 1;
}

/* The caller frees it with snd_free. */
static snd_status
get_text(cursor *self, char **text)
{
    uint64_t len;
    if (!get_count(self, &len) || memchr(self->at, '\0', len) != NULL)
        return SND_DAMAGED;
    *text = snd_malloc(len + 1);
    if (*text == NULL)
        return SND_NO_MEMORY;
    memcpy(*text, self->at, len);
    (*text)[len] = '\0';
    self->at += len;
    return SND_OK;
}

static snd_status
get_infos(cursor *self)
{
    uint64_t count;
    if (!get_count(self, &count))
        return SND_DAMAGED;
    snd_status status = SND_OK;
    for (uint64_t i = 0; i < count && status == SND_OK; i++) {
        char *key = NULL, *value = NULL;
        status = get_text(self, &key);
        if (status == SND_OK)
            status = get_text(self, &value);
        if (status == SND_OK)
            status = snd_profile_set_info(self->profile, key, value);
        snd_free(key);
        snd_free(value);
    }
    return status;
}

/* Those of the process, in their order, at the times that the process counted. */
static snd_status
get_tracks(cursor *self)
{
    const snd_profile *sum = self->with->sum;
    uint64_t offset = sum->processes[self->with->process].offset_ns;
    snd_status status = SND_OK;
    uint32_t id;

    for (uint32_t i = 0; i < sum->track_count && status == SND_OK; i++) {
        snd_profile_track track = sum->tracks[i];
        if (track.summed_on == 0 || track.process != self->with->process)
            continue;
        track.start_ns -= offset;
        track.end_ns -= offset;
        track.process = track.summed_on = 0;
        status = snd_profile_add_track(self->profile, &track, &id);
    }
    return status;
}

static snd_status
get_process(cursor *self)
{
    snd_process process = self->with->sum->processes[self->with->process];
    uint32_t id;

    process.offset_ns = 0;
    return snd_profile_add_process(self->profile, &process, &id);
}

static snd_status
get_sites(cursor *self)
{
    const snd_profile *sum = self->with->sum;
    uint32_t site = 0, id;
    uint64_t count;
    if (!get_count(self, &count))
        return SND_DAMAGED;
    snd_status status = SND_OK;
    for (uint64_t i = 0; i < count && status == SND_OK; i++)
        status = get_step(self, &site, sum->site_count) ? snd_profile_add_site(self->profile, &sum->sites[site], &id)
                                                        : SND_DAMAGED;
    return status;
}

static uint64_t
key_of(uint32_t track, uint32_t node)
{
    return (uint64_t)track << 32 | node;
}

/* The parent is the process's node, on the same track, of what is the parent in the sum. */
static snd_status
add_node(cursor *self, uint32_t track, uint32_t site, uint32_t node)
{
    uint32_t above = self->with->sum->nodes[node].parent, parent = SND_NONE, id, cursor_of_map = 0;

    if (above != SND_NONE) {
        parent = snd_map_next(&self->own, key_of(track, above), &cursor_of_map);
        if (parent == SND_MAP_NONE)
            return SND_DAMAGED;
    }
    cursor_of_map = 0;
    if (snd_map_next(&self->own, key_of(track, node), &cursor_of_map) != SND_MAP_NONE)
        return SND_DAMAGED;
    snd_status status = snd_profile_add_node(self->profile, parent, track, site, &id);
    return status == SND_OK ? snd_map_add(&self->own, key_of(track, node), id) : status;
}

static snd_status
get_nodes(cursor *self)
{
    uint64_t count;
    if (!get_count(self, &count))
        return SND_DAMAGED;
    uint32_t *numbers = snd_malloc((3 * count + 1) * sizeof *numbers);
    if (numbers == NULL)
        return SND_NO_MEMORY;
    const uint32_t limits[] = {self->with->sum->node_count, self->profile->track_count, self->profile->site_count};
    snd_status status = SND_OK;
    for (unsigned k = 0; k < 3; k++) {
        uint32_t previous = 0;
        for (uint64_t i = 0; i < count && status == SND_OK; i++) {
            status = get_step(self, &previous, limits[k]) ? SND_OK : SND_DAMAGED;
            numbers[k * count + i] = previous;
        }
    }
    for (uint64_t i = 0; i < count && status == SND_OK; i++)
        status = add_node(self, numbers[count + i], numbers[2 * count + i], numbers[i]);
    self->nodes = numbers; /* the first third stays */
    return status;
}

static snd_status
get_values(cursor *self, snd_metric metric, int is_real, uint64_t count)
{
    uint32_t *nodes = snd_malloc((count + 1) * sizeof *nodes);
    uint32_t node = 0;
    snd_status status = nodes == NULL ? SND_NO_MEMORY : SND_OK;

    for (uint64_t i = 0; i < count && status == SND_OK; i++) {
        status = get_step(self, &node, self->profile->node_count) ? SND_OK : SND_DAMAGED;
        nodes[i] = node;
    }
    for (uint64_t i = 0; i < count && status == SND_OK; i++) {
        snd_value value;
        if (!(is_real ? get_real(self, &value.real) : get(self, UINT64_MAX, &value.whole)))
            status = SND_DAMAGED;
        else if (metric != SND_METRIC_COUNT_OF)
            status = snd_profile_set(self->profile, nodes[i], metric, value);
    }
    snd_free(nodes);
    return status;
}

static snd_status
get_columns(cursor *self)
{
    uint64_t columns, id, is_real, count;
    if (!get_count(self, &columns))
        return SND_DAMAGED;
    snd_status status = SND_OK;
    for (uint64_t i = 0; i < columns && status == SND_OK; i++) {
        if (!get(self, self->with->metric_count - 1, &id) || !get(self, 1, &is_real) || !get_count(self, &count))
            return SND_DAMAGED;
        snd_metric metric = self->with->metrics[id];
        if (metric != SND_METRIC_COUNT_OF && snd_metric_get(metric)->is_real != (int)is_real)
            return SND_DAMAGED;
        status = get_values(self, metric, (int)is_real, count);
    }
    return status;
}

static snd_status
get_histograms(cursor *self)
{
    uint64_t counts[SND_HISTOGRAM_BUCKETS], count, node, size;
    if (!get_count(self, &count))
        return SND_DAMAGED;
    snd_status status = SND_OK;
    for (uint64_t i = 0; i < count && status == SND_OK; i++) {
        if (!get(self, UINT32_MAX, &node) || node >= self->profile->node_count || !get_count(self, &size))
            return SND_DAMAGED;
        status = snd_histogram_decode(self->at, size, counts);
        if (status == SND_OK)
            status = snd_profile_set_histogram(self->profile, (uint32_t)node, counts);
        self->at += size;
    }
    return status;
}

static snd_status
get_histories(cursor *self)
{
    uint64_t count, node, points;
    if (!get_count(self, &count))
        return SND_DAMAGED;
    snd_status status = SND_OK;
    for (uint64_t i = 0; i < count && status == SND_OK; i++) {
        snd_history history = {0};
        if (!get(self, UINT32_MAX, &node) || node >= self->profile->node_count ||
            !get(self, SND_HISTORY_POINTS, &points))
            return SND_DAMAGED;
        for (history.count = 0; history.count < points; history.count++) {
            snd_history_point *point = &history.points[history.count];
            if (!get(self, UINT64_MAX, &point->live) || !get(self, UINT64_MAX, &point->taken) ||
                !get(self, UINT64_MAX, &point->freed))
                return SND_DAMAGED;
        }
        status = snd_profile_set_history(self->profile, (uint32_t)node, &history);
    }
    return status;
}

static snd_status
get_points(cursor *self, const char *name, const char *unit)
{
    snd_point points[SND_SERIES_POINTS];
    uint64_t count;
    if (!get(self, SND_SERIES_POINTS, &count))
        return SND_DAMAGED;
    for (uint64_t i = 0; i < count; i++)
        if (!get(self, INT64_MAX, &points[i].at_ns) || !get_real(self, &points[i].value) || !isfinite(points[i].value))
            return SND_DAMAGED;
    return snd_profile_set_series(self->profile, name, unit, points, (uint32_t)count);
}

static snd_status
get_series(cursor *self)
{
    uint64_t count;
    if (!get(self, SND_SERIES_LIMIT, &count))
        return SND_DAMAGED;
    snd_status status = SND_OK;
    for (uint64_t i = 0; i < count && status == SND_OK; i++) {
        char *name = NULL, *unit = NULL;
        status = get_text(self, &name);
        if (status == SND_OK)
            status = get_text(self, &unit);
        if (status == SND_OK)
            status = get_points(self, name, unit);
        snd_free(name);
        snd_free(unit);
    }
    return status;
}

static snd_status
get_sizes(cursor *self)
{
    snd_block_size sizes[SND_BLOCK_SIZES];
    uint64_t count;
    if (!get(self, SND_BLOCK_SIZES, &count) || (count != 0 && count != SND_BLOCK_SIZES))
        return SND_DAMAGED;
    for (uint64_t i = 0; i < count; i++)
        if (!get(self, UINT64_MAX, &sizes[i].python_blocks) || !get(self, UINT64_MAX, &sizes[i].python_bytes) ||
            !get(self, UINT64_MAX, &sizes[i].native_blocks) || !get(self, UINT64_MAX, &sizes[i].native_bytes))
            return SND_DAMAGED;
    return count == 0 ? SND_OK : snd_profile_set_sizes(self->profile, sizes);
}

static snd_status
get_source(cursor *self, const char *file)
{
    const snd_source *known = snd_profile_source(self->with->sum, file);
    uint64_t what, size;
    if (!get(self, OWN_DIGEST, &what) || (what != AS_IN_SUM && !get(self, UINT32_MAX, &size)))
        return SND_DAMAGED;
    if (what == AS_IN_SUM)
        return known == NULL ? SND_OK : snd_profile_copy_source(self->profile, known);
    size_t count = what == OWN_TEXT ? size : SND_SHA256_SIZE;
    if (count > (size_t)(self->end - self->at))
        return SND_DAMAGED;
    snd_source source = {.file = file, .text = what == OWN_TEXT ? (char *)self->at : NULL, .size = size};
    if (what == OWN_DIGEST)
        memcpy(source.sha256, self->at, count);
    self->at += count;
    return snd_profile_copy_source(self->profile, &source);
}

static snd_status
get_sources(cursor *self)
{
    uint64_t count;
    if (!get_count(self, &count))
        return SND_DAMAGED;
    snd_status status = SND_OK;
    for (uint64_t i = 0; i < count && status == SND_OK; i++) {
        char *file = NULL;
        status = get_text(self, &file);
        if (status == SND_OK)
            status = get_source(self, file);
        snd_free(file);
    }
    return status;
}

typedef snd_status get_list(cursor *self);

static snd_status
get_all(cursor *self)
{
    static get_list *const lists[] = {get_process,    get_infos,     get_tracks, get_sites, get_nodes,  get_columns,
                                      get_histograms, get_histories, get_series, get_sizes, get_sources};
    snd_status status = SND_OK;

    for (size_t i = 0; i < sizeof lists / sizeof lists[0] && status == SND_OK; i++)
        status = lists[i](self);
    return status == SND_OK && self->at != self->end ? SND_DAMAGED : status;
}

snd_status
snd_part_decode(const snd_part_reading *with, const void *data, size_t size, snd_profile **out, uint32_t **nodes)
{
    const unsigned char *at = size == 0 ? (const unsigned char *)"" : data;
    cursor self = {.with = with, .at = at, .end = at + size, .profile = snd_profile_new()};
    snd_status status = self.profile == NULL ? SND_NO_MEMORY : get_all(&self);

    snd_map_free(&self.own);
    if (status == SND_OK) {
        self.profile->load_text = snd_file_load;
        *out = self.profile;
    }
    else
        snd_profile_free(self.profile);
    if (status == SND_OK && nodes != NULL)
        *nodes = self.nodes;
    else
        snd_free(self.nodes);
    return status;
}
