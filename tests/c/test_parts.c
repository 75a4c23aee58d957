/* The bytes of a process in a merged recording: whole, cut off and changed. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "fixture_merge.h"
#include "model/merge.h"
#include "model/processes.h"
#include "store/merge/parts.h"

#include <stdlib.h>
#include <string.h>

/* A sum of two processes, and the part of the second. */
typedef struct summed {
    snd_profile *profiles[2];
    snd_merger *merger;
    snd_buffer part;
    snd_metric metrics[SND_METRIC_COUNT_OF];
} summed;

static void
make_sum(summed *self)
{
    uint32_t id;

    *self = (summed){.merger = snd_merger_new()};
    REQUIRE(self->merger != NULL);
    for (unsigned i = 0; i < SND_METRIC_COUNT_OF; i++)
        self->metrics[i] = (snd_metric)i;
    for (uint32_t i = 0; i < 2; i++) {
        self->profiles[i] = random_profile(900 + i);
        snd_process process = snd_process_describe(self->profiles[i]);
        REQUIRE(snd_merger_add_process(self->merger, &process, &id) == SND_OK);
        for (uint32_t k = 0; k < self->profiles[i]->track_count; k++)
            REQUIRE(snd_merger_add_track(self->merger, id, &self->profiles[i]->tracks[k]) == SND_OK);
    }
    REQUIRE(snd_merger_start(self->merger) == SND_OK);
    for (uint32_t i = 0; i < 2; i++) {
        const snd_profile *profile = self->profiles[i];
        uint32_t *sites = malloc((profile->site_count + 1u) * sizeof *sites);
        uint32_t *nodes = malloc((profile->node_count + 1u) * sizeof *nodes);
        REQUIRE(sites != NULL && nodes != NULL);
        REQUIRE(snd_merger_add(self->merger, i, profile, sites, nodes) == SND_OK);
        if (i == 1)
            snd_part_encode(profile, self->merger, sites, nodes, &self->part);
        free(sites);
        free(nodes);
    }
    REQUIRE(snd_merger_finish(self->merger) == SND_OK && snd_buffer_status(&self->part) == SND_OK);
}

static void
free_sum(summed *self)
{
    snd_profile_free(self->profiles[0]);
    snd_profile_free(self->profiles[1]);
    snd_merger_free(self->merger);
    snd_buffer_free(&self->part);
}

static snd_status
decode(const summed *self, const void *data, size_t size, snd_profile **out)
{
    snd_part_reading with = {snd_merger_sum(self->merger), 1, self->metrics, SND_METRIC_COUNT_OF};
    uint32_t *nodes = NULL;
    snd_status status = snd_part_decode(&with, data, size, out, &nodes);

    snd_free(nodes);
    return status;
}

static void
a_part_comes_back_as_it_was(void)
{
    snd_profile *back = NULL;
    summed sum;

    make_sum(&sum);
    REQUIRE(decode(&sum, sum.part.data, sum.part.size, &back) == SND_OK);
    CHECK(profiles_are_equal(sum.profiles[1], back));
    CHECK(memory_is_equal(sum.profiles[1], back));
    snd_profile_free(back);
    free_sum(&sum);
}

static void
a_part_that_is_cut_off_is_damaged(void)
{
    summed sum;

    make_sum(&sum);
    for (size_t size = 0; size < sum.part.size; size += 1 + size / 64) {
        snd_profile *back = NULL;
        char *copy = malloc(size + 1); /* of that size: a look beyond it is seen */
        REQUIRE(copy != NULL);
        memcpy(copy, sum.part.data, size);
        CHECK(decode(&sum, copy, size, &back) == SND_DAMAGED && back == NULL);
        free(copy);
    }
    snd_buffer_char(&sum.part, 0);
    snd_profile *back = NULL;
    CHECK(decode(&sum, sum.part.data, sum.part.size, &back) == SND_DAMAGED); /* nothing may follow it */
    free_sum(&sum);
}

static void
a_part_with_other_bytes_is_damaged_or_something_else(void)
{
    static const unsigned char flips[] = {1, 0x7f, 0x80, 0xff};
    unsigned damaged = 0, tried = 0;
    summed sum;

    make_sum(&sum);
    for (size_t at = 0; at < sum.part.size; at += 1 + at / 256)
        for (size_t k = 0; k < sizeof flips; k++) {
            snd_profile *back = NULL;
            sum.part.data[at] = (char)((unsigned char)sum.part.data[at] ^ flips[k]);
            snd_status status = decode(&sum, sum.part.data, sum.part.size, &back);
            CHECK(status == SND_OK || status == SND_DAMAGED);
            damaged += status == SND_DAMAGED;
            tried++;
            snd_profile_free(back);
            sum.part.data[at] = (char)((unsigned char)sum.part.data[at] ^ flips[k]);
        }
    CHECK(damaged > tried / 10);
    free_sum(&sum);
}

static snd_status
try_to_decode(void *context)
{
    const summed *self = context;
    snd_profile *back = NULL;
    snd_status status = decode(self, self->part.data, self->part.size, &back);

    snd_profile_free(back);
    return status;
}

static void
a_part_without_memory_leaves_nothing(void)
{
    summed sum;

    make_sum(&sum);
    CHECK(fail_each_allocation(try_to_decode, &sum) > 20);
    free_sum(&sum);
}

int
main(void)
{
    RUN(a_part_comes_back_as_it_was);
    RUN(a_part_that_is_cut_off_is_damaged);
    RUN(a_part_with_other_bytes_is_damaged_or_something_else);
    RUN(a_part_without_memory_leaves_nothing);
    return check_report();
}
