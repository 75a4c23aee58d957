/* What a user may set. The one list for a measurement: options of `sonde run`, `sonde trace` and the magics, keys of
 * pyproject.toml, words of SONDE_RUN and keywords in Python all come from it. Options of other commands are lists of
 * the same kind. */
#ifndef SND_COLLECT_SETTING_TABLE_H
#define SND_COLLECT_SETTING_TABLE_H

#include "base/attr.h"

typedef enum snd_setting_kind {
    SND_SETTING_FLAG,     /* takes no value */
    SND_SETTING_TEXT,     /* any text */
    SND_SETTING_PATTERNS, /* one or more, with commas */
    SND_SETTING_COUNT,    /* a whole number from `least` to `most` */
    SND_SETTING_SECONDS,  /* a number above 0 */
    SND_SETTING_PERCENT,  /* a number, 0 or more, with or without a % */
} snd_setting_kind;

/* Who takes a setting. The keys of pyproject.toml are those of `run`. */
enum { SND_OF_RUN = 1, SND_OF_TRACE = 2, SND_OF_MAGIC = 4 };

typedef struct snd_setting {
    const char *name;  /* without the dashes; "no-…" switches off what its keyword switches on */
    const char *about; /* a line for the help; NULL: hidden, for an old name that still works */
    unsigned of;       /* a set of SND_OF_…; in the list of a command nothing */
    snd_setting_kind kind;
    const char *value;           /* what follows it, for the help; NULL: nothing follows */
    uint64_t least, most, usual; /* of a count; `usual` when it is not given */
    const char *keyword;         /* in Python: of sonde.record and _core.start; NULL: none */
    const char *part_of;         /* the setting without which it means nothing: "rate" (the sampler) or "memory" */
    const char *more;            /* further sentences for the documentation; NULL: none */
    int is_settled;              /* once the first process has begun: its children do not get it */
    char letter;                 /* 0: none */
} snd_setting;

/* Kinds, for a line of a list. */
#define SND_FLAG .kind = SND_SETTING_FLAG
#define SND_TEXT(what) .kind = SND_SETTING_TEXT, .value = (what)
#define SND_PATTERNS .kind = SND_SETTING_PATTERNS, .value = "PATTERN"
#define SND_COUNT(what, from, to, otherwise) \
    .kind = SND_SETTING_COUNT, .value = (what), .least = (from), .most = (to), .usual = (otherwise)
#define SND_SECONDS .kind = SND_SETTING_SECONDS, .value = "S"
#define SND_PERCENT .kind = SND_SETTING_PERCENT, .value = "PERCENT"

/* In the order of the help, ended by a NULL name. A name stands here twice where commands explain it differently. */
extern const snd_setting snd_setting_table[];

#endif
