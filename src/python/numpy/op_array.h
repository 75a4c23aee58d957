/* NumPy's arrays and dtypes, read from their memory: NumPy's own headers are not needed, and none of its code runs. */
#ifndef SND_PYTHON_OP_ARRAY_H
#define SND_PYTHON_OP_ARRAY_H

#include "python/compat/compat.h"

#include "base/attr.h"

/* The heads of both, as NumPy 1 and 2 have them. */
typedef struct snd_dtype {
    PyObject_HEAD PyTypeObject *type;
    char kind, letter, byte_order, unused;
    int number;
    union {
        int size; /* NumPy 1 */
        struct {
            uint64_t flags;
            Py_ssize_t size;
        } wide; /* NumPy 2 */
    };
} snd_dtype;

typedef struct snd_array {
    PyObject_HEAD char *data;
    int dimension_count;
    Py_ssize_t *dimensions;
    Py_ssize_t *strides;
    PyObject *base;
    snd_dtype *dtype;
    int flags;
} snd_array;

enum { SND_ARRAY_C_ORDER = 1, SND_ARRAY_F_ORDER = 2 };

/* What snd_array_learn found; never freed. */
extern PyTypeObject *snd_array_type, *snd_scalar_type, *snd_dtype_meta;
extern int snd_dtype_is_wide;
extern int snd_numpy_version; /* 203 is 2.3; 0: it does not say */

/* Looks at an array of this NumPy. NULL when its memory is as described above; else why not. */
const char *snd_array_learn(PyObject *numpy);

/* Arrays, and objects of classes made from them. */
SND_HOT int
snd_array_is(PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);
    if (SND_LIKELY(type == snd_array_type))
        return 1;
    return (type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0 && PyType_IsSubtype(type, snd_array_type);
}

SND_HOT int
snd_dtype_is(PyObject *value)
{
    return Py_TYPE(Py_TYPE(value)) == snd_dtype_meta;
}

SND_HOT Py_ssize_t
snd_dtype_size(const snd_dtype *dtype)
{
    return snd_dtype_is_wide ? dtype->wide.size : dtype->size;
}

/* Whether BLAS can walk the matrices in it: rows, or columns, whose elements lie side by side. */
static inline int
snd_array_has_rows(const snd_array *array)
{
    int last = array->dimension_count - 1;
    Py_ssize_t size = snd_dtype_size(array->dtype);

    for (int fast = last; last >= 1 && fast >= last - 1 && size > 0; fast--) {
        Py_ssize_t slow = array->strides[fast == last ? last - 1 : last];
        if (array->strides[fast] == size && slow % size == 0 && slow / size >= array->dimensions[fast])
            return 1;
    }
    return 0;
}

static inline uint64_t
snd_array_count(const snd_array *array)
{
    uint64_t count = 1;
    for (int i = 0; i < array->dimension_count; i++)
        count *= (uint64_t)array->dimensions[i];
    return count;
}

static inline uint64_t
snd_array_bytes(const snd_array *array)
{
    return snd_array_count(array) * (uint64_t)snd_dtype_size(array->dtype);
}

#endif
