/* Room: views of calls: functions, callers and callees, signatures. */
/* The calls of a profile, added up over its tracks: functions, and pairs of caller and callee. */
#ifndef SND_VIEW_CALLS_H
#define SND_VIEW_CALLS_H

#include "base/buffer.h"
#include "base/work.h"
#include "model/profile.h"

typedef struct snd_calls_numbers {
    uint64_t count;     /* calls, the open ones too */
    uint64_t primitive; /* of these, the ones that were not inside another call of the same */
    uint64_t open;      /* not finished yet */
    uint64_t resumes;   /* how often a generator or coroutine resumed */
    uint64_t self_ns;
    uint64_t total_ns; /* recursion counts once */
    uint64_t suspended_ns;
} snd_calls_numbers;

/* A function or builtin (detail "") or one of its signatures. */
typedef struct snd_calls_row {
    snd_profile_site site;    /* its texts belong to the profile */
    uint32_t function;        /* the row that stands for all signatures; this row itself where the detail is "" */
    uint32_t signature_count; /* rows that have this one as their function, itself not counted */
    snd_calls_numbers numbers;
} snd_calls_row;

/* Numbers of the callee as far as this caller called it. Both are rows; where signatures were recorded and pairs are
 * not to be of functions, rows of signatures. */
typedef struct snd_calls_pair {
    uint32_t caller;
    uint32_t callee;
    snd_calls_numbers numbers;
} snd_calls_pair;

/* Read freely. Not thread-safe. */
typedef struct snd_calls {
    snd_calls_row *rows;   /* as they were first met; one that nobody called has a count of 0 */
    snd_calls_pair *pairs; /* by caller, then by callee */
    uint32_t row_count, pair_count;
    snd_pool *pool;
} snd_calls;

typedef enum snd_calls_pairs { SND_PAIRS_OF_SIGNATURES, SND_PAIRS_OF_FUNCTIONS } snd_calls_pairs;

/* The caller owns what `*out` points to, on SND_OK only. A profile without calls gives no rows. */
SND_MUST_USE snd_status snd_calls_make(const snd_profile *profile, snd_calls_pairs pairs, snd_calls *out);
void snd_calls_free(snd_calls *self);

/* Exchanges caller and callee in every pair, so that the pairs come by who was called. */
void snd_calls_turn_pairs(snd_calls *self);

/* Whether anything was counted: a generator that only paused so far has time but no call. */
int snd_calls_is_used(const snd_calls_numbers *numbers);

/* As pstats writes it: "file.py:7(name)", "{built-in method builtins.len}"; a signature takes the name's place. */
void snd_call_text(const snd_profile_site *site, snd_buffer *out);

#endif
