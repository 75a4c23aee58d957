/* Addresses of this process and their names: what is loaded at start and later, removed, replaced and stripped files.
 * Arguments: native_library.c as a library with names, and stripped; and, where there is a C++ compiler,
 * native_names.cpp. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "os/native/symbols.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *named_library, *stripped_library, *names_library;
static snd_symbols *symbols;

static uint64_t
address_of(void *function)
{
    return (uint64_t)(uintptr_t)function;
}

static snd_symbol
find(uint64_t address)
{
    snd_symbol found = {0};

    REQUIRE(snd_symbols_find(symbols, address, &found) == SND_OK);
    return found;
}

__attribute__((noinline)) static int
a_static_function(int value)
{
    return value * 3 + 1;
}

/* A copy of a library under a name of its own, loaded. */
static void *
load_copy(const char *library, const char *name, const char **path)
{
    size_t size;
    char *bytes = read_file(library, &size);

    *path = temp_path(name);
    write_file(*path, bytes, size);
    free(bytes);
    void *handle = dlopen(*path, RTLD_NOW | RTLD_LOCAL);
    REQUIRE(handle != NULL);
    REQUIRE(snd_symbols_refresh(symbols) == SND_OK);
    return handle;
}

static uint64_t
hidden_address(void *handle)
{
    void *(*hidden)(void);

    *(void **)&hidden = dlsym(handle, "native_hidden");
    REQUIRE(hidden != NULL);
    return address_of(hidden());
}

static void
an_address_in_the_program_has_its_function(void)
{
    uint64_t address = address_of((void *)a_static_function);
    snd_symbol found = find(address + 1);

    CHECK_TEXT(found.name, "a_static_function");
    CHECK(found.is_named);
    CHECK(strstr(found.library, "test_symbols") != NULL);
    CHECK_NUMBER(found.start, address);
    CHECK(found.size > 1 && found.size < 4096);
    CHECK(found.offset > 0);
    CHECK_NUMBER(a_static_function(2), 7);
}

static void
of_two_names_the_plain_one_is_taken(void)
{
    void *handle = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    REQUIRE(handle != NULL);

    CHECK_TEXT(find(address_of(dlsym(handle, "getpid"))).name, "getpid");
    CHECK_TEXT(find(address_of(dlsym(handle, "__getpid"))).name, "getpid");
    CHECK(strstr(find(address_of(dlsym(handle, "getpid"))).library, "libc.so.6") != NULL);
    dlclose(handle);
}

static void
a_function_that_the_loader_chose_has_its_name(void)
{
    void *(*copy)(void *, const void *, size_t) = memcpy;
    snd_symbol found = find(address_of((void *)copy) + 2);

    CHECK(strstr(found.name, "mem") != NULL);
}

static void
the_vdso_is_a_library(void)
{
    FILE *file = fopen("/proc/self/maps", "r");
    char line[512];
    unsigned long start = 0;

    REQUIRE(file != NULL);
    while (fgets(line, sizeof line, file) != NULL)
        if (strstr(line, "[vdso]") != NULL)
            start = strtoul(line, NULL, 16);
    fclose(file);
    if (start == 0)
        return; /* a system without one */
    snd_range ranges[4];
    size_t count = 0;
    REQUIRE(snd_symbols_ranges(symbols, start, "__vdso_clock_gettime", ranges, 4, &count) == SND_OK);
#if defined(__x86_64__)
    REQUIRE(count == 1);
    CHECK(strstr(find(ranges[0].start).name, "clock_gettime") != NULL);
#endif
    CHECK_TEXT(find(start).library, "[vdso]");
}

