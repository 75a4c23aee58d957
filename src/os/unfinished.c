/* The file that is being written: breaking off leaves no half of it, and keeps an older one. */
#include "os/unfinished.h"

#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char unfinished[PATH_MAX], journal[PATH_MAX];
static atomic_int is_there, catches;

/* Of snd_unfinished_open. NULL: the file is written in its place. */
static char *target;
static char part[PATH_MAX];

void
snd_unfinished_begin(const char *path)
{
    static const char suffix[] = "-journal";

    if (!atomic_load(&catches) || strlen(path) + sizeof suffix > sizeof journal)
        return;
    atomic_store(&is_there, 0);
    snprintf(unfinished, sizeof unfinished, "%s", path);
    snprintf(journal, sizeof journal, "%s%s", path, suffix);
    atomic_store(&is_there, 1);
}

void
snd_unfinished_end(void)
{
    atomic_store(&is_there, 0);
}

static void
end_by(int number)
{
    if (atomic_exchange(&is_there, 0)) {
        unlink(unfinished);
        unlink(journal);
    }
    signal(number, SIG_DFL);
    raise(number);
}

void
snd_unfinished_catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

    atomic_store(&catches, 1);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct sigaction before, action = {.sa_handler = end_by};
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(numbers[i], &action, NULL);
    }
}

/* ---- a file that is written beside its place ---- */

/* Whether another file may take the place of what is there: nothing, or a regular file that we could write to. */
static int
is_replaced(const char *path, mode_t *mode)
{
    struct stat about;

    if (stat(path, &about) != 0)
        return errno == ENOENT;
    if (!S_ISREG(about.st_mode) || about.st_nlink != 1)
        return 0;
    *mode = about.st_mode & 07777;
    int file = snd_file_open(path, 0); /* a stranger's is left alone */
    return file >= 0 && close(file) == 0;
}

/* -1: it has to be written in its place. */
static int
open_beside(const char *path)
{
    mode_t mode = 0;

    target = is_replaced(path, &mode) ? snd_file_target(path) : NULL;
    if (target == NULL)
        return -1;
    int len = snprintf(part, sizeof part, "%s.%d.part", target, (int)getpid());
    snd_unfinished_begin(part); /* before it is there: a signal may come in between */
    int file = len > 0 && (size_t)len < sizeof part
                   ? open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666)
                   : -1;
    if (file >= 0 && mode != 0)
        (void)fchmod(file, mode);
    if (file < 0) {
        snd_unfinished_end();
        free(target);
        target = NULL;
    }
    return file;
}

int
snd_unfinished_open(const char *path)
{
    int file = open_beside(path);

    return file < 0 ? snd_file_open(path, O_CREAT | O_TRUNC) : file;
}

int
snd_unfinished_close(int file, int is_whole)
{
    int is_done = close(file) == 0;

    if (target == NULL)
        return is_done;
    is_done = is_done && is_whole && rename(part, target) == 0;
    int number = errno;
    if (!is_done)
        unlink(part);
    snd_unfinished_end();
    free(target);
    target = NULL;
    errno = number;
    return is_done || !is_whole;
}
