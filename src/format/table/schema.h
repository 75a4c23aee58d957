/* What the JSON of tables is like, for programs: docs/schema/table.json, which the build turns into C. */
#ifndef SND_FORMAT_SCHEMA_H
#define SND_FORMAT_SCHEMA_H

/* A JSON Schema (draft 2020-12), ended by NUL. */
extern const char snd_table_schema[];

#endif
