/* Reading memory that may not be there. */
#include "check.h"
#include "os/peek.h"

#include <string.h>
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
a_mapping_ends_where_it_ends(void)
{
    int here;
    uintptr_t start = 0, end = 0;

    CHECK(snd_peek_mapping((uintptr_t)&here, &start, &end));
    CHECK(end > (uintptr_t)&here && snd_peek(end - 8, &(uint64_t){0}, 8));
    for (uintptr_t at = (uintptr_t)pages; at < (uintptr_t)pages + page; at += page - 1) {
        CHECK(snd_peek_mapping(at, &start, &end));
        CHECK(start <= (uintptr_t)pages);
        CHECK_NUMBER(end, (uintptr_t)pages + page);
    }
    CHECK(!snd_peek_mapping(8, &start, &end));
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
    RUN(a_mapping_ends_where_it_ends);
    return check_report();
}
