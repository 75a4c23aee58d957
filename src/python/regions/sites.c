/* From Python names and places to sites: looked up once, cached by address. */
#include "python/module/state.h"

#include "base/buffer.h"
#include "base/text.h"

#include <string.h>

static uint32_t
slot_of(const void *pointer, int offset, uint32_t slots)
{
    uint64_t key = ((uint64_t)(uintptr_t)pointer >> 4) + (uint64_t)(unsigned)offset * 31;
    return (uint32_t)(key * 0x9E3779B97F4A7C15u >> 40) % slots;
}

/* Where the caller stands; "" and 0 when no Python function runs. Borrowed from the code object. */
static const char *
caller_place(uint32_t *line)
{
    snd_frame *frame = snd_frame_top();
    *line = 0;
    if (frame == NULL)
        return "";
    PyCodeObject *code = snd_frame_code(frame);
    int number = PyCode_Addr2Line(code, snd_frame_offset(frame));
    const char *file = PyUnicode_AsUTF8(code->co_filename);
    if (file == NULL) {
        PyErr_Clear();
        return "";
    }
    *line = number > 0 ? (uint32_t)number : 0;
    return file;
}

static uint32_t
add_site(snd_site_kind kind, const char *text, size_t len)
{
    uint32_t site = snd_site_find(kind, text, len);
    if (site == SND_NONE) {
        uint32_t line;
        const char *file = caller_place(&line);
        site = snd_site_add(kind, text, len, file, line);
    }
    return site;
}

/* Names that are not UTF-8, or hold a NUL, are kept in an escaped form. */
static uint32_t
add_odd_name(snd_site_kind kind, PyObject *name)
{
    PyObject *bytes = PyUnicode_AsEncodedString(name, "utf-8", "backslashreplace");
    snd_buffer text = {0};
    uint32_t site = SND_NONE;
    if (bytes == NULL)
        return SND_NONE;
    for (Py_ssize_t i = 0; i < PyBytes_GET_SIZE(bytes); i++)
        if (PyBytes_AS_STRING(bytes)[i] == '\0')
            snd_buffer_text(&text, "\\x00");
        else
            snd_buffer_char(&text, PyBytes_AS_STRING(bytes)[i]);
    if (snd_buffer_status(&text) == SND_OK)
        site = add_site(kind, snd_buffer_str(&text), text.size);
    else
        PyErr_NoMemory();
    snd_buffer_free(&text);
    Py_DECREF(bytes);
    return site;
}

static uint32_t
add_name(snd_site_kind kind, PyObject *name)
{
    Py_ssize_t len;

    if (!PyUnicode_Check(name)) {
        PyErr_Format(PyExc_TypeError, "a %s's name must be a string, not %.100s", snd_site_kind_name(kind),
                     Py_TYPE(name)->tp_name);
        return SND_NONE;
    }
    const char *text = PyUnicode_AsUTF8AndSize(name, &len);
    if (text == NULL)
        PyErr_Clear();
    if (text == NULL || memchr(text, '\0', (size_t)len) != NULL)
        return add_odd_name(kind, name);
    return add_site(kind, text, (size_t)len);
}

static uint32_t
find_name(snd_name_entry *entry, snd_site_kind kind, PyObject *name)
{
    if (SND_LIKELY(entry->name == name))
        return entry->site;
    uint32_t site = add_name(kind, name);
    if (site != SND_NONE) {
        Py_XSETREF(entry->name, Py_NewRef(name));
        entry->site = site;
    }
    return site;
}

uint32_t
snd_site_of_name(snd_state *state, PyObject *name)
{
    return find_name(&state->names[slot_of(name, 0, SND_NAME_CACHE)], SND_SITE_REGION, name);
}

uint32_t
snd_site_of_counter(snd_state *state, PyObject *name)
{
    return find_name(&state->counters[slot_of(name, 0, SND_COUNTER_CACHE)], SND_SITE_COUNTER, name);
}

uint32_t
snd_site_of_place(snd_state *state)
{
    snd_frame *frame = snd_frame_top();
    if (frame == NULL)
        return add_site(SND_SITE_REGION, "<unknown>", 9);
    PyCodeObject *code = snd_frame_code(frame);
    int offset = snd_frame_offset(frame);
    snd_place_entry *entry = &state->places[slot_of(code, offset, SND_PLACE_CACHE)];
    if (SND_LIKELY(entry->code == (PyObject *)code && entry->offset == offset))
        return entry->site;
    uint32_t line;
    const char *file = caller_place(&line);
    PyObject *name = PyUnicode_FromFormat("%U() <%s:%d>", code->co_name, snd_path_base(file), (int)line);
    uint32_t site = name == NULL ? SND_NONE : add_name(SND_SITE_REGION, name);
    Py_XDECREF(name);
    if (site != SND_NONE) {
        Py_XSETREF(entry->code, Py_NewRef((PyObject *)code));
        entry->offset = offset;
        entry->site = site;
    }
    return site;
}

/* _core.place(name, file, line): the site of this name, should it be new, stands there. */
PyObject *
snd_py_place(PyObject *module, PyObject *args)
{
    const char *name, *file;
    Py_ssize_t len;
    unsigned line;

    (void)module;
    if (!PyArg_ParseTuple(args, "s#sI:place", &name, &len, &file, &line))
        return NULL;
    if (snd_site_add(SND_SITE_REGION, name, (size_t)len, file, line) == SND_NONE)
        return PyErr_NoMemory();
    Py_RETURN_NONE;
}

void
snd_sites_clear(snd_state *state)
{
    for (uint32_t i = 0; i < SND_NAME_CACHE; i++)
        Py_CLEAR(state->names[i].name);
    for (uint32_t i = 0; i < SND_COUNTER_CACHE; i++)
        Py_CLEAR(state->counters[i].name);
    for (uint32_t i = 0; i < SND_PLACE_CACHE; i++)
        Py_CLEAR(state->places[i].code);
}

int
snd_sites_visit(snd_state *state, visitproc visit, void *arg)
{
    for (uint32_t i = 0; i < SND_NAME_CACHE; i++)
        Py_VISIT(state->names[i].name);
    for (uint32_t i = 0; i < SND_COUNTER_CACHE; i++)
        Py_VISIT(state->counters[i].name);
    for (uint32_t i = 0; i < SND_PLACE_CACHE; i++)
        Py_VISIT(state->places[i].code);
    return 0;
}
