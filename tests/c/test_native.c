/* Native frames of real stacks, compared with what glibc says of them. Arguments: native_library.c as a library without
 * frame pointers, and libsonde-native.so; without the second only what works without libdw is tested. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "os/native/native.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { COPY_SIZE = 32768, FRAMES = 128, DEPTH = 10 };

static const char *library_path, *native_path;
static int (*native_call)(int (*visit)(void *), void *context);
static snd_native *native;

/* What the handler took. */
static struct {
    snd_registers registers;
    unsigned char bytes[COPY_SIZE];
    snd_stack_copy stack;
    snd_registers inner; /* of the handler itself */
    unsigned char inner_bytes[COPY_SIZE];
    snd_stack_copy inner_stack;
    uint64_t stack_end;
    void *wanted[FRAMES]; /* by backtrace(), the handler and its return first */
    int wanted_count;
    volatile int is_taken;
} taken;

__attribute__((no_sanitize("address"))) static void
copy_bytes(unsigned char *to, uint64_t from, size_t size)
{
    const volatile unsigned char *at = (const volatile unsigned char *)(uintptr_t)from;

    for (size_t i = 0; i < size; i++)
        to[i] = at[i];
}

static snd_stack_copy
copy_stack(const void *context, unsigned char bytes[COPY_SIZE])
{
    uint64_t start = snd_context_sp(context) - SND_RED_ZONE;
    size_t size = taken.stack_end - start < COPY_SIZE ? (size_t)(taken.stack_end - start) : COPY_SIZE;

    copy_bytes(bytes, start, size);
    return (snd_stack_copy){bytes, start, size};
}

static void
take(int signal_number, siginfo_t *about, void *context)
{
    ucontext_t inner;

    (void)signal_number;
    (void)about;
    snd_context_registers(context, &taken.registers);
    taken.stack = copy_stack(context, taken.bytes);
    getcontext(&inner);
    snd_context_registers(&inner, &taken.inner);
    taken.inner_stack = copy_stack(&inner, taken.inner_bytes);
    taken.wanted_count = backtrace(taken.wanted, FRAMES);
    taken.is_taken = 1;
}

static uint64_t
end_of_stack(void)
{
    pthread_attr_t about;
    void *start;
    size_t size;

    REQUIRE(pthread_getattr_np(pthread_self(), &about) == 0);
    pthread_attr_getstack(&about, &start, &size);
    pthread_attr_destroy(&about);
    return (uint64_t)(uintptr_t)start + size;
}

/* Goes through the library down to a depth, and is interrupted there. */
enum { FIRST_LINE = __LINE__ };
__attribute__((noinline)) static int
go_down(void *context)
{
    int *left = context;
    volatile unsigned sum = 0;

    if ((*left)-- > 0)
        return native_call(go_down, context) + 1;
    raise(SIGUSR1);
    while (!taken.is_taken)
        sum = sum + 1;
    return 1;
}

static void
take_stack(int depth)
{
    struct sigaction action = {.sa_sigaction = take, .sa_flags = SA_SIGINFO};

    REQUIRE(sigaction(SIGUSR1, &action, NULL) == 0);
    memset(&taken, 0, sizeof taken);
    taken.stack_end = end_of_stack();
    CHECK(go_down(&depth) > 0);
}

/* Compares from the outside; the handler and what it returns to are not in our walk. */
static void
check_walk(void)
{
    uint64_t found[FRAMES];
    snd_unwind_end end;
    size_t count = snd_native_unwind(native, &taken.registers, &taken.stack, found, FRAMES, &end);
    uint64_t pc = taken.registers.value[SND_REGISTER_PC];
    int first = 0;

    CHECK_NUMBER(end, SND_UNWIND_WHOLE);
    CHECK_NUMBER(found[0], pc);
    while (first < taken.wanted_count && (uint64_t)(uintptr_t)taken.wanted[first] != pc)
        first++;
    REQUIRE(first < taken.wanted_count);
    CHECK_NUMBER(count, taken.wanted_count - first);
    for (size_t i = 1; i < count && (int)i + first < taken.wanted_count; i++)
        CHECK_NUMBER(found[i], (uintptr_t)taken.wanted[(size_t)first + i] - 1);
}

