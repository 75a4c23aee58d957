/* The report about compiled functions: each by itself, and all of them in sum. */
#include "base/alloc.h"
#include "base/text.h"
#include "base/utf8.h"
#include "format/table/reports.h"
#include "format/table/summary.h"
#include "view/graph/graph_tree.h"

#include <stdio.h>
#include <string.h>

/* Names in a list go to the next line behind this many cells, or at the terminal's edge. */
#define LINE_WIDTH 100u
#define WORDS_LIMIT 1000u

typedef struct report {
    snd_summary to;
    snd_graph_limits limits;
    snd_graph_functions functions;
} report;

/* ---- sections ---- */

static void
put_section(const report *self, const char *heading, snd_table *table)
{
    if (table->row_count != 0)
        snd_work_need(snd_summary_put(&self->to, heading, table));
}

static void
put_runs(const report *self, const snd_graph *graph)
{
    static const struct {
        snd_site_kind kind;
        const char *heading;
    } sections[] = {
        {SND_SITE_GRAPH_CLASS, "Class"},
        {SND_SITE_GRAPH_OP, "Ops"},
        {SND_SITE_GRAPH_APPLY, "Apply"},
    };

    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        uint32_t limit = sections[i].kind == SND_SITE_GRAPH_APPLY ? self->limits.applies : self->limits.ops;
        snd_table *table = NULL;
        snd_graph_table(graph, sections[i].kind, limit, &table);
        put_section(self, sections[i].heading, table);
    }
}

static void
put_memory(const report *self, const snd_graph *graph)
{
    snd_table *table = NULL;
    snd_graph_peak_table(graph, &table);

    put_section(self, graph->function_count > 1 ? "Memory: largest peaks of a function" : "Memory: peaks", table);
    snd_graph_memory_table(graph, self->limits.applies, self->limits.memory, &table);
    put_section(self, "Memory: outputs of one call, by node", table);
}

/* Names with commas between them, in lines. */
static void
put_name(const report *self, const char *name, size_t *used)
{
    size_t width = snd_utf8_width(name) + 2;
    size_t limit = self->to.format->width == 0 ? LINE_WIDTH : self->to.format->width;

    if (*used != 0)
        snd_buffer_char(self->to.out, ',');
    if (*used == 0 || *used + width > limit) {
        snd_buffer_text(self->to.out, *used == 0 ? "  " : "\n  ");
        *used = 2;
    }
    else
        snd_buffer_char(self->to.out, ' ');
    snd_utf8_clean(name, self->to.out);
    *used += width;
}

/* Rewriters that were tried and never changed anything, longest first. */
static int
compare_times(const void *a, const void *b, void *context)
{
    const snd_graph *graph = context;
    uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
    uint64_t x = graph->nodes[first].total_ns, y = graph->nodes[second].total_ns;

    if (x != y)
        return x > y ? -1 : 1;
    return first < second ? -1 : first > second;
}

static void
put_idle(const report *self, const snd_graph *graph)
{
    uint32_t count, idle = 0;
    uint64_t ns = 0;
    size_t used = 0;
    char spent[SND_DURATION_SIZE];
    uint32_t *list = snd_graph_sorted(graph, SND_SITE_GRAPH_REWRITER, compare_times, &count);
    for (uint32_t i = 0; i < count; i++)
        if (snd_graph_is_idle(graph, list[i])) {
            ns += graph->nodes[list[i]].total_ns;
            list[idle++] = list[i];
        }
    snd_duration_text(ns, spent);
    if (idle != 0)
        snd_buffer_printf(self->to.out, "\nNever applied: %u rewriter%s, %s in total, longest first\n", idle,
                          idle == 1 ? "" : "s", spent);
    for (uint32_t i = 0; i < idle; i++)
        put_name(self, graph->nodes[list[i]].site->name, &used);
    if (idle != 0)
        snd_buffer_char(self->to.out, '\n');
}

static void
put_rewriting(const report *self, const snd_graph *graph)
{
    snd_table *table = NULL;
    snd_graph_rewriter_table(graph, &table);

    put_section(self, "Rewriting", table);
    put_idle(self, graph);
}

/* ---- functions ---- */

static void
put_rule(const report *self, const char *text)
{
    snd_buffer_repeat(self->to.out, '=', snd_utf8_width(text));
    snd_buffer_char(self->to.out, '\n');
}

/* A title with a line below it. */
static void
put_title(const report *self, snd_buffer *text)
{
    snd_buffer clean = {0};

    snd_utf8_clean(snd_buffer_str(text), &clean);
    self->to.out->failed |= text->failed | clean.failed;
    if (self->to.out->size != 0)
        snd_buffer_text(self->to.out, "\n\n");
    snd_summary_bold(&self->to, snd_buffer_str(&clean));
    put_rule(self, snd_buffer_str(&clean));
    snd_buffer_free(&clean);
    snd_buffer_free(text);
}

