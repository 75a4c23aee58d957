/* What --help prints: from the commands' lists, as wide as the terminal. */
#include "cli/core/help.h"

#include "base/text.h"
#include "base/utf8.h"
#include "os/terminal.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* In cells. Below the least width texts have lines of their own. */
enum { USUAL_WIDTH = 80, LEAST_WIDTH = 50, INDENT = 2, NARROW_INDENT = 6, NAME_WIDTH = 24, COMMAND_WIDTH = 10 };

typedef struct help {
    snd_buffer text;
    size_t width;
    int unicode;
} help;

static help
start(void)
{
    snd_terminal look = snd_terminal_look(STDOUT_FILENO);

    return (help){.width = look.width == 0 ? USUAL_WIDTH : look.width, .unicode = look.unicode};
}

static void
finish(help *self)
{
    if (self->text.failed)
        snd_complain("out of memory");
    else
        fputs(snd_buffer_str(&self->text), stdout);
    snd_buffer_free(&self->text);
}

/* Words, as many as fit into each line, from cell `used` on; further lines begin at `indent`. Ends the line. */
static void
put_words(help *self, const char *text, size_t used, size_t indent)
{
    int is_first = 1;

    for (const char *word = text; *word != '\0';) {
        size_t len = strcspn(word, " ");
        char copy[256];
        snprintf(copy, sizeof copy, "%.*s", (int)len, word);
        size_t cells = snd_utf8_width(copy);
        if (!is_first && used + 1 + cells > self->width) {
            snd_buffer_char(&self->text, '\n');
            snd_buffer_repeat(&self->text, ' ', indent);
            used = indent;
            is_first = 1;
        }
        if (!is_first)
            snd_buffer_char(&self->text, ' ');
        snd_buffer_put(&self->text, word, len);
        used += cells + !is_first;
        is_first = 0;
        word += len;
        word += *word == ' ';
    }
    snd_buffer_char(&self->text, '\n');
}

/* The text as this terminal shows it, which may be longer than it was. The caller frees it. */
static snd_buffer
shown(const help *self, const char *text)
{
    snd_buffer copy = {0};

    snd_buffer_text(&copy, text);
    if (!self->unicode)
        snd_text_plain(&copy, 0);
    return copy;
}

static void
put_text(help *self, const char *text, size_t indent)
{
    snd_buffer copy = shown(self, text);

    put_words(self, snd_buffer_str(&copy), 0, indent);
    self->text.failed |= copy.failed;
    snd_buffer_free(&copy);
}

/* A name, and what it means beside it; below it where the name, or both, would be too long. */
static void
put_pair(help *self, const char *name, const char *about, size_t name_width)
{
    snd_buffer left = shown(self, name), right = shown(self, about);
    size_t cells = snd_utf8_width(snd_buffer_str(&left));
    size_t indent = self->width < LEAST_WIDTH ? NARROW_INDENT : INDENT + name_width + 1;

    snd_buffer_repeat(&self->text, ' ', INDENT);
    snd_buffer_text(&self->text, snd_buffer_str(&left));
    if (INDENT + cells + 1 > indent) {
        snd_buffer_char(&self->text, '\n');
        snd_buffer_repeat(&self->text, ' ', indent);
    }
    else
        snd_buffer_repeat(&self->text, ' ', indent - INDENT - cells);
    put_words(self, snd_buffer_str(&right), indent, indent);
    self->text.failed |= left.failed || right.failed;
    snd_buffer_free(&left);
    snd_buffer_free(&right);
}

/* ---- a command's options ---- */

static void
put_option(help *self, const snd_setting *option)
{
    char letter[] = {'-', option->letter, ',', ' ', '\0'};
    char name[128];

    snprintf(name, sizeof name, "%s--%s%s%s", option->letter == 0 ? "" : letter, option->name,
             option->value == NULL ? "" : " ", option->value == NULL ? "" : option->value);
    put_pair(self, name, option->about, NAME_WIDTH);
}

static int
is_of_group(const snd_setting *option, const char *group)
{
    if (option->about == NULL)
        return 0;
    return group == NULL || option->group == NULL ? group == option->group : strcmp(group, option->group) == 0;
}

