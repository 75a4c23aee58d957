/* What a session was asked for, with texts of its own. */
#ifndef SND_COLLECT_SETTINGS_H
#define SND_COLLECT_SETTINGS_H

#include "collect/session.h"

/* As snd_session_options; what was left to the system is filled in. */
typedef struct snd_settings {
    char *recording, *chrome_trace, *program, *arguments, *python, *parts;
    snd_children children;
    int gathers; /* the parts are this process's to put together */
    int timeline, cpu, debug, calls, ops, graphs;
    uint32_t counters;
    uint64_t own_cost_ns, call_cost_ns;
    snd_sample_options sample;
    snd_memory_options memory;
} snd_settings;

/* On failure `*out` is as it was. */
SND_MUST_USE snd_status snd_settings_copy(const snd_session_options *options, snd_settings *out);
void snd_settings_free(snd_settings *self); /* all zero is allowed, and left behind */

/* Whether both write the same to the same places. */
int snd_settings_have_same_outputs(const snd_settings *a, const snd_settings *b);

#endif
