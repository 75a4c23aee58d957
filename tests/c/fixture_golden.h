/* Texts that are compared with files of tests/golden. */
#ifndef SND_TEST_FIXTURE_GOLDEN_H
#define SND_TEST_FIXTURE_GOLDEN_H

#include <stddef.h>

/* The folder of the files; a test sets it. */
extern const char *golden_folder;

/* Checks that the file of that name below the folder has these bytes. With SONDE_GOLDEN=write in the environment it is
 * written first: `make golden` does that for all. */
void check_golden(const char *name, const void *data, size_t size);

/* The same for bytes that are no text: the file is a dump of them. */
void check_golden_bytes(const char *name, const void *data, size_t size);

/* Checks that every file below this folder of the folder was asked for by this program. */
void check_golden_used(const char *part);

#endif
