/* Room: operators of NumPy. */
/* The op probe's NumPy part: what its files share. Everything here needs the GIL. */
#ifndef SND_PYTHON_OPS_H
#define SND_PYTHON_OPS_H

#include "python/module/describe.h"
#include "python/module/state.h"
#include "python/numpy/op_array.h"

#include "probe/op/op.h"

/* How many floating-point operations a call makes. */
typedef enum snd_op_formula {
    SND_FLOPS_UNKNOWN,
    SND_FLOPS_EACH,    /* one an element of the result */
    SND_FLOPS_REDUCE,  /* one an element of the input that is not an element of the result */
    SND_FLOPS_PRODUCT, /* two a pair of elements: matrix products */
    SND_FLOPS_VECTORS, /* the same for arrays taken as vectors */
    SND_FLOPS_EINSUM,  /* the same for subscripts */
    SND_FLOPS_SOLVE,   /* linear algebra on n by n matrices, by the textbook */
    SND_FLOPS_INVERSE,
    SND_FLOPS_CHOLESKY,
    SND_FLOPS_DETERMINANT,
    SND_FLOPS_FFT, /* 5 n log2 n, and half of that for real input */
    SND_FLOPS_REAL_FFT,
} snd_op_formula;

/* What else is to be known of an operation. */
enum {
    SND_OP_LOOP = 1,         /* a ufunc: it says itself what its inputs are cast to */
    SND_OP_CASTS = 2,        /* inputs of another dtype than the result's are cast */
    SND_OP_MAY_COPY = 4,     /* gives a view or a copy of its first array */
    SND_OP_BLAS = 8,         /* copies matrices that BLAS cannot walk */
    SND_OP_MATMUL = 256,     /* so does this, fewer of them, and not in all versions */
    SND_OP_INTO_FIRST = 16,  /* writes its first array */
    SND_OP_READS_FIRST = 32, /* and reads it as well */
    SND_OP_HAS_SELF = 64,    /* its first argument is an object that is no array: not told */
    SND_OP_CHOOSES = 128,    /* its first array only says which elements are taken: it is never cast */
};

#define SND_OP_UFUNC_METHODS 5

/* Something of NumPy that can be called. Never freed: a call may be in it. */
typedef struct snd_op {
    char *name;
    PyObject *callable; /* whose slot is ours; kept. NULL: see definition */
    PyMethodDef *definition;
    PyObject *owner;                              /* keeps the definition where it is */
    void (*original)(void);                       /* what the slot or the definition had */
    void (*ours)(void);                           /* what it gets */
    struct snd_op *methods[SND_OP_UFUNC_METHODS]; /* of a ufunc: made at their first call */
    struct snd_op *next;
    snd_op_formula formula;
    int traits;
    int method; /* which method of ufuncs this is; -1: none */
    int is_hooked;
    int tells_values;      /* whole numbers are told, since they are shapes and axes; until there are too many */
    uint32_t value_count;  /* kinds of calls told apart, with numbers in them */
    uint32_t detail_count; /* kinds of calls told apart */
    uint32_t other;        /* the site for those beyond the limit; SND_NONE: not needed so far */
} snd_op;

/* The arguments of one call, however they came. Borrowed. */
typedef struct snd_op_arguments {
    PyObject *self; /* of a method; NULL: none */
    PyObject *const *values;
    Py_ssize_t count;
    PyObject *names;    /* tuple: the names of the values behind `count`; NULL: none */
    PyObject *keywords; /* dict; NULL: none */
} snd_op_arguments;

/* A call as numbers: equal numbers, equal kind of call. */
#define SND_OP_WORDS 64u
typedef struct snd_op_key {
    uint32_t count;
    uint32_t value_count; /* numbers told */
    PyCodeObject *code;   /* who called, with stacks; borrowed */
    int offset;
    uint64_t words[SND_OP_WORDS];
} snd_op_key;

/* A kind of call. Never freed. */
typedef struct snd_op_entry {
    uint64_t hash;
    uint64_t *words;
    uint32_t count;
    uint32_t site; /* SND_NONE: there was no room */
    int needs_facts;
} snd_op_entry;

/* ---- op_key.c ---- */

/* What is told of calls; the first who starts decides. */
typedef struct snd_op_wishes {
    int shapes, stacks;
} snd_op_wishes;

/* Where NumPy is: a call that its own Python code makes counts for the line that called NumPy. */
void snd_op_key_learn(PyObject *numpy);

void snd_op_key_make(snd_op_key *key, const snd_op *op, const snd_op_arguments *arguments, snd_op_wishes wishes);

/* The inputs as text: "float64[1000,1000], axis=0". */
void snd_op_key_text(const uint64_t *words, uint32_t count, snd_description *out);

/* ---- op_table.c ---- */

/* The kind of this call, made when new. NULL when memory runs out, or for one beyond the limit: see op->other. */
snd_op_entry *snd_op_entry_find(snd_op *op, const snd_op_key *key, snd_op_wishes wishes);
uint32_t snd_op_other_site(snd_op *op);

/* ---- op_facts.c ---- */

/* What a call does that gave this result. Leaves no exception. */
snd_op_facts snd_op_facts_make(const snd_op *op, const snd_op_arguments *arguments, PyObject *result);

/* ---- op_flops.c ---- */

#define SND_OP_ARRAYS 16

/* The arrays among the arguments. */
typedef struct snd_op_arrays {
    const snd_array *inputs[SND_OP_ARRAYS], *outputs[SND_OP_ARRAYS];
    int input_count, output_count;
    uint64_t input_bytes; /* of all inputs, also where there are more than we keep */
    int has_more;         /* arguments that are no arrays */
    PyObject *subscripts; /* the first argument, when it is text */
} snd_op_arrays;

double snd_op_flops(snd_op_formula formula, const snd_op_arrays *arrays, PyObject *result);

/* ---- op_known.c ---- */

/* Fills in what is known of operations by name. */
void snd_op_know(snd_op *op);

/* ---- op_list.c ---- */

/* Adds what NumPy offers and is not known yet. 0 with an exception set. */
int snd_ops_collect(PyObject *numpy);

snd_op *snd_ops_first(void);
snd_op *snd_op_find(const PyObject *callable); /* by its address; NULL: not hooked */
snd_op *snd_op_of_method(snd_op *method, const PyObject *ufunc);

/* ---- op_hooks.c ---- */

extern snd_op_wishes snd_op_wanted;

/* Gives the operation its way through us. 0: it is called in a way that we do not know. */
int snd_op_assign(snd_op *op);
void snd_op_hook(snd_op *op, int on);
void snd_op_hooks_use(snd_state *state);

/* ---- ops.c ---- */

/* Puts everything back, however often it was started: the module goes away. */
void snd_ops_close(void);

/* What a call of this ufunc costs more while it is hooked. 0: nothing is measured now. */
uint64_t snd_op_own_cost_ns(snd_op *op, PyObject *array);

PyObject *snd_py_ops_start(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *snd_py_ops_stop(PyObject *module, PyObject *nothing);
PyObject *snd_py_ops_refresh(PyObject *module, PyObject *nothing);
PyObject *snd_py_ops_hooked(PyObject *module, PyObject *nothing);

#endif
