/* A file of cProfile as a profile of calls: {(file, line, name): (primitive, calls, self, total, callers)}. */
#include "base/alloc.h"
#include "base/status.h"
#include "format/stacks/import.h"
#include "format/stacks/marshal.h"

#include <math.h>
#include <string.h>

#define NS_PER_SECOND 1e9
#define SECONDS_LIMIT 4e9 /* more than a hundred years; as nanoseconds it still fits */

typedef struct reading {
    const snd_marshal_value *values;
    snd_profile *profile;
    snd_intern *places; /* of functions, as bytes */
    uint32_t *nodes;    /* the function's node below the root, by place */
    unsigned char *is_read;
    uint32_t capacity, read_capacity;
    uint32_t root;
    uint64_t self_ns;
    const char *problem;
} reading;

/* What stands in a tuple of numbers. */
typedef struct numbers {
    uint64_t count, primitive, self_ns, total_ns;
} numbers;

static snd_status
refuse(reading *self, const char *problem)
{
    self->problem = problem;
    return SND_BAD_ARGUMENT;
}

static const snd_marshal_value *
element(const reading *self, const snd_marshal_value *container, unsigned which)
{
    const snd_marshal_value *value = &self->values[container->first];
    while (which-- > 0)
        value = &self->values[value->next];
    return value;
}

static int
is_tuple(const snd_marshal_value *value, uint32_t count)
{
    return value->type == SND_MARSHAL_TUPLE && value->count == count;
}

/* ---- numbers ---- */

static snd_status
read_count(reading *self, const snd_marshal_value *value, uint64_t *count)
{
    if (value->type != SND_MARSHAL_WHOLE || value->as.whole < 0)
        return refuse(self, "a call count is not a number");
    *count = (uint64_t)value->as.whole;
    return SND_OK;
}

/* Timers may have gone back a little. */
static snd_status
read_time(reading *self, const snd_marshal_value *value, uint64_t *ns)
{
    double seconds = value->type == SND_MARSHAL_REAL ? value->as.real : (double)value->as.whole;

    if ((value->type != SND_MARSHAL_REAL && value->type != SND_MARSHAL_WHOLE) || fabs(seconds) > SECONDS_LIMIT)
        return refuse(self, "a time is not a number");
    *ns = seconds <= 0 ? 0 : (uint64_t)(seconds * NS_PER_SECOND + 0.5);
    return SND_OK;
}

/* `first`: the place of the calls in the tuple, 1 or 0; that of the primitive ones is the other. */
static snd_status
read_numbers(reading *self, const snd_marshal_value *tuple, unsigned calls, numbers *out)
{
    snd_status status = read_count(self, element(self, tuple, calls), &out->count);

    if (status == SND_OK)
        status = read_count(self, element(self, tuple, 1 - calls), &out->primitive);
    if (status == SND_OK)
        status = read_time(self, element(self, tuple, 2), &out->self_ns);
    if (status == SND_OK)
        status = read_time(self, element(self, tuple, 3), &out->total_ns);
    return status == SND_OK && out->primitive > out->count
               ? refuse(self, "a function has fewer calls than primitive calls")
               : status;
}

static snd_status
set_numbers(reading *self, uint32_t node, const numbers *from)
{
    const struct {
        snd_metric metric;
        uint64_t value;
    } values[] = {{SND_METRIC_COUNT, from->count},
                  {SND_METRIC_TOTAL, from->total_ns},
                  {SND_METRIC_SELF, from->self_ns},
                  {SND_METRIC_RECURSIVE, from->count - from->primitive}};
    snd_status status = SND_OK;

    for (size_t i = 0; i < sizeof values / sizeof values[0] && status == SND_OK; i++)
        status = snd_profile_set(self->profile, node, values[i].metric, (snd_value){.whole = values[i].value});
    return status;
}

/* ---- functions ---- */

static char *
copy_text(const snd_marshal_value *value)
{
    char *text = snd_malloc(value->as.text.size + 1);

    if (text != NULL) {
        memcpy(text, value->as.text.start, value->as.text.size);
        text[value->as.text.size] = '\0';
    }
    return text;
}

