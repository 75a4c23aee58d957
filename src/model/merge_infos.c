/* The facts of several processes as those of their sum. */
#include "base/alloc.h"
#include "model/merge_private.h"
#include "model/processes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* X(key, rule, what stands between the words of a list). A key that is not here has the rule FIRST. */
#define INFO_MAP(X)                      \
    X("samples", SUM, "")                \
    X("samples_effective", SUM, "")      \
    X("samples_missed", SUM, "")         \
    X("samples_plain", SUM, "")          \
    X("samples_plain_inside", SUM, "")   \
    X("native_stitched", SUM, "")        \
    X("imports_left_out_ns", SUM, "")    \
    X("native_misfits", SUM, "")         \
    X("interrupted_calls", SUM, "")      \
    X("cpu_ns", SUM, "")                 \
    X("own_cpu_ns", SUM, "")             \
    X("process_cpu_ns", SUM, "")         \
    X("process_cpu_before_ns", SUM, "")  \
    X("children_cpu_ns", SUM, "")        \
    X("children_unmeasured_ns", SUM, "") \
    X("lost_entries", SUM, "")           \
    X("lost_events", SUM, "")            \
    X("peak_bytes", SUM, "")             \
    X("live_bytes", SUM, "")             \
    X("alloc_bytes", SUM, "")            \
    X("copied_bytes", SUM, "")           \
    X("rss_start_bytes", SUM, "")        \
    X("rss_peak_bytes", SUM, "")         \
    X("memory_unseen_bytes", SUM, "")    \
    X("own_memory_bytes", SUM, "")       \
    X("peak_error_bytes", ROOT, "")      \
    X("alloc_error_bytes", ROOT, "")     \
    X("copy_error_bytes", ROOT, "")      \
    X("own_cost_ns", MOST, "")           \
    X("own_call_cost_ns", MOST, "")      \
    X("own_op_cost_ns", MOST, "")        \
    X("own_torch_ns", SUM, "")           \
    X("torch_events", SUM, "")           \
    X("torch_window", MOST, "")          \
    X("own_sample_cost_ns", MOST, "")    \
    X("sample_rate_hz", MOST, "")        \
    X("memory_interval_bytes", MOST, "") \
    X("native", MOST, "")                \
    X("all_code", MOST, "")              \
    X("memory_exact", LEAST, "")         \
    X("signals", LEAST, "")              \
    X("complete", LEAST, "")             \
    X("probes", LIST, ", ")              \
    X("library_paths", LIST, "\n")       \
    X("include", LIST, ",")              \
    X("exclude", LIST, ",")              \
    X("note", LIST, "\n")                \
    X("not_followed", LIST, "\n")        \
    X("host", SAME, "")                  \
    X("process_id", SAME, "")            \
    X("parent_id", SAME, "")             \
    X("rank", SAME, "")

typedef enum rule {
    FIRST, /* that of the process that started first, of those that have it */
    SUM,
    ROOT, /* the root of the sum of the squares */
    MOST,
    LEAST,
    LIST, /* all words that any of them has, sorted */
    SAME, /* only where it is the same for all */
} rule;

static const struct known {
    const char *key;
    rule rule;
    const char *between;
} known_infos[] = {
#define INFO_ENTRY(key, rule, between) {key, rule, between},
    INFO_MAP(INFO_ENTRY)
#undef INFO_ENTRY
};

static const struct known *
find_known(const char *key)
{
    static const struct known otherwise = {"", FIRST, ""};

    for (size_t i = 0; i < sizeof known_infos / sizeof known_infos[0]; i++)
        if (strcmp(known_infos[i].key, key) == 0)
            return &known_infos[i];
    return &otherwise;
}

/* ---- lists ---- */

