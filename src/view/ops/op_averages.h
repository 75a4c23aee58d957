/* Operators, summed up by name, input shapes and place, and the table of them as the users of PyTorch know it. */
#ifndef SND_VIEW_OP_AVERAGES_H
#define SND_VIEW_OP_AVERAGES_H

#include "base/buffer.h"
#include "view/ops/ops.h"

/* Where an operator ran: the numbers that PyTorch gives its device types. */
typedef enum snd_op_device {
    SND_OP_CPU = 0,
    SND_OP_CUDA = 1,
    SND_OP_MKLDNN = 2,
    SND_OP_IDEEP = 5,
    SND_OP_HIP = 6,
    SND_OP_XPU = 12,
    SND_OP_HPU = 15,
    SND_OP_MTIA = 19,
    SND_OP_PRIVATE = 20,
} snd_op_device;

/* One row. The fields down to is_annotation are the key: what is equal in all of them is one row. Times are
 * microseconds as doubles and are added in the order in which they come, as PyTorch does: only so the last printed
 * digit is the same. Texts may be NULL, which means "". */
typedef struct snd_op_average {
    const char *name;
    const char *overload;
    const char *shapes; /* of the inputs: "[[2, 3], []]"; "" and "[]": none are known */
    const char *stack;  /* lines, the innermost first, with '\n' between them */
    int32_t node;       /* of a distributed program; -1: none */
    int32_t device;     /* snd_op_device, or any other of PyTorch's numbers */
    int is_legacy;      /* a CPU row that carries its device time itself */
    int is_annotation;  /* made by the user: record_function, a region */

    /* of the first that was added */
    int is_async;
    int has_parent;
    int32_t scope;

    uint64_t count;
    double self_cpu_us, total_cpu_us;
    double self_device_us, total_device_us;
    int64_t cpu_bytes, self_cpu_bytes;
    int64_t device_bytes, self_device_bytes;
    uint64_t flops;
} snd_op_average;

/* Rows in the order in which they were first met. Not thread-safe. */
typedef struct snd_op_averages snd_op_averages;

/* The caller owns it. NULL when memory runs out. */
snd_op_averages *snd_op_averages_new(void);
void snd_op_averages_free(snd_op_averages *self); /* NULL is allowed */

/* Adds the numbers of each to the row with the same key, or a new row at the end; copies the texts. */
SND_MUST_USE snd_status snd_op_averages_add(snd_op_averages *self, const snd_op_average *rows, uint32_t count);
void snd_op_averages_put(snd_op_averages *self, const snd_op_average *row); /* the same inside a work */

uint32_t snd_op_averages_count(const snd_op_averages *self);

/* Valid until the next is added; its texts, which are never NULL, as long as the list. */
const snd_op_average *snd_op_averages_at(const snd_op_averages *self, uint32_t index);

/* The sum of all rows, called "Total". */
snd_op_average snd_op_averages_total(const snd_op_averages *self);

typedef struct snd_op_table_options {
    const char *sort_by;   /* as PyTorch calls it: "cpu_time_total"; NULL: in the order in which they came */
    const char *header;    /* a line above the table; NULL: none */
    const char *time_unit; /* "s", "ms", "us"; NULL: a fitting one for each */
    const char *device;    /* "cuda": the name of the device's columns; NULL: there is none */
    int64_t row_limit;     /* -1: all */
    int max_name_width;    /* in characters; -1: no limit. So are the other two */
    int max_shapes_width;
    int max_source_width;
    int has_memory; /* with the columns of memory */
    int has_flops;  /* with that of floating point operations, if any are known */
    int top_level_only;
} snd_op_table_options;

/* What PyTorch's table() takes when nothing is said. */
#define SND_OP_TABLE_DEFAULTS {.row_limit = 100, .max_name_width = 55, .max_shapes_width = 80, .max_source_width = 75}

/* The table, character for character as torch 2.13 prints it; "" without rows. SND_BAD_ARGUMENT: sort_by or time_unit
 * is not known. */
SND_MUST_USE snd_status snd_op_averages_text(const snd_op_averages *self, const snd_op_table_options *options,
                                             snd_buffer *out);

/* All rows and all columns as comma-separated values, times in microseconds, with a line of names. */
SND_MUST_USE snd_status snd_op_averages_csv(const snd_op_averages *self, const char *sort_by, snd_buffer *out);

/* A time as the table has it: "1.250ms". `size` of 64 is enough. */
void snd_op_time_text(double time_us, char *text, size_t size);

/* 1 if a table can be sorted by it. The words cuda, xpu and privateuse1 stand for device, as in PyTorch. */
int snd_op_sort_is_known(const char *sort_by);

/* The names that are known, with commas between them. Static storage. */
const char *snd_op_sort_names(void);

/* Adds a row for each operator of `now`, less what `before` (NULL: nothing) has of it; what has not been called since
 * is left out. */
SND_MUST_USE snd_status snd_ops_averages(const snd_profile *now, const snd_profile *before,
                                         const snd_view_options *options, snd_op_averages *out);

#endif
