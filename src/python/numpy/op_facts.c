/* What a call does: bytes, operations, copies and casts. Asked for once for each kind of call. */
#include "python/module/hook.h"
#include "python/numpy/numpy_ops.h"

/* ---- the arrays among the arguments ---- */

static void
add_input(snd_op_arrays *arrays, PyObject *value)
{
    const snd_array *array = (snd_array *)value;

    arrays->input_bytes += snd_array_bytes(array);
    if (arrays->input_count < SND_OP_ARRAYS)
        arrays->inputs[arrays->input_count++] = array;
}

static void
add_output(snd_op_arrays *arrays, PyObject *value)
{
    if (snd_array_is(value) && arrays->output_count < SND_OP_ARRAYS)
        arrays->outputs[arrays->output_count++] = (snd_array *)value;
}

static int
is_sequence(PyObject *value)
{
    return PyTuple_CheckExact(value) || PyList_CheckExact(value);
}

static void
add_argument(snd_op_arrays *arrays, PyObject *value, int is_output)
{
    Py_ssize_t count = is_sequence(value) ? PySequence_Fast_GET_SIZE(value) : 0;

    if (is_output && !is_sequence(value))
        add_output(arrays, value);
    else if (snd_array_is(value))
        add_input(arrays, value);
    else if (count == 0 || !snd_array_is(PySequence_Fast_GET_ITEM(value, 0)))
        arrays->has_more = 1;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *element = PySequence_Fast_GET_ITEM(value, i);
        if (is_output)
            add_output(arrays, element);
        else if (snd_array_is(element))
            add_input(arrays, element);
    }
}

static void
add_named(snd_op_arrays *arrays, PyObject *name, PyObject *value)
{
    add_argument(arrays, value, PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, "out") == 0);
}

static void
add_keywords(snd_op_arrays *arrays, const snd_op_arguments *arguments)
{
    Py_ssize_t count = arguments->names == NULL ? 0 : PyTuple_GET_SIZE(arguments->names);
    Py_ssize_t at = 0;
    PyObject *name, *value;

    for (Py_ssize_t i = 0; i < count; i++)
        add_named(arrays, PyTuple_GET_ITEM(arguments->names, i), arguments->values[arguments->count + i]);
    while (arguments->keywords != NULL && PyDict_Next(arguments->keywords, &at, &name, &value))
        add_named(arrays, name, value);
}

static Py_ssize_t
number_of(PyObject *object, const char *name)
{
    PyObject *value = snd_attribute(object, name);
    Py_ssize_t number = value == NULL ? -1 : PyLong_AsSsize_t(value);

    Py_XDECREF(value);
    PyErr_Clear();
    return number;
}

static snd_op_arrays
find_arrays(const snd_op *op, const snd_op_arguments *arguments)
{
    snd_op_arrays arrays = {0};
    Py_ssize_t inputs = op->traits & SND_OP_LOOP ? number_of(op->callable, "nin") : PY_SSIZE_T_MAX;

    if (arguments->count > 0 && PyUnicode_Check(arguments->values[0]))
        arrays.subscripts = arguments->values[0];
    if (arguments->self != NULL && snd_array_is(arguments->self))
        add_input(&arrays, arguments->self);
    for (Py_ssize_t i = op->traits & SND_OP_HAS_SELF ? 1 : 0; i < arguments->count; i++)
        add_argument(&arrays, arguments->values[i], i >= inputs);
    add_keywords(&arrays, arguments);
    return arrays;
}

/* ---- casts ---- */

static int
is_same_dtype(const snd_dtype *one, const snd_dtype *other)
{
    return one->kind == other->kind && snd_dtype_size(one) == snd_dtype_size(other) &&
           one->byte_order == other->byte_order;
}

/* Of an array or a scalar of NumPy: others might run code of the program. A new reference; NULL: it has none. */
static PyObject *
dtype_of(PyObject *value)
{
    PyObject *dtype = NULL;

    if (snd_array_is(value))
        return Py_NewRef((PyObject *)((snd_array *)value)->dtype);
    if (PyType_IsSubtype(Py_TYPE(value), snd_scalar_type))
        dtype = snd_attribute(value, "dtype");
    PyErr_Clear();
    if (dtype != NULL && !snd_dtype_is(dtype))
        Py_CLEAR(dtype);
    return dtype;
}

