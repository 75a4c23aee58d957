#include "os/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* Of COLUMNS as it was when the program began: GNU readline sets it for everybody, and many import that. 0: it does not
 * say. */
static unsigned columns_wanted;

__attribute__((constructor)) static void
learn_columns(void)
{
    const char *text = getenv("COLUMNS");
    char *end = NULL;
    unsigned long wanted = text == NULL ? 0 : strtoul(text, &end, 10);

    if (text != NULL && *text >= '0' && *text <= '9' && *end == '\0' && wanted <= UINT16_MAX)
        columns_wanted = (unsigned)wanted;
}

snd_terminal
snd_terminal_look(int file)
{
    const char *term = getenv("TERM");
    const char *no_colour = getenv("NO_COLOR");
    struct winsize size;
    snd_terminal look = {.unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0, .width = columns_wanted};

    if (isatty(file)) {
        look.colour = (no_colour == NULL || *no_colour == '\0') && term != NULL && strcmp(term, "dumb") != 0;
        if (look.width == 0 && ioctl(file, TIOCGWINSZ, &size) == 0)
            look.width = size.ws_col;
    }
    return look;
}

/* Nobody lets the file that is standard error close at exec, and every file that Python opens does. */
static int
is_standard_error(void)
{
    int flags = fcntl(STDERR_FILENO, F_GETFD);

    return flags >= 0 && (flags & FD_CLOEXEC) == 0;
}

/* Whether something can be written now; -1 when a signal came first. */
static int
has_room(int waits)
{
    struct pollfd file = {.fd = STDERR_FILENO, .events = POLLOUT};
    int ready = poll(&file, 1, waits ? -1 : 0);

    if (ready < 0)
        return errno == EINTR ? -1 : 0;
    return ready > 0 && (file.revents & POLLOUT) != 0 && (file.revents & (POLLERR | POLLNVAL)) == 0;
}

static size_t
write_text(const char *text, size_t size, int waits)
{
    while (size != 0) {
        int room = has_room(waits);
        ssize_t written = room > 0 ? write(STDERR_FILENO, text, size) : 0;
        int is_interrupted = room < 0 || (written < 0 && errno == EINTR);
        if (is_interrupted && waits)
            return size;
        if (room == 0 || (written < 0 && errno != EINTR && errno != EAGAIN))
            return 0;
        text += written > 0 ? written : 0;
        size -= written > 0 ? (size_t)written : 0;
    }
    return 0;
}

size_t
snd_terminal_say(const char *text, size_t size, int waits)
{
    int saved = errno;
    size_t left = 0;
    sigset_t pipe, before, pending;

    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    if (is_standard_error()) {
        sigpending(&pending);
        pthread_sigmask(SIG_BLOCK, &pipe, &before);
        left = write_text(text, size, waits);
        if (!sigismember(&pending, SIGPIPE))
            (void)sigtimedwait(&pipe, NULL, &(struct timespec){0}); /* that of our own write */
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    errno = saved;
    return left;
}
