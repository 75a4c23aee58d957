/* What is said on standard error reaches it as it is now, and hurts nobody where it cannot. */
#include "check.h"
#include "os/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int kept; /* standard error of the test itself */

static void
say(const char *text, int waits)
{
    errno = ENOTTY;
    CHECK(snd_terminal_say(text, strlen(text), waits) == 0);
    CHECK(errno == ENOTTY);
}

/* Standard error becomes a pipe; the end to read from. */
static int
become_pipe(int flags)
{
    int ends[2];

    REQUIRE(pipe2(ends, flags) == 0);
    REQUIRE(dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
    close(ends[1]);
    return ends[0];
}

static void
give_back(void)
{
    REQUIRE(dup2(kept, STDERR_FILENO) == STDERR_FILENO);
}

static void
text_goes_to_the_file_that_it_is_now(void)
{
    char text[16] = "";
    int end = become_pipe(0);

    say("hello\n", 1);
    give_back();
    CHECK(read(end, text, sizeof text - 1) == 6);
    CHECK_TEXT(text, "hello\n");
    close(end);
}

static void
a_closed_file_is_no_mistake(void)
{
    close(STDERR_FILENO);
    say("hello\n", 1);
    say("hello\n", 0);
    give_back();
}

/* It has the number because that was free: what is in it is the program's. */
static void
a_file_of_the_program_is_left_alone(void)
{
    char path[] = "/tmp/sonde-terminal-XXXXXX";
    int file = mkostemp(path, O_CLOEXEC);

    REQUIRE(file >= 0);
    unlink(path);
    REQUIRE(dup3(file, STDERR_FILENO, O_CLOEXEC) == STDERR_FILENO);
    say("hello\n", 1);
    give_back();
    CHECK(lseek(file, 0, SEEK_END) == 0);
    REQUIRE(dup2(file, STDERR_FILENO) == STDERR_FILENO); /* a log file */
    say("hello\n", 1);
    give_back();
    CHECK(lseek(file, 0, SEEK_END) == 6);
    close(file);
}

static _Atomic int pipe_signals;

static void
count_signal(int number)
{
    (void)number;
    pipe_signals++;
}

static void
nobody_hears_of_a_broken_pipe(void)
{
    sigset_t pending;

    signal(SIGPIPE, count_signal);
    close(become_pipe(0));
    say("hello\n", 1);
    say("hello\n", 0);
    give_back();
    sigpending(&pending);
    CHECK(!sigismember(&pending, SIGPIPE));
    CHECK(pipe_signals == 0);
    signal(SIGPIPE, SIG_DFL);
}

static void
a_full_pipe_costs_the_text_and_no_time(void)
{
    static char much[(1 << 17) + 1];
    char text[8];
    int end = become_pipe(0);

    memset(much, 'x', sizeof much - 1);
    fcntl(STDERR_FILENO, F_SETFL, O_NONBLOCK);
    say(much, 0); /* longer than it holds */
    fcntl(STDERR_FILENO, F_SETFL, 0);
    say("hello\n", 0);
    give_back();
    CHECK(read(end, text, sizeof text) == (ssize_t)sizeof text);
    CHECK(memcmp(text, "xxxxxxxx", sizeof text) == 0);
    close(end);
}

static void
do_nothing(int number)
{
    (void)number;
}

static void
a_signal_ends_the_wait_and_says_what_is_left(void)
{
    static char much[1 << 17];
    int end = become_pipe(0);
    struct sigaction action = {.sa_handler = do_nothing};
    timer_t timer;

    sigaction(SIGALRM, &action, NULL);
    REQUIRE(timer_create(CLOCK_MONOTONIC, &(struct sigevent){.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM},
                         &timer) == 0);
    memset(much, 'x', sizeof much);
    REQUIRE(timer_settime(timer, 0, &(struct itimerspec){{0, 20000000}, {0, 20000000}}, NULL) ==
            0); /* again and again */
    size_t left = sizeof much;
    do
        left = snd_terminal_say(much, left, 1);
    while (left == sizeof much);
    timer_delete(timer);
    give_back();
    CHECK(left != 0);
    close(end);
}

static void
a_file_that_is_no_terminal_has_no_width_and_no_colour(void)
{
    close(become_pipe(0));
    snd_terminal look = snd_terminal_look(STDERR_FILENO);
    give_back();
    CHECK(look.width == 0 && !look.colour);
}

int
main(void)
{
    kept = dup(STDERR_FILENO);
    RUN(text_goes_to_the_file_that_it_is_now);
    RUN(a_closed_file_is_no_mistake);
    RUN(a_file_of_the_program_is_left_alone);
    RUN(nobody_hears_of_a_broken_pipe);
    RUN(a_full_pipe_costs_the_text_and_no_time);
    RUN(a_signal_ends_the_wait_and_says_what_is_left);
    RUN(a_file_that_is_no_terminal_has_no_width_and_no_colour);
    return check_report();
}
