/* What the fuzz targets share. */
#ifndef SND_TEST_FUZZ_H
#define SND_TEST_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* The target: libFuzzer calls it with bytes of its own, run_corpus.c with those of every file of a folder. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold for all bytes. */
#define MUST(x)               \
    do {                      \
        if (!(x))             \
            __builtin_trap(); \
    } while (0)

#endif
