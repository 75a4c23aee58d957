/* Room: the op probe: operators, and what one call of each does. */
/* The op probe: sites of operators, and what one call of each does. Entering and leaving is the region probe's. */
#ifndef SND_PROBE_OP_H
#define SND_PROBE_OP_H

#include "probe/core/probe.h"
#include "probe/core/site.h"

/* As a session sees it. */
extern const snd_probe snd_op_probe;

/* What one call does: inputs of one description always cost the same. */
typedef struct snd_op_facts {
    uint64_t read_bytes;    /* of all inputs */
    uint64_t written_bytes; /* of the result */
    double flops;           /* floating-point operations; 0: there is no formula */
    uint32_t copies;        /* inputs that had to be copied though nobody asked for it */
    uint32_t casts;         /* inputs that had to be turned into another type */
} snd_op_facts;

/* The site of an operator: `site` says its name, its inputs (detail) and the line that called it; its kind is not
 * looked at. NULL for facts that are not known yet, such as the size of a result. Takes a lock and may allocate: once
 * for each kind of call, not once a call. SND_NONE when memory or the limit runs out; that is counted. Thread-safe. */
uint32_t snd_op_site(const snd_profile_site *site, const snd_op_facts *facts);

/* Remembers what a call does. Only the first time counts: facts never change. Thread-safe, without a lock. */
void snd_op_set_facts(uint32_t site, const snd_op_facts *facts);

/* 0: not known. Thread-safe, without a lock. */
int snd_op_facts_of(uint32_t site, snd_op_facts *out);

#endif
