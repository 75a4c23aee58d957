/* Operators summed up by their key, in the order in which they came, and as comma-separated values. */
#include "view/op_averages.h"

#include "base/alloc.h"
#include "base/intern.h"
#include "base/map.h"
#include "view/op_sort.h"

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
};

snd_op_averages *
snd_op_averages_new(void)
{
    snd_op_averages *self = snd_calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    self->texts = snd_intern_new();
    if (self->texts == NULL || snd_intern_add(self->texts, "", 0, &self->no_text) != SND_OK) {
        snd_op_averages_free(self);
        return NULL;
    }
    return self;
}

void
snd_op_averages_free(snd_op_averages *self)
{
    if (self == NULL)
        return;
    snd_intern_free(self->texts);
    snd_map_free(&self->by_key);
    snd_free(self->rows);
    snd_free(self->keys);
    snd_free(self);
}

static snd_status
keep_text(snd_op_averages *self, const char *text, uint32_t *id)
{
    if (text == NULL || *text == '\0') {
        *id = self->no_text;
        return SND_OK;
    }
    return snd_intern_add(self->texts, text, strlen(text), id);
}

static snd_status
make_key(snd_op_averages *self, const snd_op_average *row, row_key *key)
{
    snd_status status = keep_text(self, row->name, &key->name);

    if (status == SND_OK)
        status = keep_text(self, row->overload, &key->overload);
    if (status == SND_OK)
        status = keep_text(self, row->shapes, &key->shapes);
    if (status == SND_OK)
        status = keep_text(self, row->stack, &key->stack);
    key->node = row->node;
    key->device = row->device;
    key->is_legacy = row->is_legacy != 0;
    key->is_annotation = row->is_annotation != 0;
    return status;
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

static snd_status
add_row(snd_op_averages *self, const snd_op_average *row, const row_key *key, uint64_t hash)
{
    if (!snd_make_room(&self->rows, self->count + 1, &self->capacity, sizeof *self->rows) ||
        !snd_make_room(&self->keys, self->count + 1, &self->key_capacity, sizeof *self->keys))
        return SND_NO_MEMORY;
    snd_status status = snd_map_add(&self->by_key, hash, self->count);
    if (status != SND_OK)
        return status;
    snd_op_average *kept = &self->rows[self->count];
    *kept = *row;
    kept->name = snd_intern_text(self->texts, key->name);
    kept->overload = snd_intern_text(self->texts, key->overload);
    kept->shapes = snd_intern_text(self->texts, key->shapes);
    kept->stack = snd_intern_text(self->texts, key->stack);
    self->keys[self->count++] = *key;
    return SND_OK;
}

snd_status
snd_op_averages_add(snd_op_averages *self, const snd_op_average *row)
{
    row_key key;
    snd_status status = make_key(self, row, &key);
    if (status != SND_OK)
        return status;
    uint64_t hash = snd_hash(&key, sizeof key, 0);
    uint32_t cursor = 0;
    for (uint32_t i; (i = snd_map_next(&self->by_key, hash, &cursor)) != SND_MAP_NONE;) {
        if (memcmp(&self->keys[i], &key, sizeof key) == 0) {
            add_numbers(&self->rows[i], row);
            return SND_OK;
        }
    }
    return add_row(self, row, &key, hash);
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
