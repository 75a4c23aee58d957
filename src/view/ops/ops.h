/* Room: views of operators, and the tables that PyTorch's users know. */
/* The operators of a profile, summed up: by name, and by input shapes or by line where that is asked for. */
#ifndef SND_VIEW_OPS_H
#define SND_VIEW_OPS_H

#include "view/core/noise.h"
#include "view/core/view.h"

/* An operator, or a region, which stands beside them. Texts are the profile's. */
typedef struct snd_ops_row {
    const snd_profile_site *site; /* the first of those that it stands for */
    const char *shapes;           /* "" where they were not asked for, or not recorded */
    const char *file;             /* "" in the same way */
    uint32_t line;
    int has_parent;    /* the first was called inside another operator or region */
    uint64_t count;    /* entries, those that are open too */
    uint64_t self_ns;  /* without what it called that has a row itself */
    uint64_t total_ns; /* counted once where it is inside itself */
    uint64_t min_ns, max_ns;
    snd_estimate entries; /* the sum of all entries' durations, of those inside itself too, with its noise */
    uint64_t read_bytes, written_bytes, copies, casts;
    double flops;      /* of the calls with a formula */
    uint64_t flops_ns; /* their time */
} snd_ops_row;

/* Read freely. The profile must live longer. */
typedef struct snd_ops {
    snd_ops_row *rows; /* in the order in which the profile has them */
    uint32_t count;
    uint64_t calls;    /* of operators */
    uint64_t entries;  /* of those that went through us; the others were timed by their library */
    uint64_t whole_ns; /* all self times: what shares are shares of */
    snd_pool *pool;
} snd_ops;

/* The caller owns the rows, on SND_OK only; there may be none. */
SND_MUST_USE snd_status snd_ops_make(const snd_profile *profile, const snd_view_options *options, snd_ops *out);
void snd_ops_free(snd_ops *self);

/* Floating-point operations a nanosecond, which are 10^9 a second; 0 where they are not known. */
double snd_ops_speed(const snd_ops_row *row);

#endif
