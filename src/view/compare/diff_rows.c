/* The rows of a comparison, but for those of lines: a function for each kind. */
#include "view/compare/diff_rows.h"

#include "base/alloc.h"
#include "base/text.h"
#include "view/calls/calls.h"
#include "view/memory/memory_lines.h"
#include "view/ops/ops.h"
#include "view/sampled/sample_table.h"

#include <string.h>

/* What nobody saw a thread do. */
#define NOT_SEEN "[not seen]"

/* ---- names ---- */

/* The program is the program, wherever it lies and whatever it is called. */
const char *
snd_diff_file_key(const snd_own *own, const char *file)
{
    return *own->program != '\0' && strcmp(file, own->program) == 0 ? "(program)" : snd_own_key(own, file);
}

/* By name and file, not by line: code above it may have been edited. */
static void
put_site_key(const snd_diff_source *from, const snd_profile_site *site, snd_buffer *out)
{
    const char *file =
        site->kind == SND_SITE_NATIVE ? snd_path_base(site->file) : snd_diff_file_key(&from->own, site->file);

    snd_buffer_printf(out, "%s\n%s\n%s", snd_site_kind_name(site->kind), site->name,
                      site->kind == SND_SITE_REGION ? "" : file);
}

static void
add_named(snd_diff *self, const snd_diff_source *from, snd_diff_kind kind, snd_buffer texts[3], snd_diff_row **row)
{
    snd_diff_name name = {snd_buffer_str(&texts[0]), snd_buffer_str(&texts[1]), snd_buffer_str(&texts[2])};

    snd_diff_add(self, from, kind, &name, row);
}

int
snd_diff_is_unrated(const char *name)
{
    return strcmp(name, "[sonde]") == 0 || strcmp(name, NOT_SEEN) == 0 || strcmp(name, SND_NO_FRAME) == 0;
}

/* ---- totals ---- */

#define PROCESSOR "waited for a processor"

/* How long no processor was free says nothing of the program. */
static void
add_total(snd_diff *self, const snd_diff_source *from, const char *name, snd_unit unit, snd_estimate estimate)
{
    const snd_diff_name named = {name, name, ""};
    snd_diff_row *row;
    snd_diff_add(self, from, SND_DIFF_TOTALS, &named, &row);

    row->unit = unit;
    row->is_unrated = strcmp(name, PROCESSOR) == 0;
    row->sides[from->side].estimate = estimate;
}

/* Only what both recordings know. */
static int
both_know(const snd_diff_source *from, const char *key)
{
    return snd_profile_info_number(from->profile, key) != 0 && snd_profile_info_number(from->other, key) != 0;
}

static double
number(const snd_diff_source *from, const char *key)
{
    return (double)snd_profile_info_number(from->profile, key);
}

double
snd_diff_processor_ns(const snd_diff_source *from)
{
    double sum = 0;

    for (uint32_t i = 0; i < from->profile->node_count; i++)
        sum += (double)snd_profile_whole(from->profile, i, SND_METRIC_WAIT_CPU);
    return sum;
}

/* Waiting that nobody saw is a thread that was not looked at in time. */
static double
unseen_waiting(const snd_diff_source *from)
{
    const snd_profile *profile = from->profile;
    snd_samples_numbers numbers;
    double sum = 0;

    for (uint32_t i = 0; i < profile->node_count && from->has_samples; i++)
        if (strcmp(profile->sites[profile->nodes[i].site].name, NOT_SEEN) == 0 &&
            snd_samples_read(&from->samples, i, &numbers))
            sum += (double)snd_samples_waiting(&numbers);
    return sum;
}

