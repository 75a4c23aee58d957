/* Calls led elsewhere in a program that is loaded at a fixed address and takes the address of malloc, as Debian's
 * python3: then malloc's address is in the program, whose slot becomes ours. Arguments: got_library.c, bound at once
 * and lazily. */
#include "check.h"
#include "got_hooks.h"

#include <dlfcn.h>
#include <stdlib.h>

static const char *paths[2];

static void
check_calls(void *(*volatile take)(size_t), unsigned count)
{
    unsigned before = got_hooks_calls();

    void *block = take(GOT_SIZE);
    CHECK(block != NULL);
    free(block);
    CHECK_NUMBER(got_hooks_calls() - before, count);
}

static void *
take_here(size_t size)
{
    return malloc(size);
}

/* In code, not in data: a number that the linker must know. */
static void *
address_of_malloc(void)
{
    return (void *)malloc;
}

static void
calls_of_the_program_are_led_to_ours_and_back(void)
{
    void *(*call)(size_t);

    *(void **)&call = address_of_malloc();
    for (unsigned i = 0; i < 3; i++) {
        check_calls(take_here, 0);
        REQUIRE(got_hooks_start());
        check_calls(take_here, 1);
        check_calls(call, 1);
        got_hooks_stop();
        check_calls(take_here, 0);
        check_calls(call, 0);
    }
}

static void
calls_of_libraries_are_led_to_ours_once(void)
{
    for (unsigned i = 0; i < 2; i++) {
        void *(*take)(size_t);
        void *handle = dlopen(paths[i], RTLD_LAZY | RTLD_LOCAL);
        REQUIRE(handle != NULL);
        *(void **)&take = dlsym(handle, "got_take");
        REQUIRE(got_hooks_start());
        check_calls(take, 1);
        got_hooks_stop();
        check_calls(take, 0);
        dlclose(handle);
    }
}

static void
our_own_calls_do_not_go_through_the_program(void)
{
    REQUIRE(got_hooks_start());
    unsigned before = got_hooks_calls();
    free(got_hooks_take());
    CHECK_NUMBER(got_hooks_calls(), before);
    CHECK(got_hooks_real() == dlsym(RTLD_NEXT, "malloc"));
#if defined(__x86_64__) && !defined(__PIE__)
    CHECK(got_hooks_real() != address_of_malloc());
#endif
    got_hooks_stop();
}

int
main(int argc, char **argv)
{
    REQUIRE(argc == 3);
    paths[0] = argv[1];
    paths[1] = argv[2];
    RUN(calls_of_the_program_are_led_to_ours_and_back);
    RUN(calls_of_libraries_are_led_to_ours_once);
    RUN(our_own_calls_do_not_go_through_the_program);
    return check_report();
}
