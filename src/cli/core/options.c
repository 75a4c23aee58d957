/* The words of a command line. */
#include "cli/core/options.h"

#include "base/text.h"
#include "cli/core/progress.h"
#include "os/terminal.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
print(FILE *file, int descriptor, const char *format, va_list args)
{
    snd_buffer text = {0};
    va_list again;

    va_copy(again, args);
    snd_buffer_vprintf(&text, format, args);
    if (!snd_terminal_look(descriptor).unicode)
        snd_text_plain(&text, 0);
    if (text.failed) /* it may be out of memory, or of time, that we complain */
        vfprintf(file, format, again);
    else
        fputs(snd_buffer_str(&text), file);
    va_end(again);
    snd_buffer_free(&text);
}

void
snd_say(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print(stdout, STDOUT_FILENO, format, args);
    va_end(args);
}

int
snd_complain(const char *format, ...)
{
    va_list args;

    snd_progress_stop();
    fputs("sonde: ", stderr);
    va_start(args, format);
    print(stderr, STDERR_FILENO, format, args);
    va_end(args);
    fputc('\n', stderr);
    return SND_EXIT_USAGE;
}

/* Letters to insert, remove, replace, or exchange with their neighbour. Long words are as far apart as their first 63
 * letters. */
static unsigned
distance(const char *a, const char *b)
{
    enum { SIZE = 64 };
    unsigned rows[3][SIZE], width = (unsigned)strnlen(b, SIZE - 1), height = (unsigned)strnlen(a, SIZE - 1);

    for (unsigned j = 0; j <= width; j++)
        rows[0][j] = j;
    for (unsigned i = 1; i <= height; i++) {
        unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3], *above_that = rows[(i + 1) % 3];
        row[0] = i;
        for (unsigned j = 1; j <= width; j++) {
            unsigned best = above[j - 1] + (a[i - 1] != b[j - 1]);
            best = best < above[j] + 1 ? best : above[j] + 1;
            best = best < row[j - 1] + 1 ? best : row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && above_that[j - 2] + 1 < best)
                best = above_that[j - 2] + 1;
            row[j] = best;
        }
    }
    return rows[height % 3][width];
}

/* One mistake in four letters, three at most: more, and it is another word. So is a short word with another beginning:
 * "wide" is not "hide". */
static unsigned
most_mistakes(const char *a, const char *b)
{
    size_t len = strlen(a) > strlen(b) ? strlen(a) : strlen(b);
    int begins_alike = a[0] == b[0] || (a[0] == b[1] && a[1] == b[0]);

    if (len < 8)
        return len >= 3 && begins_alike;
    return len < 12 ? 2 : 3;
}

/* The only name that begins with a word of three letters or more; NULL: none, or several. */
static const char *
only_longer(const char *word, const char *const *names, unsigned count)
{
    const char *found = NULL;
    unsigned seen = 0;

    for (unsigned i = 0; i < count && strlen(word) >= 3; i++)
        if (strncmp(word, names[i], strlen(word)) == 0) {
            found = names[i];
            seen++;
        }
    return seen == 1 ? found : NULL;
}

/* The name among `count` that `word` is a slip of the fingers away from, or the only one that it is the beginning of.
 * NULL when there is none: a wrong guess is worse. */
static const char *
nearest_name(const char *word, const char *const *names, unsigned count)
{
    const char *best = NULL;
    unsigned least = UINT_MAX;

    for (unsigned i = 0; i < count; i++) {
        unsigned mistakes = distance(word, names[i]);
        if (mistakes <= most_mistakes(word, names[i]) && mistakes < least) {
            least = mistakes;
            best = names[i];
        }
    }
    return best == NULL ? only_longer(word, names, count) : best;
}

int
snd_complain_unknown(const char *what, const char *word, const char *const *names, unsigned count)
{
    const char *nearest = nearest_name(word, names, count);

    if (nearest != NULL)
        return snd_complain("unknown %s '%s'; did you mean '%s'?", what, word, nearest);
    fprintf(stderr, "sonde: unknown %s '%s'; choose from ", what, word);
    for (unsigned i = 0; i < count; i++)
        fprintf(stderr, "%s%s", i == 0 ? "" : ", ", names[i]);
    fputc('\n', stderr);
    return SND_EXIT_USAGE;
}

int
snd_setting_count(const snd_command *command)
{
    int count = 0;

    for (const snd_setting *setting = snd_setting_table; setting->name != NULL; setting++)
        count += (setting->of & command->settings) != 0;
    return count;
}

const snd_setting *
snd_option_at(const snd_command *command, int place)
{
    for (const snd_setting *setting = snd_setting_table; setting->name != NULL; setting++)
        if ((setting->of & command->settings) != 0 && place-- == 0)
            return setting;
    return command->options[place].name == NULL ? NULL : &command->options[place];
}

static int
complain_option(const snd_command *command, const char *word)
{
    const char *names[SND_OPTION_LIMIT + 1];
    const snd_setting *option;
    unsigned count = 0;

    for (int i = 0; (option = snd_option_at(command, i)) != NULL; i++)
        if (option->about != NULL)
            names[count++] = option->name;
    names[count++] = "help";
    char name[64];
    const char *bare = word + strspn(word, "-");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(bare, "="), bare);
    const char *nearest = nearest_name(name, names, count);
    if (nearest != NULL)
        snd_complain("%s has no option '%s'; did you mean '--%s'?", command->name, word, nearest);
    else
        snd_complain("%s has no option '%s'; 'sonde %s --help' lists them", command->name, word, command->name);
    return 0;
}

