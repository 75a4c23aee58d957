#include "os/file.h"

#include "base/alloc.h"
#include "os/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FLOOR 512

static size_t
read_all(int file, char *text, size_t size)
{
    size_t done = 0;

    while (done < size) {
        ssize_t count = read(file, text + done, size - done);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            break;
        done += (size_t)count;
    }
    return done;
}

typedef struct loading {
    const char *path;
    size_t limit;
    char **text;
    size_t *size;
    snd_status status;
} loading;

static void
load_elsewhere(void *context)
{
    loading *self = context;

    if (snd_worker_table() != 0)
        self->status = snd_file_load(self->path, self->limit, self->text, self->size);
}

snd_status
snd_file_load(const char *path, size_t limit, char **text, size_t *size)
{
    struct stat about;
    snd_status status = SND_OK;
    loading again = {path, limit, text, size, SND_OK};

    *text = NULL;
    *size = 0;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) /* opening a device may do something */
        return SND_OK;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0 && errno == EMFILE && snd_worker_table() == 0) /* the program has run out of files: we have others */
        snd_worker_call(load_elsewhere, &again);
    if (file < 0)
        return again.status;
    if (fstat(file, &about) == 0 && S_ISREG(about.st_mode) && (uint64_t)about.st_size <= limit) {
        *text = snd_malloc((size_t)about.st_size + 1);
        if (*text == NULL)
            status = SND_NO_MEMORY;
        else {
            *size = read_all(file, *text, (size_t)about.st_size);
            (*text)[*size] = '\0';
        }
    }
    close(file);
    return status;
}

/* Whether everybody may put files into the folder of a path, and nobody may take away another's. */
static int
is_shared(const char *path, struct stat *folder)
{
    const char *slash = strrchr(path, '/');
    size_t len = slash == NULL ? 0 : (size_t)(slash - path);
    char *name = slash == NULL ? strdup(".") : strndup(path, len == 0 ? 1 : len);
    int is_there = name != NULL && stat(name, folder) == 0;

    free(name);
    return is_there && (folder->st_mode & S_ISVTX) != 0 && (folder->st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

static int
is_strangers(const struct stat *about, const struct stat *folder)
{
    return about->st_uid != geteuid() && about->st_uid != folder->st_uid;
}

int
snd_file_open(const char *path, int flags)
{
    struct stat about, folder;

    flags |= O_WRONLY | O_CLOEXEC | O_NOCTTY;
    if (is_shared(path, &folder)) {
        if (lstat(path, &about) != 0)
            flags |= O_NOFOLLOW | ((flags & O_CREAT) != 0 ? O_EXCL : 0); /* and nobody comes in between */
        else if (is_strangers(&about, &folder)) {
            errno = EACCES;
            return -1;
        }
    }
    return open(path, flags, 0666);
}

char *
snd_file_target(const char *path)
{
    struct stat about, folder;

    if (lstat(path, &about) == 0 && S_ISLNK(about.st_mode)) {
        if (is_shared(path, &folder) && is_strangers(&about, &folder)) {
            errno = EACCES;
            return NULL;
        }
        char *real = realpath(path, NULL);
        if (real != NULL || errno != ENOENT)
            return real;
    }
    return strdup(path);
}

/* Closes the file. 0, and errno, on failure. */
static int
write_all(int file, const char *at, size_t size)
{
    while (size > 0) {
        ssize_t written = write(file, at, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            break;
        at += written;
        size -= (size_t)written;
    }
    int number = errno;
    int is_closed = close(file) == 0;
    if (size != 0)
        errno = number;
    return size == 0 && is_closed;
}

/* Under a name that is nobody else's. */
static int
write_beside(const char *path, char *name, size_t name_size, const void *data, size_t size)
{
    snprintf(name, name_size, "%s.%d.part", path, (int)getpid());
    unlink(name);
    int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file < 0)
        return 0;
    if (write_all(file, data, size) && rename(name, path) == 0)
        return 1;
    int number = errno;
    unlink(name);
    errno = number;
    return 0;
}

snd_status
snd_file_replace(const char *path, const void *data, size_t size)
{
    struct stat about;
    int is_written = 0;

    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) {
        int file = snd_file_open(path, 0);
        return file >= 0 && write_all(file, data, size) ? SND_OK : SND_SYSTEM;
    }
    char *target = snd_file_target(path); /* the file that a link leads to, not the link */
    if (target == NULL)
        return SND_SYSTEM;
    size_t name_size = strlen(target) + 32;
    char *name = snd_malloc(name_size);
    if (name != NULL)
        is_written = write_beside(target, name, name_size, data, size);
    int number = errno;
    int has_memory = name != NULL;
    snd_free(name);
    free(target);
    errno = number;
    return !has_memory ? SND_NO_MEMORY : is_written ? SND_OK : SND_SYSTEM;
}

int
snd_file_lift(int file)
{
    int high = file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, FLOOR);

    if (high < 0)
        return file;
    close(file);
    return high;
}
