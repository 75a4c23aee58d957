/* Which C functions rows of samples were in, by the names that the program's code calls them by. */
#ifndef SND_VIEW_CALLEES_H
#define SND_VIEW_CALLEES_H

#include "base/buffer.h"
#include "view/sampled/samples.h"

/* The name that a line's site has for what it calls; NULL: none. */
const char *snd_callee_of(const snd_profile_site *site);

/* The row that a node's time counts in, as the view likes to number them; UINT64_MAX: none. */
typedef uint64_t snd_callees_row(const snd_samples *samples, uint32_t node);
uint64_t snd_callees_by_function(const snd_samples *samples, uint32_t node);
uint64_t snd_callees_by_line(const snd_samples *samples, uint32_t node);
uint64_t snd_callees_line(const char *file, uint32_t line); /* as by_line has it */

typedef struct snd_callee {
    uint64_t row;
    const char *name;
    uint64_t time; /* as the samples are ranked */
} snd_callee;

typedef struct snd_callees {
    const snd_samples *samples;
    snd_callee *all; /* by row, and in a row that with the most time first */
    uint32_t count;
} snd_callees;

void snd_callees_make(const snd_samples *samples, snd_callees_row *row, snd_callees *out);

/* As "hashlib.md5() 42%, data.count() 13%": those with the most time, and their share of the whole. */
void snd_callees_text(const snd_callees *self, uint64_t row, snd_buffer *out);

#endif
