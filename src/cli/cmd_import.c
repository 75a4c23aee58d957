/* sonde import: a file of another profiler as a recording. */
#include "base/alloc.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/core/common.h"
#include "format/stacks/import.h"
#include "os/file.h"
#include "os/process.h"
#include "store/writer.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define RATE_LIMIT 1000000u

/* 0 after printing one line. */
static int
read_unit(const snd_arguments *given, snd_import_options *out)
{
    static const char *const names[] = {
#define UNIT_NAME(name, ns) #name,
        SND_IMPORT_UNIT_MAP(UNIT_NAME)
#undef UNIT_NAME
    };
    const char *unit = snd_arguments_value(given, "unit");

    out->unit = SND_IMPORT_us;
    if (unit == NULL)
        return 1;
    for (unsigned i = 0; i < SND_IMPORT_UNIT_COUNT; i++)
        if (strcmp(names[i], unit) == 0) {
            out->unit = (snd_import_unit)i;
            return 1;
        }
    snd_complain_unknown("unit", unit, names, SND_IMPORT_UNIT_COUNT);
    return 0;
}

/* 0 after printing one line. */
static int
read_rate(const snd_arguments *given, snd_import_options *out)
{
    const char *text = snd_arguments_value(given, "rate");

    if (text == NULL && out->unit == SND_IMPORT_samples) {
        snd_complain("--unit samples needs --rate: samples per second, such as 100");
        return 0;
    }
    return snd_arguments_count(given, "rate", &out->rate_hz);
}

/* The bytes of the file; the caller frees them. NULL after printing one line. */
static char *
load(const char *path, size_t *size)
{
    struct stat about;
    char *data = NULL;
    const char *problem = NULL;

    if (stat(path, &about) != 0)
        problem = strerror(errno);
    else if (S_ISDIR(about.st_mode))
        problem = "is a folder";
    else if (!S_ISREG(about.st_mode))
        problem = "is not a regular file";
    else if ((uint64_t)about.st_size > SND_IMPORT_LIMIT)
        problem = "is larger than 256 MiB";
    else if (about.st_size == 0)
        problem = "is empty";
    else if (snd_file_load(path, SND_IMPORT_LIMIT, &data, size) != SND_OK)
        problem = "out of memory";
    else if (data == NULL)
        problem = "cannot be read";
    if (problem != NULL)
        snd_complain("%s: %s", path, problem);
    return data;
}

/* NULL after printing one line. */
static const snd_import *
chosen_format(const snd_arguments *given, const char *path, const char *data, size_t size)
{
    const char *name = snd_arguments_value(given, "format");
    const snd_import *how = name == NULL ? snd_import_guess(data, size) : snd_import_find(name);
    const char *names[8];

    for (unsigned i = 0; i < snd_import_count; i++)
        names[i] = snd_imports[i].name;
    if (how == NULL && name != NULL)
        snd_complain_unknown("format", name, names, snd_import_count);
    else if (how == NULL)
        snd_complain("%s: neither a pstats file nor collapsed stacks", path);
    return how;
}

static int
write_recording(const snd_profile *profile, const char *output)
{
    snd_buffer path = {0};

    snd_path_expand(output, &path);
    snd_status status = snd_buffer_status(&path);
    if (status == SND_OK)
        status = snd_writer_save(profile, snd_buffer_str(&path));
    if (status == SND_OK)
        snd_complain("recording saved in %s", output);
    else if (status == SND_NOT_A_RECORDING)
        snd_complain("%s: already exists and is not a sonde recording; choose another name", output);
    else
        snd_complain_status(output, status);
    snd_buffer_free(&path);
    return status == SND_OK ? SND_EXIT_OK : SND_EXIT_USAGE;
}

/* "folder/run.pstats" gives "run.sonde". */
static void
name_recording(const char *path, snd_buffer *out)
{
    const char *base = snd_path_base(path), *dot = strrchr(base, '.');
    size_t len = dot == NULL || dot == base ? strlen(base) : (size_t)(dot - base);
    snd_buffer_printf(out, "%.*s.sonde", (int)len, base);
}

static int
import(const snd_arguments *given, const snd_import_options *options, const char *data, size_t size)
{
    const char *path = given->words[0], *output = snd_arguments_value(given, "output");
    const snd_import *how = chosen_format(given, path, data, size);
    snd_profile *profile = snd_profile_new();
    snd_buffer problem = {0}, name = {0};
    int exit_status = SND_EXIT_USAGE;

    name_recording(path, &name);
    snd_status status = profile == NULL || name.failed ? SND_NO_MEMORY : SND_OK;
    if (how != NULL && status == SND_OK)
        status = how->read(data, size, options, profile, &problem);
    if (how != NULL && status == SND_OK)
        status = snd_import_set_facts(profile, path, how);
    if (how != NULL && status == SND_BAD_ARGUMENT)
        snd_complain("%s: cannot be read as %s: %s", path, how->name, snd_buffer_str(&problem));
    else if (how != NULL && status != SND_OK)
        snd_complain_status(path, status);
    else if (how != NULL)
        exit_status = write_recording(profile, output == NULL ? snd_buffer_str(&name) : output);
    snd_profile_free(profile);
    snd_buffer_free(&problem);
    snd_buffer_free(&name);
    return exit_status;
}

static int
run(const snd_arguments *given)
{
    snd_import_options wish = {0};
    size_t size = 0;

    if (given->word_count == 0)
        return snd_complain("import needs a file: sonde import FILE [-o OUT.sonde]");
    if (given->word_count > 1)
        return snd_complain("import takes one file; unexpected argument '%s'", given->words[1]);
    if (!read_unit(given, &wish) || !read_rate(given, &wish))
        return SND_EXIT_USAGE;
    char *data = load(given->words[0], &size);
    int status = data == NULL ? SND_EXIT_USAGE : import(given, &wish, data, size);
    snd_free(data);
    return status;
}

static const snd_setting options[] = {
    {"output", "the recording (default: the file's name with .sonde, in this folder)", SND_TEXT("FILE"), .letter = 'o',
     .choices = SND_CHOICES_FILE},
    {"format", "pstats or collapsed (default: detected)", SND_TEXT("NAME"), .letter = 'f',
     .choices = "pstats collapsed"},
    {"unit", "unit of the numbers: us, ns, ms, s, samples or bytes (default us)", SND_TEXT("NAME"), .letter = 'u',
     .group = "collapsed stacks", .choices = "us ns ms s samples bytes"},
    {"rate", "with --unit samples: samples per second", SND_COUNT("HZ", 1, RATE_LIMIT, 0), .letter = 'r',
     .group = "collapsed stacks"},
    {0},
};

const snd_command snd_command_import = {
    .name = "import",
    .usage = "FILE [-o OUT.sonde]",
    .about = "convert another profiler's file into a recording: pstats, collapsed stacks",
    .options = options,
    .run = run,
    .reads = SND_READS_FILES,
    .busy = "importing",
    .examples = {{"sonde import old.pstats", "turn a file of cProfile into old.sonde"},
                 {"sonde import stacks.txt --unit samples --rate 99",
                  "read collapsed stacks, sampled 99 times per second"}},
};
