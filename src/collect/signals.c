#include "collect/signals.h"

#include "os/process.h"
#include "os/terminal.h"

#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TEXT_SIZE (4u * PATH_MAX + 256u)
#define PATIENCE_NS 500000000 /* for a thread of the program's to take the signal */

static const struct {
    int number;
    const char *name;
} saved[] = {{SIGTERM, "SIGTERM"}, {SIGINT, "SIGINT"}, {SIGHUP, "SIGHUP"}};

static _Atomic uint32_t announcing_id; /* the process that says where its recording is */
static void (*_Atomic save)(int);
static char last_words[TEXT_SIZE];
static _Atomic uint32_t ending_id; /* the process that has saved, and whose last words are these */

static void
end_now(int number)
{
    signal(number, SIG_DFL);
    raise(number);
}

/* Twice for each end: to save, and when that is done. */
static void
on_signal(int number)
{
    void (*handler)(int) = save;

    if (ending_id == snd_process_id()) {
        (void)snd_terminal_say(last_words, strlen(last_words), 0);
        end_now(number);
    }
    else if (handler != NULL)
        handler(number);
    else
        end_now(number);
}

static int
is_watched(int number)
{
    struct sigaction now;

    return sigaction(number, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == on_signal;
}

void
snd_signals_watch(int on, void (*handler)(int))
{
    if (on)
        save = handler;
    for (size_t i = 0; i < sizeof saved / sizeof saved[0]; i++) {
        struct sigaction now;
        sigaction(saved[i].number, NULL, &now);
        void (*expected)(int) = on ? SIG_DFL : on_signal;
        if ((now.sa_flags & SA_SIGINFO) != 0 || now.sa_handler != expected)
            continue;
        struct sigaction ours = {.sa_handler = on ? on_signal : SIG_DFL, .sa_flags = SA_RESTART};
        sigaction(saved[i].number, &ours, NULL);
    }
}

void
snd_signals_announce(void)
{
    announcing_id = snd_process_id();
}

static void
write_words(const char *recording, const char *how, const char *failure, const char *parts, char text[TEXT_SIZE])
{
    int len = *failure != '\0' ? snprintf(text, TEXT_SIZE, "sonde: %s\n", failure)
                               : snprintf(text, TEXT_SIZE, "sonde: recording saved in %s%s\n", recording, how);

    if (parts != NULL && len > 0 && (size_t)len < TEXT_SIZE)
        snprintf(text + len, TEXT_SIZE - (size_t)len,
                 "sonde: child processes are not in it; to add them: sonde merge -o %s %s %s/*.sonde\n", recording,
                 recording, parts);
}

static int
is_announced(const char *recording)
{
    return recording != NULL && announcing_id == snd_process_id();
}

void
snd_signals_say(const char *recording, const char *failure, const char *parts)
{
    char text[TEXT_SIZE];

    if (!is_announced(recording))
        return;
    write_words(recording, "", failure, parts, text);
    for (size_t left = strlen(text); left != 0;)
        left = snd_terminal_say(text + strlen(text) - left, left, 1);
}

/* A thread that is told by kill() alone: one that blocks the signal does not take it, and then ours has to. */
static void
end_here(int number)
{
    sigset_t one;

    signal(number, SIG_DFL);
    sigemptyset(&one);
    sigaddset(&one, number);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    kill(getpid(), number);
}

void
snd_signals_end(int number, const char *recording, const char *failure, const char *parts)
{
    char how[32] = "";

    for (size_t i = 0; i < sizeof saved / sizeof saved[0]; i++)
        if (saved[i].number == number)
            snprintf(how, sizeof how, " (ended by %s)", saved[i].name);
    last_words[0] = '\0';
    if (is_announced(recording))
        write_words(recording, how, failure, parts, last_words);
    ending_id = snd_process_id();
    int was_watched = is_watched(number);
    kill(getpid(), number);
    nanosleep(&(struct timespec){.tv_nsec = PATIENCE_NS}, NULL);
    ending_id = 0;
    if (was_watched && is_watched(number))
        end_here(number);
}
