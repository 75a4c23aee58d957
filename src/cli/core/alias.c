/* Words of other profilers' command lines: turned into our own options. */
#include "cli/core/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* For texts that nobody typed: two lists of patterns, a path and a number. */
enum { TEXT_SIZE = 4096 };
static char include[TEXT_SIZE], exclude[TEXT_SIZE], output[TEXT_SIZE], rate[32];

const snd_alias *
snd_alias_find(const snd_command *command, const char *word)
{
    size_t len = strcspn(word, "=");

    for (const snd_alias *alias = snd_scalene_table; (command->settings & SND_OF_RUN) && alias->name != NULL; alias++)
        if (len > 2 && strlen(alias->name) == len - 2 && strncmp(word, "--", 2) == 0 &&
            strncmp(word + 2, alias->name, len - 2) == 0)
            return alias;
    return NULL;
}

static const char **
value_of(snd_arguments *given, const char *name)
{
    int place = 0;

    while (strcmp(snd_option_at(given->command, place)->name, name) != 0)
        place++;
    return &given->values[place];
}

/* Adds to the patterns of an option, and keeps those that are there. 0: there is no room. */
static int
add_pattern(snd_arguments *given, const char *option, char list[TEXT_SIZE], const char *pattern)
{
    const char **value = value_of(given, option);
    char old[TEXT_SIZE];

    snprintf(old, sizeof old, "%s", *value == NULL ? "" : *value);
    int len = snprintf(list, TEXT_SIZE, "%s%s%s", old, *old == '\0' ? "" : ",", pattern);
    *value = list;
    return len > 0 && len < TEXT_SIZE;
}

/* Each of the names, which have commas between them. */
static int
add_names(snd_arguments *given, const char *names, int is_only)
{
    int has_room = 1;

    while (*names != '\0' && has_room) {
        int len = (int)strcspn(names, ",");
        char pattern[1024];
        snprintf(pattern, sizeof pattern, "%s*%.*s*", is_only ? "!" : "", len, names);
        if (len != 0) {
            has_room = (size_t)len + 4 < sizeof pattern && add_pattern(given, "exclude", exclude, pattern);
            if (is_only && has_room)
                has_room = add_pattern(given, "include", include, pattern + 1);
        }
        names += len;
        names += *names == ',';
    }
    return has_room;
}

/* "out.html" is the page of out.sonde. */
static void
set_output(snd_arguments *given, const char *name)
{
    static const char *const ends[] = {".html", ".json", ".txt"};
    size_t len = strlen(name);

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (len > strlen(ends[i]) && strcmp(name + len - strlen(ends[i]), ends[i]) == 0) {
            if (i == 0)
                *value_of(given, "html") = "";
            snprintf(output, sizeof output, "%.*s.sonde", (int)(len - strlen(ends[i])), name);
            name = output;
            break;
        }
    *value_of(given, "output") = name;
}

static int
set_rate(snd_arguments *given, const char *text)
{
    char *end;
    double seconds = strtod(text, &end);

    if (*text == '\0' || *end != '\0' || !(seconds > 0)) {
        snd_complain("--cpu-sampling-rate takes seconds from one sample to the next, such as 0.01, not '%s'", text);
        return 0;
    }
    snprintf(rate, sizeof rate, "%.0f", seconds < 1.0 / 20000 ? 20000 : seconds > 1 ? 1 : 1 / seconds);
    *value_of(given, "rate") = rate;
    return 1;
}

int
snd_alias_take(const snd_alias *alias, const char *value, snd_arguments *given)
{
    char folder[1024], *path;
    int has_room = 1;

    switch (alias->kind) {
    case SND_ALIAS_HOLDS:
        break;
    case SND_ALIAS_NONE:
        snd_complain("--%s has no effect: %s", alias->name, alias->about);
        break;
    case SND_ALIAS_OPTION:
        *value_of(given, alias->means) = value;
        break;
    case SND_ALIAS_OUTPUT:
        set_output(given, value);
        break;
    case SND_ALIAS_ONLY:
    case SND_ALIAS_EXCLUDE:
        has_room = add_names(given, value, alias->kind == SND_ALIAS_ONLY);
        break;
    case SND_ALIAS_FOLDER:
        path = realpath(value, NULL);
        snprintf(folder, sizeof folder, "%.1000s/*", path == NULL ? value : path);
        free(path);
        has_room = add_pattern(given, "include", include, folder);
        break;
    case SND_ALIAS_SECONDS:
        return set_rate(given, value);
    }
    if (!has_room)
        snd_complain("--%s: too many names", alias->name);
    return has_room;
}
