/* Averages of operators in the order that somebody asked for. */
#ifndef SND_VIEW_OP_SORT_H
#define SND_VIEW_OP_SORT_H

#include "view/ops/op_averages.h"

static inline double
snd_op_cpu_average(const snd_op_average *row)
{
    return row->count == 0 ? 0.0 : row->total_cpu_us / (double)row->count;
}

static inline double
snd_op_device_average(const snd_op_average *row)
{
    return row->count == 0 ? 0.0 : row->total_device_us / (double)row->count;
}

/* The numbers of all rows, the largest first; rows that are equal stay in their order. NULL: as they came. The caller
 * frees `*order` with snd_free. SND_BAD_ARGUMENT: `sort_by` is not known. */
SND_MUST_USE snd_status snd_op_sort(const snd_op_averages *self, const char *sort_by, uint32_t **order);

#endif
