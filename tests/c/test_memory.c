/* The memory probe on blocks whose sizes and places are known. */
#include "check.h"
#include "fixture.h"
#include "fixture_fake.h"
#include "os/task.h"
#include "probe/memory/memory.h"
#include "probe/memory/memory_private.h"
#include "probe/sample/sample.h"

#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* A sanitizer allocates in a thread that begins: the sampler's must have begun before blocks are counted. */
static void
wait_for_sampler(void)
{
    for (int is_there = 0; !is_there;) {
        DIR *folder = opendir("/proc/self/task");
        REQUIRE(folder != NULL);
        for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
            is_there |= snd_task_is_ours((uint32_t)strtoul(entry->d_name, NULL, 10)) && entry->d_name[0] != '.';
        closedir(folder);
        sched_yield();
    }
}

static void
start_with(snd_memory_options options)
{
    snd_sample_clear();
    REQUIRE(snd_sample_start(&(snd_sample_options){.resting = 1}, &fake_python, snd_clock_monotonic_ns()) == SND_OK);
    wait_for_sampler();
    options.on = 1;
    REQUIRE(snd_memory_probe_start(&options) == SND_OK);
    fake_attach();
}

static void
stop(void)
{
    fake_detach();
    snd_memory_probe_stop();
    snd_sample_stop();
}

/* No real ones: the probe never looks into a block. */
static void *
address(uintptr_t number)
{
    return (void *)(UINT64_C(0x10000000000) + number * 16);
}

static void
allocate(uintptr_t number, size_t size)
{
    snd_memory_allocated(address(number), size, 1);
}

/* Sum of a metric over the nodes of a function. */
static double
sum_of(const snd_profile *profile, const char *function, snd_metric metric)
{
    double sum = 0;
    for (uint32_t i = 0; i < profile->node_count; i++) {
        if (strcmp(profile->sites[profile->nodes[i].site].name, function) != 0)
            continue;
        sum += snd_metric_get(metric)->is_real ? snd_profile_real(profile, i, metric)
                                               : (double)snd_profile_whole(profile, i, metric);
    }
    return sum;
}

/* Whether it took less, from the first block to the last, than what counts as temporary. */
static int
allocate_quickly(void)
{
    start_with((snd_memory_options){.exact = 1});
    uint64_t began = snd_clock_monotonic_ns();
    fake_push(1);
    for (unsigned i = 0; i < 100; i++)
        allocate(i, 1000);
    fake_push(2);
    for (unsigned i = 100; i < 150; i++)
        snd_memory_allocated(address(i), 64, 0);
    fake_pop();
    for (unsigned i = 0; i < 40; i++)
        snd_memory_freed(address(i));
    fake_pop();
    int is_quick = snd_clock_monotonic_ns() - began < 9000000;
    stop();
    return is_quick;
}

static void
every_block_is_counted_where_it_was_allocated(void)
{
    int is_quick = 0;

    for (int i = 0; i < 50 && !is_quick; i++) /* a machine may stand still meanwhile */
        is_quick = allocate_quickly();
    CHECK(is_quick);
    snd_profile *profile = sampled_profile();
    CHECK(sum_of(profile, "f1", SND_METRIC_ALLOC_PYTHON) == 100000);
    CHECK(sum_of(profile, "f1", SND_METRIC_ALLOC_NATIVE) == 0);
    CHECK(sum_of(profile, "f1", SND_METRIC_LIVE) == 60000);
    CHECK(sum_of(profile, "f1", SND_METRIC_TEMPORARY) == 40000);
    CHECK(sum_of(profile, "f1", SND_METRIC_LIVE_PEAK) == 100000);
    CHECK(sum_of(profile, "f2", SND_METRIC_ALLOC_NATIVE) == 3200);
    CHECK(sum_of(profile, "f2", SND_METRIC_ALLOC_BLOCKS) == 50);
    CHECK(sum_of(profile, "f2", SND_METRIC_LIVE_PEAK) == 3200);
    CHECK(sum_of(profile, "f1", SND_METRIC_ALLOC_VARIANCE) == 0);
    snd_profile_free(profile);
}

