/* Completion for bash. */
#include "cli/complete/complete.h"

#include "cli/commands.h"

#include <string.h>

static void
put_names(const snd_command *command, snd_buffer *out)
{
    const snd_setting *option;

    snd_buffer_text(out, "--help");
    for (int i = 0; (option = snd_option_at(command, i)) != NULL; i++)
        if (snd_option_is_shown(command, i))
            snd_buffer_printf(out, " --%s", option->name);
}

/* "view:--sort|view:-s)" and what to offer behind it. */
static void
put_values(const snd_command *command, const snd_setting *option, snd_buffer *out)
{
    const char *choices = option->choices == NULL ? "" : option->choices;

    snd_buffer_printf(out, "    %s:--%s", command->name, option->name);
    if (option->letter != 0)
        snd_buffer_printf(out, "|%s:-%c", command->name, option->letter);
    if (strcmp(choices, SND_CHOICES_COLUMNS) == 0)
        snd_buffer_text(out, ") _sonde_columns ;;\n");
    else if (strcmp(choices, SND_CHOICES_FILE) == 0)
        snd_buffer_text(out, ") _sonde_files '*' ;;\n");
    else
        snd_buffer_printf(out, ") _sonde_words '%s' ;;\n", choices);
}

static void
put_command(const snd_command *command, snd_buffer *out)
{
    static const char *const files[] = {
        [SND_WORD_NOTHING] = ":",
        [SND_WORD_RECORDING] = "_sonde_files '*.sonde'",
        [SND_WORD_PROGRAM] = "_sonde_files '*'",
        [SND_WORD_FILE] = "_sonde_files '*'",
        [SND_WORD_SHELL] = "_sonde_words 'bash zsh fish man'",
    };

    snd_buffer_printf(out, "    %s:*) if [[ $cur == -* ]]; then _sonde_words '", command->name);
    put_names(command, out);
    snd_buffer_printf(out, "'; else %s; fi ;;\n", files[snd_word_kind_of(command)]);
}

static const char head[] =
    "# Completion of sonde for bash, written by 'sonde completion bash'.\n"
    "_sonde_words() { mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\"); }\n"
    "_sonde_files() {\n"
    "    compopt -o filenames\n"
    "    mapfile -t COMPREPLY < <(compgen -d -- \"$cur\"; compgen -f -X \"!$1\" -- \"$cur\" | while read -r file; do\n"
    "        [[ -d $file ]] || printf '%s\\n' \"$file\"; done)\n"
    "}\n"
    "_sonde_columns() {\n"
    "    local list= last=${cur##*,}\n"
    "    [[ $cur == *,* ]] && list=${cur%,*},\n"
    "    local names\n"
    "    names=$(\"${COMP_WORDS[0]}\" completion columns \"${COMP_WORDS[@]:1:at-1}\" 2>/dev/null)\n"
    "    mapfile -t COMPREPLY < <(compgen -P \"$list\" -W \"$names\" -- \"$last\")\n"
    "    compopt -o nospace\n"
    "}\n"
    "_sonde() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} at=$((COMP_CWORD - 1))\n"
    "    COMPREPLY=()\n"
    "    if [[ $cur == = ]]; then cur=; elif [[ ${COMP_WORDS[at]} == = ]]; then at=$((at - 1)); fi\n"
    "    if ((COMP_CWORD == 1)); then\n";

void
snd_complete_bash(snd_buffer *out)
{
    const snd_setting *option;

    snd_buffer_text(out, head);
    snd_buffer_text(out,
                    "        _sonde_files '*.py'\n        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W '");
    for (unsigned i = 0; i < snd_command_count; i++)
        snd_buffer_printf(out, "%s ", snd_commands[i]->name);
    snd_buffer_text(out, "--help --version' -- \"$cur\")\n        return\n    fi\n"
                         "    case $command:${COMP_WORDS[at]} in\n");
    for (unsigned c = 0; c < snd_command_count; c++) {
        for (int i = 0; (option = snd_option_at(snd_commands[c], i)) != NULL; i++)
            if (option->value != NULL && snd_option_is_shown(snd_commands[c], i))
                put_values(snd_commands[c], option, out);
    }
    for (unsigned c = 0; c < snd_command_count; c++)
        put_command(snd_commands[c], out);
    snd_buffer_text(out, "    esac\n}\ncomplete -F _sonde sonde\n");
}
