/* Room: operators of PyTorch, from its own events. */
/* The events of PyTorch's own collection, read from its objects. */
#ifndef SND_PYTHON_KINETO_H
#define SND_PYTHON_KINETO_H

#include "python/module/state.h"
#include "view/ops/op_events.h"

/* What an event is asked for: a method of its own each. The first ones are asked of every event. */
#define SND_KINETO_MAP(X)     \
    X(name)                   \
    X(activity_type)          \
    X(is_hidden_event)        \
    X(start_ns)               \
    X(end_ns)                 \
    X(start_thread_id)        \
    X(end_thread_id)          \
    X(is_async)               \
    X(scope)                  \
    X(device_type)            \
    X(is_user_annotation)     \
    X(linked_correlation_id)  \
    X(correlation_id)         \
    X(nbytes)                 \
    X(flops)                  \
    X(cuda_elapsed_us)        \
    X(privateuse1_elapsed_us) \
    X(overload_name)          \
    X(shapes)                 \
    X(dtypes)                 \
    X(stack)                  \
    X(sequence_nr)            \
    X(fwd_thread_id)          \
    X(device_resource_id)     \
    X(extra_meta)

#define SND_KINETO_ENUM(name) SND_KINETO_##name,
typedef enum snd_kineto_word { SND_KINETO_MAP(SND_KINETO_ENUM) SND_KINETO_COUNT } snd_kineto_word;
#undef SND_KINETO_ENUM

/* What is known of a name that was met: whether its events count, and how they are called. */
typedef struct snd_kineto_name {
    uint8_t kind;
    uint32_t shown;
} snd_kineto_name;

typedef struct snd_kineto {
    PyObject_HEAD snd_op_events *events;
    PyObject *sources; /* the objects of the events, in the order of the list of events */
    PyObject *methods[SND_KINETO_COUNT];
    PyTypeObject *type; /* which they are methods of */
    PyObject *demangle;
    snd_kineto_name *names;
    uint32_t name_capacity;
    int reads_devices; /* an event may have run on a device */
    int reads_flops;
    int elapsed; /* which word gives the device time that CPU events carry; -1: none */
    int64_t start_ns;
    int has_shapes, has_overloads, has_stacks; /* were read */
} snd_kineto;

/* The answer of an event to a word. NULL with an exception. */
PyObject *snd_kineto_ask(snd_kineto *self, PyObject *event, snd_kineto_word word);

/* 0 with an exception. */
int snd_kineto_ask_whole(snd_kineto *self, PyObject *event, snd_kineto_word word, int64_t *out);
int snd_kineto_ask_truth(snd_kineto *self, PyObject *event, snd_kineto_word word, int *out);

/* What is not needed for every table, read when it is. 0 with an exception. */
int snd_kineto_read_shapes(snd_kineto *self);
int snd_kineto_read_overloads(snd_kineto *self);
int snd_kineto_read_stacks(snd_kineto *self);

extern PyType_Spec snd_kineto_spec;
PyObject *snd_py_kineto_events(PyObject *module, PyObject *args, PyObject *keywords);

/* Around a collection whose operators shall be in the measurement that runs: kineto_attach.c. */
PyObject *snd_py_kineto_begin(PyObject *module, PyObject *args);
PyObject *snd_py_kineto_end(PyObject *module, PyObject *args);

/* Method of the type: kineto_transfers.c. */
PyObject *snd_kineto_transfers(PyObject *object, PyObject *args);

#endif