/* What is no file's stands in "~". */
static snd_status
add_site(reading *self, const snd_marshal_value *label, uint32_t *site)
{
    char *file = copy_text(element(self, label, 0)), *name = copy_text(element(self, label, 2));
    uint32_t line = (uint32_t)element(self, label, 1)->as.whole;
    snd_status status = SND_NO_MEMORY;

    if (file != NULL && name != NULL) {
        int is_builtin = strcmp(file, "~") == 0 && line == 0;
        const snd_profile_site added = {.kind = is_builtin ? SND_SITE_BUILTIN : SND_SITE_FUNCTION,
                                        .name = name,
                                        .file = is_builtin ? "" : file,
                                        .line = line,
                                        .detail = ""};
        status = snd_profile_add_site(self->profile, &added, site);
    }
    snd_free(file);
    snd_free(name);
    return status;
}

static snd_status
check_label(reading *self, const snd_marshal_value *label)
{
    if (!is_tuple(label, 3) || element(self, label, 0)->type != SND_MARSHAL_TEXT ||
        element(self, label, 1)->type != SND_MARSHAL_WHOLE || element(self, label, 2)->type != SND_MARSHAL_TEXT)
        return refuse(self, "a function is not (file, line, name)");
    int64_t line = element(self, label, 1)->as.whole;
    return line < 0 || line > UINT32_MAX / 2 ? refuse(self, "a line number is not a number") : SND_OK;
}

static snd_status
find_place(reading *self, const snd_marshal_value *label, uint32_t *place)
{
    const snd_marshal_value *file = element(self, label, 0), *name = element(self, label, 2);
    snd_buffer key = {0};

    /* as texts of C: what stands behind a NUL is no part of them */
    snd_buffer_put(&key, file->as.text.start, strnlen(file->as.text.start, file->as.text.size));
    snd_buffer_char(&key, '\0');
    snd_buffer_put(&key, name->as.text.start, strnlen(name->as.text.start, name->as.text.size));
    snd_buffer_char(&key, '\0');
    snd_buffer_number(&key, (uint64_t)element(self, label, 1)->as.whole);
    snd_status status = snd_buffer_status(&key);
    if (status == SND_OK)
        status = snd_intern_add(self->places, key.data, key.size, place);
    snd_buffer_free(&key);
    return status;
}

/* The function of a label, with a node below the root. */
static snd_status
find_function(reading *self, const snd_marshal_value *label, uint32_t *place)
{
    uint32_t count = snd_intern_count(self->places), site;

    snd_status status = check_label(self, label);
    if (status == SND_OK && (!snd_make_room(&self->nodes, count + 1, &self->capacity, sizeof *self->nodes) ||
                             !snd_make_room(&self->is_read, count + 1, &self->read_capacity, sizeof *self->is_read)))
        status = SND_NO_MEMORY;
    if (status == SND_OK)
        status = find_place(self, label, place);
    if (status != SND_OK || *place < count)
        return status;
    self->is_read[*place] = 0;
    status = add_site(self, label, &site);
    if (status == SND_OK)
        status = snd_profile_add_node(self->profile, self->root, self->profile->nodes[self->root].track, site,
                                      &self->nodes[*place]);
    return status;
}

static snd_status
read_function(reading *self, const snd_marshal_value *label, const snd_marshal_value *value)
{
    uint32_t place;
    numbers found;
    snd_status status = find_function(self, label, &place);

    if (status != SND_OK)
        return status;
    if (!is_tuple(value, 5) || element(self, value, 4)->type != SND_MARSHAL_DICT)
        return refuse(self, "a function has no (primitive, calls, self, total, callers)");
    if (self->is_read[place])
        return refuse(self, "a function appears twice");
    self->is_read[place] = 1;
    status = read_numbers(self, value, 1, &found);
    if (status != SND_OK)
        return status;
    self->self_ns += found.self_ns;
    if (self->self_ns > INT64_MAX)
        return refuse(self, "its times are too large");
    return set_numbers(self, self->nodes[place], &found);
}

