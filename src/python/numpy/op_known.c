/* What is known of NumPy's operations by name: their formulas, and what they do to their inputs. */
#include "python/numpy/numpy_ops.h"

/* Under "numpy." and, where the second column says so, as a method of arrays too. */
static const struct {
    const char *name;
    int is_method;
    snd_op_formula formula;
    int traits;
} known[] = {
    {"add", 0, SND_FLOPS_EACH, 0},
    {"subtract", 0, SND_FLOPS_EACH, 0},
    {"multiply", 0, SND_FLOPS_EACH, 0},
    {"divide", 0, SND_FLOPS_EACH, 0},
    {"true_divide", 0, SND_FLOPS_EACH, 0},
    {"square", 0, SND_FLOPS_EACH, 0},
    {"reciprocal", 0, SND_FLOPS_EACH, 0},
    {"sqrt", 0, SND_FLOPS_EACH, 0},
    {"sum", 1, SND_FLOPS_REDUCE, 0},
    {"prod", 1, SND_FLOPS_REDUCE, 0},
    {"mean", 1, SND_FLOPS_REDUCE, 0},
    {"cumsum", 1, SND_FLOPS_REDUCE, 0},
    {"cumprod", 1, SND_FLOPS_REDUCE, 0},
    {"matmul", 0, SND_FLOPS_PRODUCT, SND_OP_MATMUL},
    {"matvec", 0, SND_FLOPS_PRODUCT, 0},
    {"vecmat", 0, SND_FLOPS_PRODUCT, 0},
    {"vecdot", 0, SND_FLOPS_PRODUCT, 0},
    {"dot", 1, SND_FLOPS_PRODUCT, SND_OP_CASTS | SND_OP_BLAS},
    {"inner", 0, SND_FLOPS_PRODUCT, SND_OP_CASTS | SND_OP_BLAS},
    {"vdot", 0, SND_FLOPS_VECTORS, SND_OP_CASTS},
    {"outer", 0, SND_FLOPS_EACH, SND_OP_CASTS},
    {"einsum", 0, SND_FLOPS_EINSUM, SND_OP_CASTS},
    {"linalg.solve", 0, SND_FLOPS_SOLVE, 0},
    {"linalg.inv", 0, SND_FLOPS_INVERSE, 0},
    {"linalg.cholesky", 0, SND_FLOPS_CHOLESKY, 0},
    {"linalg.det", 0, SND_FLOPS_DETERMINANT, 0},
    {"linalg.matmul", 0, SND_FLOPS_PRODUCT, 0},
    {"linalg.outer", 0, SND_FLOPS_EACH, 0},
    {"fft.fft", 0, SND_FLOPS_FFT, 0},
    {"fft.ifft", 0, SND_FLOPS_FFT, 0},
    {"fft.rfft", 0, SND_FLOPS_REAL_FFT, 0},
    {"concatenate", 0, SND_FLOPS_UNKNOWN, SND_OP_CASTS},
    {"stack", 0, SND_FLOPS_UNKNOWN, SND_OP_CASTS},
    {"hstack", 0, SND_FLOPS_UNKNOWN, SND_OP_CASTS},
    {"vstack", 0, SND_FLOPS_UNKNOWN, SND_OP_CASTS},
    {"dstack", 0, SND_FLOPS_UNKNOWN, SND_OP_CASTS},
    {"column_stack", 0, SND_FLOPS_UNKNOWN, SND_OP_CASTS},
    {"where", 0, SND_FLOPS_UNKNOWN, SND_OP_CASTS | SND_OP_CHOOSES},
    {"astype", 1, SND_FLOPS_UNKNOWN, SND_OP_CASTS | SND_OP_MAY_COPY},
    {"array", 0, SND_FLOPS_UNKNOWN, SND_OP_CASTS | SND_OP_MAY_COPY},
    {"asarray", 0, SND_FLOPS_UNKNOWN, SND_OP_CASTS | SND_OP_MAY_COPY},
    {"asanyarray", 0, SND_FLOPS_UNKNOWN, SND_OP_CASTS | SND_OP_MAY_COPY},
    {"ascontiguousarray", 0, SND_FLOPS_UNKNOWN, SND_OP_CASTS | SND_OP_MAY_COPY},
    {"asfortranarray", 0, SND_FLOPS_UNKNOWN, SND_OP_CASTS | SND_OP_MAY_COPY},
    {"copy", 1, SND_FLOPS_UNKNOWN, SND_OP_MAY_COPY},
    {"__copy__", 1, SND_FLOPS_UNKNOWN, SND_OP_MAY_COPY},
    {"__deepcopy__", 1, SND_FLOPS_UNKNOWN, SND_OP_MAY_COPY},
    {"flatten", 1, SND_FLOPS_UNKNOWN, SND_OP_MAY_COPY},
    {"ravel", 1, SND_FLOPS_UNKNOWN, SND_OP_MAY_COPY},
    {"reshape", 1, SND_FLOPS_UNKNOWN, SND_OP_MAY_COPY},
    {"fill", 1, SND_FLOPS_UNKNOWN, SND_OP_INTO_FIRST},
    {"put", 1, SND_FLOPS_UNKNOWN, SND_OP_INTO_FIRST},
    {"copyto", 0, SND_FLOPS_UNKNOWN, SND_OP_INTO_FIRST},
    {"putmask", 0, SND_FLOPS_UNKNOWN, SND_OP_INTO_FIRST},
    {"place", 0, SND_FLOPS_UNKNOWN, SND_OP_INTO_FIRST},
    {"sort", 1, SND_FLOPS_UNKNOWN, SND_OP_INTO_FIRST | SND_OP_READS_FIRST},
    {"partition", 1, SND_FLOPS_UNKNOWN, SND_OP_INTO_FIRST | SND_OP_READS_FIRST},
};

/* By whole names. Methods of ufuncs: their formula counts where the ufunc has one. */
static const struct {
    const char *name;
    snd_op_formula formula;
    int traits;
} by_name[] = {
    {"ufunc.reduce", SND_FLOPS_REDUCE, SND_OP_CASTS},
    {"ufunc.accumulate", SND_FLOPS_REDUCE, SND_OP_CASTS},
    {"ufunc.reduceat", SND_FLOPS_REDUCE, SND_OP_CASTS},
    {"ufunc.outer", SND_FLOPS_EACH, SND_OP_CASTS},
    {"ufunc.at", SND_FLOPS_UNKNOWN, SND_OP_INTO_FIRST | SND_OP_READS_FIRST},
    {"numpy._core._multiarray_umath.c_einsum", SND_FLOPS_EINSUM, SND_OP_CASTS},
    {"numpy.core._multiarray_umath.c_einsum", SND_FLOPS_EINSUM, SND_OP_CASTS},
};

static int
is_named(const char *name, const char *family, const char *own)
{
    size_t len = strlen(family);
    return strncmp(name, family, len) == 0 && strcmp(name + len, own) == 0;
}

void
snd_op_know(snd_op *op)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (is_named(op->name, "numpy.", known[i].name) ||
            (known[i].is_method && is_named(op->name, "ndarray.", known[i].name))) {
            op->formula = known[i].formula;
            op->traits = known[i].traits;
        }
    for (size_t i = 0; i < sizeof by_name / sizeof by_name[0]; i++)
        if (strcmp(op->name, by_name[i].name) == 0) {
            op->formula = by_name[i].formula;
            op->traits = by_name[i].traits;
        }
}
