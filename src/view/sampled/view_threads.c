/* The view of threads: a row a track. */
#include "base/alloc.h"
#include "model/rollup.h"
#include "view/core/view.h"
#include "view/sampled/sample_table.h"
#include "view/sampled/tree.h"

#include <stdlib.h>
#include <string.h>

/* ---- the view of threads of a recording of samples: CPU time and waiting of each ---- */

enum {
    SAMPLED_NAME,
    CPU,
    CPU_SHARE,
    PYTHON,
    NATIVE,
    SYSTEM,
    WAITING,
    FIRST_WAIT,
    SAMPLED_LIFE = FIRST_WAIT + SND_SAMPLE_STATES - (SND_METRIC_WAIT_CPU - SND_METRIC_PYTHON),
    SAMPLES,
    SAMPLED_START,
    SAMPLED_THREADS,
    SAMPLED_THREAD_ID,
    SAMPLED_PROCESS_ID,
    SAMPLED_DROPPED,
    SAMPLED_COLUMN_COUNT
};

#define SHOWN SND_COLUMN_SHOWN
#define PART (SND_COLUMN_SHOWN | SND_COLUMN_NO_ZERO | SND_COLUMN_NO_EMPTY | SND_COLUMN_OPTIONAL)

static const snd_column sampled_columns[] = {
    [SAMPLED_NAME] = {"name", "thread", SND_UNIT_TEXT, SHOWN},
    [CPU] = {"cpu_ns", "CPU", SND_UNIT_NS, SHOWN | SND_COLUMN_NO_ZERO},
    [CPU_SHARE] = {"cpu_percent", "% of CPU", SND_UNIT_PERCENT, 0},
    [PYTHON] = {"python_ns", "python", SND_UNIT_NS, PART},
    [NATIVE] = {"native_ns", "native", SND_UNIT_NS, PART},
    [SYSTEM] = {"system_ns", "system", SND_UNIT_NS, PART},
    [WAITING] = {"waiting_ns", "waiting", SND_UNIT_NS, SHOWN | SND_COLUMN_NO_ZERO | SND_COLUMN_NO_EMPTY},
    [FIRST_WAIT] = {"wait_cpu_ns", "processor", SND_UNIT_NS, PART},
    {"wait_lock_ns", "lock", SND_UNIT_NS, PART},
    {"wait_gil_ns", "GIL", SND_UNIT_NS, PART},
    {"wait_io_ns", "I/O", SND_UNIT_NS, PART},
    {"wait_sleep_ns", "sleep", SND_UNIT_NS, PART},
    {"wait_other_ns", "other", SND_UNIT_NS, PART},
    [SAMPLED_LIFE] = {"life_ns", "life", SND_UNIT_NS, SHOWN},
    [SAMPLES] = {"samples", "samples", SND_UNIT_COUNT, SHOWN | SND_COLUMN_OPTIONAL},
    [SAMPLED_START] = {"start_ns", "start", SND_UNIT_NS, 0},
    [SAMPLED_THREADS] = {"threads", "threads", SND_UNIT_COUNT, 0},
    [SAMPLED_THREAD_ID] = {"thread_id", "thread id", SND_UNIT_COUNT, 0},
    [SAMPLED_PROCESS_ID] = {"process_id", "process id", SND_UNIT_COUNT, 0},
    [SAMPLED_DROPPED] = {"dropped", "dropped", SND_UNIT_COUNT, 0},
};

/* A row in the making: a track, or what on it stands for threads of its own. */
typedef struct thread {
    uint32_t track;
    const char *name; /* "[sonde]", "[short threads]"; NULL: the track itself */
    int is_main;
    uint64_t start_ns;
    snd_samples_numbers numbers;
} thread;

/* What stands for other threads. */
static const char *
name_of(const snd_profile_site *site)
{
    static const char *const names[] = {"[sonde]", "[short threads]"};

    for (size_t i = 0; i < sizeof names / sizeof names[0] && site->kind == SND_SITE_OTHER; i++)
        if (strcmp(site->name, names[i]) == 0)
            return names[i];
    return NULL;
}

/* sonde has two threads: one row for all that stands for others. */
static uint32_t
by_thread(const snd_rollup *rows, uint32_t node)
{
    const snd_profile_node *about = &rows->profile->nodes[node];
    const char *name = name_of(&rows->profile->sites[about->site]);
    const uint64_t key[] = {name == NULL ? about->track : SND_NONE, (uintptr_t)name};

    return ((const snd_samples *)rows->context)->is_taken[node] ? snd_rollup_key(rows, key, sizeof key) : SND_NONE;
}

