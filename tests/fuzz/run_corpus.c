/* Runs a fuzz target over every file of the folders given: the corpus as a test, without libFuzzer. */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* 0 when the file cannot be read. The copy has its exact size, so that AddressSanitizer sees a read behind it. */
static int
run_file(const char *path)
{
    struct stat about;
    FILE *file = fopen(path, "rb");
    if (file == NULL || fstat(fileno(file), &about) != 0)
        return 0;
    size_t size = (size_t)about.st_size;
    uint8_t *data = malloc(size == 0 ? 1 : size);
    int is_read = data != NULL && fread(data, 1, size, file) == size;
    fclose(file);
    if (is_read)
        LLVMFuzzerTestOneInput(data, size);
    free(data);
    return is_read;
}

static int
run_folder(const char *folder, unsigned *count)
{
    char path[4096];
    DIR *entries = opendir(folder);
    if (entries == NULL)
        return 0;
    int is_read = 1;
    for (struct dirent *entry; (entry = readdir(entries)) != NULL && is_read;) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        is_read = run_file(path);
        ++*count;
    }
    closedir(entries);
    return is_read;
}

int
main(int argc, char **argv)
{
    unsigned count = 0;

    for (int i = 1; i < argc; i++)
        if (!run_folder(argv[i], &count)) {
            fprintf(stderr, "%s: cannot be read\n", argv[i]);
            return 1;
        }
    printf("%u files\n", count);
    return count == 0;
}
