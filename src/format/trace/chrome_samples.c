/* Samples in a Chrome trace. */
#include "format/trace/chrome_samples.h"

#include "base/alloc.h"
#include "format/trace/chrome.h"

#include <string.h>

/* No thread has such a number: the kernel's end at 2^22. */
#define FIRST_LINE_ID (UINT32_C(1) << 30)

/* Where a thread was last found. */
struct snd_chrome_line {
    uint32_t stack;   /* SND_NONE: nowhere */
    uint64_t end_ns;  /* of the last sample */
    uint64_t *starts; /* of the slice of each frame of the stack, outermost first */
    uint32_t capacity;
    int is_named;
};

void
snd_chrome_samples_free(snd_chrome_samples *self)
{
    for (uint32_t i = 0; i < self->line_count; i++)
        snd_free(self->lines[i].starts);
    snd_free(self->lines);
    snd_stacks_free(&self->stacks);
    *self = (snd_chrome_samples){0};
}

/* The time between two looks, as far as that is known, and a bit of lateness. */
static uint64_t
gap_of(const snd_profile *profile)
{
    uint64_t rate = snd_profile_info_number(profile, "sample_rate_hz");
    return rate == 0 || rate > 1000 ? 2000000 : 2000000000 / rate;
}

static snd_status
update(snd_chrome_samples *self, const snd_profile *profile)
{
    if (self->gap_ns == 0) {
        self->gap_ns = gap_of(profile);
        self->stacks.without_regions = 1;
    }
    uint32_t known = self->line_count;
    if (!snd_make_longer(&self->lines, profile->track_count, &self->line_count, sizeof *self->lines, 0))
        return SND_NO_MEMORY;
    for (uint32_t i = known; i < self->line_count; i++)
        self->lines[i].stack = SND_NONE;
    return self->stacks.node_count < profile->node_count ? snd_stacks_update(&self->stacks, profile) : SND_OK;
}

static void
name_line(snd_chrome_line *line, const snd_profile *profile, uint32_t track, snd_buffer *out)
{
    snd_buffer_text(out, SND_CHROME_COMMA);
    snd_chrome_line_name(profile, track, FIRST_LINE_ID + track, out);
    line->is_named = 1;
}

/* The frames of `from` that are not in `to`, which is above it, end. */
typedef struct ends {
    uint32_t from, to;
    uint64_t end_ns;
} ends;

static void
end_slices(snd_chrome_samples *self, const snd_profile *profile, uint32_t track, ends at, snd_buffer *out)
{
    for (uint32_t from = at.from; from != at.to; from = self->stacks.stacks[from].parent) {
        const snd_stacks_entry *stack = &self->stacks.stacks[from];
        uint64_t start_ns = self->lines[track].starts[stack->depth - 1];
        snd_buffer_text(out, SND_CHROME_COMMA);
        snd_chrome_slice(&self->stacks.frames[stack->frame], profile->tracks[track].process_id, FIRST_LINE_ID + track,
                         &(snd_profile_event){.start_ns = start_ns, .duration_ns = at.end_ns - start_ns}, out);
    }
}

static void
close_line(snd_chrome_samples *self, const snd_profile *profile, uint32_t track, snd_buffer *out)
{
    snd_chrome_line *line = &self->lines[track];

    if (line->stack != SND_NONE)
        end_slices(self, profile, track,
                   (ends){line->stack, self->stacks.of_track[self->stacks.stacks[line->stack].track], line->end_ns},
                   out);
    line->stack = SND_NONE;
}

snd_status
snd_chrome_samples_add(snd_chrome_samples *self, const snd_profile *profile, const snd_profile_event *event,
                       snd_buffer *out)
{
    uint32_t stack = SND_NONE;
    snd_status status = update(self, profile);
    if (status == SND_OK)
        status = snd_stacks_find(&self->stacks, event->node, event->state, &stack);
    if (status != SND_OK || stack == SND_NONE)
        return status;
    uint32_t track = event->track, depth = self->stacks.stacks[stack].depth;
    snd_chrome_line *line = &self->lines[track];
    if (!snd_make_room(&line->starts, depth, &line->capacity, sizeof *line->starts))
        return SND_NO_MEMORY;
    if (!line->is_named)
        name_line(line, profile, track, out);
    /* a sample that says it began before the last one ended cannot be drawn so */
    uint64_t start_ns = event->start_ns > line->end_ns ? event->start_ns : line->end_ns;
    if (line->stack != SND_NONE && start_ns - line->end_ns > self->gap_ns)
        close_line(self, profile, track, out);
    uint32_t common = self->stacks.of_track[self->stacks.stacks[stack].track];
    if (line->stack != SND_NONE) {
        common = snd_stacks_common(&self->stacks, line->stack, stack);
        end_slices(self, profile, track, (ends){line->stack, common, start_ns}, out);
    }
    for (uint32_t i = self->stacks.stacks[common].depth; i < depth; i++)
        line->starts[i] = start_ns;
    uint64_t end_ns = event->start_ns + event->duration_ns;
    line->end_ns = end_ns > start_ns ? end_ns : start_ns;
    line->stack = stack;
    return SND_OK;
}

void
snd_chrome_samples_close(snd_chrome_samples *self, const snd_profile *profile, snd_buffer *out)
{
    for (uint32_t i = 0; i < self->line_count; i++)
        close_line(self, profile, i, out);
}
