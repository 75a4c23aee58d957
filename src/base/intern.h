/* Maps text to dense ids in first-seen order. */
#ifndef SND_BASE_INTERN_H
#define SND_BASE_INTERN_H

#include "base/status.h"

/* Not thread-safe. */
typedef struct snd_intern snd_intern;

/* The caller owns the table. NULL when memory runs out. */
snd_intern *snd_intern_new(void);
void snd_intern_free(snd_intern *self); /* NULL is allowed */

/* Copies `text`. Equal text gives the same id. On failure `*id` and the table are as they were. */
SND_MUST_USE snd_status snd_intern_add(snd_intern *self, const char *text, size_t len, uint32_t *id);

/* NULL when the text is not in the table; else as snd_intern_text gives it. */
const char *snd_intern_find(const snd_intern *self, const char *text, size_t len);

uint32_t snd_intern_count(const snd_intern *self);

/* NUL-terminated; lives, and stays in place, as long as the table. `id` must be one that was given out. */
const char *snd_intern_text(const snd_intern *self, uint32_t id);

#endif
