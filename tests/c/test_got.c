/* Calls led elsewhere. Arguments: got_library.c as libraries that are bound at once, bound lazily, and without pages
 * that become read-only. */
#include "check.h"
#include "fixture.h"
#include "os/clock.h"
#include "os/native/got.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIBRARIES = 3, LAZY = 1, SIZE = 4321, ROUNDS = 300 };

typedef struct library {
    void *handle;
    void *(*take)(size_t);
    void (*give)(void *);
    void (*copy)(void *, const void *, size_t);
    void *(*slot)(void);
    void *(*constant)(void);
    void *(**variable)(size_t);
} library;

static const char *paths[LIBRARIES];

#ifdef __SANITIZE_THREAD__ /* which does not see the loader's lock */
const char *__tsan_default_suppressions(void);
const char *
__tsan_default_suppressions(void)
{
    return "race:_dl_close_worker";
}
#endif

/* ---- what is called instead ---- */

/* ThreadSanitizer does not see these: libc calls them in threads that it does not know yet. */

static void *(*real_malloc)(size_t);
static void (*real_free)(void *);
static void *(*real_memcpy)(void *, const void *, size_t);
static void *real_missing = &real_missing;
static _Atomic unsigned taken, given, copied;
static void *_Atomic block_of_test;

SND_UNCHECKED_READS static void *
our_malloc(size_t size)
{
    taken += size == SIZE;
    return real_malloc(size);
}

SND_UNCHECKED_READS static void
our_free(void *block)
{
    given += block != NULL && block == block_of_test;
    real_free(block);
}

SND_UNCHECKED_READS static void *
our_memcpy(void *to, const void *from, size_t size)
{
    copied += size == SIZE;
    return real_memcpy(to, from, size);
}

static const snd_got_hook hooks[] = {
    {"malloc", (void *)our_malloc, (void **)&real_malloc},
    {"free", (void *)our_free, (void **)&real_free},
    {"memcpy", (void *)our_memcpy, (void **)&real_memcpy},
    {"no_such_function_anywhere", (void *)our_free, &real_missing},
};

static snd_status
start(void)
{
    return snd_got_start(hooks, sizeof hooks / sizeof hooks[0]);
}

/* ---- the libraries ---- */

static library
load(const char *path, int flags)
{
    library self = {.handle = dlopen(path, flags | RTLD_LOCAL)};

    REQUIRE(self.handle != NULL);
    *(void **)&self.take = dlsym(self.handle, "got_take");
    *(void **)&self.give = dlsym(self.handle, "got_give");
    *(void **)&self.copy = dlsym(self.handle, "got_copy");
    *(void **)&self.slot = dlsym(self.handle, "got_slot");
    *(void **)&self.constant = dlsym(self.handle, "got_constant");
    *(void **)&self.variable = dlsym(self.handle, "got_variable");
    REQUIRE(self.take != NULL && self.give != NULL && self.copy != NULL && self.slot != NULL);
    REQUIRE(self.constant != NULL && self.variable != NULL);
    return self;
}

/* Calls everything once. Works whether it is led elsewhere or not. */
static void
use(const library *self)
{
    static const char from[SIZE] = "some bytes";
    char to[SIZE] = "";

    void *block = self->take(SIZE);
    REQUIRE(block != NULL);
    self->copy(to, from, SIZE);
    CHECK_TEXT(to, "some bytes");
    block_of_test = block;
    self->give(block);
    block_of_test = NULL;
}

static void
check_calls(const library *self, unsigned count)
{
    unsigned taken_before = taken, given_before = given, copied_before = copied;

    use(self);
    CHECK_NUMBER(taken - taken_before, count);
    CHECK_NUMBER(given - given_before, count);
    CHECK_NUMBER(copied - copied_before, count);
}

static void
check_slots(const library *self, void *wanted)
{
    CHECK(self->slot() == wanted);
    CHECK(self->constant() == wanted);
    CHECK((void *)*self->variable == wanted);
}

/* ---- one thread ---- */

static void
calls_are_led_to_ours_and_back(void)
{
    for (unsigned i = 0; i < LIBRARIES; i++) {
        library one = load(paths[i], i == LAZY ? RTLD_LAZY : RTLD_NOW);
        void *before = one.slot();
        check_calls(&one, 0);
        REQUIRE(start() == SND_OK);
        check_slots(&one, (void *)our_malloc);
        check_calls(&one, 1);
        snd_got_stop();
        check_slots(&one, before);
        check_calls(&one, 0);
        dlclose(one.handle);
    }
}

