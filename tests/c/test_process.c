/* Paths, ranks and what the system says of the process. */
#include "base/alloc.h"
#include "base/text.h"
#include "check.h"
#include "fixture.h"
#include "os/process.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const rank_names[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};
#define RANK_NAMES (sizeof rank_names / sizeof rank_names[0])

static void
forget_ranks(void)
{
    for (size_t i = 0; i < RANK_NAMES; i++)
        unsetenv(rank_names[i]);
}

static void
check_path(const char *path, const char *wanted)
{
    snd_buffer expanded = {0};

    snd_path_expand(path, &expanded);
    CHECK_TEXT(snd_buffer_str(&expanded), wanted);
    snd_buffer_free(&expanded);
}

static void
letters_after_a_percent_sign_are_replaced(void)
{
    char wanted[512];

    forget_ranks();
    snprintf(wanted, sizeof wanted, "/out/run-%d.sonde", (int)getpid());
    check_path("/out/run-%p.sonde", wanted);
    snprintf(wanted, sizeof wanted, "/out/%s/x", snd_process_host());
    check_path("/out/%h/x", wanted);
    check_path("/out/%r", "/out/0");
    check_path("/100%%", "/100%");
    check_path("/%%p", "/%p");
    snprintf(wanted, sizeof wanted, "/%d%d", (int)getpid(), (int)getpid());
    check_path("/%p%p", wanted);
}

static void
an_unknown_letter_and_a_last_percent_sign_stay(void)
{
    check_path("/a%xb", "/a%xb");
    check_path("/a%", "/a%");
    check_path("/%", "/%");
    check_path("/a%%%", "/a%%");
}

static void
a_rank_from_the_environment_goes_into_the_path(void)
{
    forget_ranks();
    setenv("PMI_RANK", "12", 1);
    check_path("/r%r", "/r12");
    forget_ranks();
}

static void
a_relative_path_becomes_absolute(void)
{
    char here[PATH_MAX];
    char wanted[PATH_MAX + 32];

    REQUIRE(getcwd(here, sizeof here) != NULL);
    snprintf(wanted, sizeof wanted, "%s/run.sonde", here);
    check_path("run.sonde", wanted);
    snprintf(wanted, sizeof wanted, "%s/../run.sonde", here);
    check_path("../run.sonde", wanted);
    snprintf(wanted, sizeof wanted, "%s/", here);
    check_path("", wanted);
    REQUIRE(chdir("/") == 0);
    check_path("run.sonde", "/run.sonde");
    REQUIRE(chdir(here) == 0);
}

static snd_status
expand(void *context)
{
    snd_buffer expanded = {0};

    (void)context;
    snd_path_expand("folder/%h-%p-%r-a-name-that-is-longer-than-the-first-64-bytes-of-a-buffer", &expanded);
    snd_status status = snd_buffer_status(&expanded);
    snd_buffer_free(&expanded);
    return status;
}

static void
a_path_that_finds_no_memory_says_so(void)
{
    CHECK(fail_each_allocation(expand, NULL) > 0);
}

static void
ranks_come_from_the_first_variable_that_has_one(void)
{
    forget_ranks();
    CHECK(snd_process_rank() == -1);
    for (size_t i = RANK_NAMES; i-- > 0;) {
        char number[8];
        snprintf(number, sizeof number, "%zu", i + 3);
        setenv(rank_names[i], number, 1);
        CHECK(snd_process_rank() == (int64_t)i + 3);
    }
    forget_ranks();
}

static void
what_is_no_whole_number_is_no_rank(void)
{
    static const char *const wrong[] = {"", "x", "-1", " 1", "1x", "1.5", "99999999999999999999"};

    forget_ranks();
    setenv("SLURM_PROCID", "4", 1);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        setenv("RANK", wrong[i], 1);
        CHECK(snd_process_rank() == 4);
    }
    setenv("RANK", "0", 1);
    CHECK(snd_process_rank() == 0);
    forget_ranks();
}

static void
the_base_of_a_path_is_behind_its_last_slash(void)
{
    CHECK_TEXT(snd_path_base("/usr/bin/work"), "work");
    CHECK_TEXT(snd_path_base("work"), "work");
    CHECK_TEXT(snd_path_base("folder/"), "");
    CHECK_TEXT(snd_path_base(""), "");
}

static void
check_own_name(void)
{
    char name[16];

    pthread_setname_np(pthread_self(), "a thread");
    snd_thread_system_name(name);
    CHECK_TEXT(name, "a thread");
    CHECK(snd_thread_id() != snd_process_id());
}

static void
the_first_thread_has_the_number_of_the_process(void)
{
    CHECK_NUMBER(snd_process_id(), getpid());
    CHECK_NUMBER(snd_thread_id(), getpid());
    run_in_thread(check_own_name);
}

