/* PyTorch's events as a profile: the tree, memory, kernels, stacks, and the rows that follow from it. */
#include "check.h"
#include "fixture.h"
#include "probe/op/torch_profile.h"
#include "view/core/table.h"
#include "view/ops/ops.h"

#include <string.h>

enum { UNKNOWN_DEVICE = 77 };

static snd_torch_events
no_events(void)
{
    snd_torch_events events = {0};

    REQUIRE(snd_torch_events_start(&events) == SND_OK);
    return events;
}

static uint32_t
text_of(const snd_torch_events *events, const char *text)
{
    uint32_t id;

    REQUIRE(snd_intern_add(events->texts, text, strlen(text), &id) == SND_OK);
    return id;
}

static snd_torch_event *
add_event(snd_torch_events *events, const char *name, int64_t start_us, int64_t end_us)
{
    snd_torch_event *event = snd_torch_events_add(events);

    REQUIRE(event != NULL);
    event->name = text_of(events, name);
    event->start_ns = start_us * 1000;
    event->end_ns = end_us * 1000;
    event->thread = 1;
    return event;
}

static void
add_memory(snd_torch_events *events, int64_t at_us, int64_t bytes, int32_t device)
{
    snd_torch_event *event = add_event(events, "[memory]", at_us, at_us);

    event->kind = SND_TORCH_MEMORY;
    event->bytes = bytes;
    event->device = device;
    event->linked = -1;
}

/* What they become; the events are freed. */
typedef struct outcome {
    snd_profile *profile;
    snd_ops ops;
} outcome;

static outcome
outcome_of(snd_torch_events *events, uint32_t lines)
{
    outcome made;

    REQUIRE(snd_torch_profile(events, &made.profile) == SND_OK);
    snd_torch_events_free(events);
    REQUIRE(snd_ops_make(&(snd_ops_question){.profile = made.profile, .lines = lines}, &made.ops) == SND_OK);
    return made;
}

static void
free_outcome(outcome *self)
{
    snd_ops_free(&self->ops);
    snd_profile_free(self->profile);
}

static const snd_ops_row *
find(const outcome *made, const char *name)
{
    for (uint32_t i = 0; i < made->ops.count; i++)
        if (strcmp(made->ops.rows[i].name, name) == 0)
            return &made->ops.rows[i];
    return NULL;
}

static void
children_take_their_time_from_the_parent(void)
{
    snd_torch_events events = no_events();

    add_event(&events, "outer", 0, 100);
    add_event(&events, "inner", 10, 30);
    add_event(&events, "inner", 40, 60);
    add_event(&events, "elsewhere", 20, 50)->thread = 2;
    add_event(&events, "across", 90, 120);
    add_event(&events, "wandering", 10, 20)->is_async = 1;
    outcome made = outcome_of(&events, 0);
    CHECK(find(&made, "outer")->self_cpu_us == 60);
    CHECK(find(&made, "outer")->total_cpu_us == 100);
    CHECK(find(&made, "inner")->self_cpu_us == 40);
    CHECK(find(&made, "inner")->has_parent);
    CHECK(find(&made, "elsewhere")->self_cpu_us == 30);
    CHECK(!find(&made, "across")->has_parent);
    CHECK(find(&made, "wandering")->self_cpu_us == 0);
    CHECK(find(&made, "wandering")->total_cpu_us == 10);
    CHECK(find(&made, "wandering")->detail.is_async);
    CHECK_NUMBER(made.profile->track_count, 2);
    CHECK_NUMBER(made.profile->node_count, 2 + 6); /* a node for each call */
    free_outcome(&made);
}

static void
an_only_child_of_the_same_name_is_its_parent(void)
{
    snd_torch_events events = no_events();

    add_event(&events, "add", 0, 50);
    add_event(&events, "add", 10, 40);
    add_event(&events, "add", 15, 35);
    add_event(&events, "fill", 20, 30);
    outcome made = outcome_of(&events, 0);
    CHECK_NUMBER(find(&made, "add")->count, 1);
    CHECK(find(&made, "add")->self_cpu_us == 40);
    CHECK(find(&made, "fill")->has_parent);
    free_outcome(&made);
}

static void
memory_belongs_to_all_that_ran(void)
{
    snd_torch_events events = no_events();

    add_event(&events, "outer", 0, 100);
    add_event(&events, "inner", 10, 30);
    add_memory(&events, 20, 64, SND_OP_CPU);
    add_memory(&events, 50, -16, SND_OP_CPU);
    add_memory(&events, 60, 3, SND_OP_CUDA);
    add_memory(&events, 61, 5, SND_OP_HIP);
    add_memory(&events, 62, 1000, UNKNOWN_DEVICE);
    add_memory(&events, 200, 5, SND_OP_CPU);
    outcome made = outcome_of(&events, 0);
    CHECK(find(&made, "outer")->cpu_bytes == 48);
    CHECK(find(&made, "outer")->self_cpu_bytes == -16);
    CHECK(find(&made, "outer")->device_bytes == 8);
    CHECK(find(&made, "inner")->cpu_bytes == 64);
    CHECK(find(&made, "inner")->device_bytes == 0);
    CHECK_NUMBER(find(&made, "[memory]")->count, 1);
    CHECK(find(&made, "[memory]")->cpu_bytes == 5);
    free_outcome(&made);
}

