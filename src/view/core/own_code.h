/* Which files are the program's own, and how files are called in tables. */
#ifndef SND_VIEW_OWN_H
#define SND_VIEW_OWN_H

#include "view/core/view.h"

/* Points into the profile and the options, which must live longer. */
typedef struct snd_own {
    int all_code;
    const char *include; /* NULL: none */
    const char *exclude;
    const char *library_paths; /* a folder, or a file, a line; "" where unknown */
    const char *program;       /* "" where unknown */
    const char *working;       /* the folder that the program was started in; "" where unknown */
    size_t folder_len;         /* of the program's folder, with its slash; 0: unknown, or one of libraries */
    int has_none;              /* nothing of the program's own was sampled, so all code counts */
} snd_own;

/* The options come before what the recording says. */
void snd_own_rules(snd_own *self, const snd_profile *profile, const snd_view_options *options);

/* The same for whoever shows the profile: where none of its code is the program's own, as with an installed tool that
 * works for itself, all of it counts. */
void snd_own_start(snd_own *self, const snd_profile *profile, const snd_view_options *options);

/* Whether a file of Python code is the program's own: outside every folder of installed packages and of the standard
 * library, however it was started, not frozen, not sonde. Patterns have the last word, and among them those that
 * exclude. */
int snd_own_has(const snd_own *self, const char *file);

/* What a file is called wherever it is shown: relative to a folder of libraries, to the folder that the program was
 * started in, or to the program's own, the first of these that it is in. Points into `file`. */
const char *snd_own_name(const snd_own *self, const char *file);

/* The same whatever folder the program was started in: what a file is known by in another recording. */
const char *snd_own_key(const snd_own *self, const char *file);

/* The package of a file: "numpy", "json", "libopenblas". Copies at most `size` - 1 bytes. */
void snd_own_package(const snd_own *self, const char *file, char *package, size_t size);

#endif
