/* Reading what Python's module marshal wrote. */
#include "format/stacks/marshal.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Containers may stand in one another so deep; pstats needs 4. */
#define MARSHAL_DEPTH 8u

/* A type's byte may have this beside it: the value may be referred to. */
#define MAY_BE_REFERRED 0x80u
#define NOTHING UINT32_MAX
/* An integer of so many digits of 15 bits fits in 64. */
#define DIGIT_LIMIT 5u

typedef struct input {
    snd_marshal *into;
    const unsigned char *at, *end;
    const char **problem;
} input;

void
snd_marshal_free(snd_marshal *self)
{
    snd_free(self->values);
    snd_free(self->references);
    *self = (snd_marshal){0};
}

static snd_status
refuse(input *self, const char *problem)
{
    *self->problem = problem;
    return SND_BAD_ARGUMENT;
}

static snd_status
take(input *self, size_t size, const unsigned char **bytes)
{
    if ((size_t)(self->end - self->at) < size)
        return refuse(self, "it ends too early");
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
read_text(input *self, unsigned length_size, snd_marshal_value *value)
{
    const unsigned char *bytes;
    uint64_t size;
    snd_status status = take_number(self, length_size, &size);

    if (status == SND_OK)
        status = take(self, size, &bytes);
    if (status == SND_OK) {
        value->type = SND_MARSHAL_TEXT;
        value->as.text.start = (const char *)bytes;
        value->as.text.size = size;
    }
    return status;
}

static snd_status
read_int(input *self, unsigned size, snd_marshal_value *value)
{
    uint64_t bits;
    snd_status status = take_number(self, size, &bits);

    value->type = SND_MARSHAL_WHOLE;
    value->as.whole = size == 4 ? (int32_t)(uint32_t)bits : (int64_t)bits;
    return status;
}

/* Digits of 15 bits, the lowest first. */
static snd_status
read_long(input *self, snd_marshal_value *value)
{
    uint64_t bits, digit, sum = 0;
    snd_status status = take_number(self, 4, &bits);
    int32_t count = (int32_t)(uint32_t)bits;
    uint32_t digits = count < 0 ? 0u - (uint32_t)count : (uint32_t)count;

    if (status == SND_OK && digits > DIGIT_LIMIT)
        return refuse(self, "a number is too large");
    for (uint32_t i = 0; i < digits && status == SND_OK; i++) {
        status = take_number(self, 2, &digit);
        if (status == SND_OK && (digit > 0x7fff || (i == DIGIT_LIMIT - 1 && digit > 7)))
            return refuse(self, "a number is too large");
        sum |= digit << (15 * i);
    }
    value->type = SND_MARSHAL_WHOLE;
    value->as.whole = count < 0 ? -(int64_t)sum : (int64_t)sum;
    return status;
}

static snd_status
read_real(input *self, snd_marshal_value *value)
{
    uint64_t bits;
    snd_status status = take_number(self, 8, &bits);

    value->type = SND_MARSHAL_REAL;
    memcpy(&value->as.real, &bits, sizeof bits);
    return status == SND_OK && !isfinite(value->as.real) ? refuse(self, "a number is malformed") : status;
}

/* As the first versions of marshal wrote it. */
static snd_status
read_real_text(input *self, snd_marshal_value *value)
{
    char text[256], *end;
    snd_status status = read_text(self, 1, value);

    if (status != SND_OK)
        return status;
    memcpy(text, value->as.text.start, value->as.text.size);
    text[value->as.text.size] = '\0';
    value->type = SND_MARSHAL_REAL;
    value->as.real = strtod(text, &end);
    return end == text || *end != '\0' || !isfinite(value->as.real) ? refuse(self, "a number is malformed") : SND_OK;
}

/* ---- containers ---- */

static snd_status read_value(input *self, unsigned depth, uint32_t *id);

/* Reads an element behind `*last`, which is NOTHING at first. */
static snd_status
read_element(input *self, unsigned depth, uint32_t container, uint32_t *last)
{
    uint32_t id;
    snd_status status = read_value(self, depth, &id);
    snd_marshal_value *values = self->into->values;

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

    self->into->values[id].type = SND_MARSHAL_TUPLE;
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

    self->into->values[id].type = SND_MARSHAL_DICT;
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
    snd_marshal *into = self->into;
    uint64_t which;
    snd_status status = take_number(self, 4, &which);

    if (status != SND_OK)
        return status;
    if (which >= into->reference_count || into->values[into->references[which]].is_open)
        return refuse(self, "it refers to a missing value");
    into->values[id] = into->values[into->references[which]];
    into->values[id].next = NOTHING;
    return SND_OK;
}

static snd_status
read_typed(input *self, unsigned char type, unsigned depth, uint32_t id)
{
    snd_marshal_value *value = &self->into->values[id];

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
        return refuse(self, "it has values that pstats files never have");
    }
}

static snd_status
add_value(input *self, int may_be_referred, uint32_t *id)
{
    snd_marshal *into = self->into;

    if (!snd_make_room(&into->values, into->count + 1, &into->capacity, sizeof *into->values) ||
        !snd_make_room(&into->references, into->reference_count + 1, &into->reference_capacity,
                       sizeof *into->references))
        return SND_NO_MEMORY;
    if (may_be_referred)
        into->references[into->reference_count++] = into->count;
    into->values[into->count] = (snd_marshal_value){.is_open = 1, .first = NOTHING, .next = NOTHING};
    *id = into->count++;
    return SND_OK;
}

static snd_status
read_value(input *self, unsigned depth, uint32_t *id)
{
    const unsigned char *type;
    snd_status status = take(self, 1, &type);

    if (status == SND_OK && depth > MARSHAL_DEPTH)
        return refuse(self, "its values are nested too deeply");
    if (status == SND_OK)
        status = add_value(self, (*type & MAY_BE_REFERRED) != 0, id);
    if (status == SND_OK)
        status = read_typed(self, (unsigned char)(*type & ~MAY_BE_REFERRED), depth, *id);
    if (status == SND_OK)
        self->into->values[*id].is_open = 0;
    return status;
}

snd_status
snd_marshal_read(snd_marshal *self, const void *data, size_t size, const char **problem)
{
    input from = {self, data, (const unsigned char *)data + size, problem};
    uint32_t id;

    *problem = "";
    snd_status status = read_value(&from, 0, &id);
    if (status == SND_OK && from.at != from.end)
        return refuse(&from, "it has extra data after its end");
    return status;
}
