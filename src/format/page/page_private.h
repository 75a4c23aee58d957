/* What the files of the report page share. */
#ifndef SND_FORMAT_PAGE_PRIVATE_H
#define SND_FORMAT_PAGE_PRIVATE_H

#include "format/page/page.h"
#include "format/stacks/gzip.h"
#include "view/core/own_code.h"

/* ---- text on its way into a page ---- */

/* Append to `gzip.bytes` freely, and call snd_page_pack_flush now and then. Not thread-safe. */
typedef struct snd_page_pack {
    snd_gzip gzip;
    snd_buffer *out;
    unsigned char rest[3]; /* bytes that do not fill a group of base64 yet */
    unsigned rest_count;
} snd_page_pack;

/* Takes the text in once there is enough of it. */
SND_MUST_USE snd_status snd_page_pack_flush(snd_page_pack *self);

/* Appends to the text: "a," for every number of a list, without a comma before the first. */
void snd_page_put_whole(snd_page_pack *self, uint64_t value, int is_first);
void snd_page_put_signed(snd_page_pack *self, int64_t value, int is_first);
void snd_page_put_real(snd_page_pack *self, double value, int is_first);

/* Which nodes the page has, by their numbers there. */
typedef struct snd_page_nodes {
    uint32_t *of_node; /* per node of the profile: its number, or that of the nearest node above it that is there */
    uint32_t *kept;    /* the other way round */
    uint32_t kept_count;
    uint32_t *of_site; /* the same for sites; SND_NONE: no node is of it */
    uint32_t *sites;
    uint32_t site_count;
} snd_page_nodes;

/* A page in the making. */
typedef struct snd_page_maker {
    const snd_profile *profile;
    const snd_profile *before; /* what it is compared with; NULL: nothing */
    const snd_page_options *options;
    snd_page_pack pack;
    snd_own own; /* whose source texts are shown: also with all_code, only the program's */
    snd_intern *texts;
    snd_page_nodes nodes;
    uint64_t pruned_events;
    uint32_t pruned_rows;
    snd_buffer pruned; /* what was left out, in words */
} snd_page_maker;

/* Chooses the nodes: all, or of too many those with the largest shares of time or memory. */
void snd_page_choose_nodes(const snd_profile *profile, uint32_t limit, snd_page_nodes *out);

/* Each writes its keys with a comma after each. */
void snd_page_put_nodes(snd_page_maker *self);
void snd_page_put_series(snd_page_maker *self);
void snd_page_put_events(snd_page_maker *self);
void snd_page_put_tables(snd_page_maker *self);
void snd_page_put_diff(snd_page_maker *self);

/* Adds a sentence about what was left out. */
void snd_page_say_pruned(snd_page_maker *self, const char *format, ...) SND_PRINTF(2, 3);

/* The page as it was built from web/, with the line below in it; empty in a build without it. Generated. */
extern const char snd_page_template[];
extern const size_t snd_page_template_size;
#define SND_PAGE_PLACE "<!--sonde-data-->"

#endif
