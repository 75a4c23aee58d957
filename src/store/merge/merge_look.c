/* Which processes the recordings have that are to be merged. */
#include "base/alloc.h"
#include "base/map.h"
#include "model/processes.h"
#include "store/merge/merge_private.h"
#include "store/reader.h"

#include <errno.h>
#include <string.h>

snd_status
snd_merge_fail(snd_merging *self, uint32_t input, snd_status status)
{
    if (status != SND_OK)
        self->result->failed = self->paths[input];
    return status;
}

/* ---- which processes there are ---- */

/* Regions, and their CPU time, may stand in every recording: they say nothing of its kind. */
static int
is_always(const char *word, size_t len)
{
    return (len == 6 && memcmp(word, "region", len) == 0) || (len == 3 && memcmp(word, "cpu", len) == 0) || len == 0;
}

static int
has_word(const char *list, const char *word, size_t len)
{
    for (const char *at = list; (at = strstr(at, word)) != NULL; at += len)
        if ((at == list || at[-1] == ' ') && (at[len] == ',' || at[len] == '\0'))
            return 1;
    return 0;
}

/* `common`: the probes of all so far; "" before the first that has any. 0: nothing is left. */
static int
keep_common(snd_buffer *common, const char *probes)
{
    snd_buffer both = {0}, own = {0};

    for (const char *at = probes; *at != '\0';) {
        char word[64];
        size_t len = strcspn(at, ","), room = len < sizeof word ? len : sizeof word - 1;
        memcpy(word, at, room);
        word[room] = '\0';
        if (!is_always(word, room)) {
            snd_buffer_printf(&own, "%s%s", own.size == 0 ? "" : ", ", word);
            if (has_word(snd_buffer_str(common), word, room))
                snd_buffer_printf(&both, "%s%s", both.size == 0 ? "" : ", ", word);
        }
        at += len;
        at += strspn(at, ", ");
    }
    int is_kept = own.size == 0 || common->size == 0 || both.size != 0;
    if (own.size != 0) {
        snd_buffer *next = common->size == 0 ? &own : &both;
        snd_buffer old = *common;
        *common = *next;
        *next = old;
    }
    snd_buffer_free(&both);
    snd_buffer_free(&own);
    return is_kept;
}

static snd_status
add_track(snd_merging *self, const snd_profile_track *track, uint64_t offset)
{
    snd_profile_track added = *track;

    if (!snd_make_room(&self->tracks, self->track_count + 1, &self->track_capacity, sizeof added))
        return SND_NO_MEMORY;
    added.start_ns -= offset;
    added.end_ns -= offset;
    added.summed_on = 0;
    snd_status status = snd_profile_keep_text(self->known, track->name, &added.name);
    if (status == SND_OK)
        self->tracks[self->track_count++] = added;
    return status;
}

static snd_status
add_found(snd_merging *self, uint32_t input, const snd_profile *outline, uint32_t place, int is_merged)
{
    const snd_process *process = &outline->processes[place];
    snd_merge_found added = {.input = input, .place = place, .id = SND_NONE, .first_track = self->track_count};
    uint32_t id;
    snd_status status = snd_profile_add_process(self->known, process, &id);

    for (uint32_t i = 0; i < outline->track_count && status == SND_OK; i++) {
        const snd_profile_track *track = &outline->tracks[i];
        if (track->process == place && (track->summed_on != 0) == is_merged)
            status = add_track(self, track, process->offset_ns);
    }
    added.track_count = self->track_count - added.first_track;
    if (status != SND_OK ||
        !snd_make_room(&self->found, self->found_count + 1, &self->found_capacity, sizeof *self->found))
        return status == SND_OK ? SND_NO_MEMORY : status;
    self->found[self->found_count++] = added;
    return SND_OK;
}

static snd_status
look_at(snd_merging *self, uint32_t input, snd_buffer *common)
{
    snd_reader *reader = NULL;
    snd_profile *outline = NULL;
    int is_merged = 0;
    snd_status status = snd_reader_open(self->paths[input], &reader);
    if (status == SND_EMPTY) {
        self->result->empty++;
        return SND_OK;
    }
    if (status == SND_OK)
        status = snd_reader_is_merged(reader, &is_merged);
    if (status == SND_OK)
        status = snd_reader_outline(reader, &outline);
    if (status == SND_OK && outline->process_count == 0)
        self->result->empty++; /* it has tables, but never got a checkpoint */
    for (uint32_t i = 0; status == SND_OK && i < outline->process_count; i++)
        status = keep_common(common, outline->processes[i].probes) ? add_found(self, input, outline, i, is_merged)
                                                                   : SND_OTHER_KIND;
    int saved = errno;
    snd_profile_free(outline);
    snd_reader_free(reader);
    errno = saved;
    return snd_merge_fail(self, input, status);
}

/* Of a process that stands in several recordings the longest counts, and of equal ones the first. */
static snd_status
drop_twice(snd_merging *self, unsigned char *is_dropped)
{
    const snd_process *processes = self->known->processes;
    snd_map by_number = {0};
    snd_status status = SND_OK;

    for (uint32_t i = 0; i < self->found_count && status == SND_OK; i++) {
        uint32_t cursor = 0, other;
        while ((other = snd_map_next(&by_number, processes[i].process_id, &cursor)) != SND_MAP_NONE)
            if (!is_dropped[other] && snd_process_is_same(&processes[i], &processes[other]))
                break;
        if (other != SND_MAP_NONE) {
            is_dropped[processes[i].length_ns > processes[other].length_ns ? other : i] = 1;
            if (self->result->twice++ == 0) {
                self->result->twice_path = self->paths[self->found[i].input];
                self->result->twice_id = processes[i].process_id;
            }
        }
        if (!is_dropped[i])
            status = snd_map_add(&by_number, processes[i].process_id, i);
    }
    snd_map_free(&by_number);
    return status;
}

static snd_status
declare(snd_merging *self)
{
    unsigned char *is_dropped = snd_calloc(self->found_count + 1u, 1);
    snd_status status = is_dropped == NULL ? SND_NO_MEMORY : drop_twice(self, is_dropped);

    for (uint32_t i = 0; i < self->found_count && status == SND_OK; i++) {
        snd_merge_found *one = &self->found[i];
        if (is_dropped[i])
            continue;
        status = snd_merger_add_process(self->merger, &self->known->processes[i], &one->id);
        for (uint32_t k = 0; k < one->track_count && status == SND_OK; k++)
            status = snd_merger_add_track(self->merger, one->id, &self->tracks[one->first_track + k]);
    }
    snd_free(is_dropped);
    self->result->processes = snd_merger_sum(self->merger)->process_count;
    return status == SND_OK ? snd_merger_start(self->merger) : status;
}

snd_status
snd_merge_look(snd_merging *self)
{
    snd_buffer common = {0};
    snd_status status = SND_OK;

    for (uint32_t i = 0; i < self->count && status == SND_OK; i++)
        status = look_at(self, i, &common);
    snd_buffer_free(&common);
    if (status == SND_OK && self->count != 0 && self->result->empty == self->count)
        return snd_merge_fail(self, 0, SND_EMPTY);
    return status == SND_OK ? declare(self) : status;
}
