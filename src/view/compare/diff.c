/* Two recordings side by side. */
#include "view/compare/diff.h"

#include "base/alloc.h"
#include "base/text.h"
#include "view/compare/diff_rows.h"
#include "view/memory/memory_lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows below this share of the whole do not fail anything. */
#define SMALL_SHARE 0.01

const snd_diff_info snd_diff_infos[SND_DIFF_COUNT] = {
#define INFO(id, name, heading, row, needs) {#name, heading, row, needs},
    SND_DIFF_MAP(INFO)
#undef INFO
};

int
snd_diff_is_of_lines(snd_diff_kind kind)
{
    return strcmp(snd_diff_infos[kind].row, "line") == 0;
}

/* ---- rows ---- */

static void
keep_text(snd_diff *self, const char *text, const char **kept)
{
    uint32_t id;
    snd_work_need(snd_intern_add(self->texts, text, strlen(text), &id));

    *kept = snd_intern_text(self->texts, id);
}

/* Keys have the kind in front, so that their numbers are those of the rows. */
static void
find_key(snd_diff *self, snd_diff_kind kind, const char *key, uint32_t *row)
{
    snd_buffer text = {0};

    snd_buffer_printf(&text, "%d\n", (int)kind);
    snd_buffer_text(&text, key);
    snd_work_need(snd_intern_add(self->keys, text.data, text.size, row));
}

void
snd_diff_add(snd_diff *self, const snd_diff_source *from, snd_diff_kind kind, const snd_diff_name *name,
             snd_diff_row **row)
{
    snd_diff_row made = {.kind = kind, .number = self->count, .unit = SND_UNIT_NS};
    uint32_t found;
    keep_text(self, name->name, &made.name);

    keep_text(self, name->place, &made.place);
    if (!snd_make_room(&self->rows, self->count + 1, &self->capacity, sizeof made))
        snd_work_end(SND_NO_MEMORY);
    find_key(self, kind, name->key, &found);
    if (found == self->count)
        self->rows[self->count++] = made;
    *row = &self->rows[found];
    (*row)->sides[from->side].is_there = 1;
}

/* ---- what differences are worth ---- */

static int
is_exact(const snd_diff_row *row)
{
    return row->sides[SND_BEFORE].estimate.source == SND_NOISE_EXACT &&
           row->sides[SND_AFTER].estimate.source == SND_NOISE_EXACT;
}

/* What was sampled may be missing by chance; what was counted may not. */
static snd_diff_verdict
rate(const snd_diff_row *row)
{
    const snd_diff_side *before = &row->sides[SND_BEFORE], *after = &row->sides[SND_AFTER];
    int is_counted = before->count != 0 || after->count != 0;

    if ((!before->is_there || !after->is_there) &&
        (is_counted || (!row->is_unrated && fabs(row->difference) > row->noise)))
        return before->is_there ? SND_DIFF_GONE : SND_DIFF_NEW;
    if (row->difference == 0)
        return SND_DIFF_SAME;
    if (row->is_unrated)
        return SND_DIFF_UNRATED;
    if (fabs(row->difference) <= row->noise)
        return SND_DIFF_NOISE;
    return row->difference > 0 ? SND_DIFF_MORE : SND_DIFF_LESS;
}

static void
rate_rows(snd_diff *self)
{
    const snd_noise_runs time = {self->options->run_share, {self->busy[0], self->busy[1]}};
    const snd_noise_runs bytes = {self->options->run_share, {0, 0}};

    for (uint32_t i = 0; i < self->count; i++)
        self->tests += !self->rows[i].is_unrated && !is_exact(&self->rows[i]);
    for (uint32_t i = 0; i < self->count; i++) {
        snd_diff_row *row = &self->rows[i];
        const snd_estimate *before = &row->sides[SND_BEFORE].estimate, *after = &row->sides[SND_AFTER].estimate;
        row->difference = after->value - before->value;
        row->noise = snd_noise_limit(before, after, row->unit == SND_UNIT_NS ? &time : &bytes, self->tests);
        row->verdict = rate(row);
        self->beyond +=
            row->verdict != SND_DIFF_SAME && row->verdict != SND_DIFF_NOISE && row->verdict != SND_DIFF_UNRATED;
    }
}

/* Totals stay as they were met. */
static int
compare_rows(const void *a, const void *b)
{
    const snd_diff_row *x = a, *y = b;
    double left = fabs(x->difference), right = fabs(y->difference);

    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->kind != SND_DIFF_TOTALS && left != right)
        return left > right ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void
sort_rows(snd_diff *self)
{
    if (self->count != 0)
        qsort(self->rows, self->count, sizeof *self->rows, compare_rows);
}

/* Rows that are parts of each other have their whole set already. */
static void
find_wholes(snd_diff *self)
{
    double sums[SND_DIFF_COUNT] = {0};

    for (uint32_t i = 0; i < self->count; i++)
        sums[self->rows[i].kind] += self->rows[i].sides[SND_AFTER].estimate.value;
    for (int kind = 0; kind < SND_DIFF_COUNT; kind++)
        if (self->wholes[kind] == 0)
            self->wholes[kind] = sums[kind];
}

/* ---- making ---- */

unsigned
snd_diff_kinds(const snd_profile *profile)
{
    unsigned kinds = 0;

    for (int kind = 0; kind < SND_DIFF_COUNT; kind++)
        if (snd_diff_exists(profile, (snd_diff_kind)kind))
            kinds |= 1u << kind;
    return kinds;
}

