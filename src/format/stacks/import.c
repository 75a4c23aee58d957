/* The list of what can be imported, and what its readers share. */
#include "format/stacks/import.h"

#include "base/text.h"

#include <string.h>

const snd_import snd_imports[] = {
#define SND_IMPORT_ENTRY(name, about) {#name, about, snd_import_##name},
    SND_IMPORT_MAP(SND_IMPORT_ENTRY)
#undef SND_IMPORT_ENTRY
};
const unsigned snd_import_count = sizeof snd_imports / sizeof snd_imports[0];

const snd_import *
snd_import_find(const char *name)
{
    for (unsigned i = 0; i < snd_import_count; i++)
        if (strcmp(snd_imports[i].name, name) == 0)
            return &snd_imports[i];
    return NULL;
}

/* A dictionary whose first key is a tuple of three, or that is empty; either may be one that is referred to. */
static int
looks_like_pstats(const unsigned char *data, size_t size)
{
    if (size < 2 || (data[0] & 0x7f) != '{')
        return 0;
    switch (data[1] & 0x7f) {
    case '(':
        return size > 6 && memcmp(data + 2, "\3\0\0\0", 4) == 0;
    case ')':
        return size > 3 && data[2] == 3;
    default:
        return size == 2 && data[1] == '0';
    }
}

/* Text whose first line, as far as it goes, ends with a number. */
static int
looks_like_collapsed(const char *data, size_t size)
{
    const char *end = memchr(data, '\n', size);
    size_t len = end == NULL ? size : (size_t)(end - data);

    if (memchr(data, '\0', size) != NULL)
        return 0;
    while (len > 0 && (data[len - 1] == '\r' || data[len - 1] == ' '))
        len--;
    return len >= 3 && data[len - 1] >= '0' && data[len - 1] <= '9' && memchr(data, ' ', len) != NULL;
}

const snd_import *
snd_import_guess(const char *data, size_t size)
{
    if (looks_like_pstats((const unsigned char *)data, size))
        return snd_import_find("pstats");
    return looks_like_collapsed(data, size) ? snd_import_find("collapsed") : NULL;
}

snd_status
snd_import_set_facts(snd_profile *profile, const char *file, const snd_import *how)
{
    const struct {
        const char *key, *value;
    } facts[] = {
        {"program", snd_path_base(file)},
        {"imported", how->name},
        {"sonde", SND_VERSION},
        {"python", ""},
        {"arguments", "[]"},
        {"host", ""},
        {"process_id", "0"},
        {"complete", "1"},
        {"start_realtime_ns", "0"},
        {"start_monotonic_ns", "0"},
    };
    uint64_t length_ns = 0;
    snd_status status = SND_OK;

    for (size_t i = 0; i < sizeof facts / sizeof facts[0] && status == SND_OK; i++)
        status = snd_profile_set_info(profile, facts[i].key, facts[i].value);
    for (uint32_t i = 0; i < profile->track_count; i++)
        if (profile->tracks[i].end_ns > length_ns)
            length_ns = profile->tracks[i].end_ns;
    return status == SND_OK ? snd_profile_set_info_number(profile, "length_ns", length_ns) : status;
}

snd_status
snd_import_add_track(snd_profile *profile, const char *name, uint32_t *root)
{
    const snd_profile_site site = {.kind = SND_SITE_THREAD, .name = name, .file = "", .detail = ""};
    /* the main thread is the one whose number is the process's */
    const snd_profile_track track = {
        .process_id = 0, .thread_id = profile->track_count, .thread_count = 1, .name = name};
    uint32_t track_id, site_id;
    snd_status status = snd_profile_add_track(profile, &track, &track_id);

    if (status == SND_OK)
        status = snd_profile_add_site(profile, &site, &site_id);
    if (status == SND_OK)
        status = snd_profile_add_node(profile, SND_NONE, track_id, site_id, root);
    return status;
}

snd_status
snd_import_end_track(snd_profile *profile, uint32_t root, uint64_t ns)
{
    const struct {
        snd_metric metric;
        uint64_t value;
    } values[] = {{SND_METRIC_COUNT, 1},
                  {SND_METRIC_TOTAL, ns},
                  {SND_METRIC_SELF, ns},
                  {SND_METRIC_MIN, ns},
                  {SND_METRIC_MAX, ns}};
    uint32_t id = profile->nodes[root].track;
    snd_profile_track track = profile->tracks[id];
    snd_status status;

    track.end_ns = ns;
    status = snd_profile_set_track(profile, id, &track);
    for (size_t i = 0; i < sizeof values / sizeof values[0] && status == SND_OK; i++)
        status = snd_profile_set(profile, root, values[i].metric, (snd_value){.whole = values[i].value});
    return status;
}
