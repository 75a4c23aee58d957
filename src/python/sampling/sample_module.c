/* The sampler's knowledge of this interpreter. */
#include "python/sampling/sample_module.h"

#include "collect/session.h"
#include "os/peek.h"
#include "probe/sample/sample.h"
#include "python/compat/compat_stack.h"
#include "python/module/threads.h"

#include <string.h>

/* One a process, as the sampler is. */
static snd_sample_interpreter interpreter;

static int
ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);

    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

/* What runs a program, a statement of a notebook or a cell: who called that is of no interest. */
static int
is_launcher(const snd_sample_code *code, int is_own)
{
    if (is_own)
        return strcmp(code->name, "Program.run") == 0 || strcmp(code->name, "_Magics._measure") == 0;
    return strcmp(code->name, "InteractiveShell.run_code") == 0 &&
           ends_with(code->file, "/IPython/core/interactiveshell.py");
}

/* Frames of this package are not the program's. */
static int
mark_ours(snd_sample_code *code)
{
    int is_own = snd_is_own_file(code->file);

    if (is_launcher(code, is_own))
        code->is_ours = SND_SAMPLE_LAUNCHER;
    else if (is_own)
        code->is_ours = SND_SAMPLE_OURS;
    return 1;
}

static int
read_code(uintptr_t code, snd_sample_code *out)
{
    return snd_stack_read_code(code, out) && mark_ours(out);
}

static int
read_safe_code(uintptr_t code, snd_sample_code *out)
{
    return snd_sample_safe_code(code, out) && mark_ours(out);
}

/* Asked once: an interpreter does not change. */
static int
is_readable(void)
{
    static int answer = -1;

    if (answer < 0)
        answer = snd_peek_works() && snd_stack_is_as_compiled() && snd_sample_check();
    return answer;
}

static void
use_safe_way(snd_sample_options *options)
{
    options->safe_frames = options->no_signals = 1;
    interpreter.prepare = snd_sample_safe_prepare;
    interpreter.finish = snd_sample_safe_finish;
    interpreter.walk_thread = snd_sample_safe_walk;
    interpreter.list_threads = snd_sample_safe_list;
    interpreter.read_code = read_safe_code;
    interpreter.mark_code = NULL;
}

const snd_sample_interpreter *
snd_sample_interpreter_start(snd_sample_options *options)
{
    if (snd_sample_is_running()) /* what the running one uses stays */
        return &interpreter;
    (void)snd_is_own_file(""); /* finds out where the package is while the GIL is held */
    interpreter.prepare = interpreter.finish = NULL;
    interpreter.walk_here = snd_stack_walk_here;
    interpreter.walk_thread = snd_stack_walk_thread;
    interpreter.list_threads = snd_stack_list_threads;
    interpreter.read_code = read_code;
    interpreter.mark_code = snd_stack_mark_code;
    interpreter.find_compiled = snd_stack_find_compiled;
    interpreter.locks = snd_stack_locks();
    if (!snd_loop_find(&interpreter)) {
        snd_session_note(options->native
                             ? "no native callers: cannot find the interpreter's evaluation loop in its machine code"
                             : "cannot find the interpreter's machine code; separating Python and native time by the "
                               "instruction only");
        options->native = 0;
    }
    if (options->safe_frames)
        use_safe_way(options);
    else if (!is_readable()) {
        use_safe_way(options);
        snd_session_note("cannot read this interpreter's frames directly; sampling under the GIL at a lower rate");
    }
    else if (!snd_stack_watch_code(snd_sample_forget_code, 1)) {
        use_safe_way(options);
        snd_session_note("this interpreter does not report freed code; sampling under the GIL at a lower rate");
    }
    return &interpreter;
}

int
snd_sample_needs_gil(void)
{
    return snd_sample_is_running() && interpreter.prepare != NULL;
}

void
snd_sample_interpreter_stop(void)
{
    (void)snd_stack_watch_code(snd_sample_forget_code, 0);
    snd_sample_safe_stop();
}
