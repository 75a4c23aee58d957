/* The text of the program's own files. */
#include "collect/sources.h"

#include "base/alloc.h"
#include "view/own.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_LIMIT (1u << 20)
#define TOTAL_LIMIT (16u << 20)

static size_t
total_size(const snd_profile *profile)
{
    size_t size = 0;
    for (uint32_t i = 0; i < profile->source_count; i++)
        size += profile->sources[i].size;
    return size;
}

static ssize_t
read_all(int file, char *text, size_t size)
{
    size_t done = 0;

    while (done < size) {
        ssize_t count = read(file, text + done, size - done);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            break;
        done += (size_t)count;
    }
    return (ssize_t)done;
}

static snd_status
add_file(snd_profile *profile, const char *path)
{
    struct stat about;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    snd_status status = SND_OK;

    if (file < 0)
        return SND_OK;
    if (fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size <= FILE_LIMIT &&
        total_size(profile) + (size_t)about.st_size <= TOTAL_LIMIT) {
        char *text = snd_malloc((size_t)about.st_size + 1);
        ssize_t size = text == NULL ? 0 : read_all(file, text, (size_t)about.st_size);
        status = text == NULL ? SND_NO_MEMORY : snd_profile_add_source(profile, path, text, (size_t)size);
        snd_free(text);
    }
    close(file);
    return status;
}

snd_status
snd_sources_add(snd_profile *profile, uint32_t *from)
{
    snd_own own;
    const char *last = "";
    snd_status status = SND_OK;

    snd_own_start(&own, profile, &(snd_view_options){0});
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
