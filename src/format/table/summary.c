/* The summary of a recording of samples: a few words, the hottest lines and functions, the tree, the regions. */
#include "format/table/summary.h"

#include "base/alloc.h"
#include "base/text.h"
#include "base/utf8.h"
#include "view/core/arrange.h"
#include "view/memory/memory_table.h"
#include "view/sampled/facts.h"
#include "view/sampled/sample_table.h"
#include "view/sampled/waiting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the part of the summary that is about memory ---- */

#define MEMORY_LINES 3u
#define LEAKS 5u

static void
put_words(const snd_summary *self)
{
    snd_memory_view_maker of;
    snd_buffer text = {0};
    snd_memory_view_start(self->profile, self->options, 0, &of);
    snd_memory_view_words(self->profile, &of.memory.all, &text);
    snd_buffer_char(self->out, '\n');
    snd_summary_bold(self, "Memory");
    snd_buffer_printf(self->out, "%s\n", snd_buffer_str(&text));
}

static const snd_cell *
memory_cell_of(const snd_table *table, uint32_t row, const char *column)
{
    return &table->rows[row].cells[(uint32_t)snd_table_find(table, column)];
}

static int
is_owner(const snd_table *table, uint32_t row)
{
    return memory_cell_of(table, row, "line")->is_there && memory_cell_of(table, row, "peak")->whole != 0;
}

/* The table's note, where it has one. */
static void
put_note(const snd_summary *self, const snd_table *table)
{
    if (table->note != NULL)
        snd_buffer_printf(self->out, "%s\n", table->note);
}

static void
put_owners(const snd_summary *self)
{
    static const char *const names[] = {"place",  "peak", "peak_percent", "peak_error",
                                        "source", NULL,   "live_bytes",   NULL};
    snd_format_options format = *self->format;
    snd_table *table = NULL, *shown = NULL;
    snd_work_need(snd_view_memory(self->profile, self->options, &table));

    snd_work_need(snd_table_keep(table, is_owner));
    if (table->row_count != 0) {
        snd_table_limit(table, MEMORY_LINES);
        snd_summary_show(table, names);
        snd_work_need(snd_table_select_shown(table, &shown));
    }
    if (shown != NULL) {
        format.no_footer = 1;
        snd_format_table(shown, &format, self->out);
        put_note(self, table);
    }
}

/* "leak: app.py:12 grows by 1.20 MiB/s (24.0 MiB in total, 97% confidence): cache.append(row)". */
static void
put_leak(const snd_table *table, uint32_t row, snd_buffer *out)
{
    const snd_cell *source = memory_cell_of(table, row, "source");
    char rate[SND_BYTES_SIZE], growth[SND_BYTES_SIZE];

    snd_bytes_text((uint64_t)memory_cell_of(table, row, "bytes_per_second")->whole, rate);
    snd_bytes_text((uint64_t)memory_cell_of(table, row, "live_bytes")->whole, growth);
    snd_buffer_text(out, "leak: ");
    snd_format_cell(SND_UNIT_TEXT, memory_cell_of(table, row, "place"), out);
    snd_buffer_printf(out, " grows by %s/s (%s in total, %.0f%% confidence)", rate, growth,
                      memory_cell_of(table, row, "confidence_percent")->real);
    if (source->is_there) {
        snd_buffer_text(out, ": ");
        snd_format_cell(SND_UNIT_TEXT, source, out);
    }
    snd_buffer_char(out, '\n');
}

static void
put_leaks(const snd_summary *self)
{
    snd_view_options options = *self->options;
    snd_table *table = NULL;

    options.show_all = 0;
    snd_work_need(snd_view_leaks(self->profile, &options, &table));
    for (uint32_t i = 0; i < table->row_count && i < LEAKS; i++)
        put_leak(table, i, self->out);
    if (table->row_count > LEAKS)
        snd_buffer_printf(self->out, "%u more leak%s: --leaks\n", table->row_count - LEAKS,
                          table->row_count - LEAKS == 1 ? "" : "s");
}

static void
put_all(const snd_summary *self)
{
    put_words(self);
    put_owners(self);
    put_leaks(self);
}

