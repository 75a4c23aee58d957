/* Forks while the sampler looks. Not for sanitizers: a child of a process with threads cannot count on starting its own
 * under them. */
#include "check.h"
#include "fixture.h"
#include "fixture_fake.h"
#include "os/process.h"
#include "os/task.h"
#include "probe/sample/sample.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void
work(fake_thread *self)
{
    fake_push(self->code);
    spin_us(100);
    fake_pop();
    fake_replace(self->code);
}

static void
start(void)
{
    REQUIRE(snd_sample_start(&(snd_sample_options){.rate_hz = 5000, .timeline = 1}, &fake_python,
                             snd_clock_monotonic_ns()) == SND_OK);
}

/* The child sees nothing of its parent, and can look at itself. */
static int
look_in_child(void)
{
    fake_thread thread;

    CHECK(!snd_sample_is_running());
    CHECK_NUMBER(snd_tasks_count(), 3); /* the folder, its parent and the one thread */
    snd_sample_forget_code(1);
    start();
    fake_start(&thread, work, 3);
    let_run(thread.thread_id, 15);
    fake_end(&thread);
    snd_sample_stop();
    snd_profile *profile = sampled_profile();
    uint64_t used = snd_process_cpu_ns();
    CHECK(sampled_cpu(profile, SND_NONE) > 0 && sampled_cpu(profile, SND_NONE) <= used);
    for (uint32_t i = 0; i < profile->track_count; i++)
        CHECK(profile->tracks[i].process_id == snd_process_id());
    snd_profile_free(profile);
    return check_child_status();
}

static int
fork_around(int (*function)(void))
{
    int status = -1;

    snd_sample_suspend();
    snd_sample_before_fork();
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        snd_sample_after_fork(1);
        _exit(function());
    }
    snd_sample_after_fork(0);
    snd_sample_resume();
    REQUIRE(waitpid(child, &status, 0) == child);
    return status;
}

static void
children_start_anew_and_parents_go_on(void)
{
    fake_thread threads[2];

    start();
    for (unsigned i = 0; i < 2; i++)
        fake_start(&threads[i], work, i + 1);
    for (int i = 0; i < 20; i++) {
        sleep_ms(5);
        CHECK_NUMBER(fork_around(look_in_child), 0);
        CHECK(snd_sample_is_running());
    }
    for (unsigned i = 0; i < 2; i++)
        fake_halt(&threads[i]);
    snd_sample_stop();
    snd_profile *profile = sampled_profile();
    uint64_t got = sampled_cpu(profile, SND_NONE), wanted = sampled_fact("cpu_ns");
    CHECK(got >= wanted * 95 / 100 && got <= wanted * 105 / 100 + 5000000);
    snd_profile_free(profile);
    for (unsigned i = 0; i < 2; i++)
        fake_end(&threads[i]);
}

static int
do_nothing(void)
{
    return check_child_status();
}

static void
a_fork_without_a_sampler_is_a_fork(void)
{
    CHECK(!snd_sample_is_running());
    CHECK_NUMBER(fork_around(do_nothing), 0);
    CHECK(!snd_sample_is_running());
}

/* A question that is on its way is not the child's: its default action would be deadly. */
static int
default_signals(void)
{
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        signal(number, SIG_DFL);
    spin_us(2000);
    return check_child_status();
}

static void
a_child_may_give_all_signals_their_default(void)
{
    fake_thread thread;

    start();
    fake_start(&thread, work, 1);
    for (int i = 0; i < 30; i++)
        CHECK_NUMBER(fork_around(default_signals), 0);
    fake_end(&thread);
    snd_sample_stop();
}

int
main(void)
{
    snd_clock_start(NULL);
    RUN(a_fork_without_a_sampler_is_a_fork);
    RUN(children_start_anew_and_parents_go_on);
    RUN(a_child_may_give_all_signals_their_default);
    return check_report();
}
