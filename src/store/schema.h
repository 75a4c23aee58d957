/* The recording's tables. docs/recording.md says what they mean. */
#ifndef SND_STORE_SCHEMA_H
#define SND_STORE_SCHEMA_H

#define SND_SCHEMA_APPLICATION 0x536F6E64 /* "Sond" */
#define SND_SCHEMA_VERSION 8

/* How much of sources is written and read: bytes of one, bytes of all, how many. */
#define SND_SOURCE_LIMIT (4u << 20)
#define SND_SOURCE_TOTAL_LIMIT (64u << 20)
#define SND_SOURCE_COUNT_LIMIT 10000u

extern const char snd_schema_sql[];

#endif
