/* What the files of the sampler share. */
#ifndef SND_PROBE_SAMPLE_PRIVATE_H
#define SND_PROBE_SAMPLE_PRIVATE_H

#include "os/lock.h"
#include "os/native/unwind.h"
#include "os/task.h"
#include "probe/sample/sample.h"
#include "probe/sample/sample_code.h"
#include "probe/sample/sample_signal.h"
#include "probe/sample/sample_tree.h"

#include <pthread.h>

#define SND_SAMPLE_NO_DELAY UINT64_MAX

/* ---- native code ---- */

/* On threads with files of ours only. */
typedef struct snd_sample_native snd_sample_native;

/* `with_callers`: not only names, for which libdw is loaded. NULL when memory runs out. */
snd_sample_native *snd_sample_native_new(int with_callers);
void snd_sample_native_free(snd_sample_native *self); /* NULL is allowed */

/* Has no files open until it is asked again; NULL is allowed. */
void snd_sample_native_rest(snd_sample_native *self);

/* Why callers in native code are not known; NULL when they are. */
const char *snd_sample_native_why_not(const snd_sample_native *self);

/* The node of the function at an address, and of those that were compiled into it, below `parent`. */
uint32_t snd_sample_native_child(snd_sample_native *self, snd_sample_tree *tree, uint32_t parent, uintptr_t pc);

/* ---- the sampler ---- */

/* A living thread as the sampler knows it. */
typedef struct snd_sample_thread {
    snd_task task;
    uint32_t row;
    uint32_t interval;   /* ticks from one sample of it to the next */
    uint32_t next_tick;  /* the number of that tick */
    uint32_t unanswered; /* ticks at which it had run since a question that has no answer yet */
    int is_ours;
    int is_quiet;                 /* what it waits for is not kept */
    int is_mute;                  /* it blocks our signal: read from outside until it answers */
    int is_asked, waits_for_tick; /* the question, for the kernel's */
    uint32_t tick_questions;      /* so many more are asked that way */
    int is_waiting;               /* when last seen */
    int seen_alive;               /* in the list of threads, when that was last read */
    uintptr_t state;              /* the interpreter's number for it; 0: none */
    uint64_t cpu_ns, wall_ns;     /* when last sampled */
    uint64_t pending_cpu_ns;      /* used, but not seen where */
    uint64_t pending_wait_ns;     /* waited, but not seen what for */
    uint64_t charged_wait_ns;     /* waited and charged, since it last moved */
    uint64_t ahead_ns; /* its CPU clock, read a moment later, is ahead of the wall clock: nothing that it waited */
    uint64_t delay_ns; /* SND_SAMPLE_NO_DELAY: not asked so far */
    unsigned wait_state;
    uint32_t wait_node, run_node; /* where it was last seen; SND_NONE: nowhere */
    snd_sample_slot *slot;        /* NULL: not needed so far */
} snd_sample_thread;

/* Everything the sampler has. `lock` guards all but the options and the atomics. */
typedef struct snd_sampler {
    snd_lock lock;
    snd_sample_options options;
    const snd_sample_interpreter *python; /* NULL: none */
    uint64_t origin_ns;
    uint64_t start_cpu_ns;    /* of the process, when sampling began */
    uint64_t measured_cpu_ns; /* of the process, up to the last pause */
    uint64_t stop_ns;         /* when sampling ended, and with it the life of each thread that was sampled */
    snd_sample_thread *threads;
    uint32_t thread_count, thread_capacity;
    snd_sample_tree tree;
    snd_sample_codes codes;
    snd_sample_native *native; /* NULL: not needed so far */
    snd_sample_stack scratch;
    uint64_t seen_cpu_ns; /* of all threads together, as far as their clocks were read */
    uint64_t own_cpu_ns;
    uint64_t weighed_ns; /* CPU time of the program's threads that samples stand for, and the sum of its squares */
    double weighed_ns2;
    _Atomic uint64_t missed; /* ticks that came too late, also without the lock */
    uint64_t interrupted, answers, answer_ticks;
    uint64_t stitched,
        misfits; /* whole native stacks, and those of them in which the loop did not run as often as Python's */
    uint64_t plain,
        plain_inside;      /* samples of plain Python instructions, and those of them in the loop's machine code */
    uint32_t other_row;    /* for what belongs to no thread; SND_NONE: not needed so far */
    _Atomic int is_late;   /* the current tick */
    int has_jit;           /* the interpreter compiles: nobody knows who called such code */
    int has_one_processor; /* the process */
    int shares_processor;  /* the sampler is on that of the one thread that runs */
    _Atomic int is_paused;
    _Atomic int is_reading; /* a thread is read from outside: code that dies waits for that */
} snd_sampler;

