/* What C code does when it is called: functions and methods of C, and, where asked for, types, partials and ufuncs. */
#include "python/calls/call.h"

#include "base/alloc.h"
#include "base/buffer.h"
#include "python/module/describe.h"

#include <string.h>

snd_builtin *snd_builtins;
uint32_t snd_builtin_mask;
static uint32_t count;

static snd_builtin *
slot_of(snd_builtin *table, uint32_t table_mask, const void *key)
{
    uint32_t slot = snd_builtin_home(key, table_mask);
    while (table[slot].key != NULL && table[slot].key != key)
        slot = (slot + 1) & table_mask;
    return &table[slot];
}

static int
grow(void)
{
    uint32_t slots = snd_builtins == NULL ? 256 : (snd_builtin_mask + 1) * 2;
    snd_builtin *table = snd_calloc(slots, sizeof *table);
    if (table == NULL)
        return 0;
    for (uint32_t i = 0; snd_builtins != NULL && i <= snd_builtin_mask; i++)
        if (snd_builtins[i].key != NULL)
            *slot_of(table, slots - 1, snd_builtins[i].key) = snd_builtins[i];
    snd_free(snd_builtins);
    snd_builtins = table;
    snd_builtin_mask = slots - 1;
    return 1;
}

/* Adds the text of an object whose own repr is C code; 0 when that fails. */
static int
add_repr(PyObject *object, snd_buffer *out)
{
    int is_added = snd_put_repr(object, out);
    PyErr_Clear();
    return is_added;
}

static int
is_c_descriptor(PyObject *object)
{
    return Py_IS_TYPE(object, &PyMethodDescr_Type) || Py_IS_TYPE(object, &PyClassMethodDescr_Type) ||
           Py_IS_TYPE(object, &PyWrapperDescr_Type) || Py_IS_TYPE(object, &PyCFunction_Type);
}

/* Whether the bound method was made from this descriptor. */
static int
is_made_from(PyObject *descriptor, const PyMethodDef *method)
{
    return (Py_IS_TYPE(descriptor, &PyMethodDescr_Type) || Py_IS_TYPE(descriptor, &PyClassMethodDescr_Type)) &&
           ((PyMethodDescrObject *)descriptor)->d_method == method;
}

/* What the type or one of its bases has for this method; a new reference, NULL: nothing. A class may have put something
 * of its own before it. Runs no code of the program. */
static PyObject *
look_up(PyTypeObject *type, const PyMethodDef *method)
{
    PyObject *first = NULL, *found = NULL;

    for (Py_ssize_t i = 0; type->tp_mro != NULL && i < PyTuple_GET_SIZE(type->tp_mro) && found == NULL; i++) {
        PyObject *names = snd_type_dict((PyTypeObject *)PyTuple_GET_ITEM(type->tp_mro, i));
        PyObject *item = names == NULL ? NULL : PyDict_GetItemString(names, method->ml_name);
        if (item != NULL && is_made_from(item, method))
            found = Py_NewRef(item);
        else if (item != NULL && first == NULL && is_c_descriptor(item))
            first = Py_NewRef(item);
        Py_XDECREF(names);
    }
    PyErr_Clear();
    if (found == NULL)
        return first;
    Py_XDECREF(first);
    return found;
}

/* As the standard profiler names them: "<method 'append' of 'list' objects>", "<built-in method builtins.len>". */
static void
name_function(PyObject *callable, snd_buffer *out)
{
    const PyCFunctionObject *function = (PyCFunctionObject *)callable;
    const char *name = function->m_ml->ml_name;
    PyObject *self = PyCFunction_GET_SELF(callable);
    PyObject *module = function->m_module;
    const char *module_name = module != NULL && PyUnicode_Check(module) ? PyUnicode_AsUTF8(module) : NULL;
    PyObject *found = self == NULL ? NULL : look_up(Py_TYPE(self), function->m_ml);

    PyErr_Clear();
    if (found != NULL && add_repr(found, out))
        ;
    else if (self == NULL)
        snd_buffer_printf(out, module_name == NULL || strcmp(module_name, "builtins") == 0 ? "<%.0s%s>" : "<%s.%s>",
                          module_name == NULL ? "" : module_name, name);
    else if (module_name != NULL)
        snd_buffer_printf(out, "<built-in method %s.%s>", module_name, name);
    else
        snd_buffer_printf(out, "<built-in method %s>", name);
    Py_XDECREF(found);
}