static void
calls_that_were_never_made_are_led_to_ours_too(void)
{
    library one = load(paths[LAZY], RTLD_LAZY);

    REQUIRE(start() == SND_OK);
    check_calls(&one, 1);
    snd_got_stop();
    check_calls(&one, 0);
    dlclose(one.handle);
}

static void
what_is_loaded_later_waits_for_a_refresh(void)
{
    REQUIRE(start() == SND_OK);
    for (unsigned i = 0; i < LIBRARIES; i++) {
        library one = load(paths[i], i == LAZY ? RTLD_LAZY : RTLD_NOW);
        check_calls(&one, 0);
        snd_got_refresh(0);
        check_calls(&one, 1);
        check_slots(&one, (void *)our_malloc);
        snd_got_refresh(0);
        check_calls(&one, 1);
        dlclose(one.handle);
        snd_got_refresh(0);
    }
    snd_got_stop();
}

static void
a_slot_that_leads_elsewhere_is_left_alone(void)
{
    library one = load(paths[0], RTLD_NOW);
    void *(*others)(size_t) = (void *(*)(size_t))(void *)strdup;
    void *(*before)(size_t) = *one.variable;

    *one.variable = others;
    REQUIRE(start() == SND_OK);
    CHECK(*one.variable == others);
    CHECK(one.slot() == (void *)our_malloc);
    snd_got_stop();
    CHECK(*one.variable == others);

    *one.variable = before;
    REQUIRE(start() == SND_OK);
    *one.variable = others; /* somebody who came later */
    snd_got_stop();
    CHECK(*one.variable == others);
    dlclose(one.handle);
}

static void
our_own_calls_are_not_led_to_ours(void)
{
    REQUIRE(start() == SND_OK);
    unsigned before = taken;
    void *(*volatile call)(size_t) = malloc;
    free(call(SIZE));
    CHECK_NUMBER(taken, before);
    snd_got_stop();
}

static void
calls_of_libc_itself_are_led_to_ours(void)
{
    char text[SIZE];

    memset(text, 'a', sizeof text);
    text[SIZE - 1] = '\0';
    REQUIRE(start() == SND_OK);
    unsigned before = taken;
    char *(*volatile duplicate)(const char *) = strdup;
    free(duplicate(text));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* which have a strdup of their own */
    CHECK_NUMBER(taken, before + 1);
#endif
    snd_got_stop();
    free(duplicate(text));
    CHECK(taken <= before + 1);
}

static void
mistakes_are_told(void)
{
    snd_got_hook many[SND_GOT_LIMIT + 1] = {{0}};

    CHECK(snd_got_start(many, SND_GOT_LIMIT + 1) == SND_BAD_ARGUMENT);
    REQUIRE(start() == SND_OK);
    CHECK(real_missing == NULL);
    CHECK(start() == SND_ALREADY);
    snd_got_stop();
    snd_got_stop();
    snd_got_refresh(0);
    library one = load(paths[0], RTLD_NOW);
    check_calls(&one, 0);
    dlclose(one.handle);
}

/* ---- pages ---- */

/* The lines of /proc/self/maps that are of files. */
static char *
read_protections(void)
{
    FILE *file = fopen("/proc/self/maps", "re");
    char line[1024];
    char *all = calloc(1, 1 << 20);
    size_t size = 0;

    REQUIRE(file != NULL && all != NULL);
    while (fgets(line, sizeof line, file) != NULL)
        if (strchr(line, '/') != NULL && size + strlen(line) < 1 << 20)
            size += (size_t)sprintf(all + size, "%s", line);
    fclose(file);
    return all;
}

static void
pages_are_as_protected_as_before(void)
{
    library all[LIBRARIES];

    for (unsigned i = 0; i < LIBRARIES; i++)
        all[i] = load(paths[i], i == LAZY ? RTLD_LAZY : RTLD_NOW);
    char *before = read_protections();
    REQUIRE(start() == SND_OK);
    char *during = read_protections();
    snd_got_stop();
    char *after = read_protections();
    CHECK_TEXT(during, before);
    CHECK_TEXT(after, before);
    free(before);
    free(during);
    free(after);
    for (unsigned i = 0; i < LIBRARIES; i++)
        dlclose(all[i].handle);
}

static void
a_thousand_times_is_as_once(void)
{
    library one = load(paths[0], RTLD_NOW), lazy = load(paths[LAZY], RTLD_LAZY);
    void *before = one.slot();
    uint64_t started = snd_clock_monotonic_ns();

    for (unsigned i = 0; i < 1000; i++) {
        REQUIRE(start() == SND_OK);
        snd_got_stop();
    }
    printf("start and stop: %llu us\n", (unsigned long long)(snd_clock_monotonic_ns() - started) / 1000000);
    check_slots(&one, before);
    check_slots(&lazy, before);
    check_calls(&one, 0);
    check_calls(&lazy, 0);
    dlclose(one.handle);
    dlclose(lazy.handle);
}

