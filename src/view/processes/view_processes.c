/* Room: views of several processes. */
/* The view of processes: those that were merged, or the one that was measured. */
#include "base/alloc.h"
#include "model/processes.h"
#include "view/core/view.h"
#include "view/sampled/sample_table.h"

#include <stdlib.h>

enum { NUMBER, PROCESS_ID, PARENT_ID, RANK, HOST, START, LENGTH, CPU, STATE, PROGRAM, ARGUMENTS, PROBES, COLUMN_COUNT };

#define SHOWN SND_COLUMN_SHOWN

static const snd_column columns[] = {
    [NUMBER] = {"id", "id", SND_UNIT_COUNT, SHOWN},
    [PROCESS_ID] = {"process_id", "pid", SND_UNIT_COUNT, SHOWN},
    [PARENT_ID] = {"parent_id", "parent", SND_UNIT_COUNT, SHOWN | SND_COLUMN_NO_EMPTY | SND_COLUMN_OPTIONAL},
    [RANK] = {"rank", "rank", SND_UNIT_COUNT, SHOWN | SND_COLUMN_NO_EMPTY},
    [HOST] = {"host", "host", SND_UNIT_TEXT, SHOWN | SND_COLUMN_OPTIONAL},
    [START] = {"start_ns", "start", SND_UNIT_NS, SHOWN},
    [LENGTH] = {"length_ns", "length", SND_UNIT_NS, SHOWN},
    [CPU] = {"cpu_ns", "CPU", SND_UNIT_NS, SHOWN | SND_COLUMN_NO_EMPTY},
    [STATE] = {"state", "state", SND_UNIT_TEXT, SHOWN | SND_COLUMN_OPTIONAL},
    [PROGRAM] = {"program", "program", SND_UNIT_TEXT, SHOWN | SND_COLUMN_MAIN},
    [ARGUMENTS] = {"arguments", "arguments", SND_UNIT_TEXT, 0},
    [PROBES] = {"probes", "probes", SND_UNIT_TEXT, 0},
};

static void
add_row(const snd_profile *profile, uint32_t id, snd_table *table)
{
    const snd_process *process = &profile->processes[id];
    snd_cell *cells = snd_table_row(table, 0);
    snd_set_whole(&cells[NUMBER], id);
    snd_set_whole(&cells[PROCESS_ID], process->process_id);
    if (process->parent_id != 0)
        snd_set_whole(&cells[PARENT_ID], process->parent_id);
    if (process->has_rank)
        snd_set_whole(&cells[RANK], process->rank);
    snd_set_text(table, &cells[HOST], process->host);
    snd_set_whole(&cells[START], process->offset_ns);
    snd_set_whole(&cells[LENGTH], process->length_ns);
    if (process->has_cpu)
        snd_set_whole(&cells[CPU], process->cpu_ns);
    snd_set_text(table, &cells[STATE], process->is_complete ? "complete" : "cut off");
    snd_set_text(table, &cells[PROGRAM], process->program);
    snd_set_text(table, &cells[ARGUMENTS], process->arguments);
    snd_set_text(table, &cells[PROBES], process->probes);
    snd_table_last(table)->colour = SND_COLOUR_PLAIN;
}

/* What children used of which nobody knows where; 0 where no CPU time was measured that it would stand beside. */
static uint64_t
unmeasured_ns(const snd_profile *profile)
{
    for (uint32_t i = 0; i < profile->process_count; i++)
        if (profile->processes[i].has_cpu)
            return snd_profile_info_number(profile, "children_unmeasured_ns");
    return 0;
}

static void
add_unmeasured(const snd_profile *profile, snd_table *table)
{
    uint64_t cpu = unmeasured_ns(profile);
    if (cpu == 0)
        return;
    snd_cell *cells = snd_table_row(table, 0);
    snd_table_set_extra(table, SND_COLOUR_PLAIN);
    snd_set_text(table, &cells[PROGRAM], "[children, not measured]");
    snd_set_whole(&cells[CPU], cpu);
}

/* Not part of the answer: programs add up themselves. */
static void
add_sum(const snd_profile *profile, snd_table *table)
{
    uint64_t cpu = unmeasured_ns(profile), end = 0;
    int has_cpu = 0;
    snd_cell *cells = snd_table_row(table, 0);
    for (uint32_t i = 0; i < profile->process_count; i++) {
        const snd_process *process = &profile->processes[i];
        cpu += process->cpu_ns;
        has_cpu |= process->has_cpu;
        end = process->offset_ns + process->length_ns > end ? process->offset_ns + process->length_ns : end;
    }
    snd_table_set_extra(table, SND_COLOUR_PLAIN);
    snd_set_text(table, &cells[PROGRAM], "all processes");
    snd_set_whole(&cells[LENGTH], end);
    if (has_cpu)
        snd_set_whole(&cells[CPU], cpu);
}

typedef struct place {
    const snd_process *process;
    uint32_t id;
} place;

static int
compare_places(const void *a, const void *b)
{
    return snd_process_compare(((const place *)a)->process, ((const place *)b)->process);
}

/* As they started. */
static void
add_rows(const snd_profile *profile, snd_table *table)
{
    place *order = snd_new(profile->process_count, sizeof *order);

    for (uint32_t i = 0; i < profile->process_count; i++)
        order[i] = (place){&profile->processes[i], i};
    qsort(order, profile->process_count, sizeof *order, compare_places);
    for (uint32_t i = 0; i < profile->process_count; i++)
        add_row(profile, order[i].id, table);
    add_unmeasured(profile, table);
    if (profile->process_count > 1)
        add_sum(profile, table);
}

static void
ask_processes(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    (void)options;
    if (profile->process_count == 0)
        snd_work_end(SND_NO_DATA);
    snd_table *table = snd_table_new("processes", columns, COLUMN_COUNT);
    add_rows(profile, table);
    *out = table;
}

SND_VIEW(processes, ask_processes)
