/* Bytes as an ELF object: whatever they say, its heads, functions and starts are read without harm. */
#include "base/alloc.h"
#include "fuzz.h"
#include "os/native/elf.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct seen {
    const snd_elf_source *source;
    unsigned count;
} seen;

static snd_status
look(void *context, const snd_elf_function *function)
{
    seen *self = context;
    char name[SND_ELF_NAME_SIZE];

    MUST(function->name[0] != '\0' && function->name_room > 0);
    MUST(snd_elf_name(self->source, function->name_at, function->name_room, name));
    MUST(strncmp(name, function->name, SND_ELF_NAME_SIZE - 1) == 0);
    return ++self->count < 10000 ? SND_OK : SND_NO_DATA;
}

static void
read_object(const snd_elf_source *source)
{
    snd_elf object;
    seen functions = {source, 0};
    uint64_t *starts;
    size_t count;

    if (!snd_elf_open(source, &object))
        return;
    snd_status status = snd_elf_each(&object, source, look, &functions);
    MUST(status == SND_OK || status == SND_NO_DATA);
    MUST(snd_elf_starts(&object, source, &starts, &count) == SND_OK);
    for (size_t i = 1; i < count; i++)
        MUST(starts[i] > starts[i - 1]);
    snd_free(starts);
    for (unsigned i = 0; i < object.segment_count; i++) {
        (void)snd_elf_address(&object, object.segments[i].offset);
        (void)snd_elf_offset(&object, object.segments[i].address);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int file = memfd_create("fuzz", MFD_CLOEXEC);
    snd_elf_piece whole = {0, size, (uint64_t)(uintptr_t)data};

    MUST(file >= 0 && write(file, data, size) == (ssize_t)size);
    read_object(&(snd_elf_source){.file = file, .size = size});
    close(file);
    read_object(&(snd_elf_source){.file = -1, .pieces = &whole, .piece_count = 1, .size = size});
    return 0;
}
