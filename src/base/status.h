/* Room: what everything is built from: memory, texts, maps, numbers. Nothing here knows of profiles. */
/* How every function that can fail says so. */
#ifndef SND_BASE_STATUS_H
#define SND_BASE_STATUS_H

#include "base/alloc.h"

#define SND_STATUS_MAP(X)                                                                                \
    X(OK, "success")                                                                                     \
    X(NO_MEMORY, "out of memory")                                                                        \
    X(NOT_A_RECORDING, "this file is not a sonde recording")                                             \
    X(EMPTY, "the file is empty; the process was killed before its first checkpoint")                    \
    X(DAMAGED, "the recording is damaged")                                                               \
    X(FOREIGN_JOURNAL, "its journal names another file, so sonde did not write it; not opened")          \
    X(WAL, "it is in SQLite's WAL mode, which sonde never uses; not opened")                             \
    X(NOT_OURS, "a file or folder of another user is in the way; remove it or choose another name")      \
    X(NEWER, "the recording was written by a newer sonde; update sonde to read it")                      \
    X(BUSY, "the recording is in use by another program")                                                \
    X(NO_TIMELINE, "the recording has no timeline; record one with timeline=True or chrome_trace_file=") \
    X(TOO_LONG, "the timeline has more events than can be shown at once")                                \
    X(NO_DATA, "the recording has nothing to show in this view")                                         \
    X(BAD_QUERY, "the query is not valid")                                                               \
    X(READ_ONLY, "a query may only read; this one would write")                                          \
    X(OTHER_KIND, "has no data in common with the others; cannot merge")                                 \
    X(BAD_ARGUMENT, "invalid argument")                                                                  \
    X(ALREADY, "a recording is already running")                                                         \
    X(NOT_RUNNING, "no recording is running")                                                            \
    X(SYSTEM, "a system call failed")

#define SND_STATUS_ENUM(name, text) SND_##name,
typedef enum snd_status { SND_STATUS_MAP(SND_STATUS_ENUM) SND_STATUS_COUNT } snd_status;
#undef SND_STATUS_ENUM

/* A sentence for people. Never NULL; static storage. */
const char *snd_status_text(snd_status status);

/* Where it was stopped, SND_NO_MEMORY says so: in these words. */
const char *snd_status_stopped(snd_alloc_stop why);

/* The same with what errno says, for SND_SYSTEM. The text stays valid until this thread's next call. */
const char *snd_status_detail(snd_status status, int saved_errno);

#endif