/* Of a recording with memory: its peak, the lines that owned it, and the leaks. Nothing without memory. */
static void
put_memory(const snd_summary *self)
{
    (void)snd_work_found(snd_summary_run(put_all, self));
}

#define LINES 8u
#define MARKED_LINES 30u
#define WAITING_LINES 5u
#define WAITING_SHARE 0.5 /* of the length of the run, in per cent: shorter waits are left out */
#define FUNCTIONS 8u
#define TREE_ROWS 30u
#define REGIONS 10u

/* ---- words ---- */

/* Moves over an escape in a JSON string, to its last byte; what is not a plain character becomes "?". */
static const char *
put_escape(const char *at, snd_buffer *out)
{
    int is_plain = at[1] == '"' || at[1] == '\\' || at[1] == '/';

    if (at[1] == '\0')
        return at;
    snd_buffer_char(out, is_plain ? at[1] : '?');
    return at + 1 + (at[1] == 'u' ? strnlen(at + 2, 4) : 0);
}

int
snd_summary_argument(const char **json, snd_buffer *out)
{
    const char *at = strchr(*json, '"');

    if (at == NULL)
        return 0;
    for (at++; *at != '\0' && *at != '"'; at++)
        if (*at == '\\')
            at = put_escape(at, out);
        else
            snd_buffer_char(out, *at);
    *json = at + (*at == '"');
    return 1;
}

/* The words of a JSON list of strings, with spaces between them. */
static void
put_arguments(const char *json, snd_buffer *out)
{
    for (int is_first = 1;; is_first = 0) {
        snd_buffer word = {0};
        int is_there = snd_summary_argument(&json, &word);
        if (is_there)
            snd_buffer_printf(out, "%s%s", is_first ? "" : " ", snd_buffer_str(&word));
        snd_buffer_free(&word);
        if (!is_there)
            return;
    }
}

void
snd_summary_bold(const snd_summary *self, const char *text)
{
    snd_buffer_text(self->out, self->format->colour ? "\033[1m" : "");
    snd_utf8_clean(text, self->out);
    snd_buffer_text(self->out, self->format->colour ? "\033[0m\n" : "\n");
}

static void
put_program(const snd_summary *self)
{
    const char *arguments = snd_profile_info(self->profile, "arguments");
    const char *program = snd_profile_info(self->profile, "program");
    snd_buffer text = {0};

    if (arguments != NULL)
        put_arguments(arguments, &text);
    if (text.size == 0 && program != NULL)
        snd_buffer_text(&text, program);
    if (text.size != 0)
        snd_summary_bold(self, snd_buffer_str(&text));
    snd_buffer_free(&text);
}

static void
put_parts(const snd_facts *facts, snd_buffer *out)
{
    const struct {
        const char *name;
        uint64_t ns;
    } parts[] = {{"Python", facts->python_ns}, {"native", facts->native_ns}, {"system", facts->system_ns}};
    uint64_t all = facts->python_ns + facts->native_ns + facts->system_ns;

    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && all != 0; i++)
        snd_buffer_printf(out, "%s%.0f%% %s", i == 0 ? ": " : ", ", 100.0 * (double)parts[i].ns / (double)all,
                          parts[i].name);
}

/* "the machine was busy: 41% of the time a runnable thread had no processor". */
static void
put_busy(const snd_facts *facts, snd_buffer *out)
{
    size_t before = out->size;

    snd_waiting_put_busy(&facts->sampled, out);
    snd_buffer_text(out, out->size == before ? "" : "\n");
}

/* "garbage collection: 12 times, 34.0 ms, longest 9.1 ms". */
static void
put_collections(const snd_facts *facts, snd_buffer *out)
{
    char all[SND_DURATION_SIZE], most[SND_DURATION_SIZE];

    if (facts->collections == 0)
        return;
    snd_duration_text(facts->collections_ns, all);
    snd_duration_text(facts->longest_ns, most);
    snd_buffer_printf(out, "garbage collection: %llu run%s, %s in total, longest %s\n",
                      (unsigned long long)facts->collections, facts->collections == 1 ? "" : "s", all, most);
}

