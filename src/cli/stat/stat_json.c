/* sonde stat: what was measured, for programs. The fields stand in docs/stat.md. */
#include "cli/stat/stat.h"

#include "base/alloc.h"
#include "base/text.h"

#include <math.h>

static void
put_number(snd_buffer *out, const char *name, double value)
{
    if (isfinite(value))
        snd_buffer_printf(out, "\"%s\": %.15g", name, value);
    else
        snd_buffer_printf(out, "\"%s\": null", name);
}

static void
put_text(snd_buffer *out, const char *name, const char *text)
{
    snd_buffer_printf(out, "\"%s\": ", name);
    if (text == NULL)
        snd_buffer_text(out, "null");
    else
        snd_json_string(out, text);
}

/* Numbers of one run each, in the order of the runs. */
static void
put_values(const snd_stat_side *side, snd_used which, snd_buffer *out)
{
    int is_first = 1;

    snd_buffer_text(out, "\"values\": [");
    for (uint32_t i = 0; i < side->sample_count; i++) {
        if (side->samples[i].used.why[which] != NULL)
            continue;
        snd_buffer_printf(out, "%s%.15g", is_first ? "" : ", ", side->samples[i].used.values[which]);
        is_first = 0;
    }
    snd_buffer_char(out, ']');
}

static void
put_counter(const snd_stat_side *side, snd_used which, const snd_statistics *of, snd_buffer *out)
{
    int is_of_run = side->statement == NULL || which == SND_USED_PEAK_RSS;

    snd_buffer_text(out, "    {");
    put_text(out, "name", snd_used_get(which)->name);
    snd_buffer_printf(out, ", \"unit\": \"%s\", \"per\": \"%s\", \"count\": %u, ", snd_used_get(which)->unit,
                      is_of_run ? "run" : "loop", of->count);
    put_number(out, "mean", of->mean);
    snd_buffer_text(out, ", ");
    put_number(out, "deviation", of->deviation);
    snd_buffer_text(out, ", ");
    put_number(out, "min", of->min);
    snd_buffer_text(out, ", ");
    put_number(out, "median", of->median);
    snd_buffer_text(out, ", ");
    put_number(out, "max", of->max);
    snd_buffer_text(out, ", ");
    put_text(out, "scope", snd_stat_scope(side, which));
    snd_buffer_text(out, ", ");
    put_values(side, which, out);
    snd_buffer_char(out, '}');
}

static snd_status
put_counters(const snd_stat_side *side, snd_buffer *out)
{
    double *values = snd_calloc((size_t)side->sample_count + 1, sizeof *values);
    int is_first = 1;

    if (values == NULL)
        return SND_NO_MEMORY;
    snd_buffer_text(out, "   \"counters\": [");
    for (unsigned i = 0; i < SND_USED_COUNT_OF; i++) {
        snd_statistics of = snd_stat_of(side, (snd_used)i, values);
        if (of.count == 0)
            continue;
        snd_buffer_text(out, is_first ? "\n" : ",\n");
        put_counter(side, (snd_used)i, &of, out);
        is_first = 0;
    }
    snd_buffer_text(out, "],\n");
    snd_free(values);
    return SND_OK;
}

static void
put_missing(const snd_stat_side *side, snd_buffer *out)
{
    int is_first = 1;

    snd_buffer_text(out, "   \"missing\": [");
    for (unsigned i = 0; i < SND_USED_COUNT_OF; i++) {
        const char *why = snd_stat_why(side, (snd_used)i);
        if (why == NULL)
            continue;
        snd_buffer_text(out, is_first ? "{" : ", {");
        put_text(out, "name", snd_used_get((snd_used)i)->name);
        snd_buffer_text(out, ", ");
        put_text(out, "reason", why);
        snd_buffer_char(out, '}');
        is_first = 0;
    }
    snd_buffer_text(out, "],\n");
}

static void
put_derived(const snd_stat_side *side, snd_buffer *out)
{
    int is_first = 1;
    double value;

    snd_buffer_text(out, "   \"derived\": {");
    for (unsigned i = 0; i < snd_stat_derived_count; i++) {
        if (!snd_stat_derive(side, &snd_stat_derived_list[i], &value))
            continue;
        snd_buffer_text(out, is_first ? "" : ", ");
        put_number(out, snd_stat_derived_list[i].name, value);
        is_first = 0;
    }
    snd_buffer_text(out, "},\n");
}

