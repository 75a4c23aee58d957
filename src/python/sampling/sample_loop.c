/* Where the evaluation loop's machine code is.
 *
 * A symbol names the loop's function, but not always all of it: the compiler may have put most of it elsewhere, under
 * a name that stripping took away. So a small program calls a function of ours in each way in which the loop calls
 * something. The loop keeps a frame of its own on the C stack, and the native function in which that lies is the
 * loop. */
#include "python/sampling/sample_module.h"

#include "os/native/here.h"
#include "python/compat/compat_stack.h"

#include <dlfcn.h>
#include <string.h>

#define PIECE_LIMIT (1u << 20) /* bytes; the loop has some 80 KB */
#define HANDLER_LIMIT 2048u

/* A call with names, by a tuple, of a method, by operators, attributes, iteration, comparison, `with` and generators.
 */
static const char program[] = "class Kind:\n"
                              "    def __init__(self, look): self.look = look\n"
                              "    def __add__(self, other): return self.look()\n"
                              "    def __lt__(self, other): return self.look()\n"
                              "    def __getitem__(self, key): return self.look()\n"
                              "    def __enter__(self): return self.look()\n"
                              "    def __exit__(self, *what): self.look()\n"
                              "    x = property(lambda self: self.look())\n"
                              "def each(look):\n"
                              "    yield look()\n"
                              "    look(name=1)\n"
                              "    look(*[1], **{})\n"
                              "    next(iter(look, 0))\n"
                              "    list(map(look, [1]))\n"
                              "    for _ in map(look, [1]): pass\n"
                              "    one = Kind(look)\n"
                              "    one + one, one < one, one[0], one.x\n"
                              "    with one: pass\n"
                              "def run(look):\n"
                              "    for _ in range(3):\n" /* specialised, too */
                              "        for _ in each(look): pass\n";

static struct {
    snd_sample_interpreter *out;
    snd_symbols *symbols;
    unsigned loops, calls, lost;
} finding;

static snd_range handlers[HANDLER_LIMIT];

static int
is_known(uintptr_t pc)
{
    for (unsigned i = 0; i < finding.loops; i++)
        if (pc >= finding.out->loop[i].start && pc < finding.out->loop[i].end)
            return 1;
    return 0;
}

static int
add_piece(uintptr_t pc)
{
    const snd_range text = finding.out->code[0];
    snd_range piece;

    if (finding.loops == SND_SAMPLE_LOOPS || snd_symbols_piece(finding.symbols, pc, &piece) != SND_OK)
        return 0;
    if (piece.start < text.start || piece.end > text.end || piece.end - piece.start > PIECE_LIMIT)
        return 0;
    finding.out->loop[finding.loops++] = piece;
    return 1;
}

static PyObject *
look(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    uintptr_t pc = snd_here_around(snd_stack_marker());

    (void)self, (void)args, (void)count, (void)names;
    finding.calls++;
    if (pc == 0 || (!is_known(pc - 1) && !add_piece(pc - 1)))
        finding.lost++;
    return PyLong_FromLong(1);
}

/* Whether every call came out of what is known as the loop by now. */
static int
try_calls(void)
{
    static PyMethodDef definition = {"look", (PyCFunction)(void (*)(void))look, METH_FASTCALL | METH_KEYWORDS, NULL};
    PyObject *names = PyDict_New();
    PyObject *function = PyCFunction_New(&definition, NULL);
    PyObject *done = NULL, *answer = NULL;

    finding.calls = finding.lost = 0;
    if (names != NULL && function != NULL && PyDict_SetItemString(names, "__builtins__", PyEval_GetBuiltins()) == 0)
        done = PyRun_String(program, Py_file_input, names, names);
    if (done != NULL)
        answer = PyObject_CallOneArg(PyDict_GetItemString(names, "run"), function);
    int works = answer != NULL && finding.calls != 0 && finding.lost == 0;
    Py_XDECREF(answer);
    Py_XDECREF(done);
    Py_XDECREF(function);
    Py_XDECREF(names);
    PyErr_Clear();
    return works;
}

static int
find_all(snd_sample_interpreter *out)
{
    const char *name, *handler;
    uintptr_t inside = snd_stack_loop(&name, &handler), loader = (uintptr_t)dlsym(RTLD_DEFAULT, "__tls_get_addr");
    size_t count = 0;

    if (snd_symbols_text(finding.symbols, inside, &out->code[0], 1) != 1)
        return 0;
    if (loader != 0)
        (void)snd_symbols_text(finding.symbols, loader, &out->code[1], 1);
    if (snd_symbols_ranges(finding.symbols, inside, name, out->loop, SND_SAMPLE_LOOPS, &count) != SND_OK)
        return 0;
    finding.loops = (unsigned)count;
    if (handler != NULL &&
        snd_symbols_ranges(finding.symbols, inside, handler, handlers, HANDLER_LIMIT, &count) == SND_OK) {
        out->handlers = handlers;
        out->handler_count = (uint32_t)count;
    }
    return try_calls();
}

int
snd_loop_find(snd_sample_interpreter *out)
{
    if (out->loop[0].end != 0)
        return 1;
    finding.out = out;
    int found = snd_symbols_new(&finding.symbols) == SND_OK && find_all(out);
    snd_symbols_free(finding.symbols);
    finding.symbols = NULL;
    if (!found)
        memset(out->loop, 0, sizeof out->loop);
    return found;
}
