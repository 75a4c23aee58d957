/* Reading the arguments that region, func and iter_proxy share. */
#include "python/words.h"

static int
take(const char *function, const char *first, const char *key, PyObject *value, snd_words *out)
{
    if (first != NULL && strcmp(key, first) == 0)
        out->first = value;
    else if (strcmp(key, "name") == 0)
        out->name = value == Py_None ? NULL : value;
    else if (strcmp(key, "asglobal") == 0 || strcmp(key, "as_global") == 0) {
        out->is_global = PyObject_IsTrue(value);
        return out->is_global >= 0;
    }
    else {
        PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%s'", function, key);
        return 0;
    }
    return 1;
}

int
snd_words_read(const char *function, const char *first, PyObject *const *args, Py_ssize_t count, PyObject *names,
               snd_words *out)
{
    const char *const keys[] = {first, "name", "asglobal"};
    Py_ssize_t skipped = first == NULL;

    *out = (snd_words){0};
    if (count > 3 - skipped) {
        PyErr_Format(PyExc_TypeError, "%s() takes at most %zd arguments (%zd given)", function, 3 - skipped, count);
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        if (!take(function, first, keys[i + skipped], args[i], out))
            return 0;
    for (Py_ssize_t i = 0; names != NULL && i < PyTuple_GET_SIZE(names); i++) {
        const char *key = PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, i));
        if (key == NULL || !take(function, first, key, args[count + i], out))
            return 0;
    }
    if (first != NULL && out->first == NULL) {
        PyErr_Format(PyExc_TypeError, "%s() missing 1 required positional argument: '%s'", function, first);
        return 0;
    }
    if (out->name != NULL && !PyUnicode_Check(out->name)) {
        PyErr_Format(PyExc_TypeError, "a region's name must be a string, not %.100s", Py_TYPE(out->name)->tp_name);
        return 0;
    }
    return 1;
}