static void
addresses_without_code_are_unknown(void)
{
    static const uint64_t nowhere[] = {0, 1, 4096, UINT64_MAX, UINT64_C(1) << 47, UINT64_C(1) << 63};
    int on_the_stack;

    for (size_t i = 0; i < sizeof nowhere / sizeof nowhere[0]; i++) {
        snd_symbol found = find(nowhere[i]);
        CHECK_TEXT(found.name, "[unknown]");
        CHECK_TEXT(found.library, "");
        CHECK_NUMBER(found.start, nowhere[i]);
        CHECK(!found.is_named);
    }
    CHECK_TEXT(find(address_of(&on_the_stack)).name, "[unknown]");
}

static void
code_from_no_file_is_called_generated(void)
{
    void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (code == MAP_FAILED)
        return; /* a system that forbids it */
    REQUIRE(snd_symbols_refresh(symbols) == SND_OK);
    CHECK_TEXT(find(address_of(code) + 16).name, "[generated code]");
    munmap(code, 4096);
}

static void
code_in_memory_that_looks_like_a_file_is_called_generated(void)
{
    int file = memfd_create("code", MFD_CLOEXEC);
    REQUIRE(file >= 0 && ftruncate(file, 4096) == 0);
    void *const codes[] = {mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS, -1, 0),
                           mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0)};

    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        if (codes[i] == MAP_FAILED)
            continue; /* a system that forbids it */
        REQUIRE(snd_symbols_refresh(symbols) == SND_OK);
        snd_symbol found = find(address_of(codes[i]) + 16);
        CHECK_TEXT(found.name, "[generated code]");
        CHECK_TEXT(found.library, "");
        munmap(codes[i], 4096);
    }
    close(file);
}

static char map_path[64];