static void
put_group(help *self, const snd_command *command, const char *group)
{
    const snd_setting *option;

    snd_buffer_printf(&self->text, "\n%s:\n", group == NULL ? "options" : group);
    for (int i = 0; (option = snd_option_at(command, i)) != NULL; i++)
        if (is_of_group(option, group))
            put_option(self, option);
    if (group == NULL)
        put_pair(self, "-h, --help", "show this help", NAME_WIDTH);
    if (group == NULL && (command->settings & SND_OF_RUN) != 0)
        put_pair(self, "--help-scalene", "show the Scalene options that work here", NAME_WIDTH);
}

/* Whether an option before this one is of its group. */
static int
is_group_known(const snd_command *command, int place)
{
    const char *group = snd_option_at(command, place)->group;

    for (int i = 0; i < place; i++)
        if (is_of_group(snd_option_at(command, i), group))
            return 1;
    return 0;
}

/* A command line may be wider than the terminal: it is there to be copied. */
static void
put_example(help *self, const snd_example *example)
{
    snd_buffer line = shown(self, example->line), about = shown(self, example->about);

    snd_buffer_printf(&self->text, "  %s\n      ", snd_buffer_str(&line));
    put_words(self, snd_buffer_str(&about), NARROW_INDENT, NARROW_INDENT);
    self->text.failed |= line.failed || about.failed;
    snd_buffer_free(&line);
    snd_buffer_free(&about);
}

void
snd_help_print_command(const snd_command *command)
{
    help self = start();
    const snd_setting *option;
    char usage[256];

    put_text(&self, command->about, 0);
    snprintf(usage, sizeof usage, "usage: sonde %s%s%s", command->name, *command->usage == '\0' ? "" : " ",
             command->usage);
    snd_buffer_char(&self.text, '\n');
    put_text(&self, usage, strlen("usage: sonde ") + strlen(command->name) + 1);
    put_group(&self, command, NULL);
    for (int i = 0; (option = snd_option_at(command, i)) != NULL; i++)
        if (option->group != NULL && option->about != NULL && !is_group_known(command, i))
            put_group(&self, command, option->group);
    snd_buffer_text(&self.text, "\nexamples:\n");
    for (size_t i = 0; i < SND_EXAMPLE_COUNT; i++)
        put_example(&self, &command->examples[i]);
    finish(&self);
}

void
snd_help_print_aliases(void)
{
    help self = start();
    char name[128];

    put_text(&self, "Scalene options that sonde run accepts, and what they mean here", 0);
    snd_buffer_char(&self.text, '\n');
    for (const snd_alias *alias = snd_scalene_table; alias->name != NULL; alias++) {
        char about[256];
        snprintf(name, sizeof name, "--%s%s%s", alias->name, alias->value == NULL ? "" : " ",
                 alias->value == NULL ? "" : alias->value);
        snprintf(about, sizeof about, "%s%s", alias->kind == SND_ALIAS_NONE ? "no effect: " : "", alias->about);
        put_pair(&self, name, about, NAME_WIDTH);
    }
    put_pair(&self, "---", "what follows goes to the program", NAME_WIDTH);
    snd_buffer_char(&self.text, '\n');
    put_text(&self, "--memory, --html and --cli are options of sonde itself: see sonde run --help", 0);
    finish(&self);
}

void
snd_help_print(const snd_command *const *commands, unsigned count)
{
    help self = start();

    put_text(&self, "sonde: one profiler for Python programs", 0);
    snd_buffer_char(&self.text, '\n');
    put_text(&self, "usage: sonde COMMAND … or sonde prog.py …", 0);
    snd_buffer_text(&self.text, "\ncommands:\n");
    for (unsigned i = 0; i < count; i++)
        put_pair(&self, commands[i]->name, commands[i]->about, COMMAND_WIDTH);
    snd_buffer_text(&self.text, "\noptions:\n");
    put_pair(&self, "--help", "show this help; 'sonde COMMAND --help' shows more", COMMAND_WIDTH);
    put_pair(&self, "--version", "show the version, the commit it was built from and its features", COMMAND_WIDTH);
    snd_buffer_text(&self.text, "\nexamples:\n");
    put_example(&self, &(snd_example){"sonde run prog.py",
                                      "run a program and show where its time goes; in short: sonde prog.py"});
    put_example(&self, &(snd_example){"sonde view run.sonde --lines", "show a recording line by line"});
    snd_buffer_char(&self.text, '\n');
    put_text(&self, "To measure regions, add to your program:", 0);
    snd_buffer_text(&self.text, "  import sonde; sonde.install(recording=\"run.sonde\")\n");
    finish(&self);
}
