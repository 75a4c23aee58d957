/* A file for pstats.Stats: {(file, line, name): (primitive, calls, self, total, {caller: (calls, primitive, self,
 * total)})}, times in seconds, as the module marshal writes it. The types used here are read by every Python 3. */
#include "base/utf8.h"
#include "format/stacks/callgraph.h"
#include "format/table/format.h"

#include <string.h>

typedef struct listing {
    snd_callgraph graph;
    snd_cost cost;
    snd_buffer text;
    snd_output out;
} listing;

/* ---- values ---- */

static void
put_little(snd_buffer *out, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        snd_buffer_char(out, (char)(unsigned char)(value >> (8 * i)));
}

/* A long is its number of digits, then the digits: 15 bits each, the lowest first. */
static void
put_whole(snd_buffer *out, uint64_t value)
{
    unsigned digits = 0;

    if (value <= INT32_MAX) {
        snd_buffer_char(out, 'i');
        put_little(out, value, 4);
        return;
    }
    for (uint64_t left = value; left != 0; left >>= 15)
        digits++;
    snd_buffer_char(out, 'l');
    put_little(out, digits, 4);
    for (; value != 0; value >>= 15)
        put_little(out, value & 0x7fff, 2);
}

static void
put_seconds(snd_buffer *out, uint64_t ns)
{
    double seconds = (double)ns / 1e9;
    uint64_t bits;

    memcpy(&bits, &seconds, sizeof bits);
    snd_buffer_char(out, 'g');
    put_little(out, bits, 8);
}

static void
put_text(listing *self, const char *text)
{
    snd_buffer *out = &self->out.text;

    snd_buffer_clear(&self->text);
    snd_utf8_put(text, &self->text);
    snd_buffer_char(out, 'u');
    put_little(out, self->text.size, 4);
    snd_buffer_put(out, self->text.data, self->text.size);
}

static void
put_tuple(snd_buffer *out, unsigned count)
{
    snd_buffer_char(out, '(');
    put_little(out, count, 4);
}

/* ---- the dictionary ---- */

/* What is no file's stands in "~". */
static void
put_label(listing *self, uint32_t function)
{
    const snd_callgraph_function *about = &self->graph.functions[function];

    put_tuple(&self->out.text, 3);
    put_text(self, *about->file == '\0' ? "~" : about->file);
    put_whole(&self->out.text, about->line);
    put_text(self, about->name);
}

static void
put_times(listing *self, const snd_callgraph_numbers *numbers)
{
    put_seconds(&self->out.text, numbers->self.of[self->cost]);
    put_seconds(&self->out.text, numbers->total.of[self->cost]);
}

/* Of a pair pstats wants the number of calls first. */
static void
put_caller(listing *self, const snd_callgraph_pair *pair)
{
    put_label(self, pair->caller);
    put_tuple(&self->out.text, 4);
    put_whole(&self->out.text, pair->numbers.count);
    put_whole(&self->out.text, pair->numbers.primitive);
    put_times(self, &pair->numbers);
}

static void
put_function(listing *self, uint32_t function, uint32_t *pair)
{
    const snd_callgraph_numbers *numbers = &self->graph.functions[function].numbers;
    int is_used = snd_callgraph_is_used(numbers);
    snd_buffer *out = &self->out.text;

    if (is_used) {
        put_label(self, function);
        put_tuple(out, 5);
        put_whole(out, numbers->primitive);
        put_whole(out, numbers->count);
        put_times(self, numbers);
        snd_buffer_char(out, '{');
    }
    for (; *pair < self->graph.pair_count && self->graph.pairs[*pair].callee == function; ++*pair) {
        if (is_used && snd_callgraph_is_used(&self->graph.pairs[*pair].numbers))
            put_caller(self, &self->graph.pairs[*pair]);
        snd_work_need(snd_output_flush_full(&self->out));
    }
    if (is_used)
        snd_buffer_char(out, '0');
}

static void
put_all(listing *self)
{
    uint32_t pair = 0;

    snd_callgraph_turn(&self->graph);
    snd_buffer_char(&self->out.text, '{');
    for (uint32_t i = 0; i < self->graph.function_count; i++)
        put_function(self, i, &pair);
    snd_buffer_char(&self->out.text, '0');
    snd_work_need(snd_output_flush(&self->out));
}

static void
write_recording(const snd_profile *profile, const snd_export_options *options, int file)
{
    const snd_callgraph_options wish = {.cpu_only = options->cpu_only, .short_names = 1};
    listing self = {.out.file = file};

    snd_callgraph_make(profile, &wish, &self.graph);
    self.cost = self.graph.is_of_calls ? SND_COST_TIME : snd_export_cost(profile, options);
    if (self.cost == SND_COST_COUNT || strcmp(snd_costs[self.cost].unit, "nanoseconds") != 0)
        snd_work_end(SND_NO_DATA);
    put_all(&self);
}

SND_FORMAT_WORK(pstats, write_recording)
