/* The report page for Python: of a profile, or of recordings with their timeline. */
#include "python/page.h"

#include "format/page.h"
#include "os/file.h"
#include "store/reader.h"

#include <errno.h>

enum { RECORDING_LIMIT = 2 };

PyObject *
snd_page_object(const snd_profile *const *profiles, unsigned count, int source)
{
    const snd_page_options options = {.no_source = !source};
    snd_buffer page = {0};
    PyObject *result = NULL;

    if (!snd_page_exists())
        return snd_raise_status(SND_NO_DATA, SND_PAGE_MISSING);
    snd_status status = snd_page_write(profiles, count, &options, &page);
    if (status == SND_OK)
        result = PyUnicode_DecodeUTF8(snd_buffer_str(&page), (Py_ssize_t)page.size, "replace");
    else
        snd_raise_status(status, NULL);
    snd_buffer_free(&page);
    return result;
}

static PyObject *
raise_about(PyObject *path, snd_status status, int number)
{
    errno = number;
    if (status == SND_SYSTEM)
        return PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, path);
    if (status == SND_NO_MEMORY)
        return PyErr_NoMemory();
    return PyErr_Format(PyExc_OSError, "%S: %s", path, snd_status_text(status));
}

/* The whole recording, with its events where it has any that fit. */
static snd_status
read_recording(const char *path, snd_profile **out, int *number)
{
    snd_reader *reader = NULL;
    snd_status status = snd_reader_open(path, &reader);

    if (status == SND_OK)
        status = snd_reader_profile(reader, out);
    if (status == SND_OK)
        status = snd_reader_events(reader, *out);
    *number = errno;
    snd_reader_free(reader);
    return status == SND_NO_TIMELINE || status == SND_TOO_LONG ? SND_OK : status;
}

static snd_profile *
open_recording(PyObject *path)
{
    snd_profile *profile = NULL;
    PyObject *bytes = NULL;
    snd_status status;
    int number;

    if (!PyUnicode_FSConverter(path, &bytes))
        return NULL;
    Py_BEGIN_ALLOW_THREADS status = read_recording(PyBytes_AS_STRING(bytes), &profile, &number);
    Py_END_ALLOW_THREADS Py_DECREF(bytes);
    if (status == SND_OK)
        return profile;
    snd_profile_free(profile);
    raise_about(path, status, number);
    return NULL;
}

PyObject *
snd_py_page(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"", "second", "source", NULL};
    PyObject *paths[RECORDING_LIMIT] = {NULL, Py_None}, *result = NULL;
    snd_profile *profiles[RECORDING_LIMIT] = {NULL, NULL};
    int source = 1;

    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O$p:page", names, &paths[0], &paths[1], &source))
        return NULL;
    if (!snd_page_exists())
        return snd_raise_status(SND_NO_DATA, SND_PAGE_MISSING);
    unsigned count = paths[1] == Py_None ? 1 : 2, opened = 0;
    while (opened < count && (profiles[opened] = open_recording(paths[opened])) != NULL)
        opened++;
    if (opened == count)
        result = snd_page_object((const snd_profile *const[]){profiles[0], profiles[1]}, count, source);
    for (unsigned i = 0; i < opened; i++)
        snd_profile_free(profiles[i]);
    return result;
}

PyObject *
snd_py_write_page(PyObject *module, PyObject *args)
{
    PyObject *path, *bytes = NULL;
    const char *text;
    Py_ssize_t size;
    snd_status status;

    (void)module;
    if (!PyArg_ParseTuple(args, "Os#:write_page", &path, &text, &size) || !PyUnicode_FSConverter(path, &bytes))
        return NULL;
    Py_BEGIN_ALLOW_THREADS status = snd_file_replace(PyBytes_AS_STRING(bytes), text, (size_t)size);
    Py_END_ALLOW_THREADS int number = errno;
    Py_DECREF(bytes);
    if (status == SND_OK)
        Py_RETURN_NONE;
    return raise_about(path, status, number);
}
