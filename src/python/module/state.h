/* Room: the extension module `sonde._core`, and the session as Python sees it. */
/* The state of the extension module, shared by its files. */
#ifndef SND_PYTHON_STATE_H
#define SND_PYTHON_STATE_H

#include "model/profile.h"
#include "python/compat/compat.h"

#include "base/buffer.h"
#include "base/status.h"
#include "probe/region/region.h"

#define SND_NAME_CACHE 512u
#define SND_PLACE_CACHE 512u
#define SND_COUNTER_CACHE 64u
#define SND_REGION_POOL 64u

/* A name met lately; the reference keeps its address from being reused. */
typedef struct snd_name_entry {
    PyObject *name;
    uint32_t site;
} snd_name_entry;

/* A place in the program met lately, whose region has no name of its own. */
typedef struct snd_place_entry {
    PyObject *code;
    int offset;
    uint32_t site;
} snd_place_entry;

typedef struct snd_state {
    PyTypeObject *region_type, *func_type, *iter_type, *profile_type, *calls_type, *entry_type, *subentry_type;
    PyTypeObject *op_averages_type, *kineto_type;
    PyObject *region_pool[SND_REGION_POOL];
    uint32_t region_pool_count;
    snd_name_entry names[SND_NAME_CACHE];
    snd_name_entry counters[SND_COUNTER_CACHE];
    snd_place_entry places[SND_PLACE_CACHE];

    /* coroutines and generators with open regions: owner.c */
    struct snd_owner **owners;
    uint32_t owner_mask;
    uint32_t owner_count;
    uint32_t task_count;
    struct snd_owner *owner_pool;

    /* how their suspensions are seen: suspend_*.c */
    PyObject *watched; /* what is to be undone */
    int watch_tool;
    int is_watching;

    /* the callback for garbage collections, and the list it stands in: gc.c */
    PyObject *gc_list, *gc_function;
    int is_gc_hooked;

    PyObject *clock;      /* the program's own; NULL: the machine's */
    int clock_holds;      /* above 0: it is not asked where an object dies, as Python code might run in a collection */
    uint64_t own_cost_ns; /* of one entry with a with block, the dearest kind */
    int own_cost_cpu;
    uint32_t own_cost_counters;
} snd_state;

snd_state *snd_state_of_module(PyObject *module);

/* By any object of one of our types. */
snd_state *snd_state_of(PyObject *object);

/* By an object of one of our types, or of a class made from one. */
snd_state *snd_state_of_kin(const PyObject *object);

/* The only translation of a status into an exception. `message` may be NULL. Returns NULL. */
PyObject *snd_raise_status(snd_status status, const char *message);

/* What was written, as a string; NULL with an exception where that failed. Uses `text` up. */
PyObject *snd_text_object(snd_status status, snd_buffer *text);

/* The site of a region's name. SND_NONE: with an exception set when it is not a string, without one when there is no
 * room for another site; the program must not suffer from that. */
uint32_t snd_site_of_name(snd_state *state, PyObject *name);
uint32_t snd_site_of_counter(snd_state *state, PyObject *name); /* the same of a counter's */

/* The site "f() <file.py:16>" of the place where the caller stands. SND_NONE as above. */
uint32_t snd_site_of_place(snd_state *state);

/* Forgets the caches. */
void snd_sites_clear(snd_state *state);
int snd_sites_visit(snd_state *state, visitproc visit, void *arg);

/* Enter and leave for Python callers, who hold the GIL. `stays` is 1 when the region may outlive the call that opens
 * it, so that in a generator it belongs to that generator. NULL: dropped. */
snd_span *snd_python_enter(snd_state *state, snd_track *track, uint32_t site, int is_global, int stays);
void snd_python_leave(snd_state *state, snd_span *span);
void snd_python_cancel(snd_state *state, snd_span *span);

/* Types and functions of the other files. */
extern PyType_Spec snd_region_spec, snd_func_spec, snd_iter_spec, snd_profile_spec, snd_calls_spec;
PyObject *snd_py_region(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *snd_py_push(PyObject *module, PyObject *name);
PyObject *snd_py_counter(PyObject *module, PyObject *const *args, Py_ssize_t count);
PyObject *snd_py_mark(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *snd_py_pop(PyObject *module, PyObject *nothing);
PyObject *snd_py_func(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *snd_py_iter_proxy(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *snd_py_start(PyObject *module, PyObject *given);
PyObject *snd_py_end(PyObject *module, PyObject *nothing);
PyObject *snd_py_stop(PyObject *module, PyObject *nothing);
PyObject *snd_py_reset(PyObject *module, PyObject *nothing);
PyObject *snd_py_is_running(PyObject *module, PyObject *nothing);
PyObject *snd_py_outputs(PyObject *module, PyObject *nothing);
PyObject *snd_py_profile(PyObject *module, PyObject *args);
PyObject *snd_py_before_fork(PyObject *module, PyObject *nothing);
PyObject *snd_py_after_fork(PyObject *module, PyObject *nothing);
PyObject *snd_py_after_fork_in_child(PyObject *module, PyObject *nothing);
PyObject *snd_py_pause_samples(PyObject *module, PyObject *paused);
PyObject *snd_py_set_info(PyObject *module, PyObject *args);
PyObject *snd_py_add_source(PyObject *module, PyObject *args);
PyObject *snd_py_name_file(PyObject *module, PyObject *args);
PyObject *snd_py_counter_names(PyObject *module, PyObject *nothing);
PyObject *snd_py_usage_begin(PyObject *module, PyObject *nothing);
PyObject *snd_py_usage_end(PyObject *module, PyObject *nothing);
PyObject *snd_py_quiet_threads(PyObject *module, PyObject *ids);
PyObject *snd_py_call_soon(PyObject *module, PyObject *function);
PyObject *snd_py_place(PyObject *module, PyObject *args);
PyObject *snd_py_end_after(PyObject *module, PyObject *number);
PyObject *snd_py_run_alone(PyObject *module, PyObject *args);
PyObject *snd_py_run_file(PyObject *module, PyObject *args);
PyObject *snd_py_check_columns(PyObject *module, PyObject *columns);
PyObject *snd_py_format_cells(PyObject *module, PyObject *args);
PyObject *snd_py_page(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *snd_py_write_page(PyObject *module, PyObject *args);
PyObject *snd_py_call_at_program(PyObject *module, PyObject *args);
PyObject *snd_py_part_path(PyObject *module, PyObject *folder);
PyObject *snd_py_make_parts(PyObject *module, PyObject *nothing);
PyObject *snd_py_parts(PyObject *module, PyObject *nothing);
PyObject *snd_py_look_at_parts(PyObject *module, PyObject *nothing);
PyObject *snd_py_gather(PyObject *module, PyObject *nothing);
PyObject *snd_py_read(PyObject *module, PyObject *path);

/* Puts our step before os._exit, os.exec* and the programs that subprocess runs, or takes it away. Never raises. */
void snd_exit_hook(int on);

/* Whether this is a child on its way to another program. */
int snd_exit_is_forking(void);

/* The memory that is live in a profile: a list of (bytes, blocks, ((file, line), …)), innermost frame first and the
 * largest row first, by "lineno", "filename" or "traceback". NULL with an exception set. */
PyObject *snd_profile_live(const snd_profile *profile, PyObject *name);

/* The text of the page of one or two profiles; NULL after an exception, which is OSError where there is no page. */
PyObject *snd_page_object(const snd_profile *const *profiles, unsigned count, int source);

#endif
