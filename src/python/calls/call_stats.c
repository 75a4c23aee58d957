/* A profile of calls in the shapes of the standard profiler: the entries of getstats() and the dictionary of pstats. */
#include "python/calls/call_probe.h"

#include "base/alloc.h"
#include "view/calls/calls.h"

#include <stdio.h>
#include <string.h>

static PyStructSequence_Field entry_fields[] = {
    {"code", "code object or built-in function name"},
    {"callcount", "how many times this was called"},
    {"reccallcount", "how many times called recursively"},
    {"totaltime", "total time in this entry"},
    {"inlinetime", "inline time in this entry (not in subcalls)"},
    {"calls", "details of the calls"},
    {0},
};
static PyStructSequence_Desc entry_desc = {"sonde._core.profiler_entry", NULL, entry_fields, 6};

static PyStructSequence_Field subentry_fields[] = {
    {"code", "called code object or built-in function name"},      {"callcount", "how many times this is called"},
    {"reccallcount", "how many times this is called recursively"}, {"totaltime", "total time spent in this call"},
    {"inlinetime", "inline time (not in further subcalls)"},       {0},
};
static PyStructSequence_Desc subentry_desc = {"sonde._core.profiler_subentry", NULL, subentry_fields, 5};

int
snd_calls_make_types(snd_state *state)
{
    state->entry_type = PyStructSequence_NewType(&entry_desc);
    state->subentry_type = PyStructSequence_NewType(&subentry_desc);
    return state->entry_type != NULL && state->subentry_type != NULL;
}

/* The calls of a profile object; the profile lives as long as they do. */
typedef struct answer {
    snd_profile *profile;
    snd_calls calls;
    unsigned char *is_left_out; /* per row: what stands for all signatures, where those are shown */
} answer;

static int
open_answer(snd_py_calls *self, answer *out)
{
    *out = (answer){.profile = snd_calls_profile(self)};
    if (out->profile == NULL)
        return 0;
    snd_status status = snd_calls_make(out->profile, SND_PAIRS_OF_SIGNATURES, &out->calls);
    out->is_left_out = snd_calloc((size_t)out->calls.row_count + 1, 1);
    if (status != SND_OK || out->is_left_out == NULL) {
        snd_raise_status(SND_NO_MEMORY, NULL);
        return 0;
    }
    for (uint32_t i = 0; i < out->calls.row_count; i++)
        out->is_left_out[i] =
            out->calls.rows[i].signature_count != 0 || !snd_calls_is_used(&out->calls.rows[i].numbers);
    return 1;
}

static void
close_answer(answer *self)
{
    snd_calls_free(&self->calls);
    snd_free(self->is_left_out);
    snd_profile_free(self->profile);
}

