/* What several test files need: memory, files, threads and children. */
#include "fixture.h"

#include "base/alloc.h"
#include "base/work.h"
#include "check.h"
#include "os/clock.h"
#include "probe/core/snapshot.h"
#include "probe/op/op.h"
#include "probe/region/region.h"
#include "sonde.h"

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

unsigned
fail_each_allocation(test_attempt *attempt, void *context)
{
    enum { ENOUGH = 100000, FIRST = 16 };
    const char *every = getenv("FAIL_EVERY");
    unsigned step = every != NULL ? (unsigned)strtoul(every, NULL, 10) : 1;

    for (unsigned n = 0; n < ENOUGH; n += n >= FIRST && step > 0 ? step : 1) {
        snd_alloc_fail_after((long)n);
        snd_status status = attempt(context);
        snd_alloc_fail_after(-1);
        if (status == SND_OK)
            return n;
        CHECK_TEXT(snd_status_text(status), snd_status_text(SND_NO_MEMORY));
        if (status != SND_NO_MEMORY)
            return n;
    }
    check_true(0, "it succeeds at last", __FILE__, __LINE__);
    return ENOUGH;
}

static char folder[PATH_MAX - 256];
static pid_t folder_owner;

static int
remove_entry(const char *path, const struct stat *about, int flag, struct FTW *where)
{
    (void)about, (void)flag, (void)where;
    return remove(path);
}

static void
remove_folder(void)
{
    if (getpid() == folder_owner)
        nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void
make_folder(void)
{
    const char *parent = getenv("TMPDIR");

    snprintf(folder, sizeof folder, "%s/sonde-test-XXXXXX", parent == NULL ? "/tmp" : parent);
    REQUIRE(mkdtemp(folder) != NULL);
    folder_owner = getpid();
    atexit(remove_folder);
}

const char *
temp_path(const char *name)
{
    static char paths[8][PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % 8];

    if (folder_owner == 0)
        make_folder();
    snprintf(path, PATH_MAX, "%s/%s", folder, name);
    return path;
}

char *
read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    REQUIRE(file != NULL);
    REQUIRE(fseek(file, 0, SEEK_END) == 0);
    size_t length = (size_t)ftell(file);
    rewind(file);
    char *data = malloc(length + 1);
    REQUIRE(data != NULL && fread(data, 1, length, file) == length);
    fclose(file);
    data[length] = '\0';
    if (size != NULL)
        *size = length;
    return data;
}

void
write_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    REQUIRE(file != NULL);
    REQUIRE(fwrite(data, 1, size, file) == size);
    REQUIRE(fclose(file) == 0);
}

unsigned
files_open(void)
{
    unsigned count = 0;

    for (int file = 0; file < 1024; file++)
        count += fcntl(file, F_GETFD) >= 0;
    return count;
}

uint64_t
draw(uint64_t *state, uint64_t bound)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*state >> 33) % bound;
}

double
draw_share(uint64_t *state)
{
    (void)draw(state, 1);
    return ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
}

unsigned
count_text(const char *text, const char *part)
{
    unsigned count = 0;

    for (text = strstr(text, part); text != NULL; text = strstr(text + 1, part))
        count++;
    return count;
}

_Atomic uint64_t test_ticks = 1000000;

uint64_t
test_clock(void)
{
    return SND_GET(test_ticks);
}

void
pass_time(uint64_t ticks)
{
    SND_ADD(test_ticks, ticks);
}

snd_track *
start_anew(const char *name)
{
    snd_clock_start(test_clock);
    snd_track_reset_all();
    snd_track *track = snd_track_get();
    REQUIRE(track != NULL);
    snd_track_set_name(track, name);
    return track;
}

static uint32_t
site_of(snd_site_kind kind, const char *name)
{
    uint32_t site = snd_site_add(kind, name, strlen(name), "test.c", 1);
    REQUIRE(site != SND_NONE);
    return site;
}

uint32_t
region_site(const char *name)
{
    return site_of(SND_SITE_REGION, name);
}

uint32_t
counter_site(const char *name)
{
    return site_of(SND_SITE_COUNTER, name);
}

uint32_t
operator_site(const char *name)
{
    return snd_op_site(&(snd_profile_site){.name = name, .file = "", .detail = ""}, NULL);
}

snd_profile *
profile_now(void)
{
    snd_snapshot snapshot = {0};
    snd_profile *profile = snd_profile_new();

    REQUIRE(profile != NULL);
    REQUIRE(snd_snapshot_update(&snapshot, profile, 0, snd_clock_ticks()) == SND_OK);
    snd_snapshot_free(&snapshot);
    return profile;
}

void
look_again(snd_profile **profile)
{
    snd_profile_free(*profile);
    *profile = profile_now();
}

void
enter_and_leave(const char *name)
{
    snd_track *track = snd_track_get();

    snd_region_leave(track, snd_region_enter(track, region_site(name)));
}

void
enter_named(const char *name, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        sonde_begin_named(name);
        sonde_end();
    }
}

static void *
call(void *context)
{
    void (*function)(void);

    memcpy(&function, context, sizeof function);
    function();
    return NULL;
}

void
run_in_thread(void (*function)(void))
{
    pthread_t thread;

    REQUIRE(pthread_create(&thread, NULL, call, &function) == 0);
    REQUIRE(pthread_join(thread, NULL) == 0);
}

void
sleep_ms(unsigned ms)
{
    struct timespec left = {ms / 1000, (long)(ms % 1000) * 1000000};

    while (nanosleep(&left, &left) != 0)
        ;
}

int
wait_until(int (*is_true)(const char *context), const char *context)
{
    for (int i = 0; i < 5000; i++) {
        if (is_true(context))
            return 1;
        sleep_ms(20);
    }
    return 0;
}

int
run_in_child(int (*function)(void))
{
    int status = -1;

    fflush(NULL);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0)
        _exit(function());
    REQUIRE(waitpid(child, &status, 0) == child);
    return status;
}

static void (*test_in_work)(void);

static void
call_test(void *context)
{
    (void)context;
    test_in_work();
}

static void
run_work(void)
{
    CHECK(snd_work_run(call_test, NULL, NULL) == SND_OK);
}

void
run_in_work(const char *name, void (*test)(void))
{
    test_in_work = test;
    check_run(name, run_work);
}
