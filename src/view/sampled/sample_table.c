/* What the tables of samples share. */
#include "view/sampled/sample_table.h"

#include "base/text.h"
#include "view/core/arrange.h"
#include "view/core/footer.h"

#include <string.h>

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
        snd_buffer_text(out, snd_site_is_code(site) ? snd_own_name(own, site->file) : snd_path_base(site->file));
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

/* What measuring cost: our own threads, PyTorch's profiler, and the threads that were looked at. */
static void
add_sample_cost(const snd_profile *profile, snd_buffer *text)
{
    uint64_t torch = snd_profile_info_number(profile, "own_torch_ns");
    uint64_t own = snd_profile_info_number(profile, "own_cpu_ns") + torch;
    uint64_t cpu = snd_profile_info_number(profile, "cpu_ns");
    uint64_t each = snd_profile_info_number(profile, "own_sample_cost_ns");
    double share = cpu == 0 ? 0 : 100.0 * (double)own / (double)cpu;
    char spent[SND_DURATION_SIZE];

    if (own != 0 || each != 0)
        snd_buffer_text(text, "\nprofiler overhead: ");
    if (own != 0) {
        snd_duration_short(own, spent);
        snd_buffer_printf(text, "%s CPU", spent);
        if (cpu != 0)
            snd_buffer_printf(text, " (%.*f%%)", snd_short_digits(share), share);
    }
    if (torch != 0) {
        snd_duration_short(torch, spent);
        snd_buffer_printf(text, ", %s of it PyTorch's profiler", spent);
    }
    if (each != 0) {
        snd_duration_short(each, spent);
        snd_buffer_printf(text, "%s%s per sample", own == 0 ? "" : ", ", spent);
    }
}

static void
add_left_out(const snd_profile *profile, snd_buffer *text)
{
    char spent[SND_DURATION_SIZE];

    if (snd_profile_info(profile, "imports_left_out_ns") == NULL)
        return;
    snd_duration_short(snd_profile_info_number(profile, "imports_left_out_ns"), spent);
    snd_buffer_printf(text, "\nimports left out: %s CPU", spent);
}

/* Native frames are put between the Python frames that called them, which a stack or two may not fit. */
static void
add_misfits(const snd_profile *profile, snd_buffer *text)
{
    uint64_t all = snd_profile_info_number(profile, "native_stitched");
    uint64_t misfits = snd_profile_info_number(profile, "native_misfits");

    if (misfits > all / 20 && misfits > 2)
        snd_buffer_printf(
            text,
            "\n%llu of %llu native stacks do not match the Python ones: native functions may appear under "
            "the wrong caller",
            (unsigned long long)misfits, (unsigned long long)all);
}

static void
add_footer(const snd_samples *samples, snd_table *table)
{
    const snd_profile *profile = samples->profile;
    uint64_t rate = snd_profile_info_number(profile, "sample_rate_hz");
    uint64_t missed = snd_profile_info_number(profile, "samples_missed");
    uint64_t interrupted = snd_profile_info_number(profile, "interrupted_calls");
    snd_buffer text = {0};

    if (samples->all.samples == 0 && snd_profile_info(profile, "imported") != NULL) {
        snd_buffer_text(&text, "imported; the number of samples is unknown");
        snd_footer_set(profile, &text, table);
        return;
    }
    snd_footer_add_count(&text, "", samples->all.samples, "sample");
    if (rate != 0)
        snd_buffer_printf(&text, " at %llu Hz", (unsigned long long)rate);
    if (missed != 0)
        snd_buffer_printf(&text, ", %llu missed", (unsigned long long)missed);
    if (interrupted != 0)
        snd_buffer_printf(&text, ", %llu system call%s interrupted", (unsigned long long)interrupted,
                          interrupted == 1 ? "" : "s");
    double error = snd_samples_error(samples, 50);
    snd_buffer_printf(&text, "; sampling error: ±%.*f points at 50%%", snd_short_digits(error), error);
    add_sample_cost(profile, &text);
    add_left_out(profile, &text);
    add_misfits(profile, &text);
    if (samples->own.has_none)
        snd_buffer_text(
            &text, "\nno code outside installed packages and the standard library was sampled, so all code is shown");
    snd_footer_set(profile, &text, table);
}

void
snd_sample_table_finish(const snd_samples *samples, const char *key, snd_table *table, snd_table **out)
{
    if (key != NULL)
        snd_work_need(snd_table_sort(table, key));
    add_footer(samples, table);
    *out = table;
}
