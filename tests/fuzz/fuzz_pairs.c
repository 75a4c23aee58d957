/* Bytes as changes of two or three recordings, which are then merged and compared. The first byte says how many there
 * are and which are merged already, the second which are of the same process; before the changes of each stands how
 * many bytes they are. */
#include "base/alloc.h"
#include "cells.h"
#include "fuzz.h"
#include "read.h"
#include "store/merge/merge_files.h"
#include "store/reader.h"

#include <stdio.h>

enum { MOST = 3 };

typedef struct recording {
    char path[96];
    snd_reader *reader;
    snd_profile *profile;
} recording;

/* The bytes that the changes took. */
static size_t
make(recording *self, unsigned number, const uint8_t *data, size_t size)
{
    size_t own = size > 2 ? 1u + data[2] : 0;
    char sql[96];

    own = own < size - 2 ? own : size - 2;
    snprintf(self->path, sizeof self->path, "%s-%u", read_path(), number);
    cells_write(self->path, data[0] >> (number + 1) & 1, own == 0 ? data : data + 3, own == 0 ? 0 : own - 1);
    snprintf(sql, sizeof sql, "UPDATE process SET process_id = process_id + %u", 10 * number);
    if ((data[1] >> number & 1) == 0)
        cells_change(self->path, sql);
    return own;
}

static void
load(recording *self)
{
    if (snd_reader_open(self->path, &self->reader) == SND_OK)
        MUST((unsigned)snd_reader_profile(self->reader, &self->profile) < SND_STATUS_COUNT);
}

/* Reading everything takes many times as long as merging. */
static void
merge(recording *all, unsigned count, int is_thorough)
{
    recording merged = {{0}, NULL, NULL};
    const char *paths[MOST];
    snd_merge_result result;

    snprintf(merged.path, sizeof merged.path, "%s", read_path());
    for (unsigned i = 0; i < count; i++)
        paths[i] = all[i].path;
    snd_status status = snd_merge_files(read_path(), paths, count, &result);
    MUST((unsigned)status < SND_STATUS_COUNT);
    if (status == SND_OK && is_thorough)
        read_everything(read_path());
    else if (status == SND_OK)
        load(&merged);
    snd_profile_free(merged.profile);
    snd_reader_free(merged.reader);
    read_remove(read_path());
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    recording all[MOST] = {{{0}, NULL, NULL}};

    if (size < 2)
        return 0;
    unsigned count = 2 + (data[0] & 1);
    const uint8_t head[] = {data[0], data[1]};
    for (unsigned i = 0; i < count; i++) {
        uint8_t own[258] = {head[0], head[1]};
        size_t left = size - 2 < 256 ? size - 2 : 256;
        for (size_t k = 0; k < left; k++)
            own[2 + k] = data[2 + k];
        size_t used = make(&all[i], i, own, 2 + left);
        data += used;
        size -= used;
        load(&all[i]);
    }
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; k < count; k++)
            if ((i < k || (i > k && head[1] >= 0xf0)) && all[i].profile != NULL && all[k].profile != NULL)
                read_compare(all[i].profile, all[k].profile);
    for (unsigned i = 0; i < count; i++) {
        snd_profile_free(all[i].profile);
        snd_reader_free(all[i].reader);
    }
    merge(all, count, head[1] >= 0xf0);
    for (unsigned i = 0; i < count; i++)
        read_remove(all[i].path);
    return 0;
}
