/* The operators of a profile as averages. */
#include "view/ops_averages.h"

#include "base/map.h"
#include "view/sample_table.h"

#include <string.h>

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

    while ((found = snd_map_next(map, hash, &cursor)) != SND_MAP_NONE)
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

static snd_status
add_row(const snd_ops_row *row, snd_op_averages *out)
{
    snd_buffer name = {0}, place = {0};

    snd_function_text(row->site, &name);
    if (*row->file != '\0')
        snd_buffer_printf(&place, "%s(%u)", row->file, row->line);
    snd_op_average added = {
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
    snd_status status = name.failed || place.failed ? SND_NO_MEMORY : snd_op_averages_add(out, &added);
    snd_buffer_free(&name);
    snd_buffer_free(&place);
    return status;
}

snd_status
snd_ops_averages(const snd_ops *ops, const snd_ops *before, snd_op_averages *out)
{
    snd_map map = {0};
    snd_status status = SND_OK;

    for (uint32_t i = 0; before != NULL && i < before->count && status == SND_OK; i++)
        status = snd_map_add(&map, hash_row(&before->rows[i]), i);
    for (uint32_t i = 0; i < ops->count && status == SND_OK; i++) {
        const snd_ops_row *known = before == NULL ? NULL : find_row(before, &map, &ops->rows[i]);
        snd_ops_row row = subtract(ops->rows[i], known);
        if (row.count != 0 || row.self_ns != 0)
            status = add_row(&row, out);
    }
    snd_map_free(&map);
    return status;
}
