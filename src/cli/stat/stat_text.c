/* sonde stat: what was measured, for people. */
#include "cli/stat/stat.h"

#include "base/alloc.h"
#include "base/text.h"
#include "base/utf8.h"
#include "base/work.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { COUNTER, MEAN, DEVIATION, MIN, MEDIAN, MAX, NOTE, COLUMN_COUNT };

static const snd_column columns[] = {
    [COUNTER] = {"counter", "counter", SND_UNIT_TEXT, SND_COLUMN_SHOWN | SND_COLUMN_MAIN},
    [MEAN] = {"mean", "mean", SND_UNIT_LABEL, SND_COLUMN_SHOWN},
    [DEVIATION] = {"deviation", "deviation", SND_UNIT_LABEL, SND_COLUMN_SHOWN},
    [MIN] = {"min", "min", SND_UNIT_LABEL, SND_COLUMN_SHOWN},
    [MEDIAN] = {"median", "median", SND_UNIT_LABEL, SND_COLUMN_SHOWN},
    [MAX] = {"max", "max", SND_UNIT_LABEL, SND_COLUMN_SHOWN | SND_COLUMN_OPTIONAL},
    [NOTE] = {"note", "", SND_UNIT_TEXT, SND_COLUMN_SHOWN},
};

/* Of one run there is only this. */
static const snd_column single_columns[] = {
    {"counter", "counter", SND_UNIT_TEXT, SND_COLUMN_SHOWN | SND_COLUMN_MAIN},
    {"value", "value", SND_UNIT_LABEL, SND_COLUMN_SHOWN},
    {"note", "", SND_UNIT_TEXT, SND_COLUMN_SHOWN},
};

enum { RATIO_COUNTER, FIRST, SECOND, RATIO, INTERVAL, VERDICT, RATIO_COLUMN_COUNT };

static const snd_column ratio_columns[] = {
    [RATIO_COUNTER] = {"counter", "counter", SND_UNIT_TEXT, SND_COLUMN_SHOWN | SND_COLUMN_MAIN},
    [FIRST] = {"a", "A", SND_UNIT_LABEL, SND_COLUMN_SHOWN},
    [SECOND] = {"b", "B", SND_UNIT_LABEL, SND_COLUMN_SHOWN},
    [RATIO] = {"ratio", "B / A", SND_UNIT_LABEL, SND_COLUMN_SHOWN},
    [INTERVAL] = {"interval", "95 % interval", SND_UNIT_LABEL, SND_COLUMN_SHOWN},
    [VERDICT] = {"verdict", "B is", SND_UNIT_TEXT, SND_COLUMN_SHOWN},
};

/* Four digits at most, as far as they say something. */
static int
digits_for(double value)
{
    return value >= 500 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : 3;
}

static void
put_ns(double ns, snd_buffer *out)
{
    static const struct {
        double size;
        const char *name;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}};
    size_t i = 0;

    while (i < 3 && ns < 0.99999 * units[i].size)
        i++;
    double value = ns / units[i].size;
    snd_buffer_printf(out, "%.*f %s", value == 0 ? 0 : digits_for(value), value, units[i].name);
}

/* Whole numbers as they are; means between them, and what is below 1, with as many digits as a time has. */
static void
put_count(double count, snd_buffer *out)
{
    if (count == floor(count) || count >= 500)
        snd_buffer_printf(out, "%.0f", count);
    else if (count < 0.0995)
        snd_buffer_printf(out, "%.2g", count);
    else
        snd_buffer_printf(out, "%.*f", digits_for(count), count);
}

void
snd_stat_value_text(snd_used which, double value, snd_buffer *out)
{
    const char *unit = snd_used_get(which)->unit;
    char bytes[SND_BYTES_SIZE];

    if (strcmp(unit, "ns") == 0)
        put_ns(value, out);
    else if (strcmp(unit, "bytes") == 0) {
        snd_bytes_text(snd_bytes_of(value), bytes);
        snd_buffer_text(out, bytes);
    }
    else
        put_count(value, out);
}

