/* SHA-256 (FIPS 180-4): whether a file still is what it was. */
#ifndef SND_BASE_SHA256_H
#define SND_BASE_SHA256_H

#include <stddef.h>

#define SND_SHA256_SIZE 32

/* The digest of `size` bytes. */
void snd_sha256(const void *data, size_t size, unsigned char digest[SND_SHA256_SIZE]);

#endif