/* ---- pairs ---- */

/* The module profile, which came before cProfile, only has numbers of calls. */
static snd_status
read_pair(reading *self, const snd_marshal_value *label, const snd_marshal_value *value, uint32_t callee)
{
    numbers found = {0};
    uint32_t caller, node;
    snd_status status = find_function(self, label, &caller);

    if (status == SND_OK && value->type == SND_MARSHAL_WHOLE) {
        status = read_count(self, value, &found.count);
        found.primitive = found.count;
    }
    else if (status == SND_OK && is_tuple(value, 4))
        status = read_numbers(self, value, 0, &found);
    else if (status == SND_OK)
        status = refuse(self, "a caller has no (calls, primitive, self, total)");
    if (status != SND_OK)
        return status;
    const snd_profile_node *below = &self->profile->nodes[self->nodes[callee]];
    status = snd_profile_add_node(self->profile, self->nodes[caller], below->track, below->site, &node);
    return status == SND_OK ? set_numbers(self, node, &found) : status;
}

static snd_status
read_callers(reading *self, const snd_marshal_value *label, const snd_marshal_value *value)
{
    const snd_marshal_value *callers = element(self, value, 4);
    snd_intern *met = snd_intern_new();
    uint32_t callee;
    snd_status status = met == NULL ? SND_NO_MEMORY : find_function(self, label, &callee);

    for (uint32_t at = callers->first; at != UINT32_MAX && status == SND_OK;) {
        const snd_marshal_value *caller = &self->values[at], *found = &self->values[caller->next];
        uint32_t place, id, count = snd_intern_count(met);
        status = find_function(self, caller, &place);
        if (status == SND_OK)
            status = snd_intern_add(met, (const char *)&place, sizeof place, &id);
        if (status == SND_OK && id < count)
            status = refuse(self, "a function has the same caller twice");
        if (status == SND_OK)
            status = read_pair(self, caller, found, callee);
        at = found->next;
    }
    snd_intern_free(met);
    return status;
}

/* ---- the file ---- */

typedef snd_status take_entry(reading *self, const snd_marshal_value *label, const snd_marshal_value *value);

static snd_status
for_all(reading *self, take_entry *with)
{
    snd_status status = SND_OK;

    for (uint32_t at = self->values[0].first; at != UINT32_MAX && status == SND_OK;) {
        const snd_marshal_value *label = &self->values[at], *value = &self->values[label->next];
        status = with(self, label, value);
        at = value->next;
    }
    return status;
}

static snd_status
read_all(reading *self)
{
    snd_status status;

    if (self->values[0].type != SND_MARSHAL_DICT)
        return refuse(self, "it is not a dictionary");
    if (self->values[0].count == 0)
        return refuse(self, "it has no functions");
    status = snd_import_add_track(self->profile, "main", &self->root);
    if (status == SND_OK)
        status = for_all(self, read_function);
    if (status == SND_OK)
        status = for_all(self, read_callers);
    if (status == SND_OK)
        status = snd_import_end_track(self->profile, self->root, self->self_ns);
    return status == SND_OK ? snd_profile_set_info(self->profile, "probes", "call") : status;
}

snd_status
snd_import_pstats(const char *data, size_t size, const snd_import_options *options, snd_profile *profile,
                  snd_buffer *problem)
{
    snd_marshal file = {0};
    reading self = {.profile = profile, .places = snd_intern_new(), .problem = ""};
    snd_status status = self.places == NULL ? SND_NO_MEMORY : snd_marshal_read(&file, data, size, &self.problem);

    (void)options;
    if (status == SND_OK) {
        self.values = file.values;
        status = read_all(&self);
    }
    if (status == SND_BAD_ARGUMENT)
        snd_buffer_text(problem, self.problem);
    snd_marshal_free(&file);
    snd_intern_free(self.places);
    snd_free(self.nodes);
    snd_free(self.is_read);
    return status;
}
