/* The numbers that sum up a recording, wherever they are shown: in the summary, by `sonde info`, on the page. */
#ifndef SND_VIEW_FACTS_H
#define SND_VIEW_FACTS_H

#include "view/sampled/samples.h"

/* X(name). Times are of the threads and regions that were asked for; what was not measured is 0. */
#define SND_FACT_MAP(X)                                                                                 \
    X(length_ns) /* from the first to the last moment of the measurement */                             \
    X(cpu_ns)    /* of the process, with sonde's own threads; of a part of it what was sampled there */ \
    X(python_ns) /* CPU time by what ran */                                                             \
    X(native_ns)                                                                                        \
    X(system_ns)                                                                                        \
    X(waiting_ns)  /* of threads that ran Python */                                                     \
    X(samples)     /* those that the shares are of */                                                   \
    X(threads)     /* the program's own */                                                              \
    X(collections) /* of garbage */                                                                     \
    X(collections_ns)                                                                                   \
    X(longest_ns)      /* the longest of them */                                                        \
    X(entries)         /* into regions */                                                               \
    X(dropped_entries) /* for which there was no room */                                                \
    X(dropped_events)

typedef struct snd_facts {
#define SND_FACT_FIELD(name) uint64_t name;
    SND_FACT_MAP(SND_FACT_FIELD)
#undef SND_FACT_FIELD
    snd_samples_numbers sampled; /* the same samples by state, for those who say why threads waited */
} snd_facts;

/* SND_NO_DATA where the threads or regions that were asked for are not there. */
SND_MUST_USE snd_status snd_facts_make(const snd_profile *profile, const snd_view_options *options, snd_facts *out);

/* How long code of the program's own was seen: samples with a line of it somewhere on their stack, running or waiting,
 * but not for a processor; or, without samples, its functions themselves. */
SND_MUST_USE snd_status snd_own_time(const snd_profile *profile, uint64_t *ns);

#endif
