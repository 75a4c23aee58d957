/* What the tables of samples share. */
#include "view/sample_table.h"

#include "os/process.h"
#include "view/arrange.h"

#include <string.h>

void
snd_set_whole(snd_cell *cell, uint64_t value)
{
    *cell = (snd_cell){.is_there = 1, .whole = (int64_t)value};
}

void
snd_set_share(snd_cell *cell, double value)
{
    *cell = (snd_cell){.is_there = 1, .real = value};
}

void
snd_set_text(snd_table *table, snd_cell *cell, const char *text)
{
    *cell = (snd_cell){.is_there = 1, .text = snd_table_text(table, text)};
}

void
snd_set_buffer(snd_table *table, snd_cell *cell, snd_buffer *text)
{
    *cell = (snd_cell){.is_there = 1};
    if (snd_buffer_status(text) == SND_OK)
        cell->text = snd_table_text(table, snd_buffer_str(text));
    snd_buffer_free(text);
}

snd_status
snd_table_check(const snd_table *table, const snd_cell *cells)
{
    for (uint32_t i = 0; i < table->column_count; i++) {
        snd_unit unit = table->columns[i].unit;
        if (snd_unit_is_text(unit) && cells[i].is_there && cells[i].text == NULL)
            return SND_NO_MEMORY;
    }
    return SND_OK;
}

void
snd_sample_cells(const snd_samples *samples, const snd_samples_numbers *numbers, snd_cell *cells)
{
    uint64_t waiting = snd_samples_waiting(numbers);
    double share = snd_samples_share(samples, snd_samples_ranked(samples, numbers));

    snd_set_whole(&cells[SND_SAMPLE_CPU], snd_samples_cpu(numbers));
    snd_set_whole(&cells[SND_SAMPLE_TIME], snd_samples_time(numbers));
    snd_set_share(&cells[SND_SAMPLE_SHARE], share);
    snd_set_share(&cells[SND_SAMPLE_WAITING_SHARE], snd_samples_waiting_share(samples, numbers));
    snd_set_whole(&cells[SND_SAMPLE_WAITING], waiting);
    snd_set_whole(&cells[SND_SAMPLE_WAITED], snd_samples_waited(numbers));
    for (unsigned state = 0; state < SND_SAMPLE_STATES; state++) {
        uint64_t ns = numbers->states[state];
        unsigned column = SND_SAMPLE_PYTHON + state;
        if (!SND_SAMPLE_IS_CPU(state)) /* two sums of waiting stand between */
            column += 2;
        else
            snd_set_share(&cells[SND_SAMPLE_PYTHON_SHARE + state], snd_samples_share(samples, ns));
        snd_set_whole(&cells[column], ns);
    }
    snd_set_whole(&cells[SND_SAMPLE_SAMPLES], numbers->samples);
    snd_set_share(&cells[SND_SAMPLE_ERROR], snd_samples_error(samples, share));
}

void
snd_sample_table_adapt(snd_table *table, uint32_t at, const snd_view_options *options)
{
    snd_column *columns = table->columns + at;

    columns[SND_SAMPLE_SHARE].title = options->with_waiting ? "% of time" : "% of CPU";
    columns[options->with_waiting ? SND_SAMPLE_CPU : SND_SAMPLE_TIME].traits &= ~SND_COLUMN_SHOWN;
    if (!options->with_waiting) { /* a share of something else beside the others would be taken for one of theirs */
        columns[SND_SAMPLE_WAITED].traits = columns[SND_SAMPLE_WAITING_SHARE].traits;
        columns[SND_SAMPLE_WAITING_SHARE].traits &= ~SND_COLUMN_SHOWN;
    }
    for (unsigned i = 0; i < (options->with_waiting ? 4 : 3) && options->seconds; i++) {
        columns[SND_SAMPLE_PYTHON + i].traits = columns[SND_SAMPLE_PYTHON_SHARE + i].traits;
        columns[SND_SAMPLE_PYTHON_SHARE + i].traits &= ~SND_COLUMN_SHOWN;
    }
    if (options->cpu_only) {
        columns[SND_SAMPLE_WAITING].traits &= ~SND_COLUMN_SHOWN;
        columns[SND_SAMPLE_WAITED].traits &= ~SND_COLUMN_SHOWN;
        columns[SND_SAMPLE_WAITING_SHARE].traits &= ~SND_COLUMN_SHOWN;
    }
}

void
snd_function_text(const snd_profile_site *site, snd_buffer *out)
{
    if (site->kind == SND_SITE_REGION)
        snd_buffer_text(out, "region ");
    snd_buffer_text(out, site->name);
}

/* A function is where it starts; a native symbol is in its library or its source file, a region has no place. */
void
snd_place_text(const snd_own *own, const snd_profile_site *site, snd_buffer *out)
{
    uint32_t line = site->first_line != 0 ? site->first_line : site->line;

    if (site->kind == SND_SITE_NATIVE)
        snd_buffer_text(out, snd_path_base(site->file));
    else if (site->kind == SND_SITE_LINE) {
        snd_buffer_text(out, snd_own_name(own, site->file));
        if (line != 0)
            snd_buffer_printf(out, ":%u", line);
    }
}

const char *
snd_function_code(const snd_samples *samples, uint32_t function)
{
    if (function < samples->function_count && samples->functions[function].is_own)
        return "own";
    switch (snd_samples_site(samples, function)->kind) {
    case SND_SITE_LINE:
        return "library";
    case SND_SITE_NATIVE:
        return "native";
    case SND_SITE_REGION:
        return "region";
    default:
        return "other";
    }
}

void
snd_thread_text(const snd_profile_track *track, snd_buffer *out)
{
    snd_buffer_text(out, track->name);
    if (track->thread_count > 1)
        snd_buffer_printf(out, " and %u more", track->thread_count - 1);
}

snd_status
snd_sample_table_finish(const snd_samples *samples, snd_status status, const char *key, snd_table *table,
                        snd_table **out)
{
    if (status == SND_OK && key != NULL)
        status = snd_table_sort(table, key);
    if (status == SND_OK)
        status = snd_view_add_sample_footer(samples, table);
    if (status == SND_OK)
        *out = table;
    else
        snd_table_free(table);
    return status;
}
