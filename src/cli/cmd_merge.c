/* sonde merge: several recordings as one. */
#include "cli/commands.h"
#include "cli/core/common.h"
#include "store/merge/merge_files.h"

static int
run(const snd_arguments *given)
{
    const char *out = snd_arguments_value(given, "output");
    snd_merge_result result;

    if (out == NULL)
        return snd_complain("merge needs an output file: sonde merge -o ALL.sonde FILE FILE …");
    if (given->word_count == 0)
        return snd_complain("merge needs recordings: sonde merge -o %s FILE FILE …", out);
    snd_status status = snd_merge_files(out, given->words, (uint32_t)given->word_count, &result);
    if (status != SND_OK)
        return snd_complain_status(result.failed, status);
    if (result.twice == 1)
        snd_complain("%s: process %u is also in another recording; counted once", result.twice_path, result.twice_id);
    else if (result.twice != 0)
        snd_complain("%s: process %u and %u more are in several recordings; counted once each", result.twice_path,
                     result.twice_id, result.twice - 1);
    if (result.empty != 0)
        snd_complain("%u file%s empty: killed before the first checkpoint", result.empty,
                     result.empty == 1 ? " is" : "s are");
    snd_complain("%u process%s merged into %s", result.processes, result.processes == 1 ? "" : "es", out);
    return SND_EXIT_OK;
}

static const snd_setting options[] = {
    {"output", "the recording to write; it may be one of the inputs", SND_TEXT("ALL.sonde"), .letter = 'o',
     .choices = SND_CHOICES_FILE},
    {0},
};

const snd_command snd_command_merge = {
    .name = "merge",
    .usage = "-o ALL.sonde FILE FILE …",
    .about = "merge recordings of several processes into one",
    .options = options,
    .run = run,
    .reads = SND_READS_FILES,
    .busy = "merging",
    .examples = {{"sonde merge -o all.sonde rank-*.sonde", "merge all ranks into one recording"},
                 {"sonde merge -o all.sonde all.sonde late.sonde", "add a process to a merged recording"}},
};
