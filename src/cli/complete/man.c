/* Man pages, a command each. */
#include "base/text.h"
#include "cli/commands.h"
#include "cli/complete/complete.h"

#include <ctype.h>
#include <string.h>

/* Text that roff prints as it is: every line of ours begins with a letter or a request. */
static void
put_text(snd_buffer *out, const char *text)
{
    snd_buffer plain = {0};

    snd_put_plain(&plain, text, "");
    for (const char *at = snd_buffer_str(&plain); *at != '\0'; at++) {
        if (at == snd_buffer_str(&plain) && (*at == '.' || *at == '\''))
            snd_buffer_text(out, "\\&");
        if (*at == '\\')
            snd_buffer_text(out, "\\e");
        else if (*at == '-')
            snd_buffer_text(out, "\\-");
        else
            snd_buffer_char(out, *at);
    }
    out->failed |= plain.failed;
    snd_buffer_free(&plain);
}

static void
put_line(snd_buffer *out, const char *request, const char *text)
{
    snd_buffer_text(out, request);
    put_text(out, text);
    snd_buffer_char(out, '\n');
}

static void
put_head(const snd_command *command, snd_buffer *out)
{
    snd_buffer_text(out, ".TH SONDE");
    if (command != NULL) {
        snd_buffer_char(out, '-');
        for (const char *at = command->name; *at != '\0'; at++)
            snd_buffer_char(out, (char)toupper((unsigned char)*at));
    }
    snd_buffer_printf(out, " 1 \"\" \"sonde %s\"\n.SH NAME\nsonde%s%s \\- ", SND_VERSION, command == NULL ? "" : "\\-",
                      command == NULL ? "" : command->name);
    put_text(out, command == NULL ? "one profiler for Python programs" : command->about);
    snd_buffer_text(out, "\n.SH SYNOPSIS\n.B sonde");
    snd_buffer_printf(out, "%s%s\n", command == NULL ? "" : " ", command == NULL ? "" : command->name);
    put_text(out, command == NULL ? "COMMAND [options] [FILE ...]" : command->usage);
    snd_buffer_char(out, '\n');
}

static void
put_option(const snd_setting *option, snd_buffer *out)
{
    snd_buffer_text(out, ".TP\n\\fB");
    if (option->letter != 0)
        snd_buffer_printf(out, "\\-%c\\fR, \\fB", option->letter);
    snd_buffer_text(out, "\\-\\-");
    put_text(out, option->name);
    snd_buffer_text(out, "\\fR");
    if (option->value != NULL) {
        snd_buffer_text(out, " \\fI");
        put_text(out, option->value);
        snd_buffer_text(out, "\\fR");
    }
    put_line(out, "\n", option->about);
}

/* The first place of a group, so that each is written once. */
static int
is_first_of_group(const snd_command *command, int place)
{
    const char *group = snd_option_at(command, place)->group;

    for (int i = 0; i < place; i++) {
        const char *other = snd_option_at(command, i)->group;
        if (group != NULL && other != NULL && strcmp(group, other) == 0)
            return 0;
    }
    return group != NULL;
}

static void
put_group(const snd_command *command, const char *group, snd_buffer *out)
{
    const snd_setting *option;

    for (int i = 0; (option = snd_option_at(command, i)) != NULL; i++) {
        int is_same =
            group == NULL || option->group == NULL ? group == option->group : strcmp(group, option->group) == 0;
        if (is_same && snd_option_is_shown(command, i))
            put_option(option, out);
    }
}

static void
put_command(const snd_command *command, snd_buffer *out)
{
    const snd_setting *option;

    snd_buffer_text(out, ".SH OPTIONS\n");
    put_group(command, NULL, out);
    snd_buffer_text(out, ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nshow a help text\n");
    if ((command->settings & SND_OF_RUN) != 0)
        snd_buffer_text(out, ".TP\n\\fB\\-\\-help\\-scalene\\fR\nshow the Scalene options that work here\n");
    for (int i = 0; (option = snd_option_at(command, i)) != NULL; i++)
        if (is_first_of_group(command, i)) {
            put_line(out, ".SS ", option->group);
            put_group(command, option->group, out);
        }
    snd_buffer_text(out, ".SH EXAMPLES\n");
    for (size_t i = 0; i < SND_EXAMPLE_COUNT; i++) {
        put_line(out, ".TP\n.B ", command->examples[i].line);
        put_line(out, "", command->examples[i].about);
    }
    snd_buffer_text(out, ".SH SEE ALSO\n.BR sonde (1)\n");
}

void
snd_man_write(const snd_command *command, snd_buffer *out)
{
    put_head(command, out);
    if (command != NULL) {
        put_command(command, out);
        return;
    }
    snd_buffer_text(out, ".SH COMMANDS\n");
    for (unsigned i = 0; i < snd_command_count; i++) {
        snd_buffer_printf(out, ".TP\n\\fBsonde\\-%s\\fR(1)\n", snd_commands[i]->name);
        put_line(out, "", snd_commands[i]->about);
    }
}
