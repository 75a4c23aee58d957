/* Looking at a block when it is allocated and when it is freed, and at a copy. */
#include "probe/memory/memory_private.h"

#include "os/clock.h"
#include "os/native/got.h"

#include <math.h>
#include <string.h>

#define REST_BYTES (1 << 16) /* from one look whether something is measured to the next, while nothing is */
#define COPY_FACTOR 2        /* copies are sampled less often than blocks, by bytes */
#define DEFERRED 1024u
#define CLOCK_USES 8u
#define LARGE 4096u

_Thread_local snd_memory_local snd_memory_mine;
_Atomic int64_t snd_memory_floor;

/* Blocks that were freed while their thread was in here: a signal handler's. */
static _Atomic uintptr_t deferred[DEFERRED];
static _Atomic uint32_t deferred_count;

/* ---- who may come in ---- */

/* 0: this thread is in here already. The lock says so, too, where the sampler has it. */
static int
enter(snd_memory_local *mine)
{
    if (mine->busy != 0)
        return 0;
    mine->busy = 1;
    atomic_signal_fence(memory_order_seq_cst);
    if (snd_lock_take(&snd_sample_state.lock))
        return 1;
    mine->busy = 0;
    return 0;
}

static void
leave(snd_memory_local *mine)
{
    snd_lock_leave(&snd_sample_state.lock);
    atomic_signal_fence(memory_order_seq_cst);
    mine->busy = 0;
}

static void
defer(uintptr_t block)
{
    uint32_t place = atomic_fetch_add(&deferred_count, 1);
    if (place < DEFERRED)
        SND_SET(deferred[place], block);
}

static void
remove_deferred(uint64_t now_ns)
{
    if (SND_GET(deferred_count) == 0)
        return;
    uint32_t count = atomic_exchange(&deferred_count, 0);
    for (uint32_t i = 0; i < count && i < DEFERRED; i++) {
        snd_memory_kept kept;
        if (snd_memory_blocks_remove(&snd_memory.blocks, atomic_exchange(&deferred[i], 0), &kept))
            snd_memory_remove_block(&kept, now_ns);
    }
}

/* ---- when ---- */

/* Where every block is sampled, the clock is read for every eighth small one: what comes after a pause may be seen
 * some small blocks late. */
static uint64_t
now_for(size_t size)
{
    if (snd_memory.options.exact && size < LARGE && ++snd_memory.clock_uses % CLOCK_USES != 0)
        return snd_memory.clock.last;
    return snd_clock_run(&snd_memory.clock);
}

/* ---- how long until the next one ---- */

/* Bytes come like the clicks of a counter: whether one is hit does not depend on what was hit before. */
static int64_t
next_step(snd_memory_local *mine, double mean)
{
    mine->random ^= mine->random << 13;
    mine->random ^= mine->random >> 7;
    mine->random ^= mine->random << 17;
    double chance = (double)((mine->random >> 11) + 1) * 0x1p-53; /* above 0, at most 1 */
    return (int64_t)(-log(chance) * mean);
}

static int64_t
next_block(snd_memory_local *mine)
{
    return snd_memory.options.exact ? 0 : next_step(mine, (double)snd_memory.options.interval);
}

static void
next_copy(snd_memory_local *mine)
{
    mine->copy_step = mine->copy_left = next_step(mine, (double)snd_memory.options.interval * COPY_FACTOR);
}

/* A thread that meets this measurement for the first time. */
static void
adopt(snd_memory_local *mine, uint32_t serial)
{
    if (mine->random == 0)
        mine->random = (uint64_t)(uintptr_t)mine * 0x9E3779B97F4A7C15u ^ snd_clock_counter() ^ 1;
    mine->serial = serial;
    mine->row = SND_NONE;
    mine->left = next_block(mine);
    next_copy(mine);
}

/* Whether anything is to be done; if not, when to ask again. */
static int
is_wanted(snd_memory_local *mine)
{
    uint32_t serial = SND_GET(snd_memory.serial);

    if (serial == 0 || mine->exempt != 0) {
        mine->left = mine->copy_left = REST_BYTES;
        return 0;
    }
    if (mine->serial != serial)
        adopt(mine, serial);
    return 1;
}

/* ---- where ---- */

