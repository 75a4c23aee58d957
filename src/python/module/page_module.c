/* The report page for Python: of a profile, or of recordings with their timeline. */
#include "python/module/state.h"

#include "format/page/page.h"
#include "os/file.h"
#include "os/worker.h"
#include "store/reader.h"

#include <errno.h>

enum { RECORDING_LIMIT = 2 };

PyObject *
snd_page_object(const snd_profile *const *profiles, unsigned count, int source)
{
    const snd_page_options options = {.no_source = !source};
    snd_buffer page = {0};

    if (!snd_page_exists())
        return snd_raise_status(SND_NO_DATA, SND_PAGE_MISSING);
    snd_status status = snd_page_write(profiles, count, &options, &page);
    return snd_text_object(status, &page);
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

typedef struct reading {
    const char *path;
    snd_profile *profile;
    int number; /* errno */
    snd_status status;
} reading;

/* The whole recording, with its events where it has any that fit. */
static void
read_recording(void *context)
{
    reading *self = context;
    snd_reader *reader = NULL;
    snd_status status = snd_reader_open(self->path, &reader);

    if (status == SND_OK)
        status = snd_reader_profile(reader, &self->profile);
    if (status == SND_OK)
        status = snd_reader_events(reader, self->profile);
    self->number = errno;
    snd_reader_free(reader);
    self->status = status == SND_NO_TIMELINE || status == SND_TOO_LONG ? SND_OK : status;
}

static snd_profile *
open_recording(PyObject *path)
{
    PyObject *bytes = NULL;

    if (!PyUnicode_FSConverter(path, &bytes))
        return NULL;
    reading self = {.path = PyBytes_AS_STRING(bytes)};
    Py_BEGIN_ALLOW_THREADS snd_worker_call(read_recording, &self);
    Py_END_ALLOW_THREADS Py_DECREF(bytes);
    if (self.status == SND_OK)
        return self.profile;
    snd_profile_free(self.profile);
    raise_about(path, self.status, self.number);
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

typedef struct writing {
    const char *path, *text;
    Py_ssize_t size;
    snd_status status;
} writing;

static void
write_page(void *context)
{
    writing *self = context;

    self->status = snd_file_replace(self->path, self->text, (size_t)self->size);
}

PyObject *
snd_py_write_page(PyObject *module, PyObject *args)
{
    PyObject *path, *bytes = NULL;
    writing self = {0};

    (void)module;
    if (!PyArg_ParseTuple(args, "Os#:write_page", &path, &self.text, &self.size) ||
        !PyUnicode_FSConverter(path, &bytes))
        return NULL;
    self.path = PyBytes_AS_STRING(bytes);
    Py_BEGIN_ALLOW_THREADS snd_worker_call(write_page, &self);
    Py_END_ALLOW_THREADS int number = errno;
    Py_DECREF(bytes);
    if (self.status == SND_OK)
        Py_RETURN_NONE;
    return raise_about(path, self.status, number);
}
