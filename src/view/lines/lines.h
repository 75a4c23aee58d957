/* Room: the view of lines: time and memory of each. */
/* Samples by line: every sample belongs to one line of the program's own files, or to no file. */
#ifndef SND_VIEW_LINES_H
#define SND_VIEW_LINES_H

#include "view/memory/memory_lines.h"

typedef struct snd_line {
    uint32_t file; /* among the files */
    uint32_t line;
    uint32_t function; /* of the samples; where a line has several, the one with the most time */
    snd_samples_numbers numbers;
} snd_line;

typedef struct snd_line_file {
    const char *name; /* as in the sites */
    uint32_t first;   /* its lines, by number */
    uint32_t count;
    snd_samples_numbers numbers;
} snd_line_file;

/* Time that no line of the program led to. */
typedef struct snd_line_rest {
    const char *name; /* of a site without a place, such as "[sonde]"; NULL: code of others */
    snd_samples_numbers numbers;
} snd_line_rest;

/* Read freely. The numbers of all lines and all rests add up to those of the samples. */
typedef struct snd_lines {
    snd_line_file *files; /* by snd_samples_compare */
    snd_line *lines;
    snd_line_rest *rests; /* the same */
    uint32_t file_count, line_count, rest_count;
} snd_lines;

/* Lines with memory are there without time too. The caller owns what `*out` points to, on SND_OK only. */
void snd_lines_make(const snd_samples *samples, const snd_memory_view *memory, snd_lines *out);

#endif
