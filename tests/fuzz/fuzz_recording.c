/* Bytes as the file of a recording. */
#include "fuzz.h"
#include "read.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = read_path();

    read_write(path, data, size);
    read_everything(path);
    read_remove(path);
    return 0;
}
