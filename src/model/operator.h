/* What a profile says of an operator besides its name: its numbers, and the texts of its site. */
#ifndef SND_MODEL_OPERATOR_H
#define SND_MODEL_OPERATOR_H

#include "base/buffer.h"
#include "model/metric.h"

/* X(what we call it, what PyTorch calls it, its metric). */
#define SND_OP_NUMBER_MAP(X)                                                \
    X(total_cpu_us, "cpu_time_total", OP_CPU)                               \
    X(self_cpu_us, "self_cpu_time_total", OP_CPU_SELF)                      \
    X(total_device_us, "device_time_total", OP_DEVICE)                      \
    X(self_device_us, "self_device_time_total", OP_DEVICE_SELF)             \
    X(cpu_bytes, "cpu_memory_usage", OP_MEMORY)                             \
    X(self_cpu_bytes, "self_cpu_memory_usage", OP_MEMORY_SELF)              \
    X(device_bytes, "device_memory_usage", OP_DEVICE_MEMORY)                \
    X(self_device_bytes, "self_device_memory_usage", OP_DEVICE_MEMORY_SELF) \
    X(flops, "flops", OP_FLOPS)

/* Where an operator ran: the numbers that PyTorch gives its device types. */
typedef enum snd_op_device {
    SND_OP_CPU = 0,
    SND_OP_CUDA = 1,
    SND_OP_MKLDNN = 2,
    SND_OP_IDEEP = 5,
    SND_OP_HIP = 6,
    SND_OP_XPU = 12,
    SND_OP_MTIA = 19,
    SND_OP_PRIVATE = 20,
} snd_op_device;

/* The detail of a site: the inputs, and below them, each on a line of its own, what else there is to say. The `file` of
 * a site without a line is a stack: lines, the innermost first. */
typedef struct snd_op_detail {
    const char *inputs, *overload; /* `inputs_size` and `overload_size` bytes of a longer text */
    size_t inputs_size, overload_size;
    int32_t device;    /* snd_op_device, or any other of PyTorch's numbers */
    int32_t scope;     /* one of PyTorch's numbers */
    int32_t is_async;  /* it did not keep its thread busy */
    int32_t is_legacy; /* it runs on the CPU, and knows by itself what its device did */
} snd_op_detail;

void snd_op_detail_write(const snd_op_detail *self, snd_buffer *out);
snd_op_detail snd_op_detail_read(const char *text); /* which it points into */

#endif