/* Inputs that are not of the result's dtype. */
static uint32_t
count_unlike(const snd_op *op, const snd_op_arrays *arrays, PyObject *result)
{
    PyObject *dtype = dtype_of(result);
    uint32_t count = 0;

    if (dtype == NULL || ((snd_dtype *)dtype)->kind == 'b') /* a question: answered in the inputs' own dtype */
        Py_CLEAR(dtype);
    for (int i = op->traits & SND_OP_CHOOSES ? 1 : 0; dtype != NULL && i < arrays->input_count; i++)
        count += !is_same_dtype(arrays->inputs[i]->dtype, (snd_dtype *)dtype);
    Py_XDECREF(dtype);
    return count;
}

/* What a ufunc wants to be told of an input: its dtype, or the type of a Python number. NULL: it cannot be told. */
static PyObject *
loop_input(PyObject *value)
{
    if (PyLong_CheckExact(value) || PyFloat_CheckExact(value) || PyComplex_CheckExact(value))
        return Py_NewRef((PyObject *)Py_TYPE(value));
    return dtype_of(value);
}

/* The dtypes in which the ufunc works on these inputs, a tuple; NULL: it does not say. */
static PyObject *
ask_loop(PyObject *ufunc, const snd_op_arguments *arguments, Py_ssize_t inputs)
{
    Py_ssize_t count = number_of(ufunc, "nargs");
    PyObject *asked = inputs < 0 || count < inputs || arguments->count < inputs ? NULL : PyTuple_New(count);
    PyObject *method = asked == NULL ? NULL : snd_attribute(ufunc, "resolve_dtypes");

    for (Py_ssize_t i = 0; asked != NULL && i < count; i++) {
        PyObject *item = i < inputs ? loop_input(arguments->values[i]) : Py_NewRef(Py_None);
        if (item == NULL)
            Py_CLEAR(asked);
        else
            PyTuple_SET_ITEM(asked, i, item);
    }
    PyObject *answer = asked == NULL || method == NULL ? NULL : PyObject_CallOneArg(method, asked);
    Py_XDECREF(asked);
    Py_XDECREF(method);
    PyErr_Clear();
    return answer;
}

static int
is_cast(PyObject *value, PyObject *dtype)
{
    return snd_array_is(value) && snd_dtype_is(dtype) &&
           !is_same_dtype(((snd_array *)value)->dtype, (snd_dtype *)dtype);
}

/* Inputs, and outputs that were given, that are not of the dtype in which the ufunc works. */
static uint32_t
count_loop_casts(const snd_op *op, const snd_op_arguments *arguments, const snd_op_arrays *arrays)
{
    Py_ssize_t inputs = number_of(op->callable, "nin");
    PyObject *loop = ask_loop(op->callable, arguments, inputs);
    uint32_t count = 0;

    if (loop == NULL || !PyTuple_Check(loop)) {
        Py_XDECREF(loop);
        return 0;
    }
    for (Py_ssize_t i = 0; i < inputs && i < PyTuple_GET_SIZE(loop); i++)
        count += (uint32_t)is_cast(arguments->values[i], PyTuple_GET_ITEM(loop, i));
    for (int i = 0; i < arrays->output_count && inputs + i < PyTuple_GET_SIZE(loop); i++)
        count += (uint32_t)is_cast((PyObject *)arrays->outputs[i], PyTuple_GET_ITEM(loop, inputs + i));
    Py_DECREF(loop);
    return count;
}

/* ---- copies ---- */

static int
has_blas(const snd_array *array)
{
    enum { FLOAT = 11, DOUBLE = 12, COMPLEX_FLOAT = 14, COMPLEX_DOUBLE = 15 };
    int number = array->dtype->number;
    return number == FLOAT || number == DOUBLE || number == COMPLEX_FLOAT || number == COMPLEX_DOUBLE;
}

/* dot and inner copy every matrix that lies in neither order. */
static int
is_copied_by_dot(const snd_array *array)
{
    return has_blas(array) && array->dimension_count == 2 &&
           (array->flags & (SND_ARRAY_C_ORDER | SND_ARRAY_F_ORDER)) == 0;
}

