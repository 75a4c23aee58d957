/* The recording's tables. docs/recording.md says what they mean. */
#ifndef SND_STORE_SCHEMA_H
#define SND_STORE_SCHEMA_H

#define SND_SCHEMA_APPLICATION 0x536F6E64 /* "Sond" */
#define SND_SCHEMA_VERSION 2

extern const char snd_schema_sql[];

#endif
