#include "python/own_file.h"

#include "python/compat.h"

#include <string.h>

int
snd_is_own_file(const char *file)
{
    static char folder[4096];

    if (folder[0] == '\0') {
        PyObject *package = Py_XNewRef(PyDict_GetItemString(PyImport_GetModuleDict(), "sonde"));
        PyObject *path = package == NULL ? NULL : PyModule_GetFilenameObject(package);
        const char *text = path == NULL ? NULL : PyUnicode_AsUTF8(path);
        const char *end = text == NULL ? NULL : strrchr(text, '/');
        if (end != NULL && (size_t)(end - text) + 2 < sizeof folder)
            memcpy(folder, text, (size_t)(end - text) + 1);
        Py_XDECREF(path);
        Py_XDECREF(package);
        PyErr_Clear();
    }
    return folder[0] != '\0' && strncmp(file, folder, strlen(folder)) == 0;
}
