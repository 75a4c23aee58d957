/* A command that is run once, and what it used. */
#include "os/usage/child.h"

#include "os/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- signals ---- */

static const int passed[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
static volatile sig_atomic_t first_signal;
static volatile sig_atomic_t child; /* that runs; 0: none */

static void
pass_on(int number, siginfo_t *about, void *context)
{
    int saved = errno;

    (void)context;
    if (first_signal == 0)
        first_signal = number;
    if (child != 0 && about->si_code != SI_KERNEL) /* the terminal tells all in its foreground */
        kill((pid_t)child, number);
    errno = saved;
}

void
snd_child_pass_signals(void)
{
    struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO};
    struct sigaction before;

    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof passed / sizeof passed[0]; i++)
        if (sigaction(passed[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(passed[i], &action, NULL);
}

int
snd_child_signal(void)
{
    return (int)first_signal;
}

void
snd_child_end_by(int number)
{
    sigset_t only;

    signal(number, SIG_DFL);
    sigemptyset(&only);
    sigaddset(&only, number);
    sigprocmask(SIG_UNBLOCK, &only, NULL);
    raise(number);
}

static void
hold_signals(sigset_t *before)
{
    sigset_t held;

    sigemptyset(&held);
    for (size_t i = 0; i < sizeof passed / sizeof passed[0]; i++)
        sigaddset(&held, passed[i]);
    sigprocmask(SIG_BLOCK, &held, before);
}

/* ---- the child's side ---- */

/* The handler is ours alone: what comes before the command runs is for the command. */
static void
take_back_signals(const sigset_t *signals)
{
    struct sigaction now;

    for (size_t i = 0; i < sizeof passed / sizeof passed[0]; i++)
        if (sigaction(passed[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            signal(passed[i], SIG_DFL);
    sigprocmask(SIG_SETMASK, signals, NULL);
}

/* The parent closes its end of `go` when all is ready; nothing is read here, since that would count. Does not return:
 * tells `failure` what went wrong. */
static void
become(const snd_child_wish *wish, const sigset_t *signals, int go, int failure)
{
    struct pollfd ready = {.fd = go, .events = POLLIN};
    int input = wish->input >= 0 ? wish->input : open("/dev/null", O_RDONLY | O_CLOEXEC);

    while (poll(&ready, 1, -1) < 0 && errno == EINTR)
        ;
    if (input < 0)
        close(STDIN_FILENO);
    else if (input != STDIN_FILENO)
        dup2(input, STDIN_FILENO);
    if (wish->output != STDOUT_FILENO)
        dup2(wish->output, STDOUT_FILENO);
    if (wish->kept >= 0)
        fcntl(wish->kept, F_SETFD, 0);
    take_back_signals(signals);
    execvp(wish->argv[0], (char *const *)(uintptr_t)wish->argv);
    int error = errno;
    ssize_t told = write(failure, &error, sizeof error);
    _exit(told == (ssize_t)sizeof error ? 127 : 126);
}

/* ---- the parent's side ---- */

/* A process that waits for its start, and what is open to look at it. */
typedef struct started {
    pid_t process; /* -1: there is none */
    snd_perf_event events[SND_PERF_COUNT_OF];
    int file;
} started;

/* Waits for the child's end, looks at what is left of it, and lets it go. */
static int
watch(const started *self, uint64_t start_ns, snd_usage *used, snd_child_end *end)
{
    pid_t process = self->process;
    siginfo_t about;
    struct rusage resources;
    int state = 0;

    while (waitid(P_PID, (id_t)process, &about, WEXITED | WNOWAIT) != 0)
        if (errno != EINTR)
            return 0;
    used->values[SND_USED_WALL] = (double)(snd_clock_monotonic_ns() - start_ns);
    for (unsigned i = 0; i < SND_PERF_COUNT_OF; i++)
        snd_usage_put_event(used, (snd_perf)i, &self->events[i]);
    snd_usage_put_process(used, process, self->file);
    child = 0; /* its number may be another's from now on */
    while (wait4(process, &state, 0, &resources) < 0)
        if (errno != EINTR)
            return 0;
    snd_usage_put_resources(used, &resources);
    end->status = WIFEXITED(state) ? WEXITSTATUS(state) : 0;
    end->signal = WIFSIGNALED(state) ? WTERMSIG(state) : 0;
    return 1;
}

/* Starts a process that waits until `go` is closed at our end. */
static void
start(const snd_child_wish *wish, const sigset_t *signals, const int go[2], const int failure[2], started *out)
{
    out->process = fork();
    if (out->process == 0) {
        close(go[1]);
        become(wish, signals, go[0], failure[1]);
    }
    child = out->process > 0 ? out->process : 0;
    if (out->process < 0)
        return;
    for (unsigned i = 0; i < SND_PERF_COUNT_OF; i++)
        out->events[i] = snd_perf_open((snd_perf)i, out->process, NULL, SND_PERF_INHERIT | SND_PERF_ON_EXEC);
    out->file = snd_usage_open_process(out->process);
}

static void
release(started *self)
{
    if (self->process <= 0)
        return;
    for (unsigned i = 0; i < SND_PERF_COUNT_OF; i++)
        snd_perf_close(&self->events[i]);
    if (self->file >= 0)
        close(self->file);
}

int
snd_child_run(const snd_child_wish *wish, snd_usage *used, snd_child_end *end)
{
    int go[2], failure[2];
    sigset_t signals;
    started self;

    *used = (snd_usage){0};
    *end = (snd_child_end){0};
    if (pipe2(go, O_CLOEXEC) != 0)
        return 0;
    if (pipe2(failure, O_CLOEXEC) != 0) {
        close(go[0]);
        close(go[1]);
        return 0;
    }
    hold_signals(&signals);
    start(wish, &signals, go, failure, &self);
    sigprocmask(SIG_SETMASK, &signals, NULL);
    close(go[0]);
    close(failure[1]);
    uint64_t start_ns = snd_clock_monotonic_ns();
    close(go[1]);
    int is_well = self.process > 0;
    while (is_well && read(failure[0], &end->start_error, sizeof end->start_error) < 0 && errno == EINTR)
        ;
    close(failure[0]);
    is_well = is_well && watch(&self, start_ns, used, end);
    release(&self);
    return is_well;
}