static void
set_value(snd_table *table, snd_cell *cell, snd_used which, double value, const char *before)
{
    snd_buffer text = {0};

    snd_buffer_text(&text, before);
    snd_stat_value_text(which, value, &text);
    snd_set_buffer(table, cell, &text);
}

/* "page faults". */
static void
set_name(snd_table *table, snd_cell *cell, snd_used which)
{
    snd_buffer text = {0};

    for (const char *at = snd_used_get(which)->name; *at != '\0'; at++)
        snd_buffer_char(&text, *at == '_' ? ' ' : *at);
    snd_set_buffer(table, cell, &text);
}

/* What follows from a counter and another, and how it was counted. */
static void
set_note(const snd_stat_side *side, snd_table *table, snd_cell *cell, snd_used which)
{
    const char *scope = snd_stat_scope(side, which);
    snd_buffer text = {0};
    double value;

    for (unsigned i = 0; i < snd_stat_derived_count; i++) {
        const snd_stat_derived *what = &snd_stat_derived_list[i];
        if (what->above != which || !snd_stat_derive(side, what, &value))
            continue;
        snd_buffer_printf(&text, "%s%.*f %s", text.size == 0 ? "" : ", ", value == 0 ? 0 : digits_for(value), value,
                          what->unit);
    }
    if (scope != NULL)
        snd_buffer_printf(&text, "%s%s", text.size == 0 ? "" : ", ", scope);
    snd_set_buffer(table, cell, &text);
}

static void
add_many(const snd_stat_side *side, snd_table *table, snd_used which, const snd_statistics *of,
         const snd_format_options *look)
{
    const struct {
        int column;
        double value;
        const char *before;
    } numbers[] = {{MEAN, of->mean, ""},
                   {DEVIATION, of->deviation, look->unicode ? "± " : "+- "},
                   {MIN, of->min, ""},
                   {MEDIAN, of->median, ""},
                   {MAX, of->max, ""}};
    snd_cell *cells = snd_table_row(table, 0);

    set_name(table, &cells[COUNTER], which);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        set_value(table, &cells[numbers[i].column], which, numbers[i].value, numbers[i].before);
    set_note(side, table, &cells[NOTE], which);
}

static void
add_single(const snd_stat_side *side, snd_table *table, snd_used which, const snd_statistics *of,
           const snd_format_options *look)
{
    (void)look;
    snd_cell *cells = snd_table_row(table, 0);

    set_name(table, &cells[0], which);
    set_value(table, &cells[1], which, of->mean, "");
    set_note(side, table, &cells[2], which);
}

static void
write_side(const snd_stat_side *side, const snd_format_options *look, snd_buffer *out)
{
    int is_single = side->sample_count == 1;
    snd_table *table =
        is_single ? snd_table_new("stat", single_columns, 3) : snd_table_new("stat", columns, COLUMN_COUNT);
    double *values = snd_new((size_t)side->sample_count + 1, sizeof *values);

    for (unsigned i = 0; i < SND_USED_COUNT_OF; i++) {
        snd_statistics of = snd_stat_of(side, (snd_used)i, values);
        if (of.count != 0)
            (is_single ? add_single : add_many)(side, table, (snd_used)i, &of, look);
    }
    snd_format_table(table, look, out);
}

/* ---- the sentences around the tables ---- */

static void
put_head(const snd_stat *self, unsigned number, snd_buffer *out)
{
    const snd_stat_side *side = &self->sides[number];

    if (number != 0)
        snd_buffer_char(out, '\n');
    if (self->side_count > 1)
        snd_buffer_text(out, number == 0 ? "A: " : "B: ");
    snd_buffer_printf(out, "%u %s%s of ", side->run_count, side->statement != NULL ? "process" : "run",
                      side->run_count == 1      ? ""
                      : side->statement != NULL ? "es"
                                                : "s");
    snd_utf8_clean(side->text, out);
    if (side->statement != NULL && side->sample_count != 0)
        snd_buffer_printf(out, "\n%u values of %llu loops each; all numbers except peak rss are per loop",
                          side->sample_count, (unsigned long long)side->loops);
    snd_buffer_text(out, "\n\n");
}

