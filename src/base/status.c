/* The texts of the status codes. */
#include "base/status.h"

#include <string.h>

const char *
snd_status_stopped(snd_alloc_stop why)
{
    if (why == SND_ALLOC_TOO_LARGE)
        return "needs far more memory than a file of its size should; set SONDE_LIMITS=off to read it anyway";
    return "takes far longer than a file of its size should; set SONDE_LIMITS=off to read it anyway";
}

const char *
snd_status_text(snd_status status)
{
#define SND_STATUS_TEXT(name, text) text,
    static const char *const texts[] = {SND_STATUS_MAP(SND_STATUS_TEXT)};
#undef SND_STATUS_TEXT
    if (status == SND_NO_MEMORY && snd_alloc_is_stopped() != SND_ALLOC_GOES_ON)
        return snd_status_stopped(snd_alloc_is_stopped());
    return (unsigned)status < SND_STATUS_COUNT ? texts[status] : "unknown status";
}

const char *
snd_status_detail(snd_status status, int saved_errno)
{
    static _Thread_local char text[128];

    if (status != SND_SYSTEM || saved_errno == 0)
        return snd_status_text(status);
    return strerror_r(saved_errno, text, sizeof text);
}
