/* A file of cProfile as a profile of calls: {(file, line, name): (primitive, calls, self, total, callers)}. */
#include "base/alloc.h"
#include "base/map.h"
#include "base/status.h"
#include "format/stacks/import.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading what Python's module marshal wrote ---- */

/* Containers may stand in one another so deep; pstats needs 4. */
#define MARSHAL_DEPTH 8u

typedef enum marshal_type {
    MARSHAL_WHOLE,
    MARSHAL_REAL,
    MARSHAL_TEXT,
    MARSHAL_TUPLE,
    MARSHAL_DICT,
} marshal_type;

typedef struct marshal_value {
    marshal_type type;
    int is_open;    /* a container that is not read to its end */
    uint32_t first; /* of a container: its first element; of a dictionary keys and values in turn; UINT32_MAX: none */
    uint32_t next;  /* the next element of the container this one is in; UINT32_MAX: none */
    uint32_t count; /* elements */
    union {
        int64_t whole;
        double real;
        struct {
            const char *start; /* in the bytes that were read; not ended by NUL */
            size_t size;
        } text;
    } as;
} marshal_value;

/* Read freely. All zero is empty. */
typedef struct marshal {
    marshal_value *values; /* the whole is the first */
    uint32_t count, capacity;
    uint32_t *references; /* values that may be referred to, in their order */
    uint32_t reference_count, reference_capacity;
} marshal;

/* A type's byte may have this beside it: the value may be referred to. */
#define MAY_BE_REFERRED 0x80u
#define NOTHING UINT32_MAX
/* An integer of so many digits of 15 bits fits in 64. */
#define DIGIT_LIMIT 5u

typedef struct input {
    marshal *into;
    const unsigned char *at, *end;
    const char **problem;
} input;

static void
free_values(marshal *self)
{
    snd_free(self->values);
    snd_free(self->references);
    *self = (marshal){0};
}

static snd_status
marshal_refuse(input *self, const char *problem)
{
    *self->problem = problem;
    return SND_BAD_ARGUMENT;
}

static snd_status
take(input *self, size_t size, const unsigned char **bytes)
{
    if ((size_t)(self->end - self->at) < size)
        return marshal_refuse(self, "it ends too early");
    *bytes = self->at;
    self->at += size;
    return SND_OK;
}

static snd_status
take_number(input *self, unsigned size, uint64_t *value)
{
    const unsigned char *bytes;
    snd_status status = take(self, size, &bytes);

    *value = 0;
    for (unsigned i = 0; i < size && status == SND_OK; i++)
        *value |= (uint64_t)bytes[i] << (8 * i);
    return status;
}

/* ---- single values ---- */

static snd_status
read_text(input *self, unsigned length_size, marshal_value *value)
{
    const unsigned char *bytes;
    uint64_t size;
    snd_status status = take_number(self, length_size, &size);

    if (status == SND_OK)
        status = take(self, size, &bytes);
    if (status == SND_OK) {
        value->type = MARSHAL_TEXT;
        value->as.text.start = (const char *)bytes;
        value->as.text.size = size;
    }
    return status;
}

static snd_status
read_int(input *self, unsigned size, marshal_value *value)
{
    uint64_t bits;
    snd_status status = take_number(self, size, &bits);

    value->type = MARSHAL_WHOLE;
    value->as.whole = size == 4 ? (int32_t)(uint32_t)bits : (int64_t)bits;
    return status;
}

/* Digits of 15 bits, the lowest first. */
static snd_status
read_long(input *self, marshal_value *value)
{
    uint64_t bits, digit, sum = 0;
    snd_status status = take_number(self, 4, &bits);
    int32_t count = (int32_t)(uint32_t)bits;
    uint32_t digits = count < 0 ? 0u - (uint32_t)count : (uint32_t)count;

    if (status == SND_OK && digits > DIGIT_LIMIT)
        return marshal_refuse(self, "a number is too large");
    for (uint32_t i = 0; i < digits && status == SND_OK; i++) {
        status = take_number(self, 2, &digit);
        if (status == SND_OK && (digit > 0x7fff || (i == DIGIT_LIMIT - 1 && digit > 7)))
            return marshal_refuse(self, "a number is too large");
        sum |= digit << (15 * i);
    }
    value->type = MARSHAL_WHOLE;
    value->as.whole = count < 0 ? -(int64_t)sum : (int64_t)sum;
    return status;
}

static snd_status
read_real(input *self, marshal_value *value)
{
    uint64_t bits;
    snd_status status = take_number(self, 8, &bits);

    value->type = MARSHAL_REAL;
    memcpy(&value->as.real, &bits, sizeof bits);
    return status == SND_OK && !isfinite(value->as.real) ? marshal_refuse(self, "a number is malformed") : status;
}