/* "ran for 1.600 s, 1.850 s of CPU (116% of one core): 67% Python, 25% native, 8% system; 310 ms waited; 3 threads". */
static void
put_totals(const snd_facts *facts, snd_buffer *out)
{
    char text[SND_DURATION_SIZE];

    if (facts->length_ns != 0) {
        snd_duration_text(facts->length_ns, text);
        snd_buffer_printf(out, "ran for %s, ", text);
    }
    snd_duration_text(facts->cpu_ns, text);
    snd_buffer_printf(out, "%s CPU", text);
    if (facts->length_ns != 0)
        snd_buffer_printf(out, " (%.0f%% of one core)", 100.0 * (double)facts->cpu_ns / (double)facts->length_ns);
    put_parts(facts, out);
    if (facts->waiting_ns != 0) {
        snd_duration_text(facts->waiting_ns, text);
        snd_buffer_printf(out, "; %s waiting", text);
    }
    snd_buffer_printf(out, "; %llu thread%s\n", (unsigned long long)facts->threads, facts->threads == 1 ? "" : "s");
    put_collections(facts, out);
    put_busy(facts, out);
}

/* ---- tables ---- */

void
snd_summary_show(snd_table *table, const char *const *names)
{
    unsigned traits = SND_COLUMN_SHOWN;

    for (uint32_t c = 0; c < table->column_count; c++)
        table->columns[c].traits &= ~SND_COLUMN_SHOWN;
    for (int ends = 0; ends < 2; names++) {
        int column = *names == NULL ? -1 : snd_table_find(table, *names);
        if (*names == NULL) {
            ends++;
            traits |= SND_COLUMN_OPTIONAL | SND_COLUMN_NO_EMPTY;
        }
        if (column >= 0)
            table->columns[column].traits |= traits;
    }
}

snd_status
snd_summary_put(const snd_summary *self, const char *heading, snd_table *table)
{
    snd_format_options format = *self->format;
    snd_table *shown = NULL;
    snd_status status = snd_table_select_shown(table, &shown);

    if (status == SND_OK) {
        format.no_footer = 1;
        snd_buffer_char(self->out, '\n');
        snd_summary_bold(self, heading);
        snd_format_table(shown, &format, self->out);
        put_note(self, table);
    }
    snd_table_free(shown);
    snd_table_free(table);
    return status;
}

static const snd_cell *
cell_of(const snd_table *table, uint32_t row, const char *column)
{
    return &table->rows[row].cells[(uint32_t)snd_table_find(table, column)];
}

/* A line with what the list is in the order of: its share is not zero. */
static int
is_line(const snd_table *table, uint32_t row)
{
    return cell_of(table, row, "line")->is_there && cell_of(table, row, "percent")->real > 0;
}

/* Lines that do not stand below each other need no indentation. */
static void
trim_sources(snd_table *table)
{
    uint32_t column = (uint32_t)snd_table_find(table, "source");

    for (uint32_t r = 0; r < table->row_count; r++) {
        snd_cell *cell = &table->rows[r].cells[column];
        if (cell->is_there)
            cell->text += strspn(cell->text, " ");
    }
}

/* Whether a row is inside what the program has marked: a file and the first and last line, tabs between them, on a
 * line.
 */
static int
is_marked(const snd_table *table, uint32_t row, const char *marked)
{
    const snd_cell *file = cell_of(table, row, "file"), *number = cell_of(table, row, "line");

    for (const char *line = marked; file->is_there && number->is_there && *line != '\0';) {
        size_t len = strcspn(line, "\n"), path = strcspn(line, "\t");
        char *rest = NULL;
        if (path < len && strlen(file->text) == path && strncmp(line, file->text, path) == 0) {
            long long first = strtoll(line + path, &rest, 10), last = strtoll(rest, NULL, 10);
            if (number->whole >= first && number->whole <= last)
                return 1;
        }
        line += len + (line[len] == '\n');
    }
    return 0;
}

