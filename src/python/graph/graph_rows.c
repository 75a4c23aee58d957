/* Compiled functions as Python knows them: rows that become a profile, or a part of the running measurement. */
#include "python/graph/graph_rows.h"

#include "base/alloc.h"
#include "base/map.h"
#include "probe/graph/graph.h"
#include "python/module/profile_object.h"

#include <math.h>
#include <string.h>

/* A profile in the making. */
typedef struct reader {
    snd_profile *profile;
    snd_map sites;    /* by kind and texts: equal ones are one */
    snd_map children; /* by parent and site: equal ones are one */
    uint32_t track;
    uint32_t root;   /* the node that the rows without a parent stand below */
    uint32_t *nodes; /* per row */
} reader;

static int
is_done(snd_status status)
{
    if (status != SND_OK)
        snd_raise_status(status, NULL);
    return status == SND_OK;
}

/* ---- sites ---- */

static int
find_site(reader *self, const snd_profile_site *wanted, uint32_t *id)
{
    uint64_t hash = snd_hash(wanted->name, strlen(wanted->name), wanted->kind);
    uint32_t cursor = 0;

    hash = snd_hash(wanted->detail, strlen(wanted->detail), hash);
    while ((*id = snd_map_next(&self->sites, hash, &cursor)) != SND_MAP_NONE) {
        const snd_profile_site *known = &self->profile->sites[*id];
        if (known->kind == wanted->kind && strcmp(known->name, wanted->name) == 0 &&
            strcmp(known->detail, wanted->detail) == 0)
            return 1;
    }
    return is_done(snd_profile_add_site(self->profile, wanted, id)) && is_done(snd_map_add(&self->sites, hash, *id));
}

static int
read_kind(PyObject *text, snd_site_kind *kind)
{
    const char *name = PyUnicode_AsUTF8(text);

    if (name == NULL)
        return 0;
    *kind = snd_site_kind_find(name);
    if (*kind != SND_SITE_KIND_COUNT && snd_site_is_graph(*kind))
        return 1;
    PyErr_Format(PyExc_ValueError, "a graph row cannot be of kind '%s'", name);
    return 0;
}

/* ---- numbers ---- */

static int
read_value(PyObject *object, int is_real, snd_value *value)
{
    if (is_real) {
        value->real = PyFloat_AsDouble(object);
        return !(value->real == -1 && PyErr_Occurred());
    }
    if (PyFloat_Check(object)) {
        double real = PyFloat_AS_DOUBLE(object);
        if (!(real >= 0 && real < 0x1p63)) {
            PyErr_SetString(PyExc_ValueError, "a graph's number must be finite and not negative");
            return 0;
        }
        value->whole = (uint64_t)llround(real);
        return 1;
    }
    value->whole = PyLong_AsUnsignedLongLong(object);
    return !(value->whole == (uint64_t)-1 && PyErr_Occurred());
}

/* Added to what there is, from another row of the same place. */
static int
add_metrics(reader *self, uint32_t node, PyObject *numbers)
{
    PyObject *key, *object;
    Py_ssize_t at = 0;

    while (PyDict_Next(numbers, &at, &key, &object)) {
        const char *name = PyUnicode_AsUTF8(key);
        if (name == NULL)
            return 0;
        snd_metric metric = snd_metric_find(name);
        snd_value value;
        if (metric == SND_METRIC_COUNT_OF) {
            PyErr_Format(PyExc_ValueError, "unknown metric '%s'", name);
            return 0;
        }
        const snd_metric_info *about = snd_metric_get(metric);
        if (!read_value(object, about->is_real, &value))
            return 0;
        if (snd_profile_has(self->profile, node, metric))
            value = snd_metric_combine(metric, about->rule, self->profile->columns[metric][node], value);
        if (!is_done(snd_profile_set(self->profile, node, metric, value)))
            return 0;
    }
    return 1;
}

/* ---- rows ---- */

static int
find_parent(const reader *self, Py_ssize_t parent, Py_ssize_t row, uint32_t *node)
{
    if (parent < -1 || parent >= row) {
        PyErr_Format(PyExc_ValueError, "the parent of row %zd must be a row before it or -1, not %zd", row, parent);
        return 0;
    }
    *node = parent == -1 ? self->root : self->nodes[parent];
    return 1;
}

/* Rows of one place are one node, as everywhere in profiles. */
static int
add_node(reader *self, uint32_t parent, const snd_profile_site *site, uint32_t *node)
{
    uint32_t id, cursor = 0;

    if (!find_site(self, site, &id))
        return 0;
    uint64_t key = (uint64_t)parent << 32 | id;
    *node = snd_map_next(&self->children, key, &cursor);
    return *node != SND_MAP_NONE || (is_done(snd_profile_add_node(self->profile, parent, self->track, id, node)) &&
                                     is_done(snd_map_add(&self->children, key, *node)));
}

/* "input 0: float64 (3, 4)" becomes a node: when its shape is another one, the next rows have another node for it, and
 * this one is gone. `line` is changed. */
