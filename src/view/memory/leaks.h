/* Whether a line leaks: a verdict from the history of its memory. */
#ifndef SND_VIEW_LEAKS_H
#define SND_VIEW_LEAKS_H

#include "model/profile.h"

/* X(id, what it is called in tables). */
#define SND_VERDICT_MAP(X)                  \
    X(LEAK, "leak")                         \
    X(UNKNOWN, "too little evidence")       \
    X(FREED, "freed again")                 \
    X(FELL, "shrank in between")            \
    X(STOPPED, "stopped growing")           \
    X(PART, "grew only in part of the run") \
    X(CHANCE, "growth is not more than chance")

typedef enum snd_verdict {
#define SND_VERDICT_ENUM(id, text) SND_VERDICT_##id,
    SND_VERDICT_MAP(SND_VERDICT_ENUM)
#undef SND_VERDICT_ENUM
} snd_verdict;

/* Numbers are of the time that is judged: after the first fifth of the run, before its end. */
typedef struct snd_leak {
    snd_verdict verdict;
    uint64_t growth;    /* bytes; in tables growth is that of the whole run */
    uint64_t rate;      /* bytes a second */
    uint64_t taken;     /* blocks that were looked at */
    uint64_t surviving; /* more of them live at the end than at the start */
    double confidence;  /* 0 to 1; 0 where the verdict is another one */
} snd_leak;

#define SND_LEAK_BLOCKS 10u /* no verdict below so many surviving blocks, points of the history, */
#define SND_LEAK_POINTS 10u
#define SND_LEAK_BYTES 65536u /* and bytes of growth */

/* `length_ns` is the recording's, 0 where it is unknown; the last step may be shorter than the others. */
void snd_leak_judge(const snd_history *history, uint64_t step_ns, uint64_t length_ns, snd_leak *out);

#endif