/* The functions that the program marked with @profile come first, line by line. */
static void
put_marked(const snd_summary *self)
{
    static const char *const names[] = {"place",          "percent",        "source", NULL, "python_percent",
                                        "native_percent", "system_percent", "waited", NULL};
    const char *marked = snd_profile_info(self->profile, "marked");
    snd_table *table = NULL;

    if (marked == NULL)
        return;
    snd_work_need(snd_view_lines(self->profile, self->options, &table));
    for (uint32_t row = 0; row < table->row_count; row++)
        table->rows[row].is_extra = table->rows[row].is_extra || !is_marked(table, row, marked);
    snd_work_need(snd_table_keep(table, snd_summary_is_answer));
    if (table->row_count == 0)
        return;
    snd_summary_show(table, names);
    snd_table_limit(table, MARKED_LINES);
    snd_work_need(snd_summary_put(self, "Marked with @profile", table));
}

static void
put_lines(const snd_summary *self)
{
    int with_waiting = self->options->with_waiting;
    const char *const names[] = {"place",
                                 "percent",
                                 "source",
                                 NULL,
                                 "python_percent",
                                 "native_percent",
                                 "system_percent",
                                 with_waiting ? "waiting_percent" : "waited",
                                 NULL};
    snd_table *table = NULL;
    snd_work_need(snd_view_lines(self->profile, self->options, &table));

    snd_work_need(snd_table_sort(table, "percent"));
    snd_work_need(snd_table_keep(table, is_line));
    if (table->row_count == 0)
        return;
    snd_summary_show(table, names);
    trim_sources(table);
    snd_table_limit(table, LINES);
    snd_work_need(snd_summary_put(self, "Hottest lines", table));
}

/* What sonde itself took stands below. */
static int
is_function(const snd_table *table, uint32_t row)
{
    return strcmp(cell_of(table, row, "function")->text, "[sonde]") != 0 &&
           cell_of(table, row, "total_percent")->real > 0;
}

static void
put_functions(const snd_summary *self)
{
    int with_waiting = self->options->with_waiting;
    const char *const names[] = {"function",      with_waiting ? "self" : "self_cpu",
                                 "self_percent",  with_waiting ? "total" : "total_cpu",
                                 "total_percent", NULL,
                                 "place",         NULL};
    snd_table *table = NULL;
    snd_work_need(snd_view_sampled_functions(self->profile, self->options, &table));
    snd_work_need(snd_table_keep(table, is_function));
    if (table->row_count == 0)
        return;
    snd_summary_show(table, names);
    snd_table_limit(table, FUNCTIONS);
    snd_work_need(snd_summary_put(self, "Hottest functions", table));
}

/* The first few lines that had to wait for long, and the idle threads. What is the machine's stands above. */
static void
mark_waiting(const snd_summary *self, snd_table *table)
{
    double least = WAITING_SHARE / 100 * (double)snd_profile_info_number(self->profile, "length_ns");

    for (uint32_t row = 0; row < table->row_count; row++) {
        const char *kind = cell_of(table, row, "kind")->text;
        int is_long = row < WAITING_LINES && (double)cell_of(table, row, "wait_ns")->whole >= least;
        table->rows[row].is_extra = strcmp(kind, "idle") != 0 && (strcmp(kind, "machine") == 0 || !is_long);
    }
}

static void
put_waiting(const snd_summary *self, const snd_facts *facts)
{
    static const char *const names[] = {"place", "wait_ns", "wait_percent", "reason", "source", NULL, "threads", NULL};
    snd_table *table = NULL;

    if (!snd_waiting_is_much(&facts->sampled))
        return;
    snd_work_need(snd_view_waiting(self->profile, self->options, &table));
    mark_waiting(self, table);
    snd_work_need(snd_table_keep(table, snd_summary_is_answer));
    if (table->row_count == 0)
        return;
    snd_summary_show(table, names);
    snd_work_need(snd_summary_put(self, "Waiting", table));
}

int
snd_summary_is_answer(const snd_table *table, uint32_t row)
{
    return !table->rows[row].is_extra;
}