/* The tree knows it; but most frames were met a moment ago. */
static uint32_t
step_to(uint32_t base, uint32_t parent, const snd_sample_frame *frame, const snd_sample_frame *caller)
{
    uint64_t mixed = ((uint64_t)frame->code ^ (uint64_t)parent << 32 ^ (uint32_t)frame->offset) * 0x9E3779B97F4A7C15u;
    snd_memory_step *step = &snd_memory.steps[mixed >> 56];
    int is_call;

    if (step->code == frame->code && step->offset == frame->offset && step->parent == parent)
        return step->node;
    uint32_t node = snd_sample_add_frame(&snd_sample_state, base, parent, frame, caller, &is_call);
    /* two imports in one line differ by their caller's instruction */
    if (node != parent && node != SND_NONE && !snd_sample_state.tree.nodes[node].is_import)
        *step = (snd_memory_step){frame->code, frame->offset, parent, node};
    return node;
}

/* Most stacks begin as the one before did. */
static uint32_t
node_of_frames(uint32_t base, const snd_sample_stack *stack)
{
    const snd_sample_frame *outermost = &stack->frames[stack->count - 1];
    uint32_t known = 0, most = stack->count < snd_memory.last_count ? stack->count : snd_memory.last_count;

    if (snd_memory.last_base != base)
        most = 0;
    while (known < most && snd_memory.last_frames[known].code == outermost[-(ptrdiff_t)known].code &&
           snd_memory.last_frames[known].offset == outermost[-(ptrdiff_t)known].offset)
        known++;
    uint32_t node = known == 0 ? base : snd_memory.last_nodes[known - 1];
    for (uint32_t i = known; i < stack->count; i++) {
        const snd_sample_frame *frame = outermost - i;
        node = step_to(base, node, frame, i == 0 ? NULL : frame + 1);
        snd_memory.last_frames[i] = *frame;
        snd_memory.last_nodes[i] = node;
    }
    snd_memory.last_base = base;
    snd_memory.last_count = stack->count;
    return node;
}

static uint32_t
row_here(snd_memory_local *mine, uint64_t now_ns)
{
    if (mine->row == SND_NONE)
        mine->row = snd_sample_row_here(now_ns);
    return mine->row;
}

/* The node of the calling thread, as deep as it can be told. SND_NONE when memory runs out. */
static uint32_t
node_here(snd_memory_local *mine, uint64_t now_ns)
{
    snd_sampler *sampler = &snd_sample_state;
    uint32_t row = row_here(mine, now_ns);
    if (row == SND_NONE)
        return SND_NONE;
    uint32_t base = snd_sample_base(sampler, row, snd_sample_region(sampler, row));
    int ignored;
    (void)snd_sample_walk_own(sampler, &snd_memory.stack);
    if (snd_memory.stack.count == 0)
        return snd_sample_tree_other(&sampler->tree, base, "[native code]");
    if (snd_memory.stack.collects != 0)
        return snd_sample_stack_node(sampler, base, &snd_memory.stack, &ignored);
    if (snd_memory.stack.is_cut)
        base = snd_sample_tree_other(&sampler->tree, base, "[deeper]");
    uint32_t node = node_of_frames(base, &snd_memory.stack);
    return node == base ? snd_sample_tree_other(&sampler->tree, base, "[sonde]") : node;
}

void
snd_memory_forget_stack(void)
{
    snd_memory.last_count = 0;
    memset(snd_memory.steps, 0, sizeof snd_memory.steps);
}

/* ---- what the hooks call ---- */

static int
keep(void *block, const snd_memory_kept *kept)
{
    if ((kept->flags & SND_BLOCK_MAP) != 0)
        return snd_memory_maps_add(&snd_memory.maps, (uintptr_t)block, kept);
    return snd_memory_blocks_add(&snd_memory.blocks, (uintptr_t)block, kept);
}

static void
take_locked(snd_memory_local *mine, void *block, size_t size, uint32_t flags)
{
    uint64_t now = now_for(size);
    snd_memory_kept kept = {.size = size, .at_ns = now, .flags = flags};
    double share;

    remove_deferred(now);
    kept.node = node_here(mine, now);
    kept.weight = (flags & SND_BLOCK_MAP) != 0 ? size : snd_memory_weight(size, &share);
    if (kept.node == SND_NONE || !keep(block, &kept))
        atomic_fetch_add_explicit(&snd_memory.unseen, kept.weight, memory_order_relaxed);
    else
        snd_memory_add_block(kept.node, &kept, now);
    snd_memory_tick(now);
}

