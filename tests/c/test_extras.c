/* Facts and sources that only the program's side knows. */
#include "base/alloc.h"
#include "check.h"
#include "collect/extras.h"
#include "fixture.h"

#include <string.h>

static void
nothing_is_added_where_nothing_was_said(void)
{
    snd_profile *profile = snd_profile_new();

    snd_extras_forget();
    CHECK(snd_extras_add(profile) == SND_OK);
    CHECK_NUMBER(profile->info_count, 0);
    CHECK_NUMBER(profile->source_count, 0);
    snd_profile_free(profile);
}

static void
facts_and_sources_come_into_every_profile(void)
{
    CHECK(snd_extras_set_info("program_path", "/old") == SND_OK);
    CHECK(snd_extras_set_info("program_path", "/new") == SND_OK);
    CHECK(snd_extras_add_source("<string>", "a\nb", 3) == SND_OK);
    for (int i = 0; i < 2; i++) {
        snd_profile *profile = snd_profile_new();
        CHECK(snd_extras_add(profile) == SND_OK);
        CHECK(snd_extras_add(profile) == SND_OK);
        CHECK_TEXT(snd_profile_info(profile, "program_path"), "/new");
        CHECK_NUMBER(profile->source_count, 1);
        const snd_source *source = snd_profile_source(profile, "<string>");
        CHECK(source != NULL && source->size == 3 && memcmp(source->text, "a\nb", 3) == 0);
        snd_profile_free(profile);
    }
}

static void
a_source_that_the_profile_has_stays(void)
{
    snd_profile *profile = snd_profile_new();

    REQUIRE(snd_profile_add_source(profile, "<string>", "other", 5) == SND_OK);
    CHECK(snd_extras_add(profile) == SND_OK);
    CHECK_NUMBER(profile->source_count, 1);
    CHECK_NUMBER(snd_profile_source(profile, "<string>")->size, 5);
    snd_profile_free(profile);
}

static void
what_is_forgotten_is_gone(void)
{
    snd_extras_forget();
    nothing_is_added_where_nothing_was_said();
    snd_extras_forget();
}

static void
a_file_gets_its_name_in_all_sites(void)
{
    snd_profile *profile = snd_profile_new();
    uint32_t id;

    REQUIRE(snd_extras_name_file("/tmp/1/2.py", "In[3]") == SND_OK);
    for (uint32_t line = 1; line <= 2; line++)
        REQUIRE(snd_profile_add_site(profile,
                                     &(snd_profile_site){.kind = SND_SITE_LINE,
                                                         .name = "f",
                                                         .file = line == 1 ? "/tmp/1/2.py" : "other.py",
                                                         .line = line,
                                                         .detail = ""},
                                     &id) == SND_OK);
    CHECK(snd_extras_add(profile) == SND_OK);
    CHECK(snd_extras_rename_files(profile) == SND_OK);
    CHECK_TEXT(profile->sites[0].file, "In[3]");
    CHECK_TEXT(profile->sites[1].file, "other.py");
    CHECK_NUMBER(profile->info_count, 0);
    snd_profile_free(profile);
    snd_extras_forget();
}

static snd_status
say_all(void *context)
{
    (void)context;
    snd_extras_forget();
    snd_status status = snd_extras_set_info("key", "value");
    if (status == SND_OK)
        status = snd_extras_add_source("file", "text", 4);
    if (status == SND_OK)
        status = snd_extras_name_file("file", "name");
    snd_profile *profile = status == SND_OK ? snd_profile_new() : NULL;
    if (status == SND_OK)
        status = profile == NULL ? SND_NO_MEMORY : snd_extras_add(profile);
    snd_profile_free(profile);
    return status;
}

static void
memory_that_runs_out_is_told(void)
{
    CHECK(fail_each_allocation(say_all, NULL) > 3);
    snd_extras_forget();
}

int
main(void)
{
    RUN(nothing_is_added_where_nothing_was_said);
    RUN(facts_and_sources_come_into_every_profile);
    RUN(a_source_that_the_profile_has_stays);
    RUN(what_is_forgotten_is_gone);
    RUN(a_file_gets_its_name_in_all_sites);
    RUN(memory_that_runs_out_is_told);
    return check_report();
}
