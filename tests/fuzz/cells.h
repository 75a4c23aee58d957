/* Bytes as changes of single cells of a recording. */
#ifndef SND_TEST_CELLS_H
#define SND_TEST_CELLS_H

#include <stddef.h>
#include <stdint.h>

/* Writes the seed at `path` and changes it: a sound database with contents that no writer of ours made. Each change is
 * table, column, row, kind of the value and the value. `is_merged`: the seed is one of two processes. */
void cells_write(const char *path, int is_merged, const uint8_t *data, size_t size);

/* Runs SQL on it. */
void cells_change(const char *path, const char *sql);

#endif
