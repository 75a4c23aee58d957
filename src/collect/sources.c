/* The program's source files: the text of its own, of all others what they are known by. */
#include "collect/sources.h"

#include "base/alloc.h"
#include "os/file.h"
#include "view/own.h"
#include "view/source.h"

/* Texts that go into the recording: of one file, and of all. */
#define TEXT_LIMIT (1u << 20)
#define TOTAL_LIMIT (16u << 20)

/* Sources that the caller gave are in it as well, and may be more than the limit by themselves. */
static size_t
total_size(const snd_profile *profile)
{
    size_t size = 0;
    for (uint32_t i = 0; i < profile->source_count; i++)
        size += profile->sources[i].text == NULL ? 0 : profile->sources[i].size;
    return size < TOTAL_LIMIT ? size : TOTAL_LIMIT;
}

static snd_status
add_file(snd_profile *profile, const char *path, int is_own)
{
    snd_source source = {.file = path};
    snd_status status = snd_file_load(path, SND_SOURCE_FILE_LIMIT, &source.text, &source.size);
    char *text = source.text;

    if (text == NULL)
        return status;
    if (!is_own || source.size > TEXT_LIMIT || source.size > TOTAL_LIMIT - total_size(profile)) {
        snd_sha256(text, source.size, source.sha256);
        source.text = NULL;
    }
    status = snd_profile_copy_source(profile, &source);
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
        if (site->kind != SND_SITE_LINE || site->file[0] != '/' || site->file == last)
            continue;
        last = site->file; /* texts are interned: lines of one file come in runs */
        if (snd_profile_source(profile, site->file) == NULL)
            status = add_file(profile, site->file, snd_own_has(&own, site->file));
    }
    return status;
}