static int
compare_words(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Cuts `text` at `between`, in place. */
static uint32_t
split(char *text, const char *between, char **words)
{
    uint32_t count = 0;

    while (text != NULL) {
        char *next = strstr(text, between);
        if (next != NULL)
            *next = '\0';
        if (*text != '\0')
            words[count++] = text;
        text = next == NULL ? NULL : next + strlen(between);
    }
    return count;
}

/* The words of both, each once. */
static snd_status
join(const char *a, const char *b, const char *between, snd_buffer *out)
{
    char *left = snd_strdup(a), *right = snd_strdup(b);
    char **words = snd_calloc(strlen(a) + strlen(b) + 2, sizeof *words);
    snd_status status = SND_NO_MEMORY;

    if (left != NULL && right != NULL && words != NULL) {
        uint32_t count = split(left, between, words);
        count += split(right, between, words + count);
        qsort(words, count, sizeof *words, compare_words);
        for (uint32_t i = 0; i < count; i++)
            if (i == 0 || strcmp(words[i], words[i - 1]) != 0) {
                snd_buffer_text(out, out->size == 0 ? "" : between);
                snd_buffer_text(out, words[i]);
            }
        status = snd_buffer_status(out);
    }
    snd_free(left);
    snd_free(right);
    snd_free(words);
    return status;
}

/* ---- one fact ---- */

static uint64_t
number_of(const char *text)
{
    return strtoull(text, NULL, 10);
}

static snd_status
set_number(snd_profile *sum, const char *key, const char *known, uint64_t value)
{
    return known != NULL && number_of(known) == value ? SND_OK : snd_profile_set_info_number(sum, key, value);
}

static snd_status
add_list(snd_merger *self, const struct known *about, const char *known, const char *value)
{
    snd_buffer text = {0};

    if (known != NULL && strcmp(known, value) == 0 && self->added != 0)
        return SND_OK;
    snd_status status = join(known == NULL ? "" : known, value, about->between, &text);
    if (status == SND_OK)
        status = snd_profile_set_info(self->sum, about->key, snd_buffer_str(&text));
    snd_buffer_free(&text);
    return status;
}

static snd_status
add_first(snd_merger *self, uint32_t process, snd_merge_info *extra, const char *key, const char *value, int is_known)
{
    const snd_process *processes = self->sum->processes;

    if (is_known && snd_process_compare(&processes[process], &processes[extra->process]) > 0)
        return SND_OK;
    extra->process = process;
    return snd_profile_set_info(self->sum, key, value);
}

/* The fact's place in the sum's list; a new one is "" until it is set. Others add facts to the sum too. */
static snd_status
place_of(snd_merger *self, const char *key, uint32_t *place)
{
    snd_status status = SND_OK;

    *place = snd_profile_info_place(self->sum, key);
    if (*place == SND_NONE) {
        *place = self->sum->info_count;
        status = snd_profile_set_info(self->sum, key, "");
    }
    if (status == SND_OK && !snd_make_room(&self->facts, *place + 1, &self->fact_capacity, sizeof *self->facts))
        status = SND_NO_MEMORY;
    while (status == SND_OK && self->fact_count <= *place)
        self->facts[self->fact_count++] = (snd_merge_info){0};
    return status;
}

static snd_status
add_info(snd_merger *self, uint32_t process, const char *key, const char *value)
{
    const struct known *about = find_known(key);
    uint32_t place, count = self->sum->info_count;
    snd_status status = place_of(self, key, &place);
    if (status != SND_OK)
        return status;
    snd_merge_info *extra = &self->facts[place];
    const char *known = place == count ? NULL : self->sum->infos[place].value;
    uint64_t number = number_of(value), before = known == NULL ? 0 : number_of(known);

    switch (about->rule) {
    case SUM:
        return set_number(self->sum, key, known, before + number);
    case ROOT:
        extra->squares += (unsigned __int128)number * number;
        return set_number(self->sum, key, known, (uint64_t)sqrt((double)extra->squares));
    case MOST:
        return set_number(self->sum, key, known, known == NULL || number > before ? number : before);
    case LEAST:
        return set_number(self->sum, key, known, known == NULL || number < before ? number : before);
    case LIST:
        return add_list(self, about, known, value);
    case SAME:
        if (known == NULL && self->added == 0)
            return snd_profile_set_info(self->sum, key, value);
        return known == NULL || strcmp(known, value) == 0 ? SND_OK : snd_profile_set_info(self->sum, key, "");
    case FIRST:
    default:
        return add_first(self, process, extra, key, value, known != NULL);
    }
}

/* What the sum has of the kind SAME and this process has not. */
static snd_status
drop_missing(snd_merger *self, const snd_profile *profile)
{
    snd_status status = SND_OK;

    for (size_t i = 0; i < sizeof known_infos / sizeof known_infos[0] && status == SND_OK; i++) {
        const char *key = known_infos[i].key;
        if (known_infos[i].rule == SAME && snd_profile_info(self->sum, key) != NULL &&
            snd_profile_info(profile, key) == NULL)
            status = snd_profile_set_info(self->sum, key, "");
    }
    return status;
}

snd_status
snd_merge_infos(snd_merger *self, uint32_t process, const snd_profile *profile)
{
    snd_status status = SND_OK;

    for (uint32_t i = 0; i < profile->info_count && status == SND_OK; i++)
        status = add_info(self, process, profile->infos[i].key, profile->infos[i].value);
    return status == SND_OK ? drop_missing(self, profile) : status;
}

/* ---- what is known at the end ---- */

/* The highest point of a series; 0 and `*at_ns` 0 where there is none. */
static uint64_t
highest(const snd_profile *profile, const char *name, uint64_t *at_ns)
{
    const snd_series *series = snd_profile_series(profile, name);
    double most = 0;

    *at_ns = 0;
    for (uint32_t i = 0; series != NULL && i < series->count; i++)
        if (series->points[i].value > most) {
            most = series->points[i].value;
            *at_ns = series->points[i].at_ns;
        }
    return (uint64_t)most;
}

static snd_status
finish_memory(snd_profile *sum)
{
    uint64_t heap_at, rss_at;
    uint64_t heap = highest(sum, "heap", &heap_at), rss = highest(sum, "rss", &rss_at);
    snd_status status = SND_OK;

    if (snd_profile_series(sum, "heap") != NULL)
        status = snd_profile_set_info_number(sum, "peak_together_bytes", heap);
    if (status == SND_OK && snd_profile_series(sum, "heap") != NULL)
        status = snd_profile_set_info_number(sum, "peak_at_ns", heap_at);
    if (status == SND_OK && rss != 0)
        status = snd_profile_set_info_number(sum, "rss_together_bytes", rss);
    return status;
}

static const snd_process *
first_of(const snd_profile *profile)
{
    const snd_process *first = &profile->processes[0];

    for (uint32_t i = 1; i < profile->process_count; i++)
        if (snd_process_compare(&profile->processes[i], first) < 0)
            first = &profile->processes[i];
    return first;
}

/* A fact that differs is none of the sum's. */
static int
differs(const snd_info *info)
{
    return find_known(info->key)->rule == SAME && *info->value == '\0';
}

snd_status
snd_merge_finish_infos(snd_merger *self)
{
    snd_profile *sum = self->sum;
    snd_status status = snd_profile_drop_infos(sum, differs);

    if (status != SND_OK || sum->process_count == 0)
        return status;
    const snd_process *first = first_of(sum);
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {
        {"processes", sum->process_count},
        {"length_ns", self->length_ns},
        {"start_realtime_ns", first->start_realtime_ns},
        {"start_monotonic_ns", first->start_monotonic_ns},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0] && status == SND_OK; i++)
        status = snd_profile_set_info_number(sum, numbers[i].key, numbers[i].value);
    if (status == SND_OK && sum->memory.history_count != 0)
        status = snd_profile_set_info_number(sum, "history_step_ns", snd_merge_history_step(self));
    return status == SND_OK ? finish_memory(sum) : status;
}
