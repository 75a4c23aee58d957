/* The report about compiled functions, on a profile made by hand. */
#include "check.h"
#include "fixture.h"
#include "fixture_graph.h"
#include "format/table/reports.h"
#include "view/graph/graph_tree.h"

#include <string.h>

static const snd_view_options usual;

static snd_status
write_report(const snd_profile *profile, snd_view_options options, snd_buffer *text)
{
    return snd_report_graph(profile, &options, &(snd_format_options){0}, text);
}

static void
the_report_has_every_section(void)
{
    static const char *const parts[] = {
        "Function train\n==============\n",
        "\nClass\n",
        "\nOps\n",
        "\nApply\n",
        "\nMemory: peaks\n",
        "\nNotes\n- ",
        "\nTips\n- ",
        "\nRewriting\n",
        "Function step, inside for{cpu,scan_fn}(n, x) of train\n",
        "Function unused\n===============\nno calls\n",
        "Total (3 functions)\n===================\n",
        "\nNever applied: 2 rewriters, 2.020 ms in total, longest first\n  local_slow, local_never\n",
        "\nMemory: largest peaks of a function\n",
    };
    snd_profile *profile = graph_profile();
    snd_buffer text = {0};

    REQUIRE(write_report(profile, usual, &text) == SND_OK);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strstr(text.data, parts[i]) == NULL)
            CHECK_TEXT("not in the report", parts[i]);
    CHECK(strstr(text.data, "recompiled") == NULL);
    CHECK_NUMBER(count_text(text.data, "\nClass\n"), 4); /* three functions ran */
    snd_buffer_free(&text);
    snd_profile_free(profile);
}

static void
a_part_of_the_report_can_be_asked_for(void)
{
    snd_profile *profile = graph_profile();
    const snd_graph_limits limits = {1, 2, 0};
    snd_buffer text = {0};

    REQUIRE(write_report(profile, (snd_view_options){.function = "train", .limits = &limits}, &text) == SND_OK);
    CHECK_NUMBER(count_text(text.data, "Function "), 2); /* with that inside it */
    CHECK(strstr(text.data, "Total (") == NULL);
    CHECK_NUMBER(count_text(text.data, "remaining: 2 classes"), 1);
    CHECK_NUMBER(count_text(text.data, "remaining: 3 ops"), 1);
    CHECK_NUMBER(count_text(text.data, "remaining: 3 nodes"), 2); /* of times and of memory */
    snd_buffer_clear(&text);
    REQUIRE(write_report(profile, (snd_view_options){.function = "step"}, &text) == SND_OK);
    CHECK(strncmp(text.data, "Function step\n", 14) == 0); /* as if it were called itself */
    snd_buffer_clear(&text);
    REQUIRE(write_report(profile, (snd_view_options){.total = 1}, &text) == SND_OK);
    CHECK_NUMBER(count_text(text.data, "Function "), 0);
    snd_buffer_clear(&text);
    CHECK(write_report(profile, (snd_view_options){.function = "other"}, &text) == SND_NO_DATA);
    snd_buffer_free(&text);
    snd_profile_free(profile);
}

static void
an_empty_note_is_none(void)
{
    snd_profile *profile = graph_profile();
    snd_buffer text = {0};

    set_info(profile, "graph_note_1", "");
    set_info(profile, "graph_tip_1", "");
    REQUIRE(write_report(profile, usual, &text) == SND_OK);
    CHECK(strstr(text.data, "Notes") == NULL);
    CHECK(strstr(text.data, "\nTips\n- train: x is copied to C order\n") != NULL);
    snd_buffer_free(&text);
    snd_profile_free(profile);
}

static snd_status
try_report(void *profile)
{
    snd_buffer text = {0};
    snd_status status = write_report(profile, usual, &text);
    snd_buffer_free(&text);
    return status;
}

static void
graphs_are_shown_with_their_functions(void)
{
    snd_profile *profile = graph_profile();
    snd_buffer text = {0};

    set_info(profile, "graph_text_1", "train\nSum [id A]\n └─ \x1b[2Jx\n");
    set_info(profile, "graph_text_2", "step\nExp [id A]");
    set_info(profile, "graph_text_3", "");
    REQUIRE(write_report(profile, usual, &text) == SND_OK);
    CHECK(strstr(text.data, "\nGraph of train\nSum [id A]\n") != NULL);
    CHECK(strstr(text.data, "\nGraph of step\nExp [id A]\n") != NULL);
    CHECK(strchr(text.data, '\x1b') == NULL);
    snd_buffer_clear(&text);
    REQUIRE(write_report(profile, (snd_view_options){.function = "step"}, &text) == SND_OK);
    CHECK_NUMBER(count_text(text.data, "Graph of "), 1);
    snd_buffer_clear(&text);
    REQUIRE(write_report(profile, (snd_view_options){.total = 1}, &text) == SND_OK);
    CHECK_NUMBER(count_text(text.data, "Graph of "), 0);
    CHECK(fail_each_allocation(try_report, profile) > 50);
    snd_buffer_free(&text);
    snd_profile_free(profile);
}

static void
limits_of_the_recording_are_the_usual_ones(void)
{
    snd_profile *profile = graph_profile();

    CHECK_NUMBER(snd_graph_limits_of(profile).ops, 20);
    CHECK_NUMBER(snd_graph_limits_of(profile).memory, 1024);
    set_info(profile, "graph_n_ops", "0");
    set_info(profile, "graph_n_apply", "7");
    set_info(profile, "graph_min_memory", "5000000000");
    CHECK_NUMBER(snd_graph_limits_of(profile).ops, 0);
    CHECK_NUMBER(snd_graph_limits_of(profile).applies, 7);
    CHECK_NUMBER(snd_graph_limits_of(profile).memory, UINT64_C(5000000000));
    snd_profile_free(profile);
}

static void
without_functions_there_is_no_report(void)
{
    snd_profile *profile = small_profile();
    snd_buffer text = {0};

    CHECK(write_report(profile, usual, &text) == SND_NO_DATA);
    CHECK_NUMBER(text.size, 0);
    snd_profile_free(profile);
}

static void
without_memory_it_says_so(void)
{
    snd_profile *profile = graph_profile();

    CHECK(fail_each_allocation(try_report, profile) > 50);
    snd_profile_free(profile);
}

int
main(void)
{
    RUN(the_report_has_every_section);
    RUN(a_part_of_the_report_can_be_asked_for);
    RUN(an_empty_note_is_none);
    RUN(graphs_are_shown_with_their_functions);
    RUN(limits_of_the_recording_are_the_usual_ones);
    RUN(without_functions_there_is_no_report);
    RUN(without_memory_it_says_so);
    return check_report();
}
