/* Code objects: their sites, and whether a filter lets them through. Decided once for each, never for a call. */
#include "python/calls/call.h"

#include "base/alloc.h"
#include "base/text.h"
#include "python/compat/compat_stack.h"
#include "python/module/threads.h"

#include <fnmatch.h>
#include <string.h>

#define TWIN_LIMIT 256u /* of so many at one place, the rest shares a site */

snd_call_probe *snd_call_active;
uint64_t snd_call_serial = SND_NO_SERIAL;

/* Which sites belong to living code objects. Two of one name at one place have a site each, or one would look as if it
 * called itself; what a dead one had is taken again. Guarded by the GIL. */
static unsigned char *is_taken; /* per site */
static uint32_t taken_count;

static int
make_taken_room(uint32_t site)
{
    return site < taken_count || snd_make_longer(&is_taken, 2 * (site + 1), &taken_count, sizeof *is_taken, 0);
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
    if (id != SND_NONE && id < taken_count)
        is_taken[id] = 1;
    return id;
}

static void
forget(snd_code *known)
{
    if (known->site < taken_count)
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

/* ---- where they are found ---- */

#define FIRST_BITS 10u

static snd_code_place none[2];
snd_code_place *snd_code_places = none;
unsigned snd_code_shift = 63;
static uint32_t place_count;

static uint32_t
place_mask(void)
{
    return (uint32_t)(UINT64_MAX >> snd_code_shift);
}

/* Its place, or the free one where it would be. */
static snd_code_place *
find_place(const PyCodeObject *code)
{
    uint32_t at = snd_code_home(code);

    while (snd_code_places[at].code != NULL && snd_code_places[at].code != code)
        at = (at + 1) & place_mask();
    return &snd_code_places[at];
}

snd_code *
snd_code_find_slow(const PyCodeObject *code)
{
    return find_place(code)->known;
}

static int
make_place_room(void)
{
    uint32_t capacity = place_mask() + 1;
    unsigned bits = snd_code_places == none ? FIRST_BITS : 64 - snd_code_shift + 1;
    snd_code_place *old = snd_code_places;

    if (old != none && place_count < capacity / 2)
        return 1;
    snd_code_place *grown = snd_calloc((size_t)1 << bits, sizeof *grown);
    if (grown == NULL)
        return 0;
    snd_code_places = grown;
    snd_code_shift = 64 - bits;
    for (uint32_t i = 0; i < capacity; i++)
        if (old[i].code != NULL)
            *find_place(old[i].code) = old[i];
    if (old != none)
        snd_free(old);
    return 1;
}

/* Those behind it move up, as far as that brings them nearer to where they belong. */
static void
free_place(snd_code_place *place)
{
    uint32_t mask = place_mask(), hole = (uint32_t)(place - snd_code_places);

    for (uint32_t at = (hole + 1) & mask; snd_code_places[at].code != NULL; at = (at + 1) & mask) {
        uint32_t home = snd_code_home(snd_code_places[at].code);
        if (((at - home) & mask) < ((at - hole) & mask))
            continue;
        snd_code_places[hole] = snd_code_places[at];
        hole = at;
    }
    snd_code_places[hole] = (snd_code_place){0};
    place_count--;
}

static void
on_death(uintptr_t code)
{
    snd_code_place *place = find_place((const PyCodeObject *)code);

    if (place->code == NULL)
        return;
    forget(place->known);
    free_place(place);
}

/* Where nobody would tell of its end, it is kept from ending. */
static int
is_told_of_deaths(void)
{
    static int answer = -1;

    if (answer < 0)
        answer = snd_stack_watch_code(on_death, 1);
    return answer;
}

/* call_code.c: what is known of a code object; NULL when memory runs out. Borrowed. */
static snd_code *
new_code(PyCodeObject *code)
{
    PyObject *type, *value, *trace;
    snd_code *known = snd_code_find(code);

    if (known != NULL || !make_place_room() || (known = snd_calloc(1, sizeof *known)) == NULL)
        return known;
    PyErr_Fetch(&type, &value, &trace);
    describe(code, known);
    if (!is_told_of_deaths())
        Py_INCREF(code);
    *find_place(code) = (snd_code_place){code, known};
    place_count++;
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
    return known;
}

/* ---- who is wanted ---- */

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

/* Asks the filter, once a code object. */
static int
judge_code(const snd_call_probe *probe, PyCodeObject *code, snd_code *known)
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
    snd_code *known = snd_call_active == NULL ? NULL : new_code(code);
    return known != NULL && (known->wanted == snd_call_serial || judge_code(snd_call_active, code, known)) ? known
                                                                                                           : NULL;
}
