/* A value's type as text, with what makes calls fast or slow: dtype and shape of arrays, contents of containers. */
#ifndef SND_PYTHON_DESCRIBE_H
#define SND_PYTHON_DESCRIBE_H

#include "python/compat.h"

#define SND_DESCRIPTION_LIMIT 1024u

/* A text of bounded length; what does not fit is cut. */
typedef struct snd_description {
    size_t size;
    char text[SND_DESCRIPTION_LIMIT];
} snd_description;

void snd_description_add(snd_description *self, const char *text, size_t size);
void snd_description_text(snd_description *self, const char *text);

/* Adds what `value` is. Runs no code of the program and raises nothing; properties of the classes of a few libraries
 * are read, during which the library's own Python code may run. */
void snd_describe(PyObject *value, snd_description *out);

/* The last part of a type's name. */
const char *snd_type_name(const PyTypeObject *type);

#endif