/* Time in which no processor was free is the machine's: it has a row of its own, and is noise to the length. */
static void
put_times(snd_diff *self, const snd_diff_source *from)
{
    int has_waiting =
        snd_profile_has_samples(from->profile) && snd_profile_has_samples(from->other) && !from->view->cpu_only;
    double processor = snd_diff_processor_ns(from), unseen = unseen_waiting(from);
    snd_estimate length = snd_estimate_once(number(from, "length_ns"));
    length.machine = processor + unseen;
    add_total(self, from, "wall time", SND_UNIT_NS, length);

    if (both_know(from, "cpu_ns"))
        add_total(self, from, "CPU time of the program", SND_UNIT_NS,
                  snd_estimate_once(number(from, "cpu_ns") - number(from, "own_cpu_ns")));
    if (!has_waiting)
        return;
    snd_estimate waited = snd_diff_sampled(from, &from->samples.all, 1);
    waited.machine = unseen;
    add_total(self, from, "waited", SND_UNIT_NS, waited);
    add_total(self, from, PROCESSOR, SND_UNIT_NS, snd_estimate_unknown(processor));
}

static void
put_totals(snd_diff *self, const snd_diff_source *from)
{
    double error = number(from, "peak_error_bytes"), copy_error = number(from, "copy_error_bytes");
    put_times(self, from);

    if (both_know(from, "peak_bytes"))
        add_total(self, from, "memory, peak", SND_UNIT_BYTES,
                  snd_estimate_with(number(from, "peak_bytes"), error * error));
    if (both_know(from, "rss_peak_bytes"))
        add_total(self, from, "resident memory, peak", SND_UNIT_BYTES,
                  snd_estimate_unknown(number(from, "rss_peak_bytes")));
    if (both_know(from, "alloc_bytes"))
        add_total(self, from, "memory allocated", SND_UNIT_BYTES, snd_estimate_unknown(number(from, "alloc_bytes")));
    if (both_know(from, "copied_bytes"))
        add_total(self, from, "memory copied", SND_UNIT_BYTES,
                  snd_estimate_with(number(from, "copied_bytes"), copy_error * copy_error));
}

/* ---- regions ---- */

static int
is_region(const snd_profile *profile, uint32_t node)
{
    return profile->nodes[node].parent != SND_NONE && profile->sites[profile->nodes[node].site].kind == SND_SITE_REGION;
}

/* A region is its name and the region around it: `above` is that one's row, SND_NONE for none. */
static void
add_region(snd_diff *self, const snd_diff_source *from, const char *name, uint32_t above, snd_diff_row **row)
{
    enum { LONGEST = 120 };
    snd_buffer texts[3] = {{0}};

    snd_buffer_printf(&texts[0], "%u\n%s", above, name);
    if (above != SND_NONE)
        snd_buffer_printf(&texts[1], "%s / ", strlen(self->rows[above].name) < LONGEST ? self->rows[above].name : "..");
    snd_buffer_text(&texts[1], name);
    add_named(self, from, SND_DIFF_REGIONS, texts, row);
}

/* What stands below a region says how long it had to wait for a processor. */
static void
add_processor(const snd_profile *profile, double *processor)
{
    for (uint32_t i = profile->node_count; i-- > 0;) {
        uint32_t parent = profile->nodes[i].parent; /* smaller than its child */
        processor[i] += (double)snd_profile_whole(profile, i, SND_METRIC_WAIT_CPU);
        if (parent != SND_NONE)
            processor[parent] += processor[i];
    }
}

/* `rows` has an element a node: the row of the innermost region from it upwards. What is no region, such as an
 * operator, is passed over. */
static void
add_regions(snd_diff *self, const snd_diff_source *from, const double *processor, uint32_t *rows)
{
    const snd_profile *profile = from->profile;

    for (uint32_t i = 0; i < profile->node_count; i++) {
        uint32_t parent = profile->nodes[i].parent;
        snd_diff_row *row;
        rows[i] = parent == SND_NONE ? SND_NONE : rows[parent];
        if (!is_region(profile, i))
            continue;
        add_region(self, from, profile->sites[profile->nodes[i].site].name, rows[i], &row);
        rows[i] = row->number;
        snd_estimate entries = snd_estimate_node(profile, i);
        entries.machine = processor[i];
        snd_estimate_add(&row->sides[from->side].estimate, &entries);
        row->sides[from->side].count += snd_profile_entries(profile, i);
    }
}

