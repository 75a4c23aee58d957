/* The program `sonde`: finds the sub-command and hands over. */
#include "cli/commands.h"

#include "base/alloc.h"
#include "cli/budget.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

static const snd_command *const commands[] = {
#define SND_COMMAND_ENTRY(name) &snd_command_##name,
    SND_COMMAND_MAP(SND_COMMAND_ENTRY)
#undef SND_COMMAND_ENTRY
};
#define COMMAND_COUNT (sizeof commands / sizeof commands[0])

static void
print_help(void)
{
    snd_say("sonde: one profiler for Python programs\n\nusage: sonde COMMAND …\n\ncommands:\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        snd_say("  %-8s %s\n", commands[i]->name, commands[i]->about);
    puts("\noptions:\n  --help     show this help; 'sonde COMMAND --help' shows more\n  --version  show the version");
    puts("\nStart with: sonde run prog.py");
    puts("To measure regions, add to your program: import sonde; sonde.install(recording=\"run.sonde\")");
}

static void
print_command_help(const snd_command *command)
{
    snd_option option;

    snd_say("%s\n\nusage: sonde %s %s\n", command->about, command->name, command->usage);
    if (snd_option_at(command, 0, &option))
        puts("\noptions:");
    for (int i = 0; snd_option_at(command, i, &option); i++) {
        char left[64];
        char letter[] = {'-', option.letter, ',', ' ', '\0'};
        snprintf(left, sizeof left, "%s--%s%s%s", option.letter == 0 ? "" : letter, option.name,
                 option.value == NULL ? "" : " ", option.value == NULL ? "" : option.value);
        if (option.about != NULL)
            snd_say("  %-24s %s\n", left, option.about);
    }
}

static const snd_command *
find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static int
complain_command(const char *word)
{
    static const char *const options[] = {"--help", "--version"};
    const char *names[COMMAND_COUNT];

    if (word[0] == '-')
        return snd_complain_unknown("option", word, options, 2);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands[i]->name;
    return snd_complain_unknown("command", word, names, COMMAND_COUNT);
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
        if (given.wants_help)
            print_command_help(command);
        else
            snd_budget_start(&given);
        status = given.wants_help ? SND_EXIT_OK : command->run(&given);
    }
    snd_free(given.all);
    snd_free(given.words);
    return status;
}

static int
run(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        const snd_command *about = argc > 2 ? find_command(argv[2]) : NULL;
        if (argc > 2 && about == NULL)
            return complain_command(argv[2]);
        if (about != NULL)
            print_command_help(about);
        else
            print_help();
        return SND_EXIT_OK;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        puts("sonde " SND_VERSION);
        return SND_EXIT_OK;
    }
    const snd_command *command = find_command(argv[1]);
    return command == NULL ? complain_command(argv[1]) : run_command(command, argc - 2, argv + 2);
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