/* matmul copies what BLAS cannot walk, from 2.3 on; before, it did without BLAS. Vectors are never copied. */
static int
is_copied_by_matmul(const snd_array *array)
{
    enum { FIRST_VERSION = 203 };
    int last = array->dimension_count - 1;
    return snd_numpy_version >= FIRST_VERSION && has_blas(array) && last >= 1 && array->dimensions[last] > 1 &&
           array->dimensions[last - 1] > 1 && !snd_array_has_rows(array);
}

static uint32_t
count_blas_copies(const snd_op *op, const snd_op_arrays *arrays)
{
    uint32_t count = 0;

    for (int i = 0; i < arrays->input_count; i++)
        count += (uint32_t)(op->traits & SND_OP_MATMUL ? is_copied_by_matmul(arrays->inputs[i])
                                                       : is_copied_by_dot(arrays->inputs[i]));
    return count;
}

static uint32_t
count_copies(const snd_op *op, const snd_op_arrays *arrays, PyObject *result)
{
    if (op->traits & (SND_OP_BLAS | SND_OP_MATMUL))
        return arrays->input_count == 2 ? count_blas_copies(op, arrays) : 0;
    return op->traits & SND_OP_MAY_COPY && arrays->input_count > 0 && snd_array_is(result) &&
           ((snd_array *)result)->data != arrays->inputs[0]->data && snd_array_count(arrays->inputs[0]) != 0;
}

/* ---- bytes ---- */

/* Whether the result lies in the memory of one of the inputs: nothing was read or written. */
static int
is_view(const snd_op_arrays *arrays, PyObject *result)
{
    if (!snd_array_is(result))
        return 0;
    for (int i = 0; i < arrays->input_count; i++) {
        const snd_array *input = arrays->inputs[i];
        const char *low = input->data, *high = input->data;
        for (int d = 0; d < input->dimension_count; d++) {
            Py_ssize_t reach = input->strides[d] * (input->dimensions[d] - 1);
            *(reach < 0 ? &low : &high) += reach;
        }
        const char *at = ((snd_array *)result)->data;
        if (at >= low && at < high + snd_dtype_size(input->dtype))
            return 1;
    }
    return 0;
}

static uint64_t
result_bytes(PyObject *result)
{
    uint64_t bytes = snd_array_is(result) ? snd_array_bytes((snd_array *)result) : 0;

    for (Py_ssize_t i = 0; is_sequence(result) && i < PySequence_Fast_GET_SIZE(result); i++) {
        PyObject *element = PySequence_Fast_GET_ITEM(result, i);
        if (snd_array_is(element))
            bytes += snd_array_bytes((snd_array *)element);
    }
    return bytes;
}

static void
count_bytes(const snd_op *op, const snd_op_arrays *arrays, PyObject *result, snd_op_facts *facts)
{
    facts->read_bytes = arrays->input_bytes;
    facts->written_bytes = result_bytes(result);
    if (op->traits & SND_OP_INTO_FIRST && result == Py_None && arrays->input_count > 0) {
        facts->written_bytes = snd_array_bytes(arrays->inputs[0]);
        if ((op->traits & SND_OP_READS_FIRST) == 0)
            facts->read_bytes -= facts->written_bytes;
    }
    else if ((op->traits & SND_OP_LOOP) == 0 && arrays->output_count == 0 && is_view(arrays, result))
        facts->read_bytes = facts->written_bytes = 0;
}

snd_op_facts
snd_op_facts_make(const snd_op *op, const snd_op_arguments *arguments, PyObject *result)
{
    snd_op_facts facts = {0};
    snd_op_arrays arrays = find_arrays(op, arguments);

    count_bytes(op, &arrays, result, &facts);
    facts.flops = snd_op_flops(op->formula, &arrays, result);
    facts.copies = count_copies(op, &arrays, result);
    if (op->traits & SND_OP_LOOP)
        facts.casts = count_loop_casts(op, arguments, &arrays);
    else if (op->traits & SND_OP_CASTS)
        facts.casts = count_unlike(op, &arrays, result);
    return facts;
}