static void
put_regions(snd_diff *self, const snd_diff_source *from)
{
    size_t room = (size_t)from->profile->node_count + 1;
    uint32_t *rows = snd_malloc(room * sizeof *rows);
    double *processor = snd_calloc(room, sizeof *processor);

    add_processor(from->profile, processor);
    add_regions(self, from, processor, rows);
    if (from->side == SND_AFTER)
        self->wholes[SND_DIFF_REGIONS] = number(from, "length_ns");
}

/* ---- functions ---- */

snd_estimate
snd_diff_sampled(const snd_diff_source *from, const snd_samples_numbers *numbers, int only_waiting)
{
    uint64_t rate = snd_profile_info_number(from->profile, "sample_rate_hz");
    double all = (double)snd_samples_time(numbers);
    double processor = (double)numbers->states[SND_METRIC_WAIT_CPU - SND_METRIC_PYTHON];
    snd_noise_samples of = {
        .cpu_ns = only_waiting ? 0 : (double)snd_samples_cpu(numbers),
        .waiting_ns = (double)snd_samples_waiting(numbers) - processor,
        .whole_cpu_ns = (double)snd_samples_cpu(&from->samples.all),
        .period_ns = 1e9 / (double)(rate == 0 ? 1000 : rate),
    };

    of.samples = all > 0 ? (double)numbers->samples * (of.cpu_ns + of.waiting_ns) / all : 0;
    return snd_estimate_samples(&of);
}

static void
add_function(snd_diff *self, const snd_diff_source *from, uint32_t function, const snd_samples_numbers *numbers)
{
    const snd_profile_site *site = snd_samples_site(&from->samples, function);
    snd_estimate estimate = snd_diff_sampled(from, numbers, 0);
    snd_buffer texts[3] = {{0}};
    snd_diff_row *row;

    put_site_key(from, site, &texts[0]);
    snd_function_text(site, &texts[1]);
    snd_place_text(&from->own, site, &texts[2]);
    add_named(self, from, SND_DIFF_FUNCTIONS, texts, &row);
    row->is_unrated = snd_diff_is_unrated(site->name);
    snd_estimate_add(&row->sides[from->side].estimate, &estimate);
}

static void
put_functions(snd_diff *self, const snd_diff_source *from)
{
    snd_rollup rows;

    snd_samples_rollup(&from->samples, snd_samples_by_function, &rows);
    for (uint32_t i = 0; i < rows.count; i++) {
        snd_samples_numbers numbers = snd_samples_row(&rows, i);
        if (snd_samples_is_any(&numbers))
            add_function(self, from, i, &numbers);
    }
}

/* ---- operators ---- */

static void
add_op(snd_diff *self, const snd_diff_source *from, const snd_ops_row *op)
{
    snd_buffer texts[3] = {{0}};
    snd_estimate total = op->entries;
    snd_diff_row *row;

    total.value = (double)op->total_ns;
    snd_buffer_printf(&texts[0], "%s\n%s", op->site->name, op->shapes);
    snd_buffer_text(&texts[1], op->site->name);
    snd_buffer_text(&texts[2], op->shapes);
    add_named(self, from, SND_DIFF_OPS, texts, &row);
    snd_estimate_add(&row->sides[from->side].estimate, &total);
    row->sides[from->side].count += op->count;
}

static void
put_ops(snd_diff *self, const snd_diff_source *from)
{
    const snd_ops_question asked = {.profile = from->profile, .by_shape = from->view->by_shape};
    snd_ops ops;
    snd_work_need(snd_ops_make(&asked, &ops));
    for (uint32_t i = 0; i < ops.count; i++)
        if (ops.rows[i].site->kind == SND_SITE_OP)
            add_op(self, from, &ops.rows[i]);
    if (from->side == SND_AFTER)
        self->wholes[SND_DIFF_OPS] = (double)ops.whole_ns;
}

/* ---- calls ---- */

