/* Completion for fish. */
#include "cli/complete/complete.h"

#include "cli/commands.h"

#include <string.h>

#define SPECIAL "'\\"

static void
put_option(const snd_command *command, const snd_setting *option, snd_buffer *out)
{
    const char *choices = option->choices == NULL ? "" : option->choices;

    snd_buffer_printf(out, "complete -c sonde -n '__fish_seen_subcommand_from %s' -l %s", command->name, option->name);
    if (option->letter != 0)
        snd_buffer_printf(out, " -s %c", option->letter);
    if (strcmp(choices, SND_CHOICES_COLUMNS) == 0)
        snd_buffer_text(out, " -x -a '(__sonde_columns)'");
    else if (strcmp(choices, SND_CHOICES_FILE) == 0)
        snd_buffer_text(out, " -r -F");
    else if (option->value != NULL)
        snd_buffer_printf(out, " -x -a '%s'", choices);
    snd_buffer_text(out, " -d '");
    snd_put_plain(out, option->about, SPECIAL);
    snd_buffer_text(out, "'\n");
}

static void
put_command(const snd_command *command, snd_buffer *out)
{
    static const char *const words[] = {
        [SND_WORD_NOTHING] = "",
        [SND_WORD_RECORDING] = "-k -a '(__fish_complete_suffix .sonde)'",
        [SND_WORD_PROGRAM] = "-F",
        [SND_WORD_FILE] = "-F",
        [SND_WORD_SHELL] = "-a 'bash zsh fish man'",
    };
    snd_word_kind kind = snd_word_kind_of(command);
    const snd_setting *option;

    snd_buffer_printf(out, "complete -c sonde -n __fish_use_subcommand -a %s -d '", command->name);
    snd_put_plain(out, command->about, SPECIAL);
    snd_buffer_text(out, "'\n");
    if (kind != SND_WORD_NOTHING)
        snd_buffer_printf(out, "complete -c sonde -n '__fish_seen_subcommand_from %s' %s\n", command->name,
                          words[kind]);
    for (int i = 0; (option = snd_option_at(command, i)) != NULL; i++)
        if (snd_option_is_shown(command, i))
            put_option(command, option, out);
}

void
snd_complete_fish(snd_buffer *out)
{
    snd_buffer_text(out, "# Completion of sonde for fish, written by 'sonde completion fish'.\n"
                         "function __sonde_columns\n"
                         "    set -l words (commandline -opc)\n"
                         "    set -l list (string match -r '.*,' -- (commandline -ct))\n"
                         "    for name in (sonde completion columns $words[2..-2] 2>/dev/null)\n"
                         "        echo \"$list$name\"\n"
                         "    end\n"
                         "end\n"
                         "complete -c sonde -f\n"
                         "complete -c sonde -n __fish_use_subcommand -k -a '(__fish_complete_suffix .py)'\n"
                         "complete -c sonde -l help -s h -d 'show this help'\n");
    for (unsigned i = 0; i < snd_command_count; i++)
        put_command(snd_commands[i], out);
}