static void
a_stack_without_frame_pointers_is_walked_as_glibc_does(void)
{
    take_stack(DEPTH);
    CHECK(taken.wanted_count > 3 * DEPTH);
    check_walk();
    check_walk(); /* by what was kept */
    take_stack(0);
    check_walk();
}

static void
walk_in_thread(void)
{
    take_stack(DEPTH);
    check_walk();
}

static void
a_thread_ends_where_it_was_started(void)
{
    run_in_thread(walk_in_thread);
}

static int
count_function(const char *name)
{
    uint64_t found[FRAMES];
    snd_unwind_end end;
    size_t count = snd_native_unwind(native, &taken.registers, &taken.stack, found, FRAMES, &end);
    int sum = 0;

    for (size_t i = 0; i < count; i++) {
        snd_native_place places[SND_NATIVE_PLACES];
        size_t place_count = 0;
        REQUIRE(snd_native_describe(native, found[i], places, &place_count) == SND_OK);
        REQUIRE(place_count >= 1);
        for (size_t p = 0; p < place_count; p++)
            sum += strcmp(places[p].function, name) == 0;
    }
    return sum;
}

static void
addresses_of_a_walk_have_functions(void)
{
    take_stack(DEPTH);
    CHECK_NUMBER(count_function("go_down"), DEPTH + 1);
    CHECK_NUMBER(count_function("hidden_function"), DEPTH);
    CHECK_NUMBER(count_function("native_call"), DEPTH);
    CHECK_NUMBER(count_function("main"), 1);
}

static void
a_place_with_debug_information_has_its_line(void)
{
    snd_native_place places[SND_NATIVE_PLACES];
    size_t count = 0;

    REQUIRE(snd_native_describe(native, (uint64_t)(uintptr_t)go_down, places, &count) == SND_OK);
    CHECK_NUMBER(count, 1);
    CHECK_TEXT(places[0].function, "go_down");
    CHECK(strstr(places[0].file, "test_native.c") != NULL);
    CHECK(places[0].file[0] == '/');
    CHECK(places[0].line > FIRST_LINE && places[0].line < FIRST_LINE + 5);
}

static void
addresses_of_nothing_have_no_place(void)
{
    snd_native_place places[SND_NATIVE_PLACES];
    size_t count = 0;

    REQUIRE(snd_native_describe(native, 4096, places, &count) == SND_OK);
    CHECK_NUMBER(count, 1);
    CHECK_TEXT(places[0].function, "[unknown]");
    CHECK_TEXT(places[0].file, "");
    CHECK_NUMBER(places[0].line, 0);
}

static char first_name[64], last_name[64];

static int
has_another_name(const char *address)
{
    snd_native_place places[SND_NATIVE_PLACES];
    size_t count = 0;

    REQUIRE(snd_native_describe(native, (uint64_t)(uintptr_t)address, places, &count) == SND_OK);
    snprintf(last_name, sizeof last_name, "%s", places[0].function);
    return strcmp(last_name, first_name) != 0;
}

static void
code_that_is_mapped_just_now_is_looked_up_again(void)
{
    REQUIRE(snd_native_refresh(native) == SND_OK); /* so that it is not done again at once */
    char *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (code == MAP_FAILED)
        return; /* a system that forbids it */
    snprintf(first_name, sizeof first_name, "[unknown]");
    CHECK(wait_until(has_another_name, code + 16));
    CHECK_TEXT(last_name, "[generated code]");
    CHECK(snd_native_is_code(native, (uint64_t)(uintptr_t)code + 16));
    munmap(code, 4096);
}

static void
a_walk_from_a_handler_goes_on_where_the_signal_came(void)
{
    uint64_t found[FRAMES], pc;
    snd_unwind_end end;
    size_t at = 0;

    take_stack(2);
    size_t count = snd_native_unwind(native, &taken.inner, &taken.inner_stack, found, FRAMES, &end);
    pc = taken.registers.value[SND_REGISTER_PC];
    CHECK_NUMBER(end, SND_UNWIND_WHOLE);
    while (at < count && found[at] != pc)
        at++;
    CHECK(at > 1);
    REQUIRE(at < count);
    CHECK_NUMBER(count - at, snd_native_unwind(native, &taken.registers, &taken.stack, found, FRAMES, &end));
}

