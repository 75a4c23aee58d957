/* Operators summed up by their key, in the order in which they came, and as comma-separated values. */
#include "view/ops/op_averages.h"

#include "base/alloc.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/work.h"
#include "view/ops/op_sort.h"
#include "view/sampled/sample_table.h"

#include <string.h>

/* What the texts of a row are in the table of texts: equal texts are equal numbers. */
typedef struct row_key {
    uint32_t name, overload, shapes, stack;
    int32_t node, device;
    int32_t is_legacy, is_annotation;
} row_key;

struct snd_op_averages {
    snd_op_average *rows;
    row_key *keys;
    uint32_t count, capacity, key_capacity;
    snd_map by_key;
    snd_intern *texts;
    uint32_t no_text;
    snd_pool *pool; /* has all of this */
};

/* A part of a work. */
static void
make_list(void *context)
{
    snd_op_averages *self = snd_new(1, sizeof *self);

    self->texts = snd_intern_new();
    snd_work_need(snd_intern_add(self->texts, "", 0, &self->no_text));
    *(snd_op_averages **)context = self;
}

snd_op_averages *
snd_op_averages_new(void)
{
    snd_op_averages *self;
    snd_pool *pool;

    if (snd_work_run(make_list, &self, &pool) != SND_OK)
        return NULL;
    self->pool = pool;
    return self;
}

void
snd_op_averages_free(snd_op_averages *self)
{
    if (self != NULL)
        snd_pool_free(self->pool);
}

static uint32_t
keep_text(snd_op_averages *self, const char *text)
{
    uint32_t id = self->no_text;

    if (text != NULL && *text != '\0')
        snd_work_need(snd_intern_add(self->texts, text, strlen(text), &id));
    return id;
}

static void
add_numbers(snd_op_average *sum, const snd_op_average *row)
{
    sum->count += row->count;
    sum->self_cpu_us += row->self_cpu_us;
    sum->total_cpu_us += row->total_cpu_us;
    sum->self_device_us += row->self_device_us;
    sum->total_device_us += row->total_device_us;
    sum->cpu_bytes += row->cpu_bytes;
    sum->self_cpu_bytes += row->self_cpu_bytes;
    sum->device_bytes += row->device_bytes;
    sum->self_device_bytes += row->self_device_bytes;
    sum->flops += row->flops;
}

static void
add_row(snd_op_averages *self, const snd_op_average *row, const row_key *key, uint64_t hash)
{
    snd_need_room(&self->rows, self->count + 1, &self->capacity, sizeof *self->rows);
    snd_need_room(&self->keys, self->count + 1, &self->key_capacity, sizeof *self->keys);
    snd_work_need(snd_map_add(&self->by_key, hash, self->count));
    snd_op_average *kept = &self->rows[self->count];
    *kept = *row;
    kept->name = snd_intern_text(self->texts, key->name);
    kept->overload = snd_intern_text(self->texts, key->overload);
    kept->shapes = snd_intern_text(self->texts, key->shapes);
    kept->stack = snd_intern_text(self->texts, key->stack);
    self->keys[self->count++] = *key;
}

/* SND_MAP_NONE: there is none yet. */
static uint32_t
find_key(const snd_op_averages *self, const row_key *key, uint64_t hash)
{
    uint32_t cursor = 0, found;

    while ((found = snd_map_next(&self->by_key, hash, &cursor)) != SND_MAP_NONE)
        if (memcmp(&self->keys[found], key, sizeof *key) == 0)
            break;
    return found;
}

void
snd_op_averages_put(snd_op_averages *self, const snd_op_average *row)
{
    snd_pool *work = snd_pool_use(self->pool);
    const row_key key = {keep_text(self, row->name),
                         keep_text(self, row->overload),
                         keep_text(self, row->shapes),
                         keep_text(self, row->stack),
                         row->node,
                         row->device,
                         row->is_legacy != 0,
                         row->is_annotation != 0};
    uint64_t hash = snd_hash(&key, sizeof key, 0);
    uint32_t found = find_key(self, &key, hash);

    if (found == SND_MAP_NONE)
        add_row(self, row, &key, hash);
    else
        add_numbers(&self->rows[found], row);
    snd_pool_use(work);
}

typedef struct addition {
    snd_op_averages *self;
    const snd_op_average *rows;
    uint32_t count;
} addition;

static void
add(void *context)
{
    const addition *asked = context;

    for (uint32_t i = 0; i < asked->count; i++)
        snd_op_averages_put(asked->self, &asked->rows[i]);
}

snd_status
snd_op_averages_add(snd_op_averages *self, const snd_op_average *rows, uint32_t count)
{
    return snd_work_run(add, &(addition){self, rows, count}, NULL);
}

uint32_t
snd_op_averages_count(const snd_op_averages *self)
{
    return self->count;
}

const snd_op_average *
snd_op_averages_at(const snd_op_averages *self, uint32_t index)
{
    return &self->rows[index];
}

snd_op_average
snd_op_averages_total(const snd_op_averages *self)
{
    snd_op_average sum = {0};

    if (self->count != 0)
        sum = self->rows[0];
    for (uint32_t i = 1; i < self->count; i++)
        add_numbers(&sum, &self->rows[i]);
    sum.name = "Total";
    if (self->count == 0)
        sum.overload = sum.shapes = sum.stack = "";
    return sum;
}