static void
take(snd_memory_local *mine, void *block, size_t size, uint32_t flags)
{
    if (mine->busy != 0) { /* a signal handler's; where the sampler has the lock, it is the sampler's own */
        double share;
        atomic_fetch_add_explicit(&snd_memory.unseen, snd_memory_weight(size, &share), memory_order_relaxed);
    }
    if (!enter(mine))
        return;
    if (SND_GET(snd_memory.serial) == mine->serial)
        take_locked(mine, block, size, flags);
    leave(mine);
}

void
snd_memory_take(void *block, size_t size, int is_python)
{
    snd_memory_local *mine = &snd_memory_mine;
    uint32_t flags = is_python || mine->python != 0 ? SND_BLOCK_PYTHON : 0;
    int is_known = mine->serial == SND_GET(snd_memory.serial);

    if (block == NULL) {
        mine->left += (int64_t)size;
        return;
    }
    if (!is_wanted(mine))
        return;
    if (!is_known && !snd_memory.options.exact && (mine->left -= (int64_t)size) >= 0)
        return; /* the count was another's: the block has its chance with the new one */
    take(mine, block, size, flags);
    mine->left = next_block(mine);
}

void
snd_memory_take_map(void *block, size_t size)
{
    snd_memory_local *mine = &snd_memory_mine;

    if (mine->quiet != 0 || !is_wanted(mine))
        return;
    if (mine->inside == 0)
        take(mine, block, size, SND_BLOCK_MAP);
    else
        atomic_fetch_add_explicit(&snd_memory.unseen, size, memory_order_relaxed);
}

int
snd_memory_unmap(void *start, size_t size)
{
    snd_memory_local *mine = &snd_memory_mine;

    if (mine->exempt != 0 || mine->quiet != 0 || mine->inside != 0 || !enter(mine))
        return 0;
    int any = snd_memory_maps_cut(&snd_memory.maps, (uintptr_t)start, size, snd_clock_run(&snd_memory.clock));
    leave(mine);
    return any;
}

void
snd_memory_gone(void *block)
{
    snd_memory_kept kept;

    snd_memory_lift(block, &kept);
}

void
snd_memory_lift(void *block, snd_memory_kept *kept)
{
    snd_memory_local *mine = &snd_memory_mine;

    kept->node = SND_NONE;
    if (mine->exempt != 0)
        return;
    if (!enter(mine)) {
        defer((uintptr_t)block);
        return;
    }
    if (snd_memory_blocks_remove(&snd_memory.blocks, (uintptr_t)block, kept))
        snd_memory_remove_block(kept, now_for(kept->size));
    leave(mine);
}

void
snd_memory_put_back(void *block, const snd_memory_kept *kept)
{
    snd_memory_local *mine = &snd_memory_mine;

    if (!enter(mine))
        return;
    if (snd_memory_blocks_add(&snd_memory.blocks, (uintptr_t)block, kept))
        snd_memory_return_block(kept, now_for(kept->size));
    leave(mine);
}

static void
take_copy_locked(snd_memory_local *mine, size_t size, uint64_t since)
{
    uint64_t now = snd_clock_run(&snd_memory.clock);
    uint32_t node = node_here(mine, now);
    snd_memory_values *values = node == SND_NONE ? NULL : snd_memory_values_of(node, now);

    if (values == NULL)
        return;
    double spread = since > size ? (double)(since - size) : 0; /* of these it is not known who copied them */
    values->copied += since;
    values->copies += (double)since / (double)(size == 0 ? 1 : size);
    values->copy_variance += spread * spread;
    snd_memory.copied += since;
    snd_memory.copy_variance += spread * spread;
}

void
snd_memory_take_copy(size_t size)
{
    snd_memory_local *mine = &snd_memory_mine;
    int is_known = mine->serial == SND_GET(snd_memory.serial);

    if (!is_wanted(mine))
        return;
    if (!is_known || mine->inside != 0)
        return; /* in a handler: the next copy is sampled in its place */
    uint64_t since = (uint64_t)(mine->copy_step - mine->copy_left);
    if (enter(mine)) {
        if (SND_GET(snd_memory.serial) == mine->serial)
            take_copy_locked(mine, size, since);
        leave(mine);
    }
    next_copy(mine);
}

void
snd_memory_exempt(void)
{
    snd_memory_mine.exempt = 1;
}

void
snd_memory_hold(int on)
{
    snd_memory_mine.busy = on != 0;
    if (on)
        snd_got_before_fork();
    else
        snd_got_after_fork();
}
