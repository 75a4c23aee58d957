/* Rows of operators, and their table as PyTorch prints it. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "view/ops/ops.h"

#include <string.h>

static void
add_row(snd_profile *profile, const char *name, const char *detail, double self_us, double total_us)
{
    const snd_profile_site site = {.kind = SND_SITE_OP, .name = name, .file = "", .detail = detail};
    uint32_t id, node;

    REQUIRE(snd_profile_add_site(profile, &site, &id) == SND_OK);
    REQUIRE(snd_profile_add_node(profile, 0, 0, id, &node) == SND_OK);
    set_whole(profile, node, SND_METRIC_COUNT, 1);
    set_real(profile, node, SND_METRIC_OP_CPU, total_us);
    set_real(profile, node, SND_METRIC_OP_CPU_SELF, self_us);
}

static snd_profile *
empty_profile(void)
{
    snd_profile *profile = snd_profile_new();

    REQUIRE(profile != NULL);
    add_root(profile, add_track(profile, "main", 1, 0, 0), 0, 0);
    return profile;
}

static snd_ops
rows_of(snd_profile *profile)
{
    const snd_ops_question asked = {.profile = profile, .by_shape = 1, .by_overload = 1};
    snd_ops ops;

    REQUIRE(snd_ops_make(&asked, &ops) == SND_OK);
    return ops;
}

static snd_profile *
make_profile(void)
{
    snd_profile *profile = empty_profile();

    add_row(profile, "aten::mm", "[[2, 3], [3, 2]]", 10, 10);
    add_row(profile, "aten::linear", "[[2, 3]]", 2, 12.5);
    add_row(profile, "aten::mm", "[[2, 3], [3, 2]]\nscope 1", 1500, 1500);
    add_row(profile, "aten::mm", "[[4, 3], [3, 4]]", 1, 1);
    return profile;
}

static void
equal_keys_are_one_row(void)
{
    snd_profile *profile = make_profile();
    snd_ops ops = rows_of(profile);

    CHECK_NUMBER(ops.count, 3);
    CHECK_TEXT(ops.rows[0].name, "aten::mm");
    CHECK_NUMBER(ops.rows[0].count, 2);
    CHECK(ops.rows[0].self_cpu_us == 1510);
    CHECK_NUMBER(ops.rows[0].self_ns, 1510000);
    CHECK_TEXT(ops.rows[1].name, "aten::linear");
    CHECK_TEXT(ops.rows[2].shapes, "[[4, 3], [3, 4]]");
    CHECK_TEXT(ops.rows[0].overload, "");
    snd_ops_row total = snd_ops_total(&ops);
    CHECK_TEXT(total.name, "Total");
    CHECK_NUMBER(total.count, 4);
    CHECK(total.self_cpu_us == 1513);
    snd_ops_free(&ops);
    snd_profile_free(profile);
}

static void
what_else_the_detail_says_tells_rows_apart(void)
{
    snd_profile *profile = empty_profile();

    add_row(profile, "add", "[[2]]", 1, 1);
    add_row(profile, "add", "[[2]]\noverload Tensor\ndevice 1\nscope 7", 2, 2);
    add_row(profile, "add", "[[2]]\noverload Tensor\ndevice 1\nasync 1", 4, 4);
    add_row(profile, "add", "[[2]]\noverload Tensor\nlegacy 1", 8, 8);
    snd_ops ops = rows_of(profile);
    REQUIRE(ops.count == 3);
    CHECK_TEXT(ops.rows[1].shapes, "[[2]]");
    CHECK_TEXT(ops.rows[1].overload, "Tensor");
    CHECK_NUMBER(ops.rows[1].count, 2);
    CHECK_NUMBER(ops.rows[1].detail.device, 1);
    CHECK_NUMBER(ops.rows[1].detail.scope, 7); /* of the first */
    CHECK(!ops.rows[1].detail.is_async);
    CHECK(ops.rows[2].detail.is_legacy);
    snd_ops_free(&ops);
    snd_profile_free(profile);
}

static void
a_detail_is_read_as_it_was_written(void)
{
    const snd_op_detail written = {.inputs = "[[2]]",
                                   .overload = "out",
                                   .inputs_size = 5,
                                   .overload_size = 3,
                                   .device = 20,
                                   .scope = 1,
                                   .is_async = 1,
                                   .is_legacy = 1};
    snd_buffer text = {0};

    snd_op_detail_write(&written, &text);
    CHECK_TEXT(snd_buffer_str(&text), "[[2]]\noverload out\ndevice 20\nscope 1\nasync 1\nlegacy 1");
    snd_op_detail read = snd_op_detail_read(snd_buffer_str(&text));
    CHECK(read.inputs_size == 5 && memcmp(read.inputs, "[[2]]", 5) == 0);
    CHECK(read.overload_size == 3 && memcmp(read.overload, "out", 3) == 0);
    CHECK(read.device == 20 && read.scope == 1 && read.is_async && read.is_legacy);
    read = snd_op_detail_read("float64[3]");
    CHECK(read.inputs_size == 10 && read.overload_size == 0 && read.device == SND_OP_CPU && read.scope == 0);
    snd_buffer_free(&text);
}

static void
the_table_is_sorted_and_limited(void)
{
    snd_profile *profile = make_profile();
    snd_ops ops = rows_of(profile);
    snd_op_table_options options = SND_OP_TABLE_DEFAULTS;
    snd_buffer out = {0};

    options.sort_by = "self_cpu_time_total";
    options.row_limit = 1;
    CHECK(snd_ops_text(&ops, &options, &out) == SND_OK);
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
    snd_ops_free(&ops);
    snd_profile_free(profile);
}