static void
put_times(const report *self, const snd_graph *graph)
{
    snd_format_options format = *self->to.format;
    snd_table *table = NULL;
    snd_graph_time_table(graph, &table);
    format.no_footer = 1;
    if (graph->nodes[0].count == 0)
        snd_buffer_printf(self->to.out, "no calls\n%s", table->row_count == 0 ? "" : "\n");
    if (table->row_count != 0)
        snd_format_table(table, &format, self->to.out);
    if (!graph->is_timed && graph->nodes[0].count != 0)
        snd_buffer_text(self->to.out,
                        "\nThe nodes of this function were not timed, so there is no Class, Ops or Apply table.\n");
}

static void
put_graph(const report *self, const snd_graph *graph)
{
    put_runs(self, graph);

    put_memory(self, graph);
    put_rewriting(self, graph);
}

static void
put_function(const report *self, uint32_t number)
{
    const snd_graph_function *function = &self->functions.rows[number];
    const snd_profile *profile = self->to.profile;
    snd_buffer title = {0};
    snd_graph graph;
    snd_graph_make(&self->functions, number, &graph);
    snd_buffer_printf(&title, "Function %s", function->name);
    if (function->outer != SND_NONE)
        snd_buffer_printf(&title, ", inside %s of %s", profile->sites[profile->nodes[function->apply].site].name,
                          self->functions.rows[function->outer].name);
    put_title(self, &title);
    put_times(self, &graph);
    put_graph(self, &graph);
}

static void
put_sum(const report *self)
{
    snd_table *table = NULL;
    snd_buffer title = {0};
    snd_graph graph;
    snd_graph_make(&self->functions, SND_NONE, &graph);
    snd_buffer_printf(&title, "Total (%u function%s)", self->functions.called_count,
                      self->functions.called_count == 1 ? "" : "s");
    put_title(self, &title);
    put_times(self, &graph);
    snd_graph_function_table(&self->functions, &table);
    put_section(self, "Functions", table);
    put_graph(self, &graph);
}

/* ---- words that only those know who measured ---- */

/* Facts of the run are numbered from 1 on: graph_note_1, graph_note_2, ... An empty one was true only for a while. */
static void
put_words(const report *self, const char *key, const char *heading)
{
    char name[64];
    int is_first = 1;

    for (unsigned i = 1; i <= WORDS_LIMIT; i++) {
        snprintf(name, sizeof name, "%s_%u", key, i);
        const char *text = snd_profile_info(self->to.profile, name);
        if (text == NULL)
            return;
        if (*text == '\0')
            continue;
        if (is_first) {
            snd_buffer_char(self->to.out, '\n');
            snd_summary_bold(&self->to, heading);
            is_first = 0;
        }
        snd_buffer_text(self->to.out, "- ");
        snd_utf8_clean(text, self->to.out);
        snd_buffer_char(self->to.out, '\n');
    }
}

static int
is_shown(const report *self, const char *name)
{
    for (uint32_t i = 0; i < self->functions.count && !self->to.options->total; i++)
        if (strcmp(self->functions.rows[i].name, name) == 0)
            return 1;
    return 0;
}

/* A graph as text: a line with the function's name, then the graph's lines. */
static void
put_text(const report *self, const char *text)
{
    int is_first = 1;

    for (const char *end; *text != '\0'; text = *end == '\0' ? end : end + 1) {
        snd_buffer line = {0}, heading = {0};
        end = strchr(text, '\n');
        end = end == NULL ? text + strlen(text) : end;
        snd_buffer_put(&line, text, (size_t)(end - text));
        if (is_first && !is_shown(self, snd_buffer_str(&line)))
            return;
        if (is_first) {
            snd_buffer_printf(&heading, "Graph of %s", snd_buffer_str(&line));
            snd_buffer_char(self->to.out, '\n');
            snd_summary_bold(&self->to, snd_buffer_str(&heading));
        }
        else {
            snd_utf8_clean(snd_buffer_str(&line), self->to.out);
            snd_buffer_char(self->to.out, '\n');
        }
        is_first = 0;
    }
}

/* The graphs themselves, if they were asked for: graph_text_1, graph_text_2, ... */
static void
put_texts(const report *self)
{
    char key[64];

    for (unsigned i = 1; i <= WORDS_LIMIT; i++) {
        snprintf(key, sizeof key, "graph_text_%u", i);
        const char *text = snd_profile_info(self->to.profile, key);
        if (text == NULL)
            return;
        put_text(self, text);
    }
}

static void
write_report(const snd_summary *to)
{
    report self = {
        .to = *to,
        .limits = to->options->limits == NULL ? snd_graph_limits_of(to->profile) : *to->options->limits,
    };

    snd_graph_functions_make(to->profile, to->options, &self.functions);
    for (uint32_t i = 0; i < self.functions.count && !to->options->total; i++)
        put_function(&self, i);
    if (self.functions.called_count > 1 || to->options->total)
        put_sum(&self);
    put_texts(&self);
    put_words(&self, "graph_note", "Notes");
    put_words(&self, "graph_tip", "Tips");
}

snd_status
snd_report_graph(const snd_profile *profile, const snd_view_options *options, const snd_format_options *format,
                 snd_buffer *out)
{
    return snd_summary_run(write_report, &(snd_summary){profile, options, format, out});
}
