/* Source texts: which are shown, and which are not. */
#include "os/file.h"
#include "view/core/source.h"

#include "check.h"
#include "fixture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void
check_line(const snd_source_lines *source, uint32_t line, const char *wanted)
{
    snd_buffer text = {0};

    snd_source_line(source, line, &text);
    CHECK_TEXT(snd_buffer_str(&text), wanted);
    snd_buffer_free(&text);
}

/* A profile that knows a file by size and digest of a text. */
static snd_profile *
profile_of(const char *file, const char *text, size_t size)
{
    snd_profile *profile = snd_profile_new();
    snd_source source = {.file = file, .size = size};

    REQUIRE(profile != NULL);
    snd_sha256(text, size, source.sha256);
    profile->load_text = snd_file_load;
    REQUIRE(snd_profile_copy_source(profile, &source) == SND_OK);
    return profile;
}

/* The first line of the file as it is shown, or why it is not. */
static void
check_shown(const snd_profile *profile, const char *file, const char *wanted, snd_source_missing missing)
{
    snd_source_lines source;

    REQUIRE(snd_source_open(profile, file, &source) == SND_OK);
    check_line(&source, 1, wanted);
    CHECK_NUMBER(source.missing, missing);
    CHECK((source.text == NULL) == (missing != SND_SOURCE_FOUND));
    CHECK((snd_source_why(&source) != NULL) == (missing != SND_SOURCE_FOUND));
    snd_source_close(&source);
}

static void
lines_are_split_and_their_tabs_are_spaces(void)
{
    static const char text[] = "a\r\n\tb\n \t\n  c\td";
    snd_profile *profile = snd_profile_new();
    snd_source_lines source;

    REQUIRE(snd_profile_add_source(profile, "x.py", text, strlen(text)) == SND_OK);
    REQUIRE(snd_source_open(profile, "x.py", &source) == SND_OK);
    CHECK_NUMBER(source.count, 4);
    check_line(&source, 0, "");
    check_line(&source, 1, "a");
    check_line(&source, 2, "    b");
    check_line(&source, 4, "  c d");
    check_line(&source, 5, "");
    CHECK(snd_source_is_blank(&source, 3) && snd_source_is_blank(&source, 99) && !snd_source_is_blank(&source, 4));
    snd_source_close(&source);
    snd_profile_free(profile);
}

static void
a_file_is_shown_as_long_as_it_is_what_was_recorded(void)
{
    const char *path = temp_path("known.py");
    snd_profile *profile = profile_of(path, "one\n", 4);

    write_file(path, "one\n", 4);
    check_shown(profile, path, "one", SND_SOURCE_FOUND);
    write_file(path, "two\n", 4);
    check_shown(profile, path, "", SND_SOURCE_CHANGED);
    write_file(path, "one\n ", 5);
    check_shown(profile, path, "", SND_SOURCE_CHANGED);
    unlink(path);
    check_shown(profile, path, "", SND_SOURCE_CHANGED);
    REQUIRE(snd_profile_add_source(profile, path, "kept\n", 5) == SND_OK);
    check_shown(profile, path, "kept", SND_SOURCE_FOUND);
    snd_profile_free(profile);
}

static void
a_file_that_the_recording_knows_nothing_of_is_not_shown(void)
{
    const char *path = temp_path("secret.py");
    static const char *const others[] = {"/", "/dev/zero", "/nowhere/x.py"}, *const no_files[] = {"<string>", "In[1]",
                                                                                                  ""};
    snd_profile *profile = snd_profile_new();

    write_file(path, "secret\n", 7);
    check_shown(profile, path, "", SND_SOURCE_UNKNOWN);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        check_shown(profile, others[i], "", SND_SOURCE_UNKNOWN);
    for (size_t i = 0; i < sizeof no_files / sizeof no_files[0]; i++) {
        snd_source_lines source;
        REQUIRE(snd_source_open(profile, no_files[i], &source) == SND_OK);
        CHECK(source.text == NULL && source.count == 0 && snd_source_why(&source) == NULL);
        snd_source_close(&source);
    }
    snd_profile_free(profile);
}

/* A recording may say of anything that it is a file of no bytes. */
static void
only_a_plain_file_is_read(void)
{
    const char *pipe = temp_path("pipe.py"), *folder = temp_path("folder.py"), *link = temp_path("link.py");
    const char *plain = temp_path("plain.py");
    const char *const others[] = {pipe, folder, "/dev/null", "/dev/zero", "/dev/tty"};

    REQUIRE(mkfifo(pipe, 0600) == 0 && mkdir(folder, 0700) == 0 && symlink(plain, link) == 0);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        snd_profile *profile = profile_of(others[i], "", 0);
        check_shown(profile, others[i], "", SND_SOURCE_CHANGED);
        snd_profile_free(profile);
    }
    write_file(plain, "plain\n", 6);
    snd_profile *profile = profile_of(link, "plain\n", 6);
    check_shown(profile, link, "plain", SND_SOURCE_FOUND);
    snd_profile_free(profile);
    rmdir(folder);
}

static void
a_file_that_is_too_large_is_not_read(void)
{
    const char *path = temp_path("large.py");
    size_t size = SND_SOURCE_FILE_LIMIT + 1;
    char *text = malloc(size);

    REQUIRE(text != NULL);
    memset(text, 'a', size);
    write_file(path, text, size);
    snd_profile *profile = profile_of(path, text, size);
    check_shown(profile, path, "", SND_SOURCE_CHANGED);
    snd_profile_free(profile);
    free(text);
}

static snd_status
open_it(void *context)
{
    snd_profile *profile = context;
    snd_source_lines source;
    snd_status status = snd_source_open(profile, profile->sources[0].file, &source);

    if (status == SND_OK)
        snd_source_close(&source);
    return status;
}

static void
every_failing_allocation_is_reported(void)
{
    const char *path = temp_path("memory.py");
    snd_profile *profile = profile_of(path, "one\n", 4);

    write_file(path, "one\n", 4);
    CHECK_NUMBER(fail_each_allocation(open_it, profile), 2);
    snd_profile_free(profile);
}

static void
files_that_changed_are_named_once(void)
{
    const snd_source_lines changed = {.missing = SND_SOURCE_CHANGED}, unknown = {.missing = SND_SOURCE_UNKNOWN};
    snd_source_changes changes = {0};
    snd_buffer text = {0};

    snd_source_note(&changes, "a.py", &unknown);
    snd_source_say(&changes, "a.py", &text);
    CHECK_TEXT(snd_buffer_str(&text), "");
    snd_source_note(&changes, "a.py", &changed);
    snd_source_note(&changes, "a.py", &changed);
    snd_source_say(&changes, changes.file, &text);
    CHECK_TEXT(snd_buffer_str(&text), "source not shown for a.py: changed or removed after it was recorded");
    snd_buffer_free(&text);
    snd_source_note(&changes, "b.py", &changed);
    snd_source_say(&changes, changes.file, &text);
    CHECK_TEXT(snd_buffer_str(&text),
               "source not shown for a.py and other files: changed or removed after they were recorded");
    snd_buffer_free(&text);
}

int
main(void)
{
    RUN(lines_are_split_and_their_tabs_are_spaces);
    RUN(a_file_is_shown_as_long_as_it_is_what_was_recorded);
    RUN(a_file_that_the_recording_knows_nothing_of_is_not_shown);
    RUN(only_a_plain_file_is_read);
    RUN(a_file_that_is_too_large_is_not_read);
    RUN(files_that_changed_are_named_once);
    RUN(every_failing_allocation_is_reported);
    return check_report();
}