/* As the first versions of marshal wrote it. */
static snd_status
read_real_text(input *self, marshal_value *value)
{
    char text[256], *end;
    snd_status status = read_text(self, 1, value);

    if (status != SND_OK)
        return status;
    memcpy(text, value->as.text.start, value->as.text.size);
    text[value->as.text.size] = '\0';
    value->type = MARSHAL_REAL;
    value->as.real = strtod(text, &end);
    return end == text || *end != '\0' || !isfinite(value->as.real) ? marshal_refuse(self, "a number is malformed")
                                                                    : SND_OK;
}

/* ---- containers ---- */

static snd_status read_value(input *self, unsigned depth, uint32_t *id);

/* Reads an element behind `*last`, which is NOTHING at first. */
static snd_status
read_element(input *self, unsigned depth, uint32_t container, uint32_t *last)
{
    uint32_t id;
    snd_status status = read_value(self, depth, &id);
    marshal_value *values = self->into->values;

    if (status != SND_OK)
        return status;
    if (*last == NOTHING)
        values[container].first = id;
    else
        values[*last].next = id;
    *last = id;
    values[container].count++;
    return SND_OK;
}

static snd_status
read_tuple(input *self, unsigned length_size, unsigned depth, uint32_t id)
{
    uint64_t count;
    uint32_t last = NOTHING;
    snd_status status = take_number(self, length_size, &count);

    self->into->values[id].type = MARSHAL_TUPLE;
    for (uint64_t i = 0; i < count && status == SND_OK; i++)
        status = read_element(self, depth, id, &last);
    return status;
}

/* Ends with a key that is none. */
static snd_status
read_dict(input *self, unsigned depth, uint32_t id)
{
    uint32_t last = NOTHING;
    snd_status status = SND_OK;

    self->into->values[id].type = MARSHAL_DICT;
    while (status == SND_OK) {
        if (self->at < self->end && *self->at == '0') {
            self->at++;
            return SND_OK;
        }
        status = read_element(self, depth, id, &last);
        if (status == SND_OK)
            status = read_element(self, depth, id, &last);
    }
    return status;
}

/* A value that was there before stands here once more; its elements are shared. */
static snd_status
read_reference(input *self, uint32_t id)
{
    marshal *into = self->into;
    uint64_t which;
    snd_status status = take_number(self, 4, &which);

    if (status != SND_OK)
        return status;
    if (which >= into->reference_count || into->values[into->references[which]].is_open)
        return marshal_refuse(self, "it refers to a missing value");
    into->values[id] = into->values[into->references[which]];
    into->values[id].next = NOTHING;
    return SND_OK;
}

static snd_status
read_typed(input *self, unsigned char type, unsigned depth, uint32_t id)
{
    marshal_value *value = &self->into->values[id];

    switch (type) {
    case 'i':
        return read_int(self, 4, value);
    case 'I':
        return read_int(self, 8, value);
    case 'l':
        return read_long(self, value);
    case 'g':
        return read_real(self, value);
    case 'f':
        return read_real_text(self, value);
    case 'u':
    case 't':
    case 'a':
    case 'A':
        return read_text(self, 4, value);
    case 'z':
    case 'Z':
        return read_text(self, 1, value);
    case '(':
        return read_tuple(self, 4, depth + 1, id);
    case ')':
        return read_tuple(self, 1, depth + 1, id);
    case '{':
        return read_dict(self, depth + 1, id);
    case 'r':
        return read_reference(self, id);
    default:
        return marshal_refuse(self, "it has values that pstats files never have");
    }
}

static snd_status
add_value(input *self, int may_be_referred, uint32_t *id)
{
    marshal *into = self->into;

    if (!snd_make_room(&into->values, into->count + 1, &into->capacity, sizeof *into->values) ||
        !snd_make_room(&into->references, into->reference_count + 1, &into->reference_capacity,
                       sizeof *into->references))
        return SND_NO_MEMORY;
    if (may_be_referred)
        into->references[into->reference_count++] = into->count;
    into->values[into->count] = (marshal_value){.is_open = 1, .first = NOTHING, .next = NOTHING};
    *id = into->count++;
    return SND_OK;
}

static snd_status
read_value(input *self, unsigned depth, uint32_t *id)
{
    const unsigned char *type;
    snd_status status = take(self, 1, &type);

    if (status == SND_OK && depth > MARSHAL_DEPTH)
        return marshal_refuse(self, "its values are nested too deeply");
    if (status == SND_OK)
        status = add_value(self, (*type & MAY_BE_REFERRED) != 0, id);
    if (status == SND_OK)
        status = read_typed(self, (unsigned char)(*type & ~MAY_BE_REFERRED), depth, *id);
    if (status == SND_OK)
        self->into->values[*id].is_open = 0;
    return status;
}

/* `data` must outlive the values. SND_BAD_ARGUMENT: `*problem` says why these bytes are not what we read. Free in any
 * case. */
static snd_status
read_marshal(marshal *self, const void *data, size_t size, const char **problem)
{
    input from = {self, data, (const unsigned char *)data + size, problem};
    uint32_t id;

    *problem = "";
    snd_status status = read_value(&from, 0, &id);
    if (status == SND_OK && from.at != from.end)
        return marshal_refuse(&from, "it has extra data after its end");
    return status;
}

