/* Averages of operators, the tree of their events and their table. */
#include "base/alloc.h"
#include "check.h"
#include "view/ops/op_averages.h"
#include "view/ops/op_events.h"

#include <string.h>

static snd_op_average
make_row(const char *name, const char *shapes, double self_us, double total_us)
{
    return (snd_op_average){
        .name = name, .shapes = shapes, .node = -1, .count = 1, .self_cpu_us = self_us, .total_cpu_us = total_us};
}

static snd_op_averages *
make_list(void)
{
    snd_op_averages *list = snd_op_averages_new();
    const snd_op_average rows[] = {
        make_row("aten::mm", "[[2, 3], [3, 2]]", 10, 10),
        make_row("aten::linear", "[[2, 3]]", 2, 12.5),
        make_row("aten::mm", "[[2, 3], [3, 2]]", 1500, 1500),
        make_row("aten::mm", "[[4, 3], [3, 4]]", 1, 1),
    };

    REQUIRE(list != NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        REQUIRE(snd_op_averages_add(list, &rows[i], 1) == SND_OK);
    return list;
}

static void
equal_keys_are_one_row(void)
{
    snd_op_averages *list = make_list();

    CHECK_NUMBER(snd_op_averages_count(list), 3);
    const snd_op_average *first = snd_op_averages_at(list, 0);
    CHECK_TEXT(first->name, "aten::mm");
    CHECK_NUMBER(first->count, 2);
    CHECK(first->self_cpu_us == 1510);
    CHECK_TEXT(snd_op_averages_at(list, 1)->name, "aten::linear");
    CHECK_TEXT(snd_op_averages_at(list, 2)->shapes, "[[4, 3], [3, 4]]");
    CHECK_TEXT(first->overload, "");
    snd_op_average total = snd_op_averages_total(list);
    CHECK_TEXT(total.name, "Total");
    CHECK_NUMBER(total.count, 4);
    CHECK(total.self_cpu_us == 1513);
    snd_op_averages_free(list);
}

static void
the_table_is_sorted_and_limited(void)
{
    snd_op_averages *list = make_list();
    snd_op_table_options options = SND_OP_TABLE_DEFAULTS;
    snd_buffer out = {0};

    options.sort_by = "self_cpu_time_total";
    options.row_limit = 1;
    CHECK(snd_op_averages_text(list, &options, &out) == SND_OK);
    CHECK_TEXT(snd_buffer_str(&out),
               "----------------  ------------  ------------  ------------  ------------  ------------  ------------  "
               "--------------------  \n"
               "            Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg    # of Calls  "
               "        Input Shapes  \n"
               "----------------  ------------  ------------  ------------  ------------  ------------  ------------  "
               "--------------------  \n"
               "        aten::mm        99.80%       1.510ms        99.80%       1.510ms     755.000us             2  "
               "    [[2, 3], [3, 2]]  \n"
               "----------------  ------------  ------------  ------------  ------------  ------------  ------------  "
               "--------------------  \n"
               "Self CPU time total: 1.513ms\n");
    snd_buffer_free(&out);
    snd_op_averages_free(list);
}

static void
the_table_says_what_it_is_of(void)
{
    snd_op_averages *list = make_list();
    snd_op_table_options options = SND_OP_TABLE_DEFAULTS;
    snd_buffer out = {0};

    options.header = "Of the second step";
    options.top_level_only = 1;
    CHECK(snd_op_averages_text(list, &options, &out) == SND_OK);
    CHECK_HAS(snd_buffer_str(&out), "=\nOf the second step\n");
    CHECK_HAS(snd_buffer_str(&out), "=\nThis report only display top-level ops statistics\n");
    snd_buffer_free(&out);
    snd_op_averages_free(list);
}

static void
what_is_unknown_is_refused(void)
{
    snd_op_averages *list = make_list();
    snd_op_table_options options = SND_OP_TABLE_DEFAULTS;
    snd_buffer out = {0};

    options.sort_by = "cpu";
    CHECK(snd_op_averages_text(list, &options, &out) == SND_BAD_ARGUMENT);
    options.sort_by = "self_cuda_time_total";
    CHECK(snd_op_averages_text(list, &options, &out) == SND_OK);
    options.time_unit = "ns";
    CHECK(snd_op_averages_text(list, &options, &out) == SND_BAD_ARGUMENT);
    CHECK(snd_op_averages_csv(list, "a name that is longer than any that could be known, and then some more", &out) ==
          SND_BAD_ARGUMENT);
    CHECK(snd_op_sort_is_known("key"));
    CHECK(!snd_op_sort_is_known(""));
    CHECK_HAS(snd_op_sort_names(), "self_cpu_time_total, ");
    CHECK_HAS(snd_op_sort_names(), "key (cuda and xpu mean device)");
    snd_buffer_free(&out);
    snd_op_averages_free(list);
}

static void
no_rows_are_no_text(void)
{
    snd_op_averages *list = snd_op_averages_new();
    snd_op_table_options options = SND_OP_TABLE_DEFAULTS;
    snd_buffer out = {0};

    REQUIRE(list != NULL);
    CHECK(snd_op_averages_text(list, &options, &out) == SND_OK);
    CHECK_TEXT(snd_buffer_str(&out), "");
    CHECK_NUMBER(snd_op_averages_total(list).count, 0);
    snd_buffer_free(&out);
    snd_op_averages_free(list);
}

static void
values_with_commas_are_quoted(void)
{
    snd_op_averages *list = snd_op_averages_new();
    snd_op_average row = make_row("say \"a, b\"", "[[1]]", 1.5, 2.5);
    snd_buffer out = {0};

    REQUIRE(list != NULL && snd_op_averages_add(list, &row, 1) == SND_OK);
    CHECK(snd_op_averages_csv(list, NULL, &out) == SND_OK);
    const char *line = strchr(snd_buffer_str(&out), '\n') + 1;
    CHECK_TEXT(line, "\"say \"\"a, b\"\"\",,[[1]],,0,0,1,1.5,2.5,2.5,0,0,0,0,0,0,0,0\n");
    snd_buffer_free(&out);
    snd_op_averages_free(list);
}

static uint32_t
text_of(snd_op_events *events, const char *text)
{
    uint32_t id;
    REQUIRE(snd_intern_add(snd_op_events_texts(events), text, strlen(text), &id) == SND_OK);
    return id;
}

static snd_op_event *
add_event(snd_op_events *events, const char *name, int64_t start_ns, int64_t end_ns)
{
    uint32_t id = text_of(events, name);
    snd_op_event *event = snd_op_events_add(events);
    REQUIRE(event != NULL);
    event->name = id;
    event->start_ns = start_ns;
    event->end_ns = end_ns;
    event->thread = 1;
    return event;
}

static snd_op_averages *
averages_of(snd_op_events *events)
{
    snd_op_averages *list = snd_op_averages_new();
    REQUIRE(list != NULL && snd_op_events_arrange(events) == SND_OK);
    REQUIRE(snd_op_events_average(events, &(snd_op_grouping){0}, list) == SND_OK);
    return list;
}

static const snd_op_average *
find(const snd_op_averages *list, const char *name)
{
    for (uint32_t i = 0; i < snd_op_averages_count(list); i++)
        if (strcmp(snd_op_averages_at(list, i)->name, name) == 0)
            return snd_op_averages_at(list, i);
    return NULL;
}

static void
children_take_their_time_from_the_parent(void)
{
    snd_op_events *events = snd_op_events_new(&(snd_op_events_options){0});
    REQUIRE(events != NULL);
    add_event(events, "outer", 0, 100000);
    add_event(events, "inner", 10000, 30000);
    add_event(events, "inner", 40000, 60000);
    add_event(events, "elsewhere", 20000, 50000)->thread = 2;
    add_event(events, "across", 90000, 120000);
    add_event(events, "wandering", 10000, 20000)->is_async = 1;
    snd_op_averages *list = averages_of(events);
    CHECK(find(list, "outer")->self_cpu_us == 60);
    CHECK(find(list, "outer")->total_cpu_us == 100);
    CHECK(find(list, "inner")->self_cpu_us == 40);
    CHECK(find(list, "inner")->has_parent);
    CHECK(find(list, "elsewhere")->self_cpu_us == 30);
    CHECK(!find(list, "across")->has_parent);
    CHECK(find(list, "wandering")->self_cpu_us == 0);
    CHECK(find(list, "wandering")->total_cpu_us == 10);
    snd_op_averages_free(list);
    snd_op_events_free(events);
}

static void
an_only_child_of_the_same_name_is_its_parent(void)
{
    snd_op_events *events = snd_op_events_new(&(snd_op_events_options){0});
    REQUIRE(events != NULL);
    add_event(events, "add", 0, 50000);
    add_event(events, "add", 10000, 40000);
    add_event(events, "add", 15000, 35000);
    add_event(events, "fill", 20000, 30000);
    snd_op_averages *list = averages_of(events);
    CHECK_NUMBER(find(list, "add")->count, 1);
    CHECK(find(list, "add")->self_cpu_us == 40);
    snd_op_averages_free(list);
    snd_op_events_free(events);
}

static void
memory_belongs_to_all_that_ran(void)
{
    snd_op_events *events = snd_op_events_new(&(snd_op_events_options){0});
    REQUIRE(events != NULL);
    uint32_t name = text_of(events, "[memory]");
    add_event(events, "outer", 0, 100000);
    add_event(events, "inner", 10000, 30000);
    const snd_op_memory memory[] = {
        {.start_ns = 20000, .bytes = 64, .name = name},
        {.start_ns = 50000, .bytes = -16, .name = name},
        {.start_ns = 60000, .bytes = 8, .name = name, .device = SND_OP_CUDA},
        {.start_ns = 200000, .bytes = 5, .name = name},
    };
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        REQUIRE(snd_op_events_add_memory(events, &memory[i]) == SND_OK);
    snd_op_averages *list = averages_of(events);
    CHECK_NUMBER(find(list, "outer")->cpu_bytes, 48);
    CHECK(find(list, "outer")->self_cpu_bytes == -16);
    CHECK_NUMBER(find(list, "outer")->device_bytes, 8);
    CHECK_NUMBER(find(list, "inner")->cpu_bytes, 64);
    CHECK_NUMBER(find(list, "[memory]")->count, 1);
    CHECK_NUMBER(find(list, "[memory]")->cpu_bytes, 5);
    snd_op_averages_free(list);
    snd_op_events_free(events);
}

static void
kernels_belong_to_who_launched_them(void)
{
    snd_op_events *events = snd_op_events_new(&(snd_op_events_options){.has_device = 1});
    REQUIRE(events != NULL);
    add_event(events, "linear", 0, 100000)->correlation = 1;
    add_event(events, "mm", 10000, 90000)->correlation = 2;
    snd_op_event *kernel = add_event(events, "gemm", 120000, 170000);
    kernel->device = SND_OP_CUDA;
    kernel->linked = 2;
    snd_op_averages *list = averages_of(events);
    CHECK(find(list, "linear")->total_device_us == 50);
    CHECK(find(list, "linear")->self_device_us == 0);
    CHECK(find(list, "mm")->self_device_us == 50);
    CHECK(find(list, "gemm")->self_device_us == 50);
    CHECK(find(list, "gemm")->total_cpu_us == 0);
    snd_op_averages_free(list);
    snd_op_events_free(events);
}

/* Everything that allocates, with the n-th allocation failing. */
static snd_status
try_all(long allowed)
{
    snd_status status = SND_NO_MEMORY;
    snd_buffer out = {0};

    snd_alloc_fail_after(allowed);
    snd_op_events *events = snd_op_events_new(&(snd_op_events_options){.has_device = 1});
    snd_op_averages *list = snd_op_averages_new();
    snd_op_event *event = events == NULL ? NULL : snd_op_events_add(events);
    if (event != NULL && list != NULL) {
        event->end_ns = 1000;
        event->linked = 3;
        event->scope = SND_OP_SCOPE_BACKWARD;
        status = snd_op_events_add_memory(events, &(snd_op_memory){.start_ns = 5000, .bytes = 1});
    }
    if (status == SND_OK)
        status = snd_op_events_arrange(events);
    if (status == SND_OK)
        status = snd_op_events_share_stacks(events);
    if (status == SND_OK)
        status = snd_op_events_average(events, &(snd_op_grouping){.by_shapes = 1, .stack_count = 1}, list);
    snd_op_table_options options = SND_OP_TABLE_DEFAULTS;
    if (status == SND_OK)
        status = snd_op_averages_text(list, &options, &out);
    if (status == SND_OK)
        status = snd_op_averages_csv(list, "count", &out);
    snd_alloc_fail_after(-1);
    snd_buffer_free(&out);
    snd_op_averages_free(list);
    snd_op_events_free(events);
    return status;
}

static void
every_failed_allocation_is_reported(void)
{
    long allowed = 0;

    while (allowed < 1000 && try_all(allowed) == SND_NO_MEMORY)
        allowed++;
    CHECK(allowed > 10 && allowed < 1000);
    CHECK(try_all(allowed) == SND_OK);
}

int
main(void)
{
    RUN(equal_keys_are_one_row);
    RUN(the_table_is_sorted_and_limited);
    RUN(the_table_says_what_it_is_of);
    RUN(what_is_unknown_is_refused);
    RUN(no_rows_are_no_text);
    RUN(values_with_commas_are_quoted);
    RUN(children_take_their_time_from_the_parent);
    RUN(an_only_child_of_the_same_name_is_its_parent);
    RUN(memory_belongs_to_all_that_ran);
    RUN(kernels_belong_to_who_launched_them);
    RUN(every_failed_allocation_is_reported);
    return check_report();
}
