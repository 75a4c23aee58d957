#include "collect/signals.h"

#include <signal.h>
#include <stddef.h>

static const int saved[] = {SIGTERM, SIGINT, SIGHUP};

void
snd_signals_watch(int on, void (*handler)(int))
{
    for (size_t i = 0; i < sizeof saved / sizeof saved[0]; i++) {
        struct sigaction now;
        sigaction(saved[i], NULL, &now);
        void (*expected)(int) = on ? SIG_DFL : handler;
        if ((now.sa_flags & SA_SIGINFO) != 0 || now.sa_handler != expected)
            continue;
        struct sigaction ours = {.sa_handler = on ? handler : SIG_DFL, .sa_flags = SA_RESTART};
        sigaction(saved[i], &ours, NULL);
    }
}