/* All waiting counts here, that of native threads too; samples are those of all other views. */
static snd_metric_set
counted(const snd_rollup *rows, uint32_t node)
{
    snd_samples_numbers numbers;
    int has_samples = snd_samples_read(rows->context, node, &numbers) && numbers.samples != 0;

    return SND_METRIC_BIT(SND_SAMPLE_METRIC(SND_SAMPLE_STATES)) - SND_METRIC_BIT(SND_METRIC_PYTHON) +
           ((snd_metric_set)has_samples << SND_METRIC_SAMPLES);
}

static uint32_t
list_threads(const snd_samples *samples, thread **threads)
{
    const snd_profile *profile = samples->profile;
    uint32_t main_track = snd_tree_main_track(profile), count = 0;
    snd_rollup rows;

    snd_rollup_make(profile, by_thread, counted, (void *)samples, &rows);
    *threads = snd_new(rows.count, sizeof **threads);
    for (uint32_t i = 0; i < rows.count; i++) {
        const snd_profile_node *node = &profile->nodes[rows.first[i]];
        (*threads)[count] = (thread){.track = node->track,
                                     .is_main = node->track == main_track,
                                     .start_ns = profile->tracks[node->track].start_ns,
                                     .name = name_of(&profile->sites[node->site]),
                                     .numbers = snd_samples_row(&rows, i)};
        count += (uint32_t)snd_samples_is_any(&(*threads)[count].numbers);
    }
    return count;
}

/* The main thread, then as they started; what stands for other threads last. */
static int
compare_threads(const void *a, const void *b)
{
    const thread *x = a, *y = b;

    if ((x->name == NULL) != (y->name == NULL))
        return x->name == NULL ? -1 : 1;
    if (x->is_main != y->is_main)
        return x->is_main ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x->track < y->track ? -1 : x->track > y->track;
}

/* ---- rows ---- */

static void
set_numbers(const snd_samples *samples, const snd_samples_numbers *numbers, snd_cell *cells)
{
    uint64_t all = snd_samples_cpu(&samples->all), cpu = snd_samples_cpu(numbers);

    snd_set_whole(&cells[CPU], cpu);
    if (all != 0)
        snd_set_share(&cells[CPU_SHARE], 100.0 * (double)cpu / (double)all);
    snd_set_whole(&cells[WAITING], snd_samples_waiting(numbers));
    for (unsigned state = 0; state < SND_SAMPLE_STATES; state++)
        snd_set_whole(&cells[PYTHON + state + !SND_SAMPLE_IS_CPU(state)], numbers->states[state]);
    snd_set_whole(&cells[SAMPLES], numbers->samples);
}

static void
sampled_add_row(const snd_samples *samples, snd_table *table, const thread *of)
{
    const snd_profile_track *track = &samples->profile->tracks[of->track];
    snd_buffer name = {0};
    snd_cell *cells = snd_table_row(table, 0);
    if (of->name != NULL)
        snd_buffer_text(&name, of->name);
    else
        snd_thread_text(track, &name);
    snd_set_buffer(table, &cells[SAMPLED_NAME], &name);
    set_numbers(samples, &of->numbers, cells);
    snd_table_last(table)->colour = SND_COLOUR_PLAIN;
    if (of->name != NULL)
        return;
    snd_set_whole(&cells[SAMPLED_LIFE], track->end_ns > track->start_ns ? track->end_ns - track->start_ns : 0);
    snd_set_whole(&cells[SAMPLED_START], track->start_ns);
    snd_set_whole(&cells[SAMPLED_THREADS], track->thread_count);
    snd_set_whole(&cells[SAMPLED_THREAD_ID], track->thread_id);
    snd_set_whole(&cells[SAMPLED_PROCESS_ID], track->process_id);
    snd_set_whole(&cells[SAMPLED_DROPPED], track->dropped_entries + track->dropped_events);
}

/* Not part of the answer: programs add up themselves. */
static void
add_sum(const snd_samples *samples, snd_table *table, const thread *threads, uint32_t count)
{
    snd_samples_numbers sum = {0};
    snd_cell *cells = snd_table_row(table, 0);
    for (uint32_t i = 0; i < count; i++)
        snd_samples_add(&sum, &threads[i].numbers);
    snd_table_set_extra(table, SND_COLOUR_PLAIN);
    snd_set_text(table, &cells[SAMPLED_NAME], "all threads");
    set_numbers(samples, &sum, cells);
}

