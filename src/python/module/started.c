/* Where the program of a process begins, what it starts, and what is left of that. */
#include "python/module/state.h"

#include "base/alloc.h"
#include "collect/children.h"
#include "os/process.h"
#include "os/worker.h"
#include "python/module/profile_object.h"
#include "store/reader.h"

#include <errno.h>
#include <string.h>

/* ---- the beginning, and processes that are started ---- */

/* A hook of this kind gets no argument of ours that would live and die with a module, and cannot be removed. */
static PyObject *begin_function;  /* called once, right before the first line of the program; NULL: done */
static PyObject *starts_function; /* called with the event and its arguments before another program is run */

/* An exception of ours is nobody's business; one that is being handled stays. */
static void
call(PyObject *function, PyObject *arguments)
{
    PyObject *type, *value, *trace;

    PyErr_Fetch(&type, &value, &trace);
    PyObject *result = PyObject_CallObject(function, arguments);
    if (result == NULL)
        PyErr_Clear();
    Py_XDECREF(result);
    PyErr_Restore(type, value, trace);
}

/* A debugger or profiler of the program's does not see it. */
static void
tell_of_start(const char *event, PyObject *arguments)
{
    PyThreadState *thread = PyThreadState_Get();
    PyObject *pair = Py_BuildValue("(sO)", event, arguments);

    PyThreadState_EnterTracing(thread);
    if (pair != NULL)
        call(starts_function, pair);
    else
        PyErr_Clear();
    PyThreadState_LeaveTracing(thread);
    Py_XDECREF(pair);
}

static int
is_start(const char *event)
{
    return strcmp(event, "subprocess.Popen") == 0 || strcmp(event, "os.posix_spawn") == 0 ||
           strcmp(event, "os.exec") == 0 || strcmp(event, "os.system") == 0;
}

static int
on_event(const char *event, PyObject *arguments, void *nothing)
{
    (void)nothing;
    if (begin_function != NULL && strncmp(event, "cpython.run_", 12) == 0 &&
        strcmp(event, "cpython.run_startup") != 0) {
        PyObject *begin = begin_function;
        begin_function = NULL;
        call(begin, NULL);
        Py_DECREF(begin);
    }
    else if (starts_function != NULL && (event[0] == 's' || event[0] == 'o') && is_start(event))
        tell_of_start(event, arguments);
    return 0;
}

/* _core.call_at_program(begin, starts): `begin()` is called where the interpreter begins to run what it was started
 * for, which no other hook tells, or None; `starts(event, arguments)` whenever the program is about to run another one,
 * or None. */
PyObject *
snd_py_call_at_program(PyObject *module, PyObject *args)
{
    static int is_added;
    PyObject *begin, *starts;

    (void)module;
    if (!PyArg_ParseTuple(args, "OO:call_at_program", &begin, &starts))
        return NULL;
    if (!is_added && PySys_AddAuditHook(on_event, NULL) != 0)
        return NULL;
    is_added = 1;
    Py_XSETREF(begin_function, begin == Py_None ? NULL : Py_NewRef(begin));
    Py_XSETREF(starts_function, starts == Py_None ? NULL : Py_NewRef(starts));
    Py_RETURN_NONE;
}

/* ---- the recordings of children ---- */

PyObject *
snd_py_part_path(PyObject *module, PyObject *folder)
{
    PyObject *bytes = NULL;
    snd_buffer message = {0};
    char *path = NULL;

    (void)module;
    if (!PyUnicode_FSConverter(folder, &bytes))
        return NULL;
    snd_status status = snd_part_path(PyBytes_AS_STRING(bytes), &path, &message);
    Py_DECREF(bytes);
    PyObject *result = status == SND_OK ? PyUnicode_DecodeFSDefault(path)
                                        : snd_raise_status(status, message.size == 0 ? NULL : snd_buffer_str(&message));
    snd_buffer_free(&message);
    snd_free(path);
    return result;
}

PyObject *
snd_py_make_parts(PyObject *module, PyObject *nothing)
{
    snd_buffer ignored = {0};
    const char *folder = snd_children_parts();
    int is_made = folder != NULL && snd_parts_make(folder, &ignored) == SND_OK;

    (void)module, (void)nothing;
    snd_buffer_free(&ignored);
    return PyBool_FromLong(is_made);
}

PyObject *
snd_py_parts(PyObject *module, PyObject *nothing)
{
    (void)module, (void)nothing;
    if (snd_children_parts() == NULL)
        Py_RETURN_NONE;
    return PyUnicode_DecodeFSDefault(snd_children_parts());
}

/* What was found, a line about what stays, and the CPU time of all children that the system knows of. */
static PyObject *
as_dict(const snd_parts_gathered *found, const char *left)
{
    PyObject *text = PyUnicode_DecodeFSDefault(left);
    if (text == NULL)
        return NULL;
    return Py_BuildValue("{sIsIsIsNsKsK}", "parts", found->parts, "running", found->running, "lost", found->lost,
                         "left", text, "measured_ns", (unsigned long long)found->measured_ns, "children_ns",
                         (unsigned long long)snd_process_children_cpu_ns());
}

PyObject *
snd_py_look_at_parts(PyObject *module, PyObject *nothing)
{
    snd_parts_gathered found = {0};
    snd_status status;

    (void)module, (void)nothing;
    Py_BEGIN_ALLOW_THREADS;
    status = snd_children_look(&found);
    Py_END_ALLOW_THREADS;
    return status == SND_OK ? as_dict(&found, "") : snd_raise_status(status, NULL);
}

PyObject *
snd_py_gather(PyObject *module, PyObject *nothing)
{
    snd_parts_gathered found;
    snd_buffer message = {0};
    snd_status status;

    (void)module, (void)nothing;
    Py_BEGIN_ALLOW_THREADS;
    status = snd_children_gather(&found, &message);
    Py_END_ALLOW_THREADS;
    PyObject *result = status == SND_OK ? as_dict(&found, snd_buffer_str(&message))
                                        : snd_raise_status(status, snd_buffer_str(&message));
    snd_buffer_free(&message);
    return result;
}

typedef struct reading {
    const char *path;
    snd_profile *profile;
    snd_status status;
} reading;

static void
read_file(void *context)
{
    reading *self = context;
    snd_reader *reader = NULL;

    self->status = snd_reader_open(self->path, &reader);
    if (self->status == SND_OK)
        self->status = snd_reader_profile(reader, &self->profile);
    int saved = errno;
    snd_reader_free(reader);
    errno = saved;
}

PyObject *
snd_py_read(PyObject *module, PyObject *path)
{
    PyObject *bytes = NULL;

    if (!PyUnicode_FSConverter(path, &bytes))
        return NULL;
    reading self = {.path = PyBytes_AS_STRING(bytes)};
    Py_BEGIN_ALLOW_THREADS;
    snd_worker_call(read_file, &self);
    Py_END_ALLOW_THREADS;
    Py_DECREF(bytes);
    if (self.status != SND_OK)
        return snd_raise_status(self.status, NULL);
    return snd_profile_wrap(snd_state_of_module(module), self.profile);
}