static void
add_call(snd_diff *self, const snd_diff_source *from, snd_diff_kind kind, const snd_calls_row *call)
{
    snd_buffer texts[3] = {{0}};
    snd_estimate estimate = kind == SND_DIFF_COUNTS ? snd_estimate_exact((double)call->numbers.count)
                                                    : snd_estimate_unknown((double)call->numbers.self_ns);
    snd_diff_row *row;

    put_site_key(from, &call->site, &texts[0]);
    if (call->site.kind == SND_SITE_BUILTIN)
        snd_call_text(&call->site, &texts[1]);
    else
        snd_buffer_text(&texts[1], call->site.name);
    if (*call->site.file != '\0')
        snd_buffer_printf(&texts[2], "%s:%u", snd_own_name(&from->own, call->site.file), call->site.line);
    add_named(self, from, kind, texts, &row);
    row->unit = kind == SND_DIFF_COUNTS ? SND_UNIT_COUNT : SND_UNIT_NS;
    row->is_unrated = kind == SND_DIFF_CALLS; /* how much the calls of a function differ is not recorded */
    row->sides[from->side].count += call->numbers.count;
    snd_estimate_add(&row->sides[from->side].estimate, &estimate);
}

static void
put_traced(snd_diff *self, const snd_diff_source *from, snd_diff_kind kind)
{
    snd_calls calls;
    snd_work_need(snd_calls_make(from->profile, SND_PAIRS_OF_SIGNATURES, &calls));
    for (uint32_t i = 0; i < calls.row_count; i++)
        if (calls.rows[i].function == i && snd_calls_is_used(&calls.rows[i].numbers))
            add_call(self, from, kind, &calls.rows[i]);
}

static void
put_calls(snd_diff *self, const snd_diff_source *from)
{
    put_traced(self, from, SND_DIFF_CALLS);
}

static void
put_counts(snd_diff *self, const snd_diff_source *from)
{
    put_traced(self, from, SND_DIFF_COUNTS);
}

/* ---- all kinds ---- */

static int
has_length(const snd_profile *profile)
{
    return snd_profile_info_number(profile, "length_ns") != 0;
}

static int
has_regions(const snd_profile *profile)
{
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (is_region(profile, i) && snd_profile_entries(profile, i) != 0)
            return 1;
    return 0;
}

static int
has_calls(const snd_profile *profile)
{
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (snd_site_is_call(profile->sites[profile->nodes[i].site].kind) && snd_profile_entries(profile, i) != 0)
            return 1;
    return 0;
}

static int
has_ops(const snd_profile *profile)
{
    return snd_profile_has_kind(profile, SND_SITE_OP);
}

static int
has_copies(const snd_profile *profile)
{
    return profile->columns[SND_METRIC_COPIED] != NULL;
}

static const struct {
    int (*exists)(const snd_profile *profile);
    void (*put)(snd_diff *self, const snd_diff_source *from);
} kinds[SND_DIFF_COUNT] = {
    [SND_DIFF_TOTALS] = {has_length, put_totals},
    [SND_DIFF_REGIONS] = {has_regions, put_regions},
    [SND_DIFF_FUNCTIONS] = {snd_profile_has_samples, put_functions},
    [SND_DIFF_LINES] = {snd_profile_has_samples, snd_diff_put_lines},
    [SND_DIFF_OPS] = {has_ops, put_ops},
    [SND_DIFF_CALLS] = {has_calls, put_calls},
    [SND_DIFF_COUNTS] = {has_calls, put_counts},
    [SND_DIFF_MEMORY] = {snd_profile_has_memory, snd_diff_put_memory},
    [SND_DIFF_ALLOCATED] = {snd_profile_has_memory, snd_diff_put_allocated},
    [SND_DIFF_COPIES] = {has_copies, snd_diff_put_copies},
};

int
snd_diff_exists(const snd_profile *profile, snd_diff_kind kind)
{
    return kinds[kind].exists(profile);
}

void
snd_diff_put(snd_diff *self, const snd_diff_source *from, snd_diff_kind kind)
{
    kinds[kind].put(self, from);
}
