/* The sites of the process. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "probe/core/site.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static uint32_t
add(snd_site_kind kind, const char *name, const char *file, uint32_t line)
{
    return snd_site_add(kind, name, strlen(name), file, line);
}

static void
one_kind_and_name_is_one_site(void)
{
    uint32_t region = add(SND_SITE_REGION, "load", "a.c", 1);
    uint32_t again = add(SND_SITE_REGION, "load", "b.c", 2);
    uint32_t counter = add(SND_SITE_COUNTER, "load", "c.c", 3);
    uint32_t other = add(SND_SITE_REGION, "loa", "d.c", 4);

    CHECK_NUMBER(again, region);
    CHECK(counter != region && other != region && other != counter);
    CHECK_TEXT(snd_site_get(region).file, "a.c");
    CHECK_NUMBER(snd_site_get(region).line, 1);
    CHECK(snd_site_get(counter).kind == SND_SITE_COUNTER);
    CHECK_TEXT(snd_site_get(other).name, "loa");
    CHECK_NUMBER(snd_site_find(SND_SITE_COUNTER, "load", 4), counter);
    CHECK(snd_site_find(SND_SITE_REGION, "lo", 2) == SND_NONE);
}

static void
a_place_has_one_name(void)
{
    uint32_t plain = add(SND_SITE_REGION, "plain", "/usr//share/./../lib/../../etc/passwd", 1);
    snd_profile_site site = {SND_SITE_LINE, "f", "/etc/passwd", 1, "", 0, 0};
    uint32_t line = snd_site_add_placed(&site);

    CHECK_TEXT(snd_site_get(plain).file, "/etc/passwd");
    site.file = "//etc/../etc/./passwd";
    CHECK_NUMBER(snd_site_add_placed(&site), line);
}

static void
only_the_given_length_of_a_name_counts(void)
{
    uint32_t part = snd_site_add(SND_SITE_REGION, "partial", 4, "", 0);

    CHECK_TEXT(snd_site_get(part).name, "part");
    CHECK_NUMBER(add(SND_SITE_REGION, "part", "", 0), part);
    CHECK(add(SND_SITE_REGION, "partial", "", 0) != part);
}

static void
sites_stay_in_place(void)
{
    uint32_t first = add(SND_SITE_REGION, "first of many", "", 0);
    const char *text = snd_site_get(first).name;
    char name[24];

    for (unsigned i = 0; i < 3000; i++) {
        snprintf(name, sizeof name, "one of many %u", i);
        CHECK(add(SND_SITE_REGION, name, "", i) != SND_NONE);
    }
    CHECK(snd_site_get(first).name == text);
    CHECK_TEXT(snd_site_get(add(SND_SITE_REGION, "one of many 2999", "", 0)).name, "one of many 2999");
    CHECK_NUMBER(snd_site_get(add(SND_SITE_REGION, "one of many 1500", "", 0)).line, 1500);
}

/* Every failed attempt leaves the list as it was: the same names then get the ids that follow. */
static void
a_site_without_memory_is_none(void)
{
    char name[24];
    unsigned failures = 0;
    uint64_t lost = snd_site_lost();

    for (unsigned i = 0; i < 300; i++) {
        uint32_t before = snd_site_count();
        snprintf(name, sizeof name, "without memory %u", i);
        for (long n = 0; n < 3; n++) {
            snd_alloc_fail_after(n);
            uint32_t id = add(SND_SITE_REGION, name, "work.c", 1);
            snd_alloc_fail_after(-1);
            failures += id == SND_NONE;
            if (id != SND_NONE)
                break;
            CHECK_NUMBER(snd_site_count(), before);
        }
        CHECK_NUMBER(add(SND_SITE_REGION, name, "work.c", 1), before);
    }
    CHECK(failures >= 600);
    CHECK_NUMBER(snd_site_lost() - lost, failures);
}

static void *
add_shared_names(void *context)
{
    uint32_t *ids = context;
    char name[24];

    for (unsigned i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "shared %u", i);
        ids[i] = add(SND_SITE_REGION, name, "work.c", i);
        if (strcmp(snd_site_get(ids[i]).name, name) != 0)
            ids[i] = SND_NONE;
    }
    return NULL;
}

