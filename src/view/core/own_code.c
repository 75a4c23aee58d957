/* The program's own files. */
#include "view/core/own_code.h"

#include "base/text.h"

#include <fnmatch.h>
#include <string.h>

/* Longer patterns than this match nothing. */
#define PATTERN_SIZE 1024u

static const char *const library_folders[] = {"/site-packages/", "/dist-packages/"};

static int
starts_with(const char *text, const char *start, size_t len)
{
    return len != 0 && strncmp(text, start, len) == 0;
}

/* Behind "/lib/python3.N/", or NULL. */
static const char *
behind_standard_library(const char *path)
{
    static const char folder[] = "/lib/python3.";

    for (const char *at = strstr(path, folder); at != NULL; at = strstr(at + 1, folder)) {
        const char *digits = at + strlen(folder);
        size_t len = strspn(digits, "0123456789");
        if (len != 0 && digits[len] == '/')
            return digits + len + 1;
    }
    return NULL;
}

/* Behind the last folder of libraries in the path, as they are usually called; NULL: there is none. */
static const char *
behind_usual_folder(const char *path)
{
    const char *behind = behind_standard_library(path);

    for (size_t i = 0; i < sizeof library_folders / sizeof library_folders[0]; i++) {
        const char *at = strstr(path, library_folders[i]);
        if (at != NULL && at + strlen(library_folders[i]) > (behind == NULL ? path : behind))
            behind = at + strlen(library_folders[i]);
    }
    return behind;
}

/* Behind the longest folder of the recording's that the file is in, or the name of a file that it names; NULL: neither.
 */
static const char *
behind_library_path(const snd_own *self, const char *file)
{
    size_t longest = 0;

    for (const char *line = self->library_paths; *line != '\0';) {
        size_t len = strcspn(line, "\n"), folder = len;
        while (folder > 0 && line[folder - 1] == '/')
            folder--;
        if (starts_with(file, line, folder) && file[folder] == '\0')
            return snd_path_base(file);
        if (folder > longest && starts_with(file, line, folder) && file[folder] == '/')
            longest = folder;
        line += len + (line[len] == '\n');
    }
    return longest == 0 ? NULL : file + longest + 1;
}

static const char *
behind_library(const snd_own *self, const char *file)
{
    const char *known = behind_library_path(self, file);
    const char *usual = behind_usual_folder(file);

    return usual == NULL || (known != NULL && known > usual) ? known : usual;
}

/* A program that is installed is named as the libraries are. */
static size_t
folder_length(const snd_own *self)
{
    return behind_library(self, self->program) != NULL ? 0 : (size_t)(snd_path_base(self->program) - self->program);
}

static int
is_like(const char *pattern, const char *file)
{
    return fnmatch(pattern, file, 0) == 0 || fnmatch(pattern, snd_path_base(file), 0) == 0;
}

/* Whether one of the patterns is like the whole path or the file's name, or none of those that begin with '!'. */
static int
matches(const char *patterns, const char *file)
{
    char pattern[PATTERN_SIZE];
    int has_others = 0, is_other = 1;

    while (patterns != NULL && *patterns != '\0') {
        size_t len = strcspn(patterns, ",");
        if (len != 0 && len < sizeof pattern) {
            memcpy(pattern, patterns, len);
            pattern[len] = '\0';
            if (pattern[0] == '!') {
                has_others = 1;
                is_other &= !is_like(pattern + 1, file);
            }
            else if (is_like(pattern, file))
                return 1;
        }
        patterns += len + (patterns[len] == ',');
    }
    return has_others && is_other;
}

static const char *
text_or_empty(const char *text)
{
    return text == NULL ? "" : text;
}

void
snd_own_rules(snd_own *self, const snd_profile *profile, const snd_view_options *options)
{
    int is_asked = options->include != NULL || options->exclude != NULL;

    *self = (snd_own){
        .all_code = options->all_code || (!is_asked && snd_profile_info_number(profile, "all_code") != 0),
        .include = is_asked ? options->include : snd_profile_info(profile, "include"),
        .exclude = is_asked ? options->exclude : snd_profile_info(profile, "exclude"),
        .library_paths = text_or_empty(snd_profile_info(profile, "library_paths")),
        .program = text_or_empty(snd_profile_info(profile, "program_path")),
        .working = text_or_empty(snd_profile_info(profile, "working_directory")),
    };
    self->folder_len = folder_length(self);
}

/* Code without a file (a text, a cell) may be all there is of a program; of one that is a file, libraries made it. */
static int
stands_for_program(const snd_own *self, const char *file)
{
    return (file[0] != '<' || *self->program == '\0') && snd_own_has(self, file);
}

void
snd_own_start(snd_own *self, const snd_profile *profile, const snd_view_options *options)
{
    const char *last = NULL;

    snd_own_rules(self, profile, options);
    for (uint32_t i = 0; i < profile->site_count && !self->all_code; i++) {
        const snd_profile_site *site = &profile->sites[i];
        if (site->kind != SND_SITE_LINE || site->file == last)
            continue;
        last = site->file; /* texts are interned: lines of one file come in runs */
        if (stands_for_program(self, last))
            return;
    }
    self->has_none = last != NULL;
    self->all_code |= self->has_none;
}

int
snd_own_has(const snd_own *self, const char *file)
{
    if (matches(self->exclude, file))
        return 0;
    if (self->all_code || matches(self->include, file))
        return 1;
    if (*file == '\0' || strncmp(file, "<frozen", strlen("<frozen")) == 0)
        return 0;
    return behind_library(self, file) == NULL;
}

const char *
snd_own_key(const snd_own *self, const char *file)
{
    const char *behind = behind_library(self, file);

    if (starts_with(file, self->program, self->folder_len) && (behind == NULL || behind <= file + self->folder_len))
        behind = file + self->folder_len;
    return behind == NULL || *behind == '\0' ? file : behind;
}

const char *
snd_own_name(const snd_own *self, const char *file)
{
    const char *key = snd_own_key(self, file);
    size_t len = strlen(self->working);

    if (len < 2 || !starts_with(file, self->working, len) || file[len] != '/' || file[len + 1] == '\0')
        return key;
    const char *behind = behind_library(self, file);
    return behind == NULL || (size_t)(behind - file) <= len ? file + len + 1 : key;
}

void
snd_own_package(const snd_own *self, const char *file, char *package, size_t size)
{
    static const char frozen[] = "<frozen ";
    const char *name = behind_library(self, file) == NULL ? snd_path_base(file) : snd_own_key(self, file);
    if (strncmp(file, frozen, strlen(frozen)) == 0)
        name = file + strlen(frozen);
    size_t len = strcspn(name, "/>");

    if (name[len] != '/') { /* a module or a shared library of its own */
        size_t dot = strcspn(name, ".");
        if (dot != 0 && dot < len)
            len = dot;
    }
    if (len >= size)
        len = size - 1;
    memcpy(package, name, len);
    package[len] = '\0';
}
