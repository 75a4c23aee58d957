/* Rows of lines: time and memory. */
#include "view/compare/diff_rows.h"

#include "base/buffer.h"
#include "view/compare/line_match.h"
#include "view/lines/lines.h"

#include <string.h>

/* A file of one recording, and what its lines are in the other. */
typedef struct file_lines {
    const char *name; /* NULL: none is open */
    snd_source_lines source;
    snd_line_match match; /* from the first recording to the second */
    int is_known;         /* both recordings have sources; else lines are matched by number */
} file_lines;

/* A line, and the function that stands there where there is no source. */
typedef struct line_at {
    const char *file;
    uint32_t line;
    const char *function;
} line_at;

static void
close_file(file_lines *self)
{
    snd_source_close(&self->source);
    snd_line_match_free(&self->match);
    *self = (file_lines){0};
}

/* The other recording's text of the same file; NULL: it has none. `*has_any`: it has texts of other files. */
static const snd_source *
other_source(const snd_diff_source *from, const char *file, int *has_any)
{
    const char *key = snd_diff_file_key(&from->own, file);

    for (uint32_t i = 0; i < from->other->source_count; i++) {
        const snd_source *source = &from->other->sources[i];
        *has_any |= source->text != NULL;
        if (source->text != NULL && strcmp(snd_diff_file_key(&from->other_own, source->file), key) == 0)
            return source;
    }
    return NULL;
}

/* Lines are matched by texts that both recordings keep. */
static void
match_file(file_lines *self, const snd_diff_source *from, const char *file)
{
    int has_any = 0;
    const snd_source *kept = snd_profile_source(from->profile, file), *other = other_source(from, file, &has_any);
    snd_source_lines other_lines;

    self->is_known = kept != NULL && kept->text != NULL && has_any;
    if (!self->is_known || other == NULL)
        return;
    snd_work_need(snd_source_open(from->other, other->file, &other_lines));
    if (from->side == SND_BEFORE)
        snd_work_need(snd_line_match_make(&self->source, &other_lines, &self->match));
    else
        snd_work_need(snd_line_match_make(&other_lines, &self->source, &self->match));
}

/* Lines come file by file. */
static void
open_file(file_lines *self, const snd_diff_source *from, const char *file)
{
    if (self->name != NULL && strcmp(self->name, file) == 0)
        return;
    close_file(self);
    snd_work_need(snd_source_open(from->profile, file, &self->source));
    match_file(self, from, file);
    self->name = file;
}

/* Whether the other recording's program has the line too. */
static int
is_in_other(const file_lines *self, const snd_diff_source *from, uint32_t line)
{
    if (!self->is_known)
        return 1;
    if (self->match.lines == NULL) /* it has no such file */
        return 0;
    return from->side == SND_BEFORE ? snd_line_match_find(&self->match, line) != 0
                                    : snd_line_match_has(&self->match, line);
}

/* A line is known by its number in the second recording; one that is gone, by its own. */
static void
put_key(const file_lines *self, const snd_diff_source *from, uint32_t line, snd_buffer *out)
{
    uint32_t number = from->side == SND_BEFORE ? snd_line_match_find(&self->match, line) : line;

    snd_buffer_printf(out, "%s:%s%u", snd_diff_file_key(&from->own, self->name), number == 0 ? "gone " : "",
                      number == 0 ? line : number);
}

static void
put_source(const file_lines *self, uint32_t line, const char *function, snd_buffer *out)
{
    snd_buffer text = {0};

    snd_source_line(&self->source, line, &text);
    const char *trimmed = snd_buffer_str(&text) + strspn(snd_buffer_str(&text), " ");
    snd_buffer_text(out, *trimmed == '\0' ? function : trimmed);
    out->failed |= text.failed;
    snd_buffer_free(&text);
}

/* The profile may go before the diff. */
static void
note_source(snd_diff *self, const file_lines *file, const snd_diff_source *from)
{
    const char *name = snd_own_name(&from->own, file->name);
    uint32_t id;

    if (file->source.missing != SND_SOURCE_CHANGED)
        return;
    snd_work_need(snd_intern_add(self->texts, name, strlen(name), &id));
    snd_source_note(&self->changes, snd_intern_text(self->texts, id), &file->source);
}