/* What is meant where `both` recordings have these kinds: functions are those that were traced where none were sampled.
 */
static unsigned
wanted_kinds(unsigned kinds, unsigned both)
{
    const unsigned functions = 1u << SND_DIFF_FUNCTIONS, calls = 1u << SND_DIFF_CALLS;

    return (kinds & functions) && !(both & functions) && (both & calls) ? (kinds & ~functions) | calls : kinds;
}

/* Recordings without samples have only the name of the program's file: the first place with that name is it. */
static void
start_own(snd_own *own, const snd_profile *profile, const snd_view_options *view)
{
    const char *name = snd_profile_info(profile, "program");

    snd_own_start(own, profile, view);
    for (uint32_t i = 0; i < profile->site_count && *own->program == '\0' && name != NULL; i++) {
        const char *file = profile->sites[i].file, *base = snd_path_base(file);
        if (base != file && strcmp(base, name) == 0) {
            own->program = file;
            own->folder_len = (size_t)(base - file);
        }
    }
}

/* Of the time in which a thread could have run, the share in which no processor was free. */
static double
busy_share(const snd_diff_source *from)
{
    double ran = from->has_samples ? (double)snd_samples_cpu(&from->samples.all) : 0;
    double waited = snd_diff_processor_ns(from);

    return ran + waited > 0 ? waited / (ran + waited) : 0;
}

static void
put_side(snd_diff *self, const snd_profile *profile, const snd_profile *other, int side)
{
    snd_diff_source from = {.profile = profile, .other = other, .view = self->options->view, .side = side};

    start_own(&from.own, profile, from.view);
    start_own(&from.other_own, other, from.view);
    from.has_samples = snd_profile_has_samples(profile) || snd_profile_has_memory(profile);
    if (from.has_samples)
        snd_samples_weigh(profile, self->options->view, SND_METRIC_COUNT_OF, &from.samples);
    self->busy[side] = busy_share(&from);
    for (int kind = 0; kind < SND_DIFF_COUNT; kind++)
        if (self->kinds & 1u << kind)
            snd_diff_put(self, &from, (snd_diff_kind)kind);
}

typedef struct sides {
    const snd_profile *before, *after;
} sides;

static void
make(snd_diff *self, const snd_profile *before, const snd_profile *after)
{
    self->keys = snd_intern_new();
    self->texts = snd_intern_new();
    /* The second first: its names and places are those that people have before their eyes. */
    put_side(self, after, before, SND_AFTER);
    put_side(self, before, after, SND_BEFORE);
    rate_rows(self);
    find_wholes(self);
    sort_rows(self);
}

static void
make_diff(const sides *of, const snd_diff_options *options, snd_diff *out)
{
    const snd_profile *before = of->before, *after = of->after;
    const unsigned totals = 1u << SND_DIFF_TOTALS;
    unsigned both = snd_diff_kinds(before) & snd_diff_kinds(after);
    unsigned wanted = options->kinds == 0 ? both : wanted_kinds(options->kinds, both);
    snd_diff self = {.options = options, .kinds = wanted | (both & totals)};

    if ((both & ~totals) == 0 || (wanted & ~both) != 0)
        snd_work_end(SND_NO_DATA);
    make(&self, before, after);
    *out = self;
}

static snd_status compare(const sides *of, const snd_diff_options *options, snd_diff *out);
SND_DOOR_2(compare, snd_diff, make_diff, const sides *, const snd_diff_options *)

snd_status
snd_diff_make(const snd_profile *before, const snd_profile *after, const snd_diff_options *options, snd_diff *out)
{
    return compare(&(sides){before, after}, options, out);
}

void
snd_diff_free(snd_diff *self)
{
    snd_pool_free(self->pool);
    *self = (snd_diff){0};
}

/* ---- answers ---- */

double
snd_diff_percent(const snd_diff_row *row)
{
    double before = row->sides[SND_BEFORE].estimate.value;

    return before > 0 ? 100 * row->difference / before : NAN;
}

int
snd_diff_is_over(const snd_diff *self, const snd_diff_row *row, double percent)
{
    double whole = row->kind == SND_DIFF_TOTALS ? 0 : self->wholes[row->kind];
    double change = snd_diff_percent(row);

    return row->verdict == SND_DIFF_MORE && row->sides[SND_AFTER].estimate.value >= SMALL_SHARE * whole &&
           (isnan(change) || change > percent);
}

const char *
snd_diff_verdict_text(const snd_diff_row *row)
{
    static const char *const texts[] = {
        [SND_DIFF_SAME] = "same", [SND_DIFF_NOISE] = "within noise", [SND_DIFF_MORE] = "more", [SND_DIFF_LESS] = "less",
        [SND_DIFF_NEW] = "new",   [SND_DIFF_GONE] = "gone",          [SND_DIFF_UNRATED] = "",
    };

    if (row->kind == SND_DIFF_CALLS && row->verdict == SND_DIFF_UNRATED)
        return "noise unknown";
    if (row->unit == SND_UNIT_NS && row->verdict == SND_DIFF_MORE)
        return "slower";
    if (row->unit == SND_UNIT_NS && row->verdict == SND_DIFF_LESS)
        return "faster";
    return texts[row->verdict];
}
