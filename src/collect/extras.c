/* What only the program's side knows of a run. */
#include "collect/extras.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static snd_profile *extras; /* NULL: nothing so far */
static snd_profile *names;  /* its facts: a file and what it is called; NULL: none so far */

static int
make(snd_profile **place)
{
    if (*place == NULL)
        *place = snd_profile_new();
    return *place != NULL;
}

snd_status
snd_extras_set_info(const char *key, const char *value)
{
    pthread_mutex_lock(&lock);
    snd_status status = make(&extras) ? snd_profile_set_info(extras, key, value) : SND_NO_MEMORY;
    pthread_mutex_unlock(&lock);
    return status;
}

snd_status
snd_extras_add_source(const char *file, const char *text, size_t size)
{
    pthread_mutex_lock(&lock);
    snd_status status = make(&extras) ? snd_profile_add_source(extras, file, text, size) : SND_NO_MEMORY;
    pthread_mutex_unlock(&lock);
    return status;
}

snd_status
snd_extras_name_file(const char *file, const char *name)
{
    pthread_mutex_lock(&lock);
    snd_status status = make(&names) ? snd_profile_set_info(names, file, name) : SND_NO_MEMORY;
    pthread_mutex_unlock(&lock);
    return status;
}

/* Texts are interned: a file is one address, and so is its name. */
static snd_status
rename_file(snd_profile *profile, const char *file, const char *name)
{
    const char *from, *to;
    snd_status status = snd_profile_keep_text(profile, file, &from);
    if (status == SND_OK)
        status = snd_profile_keep_text(profile, name, &to);
    for (uint32_t i = 0; i < profile->site_count && status == SND_OK; i++)
        if (profile->sites[i].file == from)
            profile->sites[i].file = to;
    return status;
}

static snd_status
rename_locked(snd_profile *profile)
{
    snd_status status = SND_OK;

    for (uint32_t i = 0; names != NULL && i < names->info_count && status == SND_OK; i++)
        status = rename_file(profile, names->infos[i].key, names->infos[i].value);
    return status;
}

snd_status
snd_extras_rename_files(snd_profile *profile)
{
    pthread_mutex_lock(&lock);
    snd_status status = rename_locked(profile);
    pthread_mutex_unlock(&lock);
    return status;
}

static snd_status
add_locked(snd_profile *profile)
{
    snd_status status = SND_OK;

    for (uint32_t i = 0; i < extras->info_count && status == SND_OK; i++)
        status = snd_profile_set_info(profile, extras->infos[i].key, extras->infos[i].value);
    for (uint32_t i = 0; i < extras->source_count && status == SND_OK; i++) {
        const snd_source *source = &extras->sources[i];
        if (snd_profile_source(profile, source->file) == NULL)
            status = snd_profile_copy_source(profile, source);
    }
    return status;
}

snd_status
snd_extras_add(snd_profile *profile)
{
    pthread_mutex_lock(&lock);
    snd_status status = extras == NULL ? SND_OK : add_locked(profile);
    if (status == SND_OK)
        status = rename_locked(profile);
    pthread_mutex_unlock(&lock);
    return status;
}

void
snd_extras_forget(void)
{
    pthread_mutex_lock(&lock);
    snd_profile_free(extras);
    snd_profile_free(names);
    extras = names = NULL;
    pthread_mutex_unlock(&lock);
}
