/* Rows, nodes and events of the sampler, by hand. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "probe/sample/sample_tree.h"

#include <string.h>

static snd_sample_tree tree;

static void
start_empty(void)
{
    snd_sample_tree_free(&tree);
    tree.keeps_events = 1;
}

static uint32_t
root_of(uint32_t row)
{
    return tree.rows[row].root;
}

/* ---- rows ---- */

static void
every_thread_has_a_row_while_there_are_few(void)
{
    start_empty();
    for (uint32_t i = 0; i < SND_SAMPLE_ROW_LIMIT; i++) {
        CHECK_NUMBER(snd_sample_tree_row(&tree, 100 + i, NULL, i), i);
        tree.rows[i].end_ns = 1000 + i;
    }
    CHECK_NUMBER(tree.node_count, SND_SAMPLE_ROW_LIMIT);
}

/* Goes on from the test before. */
static void
beyond_that_a_thread_takes_the_row_of_the_one_that_ended_first(void)
{
    tree.rows[7].end_ns = 5;
    CHECK_NUMBER(snd_sample_tree_row(&tree, 999, NULL, 2000), 7);
    CHECK_NUMBER(tree.rows[7].thread_id, 999);
    CHECK_NUMBER(tree.rows[7].thread_count, 2);
    CHECK_NUMBER(tree.rows[7].end_ns, 0);
    CHECK_NUMBER(tree.rows[7].start_ns, 7);
    CHECK_NUMBER(snd_sample_tree_row(&tree, 1000, NULL, 2001), 0);
    CHECK_NUMBER(tree.row_count, SND_SAMPLE_ROW_LIMIT);
}

static void
rows_of_the_living_are_left_alone(void)
{
    start_empty();
    for (uint32_t i = 0; i < SND_SAMPLE_ROW_LIMIT + 50; i++)
        CHECK_NUMBER(snd_sample_tree_row(&tree, i + 1, NULL, i), i);
}

/* ---- nodes ---- */

static void
a_place_has_one_node_below_each_parent(void)
{
    start_empty();
    uint32_t row = snd_sample_tree_row(&tree, 1, NULL, 0);
    uint32_t one = snd_sample_tree_child(&tree, root_of(row), 5);
    uint32_t below = snd_sample_tree_child(&tree, one, 5);

    CHECK_NUMBER(snd_sample_tree_child(&tree, root_of(row), 5), one);
    CHECK_NUMBER(snd_sample_tree_child(&tree, one, 5), below);
    CHECK(below != one && tree.nodes[below].parent == one && tree.nodes[below].row == row);
    CHECK(snd_sample_tree_child(&tree, root_of(row), 6) != one);
}

static void
a_region_is_no_site_of_the_same_number(void)
{
    snd_node region = {.id = 5};

    start_empty();
    uint32_t row = snd_sample_tree_row(&tree, 1, NULL, 0);
    uint32_t site = snd_sample_tree_child(&tree, root_of(row), 5);
    uint32_t node = snd_sample_tree_region(&tree, root_of(row), &region);
    CHECK(node != site);
    CHECK_NUMBER(snd_sample_tree_region(&tree, root_of(row), &region), node);
    CHECK(tree.nodes[node].region == &region && tree.nodes[node].site == SND_NONE);
}

static void
without_room_the_time_stays_with_the_parent(void)
{
    start_empty();
    uint32_t row = snd_sample_tree_row(&tree, 1, NULL, 0), node = root_of(row), parent = node;

    for (uint32_t i = 0; i < SND_SAMPLE_NODE_LIMIT + 10; i++) {
        parent = node;
        node = snd_sample_tree_child(&tree, node, i);
    }
    CHECK_NUMBER(tree.node_count, SND_SAMPLE_NODE_LIMIT);
    CHECK_NUMBER(node, parent);
    snd_sample_tree_add(&tree, node, 0, 10, 100);
    CHECK_NUMBER(tree.nodes[node].values[0], 10);
    CHECK_NUMBER(snd_sample_tree_row(&tree, 2, NULL, 0), SND_NONE);
}

/* ---- events ---- */

static void
events_of_one_node_and_state_become_one(void)
{
    start_empty();
    uint32_t row = snd_sample_tree_row(&tree, 1, NULL, 1000);
    uint32_t one = snd_sample_tree_child(&tree, root_of(row), 1), two = snd_sample_tree_child(&tree, one, 2);

    snd_sample_tree_add(&tree, one, 0, 100, 1100);
    snd_sample_tree_add(&tree, one, 0, 100, 1200);
    snd_sample_tree_add(&tree, two, 0, 100, 1300);
    snd_sample_tree_add(&tree, two, 4, 100, 1500);
    snd_sample_tree_add(&tree, two, 4, 100, 1500); /* at the same moment */
    REQUIRE(tree.event_count == 3);
    const snd_sample_event *events = tree.events;
    CHECK(events[0].start_ns == 1000 && events[0].duration_ns == 200 && events[0].node == one);
    CHECK(events[1].start_ns == 1200 && events[1].duration_ns == 100 && events[1].state == 0);
    CHECK(events[2].start_ns == 1300 && events[2].duration_ns == 200 && events[2].state == 4);
    CHECK_NUMBER(tree.nodes[one].samples, 2);
    CHECK_NUMBER(tree.nodes[two].values[4], 200);
    CHECK_NUMBER(tree.samples, 5);
}

