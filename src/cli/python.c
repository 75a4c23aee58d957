/* The Python that this program was installed for. */
#include "cli/python.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SND_PYTHON_NAME
#define SND_PYTHON_NAME "python3"
#endif

extern char **environ;

static int
find_on_path(char *path, size_t size)
{
    const char *folders = getenv("PATH");

    while (folders != NULL) {
        const char *end = strchrnul(folders, ':');
        snprintf(path, size, "%.*s/" SND_PYTHON_NAME, (int)(end - folders), folders);
        if (access(path, X_OK) == 0)
            return 1;
        folders = *end == ':' ? end + 1 : NULL;
    }
    return 0;
}

int
snd_python_find(char *path, size_t size)
{
    static const char *const names[] = {"python", SND_PYTHON_NAME, "python3"};
    char here[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", here, sizeof here - 1);

    if (len > 0) {
        here[len] = '\0';
        *strrchr(here, '/') = '\0';
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            snprintf(path, size, "%s/%s", here, names[i]);
            if (access(path, X_OK) == 0)
                return 1;
        }
    }
    return find_on_path(path, size);
}

int
snd_python_site(const char *python, char path[PATH_MAX])
{
    char pattern[PATH_MAX], real[PATH_MAX];
    const char *slash = strrchr(python, '/');
    glob_t files = {0};
    int is_one = 1;

    if (slash == NULL)
        return 0;
    path[0] = '\0';
    snprintf(pattern, sizeof pattern, "%.*s/../lib*/python3*/*-packages/sonde/_site/sitecustomize.py",
             (int)(slash - python), python);
    (void)glob(pattern, GLOB_NOSORT, NULL, &files);
    for (size_t i = 0; i < files.gl_pathc; i++) { /* lib64 may be lib by another name */
        is_one &= realpath(files.gl_pathv[i], real) != NULL && (i == 0 || strcmp(real, path) == 0);
        memcpy(path, real, sizeof real);
    }
    is_one &= files.gl_pathc != 0;
    globfree(&files);
    if (is_one)
        *strrchr(path, '/') = '\0';
    return is_one;
}

static pid_t
spawn(const char *program, const char *code, int output)
{
    char *const argv[] = {(char *)(uintptr_t)program, (char *)(uintptr_t)"-c", (char *)(uintptr_t)code, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child = -1;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addchdir_np(&actions, "/"); /* a folder named sonde here is not the package */
    if (posix_spawn(&child, program, &actions, NULL, argv, environ) != 0)
        child = -1;
    posix_spawn_file_actions_destroy(&actions);
    return child;
}

int
snd_python_ask(const char *code, snd_buffer *answer)
{
    char program[PATH_MAX + 32];
    char part[1024];
    int ends[2];
    int state = 1;
    ssize_t size;

    if (!snd_python_find(program, sizeof program) || pipe2(ends, O_CLOEXEC) != 0)
        return 0;
    pid_t child = spawn(program, code, ends[1]);
    close(ends[1]);
    while (child > 0 && (size = read(ends[0], part, sizeof part)) > 0)
        snd_buffer_put(answer, part, (size_t)size);
    close(ends[0]);
    while (child > 0 && waitpid(child, &state, 0) < 0 && errno == EINTR)
        ;
    while (answer->size > 0 && answer->data[answer->size - 1] == '\n')
        answer->data[--answer->size] = '\0';
    return child > 0 && state == 0 && !answer->failed;
}
