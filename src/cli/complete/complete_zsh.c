/* Completion for zsh. */
#include "cli/complete/complete.h"

#include "cli/commands.h"

#include <string.h>

/* What zsh would take apart inside an option's description. */
#define SPECIAL "[]:'\\`$\""

static void
put_action(const snd_setting *option, snd_buffer *out)
{
    const char *choices = option->choices == NULL ? "" : option->choices;

    snd_buffer_char(out, ':');
    snd_put_plain(out, option->value, SPECIAL);
    if (strcmp(choices, SND_CHOICES_COLUMNS) == 0)
        snd_buffer_text(out, ":_sonde_columns");
    else if (strcmp(choices, SND_CHOICES_FILE) == 0)
        snd_buffer_text(out, ":_files");
    else if (*choices == '\0')
        snd_buffer_text(out, ": ");
    else
        snd_buffer_printf(out, ":(%s)", choices);
}

static void
put_option(const snd_setting *option, snd_buffer *out)
{
    if (option->letter != 0)
        snd_buffer_printf(out, " \\\n        '(-%c --%s)'{-%c%s,--%s%s}'[", option->letter, option->name,
                          option->letter, option->value == NULL ? "" : "+", option->name,
                          option->value == NULL ? "" : "=");
    else
        snd_buffer_printf(out, " \\\n        '--%s%s[", option->name, option->value == NULL ? "" : "=");
    snd_put_plain(out, option->about, SPECIAL);
    snd_buffer_char(out, ']');
    if (option->value != NULL)
        put_action(option, out);
    snd_buffer_char(out, '\'');
}

static void
put_command(const snd_command *command, snd_buffer *out)
{
    static const char *const words[] = {
        [SND_WORD_NOTHING] = "",
        [SND_WORD_RECORDING] = " \\\n        '*:recording:_files -g \"*.sonde(-.)\"'",
        [SND_WORD_PROGRAM] = " \\\n        '(-)1:program:_files' '*::argument:_files'",
        [SND_WORD_FILE] = " \\\n        '*:file:_files'",
        [SND_WORD_SHELL] = " \\\n        '1:shell:(bash zsh fish man)'",
    };
    const snd_setting *option;

    snd_buffer_printf(out, "    %s) _arguments -s -S '(- *)'{-h,--help}'[show this help]'", command->name);
    for (int i = 0; (option = snd_option_at(command, i)) != NULL; i++)
        if (snd_option_is_shown(command, i))
            put_option(option, out);
    snd_buffer_printf(out, "%s ;;\n", words[snd_word_kind_of(command)]);
}

void
snd_complete_zsh(snd_buffer *out)
{
    snd_buffer_text(out, "#compdef sonde\n# Completion of sonde for zsh, written by 'sonde completion zsh'.\n"
                         "_sonde_columns() {\n"
                         "    local -a columns\n"
                         "    columns=(${(f)\"$(sonde completion columns ${sonde_words[1,-3]} 2>/dev/null)\"})\n"
                         "    _values -s , column $columns\n"
                         "}\n"
                         "_sonde() {\n    local -a commands sonde_words\n    commands=(\n");
    for (unsigned i = 0; i < snd_command_count; i++) {
        snd_buffer_printf(out, "        '%s:", snd_commands[i]->name);
        snd_put_plain(out, snd_commands[i]->about, SPECIAL);
        snd_buffer_text(out, "'\n");
    }
    snd_buffer_text(out, "    )\n"
                         "    if (( CURRENT == 2 )); then\n"
                         "        _describe -t commands command commands\n"
                         "        _files -g '*.py'\n"
                         "        return\n"
                         "    fi\n"
                         "    shift words\n"
                         "    (( CURRENT-- ))\n"
                         "    sonde_words=(${words[1,CURRENT]})\n"
                         "    case $words[1] in\n");
    for (unsigned i = 0; i < snd_command_count; i++)
        put_command(snd_commands[i], out);
    snd_buffer_text(out, "    esac\n}\n"
                         "if [ \"$funcstack[1]\" = _sonde ]; then _sonde \"$@\"; else compdef _sonde sonde; fi\n");
}