static void
a_cut_copy_says_truncated(void)
{
    uint64_t whole[FRAMES], found[FRAMES];
    snd_unwind_end end;

    take_stack(DEPTH);
    size_t whole_count = snd_native_unwind(native, &taken.registers, &taken.stack, whole, FRAMES, &end);
    for (size_t size = 0; size < taken.stack.size; size += 40) {
        snd_stack_copy cut = {taken.stack.bytes, taken.stack.address, size};
        size_t count = snd_native_unwind(native, &taken.registers, &cut, found, FRAMES, &end);
        CHECK(count >= 1 && count <= whole_count);
        CHECK(end == SND_UNWIND_TRUNCATED || count == whole_count);
        CHECK(memcmp(found, whole, count * sizeof found[0]) == 0);
    }
}

static void
a_full_answer_says_truncated(void)
{
    uint64_t whole[FRAMES], found[FRAMES];
    snd_unwind_end end;

    take_stack(DEPTH);
    size_t whole_count = snd_native_unwind(native, &taken.registers, &taken.stack, whole, FRAMES, &end);
    CHECK_NUMBER(snd_native_unwind(native, &taken.registers, &taken.stack, found, 3, &end), 3);
    CHECK_NUMBER(end, SND_UNWIND_TRUNCATED);
    CHECK_NUMBER(snd_native_unwind(native, &taken.registers, &taken.stack, found, 1, &end), 1);
    CHECK_NUMBER(snd_native_unwind(native, &taken.registers, &taken.stack, found, whole_count, &end), whole_count);
    CHECK_NUMBER(end, SND_UNWIND_WHOLE);
}

static void
garbage_ends_somewhere(void)
{
    uint64_t found[FRAMES], seed = 1;
    snd_unwind_end end;

    take_stack(DEPTH);
    for (int round = 0; round < 3000; round++) {
        snd_registers registers = taken.registers;
        for (int change = 0; change < 20; change++) {
            size_t at = (size_t)draw(&seed, taken.stack.size - 8);
            uint64_t value = change % 3 == 0   ? seed
                             : change % 3 == 1 ? taken.stack.address + (seed >> 40) % taken.stack.size
                                               : (uint64_t)(uintptr_t)taken.wanted[seed % (unsigned)taken.wanted_count];
            memcpy(taken.bytes + at, &value, sizeof value);
        }
        if (round % 5 == 0)
            registers.value[SND_REGISTER_PC] = seed;
        if (round % 7 == 0)
            registers.value[SND_REGISTER_SP] = seed >> (seed % 64);
        size_t count = snd_native_unwind(native, &registers, &taken.stack, found, FRAMES, &end);
        CHECK(count >= 1 && count <= FRAMES);
    }
}

#if defined(__x86_64__)
/* push rbp; mov rbp, rsp; mov rax, rdi; mov rdi, rsi; call rax; leave; ret */
static const unsigned char generated[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xf8,
                                          0x48, 0x89, 0xf7, 0xff, 0xd0, 0xc9, 0xc3};

/* Code that came from no file has no rules, but may have a frame pointer. */
static void
generated_code_with_a_frame_pointer_is_walked_through(void)
{
    int (*call)(int (*)(void *), void *);
    void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    REQUIRE(code != MAP_FAILED);
    memcpy(code, generated, sizeof generated);
    if (mprotect(code, 4096, PROT_READ | PROT_EXEC) != 0)
        return; /* a system that forbids it */
    *(void **)&call = code;
    int (*saved)(int (*)(void *), void *) = native_call;
    native_call = call;
    take_stack(1);
    native_call = saved;
    REQUIRE(snd_native_refresh(native) == SND_OK);
    CHECK_NUMBER(count_function("[generated code]"), 1);
    CHECK_NUMBER(count_function("go_down"), 2);
    CHECK_NUMBER(count_function("main"), 1);
    munmap(code, 4096);
    REQUIRE(snd_native_refresh(native) == SND_OK);
    CHECK_NUMBER(count_function("go_down"), 1); /* now it makes no sense there */
}
#endif

