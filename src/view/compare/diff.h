/* Room: two recordings side by side. */
/* Two recordings side by side: what both have is found in both, and subtracted. */
#ifndef SND_VIEW_DIFF_H
#define SND_VIEW_DIFF_H

#include "base/buffer.h"
#include "view/core/noise.h"
#include "view/core/source.h"
#include "view/core/view.h"

/* X(id, option and name in tables, heading, what a row is, what a recording must have). In the order of the answer. */
#define SND_DIFF_MAP(X)                                                             \
    X(TOTALS, totals, "Totals", "total", "a length")                                \
    X(REGIONS, regions, "Regions", "region", "regions")                             \
    X(FUNCTIONS, functions, "Functions, by self time", "function", "samples")       \
    X(LINES, lines, "Lines, including library code they called", "line", "samples") \
    X(OPS, ops, "Operators", "operator", "operators")                               \
    X(CALLS, calls, "Traced functions, by self time", "function", "calls")          \
    X(COUNTS, counts, "Number of calls", "function", "calls")                       \
    X(MEMORY, memory, "Memory at the peak, by line", "line", "memory")              \
    X(ALLOCATED, allocated, "Memory allocated, by line", "line", "memory")          \
    X(COPIES, copies, "Memory copied, by line", "line", "copies")

typedef enum snd_diff_kind {
#define SND_DIFF_ENUM(id, name, heading, row, needs) SND_DIFF_##id,
    SND_DIFF_MAP(SND_DIFF_ENUM)
#undef SND_DIFF_ENUM
        SND_DIFF_COUNT
} snd_diff_kind;

typedef struct snd_diff_info {
    const char *name;
    const char *heading;
    const char *row;
    const char *needs;
} snd_diff_info;

extern const snd_diff_info snd_diff_infos[SND_DIFF_COUNT];

enum { SND_BEFORE, SND_AFTER };

/* What the difference is worth. */
typedef enum snd_diff_verdict {
    SND_DIFF_SAME,  /* exactly */
    SND_DIFF_NOISE, /* less than equal runs differ */
    SND_DIFF_MORE,  /* slower, larger, more often */
    SND_DIFF_LESS,
    SND_DIFF_NEW,     /* in the second only */
    SND_DIFF_GONE,    /* in the first only */
    SND_DIFF_UNRATED, /* says nothing of the program, or its noise is not known */
} snd_diff_verdict;

/* What one recording has of a row. */
typedef struct snd_diff_side {
    snd_estimate estimate;
    uint64_t count; /* entries or calls; 0 where they are not counted */
    int is_there;   /* found in the recording, or in its sources */
} snd_diff_side;

typedef struct snd_diff_row {
    snd_diff_kind kind;
    uint32_t number; /* among all, as they were met */
    snd_unit unit;   /* SND_UNIT_NS, SND_UNIT_BYTES or SND_UNIT_COUNT */
    const char *name;
    const char *place; /* "" where it has none */
    snd_diff_side sides[2];
    int is_unrated;
    double difference;
    double noise; /* equal runs do not differ by more than this */
    snd_diff_verdict verdict;
} snd_diff_row;

typedef struct snd_diff_options {
    const snd_view_options *view;
    unsigned kinds;   /* bit k: kind k is wanted; 0: what both recordings have */
    double run_share; /* by which the same program differs from run to run (a standard deviation): 0.01 is 1 % */
} snd_diff_options;

/* What a program's times differ by from run to run where nobody says otherwise; see docs/diff.md. */
#define SND_DIFF_RUN_SHARE 0.02

/* Read freely. Texts live as long as it does. */
typedef struct snd_diff {
    const snd_diff_options *options;
    snd_diff_row *rows; /* by kind, then by the amount of the difference */
    uint32_t count, capacity;
    uint32_t beyond;               /* rows that differ by more than their noise */
    uint64_t tests;                /* rows that the noise was asked of */
    unsigned kinds;                /* bit k: kind k is compared */
    double wholes[SND_DIFF_COUNT]; /* what a row of this kind is a share of, in the second recording; 0: unknown */
    double busy[2];                /* as in snd_noise_runs; 0 where nothing was sampled */
    snd_intern *keys;              /* a row each */
    snd_intern *texts;
    snd_source_changes changes;
    snd_pool *pool;
} snd_diff;

/* The kinds of rows that a profile has. */
unsigned snd_diff_kinds(const snd_profile *profile);

/* The caller owns what `*out` points to, on SND_OK only. SND_NO_DATA: the profiles have nothing in common, or not all
 * that was asked for. Both profiles may go afterwards, the options must stay. */
SND_MUST_USE snd_status snd_diff_make(const snd_profile *before, const snd_profile *after,
                                      const snd_diff_options *options, snd_diff *out);
void snd_diff_free(snd_diff *self);

/* Whether a row grew by more than `percent` per cent, and more than its noise, and is a total or at least a hundredth
 * of its kind's whole. What is new counts in what is around it, not by itself. */
int snd_diff_is_over(const snd_diff *self, const snd_diff_row *row, double percent);

/* In per cent of the first number; a NaN where that is 0. */
double snd_diff_percent(const snd_diff_row *row);

/* "slower", "within noise", … */
const char *snd_diff_verdict_text(const snd_diff_row *row);

/* Whether the name of a row of this kind is the text of a line. */
int snd_diff_is_of_lines(snd_diff_kind kind);

/* The rows of a kind as a table: columns for people, which are shown, and columns for programs. The caller owns it. */
SND_MUST_USE snd_status snd_diff_table(const snd_diff *self, snd_diff_kind kind, snd_table **out);

/* Adds the rows of a table to another one of the same columns. */
SND_MUST_USE snd_status snd_diff_append(snd_table *self, const snd_table *more);

/* A table with the columns for programs only. The caller owns it. */
SND_MUST_USE snd_status snd_diff_select(const snd_table *self, snd_table **out);

/* A number of a row as people read it. */
void snd_diff_number(snd_unit unit, double number, snd_buffer *out);

/* "+12.3%", "3.20x", "" where there is nothing to relate to. */
void snd_diff_change(const snd_diff_row *row, snd_buffer *out);

#endif
