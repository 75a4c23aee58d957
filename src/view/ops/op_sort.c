/* Sorting rows of operators by the names that PyTorch gives their numbers. */
#include "base/alloc.h"
#include "view/ops/ops.h"

#include <stdlib.h>
#include <string.h>

/* A name, and its number in a row. */
#define NUMBER_MAP(X)                                     \
    X("count", (double)row->count)                        \
    X("cpu_time", snd_op_cpu_average(row))                \
    X("cpu_time_total", row->total_cpu_us)                \
    X("self_cpu_time_total", row->self_cpu_us)            \
    X("cpu_memory_usage", row->cpu_bytes)                 \
    X("self_cpu_memory_usage", row->self_cpu_bytes)       \
    X("device_time", snd_op_device_average(row))          \
    X("device_time_total", row->total_device_us)          \
    X("self_device_time_total", row->self_device_us)      \
    X("device_memory_usage", row->device_bytes)           \
    X("self_device_memory_usage", row->self_device_bytes) \
    X("flops", row->flops)

#define NAME_ONLY(name, value) name,
static const char *const names[] = {NUMBER_MAP(NAME_ONLY)};
#define NAME_COUNT (sizeof names / sizeof *names)

/* Sorts by text. */
#define BY_KEY "key"

static double
number_of(const snd_ops_row *row, size_t name)
{
#define VALUE_ONLY(name, value) value,
    const double values[] = {NUMBER_MAP(VALUE_ONLY)};
    return values[name];
}

/* If `text` begins with the word for some device: its length. */
static size_t
device_word(const char *text)
{
    static const char *const words[] = {"cuda", "xpu", "privateuse1"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(text, words[i], strlen(words[i])) == 0)
            return strlen(words[i]);
    return 0;
}

/* NAME_COUNT when it is not known. */
static size_t
find_name(const char *sort_by)
{
    char plain[64];
    size_t size = 0;

    while (*sort_by != '\0' && size < sizeof plain - sizeof "device") {
        size_t word = device_word(sort_by);
        if (word == 0) {
            plain[size++] = *sort_by++;
            continue;
        }
        memcpy(plain + size, "device", 6);
        size += 6;
        sort_by += word;
    }
    plain[size] = '\0';
    for (size_t i = 0; i < NAME_COUNT && *sort_by == '\0'; i++)
        if (strcmp(plain, names[i]) == 0)
            return i;
    return NAME_COUNT;
}

int
snd_op_sort_is_known(const char *sort_by)
{
    return strcmp(sort_by, BY_KEY) == 0 || find_name(sort_by) != NAME_COUNT;
}

const char *
snd_op_sort_names(void)
{
#define NAME_AND_COMMA(name, value) name ", "
    return NUMBER_MAP(NAME_AND_COMMA) BY_KEY " (cuda and xpu mean device)";
}

typedef struct place {
    double number;
    const char *text;
    uint32_t index;
} place;

static int
compare(const void *left, const void *right)
{
    const place *a = left, *b = right;
    int order = a->text == NULL ? 0 : strcmp(b->text, a->text);

    if (order == 0)
        order = (a->number < b->number) - (a->number > b->number);
    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

static void
fill(const snd_ops *self, const char *sort_by, place *places)
{
    size_t name = find_name(sort_by);

    for (uint32_t i = 0; i < self->count; i++) {
        const snd_ops_row *row = &self->rows[i];
        places[i] = (place){.index = i};
        if (name == NAME_COUNT)
            places[i].text = row->name;
        else
            places[i].number = number_of(row, name);
    }
}

snd_status
snd_op_sort(const snd_ops *self, const char *sort_by, uint32_t **order)
{
    uint32_t count = self->count;

    if (sort_by != NULL && !snd_op_sort_is_known(sort_by))
        return SND_BAD_ARGUMENT;
    uint32_t *result = snd_calloc((size_t)count + 1, sizeof *result);
    place *places = snd_calloc((size_t)count + 1, sizeof *places);
    if (result == NULL || places == NULL) {
        snd_free(result);
        snd_free(places);
        return SND_NO_MEMORY;
    }
    if (sort_by != NULL) {
        fill(self, sort_by, places);
        qsort(places, count, sizeof *places, compare);
    }
    for (uint32_t i = 0; i < count; i++)
        result[i] = sort_by == NULL ? i : places[i].index;
    snd_free(places);
    *order = result;
    return SND_OK;
}
