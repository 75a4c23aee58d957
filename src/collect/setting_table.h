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
    const char *group;           /* its heading in the help; NULL: a common option, and these come first */
    const char *choices;         /* for shells: the words that its value may be, or a SND_CHOICES_…; NULL: anything */
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

/* What a shell finds out by itself. */
#define SND_CHOICES_FILE "@file"
#define SND_CHOICES_COLUMNS "@columns"

/* In the order of the help, ended by a NULL name. A name stands here twice where commands explain it differently. */
extern const snd_setting snd_setting_table[];

/* A word of another profiler's command line: what `sonde run` takes it for. */
typedef enum snd_alias_kind {
    SND_ALIAS_HOLDS,   /* it is so anyway */
    SND_ALIAS_NONE,    /* it changes nothing, and a sentence says so */
    SND_ALIAS_OPTION,  /* the option `means`, with the same value */
    SND_ALIAS_OUTPUT,  /* the recording, and for a name that ends in .html the page too */
    SND_ALIAS_ONLY,    /* parts of paths: no other files are the program's own */
    SND_ALIAS_EXCLUDE, /* parts of paths of files that are not */
    SND_ALIAS_FOLDER,  /* of the program's own files */
    SND_ALIAS_SECONDS, /* from one sample to the next */
} snd_alias_kind;

typedef struct snd_alias {
    const char *name;  /* without the dashes */
    const char *value; /* what follows it; NULL: nothing */
    snd_alias_kind kind;
    const char *means; /* an option of `sonde run`; NULL: none, or several */
    const char *about; /* for --help-scalene, and for SND_ALIAS_NONE the rest of a sentence */
} snd_alias;

/* Scalene's, ended by a NULL name. A name that `sonde run` has itself keeps our meaning and is not here. */
extern const snd_alias snd_scalene_table[];

/* Headings that several lists have. */
#define SND_GROUP_CODE "which code"
#define SND_GROUP_SAMPLES "samples"

#endif