extern snd_sampler snd_sample_state;

static inline int
snd_sample_is_in(const snd_range *ranges, unsigned count, uintptr_t address)
{
    for (unsigned i = 0; i < count; i++)
        if (address >= ranges[i].start && address < ranges[i].end)
            return 1;
    return 0;
}

/* Whether the interpreter's machine code at `pc` runs Python: in the loop, in a handler, in what it compiled. */
static inline int
snd_sample_is_evaluating(const snd_sample_interpreter *python, const snd_sample_stack *stack, uintptr_t pc)
{
    return snd_sample_is_in(python->loop, SND_SAMPLE_LOOPS, pc) || snd_sample_is_in(&stack->jit, 1, pc) ||
           snd_sample_is_in(python->handlers, python->handler_count, pc);
}

/* The region that a row's thread is in; NULL: none, or nobody knows. And the node below which its stacks begin then. */
const snd_node *snd_sample_region(const snd_sampler *self, uint32_t row);
uint32_t snd_sample_base(snd_sampler *self, uint32_t row, const snd_node *region);

/* The calling thread's own frames, wherever it is: the program's signal handlers allocate, too. 0: the interpreter's
 * memory is not read, and there are none. */
int snd_sample_walk_own(const snd_sampler *self, snd_sample_stack *out);

/* The node of a Python frame below that of its caller; `base` is where the stack begins. Frames that are not to be
 * shown have none; those by which the interpreter imports a module are one. `caller` is NULL for the outermost. */
uint32_t snd_sample_add_frame(snd_sampler *self, uint32_t base, uint32_t node, const snd_sample_frame *frame,
                              const snd_sample_frame *caller, int *is_call);

/* The node of a stack below a root or region. `*leaf_calls`: its innermost instruction calls something, or a garbage
 * collection runs. */
uint32_t snd_sample_stack_node(snd_sampler *self, uint32_t parent, const snd_sample_stack *stack, int *leaf_calls);

/* The row of the calling thread; SND_NONE when memory runs out. Under the lock. */
uint32_t snd_sample_row_here(uint64_t now_ns);

/* Makes `native`, if it is not there. 0 when memory runs out. */
int snd_sample_need_native(snd_sampler *self);

/* The node of an answer with native frames, which stand between the Python frames that called them. */
uint32_t snd_sample_stitch(snd_sampler *self, uint32_t base, const snd_sample_slot *slot);

/* The threads of the process, under the lock. A pointer to one is good until one comes or goes. */
snd_sample_thread *snd_sample_find_thread(uint32_t thread_id); /* NULL: unknown */
void snd_sample_end_thread(snd_sample_thread *thread, uint64_t now_ns);
void snd_sample_forget_threads(void);

/* Lists them anew. `is_first`: what those that are new did before is not ours to tell. */
void snd_sample_refresh(uint64_t now_ns, int is_first);
void snd_sample_refresh_if_needed(uint64_t now_ns);

/* Calls the function under the lock, on a thread with files of ours: by one that does not have the lock. */
void snd_sample_with_files(void (*function)(uintptr_t argument), uintptr_t argument);

/* Takes a sample of a thread; 0 when it is gone. Under the lock. */
int snd_sample_observe(snd_sampler *self, snd_sample_thread *thread, uint64_t now_ns, int *has_moved);

/* What the calling thread ran, and nobody saw where, stands for the place where it is now: in a system call. */
void snd_sample_charge_here(void);

/* Takes an answer that has come, if there is one. Under the lock. */
void snd_sample_take_answer(snd_sampler *self, snd_sample_thread *thread, uint64_t now_ns);

/* The listener is told: a thread of the sampler's is about to work, a code object is gone (under the lock). */
void snd_sample_tell_before_tick(void);
void snd_sample_tell_code_gone(void);

/* Asks what GPUs do, from resume to suspend, if there is one at the start. By threads with the program's files. */
void snd_sample_gpu_start(void);
void snd_sample_gpu_resume(void);
void snd_sample_gpu_suspend(void);
void snd_sample_gpu_stop(void);

/* A question that waits for the kernel's tick is taken back. Under the lock. */
void snd_sample_unask(snd_sample_thread *thread);

/* What a thread used and nobody saw where. Under the lock. */
void snd_sample_settle(snd_sampler *self, snd_sample_thread *thread, uint64_t now_ns);

#endif