static void
an_event_that_was_taken_is_not_made_longer(void)
{
    start_empty();
    uint32_t row = snd_sample_tree_row(&tree, 1, NULL, 0);

    snd_sample_tree_add(&tree, root_of(row), 0, 5, 100);
    snd_sample_event *taken = tree.events;
    snd_sample_tree_drained(&tree);
    snd_sample_tree_add(&tree, root_of(row), 0, 5, 200);
    REQUIRE(tree.event_count == 1);
    CHECK(tree.events[0].start_ns == 100 && tree.events[0].duration_ns == 100);
    CHECK_NUMBER(taken[0].duration_ns, 100);
    snd_free(taken);
}

static void
the_event_of_a_thread_ends_with_it(void)
{
    start_empty();
    for (uint32_t i = 0; i < SND_SAMPLE_ROW_LIMIT; i++)
        (void)snd_sample_tree_row(&tree, i + 1, NULL, 0);
    snd_sample_tree_add(&tree, root_of(3), 0, 5, 100);
    tree.rows[3].end_ns = 100;
    CHECK_NUMBER(snd_sample_tree_row(&tree, 999, NULL, 5000), 3);
    snd_sample_tree_add(&tree, root_of(3), 0, 5, 5100);
    REQUIRE(tree.event_count == 2);
    CHECK_NUMBER(tree.events[0].duration_ns, 100);
    CHECK_NUMBER(tree.events[1].start_ns, 5000);
}

static void
events_that_nobody_takes_are_bounded_and_counted(void)
{
    start_empty();
    uint32_t row = snd_sample_tree_row(&tree, 1, NULL, 0);

    for (uint64_t i = 1; i < (1u << 20) + 100; i++)
        snd_sample_tree_add(&tree, root_of(row), i % 2, 1, i);
    CHECK_NUMBER(tree.event_count, 1u << 20);
    CHECK_NUMBER(tree.dropped_events, 99);
    CHECK_NUMBER(tree.samples, (1u << 20) + 99);
}

static void
without_a_timeline_there_are_no_events(void)
{
    start_empty();
    tree.keeps_events = 0;
    uint32_t row = snd_sample_tree_row(&tree, 1, NULL, 0);
    snd_sample_tree_add(&tree, root_of(row), 0, 5, 100);
    CHECK_NUMBER(tree.event_count, 0);
}

/* ---- memory ---- */

/* Whatever fails, no time is lost. */
static void
failing_allocations_lose_no_time(void)
{
    for (long good = 0; good < 40; good++) {
        uint64_t sum = 0;
        start_empty();
        uint32_t row = snd_sample_tree_row(&tree, 1, NULL, 0);
        snd_alloc_fail_after(good);
        for (uint32_t i = 0; i < 3000; i++) {
            uint32_t node = snd_sample_tree_child(&tree, root_of(row), i);
            snd_sample_tree_add(&tree, snd_sample_tree_other(&tree, node, "[x]"), i % 9, 3, i);
        }
        snd_alloc_fail_after(-1);
        for (uint32_t i = 0; i < tree.node_count; i++)
            for (unsigned state = 0; state < SND_SAMPLE_STATES; state++)
                sum += tree.nodes[i].values[state];
        CHECK_NUMBER(sum, 9000);
    }
    start_empty();
    snd_alloc_fail_after(0);
    CHECK_NUMBER(snd_sample_tree_row(&tree, 1, NULL, 0), SND_NONE);
    snd_alloc_fail_after(1);
    CHECK_NUMBER(snd_sample_tree_row(&tree, 1, NULL, 0), SND_NONE);
    snd_alloc_fail_after(-1);
    CHECK_NUMBER(snd_sample_tree_row(&tree, 1, NULL, 0), 0);
}

int
main(void)
{
    RUN(every_thread_has_a_row_while_there_are_few);
    RUN(beyond_that_a_thread_takes_the_row_of_the_one_that_ended_first);
    RUN(rows_of_the_living_are_left_alone);
    RUN(a_place_has_one_node_below_each_parent);
    RUN(a_region_is_no_site_of_the_same_number);
    RUN(without_room_the_time_stays_with_the_parent);
    RUN(events_of_one_node_and_state_become_one);
    RUN(an_event_that_was_taken_is_not_made_longer);
    RUN(the_event_of_a_thread_ends_with_it);
    RUN(events_that_nobody_takes_are_bounded_and_counted);
    RUN(without_a_timeline_there_are_no_events);
    RUN(failing_allocations_lose_no_time);
    snd_sample_tree_free(&tree);
    return check_report();
}
