/* What several test files need: memory, files, threads and children. */
#include "fixture.h"

#include "base/alloc.h"
#include "check.h"
#include "os/clock.h"
#include "probe/snapshot.h"

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
    enum { ENOUGH = 100000 };

    for (unsigned n = 0; n < ENOUGH; n++) {
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