static void
the_inputs_of_an_operator_tell_its_rows_apart(void)
{
    snd_torch_events events = no_events();

    events.has_shapes = 1;
    add_event(&events, "with", 0, 100)->shapes = text_of(&events, "[[2, 3]]");
    add_event(&events, "without", 200, 300);
    outcome made = outcome_of(&events, 0);
    CHECK_TEXT(find(&made, "with")->detail.inputs, "[[2, 3]]");
    CHECK_TEXT(find(&made, "without")->detail.inputs, "[]");
    free_outcome(&made);
}

static void
kernels_belong_to_who_launched_them(void)
{
    snd_torch_events events = no_events();

    events.has_device = 1;
    add_event(&events, "linear", 0, 100)->correlation = 1;
    add_event(&events, "mm", 10, 90)->correlation = 2;
    snd_torch_event *kernel = add_event(&events, "gemm", 120, 170);
    kernel->device = SND_OP_CUDA;
    kernel->linked = 2;
    outcome made = outcome_of(&events, 0);
    CHECK(find(&made, "linear")->total_device_us == 50);
    CHECK(find(&made, "linear")->self_device_us == 0);
    CHECK(find(&made, "mm")->self_device_us == 50);
    CHECK(find(&made, "gemm")->self_device_us == 50);
    CHECK(find(&made, "gemm")->total_cpu_us == 0);
    CHECK_NUMBER(find(&made, "gemm")->detail.device, SND_OP_CUDA);
    CHECK(!find(&made, "gemm")->has_parent); /* though it stands below mm, it is on another track */
    const snd_profile_node *last = &made.profile->nodes[made.profile->node_count - 1];
    CHECK_TEXT(made.profile->tracks[last->track].name, "device 1");
    CHECK_NUMBER(last->parent, find_node(made.profile, "thread 0", "linear/mm"));
    free_outcome(&made);
}

static void
a_backward_operator_has_the_stack_of_its_forward_one(void)
{
    snd_torch_events events = no_events();
    uint32_t stack = text_of(&events, "model.py(3): forward\nmain.py(1): <module>");

    events.has_stacks = 1;
    snd_torch_event *forward = add_event(&events, "mm", 0, 10);
    forward->stack = stack;
    forward->sequence = 5;
    snd_torch_event *backward = add_event(&events, "MmBackward", 20, 40);
    backward->scope = SND_TORCH_BACKWARD;
    backward->thread = 2;
    backward->forward_thread = 1;
    backward->sequence = 5;
    snd_torch_event *inside = add_event(&events, "mul", 25, 30);
    inside->thread = 2;
    inside->sequence = 9;
    outcome made = outcome_of(&events, 1);
    CHECK_TEXT(find(&made, "mul")->stack, "model.py(3): forward");
    CHECK_TEXT(find(&made, "MmBackward")->stack, "model.py(3): forward");
    CHECK_NUMBER(find(&made, "MmBackward")->detail.scope, SND_TORCH_BACKWARD);
    free_outcome(&made);
}

static void
the_timeline_is_kept_when_it_is_wanted(void)
{
    snd_torch_events events = no_events();

    events.has_times = 1;
    add_event(&events, "late", 50, 60)->thread_id = 77;
    add_event(&events, "early", 10, 40)->thread_id = 77;
    outcome made = outcome_of(&events, 0);
    REQUIRE(made.profile->event_count == 2);
    CHECK_NUMBER(made.profile->events[0].start_ns, 10000);
    CHECK_NUMBER(made.profile->events[0].duration_ns, 30000);
    CHECK_TEXT(made.profile->sites[made.profile->nodes[made.profile->events[0].node].site].name, "early");
    CHECK_NUMBER(made.profile->tracks[0].thread_id, 77);
    CHECK_TEXT(made.ops.rows[0].name, "early");
    free_outcome(&made);
}

/* A copy in a function of the program, the transfer that it asked for, and a wait. */
static snd_torch_events
copying_events(void)
{
    snd_torch_events events = no_events();

    events.has_device = 1;
    add_event(&events, "train.py(12): to_device", 0, 100)->kind = SND_TORCH_PYTHON;
    add_event(&events, "nn.Module: Model_0", 5, 95)->kind = SND_TORCH_PYTHON;
    snd_torch_event *copy = add_event(&events, "aten::copy_", 10, 20);
    copy->correlation = 1;
    copy->is_copy = 1;
    copy->bytes = 40;
    snd_torch_event *transfer = add_event(&events, "Memcpy", 30, 50);
    transfer->device = SND_OP_CUDA;
    transfer->linked = 1;
    transfer->is_copy = 1;
    transfer->bytes = 1000;
    snd_torch_event *wait = add_event(&events, "enumerate(DataLoader)", 200, 205);
    wait->is_copy = 1;
    wait->bytes = -1;
    return events;
}

