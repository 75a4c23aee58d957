/* Code objects: their sites, and whether a filter lets them through. Decided once for each, never for a call. */
#include "python/call.h"

#include "base/alloc.h"
#include "os/process.h"
#include "python/own_file.h"

#include <fnmatch.h>
#include <string.h>

#define TWIN_LIMIT 256u /* of so many at one place, the rest shares a site */

snd_call_probe *snd_call_active;
uint64_t snd_call_serial;

/* Which sites belong to living code objects. Two of one name at one place have a site each, or one would look as if it
 * called itself; what a dead one had is taken again. Guarded by the GIL. */
static unsigned char *is_taken; /* per site */
static uint32_t taken_capacity;

static int
make_taken_room(uint32_t site)
{
    if (site < taken_capacity)
        return 1;
    uint32_t capacity = taken_capacity == 0 ? 1024 : taken_capacity;
    while (capacity <= site)
        capacity *= 2;
    unsigned char *grown = snd_realloc(is_taken, capacity);
    if (grown == NULL)
        return 0;
    memset(grown + taken_capacity, 0, capacity - taken_capacity);
    is_taken = grown;
    taken_capacity = capacity;
    return 1;
}

/* The first free one of the sites with these texts. */
static uint32_t
take_site(snd_profile_site site)
{
    uint32_t id = SND_NONE;

    for (site.twin = 0; site.twin < TWIN_LIMIT; site.twin++) {
        id = snd_site_add_placed(&site);
        if (id == SND_NONE || !make_taken_room(id) || !is_taken[id])
            break;
    }
    if (id != SND_NONE && id < taken_capacity)
        is_taken[id] = 1;
    return id;
}

static void
forget(void *value)
{
    snd_code *known = value;
    if (known == NULL)
        return;
    if (known->site < taken_capacity)
        is_taken[known->site] = 0;
    snd_signatures_free(known->signatures);
    snd_free(known);
}

/* Text that may hold what UTF-8 cannot; a new reference to bytes, NULL when memory runs out. */
static PyObject *
to_bytes(PyObject *text)
{
    return PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
}

/* Whether it was written in a class, with self or cls first. */
static int
is_method(const PyCodeObject *code, const char *name)
{
    static const char local[] = "<locals>";
    const char *dot = strrchr(name, '.');
    PyObject *first = code->co_argcount == 0 ? NULL : PyTuple_GET_ITEM(code->co_localsplusnames, 0);

    if (first == NULL || dot == NULL ||
        ((size_t)(dot - name) >= strlen(local) && strncmp(dot - strlen(local), local, strlen(local)) == 0))
        return 0;
    return PyUnicode_CompareWithASCIIString(first, "self") == 0 || PyUnicode_CompareWithASCIIString(first, "cls") == 0;
}

static void
describe(PyCodeObject *code, snd_code *known)
{
    PyObject *name = to_bytes(code->co_qualname);
    PyObject *file = to_bytes(code->co_filename);

    known->site = SND_NONE;
    if (name != NULL && file != NULL) {
        snd_profile_site site = {SND_SITE_FUNCTION,
                                 PyBytes_AS_STRING(name),
                                 PyBytes_AS_STRING(file),
                                 code->co_firstlineno > 0 ? (uint32_t)code->co_firstlineno : 0,
                                 "",
                                 0,
                                 0};
        known->site = take_site(site);
        known->is_ours = (unsigned char)snd_is_own_file(site.file);
        known->is_method = (unsigned char)is_method(code, site.name);
        known->is_runner = known->is_ours && strcmp(snd_path_base(site.file), "profiler.py") == 0;
    }
    Py_XDECREF(name);
    Py_XDECREF(file);
    known->is_async = (code->co_flags & (CO_COROUTINE | CO_ASYNC_GENERATOR | CO_ITERABLE_COROUTINE)) != 0;
}

snd_code *
snd_code_new(PyCodeObject *code)
{
    static int is_open;
    PyObject *type, *value, *trace;
    snd_code *known = NULL;

    PyErr_Fetch(&type, &value, &trace);
    if (!is_open)
        is_open = snd_code_slot_open(forget, snd_calloc(1, sizeof *known));
    known = snd_code_slot_slow(code);
    if (known == NULL && is_open && (known = snd_calloc(1, sizeof *known)) != NULL) {
        describe(code, known);
        if (!snd_code_slot_set(code, known)) {
            snd_free(known);
            known = NULL;
        }
    }
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
    return known;
}

static int
matches_one(const char *pattern, const snd_profile_site *site)
{
    return fnmatch(pattern, site->file, 0) == 0 || fnmatch(pattern, snd_path_base(site->file), 0) == 0 ||
           fnmatch(pattern, site->name, 0) == 0;
}

static int
matches(PyObject *patterns, const snd_profile_site *site)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(patterns); i++)
        if (matches_one(PyBytes_AS_STRING(PyTuple_GET_ITEM(patterns, i)), site))
            return 1;
    return 0;
}

static void
keep_code(const snd_call_probe *probe, PyCodeObject *code, const snd_code *known)
{
    PyObject *type, *value, *trace;

    snd_profile_site site = snd_site_get(known->site);
    PyErr_Fetch(&type, &value, &trace);
    site.twin = 0; /* twins are shown as one */
    PyObject *key = PyLong_FromUnsignedLong(snd_site_add_placed(&site));
    if (key != NULL)
        (void)PyDict_SetDefault(probe->codes, key, (PyObject *)code);
    Py_XDECREF(key);
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
}

int
snd_code_judge(const snd_call_probe *probe, PyCodeObject *code, snd_code *known)
{
    int is_wanted = !known->is_ours && known->site != SND_NONE;

    if (known->refused == probe->book->serial)
        return 0;
    if (is_wanted) {
        snd_profile_site site = snd_site_get(known->site);
        is_wanted = (PyTuple_GET_SIZE(probe->wish.include) == 0 || matches(probe->wish.include, &site)) &&
                    !matches(probe->wish.exclude, &site);
    }
    *(is_wanted ? &known->wanted : &known->refused) = probe->book->serial;
    if (is_wanted && probe->codes != NULL)
        keep_code(probe, code, known);
    return is_wanted;
}

snd_code *
snd_code_wanted_slow(PyCodeObject *code)
{
    snd_code *known = snd_call_active == NULL ? NULL : snd_code_new(code);
    return known != NULL && (known->wanted == snd_call_serial || snd_code_judge(snd_call_active, code, known)) ? known
                                                                                                               : NULL;
}
