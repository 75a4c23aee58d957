/* What the tables of samples share: columns of time and shares, texts of functions and places. */
#ifndef SND_VIEW_SAMPLE_TABLE_H
#define SND_VIEW_SAMPLE_TABLE_H

#include "base/buffer.h"
#include "view/sampled/samples.h"

/* Columns that stand side by side in this order, from the view's own number `at` on. */
enum {
    SND_SAMPLE_CPU,
    SND_SAMPLE_TIME,
    SND_SAMPLE_SHARE,
    SND_SAMPLE_PYTHON_SHARE,
    SND_SAMPLE_NATIVE_SHARE,
    SND_SAMPLE_SYSTEM_SHARE,
    SND_SAMPLE_WAITING_SHARE,
    SND_SAMPLE_PYTHON,
    SND_SAMPLE_NATIVE,
    SND_SAMPLE_SYSTEM,
    SND_SAMPLE_WAITING,
    SND_SAMPLE_WAITED,
    SND_SAMPLE_WAIT_CPU,
    SND_SAMPLE_WAIT_LOCK,
    SND_SAMPLE_WAIT_GIL,
    SND_SAMPLE_WAIT_IO,
    SND_SAMPLE_WAIT_SLEEP,
    SND_SAMPLE_WAIT_OTHER,
    SND_SAMPLE_SAMPLES,
    SND_SAMPLE_ERROR,
    SND_SAMPLE_COLUMN_COUNT
};

/* Their descriptions: what CPU time, all time and their share are called, and whether they and the parts of it are
 * shown. Which of both times it is, and what the share is of, the options say: see snd_sample_table_adapt. */
#define SND_SAMPLE_COLUMNS(at, cpu, cpu_title, time, time_title, share, time_traits, part_traits)              \
    [(at) + SND_SAMPLE_CPU] = {cpu, cpu_title, SND_UNIT_NS, time_traits},                                      \
            [(at) + SND_SAMPLE_TIME] = {time, time_title, SND_UNIT_NS, time_traits},                           \
            [(at) + SND_SAMPLE_SHARE] = {share, "", SND_UNIT_PERCENT, time_traits},                            \
            [(at) + SND_SAMPLE_PYTHON_SHARE] = {"python_percent", "python", SND_UNIT_PERCENT, part_traits},    \
            [(at) + SND_SAMPLE_NATIVE_SHARE] = {"native_percent", "native", SND_UNIT_PERCENT, part_traits},    \
            [(at) + SND_SAMPLE_SYSTEM_SHARE] = {"system_percent", "system", SND_UNIT_PERCENT, part_traits},    \
            [(at) + SND_SAMPLE_WAITING_SHARE] = {"waiting_percent", "waiting", SND_UNIT_PERCENT, part_traits}, \
            [(at) + SND_SAMPLE_PYTHON] = {"python_ns", "python", SND_UNIT_NS, SND_COLUMN_NO_ZERO},             \
            [(at) + SND_SAMPLE_NATIVE] = {"native_ns", "native", SND_UNIT_NS, SND_COLUMN_NO_ZERO},             \
            [(at) + SND_SAMPLE_SYSTEM] = {"system_ns", "system", SND_UNIT_NS, SND_COLUMN_NO_ZERO},             \
            [(at) + SND_SAMPLE_WAITING] = {"waiting_ns", "waiting", SND_UNIT_NS, SND_COLUMN_NO_ZERO},          \
            [(at) + SND_SAMPLE_WAITED] = {"waited_ns", "waiting", SND_UNIT_NS, SND_COLUMN_NO_ZERO},            \
            [(at) + SND_SAMPLE_WAIT_CPU] = {"wait_cpu_ns", "processor", SND_UNIT_NS, SND_COLUMN_NO_ZERO},      \
            [(at) + SND_SAMPLE_WAIT_LOCK] = {"wait_lock_ns", "lock", SND_UNIT_NS, SND_COLUMN_NO_ZERO},         \
            [(at) + SND_SAMPLE_WAIT_GIL] = {"wait_gil_ns", "GIL", SND_UNIT_NS, SND_COLUMN_NO_ZERO},            \
            [(at) + SND_SAMPLE_WAIT_IO] = {"wait_io_ns", "I/O", SND_UNIT_NS, SND_COLUMN_NO_ZERO},              \
            [(at) + SND_SAMPLE_WAIT_SLEEP] = {"wait_sleep_ns", "sleep", SND_UNIT_NS, SND_COLUMN_NO_ZERO},      \
            [(at) + SND_SAMPLE_WAIT_OTHER] = {"wait_other_ns", "other", SND_UNIT_NS, SND_COLUMN_NO_ZERO},      \
            [(at) + SND_SAMPLE_SAMPLES] = {"samples", "samples", SND_UNIT_COUNT, 0},                           \
            [(at) + SND_SAMPLE_ERROR] = {"error_percent", "+-", SND_UNIT_PERCENT, 0}

/* Fills the cells of these columns; `cells` is the first of them. */
void snd_sample_cells(const snd_samples *samples, const snd_samples_numbers *numbers, snd_cell *cells);

/* Shows what the options want: CPU time and its shares, with what the program waited beside it; or all time, and
 * waiting as one of its parts. Parts in seconds instead of shares; no waiting. */
void snd_sample_table_adapt(snd_table *table, uint32_t at, const snd_view_options *options);

/* What a function is called: its name, "region NAME"; and where it is: "json/decoder.py:343", "" where unknown. */
void snd_function_text(const snd_profile_site *site, snd_buffer *out);
void snd_place_text(const snd_own *own, const snd_profile_site *site, snd_buffer *out);

/* "own", "library", "native", "region" or "other". */
const char *snd_function_code(const snd_samples *samples, uint32_t function);

/* "main", "pool and 6 more". */
void snd_thread_text(const snd_profile_track *track, snd_buffer *out);

/* Sorts by `key` (NULL: not), adds the sentence below (how many samples, how often, what was missed, what it cost, how
 * exact it is), and hands over the table. */
void snd_sample_table_finish(const snd_samples *samples, const char *key, snd_table *table, snd_table **out);

/* The views of functions and of threads for a profile of samples. */
SND_MUST_USE snd_status snd_view_sampled_functions(const snd_profile *profile, const snd_view_options *options,
                                                   snd_table **out);
SND_MUST_USE snd_status snd_view_sampled_threads(const snd_profile *profile, const snd_view_options *options,
                                                 snd_table **out);

#endif