static void
add_line(snd_diff *self, file_lines *file, const snd_diff_source *from, snd_diff_kind kind, const line_at *at,
         const snd_estimate *estimate)
{
    snd_buffer key = {0}, name = {0}, place = {0};
    snd_diff_row *row;
    open_file(file, from, at->file);
    put_key(file, from, at->line, &key);
    put_source(file, at->line, at->function, &name);
    snd_buffer_printf(&place, "%s:%u", snd_own_name(&from->own, at->file), at->line);
    const snd_diff_name named = {snd_buffer_str(&key), snd_buffer_str(&name), snd_buffer_str(&place)};
    note_source(self, file, from);
    snd_diff_add(self, from, kind, &named, &row);
    snd_estimate_add(&row->sides[from->side].estimate, estimate);
    row->sides[!from->side].is_there |= is_in_other(file, from, at->line);
    row->unit = kind == SND_DIFF_LINES ? SND_UNIT_NS : SND_UNIT_BYTES;
}

/* What no line of the program led to. */
static void
add_rest(snd_diff *self, const snd_diff_source *from, snd_diff_kind kind, const char *name,
         const snd_estimate *estimate)
{
    const snd_diff_name named = {name, name, ""};
    snd_diff_row *row;
    snd_diff_add(self, from, kind, &named, &row);

    snd_estimate_add(&row->sides[from->side].estimate, estimate);
    row->unit = kind == SND_DIFF_LINES ? SND_UNIT_NS : SND_UNIT_BYTES;
    row->is_unrated = snd_diff_is_unrated(name);
}

/* ---- time ---- */

static void
add_lines(snd_diff *self, const snd_diff_source *from, const snd_lines *lines)
{
    file_lines file = {0};

    for (uint32_t i = 0; i < lines->line_count; i++) {
        const snd_line *line = &lines->lines[i];
        const line_at at = {lines->files[line->file].name, line->line,
                            snd_samples_site(&from->samples, line->function)->name};
        snd_estimate estimate = snd_diff_sampled(from, &line->numbers, 0);
        add_line(self, &file, from, SND_DIFF_LINES, &at, &estimate);
    }
    close_file(&file);
}

void
snd_diff_put_lines(snd_diff *self, const snd_diff_source *from)
{
    const snd_memory_view no_memory = {0};
    snd_lines lines;
    snd_lines_make(&from->samples, &no_memory, &lines);
    add_lines(self, from, &lines);
    for (uint32_t i = 0; i < lines.rest_count; i++) {
        snd_estimate estimate = snd_diff_sampled(from, &lines.rests[i].numbers, 0);
        const char *name = lines.rests[i].name == NULL ? SND_SAMPLES_OUTSIDE : lines.rests[i].name;
        add_rest(self, from, SND_DIFF_LINES, name, &estimate);
    }
}

/* ---- memory ---- */

static snd_estimate
memory_of(const snd_memory_view_numbers *numbers, snd_diff_kind kind)
{
    uint64_t bytes = snd_memory_view_allocated(numbers);
    snd_metric variance = SND_METRIC_ALLOC_VARIANCE;

    if (kind == SND_DIFF_MEMORY) {
        bytes = snd_memory_view_whole(numbers, SND_METRIC_LIVE_PEAK);
        variance = SND_METRIC_PEAK_VARIANCE;
    }
    else if (kind == SND_DIFF_COPIES) {
        bytes = snd_memory_view_whole(numbers, SND_METRIC_COPIED);
        variance = SND_METRIC_COPY_VARIANCE;
    }
    return snd_estimate_with((double)bytes, numbers->values[variance - SND_METRIC_ALLOC_PYTHON].real);
}

static void
put_bytes(snd_diff *self, const snd_diff_source *from, snd_diff_kind kind)
{
    file_lines file = {0};
    snd_memory_view memory;
    snd_memory_view_make(&from->samples, 0, &memory);
    for (uint32_t i = 0; i < memory.count; i++) {
        const snd_memory_view_line *line = &memory.lines[i];
        const line_at at = {line->file, line->line, line->name};
        snd_estimate estimate = memory_of(&line->numbers, kind);
        if (estimate.value == 0)
            continue;
        line->file == NULL ? add_rest(self, from, kind, line->name, &estimate)
                           : add_line(self, &file, from, kind, &at, &estimate);
    }
    close_file(&file);
}

void
snd_diff_put_memory(snd_diff *self, const snd_diff_source *from)
{
    put_bytes(self, from, SND_DIFF_MEMORY);
}

void
snd_diff_put_allocated(snd_diff *self, const snd_diff_source *from)
{
    put_bytes(self, from, SND_DIFF_ALLOCATED);
}

void
snd_diff_put_copies(snd_diff *self, const snd_diff_source *from)
{
    put_bytes(self, from, SND_DIFF_COPIES);
}
