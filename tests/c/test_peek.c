/* Reading memory that may not be there. */
#include "check.h"
#include "os/peek.h"

#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

static char *pages; /* three: readable, not readable, readable */
static size_t page;

static void
what_is_there_is_copied(void)
{
    char text[16] = "";

    CHECK(snd_peek_works());
    CHECK(snd_peek((uintptr_t)"a text", text, 7));
    CHECK_TEXT(text, "a text");
}

static void
what_is_not_there_is_told(void)
{
    uint64_t out = 0;

    CHECK(!snd_peek(0, &out, sizeof out));
    CHECK(!snd_peek(8, &out, sizeof out));
    CHECK(!snd_peek(UINTPTR_MAX - 7, &out, sizeof out));
    CHECK(!snd_peek((uintptr_t)1 << 63, &out, sizeof out)); /* no address at all */
    CHECK(!snd_peek((uintptr_t)pages + page, &out, sizeof out));
}

static void
what_is_there_in_part_only_is_not_there(void)
{
    char out[64];

    memset(pages, 7, page);
    CHECK(snd_peek((uintptr_t)pages + page - sizeof out, out, sizeof out));
    CHECK(out[63] == 7);
    CHECK(!snd_peek((uintptr_t)pages + page - sizeof out + 1, out, sizeof out));
    CHECK(!snd_peek((uintptr_t)pages + 2 * page - 1, out, sizeof out));
}

static void
a_page_that_is_gone_is_told(void)
{
    char *other = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char out;

    REQUIRE(other != MAP_FAILED);
    CHECK(snd_peek((uintptr_t)other, &out, 1));
    munmap(other, page);
    CHECK(!snd_peek((uintptr_t)other, &out, 1));
}

static void
what_is_there_is_copied_up_to_its_end(void)
{
    char out[64];

    memset(pages, 7, page);
    CHECK_NUMBER(snd_peek_some((uintptr_t)pages + page - 48, out, sizeof out), 48);
    CHECK_NUMBER(snd_peek_some((uintptr_t)pages + page - 64, out, sizeof out), 64);
    CHECK_NUMBER(snd_peek_some((uintptr_t)pages + page, out, sizeof out), 0);
}

/* All of it can be read, and no more than what the system says is the thread's; above the main thread's are texts of
 * the program, the last of them its own path. */
static void *
look_at_stack(void *is_main)
{
    char byte;
    /* not the address of a variable, which AddressSanitizer may put elsewhere */
    uintptr_t sp = (uintptr_t)__builtin_frame_address(0), end = snd_stack_end(sp);
    pthread_attr_t about;
    void *start;
    size_t size;

    CHECK(end > sp && end - sp < (8u << 20));
    for (uintptr_t at = sp; at < end; at += at + page < end || at == end - 1 ? page : end - 1 - at)
        CHECK(snd_peek(at, &byte, 1));
    REQUIRE(pthread_getattr_np(pthread_self(), &about) == 0 && pthread_attr_getstack(&about, &start, &size) == 0);
    CHECK(end <= (is_main != NULL ? getauxval(AT_EXECFN) : (uintptr_t)start + size));
    pthread_attr_destroy(&about);
    CHECK_NUMBER(snd_stack_end(UINTPTR_MAX - 1), 0);
    return is_main;
}

static void
a_stack_ends_where_its_thread_says(void)
{
    pthread_t thread;

    (void)look_at_stack(&thread);
    REQUIRE(pthread_create(&thread, NULL, look_at_stack, NULL) == 0);
    pthread_join(thread, NULL);
}

int
main(void)
{
    page = (size_t)sysconf(_SC_PAGESIZE);
    pages = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(pages != MAP_FAILED && mprotect(pages + page, page, PROT_NONE) == 0);
    RUN(what_is_there_is_copied);
    RUN(what_is_not_there_is_told);
    RUN(what_is_there_in_part_only_is_not_there);
    RUN(a_page_that_is_gone_is_told);
    RUN(what_is_there_is_copied_up_to_its_end);
    RUN(a_stack_ends_where_its_thread_says);
    return check_report();
}