static uint32_t thread_seen;

static void
see_thread(void)
{
    thread_seen = snd_thread_id();
    CHECK(snd_thread_lives(thread_seen));
    CHECK(snd_thread_lives(snd_process_id()));
}

/* The kernel tells of the end of a thread a little later than pthread_join. */
static int
thread_has_ended(const char *context)
{
    (void)context;
    return !snd_thread_lives(thread_seen);
}

static int
is_unknown_in_child(void)
{
    return snd_thread_lives(snd_thread_id()) && !snd_thread_lives((uint32_t)getppid()) ? 0 : 1;
}

static void
a_thread_lives_until_it_ends_and_in_its_own_process_only(void)
{
    CHECK(snd_thread_lives(snd_thread_id()));
    run_in_thread(see_thread);
    CHECK(wait_until(thread_has_ended, NULL));
    CHECK(!snd_thread_lives(0));
    CHECK(!snd_thread_lives(UINT32_MAX));
    CHECK_NUMBER(run_in_child(is_unknown_in_child), 0);
}

static void
the_arguments_are_those_of_the_program(void)
{
    snd_buffer words = {0};

    snd_process_arguments(&words);
    CHECK(words.size > 0 && strstr(words.data, "test_process") != NULL);
    CHECK(words.data[words.size - 1] == '\0');
    snd_buffer_free(&words);
    CHECK(strlen(snd_process_host()) > 0);
}

static void
check_plain(const char *path, const char *wanted)
{
    char *plain = snd_path_plain(path);

    if (wanted == NULL)
        CHECK(plain == NULL);
    else
        CHECK_TEXT(plain == NULL ? "(as it is)" : plain, wanted);
    snd_free(plain);
}

static void
a_path_says_nothing_twice(void)
{
    check_plain("/a/b.py", NULL);
    check_plain("a/../b.py", NULL);
    check_plain("<string>", NULL);
    check_plain("", NULL);
    check_plain("/a/b..py", NULL);
    check_plain("/a//b/./c.py", "/a/b/c.py");
    check_plain("//a.py", "/a.py");
    check_plain("//", "/");
    check_plain("/./", "/");
    check_plain("/a/...//.b/c.py", "/a/.../.b/c.py");
}

/* "/links/there/../x.py" is no file of "/links" when "there" is a link to somewhere else. */
static void
a_path_goes_up_only_where_it_leads_to_the_same_file(void)
{
    char folder[PATH_MAX - 32], path[PATH_MAX], wanted[PATH_MAX];

    snprintf(folder, sizeof folder, "%s", temp_path("paths"));
    REQUIRE(mkdir(folder, 0700) == 0 && chdir(folder) == 0);
    REQUIRE(mkdir("in", 0700) == 0 && mkdir("in/deep", 0700) == 0 && symlink("in/deep", "link") == 0);
    write_file("x.py", "", 0);
    write_file("in/x.py", "", 0);
    snprintf(wanted, sizeof wanted, "%s/x.py", folder);
    snprintf(path, sizeof path, "%s/in/../x.py", folder);
    check_plain(path, wanted);
    snprintf(path, sizeof path, "%s/in/deep/.././/../x.py", folder);
    check_plain(path, wanted);
    snprintf(path, sizeof path, "/../../%s/x.py", folder);
    check_plain(path, wanted);
    snprintf(path, sizeof path, "%s/link/../x.py", folder); /* in/x.py */
    check_plain(path, NULL);
    snprintf(path, sizeof path, "%s/in/../nowhere.py", folder);
    check_plain(path, NULL);
    REQUIRE(unlink("x.py") == 0 && unlink("in/x.py") == 0 && unlink("link") == 0 && rmdir("in/deep") == 0);
    REQUIRE(rmdir("in") == 0 && chdir("/") == 0 && rmdir(folder) == 0);
}

int
main(void)
{
    RUN(letters_after_a_percent_sign_are_replaced);
    RUN(an_unknown_letter_and_a_last_percent_sign_stay);
    RUN(a_rank_from_the_environment_goes_into_the_path);
    RUN(a_relative_path_becomes_absolute);
    RUN(a_path_that_finds_no_memory_says_so);
    RUN(ranks_come_from_the_first_variable_that_has_one);
    RUN(what_is_no_whole_number_is_no_rank);
    RUN(the_base_of_a_path_is_behind_its_last_slash);
    RUN(a_path_says_nothing_twice);
    RUN(a_path_goes_up_only_where_it_leads_to_the_same_file);
    RUN(the_first_thread_has_the_number_of_the_process);
    RUN(a_thread_lives_until_it_ends_and_in_its_own_process_only);
    RUN(the_arguments_are_those_of_the_program);
    return check_report();
}
