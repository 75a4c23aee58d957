/* What the system counts of a thread, per region. */
#include "check.h"
#include "fixture.h"
#include "os/usage/perf.h"
#include "probe/core/snapshot.h"
#include "probe/region/region.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGES = 500 };

#define FAULTS (1u << SND_SYSTEM_COUNTER_PAGE_FAULTS)

/* Writes to so many pages that nobody has touched. */
static void
touch_pages(size_t count)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    volatile char *memory = mmap(NULL, count * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    REQUIRE(memory != MAP_FAILED);
    madvise((void *)(uintptr_t)memory, count * page, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < count; i++)
        memory[i * page] = 1;
    munmap((void *)(uintptr_t)memory, count * page);
}

static uint64_t
faults_of(const snd_node *node)
{
    snd_system_counter_sums *sums = snd_node_counted(snd_track_mine, node);
    return sums == NULL || SND_GET(sums->known) == 0 ? UINT64_MAX
                                                     : SND_GET(sums->values[SND_SYSTEM_COUNTER_PAGE_FAULTS]);
}

static int
is_counted(const snd_track *track, const snd_node *node)
{
    snd_system_counter_sums *sums = snd_node_counted(track, node);
    return sums != NULL && SND_GET(sums->known) != 0;
}

static uint32_t
site_named(const char *name)
{
    return snd_site_add(SND_SITE_REGION, name, strlen(name), "", 0);
}

static void
count_only(const char *names)
{
    snd_buffer message = {0};
    snd_system_counter_set set;

    REQUIRE(snd_system_counter_parse(names, &set, &message) == SND_OK);
    (void)snd_system_counter_choose(set);
    SND_SET(snd_region_mode, SND_REGION_ON | (set != 0 ? SND_REGION_COUNTED : 0));
    snd_buffer_free(&message);
}

static void
names_are_read_and_an_unknown_one_is_named(void)
{
    snd_buffer message = {0};
    snd_system_counter_set set = 77;

    CHECK(snd_system_counter_parse("", &set, &message) == SND_OK);
    CHECK_NUMBER(set, 0);
    CHECK(snd_system_counter_parse("cycles,page-faults", &set, &message) == SND_OK);
    CHECK_NUMBER(set, FAULTS | 1u << SND_SYSTEM_COUNTER_CYCLES);
    CHECK(snd_system_counter_parse("page-faults,page", &set, &message) == SND_BAD_ARGUMENT);
    CHECK(strstr(snd_buffer_str(&message), "unknown counter 'page'; choose from page-faults, ") != NULL);
    snd_buffer_free(&message);
}

static void
faults_belong_to_the_region_that_had_them(void)
{
    snd_track *track = snd_track_get();
    uint32_t outer = site_named("outer"), busy = site_named("busy"), idle = site_named("idle");

    REQUIRE(track != NULL);
    count_only("page-faults");
    for (int i = 0; i < 3; i++) { /* the first time our own tables grow */
        snd_track_empty(track, snd_clock_ticks());
        snd_span *out = snd_region_enter(track, outer);
        snd_span *span = snd_region_enter(track, busy);
        touch_pages(PAGES);
        snd_region_leave(track, span);
        snd_region_leave(track, snd_region_enter(track, idle));
        snd_region_leave(track, out);
    }
    snd_node *node = snd_node_child(track, track->root, outer);
    CHECK(faults_of(snd_node_child(track, node, busy)) >= PAGES);
    CHECK(faults_of(snd_node_child(track, node, busy)) < PAGES + 50);
    CHECK(faults_of(snd_node_child(track, node, idle)) < 20);
    CHECK(faults_of(node) >= PAGES && faults_of(node) < PAGES + 100);
    count_only("");
}

