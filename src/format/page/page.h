/* Room: the report page. */
/* The report page: one HTML file with everything of one recording, or of two to compare, for a browser without a
 * network. The page itself is built from web/; what stands here puts the data into it. */
#ifndef SND_FORMAT_PAGE_H
#define SND_FORMAT_PAGE_H

#include "base/buffer.h"
#include "model/profile.h"

/* All zero: the usual. */
typedef struct snd_page_options {
    int no_source;        /* without any line of source text */
    uint32_t node_limit;  /* more nodes than this are folded into their callers; 0: the usual limit */
    uint64_t event_limit; /* the same for the events of either kind, which are joined */
} snd_page_options;

/* Whether this build has the page. */
int snd_page_exists(void);

/* What to do where it has not: one line. */
#define SND_PAGE_MISSING \
    "this build of sonde has no report page, as it was built without npm; install node 20.19 or later and rebuild"

/* Appends the page with the data of one or two profiles, each with its events where it has any. SND_NO_DATA where
 * snd_page_exists says no. */
SND_MUST_USE snd_status snd_page_write(const snd_profile *const *profiles, unsigned count,
                                       const snd_page_options *options, snd_buffer *out);

/* Appends what stands in the page for one profile: JSON, packed by gzip, in base64. With `before`, which may be NULL,
 * it has the comparison with that one too. */
SND_MUST_USE snd_status snd_page_data(const snd_profile *profile, const snd_profile *before,
                                      const snd_page_options *options, snd_buffer *out);

#endif
