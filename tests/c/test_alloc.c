/* The door to the heap, with a limit. */
#include "base/alloc.h"

#include "base/status.h"
#include "check.h"

#include <string.h>

#define MIB ((size_t)1 << 20)

static void
no_more_than_the_limit_can_be_had(void)
{
    snd_alloc_limit(8 * MIB);
    void *first = snd_malloc(5 * MIB);
    CHECK(first != NULL);
    CHECK(snd_alloc_is_stopped() == SND_ALLOC_GOES_ON);
    CHECK(snd_malloc(5 * MIB) == NULL);
    CHECK(snd_alloc_is_stopped() == SND_ALLOC_TOO_LARGE);
    CHECK(snd_calloc(5, MIB) == NULL);
    CHECK(snd_calloc(SIZE_MAX, 2) == NULL);
    CHECK(snd_malloc(SIZE_MAX) == NULL);
    CHECK(snd_realloc(NULL, 5 * MIB) == NULL);
    snd_free(first);
    snd_alloc_limit(0);
}

static void
what_is_freed_or_shrunk_can_be_had_again(void)
{
    snd_alloc_limit(8 * MIB);
    for (int i = 0; i < 20; i++) {
        void *block = snd_calloc(3, MIB);
        REQUIRE(block != NULL);
        void *grown = snd_realloc(block, 7 * MIB);
        REQUIRE(grown != NULL);
        CHECK(snd_malloc(3 * MIB) == NULL);
        void *shrunk = snd_realloc(grown, 2 * MIB);
        void *other = snd_malloc(5 * MIB);
        CHECK(other != NULL);
        snd_free(other);
        snd_free(shrunk);
    }
    snd_alloc_limit(0);
}

static void
a_status_says_why_it_was_stopped(void)
{
    snd_alloc_limit(MIB);
    CHECK_TEXT(snd_status_text(SND_NO_MEMORY), "out of memory");
    CHECK(snd_malloc(2 * MIB) == NULL);
    CHECK(strstr(snd_status_text(SND_NO_MEMORY), "far more memory than a file of its size should") != NULL);
    CHECK_TEXT(snd_status_text(SND_DAMAGED), "the recording is damaged");
    snd_alloc_limit(MIB);
    CHECK_TEXT(snd_status_text(SND_NO_MEMORY), "out of memory");
    snd_alloc_stop_all();
    CHECK(snd_malloc(1) == NULL);
    CHECK(strstr(snd_status_text(SND_NO_MEMORY), "far longer than a file of its size should") != NULL);
    snd_alloc_limit(0);
    void *block = snd_malloc(2 * MIB);
    CHECK(block != NULL);
    snd_free(block);
}

int
main(void)
{
    RUN(no_more_than_the_limit_can_be_had);
    RUN(what_is_freed_or_shrunk_can_be_had_again);
    RUN(a_status_says_why_it_was_stopped);
    return check_report();
}
