/* The operators of a profile, summed up. */
#include "view/ops/ops.h"

#include "base/alloc.h"
#include "base/work.h"
#include "model/rollup.h"
#include "view/sampled/sample_table.h"

#include <math.h>
#include <string.h>

/* What tells the operators of a site apart from others of its name: texts of `texts`, the first of which is "". */
typedef struct label {
    uint32_t shapes, overload, stack;
    snd_op_detail detail;
    uint32_t row; /* SND_NONE: none yet */
} label;

typedef struct grouping {
    const snd_ops_question *asked;
    snd_intern *texts;
    label *labels; /* of the sites */
} grouping;

double
snd_ops_speed(const snd_ops_row *row)
{
    return row->flops_ns == 0 ? 0 : row->flops / (double)row->flops_ns;
}

/* ---- what is one row ---- */

static uint32_t
keep_text(const grouping *self, const char *text, size_t size)
{
    uint32_t id;

    snd_work_need(snd_intern_add(self->texts, text, size, &id));
    return id;
}

/* The place of a call, or the first lines of its stack. */
static uint32_t
keep_stack(const grouping *self, const snd_profile_site *site)
{
    const char *end = site->file;
    snd_buffer place = {0};

    for (uint32_t i = 0; i < self->asked->lines && *end != '\0'; i++)
        end = strchrnul(end + (i != 0), '\n');
    snd_buffer_put(&place, site->file, (size_t)(end - site->file));
    if (end != site->file && site->line != 0)
        snd_buffer_printf(&place, "(%u)", site->line);
    uint32_t id = keep_text(self, snd_buffer_str(&place), place.size);
    snd_buffer_free(&place);
    return id;
}

static void
make_labels(grouping *self, const snd_profile *profile)
{
    self->texts = snd_intern_new();
    self->labels = snd_new(profile->site_count, sizeof *self->labels);
    (void)keep_text(self, "", 0);
    for (uint32_t i = 0; i < profile->site_count; i++) {
        label *added = &self->labels[i];
        const snd_op_detail detail = snd_op_detail_read(profile->sites[i].detail);
        *added = (label){.detail = detail, .row = SND_NONE};
        if (self->asked->by_shape)
            added->shapes = keep_text(self, detail.inputs, detail.inputs_size);
        if (self->asked->by_overload)
            added->overload = keep_text(self, detail.overload, detail.overload_size);
        if (self->asked->lines != 0)
            added->stack = keep_stack(self, &profile->sites[i]);
    }
}

/* What PyTorch timed has a row, whatever it is; a site's nodes are in one. */
static uint32_t
row_of_node(const snd_rollup *self, uint32_t node)
{
    const grouping *by = self->context;
    const snd_profile_site *site = &self->profile->sites[self->profile->nodes[node].site];
    label *of_site = &by->labels[self->profile->nodes[node].site];
    const uint64_t key[] = {(uintptr_t)site->name, (uint64_t)of_site->shapes << 32 | of_site->overload,
                            (uint64_t)of_site->stack << 32 | (uint32_t)of_site->detail.device,
                            (uint64_t)(site->kind == SND_SITE_REGION) << 1 | (uint64_t)of_site->detail.is_legacy};

    if (!snd_profile_has(self->profile, node, SND_METRIC_OP_CPU) &&
        (self->profile->nodes[node].parent == SND_NONE || !snd_site_is_entered(site->kind) ||
         snd_profile_entries(self->profile, node) == 0))
        return SND_NONE;
    if (of_site->row == SND_NONE)
        of_site->row = snd_rollup_key(self, key, sizeof key);
    return of_site->row;
}

/* An open entry is not the shortest one yet. */
static snd_metric_set
counted(const snd_rollup *self, uint32_t node)
{
    return snd_profile_whole(self->profile, node, SND_METRIC_COUNT) != 0 ? SND_METRIC_ALL
                                                                         : ~SND_METRIC_BIT(SND_METRIC_MIN);
}

/* ---- rows ---- */

static snd_ops_row
start_row(const snd_rollup *rows, uint32_t row)
{
    const grouping *by = rows->context;
    const snd_profile *profile = rows->profile;
    const snd_profile_node *node = &profile->nodes[rows->first[row]], *above = &profile->nodes[node->parent];
    const snd_profile_site *site = &profile->sites[node->site];
    const label *of_site = &by->labels[node->site];
    int is_timed = snd_profile_has(profile, rows->first[row], SND_METRIC_OP_CPU);
    snd_buffer name = {0};

    if (is_timed)
        snd_buffer_text(&name, site->name);
    else
        snd_function_text(site, &name);
    return (snd_ops_row){
        .site = site,
        .name = snd_buffer_str(&name),
        .shapes = snd_intern_text(by->texts, of_site->shapes),
        .overload = snd_intern_text(by->texts, of_site->overload),
        .stack = snd_intern_text(by->texts, of_site->stack),
        .detail = of_site->detail,
        .is_timed = is_timed,
        .is_annotation = site->kind == SND_SITE_REGION,
        .has_parent = above->parent != SND_NONE && above->track == node->track,
    };
}

static void
set_numbers(const snd_rollup *rows, uint32_t at, snd_ops_row *row)
{
    snd_metric least = rows->present[at] >> SND_METRIC_MIN & 1 ? SND_METRIC_MIN : SND_METRIC_MAX;

    row->count = snd_rollup_whole(rows, at, SND_METRIC_COUNT) + snd_rollup_whole(rows, at, SND_METRIC_OPEN);
    row->self_ns = snd_rollup_whole(rows, at, SND_METRIC_SELF);
    row->min_ns = snd_rollup_whole(rows, at, least);
    row->max_ns = snd_rollup_whole(rows, at, SND_METRIC_MAX);
    row->read_bytes = snd_rollup_whole(rows, at, SND_METRIC_OP_READ);
    row->written_bytes = snd_rollup_whole(rows, at, SND_METRIC_OP_WRITTEN);
    row->copies = snd_rollup_whole(rows, at, SND_METRIC_OP_COPIES);
    row->casts = snd_rollup_whole(rows, at, SND_METRIC_OP_CASTS);
#define READ(field, name, metric) row->field = snd_rollup_real(rows, at, SND_METRIC_##metric);
    SND_OP_NUMBER_MAP(READ)
}

