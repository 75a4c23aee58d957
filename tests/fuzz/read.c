/* Everything that is done with a recording. */
#include "read.h"

#include "format/page/page.h"
#include "format/table/reports.h"
#include "fuzz.h"
#include "view/compare/diff.h"
#include "view/core/arrange.h"
#include "view/core/view.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

const char *
read_path(void)
{
    static char path[64];

    if (path[0] == '\0')
        snprintf(path, sizeof path, "%s/sonde-fuzz-%d", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
                 (int)getpid());
    return path;
}

void
read_write(const char *path, const uint8_t *data, size_t size)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    MUST(file >= 0);
    MUST(snd_write_all(file, data, size) == SND_OK);
    close(file);
}

void
read_remove(const char *path)
{
    static const char *const ends[] = {"", "-journal", "-wal", "-shm"};
    char name[128];

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
}

static void
format_table(const snd_table *table)
{
    snd_buffer text = {0};

    for (unsigned i = 0; i < snd_format_count; i++)
        if (snd_formats[i].write_table != NULL)
            snd_formats[i].write_table(table, &(snd_format_options){.width = 80, .colour = 1, .unicode = 1}, &text);
    snd_buffer_free(&text);
}

/* By every column, then a part of the rows. */
static void
arrange_table(snd_table *table)
{
    char why[64];

    for (uint32_t c = 0; c < table->column_count; c++)
        MUST(snd_table_sort(table, table->columns[c].name) == SND_OK);
    MUST(snd_table_match(table, "[ao]|len", why, sizeof why) == SND_OK);
    format_table(table);
    snd_table_limit(table, 2);
}

static void
show_views(const snd_profile *profile)
{
    for (unsigned i = 0; i < snd_view_count; i++) {
        snd_table *table = NULL, *shown = NULL;
        if (snd_views[i].make(profile, &(snd_view_options){0}, &table) != SND_OK)
            continue;
        format_table(table);
        if (snd_table_select_shown(table, &shown) == SND_OK)
            format_table(shown);
        arrange_table(table);
        snd_table_free(table);
        snd_table_free(shown);
    }
}

void
read_compare(const snd_profile *before, const snd_profile *after)
{
    const snd_view_options view = {.by_shape = 1};
    const snd_diff_options options = {.view = &view, .run_share = 0.01};
    snd_diff diff;

    if (snd_diff_make(before, after, &options, &diff) != SND_OK)
        return;
    MUST(before != after || diff.beyond == 0); /* with itself, whatever the numbers are */
    for (int kind = 0; kind < SND_DIFF_COUNT; kind++) {
        snd_table *table = NULL;
        MUST(snd_diff_table(&diff, (snd_diff_kind)kind, &table) == SND_OK);
        format_table(table);
        snd_table_free(table);
    }
    snd_diff_free(&diff);
}

static void
show_reports(const snd_profile *profile)
{
    static snd_report *const reports[] = {snd_summary_write, snd_report_memory, snd_report_footprint, snd_report_graph};
    const snd_format_options look = {.width = 80, .unicode = 1};

    for (size_t i = 0; i < sizeof reports / sizeof reports[0]; i++) {
        snd_buffer text = {0};
        MUST((unsigned)reports[i](profile, &(snd_view_options){0}, &look, &text) < SND_STATUS_COUNT);
        snd_buffer_free(&text);
    }
}

/* As a whole, and with all that a page must do to one that is too large. */
static void
make_pages(const snd_profile *profile)
{
    static const snd_page_options options[] = {{.no_source = 1}, {.node_limit = 3, .event_limit = 2}};

    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        snd_buffer page = {0};
        MUST((unsigned)snd_page_data(profile, NULL, &options[i], &page) < SND_STATUS_COUNT);
        snd_buffer_free(&page);
    }
}

static void
export_recording(snd_reader *reader, snd_profile *profile)
{
    static int nowhere = -1;
    uint64_t events;

    if (nowhere < 0)
        nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    MUST((unsigned)snd_reader_event_count(reader, &events) < SND_STATUS_COUNT);
    MUST((unsigned)snd_reader_events(reader, profile) < SND_STATUS_COUNT);
    for (unsigned i = 0; i < snd_format_count; i++)
        for (int lines = 0; lines < 2 && snd_formats[i].write_recording != NULL; lines++) {
            const snd_export_options options = {.by_line = lines, .cpu_only = lines};
            MUST((unsigned)snd_formats[i].write_recording(reader, profile, &options, nowhere) < SND_STATUS_COUNT);
        }
    make_pages(profile);
}

/* Each process alone, and all of them side by side. */
static void
read_processes(const char *path, const snd_profile *all)
{
    for (uint32_t i = 0; i < all->process_count && i < 4; i++) {
        snd_reader *reader = NULL;
        snd_profile *profile = NULL;
        if (snd_reader_open(path, &reader) == SND_OK && snd_reader_only(reader, i) == SND_OK &&
            snd_reader_profile(reader, &profile) == SND_OK) {
            show_views(profile);
            export_recording(reader, profile);
        }
        snd_profile_free(profile);
        snd_reader_free(reader);
    }
}

static snd_status
ignore_head(void *context, int count, const char *const *names)
{
    (void)context;
    for (int i = 0; i < count; i++)
        MUST(names[i] != NULL);
    return SND_OK;
}

static snd_status
ignore_row(void *context, int count, const snd_query_cell *cells)
{
    (void)context;
    for (int i = 0; i < count; i++)
        MUST(cells[i].type != SND_QUERY_TEXT || cells[i].text != NULL);
    return SND_OK;
}

void
read_everything(const char *path)
{
    snd_reader *reader = NULL;
    snd_profile *profile = NULL;

    if (snd_reader_open(path, &reader) == SND_OK) {
        if (snd_reader_profile(reader, &profile) == SND_OK) {
            snd_status parts = snd_reader_parts(reader, profile);
            MUST((unsigned)parts < SND_STATUS_COUNT);
            read_compare(profile, profile);
            show_views(profile);
            show_reports(profile);
            export_recording(reader, profile);
            if (profile->process_count > 1)
                read_processes(path, profile);
        }
        snd_status status = snd_reader_query(reader, "SELECT * FROM node JOIN value ON node = node.id LIMIT 1000",
                                             ignore_head, ignore_row, NULL);
        MUST((unsigned)status < SND_STATUS_COUNT);
    }
    snd_profile_free(profile);
    snd_reader_free(reader);
}
