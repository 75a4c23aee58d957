/* A value's type as text, with what makes calls fast or slow: dtype and shape of arrays, contents of containers. */
#ifndef SND_PYTHON_DESCRIBE_H
#define SND_PYTHON_DESCRIBE_H

#include "base/buffer.h"
#include "python/compat/compat.h"

#include <string.h>

#define SND_DESCRIPTION_LIMIT 1024u

/* A text of bounded length, being written; what does not fit is cut. A 0 behind it comes with snd_description_end. */
typedef struct snd_description {
    size_t size;
    char text[SND_DESCRIPTION_LIMIT];
} snd_description;

static inline void
snd_description_add(snd_description *self, const char *text, size_t size)
{
    size_t room = sizeof self->text - 1 - self->size;
    if (size > room)
        size = room;
    memcpy(self->text + self->size, text, size);
    self->size += size;
}

static inline void
snd_description_text(snd_description *self, const char *text)
{
    snd_description_add(self, text, strlen(text));
}

/* Ends the text; one that was cut ends between two characters, and with `tail`. */
void snd_description_end(snd_description *self, const char *tail);

/* Adds what `value` is. Runs no code of the program and raises nothing; properties of the classes of a few libraries
 * are read, during which the library's own Python code may run. */
void snd_describe(PyObject *value, snd_description *out);

/* Adds the repr of an object; 0 with an exception. */
int snd_put_repr(PyObject *object, snd_buffer *out);

/* The last part of a type's name. */
const char *snd_type_name(const PyTypeObject *type);

#endif