static PyObject *
text_of(const char *text)
{
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

/* The code object of a function, or its text. */
static PyObject *
code_of(const snd_py_calls *self, const snd_profile_site *site)
{
    snd_profile_site plain = *site;
    PyObject *code = NULL;

    plain.detail = "";
    plain.twin = 0;
    if (site->kind == SND_SITE_FUNCTION && self->probe.codes != NULL) {
        PyObject *key = PyLong_FromUnsignedLong(snd_site_add_placed(&plain));
        code = key == NULL ? NULL : Py_XNewRef(PyDict_GetItem(self->probe.codes, key));
        Py_XDECREF(key);
    }
    return code != NULL ? code : text_of(site->name);
}

static int
fill(PyObject *entry, PyObject *code, const snd_calls_numbers *numbers)
{
    PyObject *values[] = {
        code,
        PyLong_FromUnsignedLongLong(numbers->count),
        PyLong_FromUnsignedLongLong(numbers->count - numbers->primitive),
        PyFloat_FromDouble((double)numbers->total_ns / 1e9),
        PyFloat_FromDouble((double)numbers->self_ns / 1e9),
    };
    int worked = 1;

    for (Py_ssize_t i = 0; i < 5; i++) {
        worked &= values[i] != NULL;
        PyStructSequence_SET_ITEM(entry, i, values[i]);
    }
    return worked;
}

static PyObject *
make_entry(const snd_py_calls *self, const snd_profile_site *site, const snd_calls_numbers *numbers, PyTypeObject *type)
{
    PyObject *entry = PyStructSequence_New(type);
    if (entry == NULL)
        return NULL;
    for (Py_ssize_t i = 0; i < (type == snd_state_of_kin((const PyObject *)self)->entry_type ? 6 : 5); i++)
        PyStructSequence_SET_ITEM(entry, i, NULL);
    if (!fill(entry, code_of(self, site), numbers)) {
        Py_DECREF(entry);
        return NULL;
    }
    if (type == snd_state_of_kin((const PyObject *)self)->entry_type)
        PyStructSequence_SET_ITEM(entry, 5, Py_NewRef(Py_None));
    return entry;
}

/* Adds a pair to its caller's list, which is made now if it is the first. */
static int
add_subentry(PyObject *entry, PyObject *added)
{
    PyObject *list = PyStructSequence_GET_ITEM(entry, 5);

    if (added == NULL)
        return 0;
    if (list == Py_None) {
        list = PyList_New(0);
        if (list == NULL) {
            Py_DECREF(added);
            return 0;
        }
        PyStructSequence_SET_ITEM(entry, 5, list);
        Py_DECREF(Py_None);
    }
    int worked = PyList_Append(list, added) == 0;
    Py_DECREF(added);
    return worked;
}

static PyObject *
make_entries(const snd_py_calls *self, const answer *from, PyObject **by_row)
{
    const snd_calls *calls = &from->calls;
    snd_state *state = snd_state_of_kin((const PyObject *)self);
    PyObject *list = PyList_New(0);

    for (uint32_t i = 0; list != NULL && i < calls->row_count; i++) {
        if (from->is_left_out[i])
            continue;
        by_row[i] = make_entry(self, &calls->rows[i].site, &calls->rows[i].numbers, state->entry_type);
        if (by_row[i] == NULL || PyList_Append(list, by_row[i]) != 0)
            Py_CLEAR(list);
        Py_XDECREF(by_row[i]); /* the list has it */
    }
    for (uint32_t i = 0; list != NULL && i < calls->pair_count; i++) {
        const snd_calls_pair *pair = &calls->pairs[i];
        if (from->is_left_out[pair->caller] || !snd_calls_is_used(&pair->numbers))
            continue;
        PyObject *added = make_entry(self, &calls->rows[pair->callee].site, &pair->numbers, state->subentry_type);
        if (!add_subentry(by_row[pair->caller], added))
            Py_CLEAR(list);
    }
    return list;
}

PyObject *
snd_calls_getstats(PyObject *object, PyObject *nothing)
{
    snd_py_calls *self = (snd_py_calls *)object;
    PyObject *result = NULL;
    answer from;

    (void)nothing;
    if (open_answer(self, &from)) {
        PyObject **by_row = snd_calloc((size_t)from.calls.row_count + 1, sizeof *by_row);
        result = by_row == NULL ? PyErr_NoMemory() : make_entries(self, &from, by_row);
        snd_free(by_row);
    }
    close_answer(&from);
    return result;
}

/* (file, line, name) as pstats has it; a C function has '~' and 0. */
static PyObject *
label_of(const snd_profile_site *site)
{
    const char *name = strrchr(site->name, '.');

    if (site->kind == SND_SITE_BUILTIN)
        return Py_BuildValue("siN", "~", 0, text_of(site->name));
    if (*site->detail != '\0')
        name = site->detail;
    else
        name = name == NULL ? site->name : name + 1;
    return Py_BuildValue("NIN", text_of(site->file), site->line, text_of(name));
}

static PyObject *
numbers_of(const snd_calls_numbers *numbers, PyObject *callers)
{
    double self = (double)numbers->self_ns / 1e9;
    double total = (double)numbers->total_ns / 1e9;

    if (callers == NULL) /* of a pair pstats wants the number of calls first */
        return Py_BuildValue("KKdd", numbers->count, numbers->primitive, self, total);
    return Py_BuildValue("KKddO", numbers->primitive, numbers->count, self, total, callers);
}

/* Adds what stands there already; two code objects of one name at one place are one in pstats. */
static void
add_old(snd_calls_numbers *sum, PyObject *old, int is_pair)
{
    if (old == NULL)
        return;
    sum->count += PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(old, is_pair ? 0 : 1));
    sum->primitive += PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(old, is_pair ? 1 : 0));
    sum->self_ns += (uint64_t)(PyFloat_AS_DOUBLE(PyTuple_GET_ITEM(old, 2)) * 1e9 + 0.5);
    sum->total_ns += (uint64_t)(PyFloat_AS_DOUBLE(PyTuple_GET_ITEM(old, 3)) * 1e9 + 0.5);
}