static void
threads_that_add_the_same_names_get_the_same_ids(void)
{
    static uint32_t ids[4][1000];
    pthread_t threads[4];
    uint32_t before = snd_site_count();

    for (int i = 0; i < 4; i++)
        REQUIRE(pthread_create(&threads[i], NULL, add_shared_names, ids[i]) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CHECK_NUMBER(snd_site_count(), before + 1000);
    for (int i = 0; i < 1000; i++)
        CHECK(ids[0][i] != SND_NONE && ids[0][i] == ids[1][i] && ids[0][i] == ids[2][i] && ids[0][i] == ids[3][i]);
}

/* ---- calls ---- */

static uint32_t
add_call_at(const char *name, const char *file, uint32_t line, const char *detail)
{
    return snd_site_add_placed(&(snd_profile_site){SND_SITE_FUNCTION, name, file, line, detail, 0, 0});
}

static void
a_call_is_known_by_its_place_and_its_detail_too(void)
{
    uint32_t site = add_call_at("run", "a.py", 1, "");
    uint32_t others[] = {
        add_call_at("run", "a.py", 2, ""),
        add_call_at("run", "b.py", 1, ""),
        add_call_at("run", "a.py", 1, "run(int)"),
        add_call_at("ru", "a.py", 1, ""),
        snd_site_add_placed(&(snd_profile_site){SND_SITE_BUILTIN, "run", "a.py", 1, "", 0, 0}),
        add(SND_SITE_REGION, "run", "a.py", 1),
    };

    CHECK_NUMBER(add_call_at("run", "a.py", 1, ""), site);
    CHECK_NUMBER(add_call_at("run", "a.py", 1, "run(int)"), others[2]);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        CHECK(others[i] != SND_NONE && others[i] != site);
        for (size_t j = 0; j < i; j++)
            CHECK(others[i] != others[j]);
    }
    CHECK(snd_site_kind_get(site) == SND_SITE_FUNCTION);
    CHECK(snd_site_kind_get(others[4]) == SND_SITE_BUILTIN);
    CHECK_TEXT(snd_site_get(others[2]).detail, "run(int)");
    CHECK_TEXT(snd_site_get(others[0]).detail, "");
    CHECK_TEXT(snd_site_get(others[1]).file, "b.py");
}

static void
twins_have_the_same_texts_and_are_not_the_same(void)
{
    uint32_t ids[4];

    for (uint32_t i = 0; i < 4; i++) {
        ids[i] =
            snd_site_add_placed(&(snd_profile_site){SND_SITE_FUNCTION, "<lambda>", "a.py", 7, "<lambda>(x)", i, 0});
        CHECK(ids[i] != SND_NONE);
        for (uint32_t j = 0; j < i; j++)
            CHECK(ids[i] != ids[j]);
        CHECK_TEXT(snd_site_get(ids[i]).name, "<lambda>");
        CHECK_TEXT(snd_site_get(ids[i]).detail, "<lambda>(x)");
        CHECK_NUMBER(snd_site_get(ids[i]).line, 7);
        CHECK_NUMBER(snd_site_get(ids[i]).twin, i);
    }
    for (uint32_t i = 0; i < 4; i++) {
        snd_profile_site again = snd_site_get(ids[i]);
        CHECK_NUMBER(snd_site_add_placed(&again), ids[i]);
    }
}

static void
a_call_without_memory_is_none(void)
{
    snd_profile_site site = {SND_SITE_FUNCTION, "call without memory", "a.py", 7, "a detail of its own", 0, 0};
    uint32_t before = snd_site_count();
    uint64_t lost = snd_site_lost();

    for (long n = 0; n < 2; n++) {
        snd_alloc_fail_after(n);
        CHECK(snd_site_add_placed(&site) == SND_NONE);
        snd_alloc_fail_after(-1);
    }
    CHECK_NUMBER(snd_site_count(), before);
    CHECK_NUMBER(snd_site_lost() - lost, 2);
    CHECK_NUMBER(snd_site_add_placed(&site), before);
}

int
main(void)
{
    RUN(one_kind_and_name_is_one_site);
    RUN(a_place_has_one_name);
    RUN(only_the_given_length_of_a_name_counts);
    RUN(sites_stay_in_place);
    RUN(a_site_without_memory_is_none);
    RUN(threads_that_add_the_same_names_get_the_same_ids);
    RUN(a_call_is_known_by_its_place_and_its_detail_too);
    RUN(twins_have_the_same_texts_and_are_not_the_same);
    RUN(a_call_without_memory_is_none);
    return check_report();
}