/* What depends on more than one metric of a node. */
static void
add_node(snd_ops *self, const snd_profile *profile, uint32_t node, snd_ops_row *row)
{
    snd_estimate entries = snd_estimate_node(profile, node);

    snd_estimate_add(&row->entries, &entries);
    if (snd_profile_has(profile, node, SND_METRIC_OP_FLOPS))
        row->flops_ns += snd_profile_whole(profile, node, SND_METRIC_TOTAL);
    if (row->site->kind == SND_SITE_OP && snd_profile_has(profile, node, SND_METRIC_OP_READ))
        self->entries += snd_profile_entries(profile, node);
}

/* Times are known as PyTorch has them, or in nanoseconds. */
static void
set_times(snd_ops_row *row)
{
    if (row->is_timed) {
        row->total_ns = (uint64_t)llround(row->total_cpu_us * 1e3);
        row->self_ns = row->self_cpu_us > 0 ? (uint64_t)llround(row->self_cpu_us * 1e3) : 0;
        return;
    }
    row->total_cpu_us = (double)row->total_ns / 1e3;
    row->self_cpu_us = (double)row->self_ns / 1e3;
}

static void
add_rows(const snd_ops_question *asked, const snd_profile *profile, snd_ops *out)
{
    grouping by = {.asked = asked};
    snd_rollup rows;

    make_labels(&by, profile);
    snd_rollup_make(profile, row_of_node, counted, &by, &rows);
    const uint64_t *totals = snd_rollup_totals(&rows, SND_METRIC_TOTAL);
    uint32_t capacity = out->count;
    snd_need_room(&out->rows, out->count + rows.count, &capacity, sizeof *out->rows);
    snd_ops_row *added = &out->rows[out->count];
    for (uint32_t i = 0; i < rows.count; i++) {
        added[i] = start_row(&rows, i);
        set_numbers(&rows, i, &added[i]);
        added[i].total_ns = totals[i];
    }
    for (uint32_t i = 0; i < profile->node_count && profile->columns[SND_METRIC_TOTAL] != NULL; i++)
        if (rows.row_of[i] != SND_NONE)
            add_node(out, profile, i, &added[rows.row_of[i]]);
    out->count += rows.count;
}

/* ---- what was there before ---- */

static uint64_t
since(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0; /* a reset may lie between */
}

/* The two are of two profiles: only the texts themselves tell rows apart. */
static uint32_t
number_of(snd_intern *keys, const snd_ops_row *row)
{
    snd_buffer key = {0};
    uint32_t id;

    snd_buffer_put(&key, row->name, strlen(row->name) + 1);
    snd_buffer_put(&key, row->shapes, strlen(row->shapes) + 1);
    snd_buffer_text(&key, row->stack);
    snd_work_need(snd_intern_add(keys, snd_buffer_str(&key), key.size, &id));
    snd_buffer_free(&key);
    return id;
}

static void
subtract(snd_ops *self, const snd_ops *before)
{
    snd_intern *keys = snd_intern_new();
    uint32_t *places = snd_new(before->count, sizeof *places), count = self->count;

    for (uint32_t i = 0; i < before->count; i++)
        places[number_of(keys, &before->rows[i])] = i;
    uint32_t known_count = snd_intern_count(keys);
    self->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        snd_ops_row row = self->rows[i];
        uint32_t number = number_of(keys, &row);
        const snd_ops_row *known = number < known_count ? &before->rows[places[number]] : &(snd_ops_row){0};
        row.count = since(row.count, known->count);
        row.self_ns = since(row.self_ns, known->self_ns);
        row.total_ns = since(row.total_ns, known->total_ns);
        row.flops = row.flops > known->flops ? row.flops - known->flops : 0;
        if (row.count != 0 || row.self_ns != 0)
            self->rows[self->count++] = row;
    }
}

static void
make_ops(const snd_ops_question *asked, snd_ops *out)
{
    snd_ops self = {0}, before = {0};

    add_rows(asked, asked->profile, &self);
    if (asked->before != NULL) {
        add_rows(asked, asked->before, &before);
        subtract(&self, &before);
    }
    if (asked->more != NULL)
        add_rows(asked, asked->more, &self);
    for (uint32_t i = 0; i < self.count; i++) {
        set_times(&self.rows[i]);
        self.whole_ns += self.rows[i].self_ns;
        self.calls += self.rows[i].site->kind == SND_SITE_OP ? self.rows[i].count : 0;
    }
    *out = self;
}

SND_DOOR_1(snd_ops_make, snd_ops, make_ops, const snd_ops_question *)

void
snd_ops_free(snd_ops *self)
{
    snd_pool_free(self->pool);
    *self = (snd_ops){0};
}

snd_ops_row
snd_ops_total(const snd_ops *self)
{
    snd_ops_row sum = {.shapes = "", .overload = "", .stack = ""};

    if (self->count != 0)
        sum = self->rows[0];
    sum.name = "Total";
    for (uint32_t i = 1; i < self->count; i++) {
        sum.count += self->rows[i].count;
#define ADD(field, name, metric) sum.field += self->rows[i].field;
        SND_OP_NUMBER_MAP(ADD)
    }
    return sum;
}
