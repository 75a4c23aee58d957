/* Compiler attributes, so that no other file names a compiler. */
#ifndef SND_BASE_ATTR_H
#define SND_BASE_ATTR_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define SND_MUST_USE __attribute__((warn_unused_result))
#define SND_PRINTF(at, first) __attribute__((format(printf, at, first)))
#define SND_COLD __attribute__((cold, noinline))
#define SND_HOT static inline __attribute__((always_inline))
/* For a function whose reads may meet a write, and that does not trust them. */
#define SND_UNCHECKED_READS __attribute__((no_sanitize("thread")))
/* Data that the extension module reads too, but that libsonde itself (SND_CORE) reaches without a detour. */
#ifdef SND_CORE
#define SND_PROTECTED __attribute__((visibility("protected")))
#else
#define SND_PROTECTED
#endif
#define SND_LIKELY(x) __builtin_expect(!!(x), 1)
#define SND_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Reads and writes of a number that one thread writes and others may read. They compile to plain moves. */
#define SND_GET(field) atomic_load_explicit(&(field), memory_order_relaxed)
#define SND_SET(field, value) atomic_store_explicit(&(field), (value), memory_order_relaxed)
#define SND_ADD(field, value) SND_SET(field, SND_GET(field) + (value))

#endif
