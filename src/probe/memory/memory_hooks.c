/* The functions that the program calls in place of libc's: each counts, and calls the real one. */
#include "os/native/got.h"
#include "probe/memory/memory_private.h"

#include <string.h>
#include <sys/mman.h>

static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static void *(*real_reallocarray)(void *, size_t, size_t);
static void (*real_free)(void *);
static int (*real_posix_memalign)(void **, size_t, size_t);
static void *(*real_aligned_alloc)(size_t, size_t);
static void *(*real_memalign)(size_t, size_t);
static void *(*real_valloc)(size_t);
static void *(*real_pvalloc)(size_t);
static void *(*real_mmap)(void *, size_t, int, int, int, off_t);
static void *(*real_mmap64)(void *, size_t, int, int, int, off_t);
static int (*real_munmap)(void *, size_t);
static void *(*real_mremap)(void *, size_t, size_t, int, void *);

/* ---- blocks ---- */

static void
allocated(void *block, size_t size)
{
    if (SND_LIKELY(snd_memory_mine.counted == 0))
        snd_memory_allocated(block, size, 0);
}

static SND_UNCHECKED_READS void *
our_malloc(size_t size)
{
    snd_memory_mine.inside++;
    void *block = real_malloc(size);
    snd_memory_mine.inside--;
    allocated(block, size);
    return block;
}

static SND_UNCHECKED_READS void *
our_calloc(size_t count, size_t size)
{
    snd_memory_mine.inside++;
    void *block = real_calloc(count, size);
    snd_memory_mine.inside--;
    allocated(block, block == NULL ? 0 : count * size);
    return block;
}

static SND_UNCHECKED_READS void
our_free(void *block)
{
    snd_memory_freed(block);
    snd_memory_mine.inside++;
    real_free(block);
    snd_memory_mine.inside--;
}

static void *
moved(void *old, void *block, size_t size, const snd_memory_kept *kept)
{
    if (block == NULL && size != 0 && kept->node != SND_NONE) /* it failed; with size 0 it frees */
        snd_memory_put_back(old, kept);
    if (block != NULL)
        allocated(block, size);
    return block;
}

static SND_UNCHECKED_READS void *
our_realloc(void *old, size_t size)
{
    snd_memory_kept kept;

    snd_memory_lift_old(old, &kept);
    snd_memory_mine.inside++;
    void *block = real_realloc(old, size);
    snd_memory_mine.inside--;
    return moved(old, block, size, &kept);
}

static SND_UNCHECKED_READS void *
our_reallocarray(void *old, size_t count, size_t size)
{
    snd_memory_kept kept;

    snd_memory_lift_old(old, &kept);
    snd_memory_mine.inside++;
    void *block = real_reallocarray(old, count, size);
    snd_memory_mine.inside--;
    return moved(old, block, block == NULL && count != 0 ? 1 : count * size, &kept);
}

static SND_UNCHECKED_READS int
our_posix_memalign(void **out, size_t alignment, size_t size)
{
    snd_memory_mine.inside++;
    int result = real_posix_memalign(out, alignment, size);
    snd_memory_mine.inside--;
    if (result == 0)
        snd_memory_allocated(*out, size, 0);
    return result;
}

static SND_UNCHECKED_READS void *
our_aligned_alloc(size_t alignment, size_t size)
{
    snd_memory_mine.inside++;
    void *block = real_aligned_alloc(alignment, size);
    snd_memory_mine.inside--;
    snd_memory_allocated(block, size, 0);
    return block;
}

static SND_UNCHECKED_READS void *
our_memalign(size_t alignment, size_t size)
{
    snd_memory_mine.inside++;
    void *block = real_memalign(alignment, size);
    snd_memory_mine.inside--;
    snd_memory_allocated(block, size, 0);
    return block;
}

static SND_UNCHECKED_READS void *
our_valloc(size_t size)
{
    snd_memory_mine.inside++;
    void *block = real_valloc(size);
    snd_memory_mine.inside--;
    snd_memory_allocated(block, size, 0);
    return block;
}

static SND_UNCHECKED_READS void *
our_pvalloc(size_t size)
{
    snd_memory_mine.inside++;
    void *block = real_pvalloc(size);
    snd_memory_mine.inside--;
    snd_memory_allocated(block, size, 0);
    return block;
}

/* ---- mappings: those that are no file's ---- */

static SND_UNCHECKED_READS void *
our_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset)
{
    void *block = real_mmap(address, size, protection, flags, file, offset);
    if (block != MAP_FAILED && (flags & MAP_ANONYMOUS) != 0)
        snd_memory_take_map(block, size);
    return block;
}

static SND_UNCHECKED_READS void *
our_mmap64(void *address, size_t size, int protection, int flags, int file, off_t offset)
{
    void *block = real_mmap64(address, size, protection, flags, file, offset);
    if (block != MAP_FAILED && (flags & MAP_ANONYMOUS) != 0)
        snd_memory_take_map(block, size);
    return block;
}

static SND_UNCHECKED_READS int
our_munmap(void *address, size_t size)
{
    snd_memory_unmap(address, size);
    return real_munmap(address, size);
}

