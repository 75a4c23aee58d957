/* How many floating-point operations a call makes, where there is a formula. Numbers of any kind count, complex ones as
 * one. */
#include "python/numpy/numpy_ops.h"

#include <math.h>

/* Numbers, by NumPy's numbers of dtypes. */
static int
is_numeric(const snd_array *array)
{
    enum { FIRST = 1, LAST = 16, HALF = 23 };
    int number = array->dtype->number;
    return (number >= FIRST && number <= LAST) || number == HALF;
}

/* A scalar has one. */
static double
count_of(PyObject *result)
{
    return snd_array_is(result) ? (double)snd_array_count((snd_array *)result) : 1;
}

/* From the end: 0 is the last dimension. */
static double
dimension(const snd_array *array, int from_end)
{
    return array->dimension_count > from_end ? (double)array->dimensions[array->dimension_count - 1 - from_end] : 1;
}

static double
product(const snd_op_arrays *arrays, PyObject *result)
{
    const snd_array *left = arrays->inputs[0], *right = arrays->inputs[1];
    if (arrays->input_count != 2)
        return 0;
    if (left->dimension_count == 0 || right->dimension_count == 0)
        return count_of(result);
    return 2 * count_of(result) * dimension(left, 0);
}

static double
reduction(const snd_array *input, PyObject *result)
{
    double before = (double)snd_array_count(input), after = count_of(result);
    return before > after ? before - after : before;
}

/* The sizes of the letters of one operand. Returns what follows it; NULL: not plain subscripts of this array. */
static const char *
read_operand(const char *at, const snd_array *array, double *sizes)
{
    int dimensions = 0;

    for (; *at != ',' && *at != '-' && *at != '\0'; at++) {
        if (*at == ' ')
            continue;
        if (!((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z')) || dimensions == array->dimension_count)
            return NULL;
        double size = (double)array->dimensions[dimensions++];
        double *known = &sizes[(unsigned char)*at];
        *known = size > *known ? size : *known; /* 1 is stretched */
    }
    return dimensions == array->dimension_count ? at : NULL;
}

/* All letters run through all their values; a product and, when something is summed, an addition each time. */
static double
einsum(const snd_op_arrays *arrays, PyObject *result)
{
    double sizes[128] = {0};
    double steps = 1;
    const char *at = arrays->subscripts == NULL ? NULL : PyUnicode_AsUTF8(arrays->subscripts);

    for (int i = 0; at != NULL && i < arrays->input_count; i++) {
        at = read_operand(at, arrays->inputs[i], sizes);
        if (at != NULL && *at == ',')
            at++;
    }
    PyErr_Clear();
    if (at == NULL || (*at != '\0' && *at != '-'))
        return 0;
    for (int i = 0; i < 128; i++)
        steps *= sizes[i] > 0 ? sizes[i] : 1;
    return steps * (arrays->input_count - (steps > count_of(result) ? 0 : 1));
}

/* `a` n³ + b n² for each matrix and each of its right-hand sides. */
static double
linear_algebra(const snd_array *matrix, double cubes, double squares)
{
    double n = dimension(matrix, 0);
    double matrices = n > 0 ? (double)snd_array_count(matrix) / (n * n) : 0;
    return matrices * n * n * (cubes * n + squares);
}

static double
solve(const snd_op_arrays *arrays, PyObject *result)
{
    double n = dimension(arrays->inputs[0], 0), all = (double)snd_array_count(arrays->inputs[0]);
    double right_sides = n > 0 && all > 0 ? count_of(result) * n / all : 0;
    return linear_algebra(arrays->inputs[0], 2.0 / 3, 2 * right_sides);
}

/* Only as called with an array and nothing else: axis and length may be any. */
static double
fft(const snd_op_arrays *arrays, double factor)
{
    double n = dimension(arrays->inputs[0], 0);
    if (arrays->has_more || n < 1)
        return 0;
    return factor * (double)snd_array_count(arrays->inputs[0]) * log2(n);
}

double
snd_op_flops(snd_op_formula formula, const snd_op_arrays *arrays, PyObject *result)
{
    const snd_array *input = arrays->inputs[0];

    if (formula == SND_FLOPS_UNKNOWN || arrays->input_count == 0 || !is_numeric(input))
        return 0;
    switch (formula) {
    case SND_FLOPS_EACH:
        return snd_array_is(result) && !is_numeric((snd_array *)result) ? 0 : count_of(result);
    case SND_FLOPS_REDUCE:
        return reduction(input, result);
    case SND_FLOPS_PRODUCT:
        return product(arrays, result);
    case SND_FLOPS_VECTORS:
        return 2 * (double)snd_array_count(input);
    case SND_FLOPS_EINSUM:
        return einsum(arrays, result);
    case SND_FLOPS_SOLVE:
        return solve(arrays, result);
    case SND_FLOPS_INVERSE:
        return linear_algebra(input, 2, 0);
    case SND_FLOPS_CHOLESKY:
        return linear_algebra(input, 1.0 / 3, 0);
    case SND_FLOPS_DETERMINANT:
        return linear_algebra(input, 2.0 / 3, 0);
    case SND_FLOPS_FFT:
        return fft(arrays, 5);
    case SND_FLOPS_REAL_FFT:
        return fft(arrays, 2.5);
    default:
        return 0;
    }
}
