/* Every view of calls in every format against files. The folder of them is the first argument. After a wanted change
 * run with SONDE_GOLDEN=write and read the difference. */
#include "check.h"
#include "fixture.h"
#include "fixture_calls.h"
#include "format/format.h"
#include "view/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *folder;

static void
check_file(const snd_view *view, const snd_format *format, const snd_buffer *text)
{
    const char *mode = getenv("SONDE_GOLDEN");
    char path[1024];

    snprintf(path, sizeof path, "%s/%s.%s", folder, view->name, format->name);
    if (mode != NULL && strcmp(mode, "write") == 0)
        write_file(path, text->data, text->size);
    char *wanted = read_file(path, NULL);
    CHECK_TEXT(snd_buffer_str(text), wanted);
    free(wanted);
}

/* A page has the usual columns, the other formats have all, as `sonde export` writes them. */
static void
check_view(const snd_profile *profile, const char *name)
{
    const snd_view *view = snd_view_find(name);
    snd_table *table = NULL, *shown = NULL;

    REQUIRE(view != NULL && view->make(profile, &(snd_view_options){0}, &table) == SND_OK);
    REQUIRE(snd_table_select_shown(table, &shown) == SND_OK);
    for (unsigned i = 0; i < snd_format_count; i++) {
        const snd_format *format = &snd_formats[i];
        int is_for_eyes = strcmp(format->name, "html") == 0 || strcmp(format->name, "table") == 0;
        snd_buffer text = {0};
        if (format->write_table == NULL)
            continue;
        format->write_table(is_for_eyes ? shown : table, &(snd_format_options){0}, &text);
        check_file(view, format, &text);
        snd_buffer_free(&text);
    }
    snd_table_free(shown);
    snd_table_free(table);
}

static void
views_of_calls_are_as_they_were(void)
{
    snd_profile *profile = calls_profile();

    check_view(profile, "functions");
    check_view(profile, "callers");
    check_view(profile, "callees");
    snd_profile_free(profile);
}

static void
the_view_of_signatures_is_as_it_was(void)
{
    snd_profile *profile = signatures_profile();

    check_view(profile, "signatures");
    snd_profile_free(profile);
}

int
main(int argc, char **argv)
{
    REQUIRE(argc == 2);
    folder = argv[1];
    RUN(views_of_calls_are_as_they_were);
    RUN(the_view_of_signatures_is_as_it_was);
    return check_report();
}
