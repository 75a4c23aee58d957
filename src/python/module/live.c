/* The memory that is live in a profile, by line, by file or by stack: what a snapshot shows. */
#include "python/module/state.h"

#include "base/alloc.h"

#include <string.h>

typedef struct live {
    const snd_profile *profile;
    PyObject **places; /* per site: (file, line); NULL: not asked for yet */
    PyObject *groups;  /* frames → the number of their sum */
    double *sums;      /* bytes, blocks; for every node, so there is always room */
} live;

enum { BY_LINE, BY_FILE, BY_STACK, BY_COUNT };

#define IMPORTER "<frozen importlib._bootstrap>" /* what tracemalloc shows where a module is imported */

/* A new reference to (file, line). Files have no line. */
static PyObject *
place_of(live *self, uint32_t site, int by)
{
    const snd_profile_site *found = &self->profile->sites[site];

    if (self->places[site] == NULL) {
        const char *name = found->kind == SND_SITE_LINE ? found->file : IMPORTER;
        PyObject *file = PyUnicode_DecodeUTF8(name, (Py_ssize_t)strlen(name), "replace");
        if (file == NULL)
            return NULL;
        self->places[site] = Py_BuildValue("(NI)", file, by == BY_FILE ? 0u : found->line);
    }
    return Py_XNewRef(self->places[site]);
}

/* Appends the lines of Python from the node outwards: all of them or the first. */
static int
append_lines(live *self, PyObject *list, uint32_t node, int by)
{
    const snd_profile *profile = self->profile;

    for (; node != SND_NONE; node = profile->nodes[node].parent) {
        uint32_t site = profile->nodes[node].site;
        if (profile->sites[site].kind != SND_SITE_LINE && !snd_site_is_import(&profile->sites[site]))
            continue;
        PyObject *place = place_of(self, site, by);
        int failed = place == NULL || PyList_Append(list, place) != 0;
        Py_XDECREF(place);
        if (failed)
            return 0;
        if (by != BY_STACK)
            break;
    }
    return 1;
}

/* The frames of a node, innermost first; what no line of Python led to has the place that tracemalloc gives to it. */
static PyObject *
frames_of(live *self, uint32_t node, int by)
{
    PyObject *list = PyList_New(0), *frames = NULL;

    if (list != NULL && append_lines(self, list, node, by))
        frames = PyList_GET_SIZE(list) > 0 ? PyList_AsTuple(list) : Py_BuildValue("((si))", "<unknown>", 0);
    Py_XDECREF(list);
    return frames;
}

/* The number of a group, a new one when it is met for the first time. -1 with an exception set. */
static Py_ssize_t
group_of(live *self, PyObject *frames)
{
    PyObject *next = PyLong_FromSsize_t(PyDict_GET_SIZE(self->groups));
    PyObject *number = next == NULL ? NULL : PyDict_SetDefault(self->groups, frames, next); /* borrowed */
    Py_ssize_t group = number == NULL ? -1 : PyLong_AsSsize_t(number);

    Py_XDECREF(next);
    return group;
}

/* Of the blocks that were looked at some are freed; the others stand for as many as all of them did. */
static double
live_blocks(const snd_profile *profile, uint32_t node)
{
    uint64_t taken = snd_profile_whole(profile, node, SND_METRIC_TAKEN);
    uint64_t freed = snd_profile_whole(profile, node, SND_METRIC_FREED);
    double blocks = (double)snd_profile_whole(profile, node, SND_METRIC_ALLOC_BLOCKS);

    return taken <= freed ? 0.0 : blocks * (double)(taken - freed) / (double)taken;
}

static int
add_node(live *self, uint32_t node, int by)
{
    uint64_t bytes = snd_profile_whole(self->profile, node, SND_METRIC_LIVE);
    if (bytes == 0)
        return 1;
    PyObject *frames = frames_of(self, node, by);
    Py_ssize_t group = frames == NULL ? -1 : group_of(self, frames);
    Py_XDECREF(frames);
    if (group < 0)
        return 0;
    self->sums[2 * group] += (double)bytes;
    self->sums[2 * group + 1] += live_blocks(self->profile, node);
    return 1;
}

/* The groups as a list of (bytes, blocks, frames), the largest first. */
static PyObject *
list_groups(live *self)
{
    PyObject *list = PyList_New(0), *frames, *number;
    Py_ssize_t at = 0;

    while (list != NULL && PyDict_Next(self->groups, &at, &frames, &number)) {
        const double *sums = &self->sums[2 * PyLong_AsSsize_t(number)];
        PyObject *row = Py_BuildValue("(LLO)", (long long)sums[0], (long long)(sums[1] + 0.5), frames);
        if (row == NULL || PyList_Append(list, row) != 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    if (list != NULL && (PyList_Sort(list) != 0 || PyList_Reverse(list) != 0))
        Py_CLEAR(list);
    return list;
}

static int
find_key(PyObject *name)
{
    static const char *const names[] = {"lineno", "filename", "traceback"};

    for (int by = 0; by < BY_COUNT && PyUnicode_Check(name); by++)
        if (PyUnicode_CompareWithASCIIString(name, names[by]) == 0)
            return by;
    PyErr_Format(PyExc_ValueError, "unknown key type %R; choose from 'lineno', 'filename' and 'traceback'", name);
    return BY_COUNT;
}

PyObject *
snd_profile_live(const snd_profile *profile, PyObject *name)
{
    int by = find_key(name);
    live self = {.profile = profile};
    PyObject *result = NULL;

    if (by == BY_COUNT)
        return NULL;
    self.groups = PyDict_New();
    self.places = snd_calloc((size_t)profile->site_count + 1, sizeof *self.places);
    self.sums = snd_calloc((size_t)profile->node_count + 1, 2 * sizeof *self.sums);
    if (self.places == NULL || self.sums == NULL)
        PyErr_NoMemory();
    else if (self.groups != NULL) {
        uint32_t node = 0;
        while (node < profile->node_count && add_node(&self, node, by))
            node++;
        result = node < profile->node_count ? NULL : list_groups(&self);
    }
    for (uint32_t i = 0; self.places != NULL && i < profile->site_count; i++)
        Py_XDECREF(self.places[i]);
    snd_free(self.places);
    snd_free(self.sums);
    Py_XDECREF(self.groups);
    return result;
}
