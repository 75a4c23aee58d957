/* What only the program's side knows of a run. */
#include "collect/extras.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static snd_profile *extras; /* NULL: nothing so far */

static int
make(void)
{
    if (extras == NULL)
        extras = snd_profile_new();
    return extras != NULL;
}

snd_status
snd_extras_set_info(const char *key, const char *value)
{
    pthread_mutex_lock(&lock);
    snd_status status = make() ? snd_profile_set_info(extras, key, value) : SND_NO_MEMORY;
    pthread_mutex_unlock(&lock);
    return status;
}

snd_status
snd_extras_add_source(const char *file, const char *text, size_t size)
{
    pthread_mutex_lock(&lock);
    snd_status status = make() ? snd_profile_add_source(extras, file, text, size) : SND_NO_MEMORY;
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
            status = snd_profile_add_source(profile, source->file, source->text, source->size);
    }
    return status;
}

snd_status
snd_extras_add(snd_profile *profile)
{
    pthread_mutex_lock(&lock);
    snd_status status = extras == NULL ? SND_OK : add_locked(profile);
    pthread_mutex_unlock(&lock);
    return status;
}

void
snd_extras_forget(void)
{
    pthread_mutex_lock(&lock);
    snd_profile_free(extras);
    extras = NULL;
    pthread_mutex_unlock(&lock);
}
