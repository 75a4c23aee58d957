/* Scripts on PATH, and the interpreters that their first lines name. */
#include "cli/core/program.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int
snd_path_search(const char *name, char *path, size_t size)
{
    const char *folders = strchr(name, '/') == NULL ? getenv("PATH") : NULL;
    struct stat about;

    while (folders != NULL) {
        const char *end = strchrnul(folders, ':');
        snprintf(path, size, "%.*s/%s", (int)(end - folders), folders, name);
        if (end != folders && access(path, X_OK) == 0 && stat(path, &about) == 0 && S_ISREG(about.st_mode))
            return 1;
        folders = *end == ':' ? end + 1 : NULL;
    }
    return 0;
}

int
snd_is_python(const char *word)
{
    char real[PATH_MAX];
    const char *names[] = {word, realpath(word, real)};

    for (size_t i = 0; i < 2; i++) {
        const char *base = names[i] == NULL ? "" : snd_path_base(names[i]);
        size_t len = strlen(base);
        if ((strstr(base, "python") != NULL || strstr(base, "pypy") != NULL) &&
            (len < 3 || strcmp(base + len - 3, ".py") != 0))
            return 1;
    }
    return 0;
}

/* The first line is "#!/path/python [option]" or "#!/usr/bin/env [-S] python [option]". */
static int
read_first_line(char *line, snd_script *out)
{
    char *rest = NULL, *word = strtok_r(line + strlen("#!"), " \t\r\n", &rest);

    if (word != NULL && strcmp(snd_path_base(word), "env") == 0) {
        word = strtok_r(NULL, " \t\r\n", &rest);
        if (word != NULL && strcmp(word, "-S") == 0)
            word = strtok_r(NULL, " \t\r\n", &rest);
    }
    if (word == NULL || !snd_is_python(word))
        return 0;
    snprintf(out->python, sizeof out->python, "%s", word);
    word = strtok_r(NULL, " \t\r\n", &rest);
    snprintf(out->option, sizeof out->option, "%s", word == NULL ? "" : word);
    return 1;
}

snd_script_kind
snd_script_read(const char *path, snd_script *out)
{
    char lines[2][PATH_MAX] = {"", ""};
    struct stat about;
    int is_file = stat(path, &about) == 0 && S_ISREG(about.st_mode); /* what was read of a pipe would be gone */
    FILE *file = is_file ? fopen(path, "rbe") : NULL;

    if (file != NULL) {
        if (fgets(lines[0], sizeof lines[0], file) == NULL)
            lines[0][0] = '\0';
        else if (fgets(lines[1], sizeof lines[1], file) == NULL)
            lines[1][0] = '\0';
        fclose(file);
    }
    if (strncmp(lines[0], "\177ELF", 4) == 0)
        return SND_SCRIPT_OTHER;
    if (strncmp(lines[0], "#!", 2) != 0 || strncmp(lines[1], "'''exec'", 8) == 0)
        return SND_SCRIPT_PLAIN;
    return read_first_line(lines[0], out) ? SND_SCRIPT_PYTHON : SND_SCRIPT_OTHER;
}
