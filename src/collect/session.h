/* Room: a running measurement: what is on, where results go, fork, signals, exit, child processes. */
#ifndef SND_COLLECT_SESSION_H
#define SND_COLLECT_SESSION_H

#include "base/buffer.h"
#include "model/profile.h"
#include "probe/core/probe.h"
#include "probe/sample/sample_stack.h"

/* What becomes of processes that this one forks, and of their measurements. */
typedef enum snd_children {
    SND_CHILDREN_BESIDE, /* each has a recording of its own beside this one */
    SND_CHILDREN_NONE,   /* they are not measured */
    SND_CHILDREN_PARTS,  /* each has one in the folder of parts */
} snd_children;

/* All zero: regions count, nothing is written. Texts are copied. Paths take %p, %h and %r. */
typedef struct snd_session_options {
    const char *recording;    /* path; NULL: none */
    const char *chrome_trace; /* path; NULL: none */
    int timeline;             /* keep every entry in the recording too */
    int cpu;                  /* CPU time of every entry */
    uint32_t counters;        /* what the system counts of every entry, too: a set of probe/core/system_counter.h */
    int debug;                /* print enter and leave */
    uint64_t own_cost_ns;     /* of one entry, as measured; 0: measure here */
    int calls;                /* calls are measured too */
    uint64_t call_cost_ns;    /* of one call, as measured; 0: unknown */
    int ops;                  /* operators are measured too */
    int graphs;               /* compiled graphs are measured too */
    snd_sample_options sample;
    snd_memory_options memory;
    snd_children children;
    const char *parts;       /* their folder; NULL: the recording's path and ".parts" */
    int gathers;             /* at the end this process puts the parts into the recording */
    const char *program;     /* what runs; NULL: from the system */
    const char *arguments;   /* a JSON list; NULL: from the system */
    const char *python;      /* its version; NULL: no Python */
    const char *python_note; /* what every table must say of it; lives as long as the process; NULL: nothing */
} snd_session_options;

/* Starts, or gives a running session new options and outputs and keeps what was counted. On failure everything is
 * as it was and `message` has a line for people. Not to be called from two threads at once. */
SND_MUST_USE snd_status snd_session_start(const snd_session_options *options, snd_buffer *message);

/* The clock that regions read, when it is not the machine's; NULL: the machine's. Before snd_session_start. */
void snd_session_use_clock(uint64_t (*function)(void));

/* How the sampler looks into the interpreter; NULL: there is none. Before snd_session_start. */
void snd_session_use_interpreter(const snd_sample_interpreter *interpreter);

/* From now on nothing is measured: what stop writes later is of this moment. */
void snd_session_end(void);

/* Stops and writes what is to be written. SND_OK when nothing ran. `message` gets a line when writing failed. `*last`
 * is the profile as it was written, or would have been, which the caller owns; NULL where there is none. `last` may be
 * NULL. */
snd_status snd_session_stop(snd_buffer *message, snd_profile **last);

int snd_session_is_running(void);

/* 1 in a forked child that has entered no region yet: the session is its parent's. */
int snd_session_is_orphan(void);

/* What was counted so far. The caller owns the profile. SND_NOT_RUNNING. */
SND_MUST_USE snd_status snd_session_profile(snd_profile **out);

/* Samples stop and go on; what was seen stays. Nothing happens where no sampler runs. */
void snd_session_pause_samples(int paused);

/* Samples end; the session goes on. */
void snd_session_stop_samples(void);

/* After this time nothing is measured any more, and the files are complete, while the program goes on. Nothing happens
 * where no file is written. */
void snd_session_end_after(uint64_t after_ns);

/* A sentence for every report about something that does not work here. Static storage; NULL: nothing to say. */
void snd_session_note(const char *text);

/* Forgets what was counted so far; open regions count from now. */
void snd_session_reset(void);

/* Absolute paths of the outputs; NULL: none. Valid until the next start or stop. */
const char *snd_session_recording_path(void);
const char *snd_session_trace_path(void);

/* Ends our thread before a fork and starts it again after it. Calls to fork from C are seen without these. */
void snd_session_pause(void);
void snd_session_resume(void);

/* In the child of a fork that goes on with the same program: it is looked at as its parent was, and gets a recording of
 * its own once it has run for a moment. */
void snd_session_follow(void);

/* Once the program has given a signal its default action: it saves first again, where files are written. */
void snd_session_watch_signals(void);

/* Writes what there is as if the program ended now; it may go on. While paused. */
void snd_session_checkpoint(void);

/* A checkpoint now, for a process that is about to end without further notice. */
void snd_session_save(void);

#endif