static snd_status
use_once(void *context)
{
    snd_native *made = NULL;
    snd_native_place places[SND_NATIVE_PLACES];
    uint64_t found[FRAMES];
    snd_unwind_end end;
    size_t count;

    snd_status status = snd_native_new(context, &made);
    if (status == SND_OK) {
        (void)snd_native_unwind(made, &taken.registers, &taken.stack, found, FRAMES, &end);
        status = snd_native_describe(made, (uint64_t)(uintptr_t)go_down, places, &count);
    }
    if (status == SND_OK)
        status = snd_native_refresh(made);
    snd_native_free(made);
    return status;
}

static void
without_memory_native_frames_say_so(void)
{
    take_stack(1);
    CHECK(fail_each_allocation(use_once, (void *)native_path) > 5);
}

static void
without_libdw_there_is_the_innermost_function_and_a_reason(void)
{
    snd_native *poor = NULL;
    snd_native_place places[SND_NATIVE_PLACES];
    uint64_t found[FRAMES];
    snd_unwind_end end;
    size_t count = 0;

    take_stack(2);
    REQUIRE(snd_native_new("/nowhere/libsonde-native.so", &poor) == SND_OK);
    CHECK_TEXT(snd_native_why_not(poor), "sonde was built without libdw (libsonde-native.so is missing)");
    CHECK_NUMBER(snd_native_unwind(poor, &taken.registers, &taken.stack, found, FRAMES, &end), 1);
    CHECK_NUMBER(end, SND_UNWIND_BROKEN);
    CHECK_NUMBER(found[0], taken.registers.value[SND_REGISTER_PC]);
    REQUIRE(snd_native_describe(poor, (uint64_t)(uintptr_t)go_down, places, &count) == SND_OK);
    CHECK_NUMBER(count, 1);
    CHECK_TEXT(places[0].function, "go_down");
    CHECK(strstr(places[0].file, "test_native") != NULL && places[0].line == 0);
    snd_native_free(poor);

    REQUIRE(snd_native_new(library_path, &poor) == SND_OK); /* a library, but another one */
    CHECK(strstr(snd_native_why_not(poor), "version") != NULL);
    snd_native_free(poor);

    const char *text = temp_path("libsonde-native.so");
    write_file(text, "no library", 10);
    REQUIRE(snd_native_new(text, &poor) == SND_OK);
    CHECK(strstr(snd_native_why_not(poor), "libdw cannot be loaded: ") != NULL);
    snd_native_free(poor);
}

static void
run_with_libdw(void)
{
    REQUIRE(snd_native_new(native_path, &native) == SND_OK);
    CHECK(snd_native_why_not(native) == NULL);
    RUN(a_stack_without_frame_pointers_is_walked_as_glibc_does);
    RUN(a_thread_ends_where_it_was_started);
    RUN(addresses_of_a_walk_have_functions);
    RUN(a_place_with_debug_information_has_its_line);
    RUN(addresses_of_nothing_have_no_place);
    RUN(code_that_is_mapped_just_now_is_looked_up_again);
    RUN(a_walk_from_a_handler_goes_on_where_the_signal_came);
    RUN(a_cut_copy_says_truncated);
    RUN(a_full_answer_says_truncated);
    RUN(garbage_ends_somewhere);
#if defined(__x86_64__)
    RUN(generated_code_with_a_frame_pointer_is_walked_through);
#endif
    RUN(without_memory_native_frames_say_so);
    snd_native_free(native);
}

int
main(int argc, char **argv)
{
    REQUIRE(argc >= 2);
    library_path = argv[1];
    native_path = argc > 2 ? argv[2] : NULL;
    void *handle = dlopen(library_path, RTLD_NOW);
    REQUIRE(handle != NULL);
    *(void **)&native_call = dlsym(handle, "native_call");
    REQUIRE(native_call != NULL);
    if (native_path != NULL)
        run_with_libdw();
    RUN(without_libdw_there_is_the_innermost_function_and_a_reason);
    return check_report();
}