static void
a_profile_has_what_was_counted_and_says_which(void)
{
    snd_track *track = start_anew("main");
    uint32_t busy = site_named("busy");

    count_only("page-faults");
    snd_span *span = snd_region_enter(track, busy);
    touch_pages(PAGES);
    snd_region_leave(track, span);
    snd_profile *profile = profile_now();
    CHECK(node_whole(profile, "main", "busy", SND_METRIC_PAGE_FAULTS) >= PAGES);
    CHECK(snd_system_counter_add_info(profile) == SND_OK);
    CHECK_TEXT(snd_profile_info(profile, "counters"), "page-faults");
    snd_profile_free(profile);
    count_only("");
    profile = snd_profile_new();
    REQUIRE(profile != NULL);
    CHECK(snd_system_counter_add_info(profile) == SND_OK);
    CHECK(snd_profile_info(profile, "counters") == NULL); /* nobody asked */
    snd_profile_free(profile);
}

static void
a_suspended_coroutine_does_not_count_what_others_do(void)
{
    snd_track *track = snd_track_get();
    uint32_t waits = site_named("waits");
    snd_stack stack = {.task = 1};

    count_only("page-faults");
    snd_span *span = snd_region_enter_under(track, &stack, track->root, waits, 0);
    touch_pages(10);
    snd_region_suspend(track, &stack);
    touch_pages(PAGES);
    snd_region_resume(track, &stack);
    touch_pages(10);
    snd_region_leave(track, span);
    CHECK(faults_of(snd_node_child(track, track->root, waits)) >= 20);
    CHECK(faults_of(snd_node_child(track, track->root, waits)) < PAGES / 2);
    count_only("");
}

static void
entries_of_another_turn_do_not_count(void)
{
    snd_track *track = snd_track_get();
    uint32_t across = site_named("across"), before = site_named("before");

    count_only("page-faults");
    snd_span *span = snd_region_enter(track, across);
    count_only("page-faults,context-switches");
    snd_region_leave(track, span);
    CHECK(!is_counted(track, snd_node_child(track, track->root, across)));
    count_only("");
    span = snd_region_enter(track, before);
    count_only("page-faults");
    touch_pages(10);
    snd_region_leave(track, span);
    CHECK(!is_counted(track, snd_node_child(track, track->root, before)));
    count_only("");
}

static void *
leave_here(void *span)
{
    snd_region_leave(snd_track_get(), span);
    return NULL;
}

/* Two threads' counters have nothing to do with each other. */
static void
what_another_thread_leaves_is_not_counted(void)
{
    pthread_t thread;
    uint32_t handed = site_named("handed over");

    count_only("page-faults");
    snd_track *track = snd_track_get();
    snd_span *span = snd_region_enter(track, handed);
    touch_pages(PAGES);
    REQUIRE(pthread_create(&thread, NULL, leave_here, span) == 0);
    pthread_join(thread, NULL);
    for (const snd_track *at = snd_track_first(); at != NULL; at = at->next)
        for (uint32_t i = 0; i < SND_GET(at->node_count); i++)
            if (snd_node_get(at, i)->site == handed)
                CHECK(!is_counted(at, snd_node_get(at, i)));
    track->current = &track->stack;
    count_only("");
}

static void
what_is_not_counted_here_is_told_with_the_reason(void)
{
    snd_buffer counted = {0}, missing = {0}, message = {0};
    snd_system_counter_set set, got;

    REQUIRE(snd_system_counter_parse("page-faults,migrations,cycles,instructions", &set, &message) == SND_OK);
    got = snd_system_counter_choose(set);
    snd_system_counter_describe(&counted, &missing);
    CHECK((got & FAULTS) != 0);
    CHECK(strncmp(snd_buffer_str(&counted), "page-faults", 11) == 0);
    CHECK((got == set) == (missing.size == 0));
    if ((got & 1u << SND_SYSTEM_COUNTER_CYCLES) == 0)
        CHECK(strstr(snd_buffer_str(&missing), "cycles") != NULL && strstr(snd_buffer_str(&missing), ": ") != NULL);
    count_only("");
    snd_buffer_free(&counted);
    snd_buffer_free(&missing);
    snd_buffer_free(&message);
}

/* How many files this process has open above the usual ones. */
static unsigned
high_files(void)
{
    unsigned count = 0;
    for (int i = 512; i < 600; i++)
        count += fcntl(i, F_GETFD) >= 0;
    return count;
}