static void
what_moves_data_is_listed_by_who_asked_for_it(void)
{
    snd_torch_events events = copying_events();
    outcome made = outcome_of(&events, 0);
    snd_table *table;

    REQUIRE(snd_transfers_make(made.profile, &table) == SND_OK);
    REQUIRE(table->row_count == 3);
    CHECK_TEXT(table->rows[0].cells[0].text, "Memcpy");
    CHECK_TEXT(table->rows[0].cells[1].text, "train.py(12): to_device");
    CHECK_NUMBER(table->rows[0].cells[3].whole, 20000);
    CHECK_NUMBER(table->rows[0].cells[4].whole, 1000);
    CHECK_NUMBER(table->rows[0].cells[5].whole, 50000000);
    CHECK_TEXT(table->rows[1].cells[1].text, "train.py(12): to_device");
    CHECK_TEXT(table->rows[2].cells[1].text, "");
    CHECK(!table->rows[2].cells[4].is_there);
    snd_table_free(table);
    free_outcome(&made);
}

static void
a_recording_has_one_node_for_each_place(void)
{
    snd_torch_events events = no_events();

    add_event(&events, "outer", 0, 100);
    add_event(&events, "inner", 10, 30)->flops = 5;
    add_event(&events, "inner", 40, 70)->flops = 5;
    add_event(&events, "inner", 200, 210);
    snd_torch_event *kernel = add_event(&events, "kernel", 45, 55);
    kernel->device = SND_OP_CUDA;
    kernel->linked = 3;
    events.list[0].correlation = 3;
    events.by_place = 1;
    outcome made = outcome_of(&events, 0);
    CHECK(made.profile->node_count == 2 + 4); /* two roots, outer, inner in it and by itself, and the kernel */
    const snd_ops_row *inner = find(&made, "inner"), *outer = find(&made, "outer");
    CHECK(inner->count == 3 && inner->total_ns == 60000 && inner->self_ns == 60000);
    CHECK(inner->min_ns == 10000 && inner->max_ns == 30000 && inner->flops == 10);
    CHECK(outer->self_ns == 50000 && outer->total_ns == 100000);
    CHECK(find(&made, "kernel")->total_ns == 10000);
    for (uint32_t i = 0; i < made.profile->node_count; i++) {
        const snd_profile_node *node = &made.profile->nodes[i];
        CHECK(node->parent == SND_NONE || made.profile->nodes[node->parent].track == node->track);
    }
    free_outcome(&made);
}

static snd_status
try_recorded(void *context)
{
    snd_profile *profile = NULL;
    snd_status status = snd_torch_profile(context, &profile);

    snd_profile_free(profile);
    return status;
}

static snd_status
try_profile(void *context)
{
    snd_torch_events *events = context;
    snd_profile *profile = NULL;
    snd_table *table = NULL;
    snd_status status = snd_torch_profile(events, &profile);

    if (status == SND_OK)
        status = snd_transfers_make(profile, &table);
    snd_table_free(table);
    snd_profile_free(profile);
    return status;
}

static snd_status
try_events(void *context)
{
    snd_torch_events events = {0};
    snd_status status = snd_torch_events_start(&events);

    (void)context;
    if (status == SND_OK && snd_torch_events_add(&events) == NULL)
        status = SND_NO_MEMORY;
    snd_torch_events_free(&events);
    return status;
}

static void
every_failed_allocation_is_reported(void)
{
    snd_torch_events events = copying_events();

    events.has_shapes = events.has_stacks = events.has_times = 1;
    events.list[1].scope = SND_TORCH_BACKWARD;
    add_memory(&events, 15, 64, SND_OP_CUDA);
    add_memory(&events, 500, 64, SND_OP_CPU);
    CHECK(fail_each_allocation(try_profile, &events) > 10);
    events.by_place = 1;
    CHECK(fail_each_allocation(try_recorded, &events) > 10);
    CHECK(fail_each_allocation(try_events, NULL) > 2);
    snd_torch_events_free(&events);
}

int
main(void)
{
    RUN(children_take_their_time_from_the_parent);
    RUN(an_only_child_of_the_same_name_is_its_parent);
    RUN(memory_belongs_to_all_that_ran);
    RUN(the_inputs_of_an_operator_tell_its_rows_apart);
    RUN(kernels_belong_to_who_launched_them);
    RUN(a_backward_operator_has_the_stack_of_its_forward_one);
    RUN(the_timeline_is_kept_when_it_is_wanted);
    RUN(what_moves_data_is_listed_by_who_asked_for_it);
    RUN(a_recording_has_one_node_for_each_place);
    RUN(every_failed_allocation_is_reported);
    return check_report();
}