/* The footer of the tree is that of the summary; the caller frees it. */
static void
put_tree(const snd_summary *self, char **footer)
{
    snd_view_options options = *self->options;
    char heading[64] = "Call tree";
    snd_table *table = NULL;

    options.flat = options.by_time = 0;
    snd_work_need(snd_view_tree(self->profile, &options, &table));
    *footer = snd_strdup(table->footer == NULL ? "" : table->footer);
    snd_work_need(snd_table_keep(table, snd_summary_is_answer));
    uint32_t rows = table->row_count;
    snd_work_need(snd_table_keep_largest(table, self->options->with_waiting ? "time" : "cpu", TREE_ROWS));
    if (rows > TREE_ROWS)
        snprintf(heading, sizeof heading, "Call tree (the %u largest of %u rows)", TREE_ROWS, rows);
    snd_work_need(snd_summary_put(self, heading, table));
}

/* A region, or a thread with regions. */
static int
is_of_regions(const snd_table *table, uint32_t row)
{
    return table->rows[row].depth != 0 || (row + 1 < table->row_count && table->rows[row + 1].depth != 0);
}

static void
put_regions(const snd_summary *self)
{
    static const char *const names[] = {"name", "total", "percent_of_total", "count", NULL, "average", NULL};
    snd_table *table = NULL;
    int are_there = 0;

    for (uint32_t i = 0; i < self->profile->node_count; i++)
        are_there |= self->profile->sites[self->profile->nodes[i].site].kind == SND_SITE_REGION;
    if (!are_there || !snd_work_found(snd_view_regions(self->profile, self->options, &table)))
        return;
    snd_summary_show(table, names);
    snd_work_need(snd_table_keep(table, is_of_regions));
    snd_work_need(snd_table_keep_largest(table, "total", REGIONS));
    snd_work_need(snd_summary_put(self, "Regions", table));
}

void
snd_summary_put_footer(const snd_summary *self, const char *footer)
{
    size_t from = self->out->size;

    if (!self->format->no_footer)
        snd_buffer_printf(self->out, "\n%s\n", footer);
    snd_text_wrap(self->out, from, self->format->width);
}

static void
put_memory_only(const snd_summary *self)
{
    snd_buffer footer = {0};

    if (!snd_profile_has_memory(self->profile))
        snd_work_end(SND_NO_DATA);
    put_program(self);
    put_memory(self);
    put_regions(self);
    snd_memory_view_cost(self->profile, &footer);
    snd_summary_put_footer(self, snd_buffer_str(&footer));
}

static void
write_summary(const snd_summary *self)
{
    snd_facts facts;
    char *footer = NULL;
    size_t from = self->out->size;

    if (!snd_profile_has_samples(self->profile)) {
        put_memory_only(self);
        return;
    }
    put_program(self);
    snd_work_need(snd_facts_make(self->profile, self->options, &facts));
    put_totals(&facts, self->out);
    snd_text_wrap(self->out, from, self->format->width);
    put_marked(self);
    put_lines(self);
    put_waiting(self, &facts);
    put_functions(self);
    put_memory(self);
    put_tree(self, &footer);
    put_regions(self);
    snd_summary_put_footer(self, footer);
}

/* ---- as one work ---- */

typedef struct text_work {
    void (*write)(const snd_summary *self);
    snd_summary to;
    snd_buffer text;
} text_work;

static void
write_text(void *context)
{
    text_work *self = context;

    self->to.out = &self->text;
    self->write(&self->to);
}

snd_status
snd_summary_run(void (*write)(const snd_summary *self), const snd_summary *to)
{
    text_work self = {write, *to, {0}};
    size_t from = to->out->size;
    snd_status status = snd_work_write(write_text, &self, &self.text, to->out);

    if (!to->format->unicode)
        snd_text_plain(to->out, from);
    return status == SND_OK ? snd_buffer_status(to->out) : status;
}

snd_status
snd_summary_write(const snd_profile *profile, const snd_view_options *options, const snd_format_options *format,
                  snd_buffer *out)
{
    return snd_summary_run(write_summary, &(snd_summary){profile, options, format, out});
}
