/* What one sample of a thread finds, and what the sampler must know of the interpreter. */
#ifndef SND_PROBE_SAMPLE_STACK_H
#define SND_PROBE_SAMPLE_STACK_H

#include "os/native/symbols.h"

#define SND_SAMPLE_LOOPS 8u    /* pieces of the evaluation loop, at most */
#define SND_SAMPLE_DEPTH 1024u /* frames that are kept, from the innermost on */

typedef struct snd_sample_frame {
    uintptr_t code;          /* the code object's address */
    int32_t offset;          /* of the instruction, in bytes from the code's first one; negative: not begun */
    uint32_t is_entry : 1;   /* the outermost frame of one run of the evaluation loop */
    uint32_t is_foreign : 1; /* of another interpreter, which does not tell when code dies */
} snd_sample_frame;

/* The frames of a thread, innermost first. */
typedef struct snd_sample_stack {
    uint32_t count;
    uint32_t is_cut;    /* there are more than were kept */
    uint32_t collects;  /* 1 + the frames, from the innermost on, that a garbage collection has called; 0: none runs */
    uintptr_t compiled; /* what the interpreter has made of the innermost frames, and runs; 0: none */
    snd_range jit;      /* its machine code; empty until `find_compiled` was asked */
    snd_sample_frame frames[SND_SAMPLE_DEPTH];
} snd_sample_stack;

/* Code as the sampler needs it, copied: it may be gone later. */
typedef struct snd_sample_code {
    char *name; /* owned by the caller of read_code, as the others are */
    char *file;
    uint32_t first_line;
    uint32_t unit_count;    /* instructions of 2 bytes each */
    uint32_t *lines;        /* per unit; 0: none */
    unsigned char *is_call; /* per unit: whether it calls something, SND_SAMPLE_CALL, or may, SND_SAMPLE_OPERATOR */
    uint32_t *callees;  /* per unit: where in `callee_texts` what it calls or imports is named; 0: not. May be NULL */
    char *callee_texts; /* each ends with a zero byte; the first is empty */
    int is_importer;    /* of the interpreter's own code that imports modules */
    int is_ours;        /* not to be shown */
    uint64_t mark;      /* as mark_code says */
} snd_sample_code;

void snd_sample_code_free(snd_sample_code *self); /* what it has, not itself */

#define SND_SAMPLE_CALL 1
#define SND_SAMPLE_OPERATOR 2 /* is the interpreter's own work unless native code runs */

#define SND_SAMPLE_OURS 1
#define SND_SAMPLE_LAUNCHER 2 /* what stands above this frame is not the program's either */

#define SND_SAMPLE_IMPORTER 1 /* helps to import */
#define SND_SAMPLE_IMPORTS 2  /* is what is called to import a module */

typedef void snd_sample_take_thread(void *context, uint32_t thread_id, uintptr_t state);

/* How to look into the interpreter. None of these may need the GIL, but for `prepare`. */
typedef struct snd_sample_interpreter {
    /* The calling thread's own frames. Async-signal-safe. `stack_end`: up to where the thread's C stack is known to be
     * readable; 0: unknown. `*state` is the thread's number for the interpreter; 0: it does not know the thread. */
    void (*walk_here)(snd_sample_stack *stack, uintptr_t stack_end, uintptr_t *state);

    /* The frames of another thread, which must not be trusted to stand still. 0: nothing that makes sense. */
    int (*walk_thread)(uint32_t thread_id, uintptr_t state, snd_sample_stack *stack);

    /* All threads that the interpreter knows. */
    void (*list_threads)(snd_sample_take_thread *take, void *context);

    /* Whether `code` is one, and what it says. Frees nothing; on 0 `*out` is as it was. */
    int (*read_code)(uintptr_t code, snd_sample_code *out);

    /* The machine code of what a thread ran a moment ago, for `compiled` of its stack; empty: it is gone. NULL: there
     * is none such. */
    snd_range (*find_compiled)(uintptr_t compiled);

    /* A number by which code is told from another one that comes to its address later; 0: there is no code. Asked for
     * code that dies without a word; NULL: there is none such. */
    uint64_t (*mark_code)(uintptr_t code);

    /* NULL where the others read memory as it lies. Else they cannot be trusted to: this takes the GIL and copies what
     * they then tell. Called before each tick, without the lock. */
    void (*prepare)(void);
    void (*finish)(void); /* on the thread that called prepare, before it ends */

    snd_range loop[SND_SAMPLE_LOOPS]; /* the evaluation loop's machine code; the rest is 0 */
    const snd_range *handlers;        /* what the loop calls where each instruction is a function: tail calls */
    uint32_t handler_count;
    snd_range code[2]; /* the interpreter's machine code, and the loader's, by which it finds its own variables */
    snd_range locks;   /* a futex in here is the GIL */
} snd_sample_interpreter;

#endif
