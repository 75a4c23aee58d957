/* Bytes as a file of another profiler. The first byte chooses: pstats, or collapsed stacks in one of their units. What
 * is taken is a sound profile, which is written again. */
#include "base/alloc.h"
#include "format/stacks/import.h"
#include "format/table/format.h"
#include "fuzz.h"
#include "read.h"
#include "store/writer.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static void
check_profile(snd_profile *profile)
{
    static const snd_export_options usual;
    int file = open("/dev/null", O_WRONLY | O_CLOEXEC);

    for (uint32_t i = 0; i < profile->node_count; i++) {
        MUST(profile->nodes[i].site < profile->site_count && profile->nodes[i].track < profile->track_count);
        MUST(profile->nodes[i].parent == SND_NONE || profile->nodes[i].parent < i);
    }
    for (unsigned i = 0; i < snd_format_count; i++)
        if (snd_formats[i].write_recording != NULL && strcmp(snd_formats[i].name, "chrome") != 0) {
            snd_status status = snd_formats[i].write_recording(NULL, profile, &usual, file);
            MUST(status == SND_OK || status == SND_NO_DATA || status == SND_NO_TIMELINE);
        }
    close(file);
}

/* As the command does, and then everything with it. */
static void
write_recording(const snd_profile *profile)
{
    snd_writer *writer = NULL;

    MUST(snd_writer_open(read_path(), &writer) == SND_OK);
    MUST(snd_writer_checkpoint(writer, profile, NULL) == SND_OK);
    snd_writer_free(writer);
    read_everything(read_path());
    read_remove(read_path());
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const snd_import_options options = {.unit = (snd_import_unit)(data[0] % SND_IMPORT_UNIT_COUNT), .rate_hz = 100};
    const snd_import *how = snd_import_find((data[0] & 0x7f) == 0x7b ? "pstats" : "collapsed");
    snd_profile *profile = snd_profile_new();
    snd_buffer problem = {0};
    size_t skipped = (data[0] & 0x7f) == 0x7b ? 0 : 1; /* a dictionary begins so */

    MUST(profile != NULL);
    (void)snd_import_guess((const char *)data, size);
    snd_status status = how->read((const char *)data + skipped, size - skipped, &options, profile, &problem);
    MUST(status == SND_OK || (status == SND_BAD_ARGUMENT && problem.size != 0));
    if (status == SND_OK)
        check_profile(profile);
    if (status == SND_OK && size % 16 == 0) /* the rest is quicker without */
        write_recording(profile);
    snd_buffer_free(&problem);
    snd_profile_free(profile);
    return 0;
}