static void
sampled_add_rows(const snd_samples *samples, snd_table *table)
{
    thread *threads;
    uint32_t count = list_threads(samples, &threads);

    qsort(threads, count, sizeof *threads, compare_threads);
    for (uint32_t i = 0; i < count; i++)
        sampled_add_row(samples, table, &threads[i]);
    add_sum(samples, table, threads, count);
}

static void
ask_sampled_threads(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    snd_samples samples;
    snd_samples_make(profile, options, &samples);
    snd_table *table = snd_table_new("threads", sampled_columns, SAMPLED_COLUMN_COUNT);
    sampled_add_rows(&samples, table);
    snd_sample_table_finish(&samples, NULL, table, out);
}

SND_VIEW(sampled_threads, ask_sampled_threads)

enum { NAME, LIFE, IN_REGIONS, ENTRIES, THREADS, START, THREAD_ID, PROCESS_ID, DROPPED, COLUMN_COUNT };

static const snd_column columns[] = {
    [NAME] = {"name", "thread", SND_UNIT_TEXT, 1},
    [LIFE] = {"life_ns", "measured", SND_UNIT_NS, 1},
    [IN_REGIONS] = {"in_regions_ns", "in regions", SND_UNIT_NS, 1},
    [ENTRIES] = {"entries", "entries", SND_UNIT_COUNT, 1},
    [THREADS] = {"threads", "threads", SND_UNIT_COUNT, 1},
    [START] = {"start_ns", "start", SND_UNIT_NS, 1},
    [THREAD_ID] = {"thread_id", "thread id", SND_UNIT_COUNT, 1},
    [PROCESS_ID] = {"process_id", "process id", SND_UNIT_COUNT, 0},
    [DROPPED] = {"dropped", "dropped", SND_UNIT_COUNT, 1},
};

static void
add_row(const snd_profile *profile, snd_table *table, uint32_t node, const uint64_t *entries)
{
    uint32_t id = profile->nodes[node].track;
    const snd_profile_track *track = &profile->tracks[id];
    uint64_t life = track->end_ns > track->start_ns ? track->end_ns - track->start_ns : 0;
    uint64_t outside = snd_profile_whole(profile, node, SND_METRIC_SELF);
    snd_cell *cells = snd_table_row(table, 0);
    snd_set_text(table, &cells[NAME], track->name);
    snd_set_whole(&cells[LIFE], life);
    snd_set_whole(&cells[IN_REGIONS], life > outside ? life - outside : 0);
    snd_set_whole(&cells[ENTRIES], entries[id]);
    snd_set_whole(&cells[THREADS], track->thread_count);
    snd_set_whole(&cells[START], track->start_ns);
    snd_set_whole(&cells[THREAD_ID], track->thread_id);
    snd_set_whole(&cells[PROCESS_ID], track->process_id);
    snd_set_whole(&cells[DROPPED], track->dropped_entries + track->dropped_events);
}

/* How often each track entered a region. */
static uint64_t *
entries_by_track(const snd_profile *profile)
{
    uint64_t *entries = snd_calloc(profile->track_count, sizeof *entries);

    for (uint32_t i = 0; i < profile->node_count; i++)
        if (profile->sites[profile->nodes[i].site].kind == SND_SITE_REGION)
            entries[profile->nodes[i].track] += snd_profile_entries(profile, i);
    return entries;
}

/* A row for every track of a profile without operators. */
static void
add_rows(const snd_profile *profile, snd_table *table)
{
    snd_tree tree;
    snd_tree_make(profile, SND_SITE_THREAD, SND_METRIC_TOTAL, &tree);
    uint64_t *entries = entries_by_track(profile);

    for (uint32_t i = 0; i < tree.count; i++)
        add_row(profile, table, tree.rows[i].node, entries);
}

static void
ask_threads(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    if (snd_profile_has_samples(profile)) {
        snd_work_need(snd_view_sampled_threads(profile, options, out));
        return;
    }
    if (profile->track_count == 0)
        snd_work_end(SND_NO_DATA);
    const snd_profile *regions = snd_profile_without_ops(profile);
    snd_table *table = snd_table_new("threads", columns, COLUMN_COUNT);
    add_rows(regions == NULL ? profile : regions, table);
    *out = table;
}

SND_VIEW(threads, ask_threads)
