/* Bytes as the journal beside a recording: what a process that was killed left behind, or what a stranger put there.
 * The first byte says whether it is one of a rollback or a write-ahead log. */
#include "cells.h"
#include "fuzz.h"
#include "read.h"

#include <stdio.h>
#include <unistd.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = read_path();
    char beside[96];

    if (size == 0)
        return 0;
    cells_write(path, 0, data, 0);
    snprintf(beside, sizeof beside, "%s%s", path, data[0] % 2 == 0 ? "-journal" : "-wal");
    if (data[0] % 2 != 0) /* the head of the file says which it is */
        cells_change(path, "PRAGMA journal_mode = WAL");
    read_write(beside, data + 1, size - 1);
    read_everything(path);
    read_remove(path);
    return 0;
}