static void
the_peak_is_shared_out_as_it_was(void)
{
    start_with((snd_memory_options){.exact = 1});
    fake_push(1);
    allocate(1, 500);
    fake_pop();
    fake_push(2);
    allocate(2, 300); /* the peak: 500 + 300 */
    fake_pop();
    snd_memory_freed(address(1));
    fake_push(3);
    allocate(3, 450);
    fake_pop();
    stop();
    snd_memory_now now;
    snd_memory_get(&now);
    CHECK(now.peak == 800 && now.live == 750 && now.allocated == 1250);
    snd_profile *profile = sampled_profile();
    CHECK(sum_of(profile, "f1", SND_METRIC_LIVE_PEAK) == 500);
    CHECK(sum_of(profile, "f2", SND_METRIC_LIVE_PEAK) == 300);
    CHECK(sum_of(profile, "f3", SND_METRIC_LIVE_PEAK) == 0);
    CHECK(sum_of(profile, "f3", SND_METRIC_LIVE) == 450);
    snd_profile_free(profile);
}

static void
estimates_are_within_their_errors(void)
{
    const size_t sizes[] = {48, 700, 20000, 5000000};

    start_with((snd_memory_options){0});
    uintptr_t number = 0;
    for (unsigned i = 0; i < 4; i++) {
        size_t whole = 100000000;
        fake_push(i + 1);
        for (size_t done = 0; done < whole; done += sizes[i])
            allocate(++number, sizes[i]);
        fake_pop();
    }
    for (uintptr_t i = 1; i <= number; i++)
        snd_memory_freed(address(i));
    snd_memory_now now;
    snd_memory_get(&now);
    CHECK(now.live == 0 && now.blocks == 0);
    stop();
    snd_profile *profile = sampled_profile();
    for (unsigned i = 0; i < 4; i++) {
        char name[] = {'f', (char)('1' + i), 0};
        double error = sqrt(sum_of(profile, name, SND_METRIC_ALLOC_VARIANCE));
        double found = sum_of(profile, name, SND_METRIC_ALLOC_PYTHON);
        CHECK(fabs(found - 1e8) <= 5 * error + 5000000);
        CHECK(error < 1e8 / 20);
        CHECK(fabs(sum_of(profile, name, SND_METRIC_ALLOC_BLOCKS) / (1e8 / (double)sizes[i]) - 1) < 0.2);
    }
    snd_profile_free(profile);
}

static void
a_block_that_is_moved_is_a_new_one(void)
{
    snd_memory_kept kept;

    start_with((snd_memory_options){.exact = 1});
    fake_push(1);
    allocate(1, 100);
    snd_memory_lift(address(1), &kept);
    CHECK(kept.node != SND_NONE && kept.size == 100);
    snd_memory_put_back(address(1), &kept); /* there was no memory */
    snd_memory_now now;
    snd_memory_get(&now);
    CHECK(now.live == 100 && now.allocated == 100);
    snd_memory_lift(address(1), &kept);
    allocate(2, 200); /* the old one is not there beside it */
    snd_memory_lift(address(1), &kept);
    CHECK(kept.node == SND_NONE);
    fake_pop();
    snd_memory_get(&now);
    CHECK(now.live == 200 && now.peak == 200 && now.allocated == 300 && now.blocks == 1);
    stop();
    snd_profile *profile = sampled_profile();
    CHECK(sum_of(profile, "f1", SND_METRIC_FREED) == 1); /* not the one that was put back */
    snd_profile_free(profile);
}

static void
mappings_go_in_pieces(void)
{
    start_with((snd_memory_options){0});
    snd_memory_take_map(address(0), 10 * 4096);
    CHECK(snd_memory_unmap((char *)address(0) + 4096, 4096)); /* a hole */
    snd_memory_now now;
    snd_memory_get(&now);
    CHECK(now.live == 9 * 4096);
    CHECK(snd_memory_unmap((char *)address(0) - 4096, 4 * 4096)); /* two pages of it */
    snd_memory_get(&now);
    CHECK(now.live == 7 * 4096);
    CHECK(!snd_memory_unmap((char *)address(0) + 20 * 4096, 4096));
    CHECK(snd_memory_unmap(address(0), 10 * 4096));
    snd_memory_get(&now);
    CHECK(now.live == 0);
    stop();
}

static void
copies_add_up(void)
{
    start_with((snd_memory_options){0});
    snd_memory_copied(1); /* the thread meets the measurement */
    fake_push(1);
    for (unsigned i = 0; i < 200000; i++)
        snd_memory_copied(1000);
    fake_pop();
    fake_push(2);
    for (unsigned i = 0; i < 20; i++)
        snd_memory_copied(50000000);
    fake_pop();
    stop();
    snd_profile *profile = sampled_profile();
    CHECK(fabs(sum_of(profile, "f1", SND_METRIC_COPIED) - 2e8) < 6e6);
    CHECK(fabs(sum_of(profile, "f2", SND_METRIC_COPIED) - 1e9) < 1e7);
    CHECK(fabs(sum_of(profile, "f2", SND_METRIC_COPIES) - 20) < 2);
    snd_profile_free(profile);
}

