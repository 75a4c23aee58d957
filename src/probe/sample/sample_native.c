/* Native code in samples: symbols, and the frames between the Python ones. */
#include "probe/sample/sample_private.h"

#include "base/alloc.h"
#include "os/native/native.h"

struct snd_sample_native {
    snd_native *native;
    snd_map sites; /* address and turn to site */
};

snd_sample_native *
snd_sample_native_new(int with_callers)
{
    snd_sample_native *self = snd_calloc(1, sizeof *self);

    if (self != NULL && snd_native_new(with_callers ? NULL : "", &self->native) != SND_OK) {
        snd_free(self);
        return NULL;
    }
    return self;
}

void
snd_sample_native_free(snd_sample_native *self)
{
    if (self == NULL)
        return;
    snd_native_free(self->native);
    snd_map_free(&self->sites);
    snd_free(self);
}

void
snd_sample_native_rest(snd_sample_native *self)
{
    if (self != NULL)
        snd_native_rest(self->native);
}

const char *
snd_sample_native_why_not(const snd_sample_native *self)
{
    return snd_native_why_not(self->native);
}

static uint32_t
site_of(const snd_native_place *place)
{
    return snd_site_add_placed(&(snd_profile_site){
        .kind = SND_SITE_NATIVE, .name = place->function, .file = place->file, .line = place->line, .detail = ""});
}

/* All sites of an address stand under its key, the outermost function first. SND_NONE; or, of code that was mapped just
 * now and nothing is known of yet, the site for this time: it is looked up again. */
static uint32_t
learn(snd_sample_native *self, uintptr_t pc)
{
    snd_native_place places[SND_NATIVE_PLACES];
    size_t count = 0;

    if (snd_native_describe(self->native, pc, places, &count) != SND_OK)
        return SND_NONE;
    if (!snd_native_is_code(self->native, pc))
        return site_of(&places[0]);
    for (size_t i = count; i-- > 0;) {
        uint32_t site = site_of(&places[i]);
        if (site != SND_NONE && snd_map_add(&self->sites, pc, site) != SND_OK)
            break; /* it is looked up again */
    }
    return SND_NONE;
}

uint32_t
snd_sample_native_child(snd_sample_native *self, snd_sample_tree *tree, uint32_t parent, uintptr_t pc)
{
    uint32_t cursor = 0, node = parent;
    uint32_t site = snd_map_next(&self->sites, pc, &cursor);

    if (site == SND_MAP_NONE) {
        uint32_t passing = learn(self, pc);
        if (passing != SND_NONE)
            return snd_sample_tree_child(tree, node, passing);
        cursor = 0;
        site = snd_map_next(&self->sites, pc, &cursor);
    }
    for (; site != SND_MAP_NONE; site = snd_map_next(&self->sites, pc, &cursor))
        node = snd_sample_tree_child(tree, node, site);
    return node;
}

/* The native frames of an answer, innermost first: addresses; how many. */
static size_t
walk_native(snd_sample_native *self, const snd_sample_slot *slot, uint64_t *out, size_t limit, snd_unwind_end *end)
{
    snd_stack_copy copy = {slot->native, slot->native_start, slot->native_size};

    return snd_native_unwind(self->native, &slot->registers, &copy, out, limit, end);
}

/* ---- native and Python frames of one answer in one path ----
 *
 * Each run of the evaluation loop is one native frame and stands for one or more Python frames, of which the outermost
 * is marked. So the two stacks are taken apart into runs, and put together from the innermost on: a native stack that
 * was cut off at its outer end still fits. */

#define NATIVE_DEPTH 256u

typedef struct stitch {
    snd_sampler *sampler;
    const snd_sample_stack *stack;
    uint32_t next; /* Python frame behind the next one to add; frames are added from the outermost on */
    uint32_t base, node;
    int is_call; /* the last Python frame's instruction calls something */
} stitch;

static uint32_t
count_runs(const snd_sample_stack *stack)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < stack->count; i++)
        count += stack->frames[i].is_entry != 0;
    /* frames whose outermost one was cut off are a run, too */
    return count + (stack->count != 0 && !stack->frames[stack->count - 1].is_entry);
}

static void
add_frame(stitch *self, const snd_sample_frame *frame)
{
    const snd_sample_frame *caller = self->next + 1 < self->stack->count ? frame + 1 : NULL;

    self->node = snd_sample_add_frame(self->sampler, self->base, self->node, frame, caller, &self->is_call);
    if (self->next + 1 == self->stack->collects) {
        self->node = snd_sample_tree_other(&self->sampler->tree, self->node, SND_SITE_COLLECTION);
        self->is_call = 0;
    }
}

/* The Python frames of one run of the evaluation loop. */
static void
add_run(stitch *self)
{
    if (self->next == 0)
        return;
    add_frame(self, &self->stack->frames[--self->next]);
    while (self->next != 0 && !self->stack->frames[self->next - 1].is_entry)
        add_frame(self, &self->stack->frames[--self->next]);
}

static int
is_loop(const snd_sampler *self, uint64_t address)
{
    return self->python != NULL && snd_sample_is_in(self->python->loop, SND_SAMPLE_LOOPS, address);
}

/* The interpreter's own functions say nothing to a reader, but for the innermost, when that is a builtin at work. */
static void
add_native(stitch *self, uint64_t address, int is_innermost)
{
    snd_sampler *sampler = self->sampler;
    int is_interpreters = sampler->python != NULL && snd_sample_is_in(sampler->python->code, 2, address);

    if (is_interpreters && self->stack->count != 0 && !(is_innermost && self->is_call))
        return;
    self->node = snd_sample_native_child(sampler->native, &sampler->tree, self->node, address);
}

uint32_t
snd_sample_stitch(snd_sampler *self, uint32_t base, const snd_sample_slot *slot)
{
    uint64_t addresses[NATIVE_DEPTH];
    snd_unwind_end end;
    size_t count = walk_native(self->native, slot, addresses, NATIVE_DEPTH, &end);
    stitch made = {self, &slot->stack, slot->stack.count, base, base, 0};
    uint32_t runs = count_runs(&slot->stack), loops = 0;

    for (size_t i = 0; i < count; i++)
        loops += is_loop(self, addresses[i]) != 0;
    self->has_jit |= slot->stack.jit.end != 0;
    if (end == SND_UNWIND_WHOLE && runs != 0 && !slot->stack.is_cut && !self->has_jit) {
        self->stitched++;
        self->misfits += loops < runs || loops > runs + 1; /* a run may have no frame yet, or no more */
    }
    if (slot->stack.is_cut)
        made.node = snd_sample_tree_other(&self->tree, base, "[deeper]");
    for (; runs > loops; runs--)
        add_run(&made);
    for (size_t i = count; i-- > 0;) {
        if (is_loop(self, addresses[i])) {
            if (loops-- <= runs)
                add_run(&made);
        }
        else if (self->python != NULL && snd_sample_is_evaluating(self->python, &slot->stack, addresses[i]))
            continue; /* a handler of the loop's, or what it compiled */
        else if (made.next != slot->stack.count || slot->stack.count == 0) /* what started Python is not of interest */
            add_native(&made, addresses[i], i == 0);
    }
    return made.node;
}