static void
put_failures(const snd_stat_side *side, snd_buffer *out)
{
    snd_buffer_text(out, "   \"failed\": [");
    for (uint32_t i = 0; i < side->failure_count; i++) {
        const snd_stat_failure *one = &side->failures[i];
        snd_buffer_printf(out, "%s{\"run\": %u, \"%s\": %d}", i == 0 ? "" : ", ", one->run,
                          one->end.signal == 0 ? "status" : "signal",
                          one->end.signal == 0 ? one->end.status : one->end.signal);
    }
    snd_buffer_text(out, "]}");
}

/* What it is: the words of a command, or a statement. */
static void
put_subject(const snd_stat *self, const snd_stat_side *side, snd_buffer *out)
{
    if (side->statement != NULL) {
        put_text(out, "statement", side->statement);
        snd_buffer_text(out, ", ");
        put_text(out, "setup", self->setup);
        snd_buffer_printf(out, ", \"loops\": %llu, ", (unsigned long long)side->loops);
        put_number(out, "empty_loop_ns", side->empty_ns > 0 ? side->empty_ns : NAN);
        return;
    }
    snd_buffer_text(out, "\"command\": [");
    for (const char *const *word = side->argv; *word != NULL; word++) {
        snd_buffer_text(out, word == side->argv ? "" : ", ");
        snd_json_string(out, *word);
    }
    snd_buffer_char(out, ']');
}

static snd_status
put_side(const snd_stat *self, unsigned number, snd_buffer *out)
{
    const snd_stat_side *side = &self->sides[number];

    snd_buffer_printf(out, "%s\n  {\"side\": \"%c\", ", number == 0 ? "" : ",", 'A' + (char)number);
    put_subject(self, side, out);
    snd_buffer_printf(out, ", \"runs\": %u,\n", side->run_count);
    snd_status status = put_counters(side, out);
    put_missing(side, out);
    put_derived(side, out);
    put_failures(side, out);
    return status;
}

static snd_status
put_ratios(const snd_stat *self, snd_buffer *out)
{
    snd_status status = SND_OK;
    int is_first = 1;

    snd_buffer_text(out, ",\n \"ratios\": [");
    for (unsigned i = 0; i < SND_USED_COUNT_OF && status == SND_OK; i++) {
        snd_ratio ratio;
        status = snd_stat_ratio(self, (snd_used)i, &ratio);
        if (status != SND_OK || !ratio.is_known)
            continue;
        snd_buffer_text(out, is_first ? "\n  {" : ",\n  {");
        put_text(out, "name", snd_used_get((snd_used)i)->name);
        snd_buffer_text(out, ", ");
        put_number(out, "ratio", ratio.ratio);
        snd_buffer_text(out, ", ");
        put_number(out, "low", ratio.has_interval ? ratio.low : NAN);
        snd_buffer_text(out, ", ");
        put_number(out, "high", ratio.has_interval ? ratio.high : NAN);
        snd_buffer_text(out, ", \"confidence\": 0.95, ");
        put_text(out, "verdict", snd_stat_verdict(&ratio));
        snd_buffer_char(out, '}');
        is_first = 0;
    }
    snd_buffer_char(out, ']');
    return status;
}

snd_status
snd_stat_json(const snd_stat *self, snd_buffer *out)
{
    snd_status status = SND_OK;

    snd_buffer_text(out, "{\"sonde\": \"" SND_VERSION "\", \"kind\": \"stat\"");
    snd_buffer_printf(out, ", \"warmup\": %u, \"interrupted\": %s,\n \"sides\": [", self->warmup,
                      self->interrupted_by != 0 ? "true" : "false");
    for (unsigned i = 0; i < self->side_count && status == SND_OK; i++)
        status = put_side(self, i, out);
    snd_buffer_char(out, ']');
    if (status == SND_OK && self->side_count > 1)
        status = put_ratios(self, out);
    snd_buffer_text(out, "}\n");
    return status == SND_OK ? snd_buffer_status(out) : status;
}