/* Other callables: their type, and a ufunc's own name. */
static void
name_other(PyObject *callable, snd_buffer *out)
{
    PyTypeObject *type = Py_TYPE(callable);

    if (PyType_Check(callable))
        snd_buffer_printf(out, "<type %s>", ((PyTypeObject *)callable)->tp_name);
    else if (strcmp(type->tp_name, "numpy.ufunc") == 0 || is_c_descriptor(callable)) {
        if (!add_repr(callable, out))
            snd_buffer_printf(out, "<%s>", type->tp_name);
    }
    else
        snd_buffer_printf(out, "<call of %s>", type->tp_name);
}

static uint32_t
add_site(PyObject *callable)
{
    PyObject *type, *value, *trace;
    snd_buffer name = {0};
    uint32_t site = SND_NONE;

    PyErr_Fetch(&type, &value, &trace);
    if (PyCFunction_Check(callable))
        name_function(callable, &name);
    else if (Py_IS_TYPE(callable, &PyMethodDescr_Type))
        (void)add_repr(callable, &name);
    else
        name_other(callable, &name);
    /* our own enable and disable are no calls of the program */
    if (snd_buffer_status(&name) == SND_OK && name.size > 0 && strstr(name.data, "sonde._core.") == NULL) {
        snd_profile_site added = {SND_SITE_BUILTIN, snd_buffer_str(&name), "", 0, "", 0, 0};
        site = snd_site_add_placed(&added);
    }
    snd_buffer_free(&name);
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
    return site;
}

/* Types whose instances C code calls, beyond functions and methods. By name: not all of them are imported. */
static int
is_known_callable(const PyTypeObject *type)
{
    static const char *const names[] = {
        "functools.partial",   "functools._lru_cache_wrapper", "numpy.ufunc",
        "operator.itemgetter", "operator.attrgetter",          "operator.methodcaller",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(type->tp_name, names[i]) == 0)
            return 1;
    return 0;
}

const void *
snd_builtin_key_slow(const snd_call_probe *probe, PyObject *callable, PyObject *first)
{
    PyTypeObject *type = Py_TYPE(callable);

    if (PyCFunction_Check(callable))
        return ((PyCFunctionObject *)callable)->m_ml;
    if (!probe->wish.callables || type == &PyFunction_Type || type == &PyMethod_Type)
        return NULL;
    if (type == &PyMethodDescr_Type || type == &PyWrapperDescr_Type || type == &PyClassMethodDescr_Type)
        return first == NULL && type == &PyMethodDescr_Type ? NULL : callable;
    if (PyType_Check(callable)) /* a class in Python has an __init__ to show */
        return ((PyTypeObject *)callable)->tp_flags & Py_TPFLAGS_HEAPTYPE ? NULL : callable;
    if (!is_known_callable(type))
        return NULL;
    return strcmp(type->tp_name, "numpy.ufunc") == 0 ? (const void *)callable : (const void *)type;
}

/* What tells a key from another that had its address before. */
static const char *
name_of(PyObject *callable, const void *key)
{
    PyTypeObject *type = Py_TYPE(callable);

    if (PyCFunction_Check(callable) || (type == &PyMethodDescr_Type && key != callable))
        return ((const PyMethodDef *)key)->ml_name;
    if (PyType_Check(callable))
        return ((PyTypeObject *)callable)->tp_name;
    return is_c_descriptor(callable) ? ((PyDescrObject *)callable)->d_type->tp_name : type->tp_name;
}

uint32_t
snd_builtin_site_slow(PyObject *callable, const void *key)
{
    const char *name = name_of(callable, key);

    if ((snd_builtins == NULL || count > snd_builtin_mask / 2) && !grow())
        return SND_NONE;
    snd_builtin *found = slot_of(snd_builtins, snd_builtin_mask, key);
    if (found->key == NULL || found->name != name) {
        uint32_t site = add_site(callable);
        found = slot_of(snd_builtins, snd_builtin_mask, key); /* a repr may have let another thread in */
        count += found->key == NULL;
        *found = (snd_builtin){key, name, site};
    }
    return found->site;
}
