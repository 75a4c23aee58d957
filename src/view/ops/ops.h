/* Room: views of operators, and the tables that PyTorch's users know. */
/* The operators of a profile, summed up: by name, and by inputs, overload or stack where that is asked for. */
#ifndef SND_VIEW_OPS_H
#define SND_VIEW_OPS_H

#include "model/operator.h"
#include "view/core/noise.h"
#include "view/core/view.h"

typedef struct snd_ops_question {
    const snd_profile *profile;
    const snd_profile *before; /* what this has of a row does not count; NULL: all does */
    const snd_profile *more;   /* its rows follow; NULL: no more do */
    int by_shape;
    int by_overload;
    uint32_t lines; /* of the stack that tell rows apart; 1: by the line that called them */
} snd_ops_question;

/* An operator, or a region, which stands beside them. Texts are "" where they were not asked for, or are not known. */
typedef struct snd_ops_row {
    const snd_profile_site *site; /* the first of those that it stands for, in the profile */
    const char *name;             /* as tables have it */
    const char *shapes, *overload;
    const char *stack;    /* lines, the innermost first, with '\n' between them */
    snd_op_detail detail; /* of that site; device and is_legacy are those of all of them */
    int is_timed;         /* by PyTorch */
    int is_annotation;    /* made by the user: a region, record_function */
    int has_parent;       /* the first was called inside another operator or region */

    uint64_t count;    /* entries, those that are open too */
    uint64_t self_ns;  /* without what it called that has a row itself */
    uint64_t total_ns; /* counted once where it is inside itself */
    uint64_t min_ns, max_ns;
    snd_estimate entries; /* the sum of all entries' durations, of those inside itself too, with its noise */
    uint64_t read_bytes, written_bytes, copies, casts;
    uint64_t flops_ns; /* the time of the calls with a formula for them */

    /* As PyTorch has them: what is inside itself counts again in total_cpu_us, bytes are those taken less those given
     * back. */
#define SND_OP_FIELD(field, name, metric) double field;
    SND_OP_NUMBER_MAP(SND_OP_FIELD)
#undef SND_OP_FIELD
} snd_ops_row;

/* Read freely. But for the sites and their details it outlives the profile. */
typedef struct snd_ops {
    snd_ops_row *rows; /* in the order in which the profile has them */
    uint32_t count;
    uint64_t calls;    /* of operators */
    uint64_t entries;  /* of those that went through us; the others were timed by their library */
    uint64_t whole_ns; /* all self times: what shares are shares of */
    snd_pool *pool;
} snd_ops;

/* The caller owns the rows, on SND_OK only; there may be none. */
SND_MUST_USE snd_status snd_ops_make(const snd_ops_question *asked, snd_ops *out);
void snd_ops_free(snd_ops *self);

/* The sum of all rows, called "Total", with the rest of the first. */
snd_ops_row snd_ops_total(const snd_ops *self);

static inline double
snd_op_cpu_average(const snd_ops_row *row)
{
    return row->count == 0 ? 0.0 : row->total_cpu_us / (double)row->count;
}

static inline double
snd_op_device_average(const snd_ops_row *row)
{
    return row->count == 0 ? 0.0 : row->total_device_us / (double)row->count;
}

/* Floating-point operations a nanosecond, which are 10^9 a second; 0 where they are not known. */
double snd_ops_speed(const snd_ops_row *row);

/* ---- for people who know PyTorch's tables ---- */

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
SND_MUST_USE snd_status snd_ops_text(const snd_ops *self, const snd_op_table_options *options, snd_buffer *out);

/* All rows and all columns as comma-separated values, times in microseconds, with a line of names. */
SND_MUST_USE snd_status snd_ops_csv(const snd_ops *self, const char *sort_by, snd_buffer *out);

/* A time as the table has it: "1.250ms". `size` of 64 is enough. */
void snd_op_time_text(double time_us, char *text, size_t size);

/* The numbers of all rows, the largest first; rows that are equal stay in their order. NULL: as they came. The caller
 * frees `*order` with snd_free. SND_BAD_ARGUMENT: `sort_by` is not known. */
SND_MUST_USE snd_status snd_op_sort(const snd_ops *self, const char *sort_by, uint32_t **order);

/* 1 if a table can be sorted by it. The words cuda, xpu and privateuse1 stand for device, as in PyTorch. */
int snd_op_sort_is_known(const char *sort_by);

/* The names that are known, with commas between them. Static storage. */
const char *snd_op_sort_names(void);

/* What PyTorch timed that moves data, by name and by the place that asked for it; those that took longest first. The
 * caller owns the table. */
SND_MUST_USE snd_status snd_transfers_make(const snd_profile *profile, snd_table **out);

#endif
