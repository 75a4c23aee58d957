/* A file for KCachegrind, QCachegrind and callgrind_annotate: what the lines of functions cost, and their calls. The
 * format is that of https://valgrind.org/docs/manual/cl-format.html. */
#include "base/alloc.h"
#include "format/stacks/callgraph.h"
#include "format/table/format.h"

#include <string.h>

typedef struct annotating {
    const snd_profile *profile;
    snd_callgraph graph;
    snd_cost costs[SND_COST_COUNT]; /* the events of the file, in their order */
    unsigned cost_count;
    snd_intern *files;       /* their numbers are their ids and 1 */
    unsigned char *is_named; /* per function: its name was written */
    uint32_t named_files;
    snd_output out;
} annotating;

/* A name ends with its line. */
static void
put_name(snd_buffer *out, const char *name)
{
    for (; *name != '\0'; name++)
        snd_buffer_char(out, (unsigned char)*name < 0x20 || *name == 0x7f ? ' ' : *name);
    snd_buffer_char(out, '\n');
}

/* "fl=(3) name" the first time, "fl=(3)" later. */
static void
put_file(annotating *self, const char *key, const char *file)
{
    uint32_t id;
    const char *name = *file == '\0' ? "~" : file;
    snd_work_need(snd_intern_add(self->files, name, strlen(name), &id));

    snd_buffer_printf(&self->out.text, "%s=(%u)", key, id + 1);
    snd_buffer_char(&self->out.text, id < self->named_files ? '\n' : ' ');
    if (id >= self->named_files) {
        put_name(&self->out.text, name);
        self->named_files = id + 1;
    }
}

static void
put_function_name(annotating *self, const char *key, uint32_t function)
{
    snd_buffer_printf(&self->out.text, "%s=(%u)", key, function + 1);
    snd_buffer_char(&self->out.text, self->is_named[function] ? '\n' : ' ');
    if (!self->is_named[function])
        put_name(&self->out.text, self->graph.functions[function].name);
    self->is_named[function] = 1;
}

static void
put_costs(annotating *self, uint32_t line, const snd_cost_values *values)
{
    snd_buffer_number(&self->out.text, line);
    for (unsigned i = 0; i < self->cost_count; i++) {
        snd_buffer_char(&self->out.text, ' ');
        snd_buffer_number(&self->out.text, values->of[self->costs[i]]);
    }
    snd_buffer_char(&self->out.text, '\n');
}

/* A call needs a number: of what was sampled it is the samples in it, one at least. */
static uint64_t
calls_of(const annotating *self, const snd_callgraph_pair *pair)
{
    uint64_t count = pair->numbers.total.of[SND_COST_SAMPLES];

    if (self->graph.is_of_calls || pair->numbers.self.of[SND_COST_ENTRIES] != 0)
        count = pair->numbers.count;
    return count == 0 ? 1 : count;
}

static void
put_call(annotating *self, const snd_callgraph_pair *pair)
{
    static const snd_cost_values nothing;
    const snd_callgraph_function *callee = &self->graph.functions[pair->callee];
    put_file(self, "cfi", callee->file);

    put_function_name(self, "cfn", pair->callee);
    snd_buffer_text(&self->out.text, "calls=");
    snd_buffer_number(&self->out.text, calls_of(self, pair));
    snd_buffer_printf(&self->out.text, " %u\n", callee->line);
    /* programs add the calls of a function to its own cost: what it does inside itself is there already */
    put_costs(self, pair->line, pair->caller == pair->callee ? &nothing : &pair->numbers.total);
    snd_work_need(snd_output_flush_full(&self->out));
}

static void
put_function(annotating *self, uint32_t function, uint32_t *line, uint32_t *pair)
{
    const snd_callgraph *graph = &self->graph;
    const snd_callgraph_function *about = &graph->functions[function];

    if (!snd_callgraph_is_used(&about->numbers))
        return;
    snd_buffer_char(&self->out.text, '\n');
    put_file(self, "fl", about->file);
    put_function_name(self, "fn", function);
    for (; *line < graph->line_count && graph->lines[*line].function == function; ++*line)
        put_costs(self, graph->lines[*line].line, &graph->lines[*line].self);
    for (; *pair < graph->pair_count && graph->pairs[*pair].caller == function; ++*pair)
        if (snd_callgraph_is_used(&graph->pairs[*pair].numbers))
            put_call(self, &graph->pairs[*pair]);
}

/* Events of callgrind_annotate are words of letters and digits, and the first is the one that is shown by default. */
static void
put_head(annotating *self)
{
    snd_buffer *out = &self->out.text;
    const char *program = snd_profile_info(self->profile, "program");

    snd_buffer_text(out, "# callgrind format\nversion: 1\ncreator: sonde\n");
    if (snd_profile_info(self->profile, "process_id") != NULL)
        snd_buffer_printf(out, "pid: %llu\n", (unsigned long long)snd_profile_info_number(self->profile, "process_id"));
    snd_buffer_text(out, "cmd: ");
    put_name(out, program == NULL ? "" : program);
    snd_buffer_text(out, "part: 1\npositions: line\n");
    for (unsigned i = 0; i < self->cost_count; i++)
        snd_buffer_printf(out, "event: %s : %s (%s)\n", snd_costs[self->costs[i]].name,
                          snd_costs[self->costs[i]].meaning, snd_costs[self->costs[i]].unit);
    snd_buffer_text(out, "events:");
    for (unsigned i = 0; i < self->cost_count; i++)
        snd_buffer_printf(out, " %s", snd_costs[self->costs[i]].name);
    snd_buffer_text(out, "\nsummary:");
    for (unsigned i = 0; i < self->cost_count; i++) {
        snd_buffer_char(out, ' ');
        snd_buffer_number(out, self->graph.all.of[self->costs[i]]);
    }
    snd_buffer_char(out, '\n');
}

static void
choose_costs(annotating *self, snd_cost first, int cpu_only)
{
    const snd_cost_values *all = &self->graph.all;

    if (first != SND_COST_COUNT && all->of[first] != 0)
        self->costs[self->cost_count++] = first;
    for (unsigned i = 0; i < SND_COST_COUNT; i++)
        if (all->of[i] != 0 && i != first && !(cpu_only && i == SND_COST_WALL))
            self->costs[self->cost_count++] = (snd_cost)i;
}

static void
put_all(annotating *self)
{
    uint32_t line = 0, pair = 0;

    put_head(self);
    for (uint32_t i = 0; i < self->graph.function_count; i++)
        put_function(self, i, &line, &pair);
    snd_buffer_text(&self->out.text, "\ntotals:");
    for (unsigned i = 0; i < self->cost_count; i++) {
        snd_buffer_char(&self->out.text, ' ');
        snd_buffer_number(&self->out.text, self->graph.all.of[self->costs[i]]);
    }
    snd_buffer_char(&self->out.text, '\n');
    snd_work_need(snd_output_flush(&self->out));
}

static void
write_recording(const snd_profile *profile, const snd_export_options *options, int file)
{
    const snd_callgraph_options wish = {.by_line = 1, .cpu_only = options->cpu_only};
    annotating self = {.profile = profile, .out.file = file};

    snd_callgraph_make(profile, &wish, &self.graph);
    self.files = snd_intern_new();
    self.is_named = snd_calloc((size_t)self.graph.function_count + 1, 1);
    choose_costs(&self, snd_export_cost(profile, options), options->cpu_only);
    if (self.cost_count == 0)
        snd_work_end(SND_NO_DATA);
    put_all(&self);
}

SND_FORMAT_WORK(callgrind, write_recording)
