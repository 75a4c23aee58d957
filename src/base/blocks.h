/* Numbered things that never move, in blocks of doubling size: block b holds SND_FIRST_BLOCK << b of them. */
#ifndef SND_BASE_BLOCKS_H
#define SND_BASE_BLOCKS_H

#include "base/attr.h"

#define SND_FIRST_BLOCK 64u

/* The block in which a number stands, and where in it. */
static inline uint32_t
snd_block_of(uint32_t id, uint32_t *offset)
{
    uint32_t block = 31u - (uint32_t)__builtin_clz(id / SND_FIRST_BLOCK + 1);
    *offset = id - SND_FIRST_BLOCK * ((1u << block) - 1);
    return block;
}

static inline size_t
snd_block_room(uint32_t block)
{
    return (size_t)SND_FIRST_BLOCK << block;
}

#endif