static int
add_variable(reader *self, uint32_t apply, char *line)
{
    char *colon = strstr(line, ": ");
    snd_profile_site site = {.kind = SND_SITE_GRAPH_VARIABLE, .name = line, .file = "", .detail = ""};
    uint32_t node;

    if (colon != NULL) {
        *colon = '\0';
        site.detail = colon + 2;
    }
    return add_node(self, apply, &site, &node);
}

/* The first line of a node's detail says which one it is, the others what its variables are, which may change. */
static int
add_apply(reader *self, uint32_t parent, snd_profile_site *site, uint32_t *node)
{
    char *text = snd_strdup(site->detail), *rest = NULL;
    const char *first = text == NULL ? NULL : strtok_r(text, "\n", &rest);
    int is_good = is_done(text == NULL ? SND_NO_MEMORY : SND_OK);

    site->detail = first == NULL ? "" : first;
    is_good = is_good && add_node(self, parent, site, node);
    for (char *line = first == NULL ? NULL : strtok_r(NULL, "\n", &rest); line != NULL && is_good;
         line = strtok_r(NULL, "\n", &rest))
        is_good = add_variable(self, *node, line);
    snd_free(text);
    return is_good;
}

static int
read_row(reader *self, PyObject *row, Py_ssize_t number)
{
    snd_profile_site site = {.file = ""};
    PyObject *kind, *numbers;
    uint32_t above, *node = &self->nodes[number];
    Py_ssize_t parent;

    if (!PyTuple_Check(row)) {
        PyErr_SetString(PyExc_TypeError, "a graph row must be a tuple (parent, kind, name, detail, numbers)");
        return 0;
    }
    if (!PyArg_ParseTuple(row, "nUssO!:row", &parent, &kind, &site.name, &site.detail, &PyDict_Type, &numbers))
        return 0;
    if (!read_kind(kind, &site.kind) || !find_parent(self, parent, number, &above))
        return 0;
    int is_apply = site.kind == SND_SITE_GRAPH_APPLY;
    return (is_apply ? add_apply(self, above, &site, node) : add_node(self, above, &site, node)) &&
           add_metrics(self, *node, numbers);
}

/* A track with its root, as every profile has it. */
static int
start(reader *self, Py_ssize_t count)
{
    const snd_profile_track track = {.thread_count = 1, .name = "main"};
    const snd_profile_site root = {.kind = SND_SITE_THREAD, .name = "main", .file = "", .detail = ""};
    uint32_t site;

    self->profile = snd_profile_new();
    self->nodes = snd_calloc((size_t)count + 1, sizeof *self->nodes);
    return is_done(self->profile == NULL || self->nodes == NULL ? SND_NO_MEMORY : SND_OK) &&
           is_done(snd_profile_add_track(self->profile, &track, &self->track)) &&
           is_done(snd_profile_add_site(self->profile, &root, &site)) &&
           is_done(snd_profile_add_node(self->profile, SND_NONE, self->track, site, &self->root));
}

/* The caller owns the profile. NULL with an exception. */
static snd_profile *
read_rows(PyObject *rows)
{
    PyObject *list = PySequence_Tuple(rows); /* which nobody can make longer meanwhile */
    reader self = {0};
    int is_good = list != NULL && start(&self, PyTuple_GET_SIZE(list));

    for (Py_ssize_t i = 0; is_good && i < PyTuple_GET_SIZE(list); i++)
        is_good = read_row(&self, PyTuple_GET_ITEM(list, i), i);
    Py_XDECREF(list);
    snd_map_free(&self.sites);
    snd_map_free(&self.children);
    snd_free(self.nodes);
    if (is_good)
        return self.profile;
    snd_profile_free(self.profile);
    return NULL;
}

static int
set_infos(snd_profile *profile, PyObject *infos)
{
    PyObject *key, *object;
    Py_ssize_t at = 0;

    while (PyDict_Next(infos, &at, &key, &object)) {
        const char *name = PyUnicode_AsUTF8(key);
        const char *value = name == NULL ? NULL : PyUnicode_AsUTF8(object);
        if (value == NULL || !is_done(snd_profile_set_info(profile, name, value)))
            return 0;
    }
    return 1;
}

PyObject *
snd_py_graph_profile(PyObject *module, PyObject *args)
{
    PyObject *rows, *infos;

    if (!PyArg_ParseTuple(args, "OO!:graph_profile", &rows, &PyDict_Type, &infos))
        return NULL;
    snd_profile *profile = read_rows(rows);
    if (profile == NULL)
        return NULL;
    if (set_infos(profile, infos))
        return snd_profile_wrap(snd_state_of_module(module), profile);
    snd_profile_free(profile);
    return NULL;
}

PyObject *
snd_py_graph_attach(PyObject *module, PyObject *rows)
{
    snd_profile *profile = read_rows(rows);

    (void)module;
    if (profile == NULL)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    (void)!snd_graph_attach(profile); /* what found no room is counted, and every report says so */
    Py_END_ALLOW_THREADS;
    snd_profile_free(profile);
    Py_RETURN_NONE;
}
