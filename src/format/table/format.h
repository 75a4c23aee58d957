/* Room: tables for people and programs, and what several tables make: summaries and reports. */
/* How a table or a recording is written for somebody. One file a format. */
#ifndef SND_FORMAT_FORMAT_H
#define SND_FORMAT_FORMAT_H

#include "format/stacks/stacks.h"
#include "store/reader.h"
#include "view/core/view.h"

/* What a table may look like. All zero: a plain table into a pipe. */
typedef struct snd_format_options {
    unsigned width; /* cells of the terminal; 0: as wide as it gets */
    int colour;
    int unicode;
    int no_head;
    int no_footer;
    int is_exact; /* texts in CSV as they are, also those that a spreadsheet takes for a formula */
} snd_format_options;

/* X(name, what it writes). A format is one file with snd_format_NAME in it, and a line here. */
#define SND_FORMAT_TABLE_MAP(X)                                  \
    X(table, "a text table")                                     \
    X(csv, "comma-separated values with a header line")          \
    X(json, "{view, columns, rows}, times as whole nanoseconds") \
    X(html, "an HTML page in one file")
/* The same in help texts. */
#define SND_FORMAT_TABLE_LIST "table, csv, json, html"
#define SND_FORMAT_TABLE_CHOICE "table, csv, json or html"
/* The same with blanks, for shells. */
#define SND_FORMAT_WORD(name, about) #name " "
#define SND_FORMAT_TABLE_WORDS SND_FORMAT_TABLE_MAP(SND_FORMAT_WORD)

/* What a recording may be written like. All zero: the usual. */
typedef struct snd_export_options {
    int by_line;  /* the lines of a function apart */
    int cpu_only; /* without time that was waited */
    int has_cost; /* not the one that one looks at first but `cost`, where a format has one only */
    snd_cost cost;
} snd_export_options;

/* The cost that the options ask for. SND_COST_COUNT: the profile has none. */
snd_cost snd_export_cost(const snd_profile *profile, const snd_export_options *options);

/* The same for formats that show a whole recording, not a table. */
#define SND_FORMAT_RECORDING_MAP(X)                                    \
    X(collapsed, "folded stacks in microseconds, for flamegraph.pl")   \
    X(speedscope, "stacks over time or as totals, for speedscope.app") \
    X(pprof, "stacks with all costs, for go tool pprof")               \
    X(pstats, "functions and their callers, for Python's pstats")      \
    X(callgrind, "functions and their calls by line, for KCachegrind") \
    X(chrome, "trace events for Chrome's about:tracing and Perfetto")  \
    X(perfetto, "trace events in Perfetto's own format, for ui.perfetto.dev")
#define SND_FORMAT_RECORDING_LIST "collapsed, speedscope, pprof, pstats, callgrind, chrome, perfetto"
#define SND_FORMAT_RECORDING_WORDS SND_FORMAT_RECORDING_MAP(SND_FORMAT_WORD)

#define SND_FORMAT_DECLARE(name, about) \
    void snd_format_##name(const snd_table *table, const snd_format_options *options, snd_buffer *out);
SND_FORMAT_TABLE_MAP(SND_FORMAT_DECLARE)
#undef SND_FORMAT_DECLARE

/* Writes to an open file. On SND_SYSTEM errno says why. Stacks over time need the profile's events. SND_NO_DATA when
 * the profile has no stacks, SND_NO_TIMELINE when the format needs one. */
#define SND_FORMAT_DECLARE(name, about)                                                       \
    SND_MUST_USE snd_status snd_format_##name(snd_reader *reader, const snd_profile *profile, \
                                              const snd_export_options *options, int file);
SND_FORMAT_RECORDING_MAP(SND_FORMAT_DECLARE)
#undef SND_FORMAT_DECLARE

/* Defines snd_format_NAME, which writes as one work; it does without the reader. */
typedef struct snd_format_question {
    const snd_profile *profile;
    const snd_export_options *options;
    int file;
} snd_format_question;

#define SND_FORMAT_WORK(name, write)                                                                                \
    static void answer(void *context)                                                                               \
    {                                                                                                               \
        const snd_format_question *asked = context;                                                                 \
        write(asked->profile, asked->options, asked->file);                                                         \
    }                                                                                                               \
    snd_status snd_format_##name(snd_reader *reader, const snd_profile *profile, const snd_export_options *options, \
                                 int file)                                                                          \
    {                                                                                                               \
        (void)reader;                                                                                               \
        return snd_work_run(answer, &(snd_format_question){profile, options, file}, NULL);                          \
    }

/* One of the two functions is NULL. */
typedef struct snd_format {
    const char *name;
    const char *about;
    void (*write_table)(const snd_table *table, const snd_format_options *options, snd_buffer *out);
    snd_status (*write_recording)(snd_reader *reader, const snd_profile *profile, const snd_export_options *options,
                                  int file);
} snd_format;

extern const snd_format snd_formats[];
extern const unsigned snd_format_count;

/* NULL for an unknown name. */
const snd_format *snd_format_find(const char *name);

/* Several tables and a few words about a recording of samples, for people: what `sonde run` prints at its end.
 * Without samples what it says of memory. SND_NO_DATA with neither. */
SND_MUST_USE snd_status snd_summary_write(const snd_profile *profile, const snd_view_options *options,
                                          const snd_format_options *format, snd_buffer *out);

/* The same for programs: one line of JSON, described in docs/agents.md. `recording` is the file; NULL: there is none.
 */
SND_MUST_USE snd_status snd_summary_json(const snd_profile *profile, const snd_view_options *options,
                                         const char *recording, snd_buffer *out);

/* One cell as a table for people has it, without padding. */
void snd_format_cell(snd_unit unit, const snd_cell *cell, snd_buffer *out);

/* A cell of a table as people see it: nothing in place of 0 where the column wants that. */
void snd_format_cell_of(const snd_table *table, uint32_t row, uint32_t column, snd_buffer *out);

/* Whether a cell is highlighted for people. */
int snd_format_is_notable(const snd_table *table, uint32_t row, uint32_t column);

/* The column that says what a row is. */
uint32_t snd_format_main_column(const snd_table *table);

/* Writes all bytes. On SND_SYSTEM errno says why. */
SND_MUST_USE snd_status snd_write_all(int file, const void *data, size_t size);

/* Text on its way to an open file, for what may be too long to keep. */
typedef struct snd_output {
    snd_buffer text;
    int file;
} snd_output;

/* Writes the text so far; only when there is enough of it. On SND_SYSTEM errno says why. */
SND_MUST_USE snd_status snd_output_flush(snd_output *self);
SND_MUST_USE snd_status snd_output_flush_full(snd_output *self);

/* What the JSON of tables is like: docs/schema/table.json, which the build turns into C. A JSON Schema (draft 2020-12),
 * ended by NUL. */
extern const char snd_table_schema[];

#endif
