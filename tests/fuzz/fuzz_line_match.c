/* Two texts, with a NUL between them, as a file and an edited one: lines are matched in order, and those that are
 * matched are found. */
#include "fuzz.h"
#include "view/compare/line_match.h"

#include <string.h>

static snd_source_lines
open_part(snd_profile *profile, const char *file, const void *data, size_t size)
{
    snd_source_lines lines;

    MUST(snd_profile_add_source(profile, file, data, size) == SND_OK);
    MUST(snd_source_open(profile, file, &lines) == SND_OK);
    return lines;
}

static void
check_match(const snd_line_match *match)
{
    uint32_t last = 0;

    for (uint32_t i = 1; i <= match->count; i++) {
        uint32_t found = snd_line_match_find(match, i);
        if (found == 0)
            continue;
        MUST(found > last && found <= match->other_count && snd_line_match_has(match, found));
        last = found;
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *middle = size == 0 ? NULL : memchr(data, '\0', size);
    size_t first = middle == NULL ? size : (size_t)(middle - data);
    snd_profile *profile = snd_profile_new();
    snd_line_match match;

    MUST(profile != NULL);
    snd_source_lines from = open_part(profile, "a.py", data, first);
    snd_source_lines to = open_part(profile, "b.py", data + first, size - first);
    MUST(snd_line_match_make(&from, &to, &match) == SND_OK);
    check_match(&match);
    snd_line_match_free(&match);
    snd_source_close(&from);
    snd_source_close(&to);
    snd_profile_free(profile);
    return 0;
}
