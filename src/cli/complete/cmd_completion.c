/* sonde completion: what shells need to complete command lines, and man pages. */
#include "base/alloc.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/complete/complete.h"
#include "cli/core/common.h"

#include <stdio.h>
#include <string.h>

snd_word_kind
snd_word_kind_of(const snd_command *command)
{
    if (command == &snd_command_completion)
        return SND_WORD_SHELL;
    if (command->takes_program != NULL)
        return SND_WORD_PROGRAM;
    if (command->reads == SND_READS_NOTHING)
        return SND_WORD_NOTHING;
    return command == &snd_command_import ? SND_WORD_FILE : SND_WORD_RECORDING;
}

int
snd_option_is_shown(const snd_command *command, int place)
{
    const snd_setting *option = snd_option_at(command, place);

    for (int i = 0; i < place; i++)
        if (strcmp(snd_option_at(command, i)->name, option->name) == 0)
            return 0;
    return option->about != NULL;
}

void
snd_put_plain(snd_buffer *out, const char *text, const char *removed)
{
    snd_buffer plain = {0};

    snd_buffer_text(&plain, text);
    snd_text_plain(&plain, 0);
    for (const char *at = snd_buffer_str(&plain); *at != '\0'; at++)
        if (strchr(removed, *at) == NULL)
            snd_buffer_char(out, *at);
    out->failed |= plain.failed;
    snd_buffer_free(&plain);
}

/* ---- the columns of a view, which depend on the recording ---- */

static const snd_view *
named_view(const snd_arguments *given, const snd_profile *profile)
{
    const char *name = snd_arguments_value(given, "view");

    for (unsigned i = 0; i < snd_view_count && name == NULL; i++)
        if (snd_arguments_value(given, snd_views[i].name) != NULL)
            name = snd_views[i].name;
    const snd_view *view = name == NULL ? NULL : snd_view_find(name);
    return view == NULL ? snd_view_default(profile) : view;
}

/* A name a line. What the command line says about columns, rows and their order is not complete and does not count. */
static int
print_columns(snd_arguments *given)
{
    static const char *const unfinished[] = {"columns", "sort", "match", "limit"};
    const snd_setting *option;
    snd_opened recording;
    snd_table *table = NULL;

    for (int i = 0; (option = snd_option_at(given->command, i)) != NULL; i++)
        for (size_t n = 0; n < sizeof unfinished / sizeof unfinished[0]; n++)
            if (strcmp(option->name, unfinished[n]) == 0)
                given->values[i] = NULL;
    given->word_count = given->word_count == 0 ? 0 : 1;
    if (snd_opened_open(given, 1, &recording))
        table = snd_make_table(&recording, named_view(given, recording.profile), given, 0);
    if (table != NULL)
        snd_list_columns(table);
    int status = table == NULL ? SND_EXIT_USAGE : SND_EXIT_OK;
    snd_table_free(table);
    snd_opened_close(&recording);
    return status;
}

static int
columns(const snd_arguments *given)
{
    const snd_command *command = given->word_count < 2                    ? NULL
                                 : strcmp(given->words[1], "view") == 0   ? &snd_command_view
                                 : strcmp(given->words[1], "export") == 0 ? &snd_command_export
                                                                          : NULL;
    snd_arguments line = {.command = command};
    int status = SND_EXIT_USAGE;

    if (command == NULL)
        return snd_complain("columns needs a command line to complete: sonde completion columns view FILE.sonde");
    line.words = snd_calloc((size_t)given->word_count + 1, sizeof *line.words);
    line.all = snd_calloc((size_t)given->word_count + 1, sizeof *line.all);
    if (line.words == NULL || line.all == NULL)
        snd_complain("out of memory");
    else if (snd_arguments_parse(command, given->word_count - 2, (char **)(uintptr_t)(given->words + 2), &line))
        status = print_columns(&line);
    snd_free(line.words);
    snd_free(line.all);
    return status;
}

/* ---- the command ---- */

static int
print_man(const snd_arguments *given, snd_buffer *text)
{
    const char *name = given->words[1];
    const char *names[32];

    for (unsigned i = 0; i < snd_command_count; i++) {
        names[i] = snd_commands[i]->name;
        if (name != NULL && strcmp(names[i], name) == 0) {
            snd_man_write(snd_commands[i], text);
            return SND_EXIT_OK;
        }
    }
    if (name != NULL)
        return snd_complain_unknown("command", name, names, snd_command_count);
    snd_man_write(NULL, text);
    return SND_EXIT_OK;
}

static int
run(const snd_arguments *given)
{
    static const char *const names[] = {"bash", "zsh", "fish"};
    static void (*const writers[])(snd_buffer *) = {snd_complete_bash, snd_complete_zsh, snd_complete_fish};
    const char *name = given->words[0];
    snd_buffer text = {0};
    int status = -1;

    if (name == NULL)
        return snd_complain("completion needs a shell: sonde completion bash, zsh or fish");
    if (strcmp(name, "columns") == 0)
        return columns(given);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], name) == 0) {
            writers[i](&text);
            status = SND_EXIT_OK;
        }
    if (strcmp(name, "man") == 0)
        status = print_man(given, &text);
    if (status < 0)
        status = snd_complain_unknown("shell", name, names, sizeof names / sizeof names[0]);
    if (text.failed)
        status = snd_complain("out of memory");
    else
        fputs(snd_buffer_str(&text), stdout);
    snd_buffer_free(&text);
    return status;
}

static const snd_setting options[] = {{0}};

const snd_command snd_command_completion = {
    .name = "completion",
    .usage = "bash, zsh, fish or man [COMMAND]",
    .about = "print a completion script for your shell, or a man page",
    .options = options,
    .run = run,
    .takes_program = "",
    .examples = {{"source <(sonde completion bash)", "complete sonde's command lines in this shell"},
                 {"sonde completion fish | source", "the same in fish"}},
};
