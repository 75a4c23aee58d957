/* A command that is run once, and what it used. */
#include "check.h"
#include "os/usage/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static snd_usage used;
static snd_child_end end;

static int
run(const char *a, const char *b, const char *c)
{
    const char *argv[] = {a, b, c, NULL};
    snd_child_wish wish = {.argv = argv, .input = -1, .output = STDERR_FILENO, .kept = -1};
    return snd_child_run(&wish, &used, &end);
}

static void
its_exit_status_is_told(void)
{
    REQUIRE(run("sh", "-c", "exit 3"));
    CHECK(end.start_error == 0 && end.status == 3 && end.signal == 0);
    REQUIRE(run("true", NULL, NULL));
    CHECK(end.status == 0 && end.signal == 0);
}

static void
the_signal_that_ended_it_is_told(void)
{
    REQUIRE(run("sh", "-c", "kill -TERM $$"));
    CHECK(end.status == 0 && end.signal == SIGTERM);
}

static void
what_cannot_be_started_says_why(void)
{
    REQUIRE(run("no-such-command-here", NULL, NULL));
    CHECK_NUMBER(end.start_error, ENOENT);
    REQUIRE(run("/etc/passwd", NULL, NULL));
    CHECK_NUMBER(end.start_error, EACCES);
    REQUIRE(run("/", NULL, NULL));
    CHECK_NUMBER(end.start_error, EACCES);
}

static void
what_it_used_is_counted(void)
{
    REQUIRE(run("sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"));
    CHECK(used.values[SND_USED_WALL] > 0);
    CHECK(used.values[SND_USED_TASK_CLOCK] > 0);
    CHECK(used.values[SND_USED_TASK_CLOCK] == used.values[SND_USED_USER] + used.values[SND_USED_SYSTEM]);
    CHECK(used.values[SND_USED_PAGE_FAULTS] >= 20);
    CHECK(used.values[SND_USED_PEAK_RSS] >= 200 << 10);
    CHECK(used.values[SND_USED_CONTEXT_SWITCHES] ==
          used.values[SND_USED_VOLUNTARY] + used.values[SND_USED_INVOLUNTARY]);
    for (unsigned i = 0; i <= SND_USED_PEAK_RSS; i++)
        CHECK(used.why[i] == NULL || i == SND_USED_MIGRATIONS);
}

static void
bytes_of_a_child_of_it_are_its_own(void)
{
    REQUIRE(run("sh", "-c", "head -c 300000 /dev/zero | cat >/dev/null; :"));
    if (used.why[SND_USED_READ] != NULL)
        return;                                  /* a system that does not count them */
    CHECK(used.values[SND_USED_READ] >= 600000); /* by head and by cat */
    CHECK(used.values[SND_USED_READ] < 1200000);
    CHECK(used.values[SND_USED_WRITTEN] >= 600000);
    CHECK(used.values[SND_USED_WRITTEN] < 700000);
}

static void
a_counter_is_known_or_has_a_reason(void)
{
    REQUIRE(run("true", NULL, NULL));
    for (unsigned i = 0; i < SND_PERF_COUNT_OF; i++) {
        snd_used which = snd_used_of_perf((snd_perf)i);
        CHECK(used.why[which] == NULL || *used.why[which] != '\0');
        CHECK(used.why[which] == NULL || used.values[which] == 0);
    }
}

static void
names_are_found(void)
{
    CHECK(snd_used_find("wall") == SND_USED_WALL);
    CHECK(snd_used_find("cache_misses") == SND_USED_CACHE_MISSES);
    CHECK(snd_used_find("nothing") == SND_USED_COUNT_OF);
    CHECK_TEXT(snd_used_get(SND_USED_PEAK_RSS)->unit, "bytes");
    CHECK(snd_used_of_perf(SND_PERF_MIGRATIONS) == SND_USED_MIGRATIONS);
}

static void
its_input_and_output_are_those_that_were_wished(void)
{
    const char *argv[] = {"cat", NULL};
    char path[] = "/tmp/sonde-child-XXXXXX", got[8] = "";
    int ends[2], file = mkstemp(path);

    REQUIRE(file >= 0 && pipe(ends) == 0);
    REQUIRE(write(file, "hello", 5) == 5 && lseek(file, 0, SEEK_SET) == 0);
    snd_child_wish wish = {.argv = argv, .input = file, .output = ends[1], .kept = -1};
    REQUIRE(snd_child_run(&wish, &used, &end));
    CHECK(read(ends[0], got, 5) == 5 && strcmp(got, "hello") == 0);
    wish.input = -1;
    REQUIRE(snd_child_run(&wish, &used, &end));
    close(ends[1]);
    CHECK(read(ends[0], got, 5) == 0); /* nothing to read gives nothing */
    close(ends[0]);
    close(file);
    unlink(path);
}

static void
its_own_use_is_counted_between_two_moments(void)
{
    snd_usage before, between;
    size_t size = 64 << 20;

    snd_usage_begin(&before);
    char *memory = malloc(size);
    REQUIRE(memory != NULL);
    memset(memory, 1, size);
    snd_usage_end(&before, &between);
    CHECK(memory[size - 1] == 1);
    CHECK(between.values[SND_USED_PAGE_FAULTS] >= 16); /* the pages may be large ones */
    CHECK(between.values[SND_USED_WALL] > 0 && between.values[SND_USED_TASK_CLOCK] > 0);
    CHECK(between.values[SND_USED_PEAK_RSS] >= (double)size);
    free(memory);
}

static void
signals_of_others_are_passed_on(void)
{
    char command[64];

    snd_child_pass_signals();
    CHECK_NUMBER(snd_child_signal(), 0);
    snprintf(command, sizeof command, "kill -TERM %d; exec sleep 30", (int)getpid());
    REQUIRE(run("sh", "-c", command));
    CHECK(end.signal == SIGTERM);
    CHECK_NUMBER(snd_child_signal(), SIGTERM);
}

int
main(void)
{
    RUN(its_exit_status_is_told);
    RUN(the_signal_that_ended_it_is_told);
    RUN(what_cannot_be_started_says_why);
    RUN(what_it_used_is_counted);
    RUN(bytes_of_a_child_of_it_are_its_own);
    RUN(a_counter_is_known_or_has_a_reason);
    RUN(names_are_found);
    RUN(its_input_and_output_are_those_that_were_wished);
    RUN(its_own_use_is_counted_between_two_moments);
    RUN(signals_of_others_are_passed_on); /* the last: the handlers stay */
    return check_report();
}
