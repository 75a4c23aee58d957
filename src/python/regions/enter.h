/* Room: regions in Python code, also in coroutines and generators. */
/* Reading the arguments (first, name=None, asglobal=False) that region, func and iter_proxy share. */
#ifndef SND_PYTHON_WORDS_H
#define SND_PYTHON_WORDS_H

#include "python/compat/compat.h"

typedef struct snd_words {
    PyObject *first; /* NULL: not given, or there is none */
    PyObject *name;  /* NULL: None or not given */
    int is_global;
} snd_words;

/* Fast-call arguments. `first` is the name of a leading required parameter, NULL: there is none. 0 with TypeError. */
int snd_words_read(const char *function, const char *first, PyObject *const *args, Py_ssize_t count, PyObject *names,
                   snd_words *out);

#endif
