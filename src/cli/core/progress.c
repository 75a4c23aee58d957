/* A line on the terminal while a command works for long. */
#include "cli/core/progress.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static char line[160]; /* the whole of it but for the number */
static volatile sig_atomic_t seconds;

static void
put(const char *text, size_t size)
{
    ssize_t written = write(STDERR_FILENO, text, size);
    (void)written;
}

/* In a signal handler: no printf. */
static void
show(int number)
{
    char digits[16];
    size_t at = sizeof digits;
    int saved = errno;

    (void)number;
    seconds = seconds + 1;
    for (int rest = seconds; rest != 0 && at > 0; rest /= 10)
        digits[--at] = (char)('0' + rest % 10);
    put(line, strlen(line));
    put(digits + at, sizeof digits - at);
    put(" s", 2);
    errno = saved;
}

void
snd_progress_start(const char *what)
{
    const char *term = getenv("TERM");
    struct sigaction action = {.sa_handler = show, .sa_flags = SA_RESTART};
    struct itimerval timer = {.it_value = {.tv_sec = 1}, .it_interval = {.tv_sec = 1}};

    if (term == NULL || strcmp(term, "dumb") == 0 || !isatty(STDERR_FILENO))
        return;
    snprintf(line, sizeof line, "\r\033[Ksonde: %.100s ", what);
    seconds = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

void
snd_progress_stop(void)
{
    const struct itimerval never = {0};

    if (line[0] == '\0')
        return;
    setitimer(ITIMER_REAL, &never, NULL);
    if (seconds != 0)
        put("\r\033[K", strlen("\r\033[K"));
    line[0] = '\0';
    seconds = 0;
}
