/* The tree that people read: functions merged over their lines, frames of libraries folded, waiting as rows. */
#ifndef SND_VIEW_FRAMES_H
#define SND_VIEW_FRAMES_H

#include "view/sampled/samples.h"

typedef enum snd_frame_kind {
    SND_FRAME_THREAD,
    SND_FRAME_FUNCTION, /* or a region, a native symbol, something without a place */
    SND_FRAME_HIDDEN,   /* frames that were to be hidden */
    SND_FRAME_CALLEE,   /* CPU time in a C function that the frame above calls */
    SND_FRAME_SELF,     /* CPU time in the frame above itself */
    SND_FRAME_WAITING,
    SND_FRAME_SMALL, /* rows that are too small to be shown */
} snd_frame_kind;

/* Of the packages that hidden frames are of, so many are named. */
#define SND_FRAME_PACKAGES 3u

typedef struct snd_frame {
    snd_frame_kind kind;
    uint32_t which;  /* a track, a function of the samples, a site that names a callee, a state; of small rows what the
                        view wants */
    uint32_t parent; /* SND_NONE: a thread. Smaller than the frame's own number */
    uint32_t track;
    uint32_t first, last, next; /* children, as they were met, and the next one of its parent; SND_NONE: none */
    uint32_t hidden;            /* functions folded into this frame; rows that SMALL stands for */
    uint32_t packages[SND_FRAME_PACKAGES]; /* functions of different packages among them */
    uint32_t package_count;
    int has_more_packages;
    uint64_t start_ns;           /* of the first sample; in a tree by time only */
    snd_samples_numbers numbers; /* with all below */
} snd_frame;

/* Read freely. */
typedef struct snd_frames {
    const snd_samples *samples;
    snd_frame *frames;
    uint32_t count, capacity;
    uint32_t thread_count;
} snd_frames;

/* The caller owns what `*out` points to, on SND_OK only. SND_BAD_ARGUMENT when the pattern of what to hide is not
 * valid. SND_NO_TIMELINE when it is to be by time and there are no events. */
void snd_frames_make(const snd_samples *samples, snd_frames *out);

/* A new frame, the last child of its parent. */
void snd_frames_add(snd_frames *self, uint32_t parent, snd_frame_kind kind, uint32_t which, uint32_t *frame);

#endif