static void
write_map(const char *text, size_t size, mode_t mode)
{
    snprintf(map_path, sizeof map_path, "/tmp/perf-%d.map", (int)getpid());
    unlink(map_path);
    int file = open(map_path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    REQUIRE(file >= 0);
    REQUIRE(write(file, text, size) == (ssize_t)size && fchmod(file, mode) == 0);
    close(file);
}

static const char *
map_name(uint64_t address)
{
    snd_symbols *fresh;
    snd_symbol found;
    static char name[512];

    REQUIRE(snd_symbols_new(&fresh) == SND_OK);
    REQUIRE(snd_symbols_find(fresh, address, &found) == SND_OK);
    snprintf(name, sizeof name, "%s", found.name);
    snd_symbols_free(fresh);
    return name;
}

static void
generated_code_has_the_name_that_its_maker_wrote(void)
{
    void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t at = address_of(code);
    char text[2048];

    if (code == MAP_FAILED)
        return; /* a system that forbids it */
    int size = snprintf(text, sizeof text,
                        "%llx 40 first function\n0x%llx 0x40 second\n%llx 10 py::main:/prog.py\n"
                        "%llx 20 newer\n%llx 40 half",
                        (unsigned long long)at, (unsigned long long)at + 0x40, (unsigned long long)at + 0x80,
                        (unsigned long long)at + 0x50, (unsigned long long)at + 0x100);
    write_map(text, (size_t)size, 0600);
    REQUIRE(snd_symbols_refresh(symbols) == SND_OK);
    snd_symbol found = find(at + 0x3f);
    CHECK_TEXT(found.name, "first function");
    CHECK(found.is_named && found.start == at && found.size == 0x40);
    CHECK_TEXT(find(at + 0x40).name, "second");
    CHECK_TEXT(find(at + 0x58).name, "newer"); /* the later line holds */
    CHECK_TEXT(find(at + 0x78).name, "second");
    CHECK_TEXT(find(at + 0x88).name, "[generated code]");
    CHECK_TEXT(find(at + 0x108).name, "[generated code]"); /* its line is not whole yet */
    int file = open(map_path, O_WRONLY | O_APPEND | O_CLOEXEC);
    REQUIRE(file >= 0 && write(file, "way\n", 4) == 4);
    close(file);
    CHECK_TEXT(find(at + 0x108).name, "halfway");
    unlink(map_path);
    CHECK_TEXT(find(at).name, "first function"); /* what is known stays */
    munmap(code, 4096);
}

static void
a_map_of_somebody_else_or_of_another_kind_is_not_read(void)
{
    void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char text[128], other[96];

    if (code == MAP_FAILED)
        return; /* a system that forbids it */
    int size = snprintf(text, sizeof text, "%llx 40 named\n", (unsigned long long)address_of(code));
    write_map(text, (size_t)size, 0644);
    CHECK_TEXT(map_name(address_of(code)), "named");
    write_map(text, (size_t)size, 0664);
    CHECK_TEXT(map_name(address_of(code)), "[generated code]");
    write_map(text, (size_t)size, 0602);
    CHECK_TEXT(map_name(address_of(code)), "[generated code]");
    write_map(text, (size_t)size, 0600);
    if (geteuid() == 0) {
        REQUIRE(chown(map_path, 1, 1) == 0);
        CHECK_TEXT(map_name(address_of(code)), "[generated code]");
        REQUIRE(chown(map_path, 0, 0) == 0);
    }
    snprintf(other, sizeof other, "%s.other", map_path);
    REQUIRE(link(map_path, other) == 0); /* another name may be another's */
    CHECK_TEXT(map_name(address_of(code)), "[generated code]");
    unlink(map_path);
    REQUIRE(symlink(other, map_path) == 0);
    CHECK_TEXT(map_name(address_of(code)), "[generated code]");
    unlink(map_path);
    unlink(other);
    REQUIRE(mkfifo(map_path, 0600) == 0); /* reading it would never end */
    CHECK_TEXT(map_name(address_of(code)), "[generated code]");
    unlink(map_path);
    munmap(code, 4096);
}

static void
a_hostile_map_is_names_and_nothing_else(void)
{
    enum { SIZE = 300000 };
    void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *text = snd_malloc(SIZE + 1024);

    if (code == MAP_FAILED || text == NULL)
        return;                                      /* a system that forbids it */
    for (uint32_t i = 0, state = 1; i < SIZE; i++) { /* anything, with long lines and short ones */
        state = state * 1664525u + 1013904223u;
        text[i] = (char)(i < 140000 ? 'a' : state >> 24);
    }
    int more = snprintf(text + SIZE, 1024,
                        "\n\n \nffffffffffffffff ffffffffffffffff all\n0 0 none\n%llx\n%llx 40\n%llx 40 \nzz 40 z\n"
                        "11111111111111111 1 long\n%llx 40 a\x1b[2J\tb\n",
                        (unsigned long long)address_of(code), (unsigned long long)address_of(code),
                        (unsigned long long)address_of(code), (unsigned long long)address_of(code));
    write_map(text, (size_t)SIZE + (size_t)more, 0600);
    CHECK_TEXT(map_name(address_of(code)), "a [2J b");
    CHECK_TEXT(map_name(address_of(code) + 0x48), "[generated code]");
    unlink(map_path);
    snd_free(text);
    munmap(code, 4096);
}

static void
a_library_loaded_later_is_found_by_itself(void)
{
    const struct timespec pause = {0, 50000000};

    REQUIRE(snd_symbols_refresh(symbols) == SND_OK);
    void *handle = dlopen(named_library, RTLD_NOW | RTLD_LOCAL);
    REQUIRE(handle != NULL);
    nanosleep(&pause, NULL); /* sleeps: longer than a list of objects is believed */
    CHECK_TEXT(find(address_of(dlsym(handle, "native_call"))).name, "native_call");
    CHECK_TEXT(find(hidden_address(handle)).name, "hidden_function");
    dlclose(handle);
}

static void
a_removed_file_still_has_its_exported_names(void)
{
    const char *path;
    void *handle = load_copy(named_library, "removed.so", &path);
    uint64_t exported = address_of(dlsym(handle, "native_call")), hidden = hidden_address(handle);

    unlink(path);
    REQUIRE(snd_symbols_refresh(symbols) == SND_OK);
    CHECK_TEXT(find(exported).name, "native_call");
    CHECK_TEXT(find(exported).library, path);
    CHECK(strncmp(find(hidden + 4).name, "[removed.so+0x", 14) == 0);
    CHECK_NUMBER(find(hidden + 4).start, hidden);
    dlclose(handle);
}

static void
a_file_that_took_the_place_of_another_is_not_read(void)
{
    const char *path, *other = temp_path("other.so");
    void *handle = load_copy(named_library, "replaced.so", &path);
    uint64_t exported = address_of(dlsym(handle, "native_call")), hidden = hidden_address(handle);
    char *bytes = read_file(stripped_library, NULL);

    write_file(other, bytes, 4096);
    free(bytes);
    REQUIRE(rename(other, path) == 0);
    REQUIRE(snd_symbols_refresh(symbols) == SND_OK);
    CHECK_TEXT(find(exported).name, "native_call");
    CHECK(!find(hidden).is_named);
    dlclose(handle);
}

static void
a_file_removed_after_its_tables_were_read_gives_no_wrong_name(void)
{
    const char *path;
    void *handle = load_copy(named_library, "late.so", &path);
    uint64_t exported = address_of(dlsym(handle, "native_call")), hidden = hidden_address(handle);

    CHECK_TEXT(find(exported).name, "native_call");
    unlink(path);
    CHECK_TEXT(find(exported).name, "native_call");
    const char *name = find(hidden).name; /* the names may lie on the last page that is loaded */
    CHECK(strncmp(name, "[late.so+0x", 11) == 0 || strcmp(name, "hidden_function") == 0);
    dlclose(handle);
}

static void
code_without_names_is_told_apart_by_function(void)
{
    const char *path;
    void *handle = load_copy(stripped_library, "stripped.so", &path);
    uint64_t hidden = hidden_address(handle);
    char wanted[64];

    snd_symbol found = find(hidden + 5);
    CHECK_TEXT(find(address_of(dlsym(handle, "native_call")) + 3).name, "native_call");
    CHECK_NUMBER(found.start, hidden);
    CHECK_NUMBER(found.size, 0);
    CHECK(!found.is_named);
    snprintf(wanted, sizeof wanted, "[stripped.so+0x%llx]", (unsigned long long)(found.offset - 5));
    CHECK_TEXT(found.name, wanted);
    dlclose(handle);
}

static void
a_function_is_found_by_name(void)
{
    uint64_t address = address_of((void *)a_static_function);
    snd_range ranges[4];
    size_t count = 9;

    REQUIRE(snd_symbols_ranges(symbols, address, "a_static_function", ranges, 4, &count) == SND_OK);
    REQUIRE(count == 1);
    CHECK_NUMBER(ranges[0].start, address);
    CHECK_NUMBER(ranges[0].end - ranges[0].start, find(address).size);
    REQUIRE(snd_symbols_ranges(symbols, 0, "a_static_function", ranges, 4, &count) == SND_OK);
    CHECK(count == 1 && ranges[0].start == address);
    REQUIRE(snd_symbols_ranges(symbols, address, "a_static", ranges, 4, &count) == SND_OK);
    CHECK_NUMBER(count, 0);
    REQUIRE(snd_symbols_ranges(symbols, 4096, "a_static_function", ranges, 4, &count) == SND_OK);
    CHECK_NUMBER(count, 0);
}

/* As gcc names the part of a function that hardly ever runs. */
__attribute__((noinline, used)) static int split_function(void) __asm__("split_function");
__attribute__((noinline, used)) static int split_function_cold(void) __asm__("split_function.cold");
static int
split_function(void)
{
    return 1;
}
static int
split_function_cold(void)
{
    return 2;
}

static void
the_cold_part_belongs_to_a_function(void)
{
    snd_range ranges[4];
    size_t count;

    REQUIRE(snd_symbols_ranges(symbols, 0, "split_function", ranges, 4, &count) == SND_OK);
    CHECK_NUMBER(count, 2);
    REQUIRE(snd_symbols_ranges(symbols, 0, "split_function", ranges, 1, &count) == SND_OK);
    CHECK_NUMBER(count, 1);
    CHECK(split_function() + split_function_cold() == 3);
}

static void
the_text_of_an_object_holds_its_functions(void)
{
    uint64_t address = address_of((void *)a_static_function);
    snd_range ranges[4];
    size_t count = snd_symbols_text(symbols, address, ranges, 4);

    REQUIRE(count >= 1);
    CHECK(ranges[0].start <= address && address < ranges[count - 1].end);
    CHECK_NUMBER(snd_symbols_text(symbols, 4096, ranges, 4), 0);
    CHECK_NUMBER(snd_symbols_text(symbols, address, ranges, 0), 0);
}

static void
names_of_cpp_are_readable(void)
{
    void *(*address)(void);

    if (names_library == NULL)
        return;
    void *handle = dlopen(names_library, RTLD_NOW | RTLD_LOCAL);
    REQUIRE(handle != NULL);
    *(void **)&address = dlsym(handle, "native_address");
    REQUIRE(address != NULL);
    REQUIRE(snd_symbols_refresh(symbols) == SND_OK);
    snd_symbol found = find(address_of(address()));
    CHECK(strstr(found.name, "native::box<int>::open") != NULL);
    CHECK(strstr(found.library, "native_names.so") != NULL);
    dlclose(handle);
}

static snd_status
look_around(void *context)
{
    snd_symbols *made = NULL;
    snd_symbol found;
    snd_range ranges[4];
    size_t count;

    (void)context;
    snd_status status = snd_symbols_new(&made);
    if (status == SND_OK)
        status = snd_symbols_find(made, address_of((void *)a_static_function), &found);
    if (status == SND_OK)
        status = snd_symbols_find(made, address_of((void *)look_around), &found);
    if (status == SND_OK)
        status = snd_symbols_ranges(made, address_of((void *)look_around), "main", ranges, 4, &count);
    if (status == SND_OK)
        status = snd_symbols_refresh(made);
    snd_symbols_free(made);
    return status;
}

static void
without_memory_symbols_say_so(void)
{
    CHECK(fail_each_allocation(look_around, NULL) > 5);
}

int
main(int argc, char **argv)
{
    REQUIRE(argc >= 3);
    named_library = argv[1];
    stripped_library = argv[2];
    names_library = argc > 3 ? argv[3] : NULL;
    REQUIRE(snd_symbols_new(&symbols) == SND_OK);
    RUN(an_address_in_the_program_has_its_function);
    RUN(of_two_names_the_plain_one_is_taken);
    RUN(a_function_that_the_loader_chose_has_its_name);
    RUN(the_vdso_is_a_library);
    RUN(addresses_without_code_are_unknown);
    RUN(code_from_no_file_is_called_generated);
    RUN(code_in_memory_that_looks_like_a_file_is_called_generated);
    RUN(generated_code_has_the_name_that_its_maker_wrote);
    RUN(a_map_of_somebody_else_or_of_another_kind_is_not_read);
    RUN(a_hostile_map_is_names_and_nothing_else);
    RUN(a_library_loaded_later_is_found_by_itself);
    RUN(a_removed_file_still_has_its_exported_names);
    RUN(a_file_that_took_the_place_of_another_is_not_read);
    RUN(a_file_removed_after_its_tables_were_read_gives_no_wrong_name);
    RUN(code_without_names_is_told_apart_by_function);
    RUN(a_function_is_found_by_name);
    RUN(the_cold_part_belongs_to_a_function);
    RUN(the_text_of_an_object_holds_its_functions);
    RUN(names_of_cpp_are_readable);
    RUN(without_memory_symbols_say_so);
    snd_symbols_free(symbols);
    return check_report();
}
