/* The program `sonde`: finds the sub-command and hands over. */
#include "base/alloc.h"
#include "base/status.h"
#include "cli/commands.h"
#include "cli/commit.h"
#include "cli/core/help.h"
#include "cli/core/options.h"
#include "cli/core/progress.h"
#include "format/page/page.h"
#include "os/unfinished.h"
#include "store/reader.h"

#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

/* ---- how much memory and time a command may take to read files ---- */

/* What any file may take, and what each byte of one may take besides: several times what real ones take. */
#define MEMORY_BASE (UINT64_C(256) << 20)
#define MEMORY_EACH 64u
#define SECONDS_BASE 30u
#define SECONDS_EACH_MIB 5u

/* For what does not end when its allocations fail. */
#define SECONDS_TO_END 10

static char last_words[512];

/* Of all files among the words; what is none is somebody else's to complain about. */
static uint64_t
size_of_words(const snd_arguments *given)
{
    struct stat about;
    uint64_t size = 0;

    for (int i = 0; i < given->word_count; i++)
        if (stat(given->words[i], &about) == 0 && S_ISREG(about.st_mode))
            size += (uint64_t)about.st_size;
    return size;
}

static uint64_t
memory_for(uint64_t size)
{
    uint64_t wanted = MEMORY_BASE + (size < UINT64_MAX / MEMORY_EACH / 2 ? size * MEMORY_EACH : UINT64_MAX / 2);
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t most = pages <= 0 || page <= 0 ? UINT64_MAX : (uint64_t)pages * (uint64_t)page / 4 * 3;

    if (most < MEMORY_BASE)
        most = MEMORY_BASE;
    return wanted < most ? wanted : most;
}

static void
stop(int number)
{
    (void)number;
    if (snd_alloc_is_stopped() == SND_ALLOC_TOO_SLOW) {
        ssize_t written = write(STDERR_FILENO, last_words, strlen(last_words));
        (void)written;
        _exit(SND_EXIT_USAGE);
    }
    snd_alloc_stop_all();
}

static void
start_timer(const snd_arguments *given, uint64_t seconds)
{
    struct sigaction action = {.sa_handler = stop, .sa_flags = SA_RESTART};
    struct itimerval timer = {.it_value = {.tv_sec = (time_t)seconds}, .it_interval = {.tv_sec = SECONDS_TO_END}};

    snprintf(last_words, sizeof last_words, "sonde: %.300s: %s\n", given->words[0],
             snd_status_stopped(SND_ALLOC_TOO_SLOW));
    sigaction(SIGPROF, &action, NULL);
    setitimer(ITIMER_PROF, &timer, NULL);
}

/* "seconds=600" has another limit on time. */
static uint64_t
seconds_for(uint64_t size, const char *wish)
{
    uint64_t seconds = SECONDS_BASE + (size >> 20) * SECONDS_EACH_MIB;

    if (strncmp(wish, "seconds=", 8) == 0) {
        uint64_t wanted = strtoull(wish + 8, NULL, 10);
        seconds = wanted == 0 ? seconds : wanted;
    }
    return seconds;
}

/* From now on allocations fail once they take far more than the files among the command's words explain, and all of
 * them once it runs far too long; then it ends with SND_EXIT_USAGE and one line. Nothing where SONDE_LIMITS=off. */
static void
start_budget(const snd_arguments *given)
{
    const char *wish = getenv("SONDE_LIMITS");
    uint64_t size = size_of_words(given);

    wish = wish == NULL ? "" : wish;
    if (given->command->reads == SND_READS_NOTHING || given->word_count == 0 || strcmp(wish, "off") == 0)
        return;
    snd_alloc_limit(memory_for(size));
    snd_reader_limit_memory(memory_for(size));
    if (given->command->reads == SND_READS_FILES)
        start_timer(given, seconds_for(size, wish));
}

const snd_command *const snd_commands[] = {
#define SND_COMMAND_ENTRY(name) &snd_command_##name,
    SND_COMMAND_MAP(SND_COMMAND_ENTRY)
#undef SND_COMMAND_ENTRY
};
#define COMMAND_COUNT (sizeof snd_commands / sizeof snd_commands[0])
const unsigned snd_command_count = COMMAND_COUNT;

static const snd_command *
find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(snd_commands[i]->name, name) == 0)
            return snd_commands[i];
    return NULL;
}

static int
ends_with(const char *word, const char *end)
{
    return strlen(word) > strlen(end) && strcmp(word + strlen(word) - strlen(end), end) == 0;
}

/* Whether a word in place of a command is a program to run. */
static int
is_program(const char *word)
{
    return word[0] != '-' && !ends_with(word, ".sonde") &&
           (ends_with(word, ".py") || ends_with(word, ".pyz") || strchr(word, '/') != NULL);
}

static int
complain_command(const char *word)
{
    static const char *const options[] = {"--help", "--version"};
    const char *names[COMMAND_COUNT];

    if (word[0] == '-')
        return snd_complain_unknown("option", word, options, 2);
    if (ends_with(word, ".sonde"))
        return snd_complain("%s is a recording, not a command; to show it, write sonde view %s", word, word);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        names[i] = snd_commands[i]->name;
    return snd_complain_unknown("command", word, names, COMMAND_COUNT);
}

/* A command that works on files for a while says so, and leaves none behind that is not whole. */
static int
run_busy(const snd_arguments *given)
{
    start_budget(given);
    if (given->command->busy == NULL)
        return given->command->run(given);
    snd_progress_start(given->command->busy);
    snd_unfinished_catch_signals();
    int status = given->command->run(given);
    snd_progress_stop();
    return status;
}

static int
run_command(const snd_command *command, int argc, char **argv)
{
    snd_arguments given = {.command = command};

    given.words = snd_calloc((size_t)argc + 1, sizeof *given.words);
    given.all = snd_calloc((size_t)argc + 1, sizeof *given.all);
    int status = SND_EXIT_USAGE;
    if (given.words == NULL || given.all == NULL)
        snd_complain("out of memory");
    else if (snd_arguments_parse(command, argc, argv, &given)) {
        status = SND_EXIT_OK;
        if (given.wants_aliases)
            snd_help_print_aliases();
        else if (given.wants_help)
            snd_help_print_command(command);
        else
            status = run_busy(&given);
    }
    snd_free(given.all);
    snd_free(given.words);
    return status;
}

/* The first line is all that other programs need. */
static void
print_version(void)
{
    puts("sonde " SND_VERSION);
    puts("commit    " SND_COMMIT);
    printf("features  %sreport page, %snative frames\n", snd_page_exists() ? "" : "no ", SND_NATIVE ? "" : "no ");
}

static int
run(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        const snd_command *about = argc > 2 ? find_command(argv[2]) : NULL;
        if (argc > 2 && about == NULL)
            return complain_command(argv[2]);
        if (about != NULL)
            snd_help_print_command(about);
        else
            snd_help_print(snd_commands, COMMAND_COUNT);
        return SND_EXIT_OK;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        print_version();
        return SND_EXIT_OK;
    }
    const snd_command *command = find_command(argv[1]);
    if (command != NULL)
        return run_command(command, argc - 2, argv + 2);
    return is_program(argv[1]) ? run_command(&snd_command_run, argc - 1, argv + 1) : complain_command(argv[1]);
}

int
main(int argc, char **argv)
{
    setlocale(LC_CTYPE, "");
    int status = run(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout))
        return snd_complain("cannot write the output");
    return status;
}
