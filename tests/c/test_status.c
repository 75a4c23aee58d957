/* The sentences of the status codes. */
#include "base/status.h"
#include "check.h"

#include <errno.h>
#include <string.h>

static void
every_status_has_a_sentence_of_its_own(void)
{
    for (unsigned i = 0; i < SND_STATUS_COUNT; i++) {
        const char *text = snd_status_text((snd_status)i);
        CHECK(text != NULL && text[0] != '\0');
        for (unsigned j = 0; j < i; j++)
            CHECK(strcmp(text, snd_status_text((snd_status)j)) != 0);
    }
    CHECK_TEXT(snd_status_text(SND_OK), "success");
}

static void
a_number_that_is_no_status_has_a_sentence_too(void)
{
    CHECK_TEXT(snd_status_text(SND_STATUS_COUNT), "unknown status");
    CHECK_TEXT(snd_status_text((snd_status)-1), "unknown status");
}

static void
a_system_failure_says_what_errno_says(void)
{
    CHECK_TEXT(snd_status_detail(SND_SYSTEM, ENOENT), "No such file or directory");
    CHECK_TEXT(snd_status_detail(SND_SYSTEM, 0), snd_status_text(SND_SYSTEM));
    CHECK_TEXT(snd_status_detail(SND_DAMAGED, ENOENT), snd_status_text(SND_DAMAGED));
}

int
main(void)
{
    RUN(every_status_has_a_sentence_of_its_own);
    RUN(a_number_that_is_no_status_has_a_sentence_too);
    RUN(a_system_failure_says_what_errno_says);
    return check_report();
}