/* Adds numbers under a label; `callers` is NULL for a pair. */
static int
add_numbers(PyObject *table, PyObject *label, snd_calls_numbers numbers, PyObject *callers)
{
    add_old(&numbers, PyDict_GetItem(table, label), callers == NULL);
    PyObject *value = numbers_of(&numbers, callers);
    int worked = value != NULL && PyDict_SetItem(table, label, value) == 0;
    Py_XDECREF(value);
    return worked;
}

/* The callers that a label has so far; a new reference. */
static PyObject *
callers_of(PyObject *stats, PyObject *label)
{
    PyObject *old = PyDict_GetItem(stats, label);
    return old == NULL ? PyDict_New() : Py_NewRef(PyTuple_GET_ITEM(old, 4));
}

static int
fill_pstats(PyObject *stats, const answer *from, PyObject **labels, PyObject **callers)
{
    const snd_calls *calls = &from->calls;

    for (uint32_t i = 0; i < calls->row_count; i++) {
        if (from->is_left_out[i])
            continue;
        labels[i] = label_of(&calls->rows[i].site);
        callers[i] = labels[i] == NULL ? NULL : callers_of(stats, labels[i]);
        if (callers[i] == NULL || !add_numbers(stats, labels[i], calls->rows[i].numbers, callers[i]))
            return 0;
    }
    for (uint32_t i = 0; i < calls->pair_count; i++) {
        const snd_calls_pair *pair = &calls->pairs[i];
        if (callers[pair->callee] == NULL || labels[pair->caller] == NULL || !snd_calls_is_used(&pair->numbers))
            continue;
        if (!add_numbers(callers[pair->callee], labels[pair->caller], pair->numbers, NULL))
            return 0;
    }
    return 1;
}

PyObject *
snd_calls_pstats(PyObject *object, PyObject *nothing)
{
    snd_py_calls *self = (snd_py_calls *)object;
    PyObject *stats = PyDict_New();
    answer from = {0};

    (void)nothing;
    if (stats != NULL && open_answer(self, &from)) {
        size_t room = (size_t)from.calls.row_count + 1;
        PyObject **labels = snd_calloc(room, sizeof *labels);
        PyObject **callers = snd_calloc(room, sizeof *callers);
        if (labels == NULL || callers == NULL)
            PyErr_NoMemory();
        if (labels == NULL || callers == NULL || !fill_pstats(stats, &from, labels, callers))
            Py_CLEAR(stats);
        for (uint32_t i = 0; labels != NULL && callers != NULL && i < from.calls.row_count; i++) {
            Py_XDECREF(labels[i]);
            Py_XDECREF(callers[i]);
        }
        snd_free(labels);
        snd_free(callers);
    }
    else
        Py_CLEAR(stats);
    close_answer(&from);
    return stats;
}
