/* The view of threads of a recording of samples: CPU time and waiting of each. */
#include "base/alloc.h"
#include "view/sampled/sample_table.h"
#include "view/sampled/tree.h"

#include <stdlib.h>
#include <string.h>

enum {
    NAME,
    CPU,
    CPU_SHARE,
    PYTHON,
    NATIVE,
    SYSTEM,
    WAITING,
    FIRST_WAIT,
    LIFE = FIRST_WAIT + SND_SAMPLE_STATES - (SND_METRIC_WAIT_CPU - SND_METRIC_PYTHON),
    SAMPLES,
    START,
    THREADS,
    THREAD_ID,
    PROCESS_ID,
    DROPPED,
    COLUMN_COUNT
};

#define SHOWN SND_COLUMN_SHOWN
#define PART (SND_COLUMN_SHOWN | SND_COLUMN_NO_ZERO | SND_COLUMN_NO_EMPTY | SND_COLUMN_OPTIONAL)

static const snd_column columns[] = {
    [NAME] = {"name", "thread", SND_UNIT_TEXT, SHOWN},
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
    [LIFE] = {"life_ns", "life", SND_UNIT_NS, SHOWN},
    [SAMPLES] = {"samples", "samples", SND_UNIT_COUNT, SHOWN | SND_COLUMN_OPTIONAL},
    [START] = {"start_ns", "start", SND_UNIT_NS, 0},
    [THREADS] = {"threads", "threads", SND_UNIT_COUNT, 0},
    [THREAD_ID] = {"thread_id", "thread id", SND_UNIT_COUNT, 0},
    [PROCESS_ID] = {"process_id", "process id", SND_UNIT_COUNT, 0},
    [DROPPED] = {"dropped", "dropped", SND_UNIT_COUNT, 0},
};

/* A row in the making: a track, or what on it stands for threads of its own. */
typedef struct thread {
    uint32_t track;
    const char *name; /* "[sonde]", "[short threads]"; NULL: the track itself */
    int is_main;
    uint64_t start_ns;
    snd_samples_numbers numbers;
} thread;

/* Of a track: its own row, and the two of others. */
enum { OWN, SONDE, SHORT, ROWS_A_TRACK };

static unsigned
row_of_site(const snd_profile_site *site)
{
    if (site->kind != SND_SITE_OTHER)
        return OWN;
    return strcmp(site->name, "[sonde]") == 0 ? SONDE : strcmp(site->name, "[short threads]") == 0 ? SHORT : OWN;
}

/* All waiting counts here, that of native threads too; samples are those of all other views. */
static void
add_node(const snd_samples *samples, uint32_t node, snd_samples_numbers *sum)
{
    snd_samples_numbers counted;

    for (unsigned state = 0; state < SND_SAMPLE_STATES; state++)
        sum->states[state] += snd_profile_whole(samples->profile, node, SND_SAMPLE_METRIC(state));
    if (snd_samples_read(samples, node, &counted))
        sum->samples += counted.samples;
}

static void
add_up(const snd_samples *samples, thread *threads)
{
    const snd_profile *profile = samples->profile;
    uint32_t main_track = snd_tree_main_track(profile);

    for (uint32_t i = 0; i < profile->node_count; i++) {
        const snd_profile_node *node = &profile->nodes[i];
        const snd_profile_site *site = &profile->sites[node->site];
        thread *row = &threads[(size_t)node->track * ROWS_A_TRACK + row_of_site(site)];
        if (!samples->is_taken[i])
            continue;
        row->track = node->track;
        row->is_main = node->track == main_track;
        row->start_ns = profile->tracks[node->track].start_ns;
        row->name = row_of_site(site) == OWN ? NULL : site->name;
        add_node(samples, i, &row->numbers);
    }
}

/* sonde has two threads: one row for all that stands for others. */
static void
merge_others(thread *threads, size_t room)
{
    thread *first[ROWS_A_TRACK] = {NULL};

    for (size_t i = 0; i < room; i++) {
        thread **into = &first[i % ROWS_A_TRACK];
        if (threads[i].name == NULL)
            continue;
        if (*into == NULL)
            *into = &threads[i];
        else {
            snd_samples_add(&(*into)->numbers, &threads[i].numbers);
            threads[i].numbers = (snd_samples_numbers){0};
        }
    }
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
add_row(const snd_samples *samples, snd_table *table, const thread *of)
{
    const snd_profile_track *track = &samples->profile->tracks[of->track];
    snd_buffer name = {0};
    snd_cell *cells = snd_table_row(table, 0);
    if (of->name != NULL)
        snd_buffer_text(&name, of->name);
    else
        snd_thread_text(track, &name);
    snd_set_buffer(table, &cells[NAME], &name);
    set_numbers(samples, &of->numbers, cells);
    snd_table_last(table)->colour = SND_COLOUR_PLAIN;
    if (of->name != NULL)
        return;
    snd_set_whole(&cells[LIFE], track->end_ns > track->start_ns ? track->end_ns - track->start_ns : 0);
    snd_set_whole(&cells[START], track->start_ns);
    snd_set_whole(&cells[THREADS], track->thread_count);
    snd_set_whole(&cells[THREAD_ID], track->thread_id);
    snd_set_whole(&cells[PROCESS_ID], track->process_id);
    snd_set_whole(&cells[DROPPED], track->dropped_entries + track->dropped_events);
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
    snd_set_text(table, &cells[NAME], "all threads");
    set_numbers(samples, &sum, cells);
}

static void
add_rows(const snd_samples *samples, snd_table *table)
{
    size_t room = (size_t)samples->profile->track_count * ROWS_A_TRACK;
    thread *threads = snd_calloc(room + 1, sizeof *threads);
    uint32_t count = 0;

    add_up(samples, threads);
    merge_others(threads, room);
    for (size_t i = 0; i < room; i++)
        if (snd_samples_is_any(&threads[i].numbers))
            threads[count++] = threads[i];
    qsort(threads, count, sizeof *threads, compare_threads);
    for (uint32_t i = 0; i < count; i++)
        add_row(samples, table, &threads[i]);
    add_sum(samples, table, threads, count);
}

static void
ask_sampled_threads(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    snd_samples samples;
    snd_samples_make(profile, options, &samples);
    snd_table *table = snd_table_new("threads", columns, COLUMN_COUNT);
    add_rows(&samples, table);
    snd_sample_table_finish(&samples, NULL, table, out);
}

SND_VIEW(sampled_threads, ask_sampled_threads)