static SND_UNCHECKED_READS void *
our_mremap(void *old, size_t old_size, size_t size, int flags, void *wanted)
{
    void *block = real_mremap(old, old_size, size, flags, wanted);
    if (block != MAP_FAILED && snd_memory_unmap(old, old_size))
        snd_memory_take_map(block, size);
    return block;
}

/* ---- copies ---- */

static void *(*real_memcpy)(void *, const void *, size_t);
static void *(*real_memmove)(void *, const void *, size_t);
static void *(*real_mempcpy)(void *, const void *, size_t);
static char *(*real_strcpy)(char *, const char *);
static char *(*real_stpcpy)(char *, const char *);
static char *(*real_strncpy)(char *, const char *, size_t);
static char *(*real_strcat)(char *, const char *);
static void *(*real_memcpy_chk)(void *, const void *, size_t, size_t);
static void *(*real_memmove_chk)(void *, const void *, size_t, size_t);
static char *(*real_strcpy_chk)(char *, const char *, size_t);
static char *(*real_strncpy_chk)(char *, const char *, size_t, size_t);

/* Apart, so that the functions below, which are called most of all, keep nothing on the stack. */
static SND_COLD SND_UNCHECKED_READS void *
take_copy_first(void *to, const void *from, size_t size, void *(*real)(void *, const void *, size_t))
{
    snd_memory_take_copy(size);
    return real(to, from, size);
}

static SND_UNCHECKED_READS void *
our_memcpy(void *to, const void *from, size_t size)
{
    if (SND_UNLIKELY(snd_memory_copy_runs_out(size)))
        return take_copy_first(to, from, size, real_memcpy);
    return real_memcpy(to, from, size);
}

static SND_UNCHECKED_READS void *
our_memmove(void *to, const void *from, size_t size)
{
    if (SND_UNLIKELY(snd_memory_copy_runs_out(size)))
        return take_copy_first(to, from, size, real_memmove);
    return real_memmove(to, from, size);
}

static SND_UNCHECKED_READS void *
our_mempcpy(void *to, const void *from, size_t size)
{
    snd_memory_copied(size);
    return real_mempcpy(to, from, size);
}

static SND_UNCHECKED_READS char *
our_strcpy(char *to, const char *from)
{
    snd_memory_copied(strlen(from) + 1);
    return real_strcpy(to, from);
}

static SND_UNCHECKED_READS char *
our_stpcpy(char *to, const char *from)
{
    snd_memory_copied(strlen(from) + 1);
    return real_stpcpy(to, from);
}

static SND_UNCHECKED_READS char *
our_strncpy(char *to, const char *from, size_t size)
{
    snd_memory_copied(strnlen(from, size));
    return real_strncpy(to, from, size);
}

static SND_UNCHECKED_READS char *
our_strcat(char *to, const char *from)
{
    snd_memory_copied(strlen(from) + 1);
    return real_strcat(to, from);
}

static SND_UNCHECKED_READS void *
our_memcpy_chk(void *to, const void *from, size_t size, size_t room)
{
    snd_memory_copied(size);
    return real_memcpy_chk(to, from, size, room);
}

static SND_UNCHECKED_READS void *
our_memmove_chk(void *to, const void *from, size_t size, size_t room)
{
    snd_memory_copied(size);
    return real_memmove_chk(to, from, size, room);
}

static SND_UNCHECKED_READS char *
our_strcpy_chk(char *to, const char *from, size_t room)
{
    snd_memory_copied(strlen(from) + 1);
    return real_strcpy_chk(to, from, room);
}

static SND_UNCHECKED_READS char *
our_strncpy_chk(char *to, const char *from, size_t size, size_t room)
{
    snd_memory_copied(strnlen(from, size));
    return real_strncpy_chk(to, from, size, room);
}

#define HOOK(name, function) {name, (void *)(uintptr_t)our_##function, (void **)&real_##function}

static const snd_got_hook hooks[] = {
    HOOK("malloc", malloc),
    HOOK("calloc", calloc),
    HOOK("realloc", realloc),
    HOOK("reallocarray", reallocarray),
    HOOK("free", free),
    HOOK("posix_memalign", posix_memalign),
    HOOK("aligned_alloc", aligned_alloc),
    HOOK("memalign", memalign),
    HOOK("valloc", valloc),
    HOOK("pvalloc", pvalloc),
    HOOK("mmap", mmap),
    HOOK("mmap64", mmap64),
    HOOK("munmap", munmap),
    HOOK("mremap", mremap),
    HOOK("memcpy", memcpy),
    HOOK("memmove", memmove),
    HOOK("mempcpy", mempcpy),
    HOOK("strcpy", strcpy),
    HOOK("stpcpy", stpcpy),
    HOOK("strncpy", strncpy),
    HOOK("strcat", strcat),
    HOOK("__memcpy_chk", memcpy_chk),
    HOOK("__memmove_chk", memmove_chk),
    HOOK("__strcpy_chk", strcpy_chk),
    HOOK("__strncpy_chk", strncpy_chk),
};

snd_status
snd_memory_hooks_start(void)
{
    return snd_got_start(hooks, sizeof hooks / sizeof hooks[0]);
}

void
snd_memory_hooks_stop(void)
{
    snd_got_stop();
}