#define NS_PER_SECOND 1e9
#define SECONDS_LIMIT 4e9 /* more than a hundred years; as nanoseconds it still fits */

typedef struct reading {
    const marshal_value *values;
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

static const marshal_value *
element(const reading *self, const marshal_value *container, unsigned which)
{
    const marshal_value *value = &self->values[container->first];
    while (which-- > 0)
        value = &self->values[value->next];
    return value;
}

static int
is_tuple(const marshal_value *value, uint32_t count)
{
    return value->type == MARSHAL_TUPLE && value->count == count;
}

/* ---- numbers ---- */

static snd_status
read_count(reading *self, const marshal_value *value, uint64_t *count)
{
    if (value->type != MARSHAL_WHOLE || value->as.whole < 0)
        return refuse(self, "a call count is not a number");
    *count = (uint64_t)value->as.whole;
    return SND_OK;
}

/* Timers may have gone back a little. */
static snd_status
read_time(reading *self, const marshal_value *value, uint64_t *ns)
{
    double seconds = value->type == MARSHAL_REAL ? value->as.real : (double)value->as.whole;

    if ((value->type != MARSHAL_REAL && value->type != MARSHAL_WHOLE) || fabs(seconds) > SECONDS_LIMIT)
        return refuse(self, "a time is not a number");
    *ns = seconds <= 0 ? 0 : (uint64_t)(seconds * NS_PER_SECOND + 0.5);
    return SND_OK;
}

/* `first`: the place of the calls in the tuple, 1 or 0; that of the primitive ones is the other. */
static snd_status
read_numbers(reading *self, const marshal_value *tuple, unsigned calls, numbers *out)
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
copy_text(const marshal_value *value)
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
add_site(reading *self, const marshal_value *label, uint32_t *site)
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
check_label(reading *self, const marshal_value *label)
{
    if (!is_tuple(label, 3) || element(self, label, 0)->type != MARSHAL_TEXT ||
        element(self, label, 1)->type != MARSHAL_WHOLE || element(self, label, 2)->type != MARSHAL_TEXT)
        return refuse(self, "a function is not (file, line, name)");
    int64_t line = element(self, label, 1)->as.whole;
    return line < 0 || line > UINT32_MAX / 2 ? refuse(self, "a line number is not a number") : SND_OK;
}

static snd_status
find_place(reading *self, const marshal_value *label, uint32_t *place)
{
    const marshal_value *file = element(self, label, 0), *name = element(self, label, 2);
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
find_function(reading *self, const marshal_value *label, uint32_t *place)
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
read_function(reading *self, const marshal_value *label, const marshal_value *value)
{
    uint32_t place;
    numbers found;
    snd_status status = find_function(self, label, &place);

    if (status != SND_OK)
        return status;
    if (!is_tuple(value, 5) || element(self, value, 4)->type != MARSHAL_DICT)
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
read_pair(reading *self, const marshal_value *label, const marshal_value *value, uint32_t callee)
{
    numbers found = {0};
    uint32_t caller, node;
    snd_status status = find_function(self, label, &caller);

    if (status == SND_OK && value->type == MARSHAL_WHOLE) {
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
read_callers(reading *self, const marshal_value *label, const marshal_value *value)
{
    const marshal_value *callers = element(self, value, 4);
    snd_intern *met = snd_intern_new();
    uint32_t callee;
    snd_status status = met == NULL ? SND_NO_MEMORY : find_function(self, label, &callee);

    for (uint32_t at = callers->first; at != UINT32_MAX && status == SND_OK;) {
        const marshal_value *caller = &self->values[at], *found = &self->values[caller->next];
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

typedef snd_status take_entry(reading *self, const marshal_value *label, const marshal_value *value);

static snd_status
for_all(reading *self, take_entry *with)
{
    snd_status status = SND_OK;

    for (uint32_t at = self->values[0].first; at != UINT32_MAX && status == SND_OK;) {
        const marshal_value *label = &self->values[at], *value = &self->values[label->next];
        status = with(self, label, value);
        at = value->next;
    }
    return status;
}

static snd_status
read_all(reading *self)
{
    snd_status status;

    if (self->values[0].type != MARSHAL_DICT)
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
    marshal file = {0};
    reading self = {.profile = profile, .places = snd_intern_new(), .problem = ""};
    snd_status status = self.places == NULL ? SND_NO_MEMORY : read_marshal(&file, data, size, &self.problem);

    (void)options;
    if (status == SND_OK) {
        self.values = file.values;
        status = read_all(&self);
    }
    if (status == SND_BAD_ARGUMENT)
        snd_buffer_text(problem, self.problem);
    free_values(&file);
    snd_intern_free(self.places);
    snd_free(self.nodes);
    snd_free(self.is_read);
    return status;
}