/* Its place, or -1 for an unknown one. `*value` is what stands behind '=' or, after a letter, right behind it; NULL:
 * nothing. */
static int
find_option(const snd_command *command, const char *word, const snd_setting **out, const char **value)
{
    int is_long = word[1] == '-';
    const char *name = word + 1 + is_long;
    size_t len = is_long ? strcspn(name, "=") : 1;

    *value = name[len] == '\0' ? NULL : name + len + is_long;
    for (int i = 0; (*out = snd_option_at(command, i)) != NULL; i++)
        if (is_long ? strncmp((*out)->name, name, len) == 0 && (*out)->name[len] == '\0' : (*out)->letter == name[0])
            return i;
    return -1;
}

static int
is_program(const snd_command *command, char letter)
{
    return command->takes_program != NULL && letter != '\0' && strchr(command->takes_program, letter) != NULL;
}

/* The option at `*at`, with its value behind it, is another profiler's. 1: it was taken; 0: it is unknown; -1: after
 * printing one line. */
static int
take_alias(int argc, char **argv, int *at, snd_arguments *given)
{
    const snd_alias *alias = snd_alias_find(given->command, argv[*at]);
    const char *value = strchr(argv[*at], '=');

    if (alias == NULL || (alias->value == NULL && value != NULL))
        return 0;
    if (alias->value != NULL && value == NULL && *at + 1 == argc) {
        snd_complain("%s: option '%s' needs %s", given->command->name, argv[*at], alias->value);
        return -1;
    }
    if (value != NULL)
        value++;
    else
        value = alias->value == NULL ? "" : argv[++*at];
    return snd_alias_take(alias, value, given) ? 1 : -1;
}

/* Scalene's mark before the arguments of the program: before the program, or right behind it. */
static int
is_mark(const snd_arguments *given, const char *word, int is_seen)
{
    return !is_seen && (given->command->settings & SND_OF_RUN) != 0 && !given->after_dashes && given->word_count <= 1 &&
           strcmp(word, "---") == 0;
}

int
snd_arguments_parse(const snd_command *command, int argc, char **argv, snd_arguments *given)
{
    int words_only = 0, is_seen = 0;

    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        const char *value;
        const snd_setting *option;
        if (is_mark(given, word, is_seen)) {
            words_only = is_seen = 1;
            continue;
        }
        if (words_only || word[0] != '-' || word[1] == '\0') {
            given->words[given->word_count++] = word;
            words_only |= command->takes_program != NULL;
            continue;
        }
        if (strcmp(word, "--") == 0) {
            words_only = 1;
            given->after_dashes = given->word_count == 0;
            continue;
        }
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            given->wants_help = 1;
            return 1;
        }
        if (strcmp(word, "--help-scalene") == 0 && (command->settings & SND_OF_RUN) != 0) {
            given->wants_help = given->wants_aliases = 1;
            return 1;
        }
        int place = find_option(command, word, &option, &value);
        if (place < 0) {
            int taken = take_alias(argc, argv, &i, given);
            if (taken > 0)
                continue;
            return taken < 0 ? 0 : complain_option(command, word);
        }
        if (option->value == NULL && value != NULL)
            return complain_option(command, word);
        if (option->value != NULL && value == NULL) {
            if (i + 1 == argc) {
                snd_complain("%s: option '%s' needs %s", command->name, word, option->value);
                return 0;
            }
            value = argv[++i];
        }
        given->values[place] = value == NULL ? "" : value;
        given->all[given->all_count++] = (snd_given){place, given->values[place]};
        words_only |= is_program(command, option->letter);
    }
    given->words[given->word_count] = NULL;
    return 1;
}

/* NULL: the command has no such option. */
static const snd_setting *
named(const snd_command *command, const char *name, int *place)
{
    const snd_setting *option;

    for (*place = 0; (option = snd_option_at(command, *place)) != NULL; ++*place)
        if (strcmp(option->name, name) == 0)
            return option;
    return NULL;
}

const char *
snd_arguments_value(const snd_arguments *given, const char *name)
{
    int place;

    return named(given->command, name, &place) == NULL ? NULL : given->values[place];
}

int
snd_arguments_count(const snd_arguments *given, const char *name, uint64_t *number)
{
    int place;
    const snd_setting *option = named(given->command, name, &place);
    const char *text = option == NULL ? NULL : given->values[place];
    char *end;

    if (text == NULL)
        return 1;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10), least = option->least, most = option->most;
    if (*text >= '0' && *text <= '9' && *end == '\0' && errno == 0 && value >= least && value <= most) {
        *number = value;
        return 1;
    }
    if (most >= UINT32_MAX && least == 0)
        snd_complain("--%s takes a whole number, not '%s'", name, text);
    else
        snd_complain("--%s takes a whole number from %llu to %llu, not '%s'", name, least, most, text);
    return 0;
}

int
snd_arguments_percent(const snd_arguments *given, const char *name, double *percent)
{
    const char *text = snd_arguments_value(given, name);
    char *end;

    if (text == NULL)
        return 1;
    size_t digits = strspn(text, "0123456789.");
    double value = strtod(text, &end);
    if (digits == 0 || end != text + digits || !isfinite(value) || strcmp(*end == '%' ? end + 1 : end, "") != 0) {
        snd_complain("--%s takes a percentage such as 10%%, not '%s'", name, text);
        return 0;
    }
    *percent = value;
    return 1;
}

const char *
snd_arguments_next(const snd_arguments *given, const char *name, int *at)
{
    int place;

    (void)named(given->command, name, &place);
    while (*at < given->all_count) {
        const snd_given *one = &given->all[(*at)++];
        if (one->option == place)
            return one->value;
    }
    return NULL;
}