static void
who_is_inside_is_not_asked_again(void)
{
    start_with((snd_memory_options){.exact = 1});
    fake_push(1);
    allocate(1, 100);
    snd_memory_mine.busy = 1; /* as in a signal handler that met us at work */
    allocate(2, 50);
    snd_memory_freed(address(1));
    snd_memory_mine.busy = 0;
    allocate(3, 10); /* what was put off is done first */
    fake_pop();
    snd_memory_now now;
    snd_memory_get(&now);
    CHECK(now.live == 10 && now.blocks == 1);
    CHECK(SND_GET(snd_memory.unseen) == 50);
    stop();
}

static void
a_pause_takes_nothing(void)
{
    start_with((snd_memory_options){.exact = 1});
    fake_push(1);
    allocate(1, 100);
    snd_memory_set_paused(1);
    allocate(2, 1000);
    snd_memory_freed(address(1));
    snd_memory_set_paused(0);
    allocate(3, 7);
    fake_pop();
    snd_memory_now now;
    snd_memory_get(&now);
    CHECK(now.live == 7 && now.allocated == 107);
    stop();
}

static void *
allocate_much(void *start)
{
    uintptr_t first = (uintptr_t)start;

    fake_attach();
    fake_push(1);
    for (uintptr_t i = 0; i < 20000; i++) {
        allocate(first + i, 512);
        if (i >= 10)
            snd_memory_freed(address(first + i - 10));
    }
    fake_pop();
    fake_detach();
    return NULL;
}

static void
threads_at_once(void)
{
    pthread_t threads[8];

    start_with((snd_memory_options){.interval = 4096});
    for (uintptr_t i = 0; i < 8; i++)
        REQUIRE(pthread_create(&threads[i], NULL, allocate_much, (void *)((i + 1) << 20)) == 0);
    for (unsigned i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    snd_memory_now now;
    snd_memory_get(&now);
    CHECK(now.blocks <= 80);
    CHECK(fabs((double)now.allocated / (8 * 20000.0 * 512) - 1) < 0.1);
    stop();
}

static void
histories_and_plots_stay_short(void)
{
    start_with((snd_memory_options){.exact = 1});
    fake_push(1);
    snd_lock_take(&snd_sample_state.lock);
    uint64_t from = snd_memory.start_ns;
    snd_lock_leave(&snd_sample_state.lock);
    for (uint64_t i = 0; i < 5000; i++) {
        allocate(i, 100);
        snd_lock_take(&snd_sample_state.lock);
        snd_memory_tick(from + i * 100000000u);
        snd_lock_leave(&snd_sample_state.lock);
    }
    fake_pop();
    stop();
    snd_profile *profile = sampled_profile();
    REQUIRE(snd_memory_describe(profile) == SND_OK);
    const snd_series *heap = snd_profile_series(profile, "heap");
    REQUIRE(heap != NULL);
    CHECK(heap->count > 500 && heap->count <= SND_SERIES_POINTS);
    CHECK(heap->points[heap->count - 1].value > heap->points[0].value);
    int found = 0;
    for (uint32_t i = 0; i < profile->node_count; i++) {
        const snd_history *history = snd_profile_history(profile, i);
        if (history == NULL || strcmp(profile->sites[profile->nodes[i].site].name, "f1") != 0)
            continue; /* a sanitizer allocates in threads that begin */
        found = 1;
        CHECK(history->count > SND_HISTORY_POINTS / 2 && history->count <= SND_HISTORY_POINTS);
        for (uint32_t k = 1; k < history->count; k++)
            CHECK(history->points[k].live > history->points[k - 1].live);
    }
    CHECK(found);
    snd_profile_free(profile);
}

int
main(void)
{
    RUN(every_block_is_counted_where_it_was_allocated);
    RUN(the_peak_is_shared_out_as_it_was);
    RUN(estimates_are_within_their_errors);
    RUN(a_block_that_is_moved_is_a_new_one);
    RUN(mappings_go_in_pieces);
    RUN(copies_add_up);
    RUN(who_is_inside_is_not_asked_again);
    RUN(a_pause_takes_nothing);
    RUN(threads_at_once);
    RUN(histories_and_plots_stay_short);
    return check_report();
}
