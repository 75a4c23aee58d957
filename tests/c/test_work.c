/* Work that ends as a whole. Leaks show under AddressSanitizer. */
#include "base/work.h"

#include "base/buffer.h"
#include "check.h"

#include <string.h>

static unsigned reached;

static void
allocate_much(void *context)
{
    unsigned *blocks = context;
    snd_buffer text = {0};

    for (unsigned i = 0; i < 1000; i++) {
        char *block = snd_malloc(8 + i % 100);
        memset(block, 1, 8 + i % 100);
        if (i % 3 == 0)
            snd_free(block);
        snd_buffer_printf(&text, "block %u, ", i);
        reached = i;
    }
    *blocks = 1000;
}

static void
what_a_work_allocated_is_freed_at_its_end(void)
{
    unsigned blocks = 0;

    CHECK(snd_work_run(allocate_much, &blocks, NULL) == SND_OK);
    CHECK_NUMBER(blocks, 1000);
}

static void
it_ends_where_memory_runs_out(void)
{
    unsigned blocks = 0;

    for (long allowed = 0; allowed < 300; allowed += 7) {
        reached = 0;
        snd_alloc_fail_after(allowed);
        snd_status status = snd_work_run(allocate_much, &blocks, NULL);
        snd_alloc_fail_after(-1);
        CHECK(status == SND_NO_MEMORY);
        CHECK(reached <= allowed);
    }
    CHECK_NUMBER(blocks, 0);
}

static char *kept_text;

static void
keep_text(void *context)
{
    (void)context;
    kept_text = snd_strdup("kept");
    memset(snd_new(10, 100), 1, 1000);
}

static void
what_is_kept_lives_until_it_is_freed(void)
{
    snd_pool *kept = NULL;

    CHECK(snd_work_run(keep_text, NULL, &kept) == SND_OK);
    CHECK_TEXT(kept_text, "kept");
    snd_pool_free(kept);
}

static void
end_inside(void *context)
{
    memset(snd_new(1, 1), 1, 1);
    snd_work_end(*(snd_status *)context);
}

static void
run_another(void *context)
{
    snd_status inner = SND_NO_DATA;
    char *before = snd_strdup("before");

    CHECK(snd_work_run(end_inside, &inner, NULL) == SND_NO_DATA);
    snd_work_need(SND_OK);
    CHECK_TEXT(before, "before");
    *(int *)context = 1;
    snd_work_need(SND_DAMAGED);
    CHECK(!"it goes on after its end");
}

static void
a_work_inside_another_ends_alone(void)
{
    int went_on = 0;

    CHECK(snd_work_run(run_another, &went_on, NULL) == SND_DAMAGED);
    CHECK(went_on);
}

static void
keep_inside(void *context)
{
    snd_pool *kept = NULL;

    (void)context;
    CHECK(snd_work_run(keep_text, NULL, &kept) == SND_OK);
    CHECK(kept != NULL);
    CHECK_TEXT(kept_text, "kept");
}

static void
what_is_kept_inside_another_work_is_that_works(void)
{
    CHECK(snd_work_run(keep_inside, NULL, NULL) == SND_OK);
}

static void
grow_and_free(void *context)
{
    void **blocks = context;

    blocks[0] = snd_realloc(blocks[0], 100000);
    snd_free(blocks[1]);
    blocks[1] = NULL;
}

/* As a caller's buffer may grow inside. */
static void
blocks_of_others_stay_with_them(void)
{
    void *blocks[2] = {snd_malloc(10), snd_malloc(10)};

    CHECK(snd_work_run(grow_and_free, blocks, NULL) == SND_OK);
    memset(blocks[0], 1, 100000);
    snd_free(blocks[0]);
}

int
main(void)
{
    RUN(what_a_work_allocated_is_freed_at_its_end);
    RUN(it_ends_where_memory_runs_out);
    RUN(what_is_kept_lives_until_it_is_freed);
    RUN(a_work_inside_another_ends_alone);
    RUN(what_is_kept_inside_another_work_is_that_works);
    RUN(blocks_of_others_stay_with_them);
    return check_report();
}
