/* Room: what the commands share: their options, their help, the recording they read, the Python they run. */
/* The words of a command line. */
#ifndef SND_CLI_CORE_OPTIONS_H
#define SND_CLI_CORE_OPTIONS_H

#include "collect/setting_table.h"

/* Exit statuses of the program. */
#define SND_EXIT_OK 0
#define SND_EXIT_FAILED 1
#define SND_EXIT_USAGE 2

#define SND_OPTION_LIMIT 64u

/* An option as it stood on the command line. */
typedef struct snd_given {
    int option; /* its place in the command's list */
    const char *value;
} snd_given;

/* What was given. Texts point into argv. */
typedef struct snd_arguments {
    const struct snd_command *command;
    const char *values[SND_OPTION_LIMIT]; /* per option; "" for one that takes no value; NULL: not given */
    snd_given *all;                       /* each time that an option was given, in that order */
    int all_count;
    const char **words; /* the rest, ended by NULL */
    int word_count;
    int after_dashes;  /* the words stood behind "--" */
    int wants_help;    /* --help was among the options; the rest is as far as it was read */
    int wants_aliases; /* it was --help-scalene */
} snd_arguments;

/* Whether the words of a command are files to read, and whether how long that takes is up to the user. */
typedef enum snd_reads { SND_READS_NOTHING, SND_READS_FILES, SND_READS_AS_ASKED } snd_reads;

#define SND_EXAMPLE_COUNT 2u

typedef struct snd_example {
    const char *line;  /* a whole command line */
    const char *about; /* what it does */
} snd_example;

typedef struct snd_command {
    const char *name;
    const char *usage;                      /* the words after its name */
    const char *about;                      /* one line */
    unsigned settings;                      /* those of collect/setting_table.h that it takes: a set of SND_OF_… */
    const snd_setting *options;             /* ended by a NULL name */
    int (*run)(const snd_arguments *given); /* the exit status */
    /* What follows the first word, or the value of an option with one of these letters, belongs to the program that is
     * run; NULL: nothing. */
    const char *takes_program;
    snd_reads reads;
    const char *busy; /* what it does meanwhile, for those who wait; NULL: it prints as it goes */
    snd_example examples[SND_EXAMPLE_COUNT]; /* for the help */
} snd_command;

/* The option at a place of a command's list, where its settings come before its own. NULL: there is none. */
const snd_setting *snd_option_at(const snd_command *command, int place);

/* How many of them are settings. */
int snd_setting_count(const snd_command *command);

/* Fills `given` (whose `words` and `all` have room for argc + 1). Returns 0 after printing one line when an option is
 * unknown or lacks its value. */
int snd_arguments_parse(const snd_command *command, int argc, char **argv, snd_arguments *given);

/* NULL: not given. `name` must be one of the command's options. */
const char *snd_arguments_value(const snd_arguments *given, const char *name);

/* The number of an option that is a count or a share, as its kind and its limits say. Returns 0 after printing one line
 * when it is none; without the option the number is as it was. */
int snd_arguments_count(const snd_arguments *given, const char *name, uint64_t *number);
int snd_arguments_percent(const snd_arguments *given, const char *name, double *percent);

/* The next value of an option that may be given several times, from place `*at` on, which starts with 0. NULL: no more.
 */
const char *snd_arguments_next(const snd_arguments *given, const char *name, int *at);

/* Prints to standard output, in ASCII where the locale is not UTF-8. */
void snd_say(const char *format, ...) SND_PRINTF(1, 2);

/* Prints "sonde: …" as one line on standard error. Returns SND_EXIT_USAGE. */
int snd_complain(const char *format, ...) SND_PRINTF(1, 2);

/* The same for a name that is not in a list: names the nearest, or all of them. */
int snd_complain_unknown(const char *what, const char *word, const char *const *names, unsigned count);

/* ---- words of other profilers' command lines ---- */

/* What `word`, an option as it was typed, is called elsewhere. NULL: the command knows no such word. */
const snd_alias *snd_alias_find(const snd_command *command, const char *word);

/* Notes in `given` what it means; `value` is "" for one that takes none. 0 after printing one line when the value makes
 * no sense. One that changes nothing is accepted with a sentence. */
int snd_alias_take(const snd_alias *alias, const char *value, snd_arguments *given);

#endif