static void
put_row(snd_buffer *out, const snd_op_average *row)
{
    const char *const texts[] = {row->name, row->overload, row->shapes, row->stack};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        snd_buffer_csv_text(out, texts[i]);
        snd_buffer_char(out, ',');
    }
    snd_buffer_printf(out, "%d,%d,%llu,", row->device, row->is_annotation != 0, (unsigned long long)row->count);
    snd_buffer_printf(out, "%.15g,%.15g,%.15g,", row->self_cpu_us, row->total_cpu_us, snd_op_cpu_average(row));
    snd_buffer_printf(out, "%.15g,%.15g,%.15g,", row->self_device_us, row->total_device_us, snd_op_device_average(row));
    snd_buffer_printf(out, "%lld,%lld,%lld,%lld,", (long long)row->cpu_bytes, (long long)row->self_cpu_bytes,
                      (long long)row->device_bytes, (long long)row->self_device_bytes);
    snd_buffer_printf(out, "%llu\n", (unsigned long long)row->flops);
}

snd_status
snd_op_averages_csv(const snd_op_averages *self, const char *sort_by, snd_buffer *out)
{
    uint32_t *order;
    snd_status status = snd_op_sort(self, sort_by, &order);
    if (status != SND_OK)
        return status;
    snd_buffer_text(out,
                    "name,overload_name,input_shapes,stack,device_type,is_user_annotation,count,self_cpu_time_total,"
                    "cpu_time_total,cpu_time,self_device_time_total,device_time_total,device_time,cpu_memory_usage,"
                    "self_cpu_memory_usage,device_memory_usage,self_device_memory_usage,flops\n");
    for (uint32_t i = 0; i < self->count; i++)
        put_row(out, &self->rows[order[i]]);
    snd_free(order);
    return snd_buffer_status(out);
}

/* The two lists are of two profiles: only the texts themselves tell rows apart. */
static uint64_t
hash_row(const snd_ops_row *row)
{
    uint64_t hash = snd_hash(row->site->name, strlen(row->site->name), (uint64_t)row->site->kind << 32 | row->line);

    hash = snd_hash(row->shapes, strlen(row->shapes), hash);
    return snd_hash(row->file, strlen(row->file), hash);
}

static int
is_same(const snd_ops_row *a, const snd_ops_row *b)
{
    return a->site->kind == b->site->kind && a->line == b->line && strcmp(a->site->name, b->site->name) == 0 &&
           strcmp(a->shapes, b->shapes) == 0 && strcmp(a->file, b->file) == 0;
}

/* NULL: it was not there. */
static const snd_ops_row *
find_row(const snd_ops *rows, const snd_map *map, const snd_ops_row *wanted)
{
    uint64_t hash = hash_row(wanted);
    uint32_t cursor = 0, found;

    while (rows->rows != NULL && (found = snd_map_next(map, hash, &cursor)) != SND_MAP_NONE)
        if (is_same(&rows->rows[found], wanted))
            return &rows->rows[found];
    return NULL;
}

static uint64_t
since(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0; /* a reset may lie between */
}

static snd_ops_row
subtract(snd_ops_row row, const snd_ops_row *before)
{
    if (before == NULL)
        return row;
    row.count = since(row.count, before->count);
    row.self_ns = since(row.self_ns, before->self_ns);
    row.total_ns = since(row.total_ns, before->total_ns);
    row.flops = row.flops > before->flops ? row.flops - before->flops : 0;
    return row;
}

static void
put_called(const snd_ops_row *row, snd_op_averages *out)
{
    snd_buffer name = {0}, place = {0};

    snd_function_text(row->site, &name);
    if (*row->file != '\0')
        snd_buffer_printf(&place, "%s(%u)", row->file, row->line);
    snd_op_average called = {
        .name = snd_buffer_str(&name),
        .shapes = row->shapes,
        .stack = snd_buffer_str(&place),
        .node = -1,
        .device = SND_OP_CPU,
        .is_annotation = row->site->kind == SND_SITE_REGION,
        .has_parent = row->has_parent,
        .count = row->count,
        .self_cpu_us = (double)row->self_ns / 1e3,
        .total_cpu_us = (double)row->total_ns / 1e3,
        .flops = row->flops < 1e18 ? (uint64_t)row->flops : 0,
    };
    snd_op_averages_put(out, &called);
}

typedef struct averaging {
    const snd_profile *now, *before;
    const snd_view_options *options;
    snd_op_averages *out;
} averaging;

static void
average(void *context)
{
    const averaging *asked = context;
    snd_ops now = {0}, before = {0};
    snd_map map = {0};

    snd_work_need(snd_ops_make(asked->now, asked->options, &now));
    if (asked->before != NULL)
        snd_work_need(snd_ops_make(asked->before, asked->options, &before));
    for (uint32_t i = 0; i < before.count; i++)
        snd_work_need(snd_map_add(&map, hash_row(&before.rows[i]), i));
    for (uint32_t i = 0; i < now.count; i++) {
        snd_ops_row row = subtract(now.rows[i], find_row(&before, &map, &now.rows[i]));
        if (row.count != 0 || row.self_ns != 0)
            put_called(&row, asked->out);
    }
}

snd_status
snd_ops_averages(const snd_profile *now, const snd_profile *before, const snd_view_options *options,
                 snd_op_averages *out)
{
    return snd_work_run(average, &(averaging){now, before, options, out}, NULL);
}
