/* The operators of a profile as the table of PyTorch's profiler wants them. */
#ifndef SND_VIEW_OPS_AVERAGES_H
#define SND_VIEW_OPS_AVERAGES_H

#include "view/op_averages.h"
#include "view/ops.h"

/* Adds a row for each of `ops`, less what `before` (NULL: nothing) has of it; what has not been called since is left
 * out. Both were made with the same options. */
SND_MUST_USE snd_status snd_ops_averages(const snd_ops *ops, const snd_ops *before, snd_op_averages *out);

#endif
