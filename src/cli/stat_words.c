/* sonde stat: a command that is given as one text. */
#include "cli/stat.h"

#include "base/alloc.h"

#include <string.h>

/* What has a meaning to a shell outside of quotes, besides blanks and the quotes themselves. */
#define SPECIAL "|&;<>()$`\\*?[]#~{}!\n"

/* Whether a text is words and quotes only, so that no shell is needed to know what it means. */
static int
is_plain(const char *line)
{
    const char *at = line + strspn(line, " \t");
    const char *first = at;

    for (; *at != '\0'; at++) {
        if (*at == '\'' || *at == '"') {
            const char *end = strchr(at + 1, *at);
            size_t quoted = end == NULL ? 0 : (size_t)(end - at - 1);
            if (end == NULL || (*at == '"' && strcspn(at + 1, "$`\\!\"") != quoted))
                return 0;
            at = end;
        }
        else if (strchr(SPECIAL, *at) != NULL)
            return 0;
    }
    size_t name = strcspn(first, " \t");
    return name != 0 && memchr(first, '=', name) == NULL; /* NAME=VALUE before a command is for a shell */
}

/* Copies the word at `*at` to `*to`, without its quotes, and moves both behind it. */
static void
take_word(const char **at, char **to)
{
    char quote = '\0';

    for (; **at != '\0' && (quote != '\0' || (**at != ' ' && **at != '\t')); (*at)++) {
        if (quote != '\0' ? **at == quote : **at == '\'' || **at == '"')
            quote = quote == '\0' ? **at : '\0';
        else
            *(*to)++ = **at;
    }
    *(*to)++ = '\0';
}

/* One block: a list of so many words, and behind it room for their text. */
static const char **
make_list(size_t words, size_t text, char **to)
{
    const char **list = snd_calloc(1, words * sizeof *list + text);
    if (list != NULL)
        *to = (char *)(uintptr_t)(list + words);
    return list;
}

static const char **
split(const char *line)
{
    size_t count = 0;
    char *to;
    const char **words = make_list(strlen(line) / 2 + 3, strlen(line) + 2, &to);

    if (words == NULL)
        return NULL;
    for (const char *at = line + strspn(line, " \t"); *at != '\0'; at += strspn(at, " \t")) {
        words[count++] = to;
        take_word(&at, &to);
    }
    return words;
}

const char **
snd_stat_words(const char *line)
{
    char *text;

    if (is_plain(line))
        return split(line);
    const char **words = make_list(4, strlen(line) + 1, &text);
    if (words == NULL)
        return NULL;
    memcpy(text, line, strlen(line) + 1);
    words[0] = "/bin/sh";
    words[1] = "-c";
    words[2] = text;
    return words;
}
