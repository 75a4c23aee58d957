/* Room: operators of PyTorch, from its own events. */
/* The events of PyTorch's own collection, read from its objects. */
#ifndef SND_PYTHON_KINETO_H
#define SND_PYTHON_KINETO_H

#include "probe/op/torch_profile.h"
#include "python/module/state.h"

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

/* What is known of a name that was met. */
typedef struct snd_kineto_name {
    uint32_t shown;     /* how its events are called; 0: it is new */
    uint8_t kind;       /* of its events: SND_TORCH_MEMORY, SND_TORCH_FAILURE or another one */
    uint8_t is_skipped; /* they do not count */
} snd_kineto_name;

/* What is not needed for every table, read when it is: bits of a set, in the order of the readers of kineto_details.c.
 */
enum {
    SND_KINETO_SHAPES = 1,
    SND_KINETO_OVERLOADS = 2,
    SND_KINETO_STACKS = 4,
    SND_KINETO_COPIES = 8,
    SND_KINETO_TIMES = 16,
};

typedef struct snd_kineto {
    PyObject_HEAD snd_torch_events events;
    PyObject *sources; /* the objects of the events, in the order of the list of events */
    PyObject *profile; /* of what was read so far; NULL: it is to be made */
    unsigned read;     /* of the bits above */
    PyObject *methods[SND_KINETO_COUNT];
    PyTypeObject *type; /* which they are methods of */
    PyObject *demangle;
    snd_kineto_name *names;
    uint32_t name_count;
    int has_failed;    /* a question */
    int reads_devices; /* an event may have run on a device */
    int reads_flops;
    int elapsed; /* which word gives the device time that CPU events carry; -1: none */
    int64_t start_ns;
} snd_kineto;

/* The answer of an event to a word: NULL or 0 with an exception. Once one failed, no more is asked. */
PyObject *snd_kineto_ask(snd_kineto *self, PyObject *event, snd_kineto_word word);
int64_t snd_kineto_number(snd_kineto *self, PyObject *event, snd_kineto_word word);

/* Reads what of `wanted` was not read yet: kineto_details.c. 0 with an exception. */
int snd_kineto_read(snd_kineto *self, unsigned wanted);

/* The events with what is wanted, as a profile. NULL with an exception; valid until more is wanted. */
const snd_profile *snd_kineto_profile(snd_kineto *self, unsigned wanted);

extern PyType_Spec snd_kineto_spec;
PyObject *snd_py_kineto_events(PyObject *module, PyObject *args, PyObject *keywords);

/* Around a collection whose operators shall be in the measurement that runs: kineto_attach.c. */
PyObject *snd_py_kineto_begin(PyObject *module, PyObject *args);
PyObject *snd_py_kineto_end(PyObject *module, PyObject *args);

#endif
