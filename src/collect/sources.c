/* The text of the program's own files. */
#include "collect/sources.h"

#include "base/alloc.h"
#include "os/file.h"
#include "view/own.h"

#define FILE_LIMIT (1u << 20)
#define TOTAL_LIMIT (16u << 20)

/* Sources that the caller gave are in it as well, and may be more than the limit by themselves. */
static size_t
total_size(const snd_profile *profile)
{
    size_t size = 0;
    for (uint32_t i = 0; i < profile->source_count; i++)
        size += profile->sources[i].size;
    return size < TOTAL_LIMIT ? size : TOTAL_LIMIT;
}

static snd_status
add_file(snd_profile *profile, const char *path)
{
    size_t left = TOTAL_LIMIT - total_size(profile), size;
    char *text;
    snd_status status = snd_file_load(path, left < FILE_LIMIT ? left : FILE_LIMIT, &text, &size);

    if (text != NULL)
        status = snd_profile_add_source(profile, path, text, size);
    snd_free(text);
    return status;
}

snd_status
snd_sources_add(snd_profile *profile, uint32_t *from)
{
    snd_own own;
    const char *last = "";
    snd_status status = SND_OK;

    snd_own_rules(&own, profile, &(snd_view_options){0});
    for (; *from < profile->site_count && status == SND_OK; ++*from) {
        const snd_profile_site *site = &profile->sites[*from];
        if (site->kind != SND_SITE_LINE || site->file[0] != '/' || site->file == last || !snd_own_has(&own, site->file))
            continue;
        last = site->file; /* texts are interned: lines of one file come in runs */
        if (snd_profile_source(profile, site->file) == NULL)
            status = add_file(profile, site->file);
    }
    return status;
}
