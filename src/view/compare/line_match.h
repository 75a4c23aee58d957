/* Which line of a file is which line of an edited one. */
#ifndef SND_VIEW_LINE_MATCH_H
#define SND_VIEW_LINE_MATCH_H

#include "view/core/source.h"

/* Where files differ in more lines than this, only their common start and end are matched. */
#define SND_LINE_MATCH_EDITS 2000u

/* Read freely. All zero: nothing is known, and every line is what it was. */
typedef struct snd_line_match {
    uint32_t *lines;         /* per line of the first file, from 1 on: its number in the second; 0: it is gone */
    uint32_t count;          /* lines of the first file */
    unsigned char *is_found; /* per line of the second file, from 1 on: it was in the first */
    uint32_t other_count;
    snd_pool *pool;
} snd_line_match;

/* By the fewest lines taken out and put in, spaces at either end aside. Where as many were put in as were taken out of
 * the same place, these are each other: they were rewritten. The caller owns what `*out` points to, on SND_OK only. */
SND_MUST_USE snd_status snd_line_match_make(const snd_source_lines *from, const snd_source_lines *to,
                                            snd_line_match *out);
void snd_line_match_free(snd_line_match *self);

/* The line's number in the second file; 0: it is gone. A line that the first file does not have, as its text is not
 * whole, stays what it is. */
uint32_t snd_line_match_find(const snd_line_match *self, uint32_t line);

/* Whether a line of the second file was in the first, as far as that is known. */
int snd_line_match_has(const snd_line_match *self, uint32_t line);

#endif
