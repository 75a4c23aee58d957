/* What the system says of this process. */
#include "os/process.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

uint32_t
snd_process_id(void)
{
    return (uint32_t)getpid();
}

uint32_t
snd_thread_id(void)
{
    return (uint32_t)syscall(SYS_gettid);
}

int
snd_process_runs(uint32_t process)
{
    char path[32], text[512];
    snprintf(path, sizeof path, "/proc/%u/stat", process);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    text[size < 0 ? 0 : size] = '\0';
    const char *name_end = strrchr(text, ')'); /* a name may have one, too */
    return name_end != NULL && strncmp(name_end, ") Z", 3) != 0 && strncmp(name_end, ") X", 3) != 0;
}

uint64_t
snd_process_children_cpu_ns(void)
{
    struct rusage used = {0};

    getrusage(RUSAGE_CHILDREN, &used);
    return (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000000u +
           (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000u;
}

/* Asked once a process: when the parent ends, another one takes its place. */
uint32_t
snd_process_parent(void)
{
    static _Atomic uint64_t known; /* the process and its parent */
    uint64_t pair = known;

    if (pair >> 32 != (uint64_t)getpid()) {
        pair = (uint64_t)getpid() << 32 | (uint32_t)getppid();
        known = pair;
    }
    return (uint32_t)pair;
}

int
snd_thread_lives(uint32_t thread)
{
    return syscall(SYS_tgkill, getpid(), (pid_t)thread, 0) == 0;
}

void
snd_thread_system_name(char name[16])
{
    memset(name, 0, 16);
    prctl(PR_GET_NAME, name);
}

static char host[256];

static void
read_host(void)
{
    if (gethostname(host, sizeof host - 1) != 0 || host[0] == '\0')
        strcpy(host, "localhost");
}

const char *
snd_process_host(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_host);
    return host;
}

int64_t
snd_process_rank(void)
{
    static const char *const names[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *text = getenv(names[i]);
        if (text == NULL || *text < '0' || *text > '9')
            continue;
        char *end;
        errno = 0;
        long rank = strtol(text, &end, 10);
        if (*end == '\0' && errno == 0)
            return rank;
    }
    return -1;
}

void
snd_process_arguments(snd_buffer *out)
{
    char part[4096];
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t size;

    if (file < 0)
        return;
    while ((size = read(file, part, sizeof part)) > 0)
        snd_buffer_put(out, part, (size_t)size);
    close(file);
}

static void
expand_letter(char letter, snd_buffer *out)
{
    int64_t rank = snd_process_rank();

    if (letter == 'p')
        snd_buffer_printf(out, "%u", snd_process_id());
    else if (letter == 'h')
        snd_buffer_text(out, snd_process_host());
    else if (letter == 'r')
        snd_buffer_printf(out, "%lld", (long long)(rank < 0 ? 0 : rank));
    else {
        snd_buffer_char(out, '%');
        if (letter != '%' && letter != '\0')
            snd_buffer_char(out, letter);
    }
}

void
snd_path_expand(const char *path, snd_buffer *out)
{
    char here[PATH_MAX];

    if (path[0] != '/' && getcwd(here, sizeof here) != NULL) {
        snd_buffer_text(out, here);
        if (strcmp(here, "/") != 0)
            snd_buffer_char(out, '/');
    }
    for (const char *at = path; *at != '\0'; at++) {
        if (*at != '%') {
            snd_buffer_char(out, *at);
            continue;
        }
        expand_letter(at[1], out);
        if (at[1] != '\0')
            at++;
    }
}

/* Appends a name to a path, or takes the last one away. Gives the end of the path. */
static char *
add_name(char *start, char *end, const char *name, size_t len)
{
    if (len == 0 || (len == 1 && name[0] == '.'))
        return end;
    if (len == 2 && memcmp(name, "..", 2) == 0) {
        while (end > start && *--end != '/')
            ;
        return end;
    }
    *end = '/';
    memcpy(end + 1, name, len);
    return end + 1 + len;
}

static int
is_same_file(const char *a, const char *b)
{
    struct stat first, second;

    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

char *
snd_path_plain(const char *path)
{
    int goes_up = strstr(path, "/../") != NULL;

    if (path[0] != '/' || (!goes_up && strstr(path, "//") == NULL && strstr(path, "/./") == NULL))
        return NULL;
    char *plain = snd_malloc(strlen(path) + 1), *end = plain;
    if (plain == NULL)
        return NULL;
    for (const char *name = path + 1;; name++) {
        size_t len = strcspn(name, "/");
        end = add_name(plain, end, name, len);
        name += len;
        if (*name == '\0')
            break;
    }
    if (end == plain)
        *end++ = '/';
    *end = '\0';
    if (!goes_up || is_same_file(path, plain))
        return plain;
    snd_free(plain);
    return NULL;
}