/* ---- several threads ---- */

static _Atomic int is_over;

static void *
load_and_unload(void *nothing)
{
    (void)nothing;
    for (unsigned i = 0; i < ROUNDS; i++) {
        library one = load(paths[i % LIBRARIES], i % 2 ? RTLD_LAZY : RTLD_NOW);
        free(one.take(SIZE));
        dlclose(one.handle);
    }
    return NULL;
}

static void *
refresh(void *nothing)
{
    (void)nothing;
    while (!is_over)
        snd_got_refresh(0);
    return NULL;
}

static void *
start_and_stop(void *nothing)
{
    (void)nothing;
    while (!is_over) {
        (void)!start();
        sleep_ms(1); /* sleeps: others have a turn */
        snd_got_stop();
    }
    return NULL;
}

static void
run_threads(void *(*other)(void *))
{
    pthread_t loaders[2], others[2];

    is_over = 0;
    for (unsigned i = 0; i < 2; i++) {
        REQUIRE(pthread_create(&others[i], NULL, i == 0 ? refresh : other, NULL) == 0);
        REQUIRE(pthread_create(&loaders[i], NULL, load_and_unload, NULL) == 0);
    }
    for (unsigned i = 0; i < 2; i++)
        pthread_join(loaders[i], NULL);
    is_over = 1;
    for (unsigned i = 0; i < 2; i++)
        pthread_join(others[i], NULL);
}

static void
what_this_thread_has_loaded_is_led_at_once(void)
{
    pthread_t other;

    REQUIRE(start() == SND_OK);
    is_over = 0;
    REQUIRE(pthread_create(&other, NULL, refresh, NULL) == 0);
    for (unsigned i = 0; i < ROUNDS; i++) { /* the other thread meets some of them half loaded */
        library one = load(paths[i % LIBRARIES], RTLD_NOW);
        snd_got_refresh(1);
        check_calls(&one, 1);
        dlclose(one.handle);
    }
    is_over = 1;
    pthread_join(other, NULL);
    snd_got_stop();
}

static void
objects_may_come_and_go_meanwhile(void)
{
    REQUIRE(start() == SND_OK);
    run_threads(refresh);
    library one = load(paths[0], RTLD_NOW);
    snd_got_refresh(0);
    check_calls(&one, 1);
    snd_got_stop();
    check_calls(&one, 0);
    dlclose(one.handle);
}

/* Every line is still there. There may be others: a sanitizer that looks up a name maps files, and keeps them. */
static void
check_kept(const char *before, const char *after)
{
    char line[1024];

    for (size_t size = strcspn(before, "\n"); *before != '\0'; before += size + 1, size = strcspn(before, "\n")) {
        snprintf(line, sizeof line, "%.*s", (int)size + 1, before);
        if (strstr(after, line) == NULL)
            CHECK_TEXT("", line);
    }
}

static void
threads_may_start_and_stop_meanwhile(void)
{
    library one = load(paths[0], RTLD_NOW), lazy = load(paths[LAZY], RTLD_LAZY);
    void *before = one.slot();
    char *pages_before = read_protections();

    run_threads(start_and_stop);
    snd_got_stop();
    char *pages_after = read_protections();
    check_kept(pages_before, pages_after);
    check_slots(&one, before);
    check_calls(&one, 0);
    check_calls(&lazy, 0);
    free(pages_before);
    free(pages_after);
    dlclose(one.handle);
    dlclose(lazy.handle);
}

int
main(int argc, char **argv)
{
    REQUIRE(argc == LIBRARIES + 1);
    for (unsigned i = 0; i < LIBRARIES; i++)
        paths[i] = argv[i + 1];
    RUN(calls_are_led_to_ours_and_back);
    RUN(calls_that_were_never_made_are_led_to_ours_too);
    RUN(what_is_loaded_later_waits_for_a_refresh);
    RUN(a_slot_that_leads_elsewhere_is_left_alone);
    RUN(our_own_calls_are_not_led_to_ours);
    RUN(calls_of_libc_itself_are_led_to_ours);
    RUN(mistakes_are_told);
    RUN(pages_are_as_protected_as_before);
    RUN(a_thousand_times_is_as_once);
    RUN(what_this_thread_has_loaded_is_led_at_once);
    RUN(objects_may_come_and_go_meanwhile);
    RUN(threads_may_start_and_stop_meanwhile);
    return check_report();
}