static void *
enter_once(void *site)
{
    snd_track *track = snd_track_get();
    snd_region_leave(track, snd_region_enter(track, *(uint32_t *)site));
    return NULL;
}

static void
events_are_closed_when_their_thread_ends(void)
{
    pthread_t thread;
    uint32_t site = site_named("short");

    count_only("migrations");
    unsigned before = high_files();
    REQUIRE(pthread_create(&thread, NULL, enter_once, &site) == 0);
    pthread_join(thread, NULL);
    CHECK_NUMBER(high_files(), before);
    count_only("");
    CHECK_NUMBER(high_files(), 0);
}

static void
a_forked_child_counts_its_own(void)
{
    uint32_t site = site_named("in the child");
    int status = -1;

    count_only("page-faults,migrations");
    enter_once(&site);
    snd_track_before_fork();
    pid_t child = fork();
    snd_track_after_fork(child == 0);
    if (child == 0) {
        snd_track *track = snd_track_get();
        CHECK_NUMBER(high_files(), 0);
        snd_span *span = snd_region_enter(track, site);
        touch_pages(PAGES);
        snd_region_leave(track, span);
        uint64_t faults = faults_of(snd_node_child(track, track->root, site));
        CHECK(faults >= PAGES && faults < 2 * PAGES);
        _exit(check_child_status());
    }
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK_NUMBER(status, 0);
    count_only("");
}

static void
a_file_that_the_program_took_is_left_alone(void)
{
    snd_perf_event event = snd_perf_open(SND_PERF_MIGRATIONS, 0, NULL, SND_PERF_ALWAYS);
    uint64_t value;
    int ends[2];

    if (event.file < 0)
        return; /* closed on this machine, which another test tells */
    CHECK(snd_perf_read_all(&event, &value, 1));
    REQUIRE(pipe(ends) == 0 && dup2(ends[0], event.file) == event.file);
    REQUIRE(write(ends[1], "eight bytes and more", 20) == 20);
    CHECK(!snd_perf_read_all(&event, &value, 1));
    int file = event.file;
    snd_perf_close(&event);
    char got[20];
    CHECK(read(file, got, 20) == 20); /* nothing was taken out, and it is still open */
    close(file);
    close(ends[0]);
    close(ends[1]);
}

static void
reasons_are_words(void)
{
    CHECK_TEXT(snd_perf_why(SND_PERF_CYCLES, ENOENT), "this machine has no hardware counters");
    CHECK_TEXT(snd_perf_why(SND_PERF_MIGRATIONS, ENOENT), "this system cannot count this");
    CHECK_TEXT(snd_perf_why(SND_PERF_CYCLES, EACCES), "kernel.perf_event_paranoid does not allow this user to count");
    CHECK_TEXT(snd_perf_why(SND_PERF_MIGRATIONS, EPERM),
               "perf events are not allowed for this process, as in a container");
    CHECK_TEXT(snd_perf_why(SND_PERF_CYCLES, ENOSYS), "this system has no perf events");
    CHECK_TEXT(snd_perf_why(SND_PERF_CYCLES, EMFILE), "too many open files");
    CHECK_TEXT(snd_perf_why(SND_PERF_CYCLES, ENOSPC), "the processor cannot count so many events at once");
}

int
main(void)
{
    snd_clock_start(NULL);
    RUN(names_are_read_and_an_unknown_one_is_named);
    RUN(faults_belong_to_the_region_that_had_them);
    RUN(a_profile_has_what_was_counted_and_says_which);
    RUN(a_suspended_coroutine_does_not_count_what_others_do);
    RUN(entries_of_another_turn_do_not_count);
    RUN(what_another_thread_leaves_is_not_counted);
    RUN(what_is_not_counted_here_is_told_with_the_reason);
    RUN(events_are_closed_when_their_thread_ends);
    RUN(a_forked_child_counts_its_own);
    RUN(a_file_that_the_program_took_is_left_alone);
    RUN(reasons_are_words);
    return check_report();
}
