/* What one call of an operator does, by its site. */
#include "probe/op/op.h"

#include "base/alloc.h"
#include "base/blocks.h"
#include "probe/core/snapshot.h"

#define BLOCKS 15

typedef enum known { UNKNOWN, BEING_WRITTEN, KNOWN } known;

typedef struct entry {
    snd_op_facts facts;
    _Atomic int known; /* readers look at the facts when they are KNOWN */
} entry;

static _Atomic(entry *) blocks[BLOCKS];

/* NULL: nobody has needed this block yet. */
static entry *
find_entry(uint32_t site)
{
    uint32_t offset, block = snd_block_of(site, &offset);
    entry *entries = atomic_load_explicit(&blocks[block], memory_order_acquire);

    return entries == NULL ? NULL : &entries[offset];
}

/* NULL when memory runs out. */
static entry *
make_entry(uint32_t site)
{
    entry *known_entry = find_entry(site);
    if (known_entry != NULL)
        return known_entry;
    uint32_t offset, block = snd_block_of(site, &offset);
    entry *made = snd_calloc(snd_block_room(block), sizeof *made);
    entry *none = NULL;
    if (made != NULL && !atomic_compare_exchange_strong(&blocks[block], &none, made))
        snd_free(made); /* another thread was faster */
    return find_entry(site);
}

void
snd_op_set_facts(uint32_t site, const snd_op_facts *facts)
{
    entry *at = site < SND_SITE_LIMIT ? make_entry(site) : NULL;
    int unknown = UNKNOWN;

    if (at == NULL || !atomic_compare_exchange_strong(&at->known, &unknown, BEING_WRITTEN))
        return;
    at->facts = *facts;
    atomic_store_explicit(&at->known, KNOWN, memory_order_release);
}

int
snd_op_facts_of(uint32_t site, snd_op_facts *out)
{
    const entry *at = site < SND_SITE_LIMIT ? find_entry(site) : NULL;

    if (at == NULL || atomic_load_explicit(&at->known, memory_order_acquire) != KNOWN)
        return 0;
    *out = at->facts;
    return 1;
}

static snd_status
put_op(snd_snapshot *self, snd_profile *profile, uint32_t site, uint32_t node, uint64_t count)
{
    snd_op_facts facts;

    if (profile->sites[profile->nodes[node].site].kind != SND_SITE_OP || !snd_op_facts_of(site, &facts))
        return SND_OK;
    const snd_number numbers[] = {
        {SND_METRIC_OP_READ, 0, {facts.read_bytes * count}},
        {SND_METRIC_OP_WRITTEN, 0, {facts.written_bytes * count}},
        {SND_METRIC_OP_COPIES, 0, {facts.copies * count}},
        {SND_METRIC_OP_CASTS, 0, {facts.casts * count}},
        {SND_METRIC_OP_FLOPS, 0, {.real = facts.flops * (double)count}},
    };
    /* without a formula the last is not there */
    return snd_snapshot_put_numbers(self, profile, node, numbers, facts.flops > 0 ? 5 : 4);
}

uint32_t
snd_op_site(const snd_profile_site *site, const snd_op_facts *facts)
{
    snd_profile_site op = *site;
    op.kind = SND_SITE_OP;
    snd_snapshot_op_putter = put_op;
    uint32_t id = snd_site_add_placed(&op);
    if (id != SND_NONE && facts != NULL)
        snd_op_set_facts(id, facts);
    return id;
}

SND_PROBE_ON_TRACKS(snd_op_probe, "op", wishes->ops, NULL)
