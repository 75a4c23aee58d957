/* What Python says of a session, and the table of what a user may say. */
#include "python/module/session_settings.h"

#include "collect/setting_table.h"
#include "probe/core/system_counter.h"

#include <stddef.h>
#include <string.h>

typedef enum place_kind { FLAG, NOT_FLAG, TEXT, NUMBER_32, NUMBER_64, COUNTERS, OBJECT } place_kind;

/* Where the value of a key goes. Those of the table of settings go by their keywords; the rest is not for users. */
typedef struct place {
    const char *key;
    place_kind kind;
    size_t offset; /* in snd_session_options */
} place;

#define AT(member) offsetof(snd_session_options, member)

static const place places[] = {
    {"recording", TEXT, AT(recording)},
    {"chrome_trace", TEXT, AT(chrome_trace)},
    {"entries", FLAG, AT(timeline)},
    {"cpu", FLAG, AT(cpu)},
    {"counters", COUNTERS, AT(counters)},
    {"debug", FLAG, AT(debug)},
    {"clock", OBJECT, 0},
    {"calls", FLAG, AT(calls)},
    {"call_cost_ns", NUMBER_64, AT(call_cost_ns)},
    {"ops", FLAG, AT(ops)},
    {"graph", FLAG, AT(graphs)},
    {"rate", NUMBER_32, AT(sample.rate_hz)},
    {"native", FLAG, AT(sample.native)},
    {"cpu_only", FLAG, AT(sample.cpu_only)},
    {"imports", NOT_FLAG, AT(sample.no_imports)},
    {"signals", NOT_FLAG, AT(sample.no_signals)},
    {"safe_frames", FLAG, AT(sample.safe_frames)},
    {"timeline", FLAG, AT(sample.timeline)},
    {"paused", FLAG, AT(sample.paused)},
    {"memory", FLAG, AT(memory.on)},
    {"exact", FLAG, AT(memory.exact)},
    {"interval", NUMBER_64, AT(memory.interval)},
    {"children", NUMBER_32, AT(children)},
    {"parts", TEXT, AT(parts)},
    {"gathers", FLAG, AT(gathers)},
    {"program", TEXT, AT(program)},
    {"arguments", OBJECT, 0},
};

_Static_assert(sizeof(snd_children) == sizeof(uint32_t), "read as a number of 32 bits");

static const place *
find_place(PyObject *key)
{
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (PyUnicode_Check(key) && PyUnicode_CompareWithASCIIString(key, places[i].key) == 0)
            return &places[i];
    PyErr_Format(PyExc_TypeError, "a session has no setting %R", key);
    return NULL;
}

static int
read_flag(PyObject *value, int is_inverted, void *out)
{
    int is_true = PyObject_IsTrue(value);

    if (is_true < 0)
        return 0;
    *(int *)out = is_inverted ? !is_true : is_true;
    return 1;
}

/* NULL for None. */
static int
read_text(PyObject *value, const char **out)
{
    Py_ssize_t size = 0;

    if (value != Py_None && !PyUnicode_Check(value)) {
        PyErr_Format(PyExc_TypeError, "expected a string, not %R", value);
        return 0;
    }
    *out = value == Py_None ? NULL : PyUnicode_AsUTF8AndSize(value, &size);
    if (*out != NULL && strlen(*out) != (size_t)size)
        PyErr_SetString(PyExc_ValueError, "embedded null character");
    return !PyErr_Occurred();
}

/* By their names, with commas. */
static int
read_counters(PyObject *value, snd_system_counter_set *out)
{
    snd_buffer message = {0};
    const char *names;

    if (!read_text(value, &names))
        return 0;
    snd_status status = snd_system_counter_parse(names == NULL ? "" : names, out, &message);
    if (status != SND_OK)
        snd_raise_status(status, snd_buffer_str(&message));
    snd_buffer_free(&message);
    return status == SND_OK;
}

static int
read_number(PyObject *value, uint64_t most, uint64_t *out)
{
    *out = PyLong_AsUnsignedLongLong(value);
    if (PyErr_Occurred())
        return 0;
    if (*out > most)
        PyErr_SetString(PyExc_OverflowError, "the number is too large");
    return *out <= most;
}

static int
read_value(PyObject *value, place_kind kind, void *out)
{
    uint64_t number;

    switch (kind) {
    case FLAG:
    case NOT_FLAG:
        return read_flag(value, kind == NOT_FLAG, out);
    case TEXT:
        return read_text(value, out);
    case NUMBER_32:
        if (!read_number(value, UINT32_MAX, &number))
            return 0;
        *(uint32_t *)out = (uint32_t)number;
        return 1;
    case NUMBER_64:
        return read_number(value, UINT64_MAX, out);
    case COUNTERS:
        return read_counters(value, out);
    case OBJECT:
        break;
    }
    return 1;
}

int
snd_session_settings_read(PyObject *given, snd_session_options *out)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;

    if (!PyDict_Check(given)) {
        PyErr_SetString(PyExc_TypeError, "settings must be a dictionary");
        return 0;
    }
    while (PyDict_Next(given, &at, &key, &value)) {
        const place *found = find_place(key);
        if (found == NULL || !read_value(value, found->kind, (char *)out + found->offset))
            return 0;
    }
    return 1;
}

/* Who takes a setting, as a list of names. NULL with an exception set. */
static PyObject *
names_of(unsigned of)
{
    static const char *const names[] = {"run", "trace", "magic"}; /* in the order of SND_OF_… */
    PyObject *list = PyList_New(0);

    for (unsigned i = 0; i < sizeof names / sizeof names[0] && list != NULL; i++) {
        PyObject *name = (of & 1u << i) == 0 ? NULL : PyUnicode_FromString(names[i]);
        if ((of & 1u << i) != 0 && (name == NULL || PyList_Append(list, name) != 0))
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

static PyObject *
describe_setting(const snd_setting *self)
{
    static const char *const kinds[] = {
        [SND_SETTING_FLAG] = "flag",   [SND_SETTING_TEXT] = "text",       [SND_SETTING_PATTERNS] = "patterns",
        [SND_SETTING_COUNT] = "count", [SND_SETTING_SECONDS] = "seconds", [SND_SETTING_PERCENT] = "percent",
    };
    char letter[] = {self->letter, '\0'};
    PyObject *of = names_of(self->of);

    if (of == NULL)
        return NULL;
    return Py_BuildValue("{sssNsssssz sKsKsK szsz sO szsz}", "name", self->name, "of", of, "kind", kinds[self->kind],
                         "letter", letter, "value", self->value, "least", (unsigned long long)self->least, "most",
                         (unsigned long long)self->most, "usual", (unsigned long long)self->usual, "keyword",
                         self->keyword, "part_of", self->part_of, "is_settled", self->is_settled ? Py_True : Py_False,
                         "about", self->about, "more", self->more);
}

PyObject *
snd_py_settings(PyObject *module, PyObject *nothing)
{
    PyObject *list = PyList_New(0);

    (void)module, (void)nothing;
    for (const snd_setting *setting = snd_setting_table; setting->name != NULL && list != NULL; setting++) {
        PyObject *one = describe_setting(setting);
        if (one == NULL || PyList_Append(list, one) != 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}
