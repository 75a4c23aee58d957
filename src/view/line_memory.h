/* The columns of memory in the view of lines. */
#ifndef SND_VIEW_LINE_MEMORY_H
#define SND_VIEW_LINE_MEMORY_H

#include "view/memory.h"
#include "view/sample_table.h"

#define SND_LINE_MEMORY_COLUMNS 11u

/* Fills at most SND_LINE_MEMORY_COLUMNS of them. Returns how many this profile has: 0 without memory, those of the GPU
 * only where one was used. */
uint32_t snd_line_memory_columns(const snd_profile *profile, snd_column *columns);

/* The cells of these columns in the table's last row, from number `at` on; NULL: the line has no memory. */
void snd_line_memory_cells(const snd_samples *samples, const snd_memory_view_line *line, snd_table *table, uint32_t at);

#endif
