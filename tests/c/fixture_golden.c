/* Texts that are compared with files of tests/golden. */
#include "fixture_golden.h"

#include "base/buffer.h"
#include "check.h"
#include "fixture.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 16u

const char *golden_folder;

static snd_buffer used; /* the names, each between two newlines; kept to the end */

void
check_golden(const char *name, const void *data, size_t size)
{
    const char *mode = getenv("SONDE_GOLDEN");
    char path[1024];

    snprintf(path, sizeof path, "%s/%s", golden_folder, name);
    snd_buffer_printf(&used, "\n%s\n", name);
    if (mode != NULL && strcmp(mode, "write") == 0)
        write_file(path, data, size);
    char *wanted = read_file(path, NULL);
    char *got = strndup(data, size);
    CHECK_TEXT(got, wanted);
    free(got);
    free(wanted);
}

void
check_golden_bytes(const char *name, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    snd_buffer text = {0};

    for (size_t at = 0; at < size; at += LINE_BYTES) {
        size_t count = size - at < LINE_BYTES ? size - at : LINE_BYTES;
        for (size_t i = 0; i < LINE_BYTES; i++)
            if (i < count)
                snd_buffer_printf(&text, "%02x ", bytes[at + i]);
            else
                snd_buffer_text(&text, "   ");
        snd_buffer_char(&text, ' ');
        for (size_t i = at; i < at + count; i++)
            snd_buffer_char(&text, bytes[i] >= 0x20 && bytes[i] < 0x7f ? (char)bytes[i] : '.');
        snd_buffer_char(&text, '\n');
    }
    check_golden(name, snd_buffer_str(&text), text.size);
    snd_buffer_free(&text);
}

void
check_golden_used(const char *part)
{
    char path[1024], name[512];

    snprintf(path, sizeof path, "%s/%s", golden_folder, part);
    DIR *folder = opendir(path);
    REQUIRE(folder != NULL);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "\n%s/%s\n", part, entry->d_name);
        if (strstr(snd_buffer_str(&used), name) == NULL)
            CHECK_TEXT(entry->d_name, "a file that a test compares");
    }
    closedir(folder);
}