static void
the_table_says_what_it_is_of(void)
{
    snd_profile *profile = make_profile();
    snd_ops ops = rows_of(profile);
    snd_op_table_options options = SND_OP_TABLE_DEFAULTS;
    snd_buffer out = {0};

    options.header = "Of the second step";
    options.top_level_only = 1;
    CHECK(snd_ops_text(&ops, &options, &out) == SND_OK);
    CHECK_HAS(snd_buffer_str(&out), "=\nOf the second step\n");
    CHECK_HAS(snd_buffer_str(&out), "=\nThis report only display top-level ops statistics\n");
    snd_buffer_free(&out);
    snd_ops_free(&ops);
    snd_profile_free(profile);
}

static void
memory_is_printed_in_the_unit_that_fits(void)
{
    const double sizes[] = {512, -2048, 3.5 * 1024 * 1024, 1024.0 * 1024 * 1024};
    const char *const texts[] = {" 512 B ", " -2.00 KB ", " 3.50 MB ", " 1.00 GB "};
    snd_profile *profile = empty_profile();
    snd_op_table_options options = SND_OP_TABLE_DEFAULTS;
    snd_buffer out = {0};

    for (uint32_t i = 0; i < 4; i++) {
        char name[] = {'o', (char)('0' + i), '\0'};
        add_row(profile, name, "[]", 1, 1);
        set_real(profile, profile->node_count - 1, SND_METRIC_OP_MEMORY, sizes[i]);
    }
    snd_ops ops = rows_of(profile);
    options.has_memory = 1;
    CHECK(snd_ops_text(&ops, &options, &out) == SND_OK);
    for (unsigned i = 0; i < 4; i++)
        CHECK_HAS(snd_buffer_str(&out), texts[i]);
    snd_buffer_free(&out);
    snd_ops_free(&ops);
    snd_profile_free(profile);
}

static void
what_is_unknown_is_refused(void)
{
    snd_profile *profile = make_profile();
    snd_ops ops = rows_of(profile);
    snd_op_table_options options = SND_OP_TABLE_DEFAULTS;
    snd_buffer out = {0};

    options.sort_by = "cpu";
    CHECK(snd_ops_text(&ops, &options, &out) == SND_BAD_ARGUMENT);
    options.sort_by = "self_cuda_time_total";
    CHECK(snd_ops_text(&ops, &options, &out) == SND_OK);
    options.time_unit = "ns";
    CHECK(snd_ops_text(&ops, &options, &out) == SND_BAD_ARGUMENT);
    CHECK(snd_ops_csv(&ops, "a name that is longer than any that could be known, and then some more", &out) ==
          SND_BAD_ARGUMENT);
    CHECK(snd_op_sort_is_known("key"));
    CHECK(!snd_op_sort_is_known(""));
    CHECK_HAS(snd_op_sort_names(), "self_cpu_time_total, ");
    CHECK_HAS(snd_op_sort_names(), "key (cuda and xpu mean device)");
    snd_buffer_free(&out);
    snd_ops_free(&ops);
    snd_profile_free(profile);
}

static void
no_rows_are_no_text(void)
{
    snd_profile *profile = empty_profile();
    snd_ops ops = rows_of(profile);
    snd_op_table_options options = SND_OP_TABLE_DEFAULTS;
    snd_buffer out = {0};

    CHECK(snd_ops_text(&ops, &options, &out) == SND_OK);
    CHECK_TEXT(snd_buffer_str(&out), "");
    CHECK_NUMBER(snd_ops_total(&ops).count, 0);
    snd_buffer_free(&out);
    snd_ops_free(&ops);
    snd_profile_free(profile);
}

static void
values_with_commas_are_quoted(void)
{
    snd_profile *profile = empty_profile();
    snd_buffer out = {0};

    add_row(profile, "say \"a, b\"", "[[1]]", 1.5, 2.5);
    snd_ops ops = rows_of(profile);
    CHECK(snd_ops_csv(&ops, NULL, &out) == SND_OK);
    const char *line = strchr(snd_buffer_str(&out), '\n') + 1;
    CHECK_TEXT(line, "\"say \"\"a, b\"\"\",,[[1]],,0,0,1,1.5,2.5,2.5,0,0,0,0,0,0,0,0\n");
    snd_buffer_free(&out);
    snd_ops_free(&ops);
    snd_profile_free(profile);
}

static snd_status
try_table(void *context)
{
    const snd_ops_question asked = {.profile = context, .before = context, .more = context, .by_shape = 1, .lines = 1};
    snd_op_table_options options = SND_OP_TABLE_DEFAULTS;
    snd_ops ops = {0};
    snd_buffer out = {0};
    snd_status status = snd_ops_make(&asked, &ops);

    options.max_name_width = 8;
    if (status == SND_OK)
        status = snd_ops_text(&ops, &options, &out);
    if (status == SND_OK)
        status = snd_ops_csv(&ops, "count", &out);
    snd_buffer_free(&out);
    snd_ops_free(&ops);
    return status;
}

static void
every_failed_allocation_is_reported(void)
{
    snd_profile *profile = make_profile();

    CHECK(fail_each_allocation(try_table, profile) > 10);
    snd_profile_free(profile);
}

int
main(void)
{
    RUN(equal_keys_are_one_row);
    RUN(what_else_the_detail_says_tells_rows_apart);
    RUN(a_detail_is_read_as_it_was_written);
    RUN(the_table_is_sorted_and_limited);
    RUN(the_table_says_what_it_is_of);
    RUN(memory_is_printed_in_the_unit_that_fits);
    RUN(what_is_unknown_is_refused);
    RUN(no_rows_are_no_text);
    RUN(values_with_commas_are_quoted);
    RUN(every_failed_allocation_is_reported);
    return check_report();
}