static void
put_empty_loop(const snd_stat_side *side, const snd_format_options *look, snd_buffer *out)
{
    size_t from = out->size;

    if (side->empty_ns <= 0)
        return;
    snd_buffer_text(out, "an empty loop takes ");
    put_ns(side->empty_ns, out);
    snd_buffer_text(out, ", which these numbers include\n");
    if (!look->unicode)
        snd_text_plain(out, from);
}

/* Those that share a reason stand in one line. */
static void
put_missing(const snd_stat_side *side, snd_buffer *out)
{
    for (unsigned i = 0; i < SND_USED_COUNT_OF; i++) {
        const char *why = snd_stat_why(side, (snd_used)i);
        int is_told = 0;
        for (unsigned j = 0; j < i && why != NULL; j++)
            is_told |= snd_stat_why(side, (snd_used)j) == why;
        if (why == NULL || is_told)
            continue;
        snd_buffer_text(out, "not counted: ");
        for (unsigned j = i; j < SND_USED_COUNT_OF; j++)
            if (snd_stat_why(side, (snd_used)j) == why)
                snd_buffer_printf(out, "%s%s", j == i ? "" : ", ", snd_used_get((snd_used)j)->name);
        snd_buffer_printf(out, ": %s\n", why);
    }
}

static void
put_end(const snd_child_end *end, snd_buffer *out)
{
    const char *name = end->signal == 0 ? NULL : sigabbrev_np(end->signal);

    if (end->signal == 0)
        snd_buffer_printf(out, "ended with status %d", end->status);
    else if (name != NULL)
        snd_buffer_printf(out, "was ended by SIG%s", name);
    else
        snd_buffer_printf(out, "was ended by signal %d", end->signal);
}

static void
put_failures(const snd_stat_side *side, snd_buffer *out)
{
    enum { NAMED = 3 };

    if (side->failure_count == 0)
        return;
    if (side->run_count > 1)
        snd_buffer_printf(out, "%u of %u runs failed: ", side->failure_count, side->run_count);
    for (uint32_t i = 0; i < side->failure_count && i < NAMED; i++) {
        snd_buffer_text(out, i == 0 ? "" : ", ");
        if (side->run_count > 1)
            snd_buffer_printf(out, "run %u ", side->failures[i].run);
        else
            snd_buffer_text(out, "the command ");
        put_end(&side->failures[i].end, out);
    }
    if (side->failure_count > NAMED)
        snd_buffer_printf(out, " and %u more", side->failure_count - NAMED);
    snd_buffer_char(out, '\n');
}

/* ---- two sides ---- */

static void
add_ratio(const snd_stat *self, snd_table *table, snd_used which, double *values)
{
    snd_statistics first = snd_stat_of(&self->sides[0], which, values);
    snd_statistics second = snd_stat_of(&self->sides[1], which, values);
    snd_buffer text = {0};
    snd_ratio ratio;

    snd_work_need(snd_stat_ratio(self, which, &ratio));
    if (first.count == 0 || second.count == 0 || !ratio.is_known)
        return;
    snd_cell *cells = snd_table_row(table, 0);
    set_name(table, &cells[RATIO_COUNTER], which);
    set_value(table, &cells[FIRST], which, first.mean, "");
    set_value(table, &cells[SECOND], which, second.mean, "");
    snd_buffer_printf(&text, "%.*f", ratio.ratio >= 100 ? 1 : 3, ratio.ratio);
    snd_set_buffer(table, &cells[RATIO], &text);
    if (ratio.has_interval)
        snd_buffer_printf(&text, "%.3f to %.3f", ratio.low, ratio.high);
    else
        snd_buffer_text(&text, "unbounded");
    snd_set_buffer(table, &cells[INTERVAL], &text);
    snd_set_text(table, &cells[VERDICT], snd_stat_verdict(&ratio));
}

