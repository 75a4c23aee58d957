/* sonde report: a recording, or two to compare, as one page for a browser. */
#include "base/text.h"
#include "cli/commands.h"
#include "cli/core/common.h"
#include "format/page/page.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

enum { RECORDING_LIMIT = 2 };

/* ---- the recordings ---- */

/* 0 after printing one line. A timeline that is too long for memory is left out like one that is not there. */
static int
open_recording(const snd_arguments *given, const char *path, snd_opened *out)
{
    if (!snd_open_recording(given, path, out))
        return 0;
    snd_status status = snd_reader_events(out->reader, out->profile);
    if (status == SND_TOO_LONG)
        snd_complain("%s: %s; the page has totals only", path, snd_status_text(status));
    if (status == SND_NO_TIMELINE || status == SND_TOO_LONG)
        status = SND_OK;
    if (status != SND_OK)
        snd_complain_status(path, status);
    return status == SND_OK;
}

/* 0 after printing one line. */
static int
make_page(const snd_arguments *given, snd_buffer *page)
{
    const snd_page_options options = {.no_source = snd_arguments_value(given, "no-source") != NULL};
    snd_opened recordings[RECORDING_LIMIT] = {{0}};
    const snd_profile *profiles[RECORDING_LIMIT];
    int opened = 0, is_made = 0;

    while (opened < given->word_count && open_recording(given, given->words[opened], &recordings[opened])) {
        profiles[opened] = recordings[opened].profile;
        opened++;
    }
    if (opened == given->word_count) {
        snd_status status = snd_page_write(profiles, (unsigned)opened, &options, page);
        is_made = status == SND_OK;
        if (!is_made)
            snd_complain_status(given->words[0], status);
    }
    for (int i = 0; i < given->word_count; i++)
        snd_opened_close(&recordings[i]);
    return is_made;
}

/* ---- the file ---- */

/* "folder/run.sonde" gives "run.html". */
static void
name_page(const char *recording, snd_buffer *out)
{
    const char *base = snd_path_base(recording), *end = ".sonde";
    size_t len = strlen(base);

    if (len > strlen(end) && strcmp(base + len - strlen(end), end) == 0)
        len -= strlen(end);
    snd_buffer_printf(out, "%.*s.html", (int)len, base);
}

/* 0 after printing one line. */
static int
write_page(const char *path, const snd_buffer *page)
{
    int file = snd_open_output(path);
    if (file < 0)
        return 0;
    snd_status status = snd_write_all(file, page->data, page->size);
    if (status != SND_OK)
        snd_complain("%s: cannot be written: %s", file == STDOUT_FILENO ? "standard output" : path, strerror(errno));
    if (!snd_close_output(file, path, status == SND_OK) || status != SND_OK)
        return 0;
    if (file != STDOUT_FILENO)
        snd_complain("page saved in %s", path);
    return 1;
}

/* ---- the browser ---- */

/* Starts a program with one word, whose output nobody wants. 0 when there is none of that name. */
static int
start_browser(const char *name, const char *path)
{
    char *const argv[] = {(char *)(uintptr_t)name, (char *)(uintptr_t)path, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;

    if (posix_spawn_file_actions_init(&actions) != 0)
        return 0;
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    int result = posix_spawnp(&child, name, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return result == 0;
}

static int
open_page(const char *path)
{
    const char *names[] = {getenv("BROWSER"), "xdg-open", "x-www-browser", "firefox", "chromium", "google-chrome"};
    char *absolute = realpath(path, NULL);
    int is_started = 0;

    for (size_t i = 0; i < sizeof names / sizeof names[0] && !is_started && absolute != NULL; i++)
        is_started = names[i] != NULL && *names[i] != '\0' && start_browser(names[i], absolute);
    free(absolute);
    if (!is_started)
        snd_complain("found no browser; open %s yourself", path);
    return is_started ? SND_EXIT_OK : SND_EXIT_FAILED;
}

/* ---- the command ---- */

/* 0 after printing one line. */
static int
is_valid(const snd_arguments *given, const char *output)
{
    int is_open = snd_arguments_value(given, "open") != NULL;

    if (given->word_count == 0)
        snd_complain("report needs a recording: sonde report FILE.sonde");
    else if (given->word_count > RECORDING_LIMIT)
        snd_complain("report takes one recording, or two to compare; unexpected argument '%s'",
                     given->words[RECORDING_LIMIT]);
    else if (is_open && output != NULL && strcmp(output, "-") == 0)
        snd_complain("--open needs a file, not standard output");
    else if (!snd_page_exists())
        snd_complain("%s", SND_PAGE_MISSING);
    else
        return 1;
    return 0;
}

static int
run(const snd_arguments *given)
{
    const char *output = snd_arguments_value(given, "output");
    snd_buffer page = {0}, name = {0};
    int status = SND_EXIT_USAGE;

    if (!is_valid(given, output))
        return SND_EXIT_USAGE;
    if (output == NULL) {
        name_page(given->words[0], &name);
        output = snd_buffer_str(&name);
    }
    if (!snd_output_is_input(given, output) && make_page(given, &page) && write_page(output, &page))
        status = snd_arguments_value(given, "open") == NULL ? SND_EXIT_OK : open_page(output);
    snd_buffer_free(&page);
    snd_buffer_free(&name);
    return status;
}

static const snd_setting options[] = {
    {"output", "the page (default: the recording's name with .html, in this folder); - is standard output",
     SND_TEXT("FILE"), .letter = 'o', .choices = SND_CHOICES_FILE},
    {"open", "open the page in a browser", SND_FLAG},
    SND_PROCESS_OPTION,
    {"no-source", "leave out source code", SND_FLAG},
    {0},
};

const snd_command snd_command_report = {
    .name = "report",
    .usage = "FILE [FILE2] [-o PAGE.html]",
    .about = "write an HTML page: all views of a recording, or a comparison of two",
    .options = options,
    .run = run,
    .reads = SND_READS_FILES,
    .busy = "writing the page",
    .examples = {{"sonde report run.sonde --open", "write run.html and open it in a browser"},
                 {"sonde report before.sonde after.sonde -o change.html", "compare two recordings on one page"}},
};
