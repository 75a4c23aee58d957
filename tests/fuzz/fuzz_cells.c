/* Bytes as changes of single cells of a recording: see cells.h. */
#include "cells.h"
#include "fuzz.h"
#include "read.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = read_path();

    cells_write(path, 0, data, size);
    read_everything(path);
    read_remove(path);
    return 0;
}