static void
write_ratios(const snd_stat *self, const snd_format_options *look, snd_buffer *out)
{
    uint32_t most = self->sides[self->sides[1].sample_count > self->sides[0].sample_count].sample_count;
    snd_table *table = snd_table_new("compare", ratio_columns, RATIO_COLUMN_COUNT);
    double *values = snd_new((size_t)most + 1, sizeof *values);

    for (unsigned i = 0; i < SND_USED_COUNT_OF; i++)
        add_ratio(self, table, (snd_used)i, values);
    snd_buffer_text(out, "\nB over A\n\n");
    snd_format_table(table, look, out);
    snd_buffer_text(out, "runs take turns, A B B A; Fieller's interval for the ratio of means, by rounds\n");
}

typedef struct writing {
    const snd_stat *stat;
    const snd_format_options *look;
    snd_buffer text;
} writing;

static void
write_text(void *context)
{
    writing *self = context;
    const snd_stat *stat = self->stat;

    for (unsigned i = 0; i < stat->side_count; i++) {
        const snd_stat_side *side = &stat->sides[i];
        put_head(stat, i, &self->text);
        write_side(side, self->look, &self->text);
        put_empty_loop(side, self->look, &self->text);
        put_failures(side, &self->text);
        if (i + 1 == stat->side_count)
            put_missing(side, &self->text);
    }
    if (stat->side_count > 1)
        write_ratios(stat, self->look, &self->text);
}

snd_status
snd_stat_text(const snd_stat *self, const snd_format_options *look, snd_buffer *out)
{
    writing to = {self, look, {0}};

    return snd_work_write(write_text, &to, &to.text, out);
}

/* What has a meaning to a shell outside of quotes, besides blanks and the quotes themselves. */
#define SPECIAL "|&;<>()$`\\*?[]#~{}!\n"

/* Whether a text is words and quotes only, so that no shell is needed to know what it means. */
static int
is_plain(const char *line)
{
    const char *at = line + strspn(line, " \t");
    const char *first = at;

    for (; *at != '\0'; at++) {
        if (*at == '\'' || *at == '"') {
            const char *end = strchr(at + 1, *at);
            size_t quoted = end == NULL ? 0 : (size_t)(end - at - 1);
            if (end == NULL || (*at == '"' && strcspn(at + 1, "$`\\!\"") != quoted))
                return 0;
            at = end;
        }
        else if (strchr(SPECIAL, *at) != NULL)
            return 0;
    }
    size_t name = strcspn(first, " \t");
    return name != 0 && memchr(first, '=', name) == NULL; /* NAME=VALUE before a command is for a shell */
}

/* Copies the word at `*at` to `*to`, without its quotes, and moves both behind it. */
static void
take_word(const char **at, char **to)
{
    char quote = '\0';

    for (; **at != '\0' && (quote != '\0' || (**at != ' ' && **at != '\t')); (*at)++) {
        if (quote != '\0' ? **at == quote : **at == '\'' || **at == '"')
            quote = quote == '\0' ? **at : '\0';
        else
            *(*to)++ = **at;
    }
    *(*to)++ = '\0';
}

/* One block: a list of so many words, and behind it room for their text. */
static const char **
make_list(size_t words, size_t text, char **to)
{
    const char **list = snd_calloc(1, words * sizeof *list + text);
    if (list != NULL)
        *to = (char *)(uintptr_t)(list + words);
    return list;
}

static const char **
split(const char *line)
{
    size_t count = 0;
    char *to;
    const char **words = make_list(strlen(line) / 2 + 3, strlen(line) + 2, &to);

    if (words == NULL)
        return NULL;
    for (const char *at = line + strspn(line, " \t"); *at != '\0'; at += strspn(at, " \t")) {
        words[count++] = to;
        take_word(&at, &to);
    }
    return words;
}

const char **
snd_stat_words(const char *line)
{
    char *text;

    if (is_plain(line))
        return split(line);
    const char **words = make_list(4, strlen(line) + 1, &text);
    if (words == NULL)
        return NULL;
    memcpy(text, line, strlen(line) + 1);
    words[0] = "/bin/sh";
    words[1] = "-c";
    words[2] = text;
    return words;
}
