/* PyTorch's own averages as a profile, a node for each: for versions whose events are not known. */
#include "base/buffer.h"
#include "model/operator.h"
#include "python/module/profile_object.h"
#include "python/torch/torch_averages.h"

/* What is to be read of a row. */
typedef struct reader {
    PyObject *row;
    snd_profile *profile;
    uint32_t nodes[2]; /* the root, and below it one for the rows that others called */
    snd_status status;
} reader;

/* None counts as 0. An exception may be set. */
static double
number_of(const reader *self, const char *name)
{
    PyObject *answer = PyErr_Occurred() ? NULL : PyObject_GetAttrString(self->row, name);

    if (answer != NULL && answer != Py_None && !PyFloat_Check(answer)) /* an enumeration */
        Py_SETREF(answer, PyNumber_Long(answer));
    double number = answer == NULL || answer == Py_None ? 0 : PyFloat_AsDouble(answer);
    Py_XDECREF(answer);
    return number;
}

/* As str() has it, a list of lines with '\n' between them; None is "". An exception may be set. The caller frees it. */
static snd_buffer
text_of(const reader *self, const char *name, int has_lines)
{
    PyObject *answer = PyErr_Occurred() ? NULL : PyObject_GetAttrString(self->row, name);
    PyObject *between = answer == NULL ? NULL : PyUnicode_FromString("\n"), *text = NULL;
    snd_buffer out = {0};

    if (between != NULL && answer != Py_None)
        text = has_lines ? PyUnicode_Join(between, answer) : PyObject_Str(answer);
    const char *bytes = text == NULL ? NULL : PyUnicode_AsUTF8(text);
    if (bytes != NULL)
        snd_buffer_text(&out, bytes);
    Py_XDECREF(text);
    Py_XDECREF(between);
    Py_XDECREF(answer);
    return out;
}

static uint32_t
add_node(reader *self, uint32_t parent, const snd_profile_site *site)
{
    uint32_t id, node = SND_NONE;

    if (self->status == SND_OK)
        self->status = snd_profile_add_site(self->profile, site, &id);
    if (self->status == SND_OK)
        self->status = snd_profile_add_node(self->profile, parent, 0, id, &node);
    return node;
}

static void
set(reader *self, uint32_t node, snd_metric metric, snd_value value)
{
    if (self->status == SND_OK)
        self->status = snd_profile_set(self->profile, node, metric, value);
}

static void
read_row(reader *self)
{
    snd_buffer name = text_of(self, "key", 0), stack = text_of(self, "stack", 1);
    snd_buffer shapes = text_of(self, "input_shapes", 0), overload = text_of(self, "overload_name", 0), text = {0};
    const snd_op_detail detail = {.inputs = snd_buffer_str(&shapes),
                                  .overload = snd_buffer_str(&overload),
                                  .inputs_size = shapes.size,
                                  .overload_size = overload.size,
                                  .device = (int32_t)number_of(self, "device_type"),
                                  .scope = (int32_t)number_of(self, "scope"),
                                  .is_async = number_of(self, "is_async") != 0,
                                  .is_legacy = number_of(self, "is_legacy") != 0};
    int is_annotation = number_of(self, "is_user_annotation") != 0;
    PyObject *parent = PyErr_Occurred() ? NULL : PyObject_GetAttrString(self->row, "cpu_parent");

    snd_op_detail_write(&detail, &text);
    if (name.failed || stack.failed || shapes.failed || overload.failed || text.failed)
        self->status = SND_NO_MEMORY;
    const snd_profile_site site = {.kind = is_annotation ? SND_SITE_REGION : SND_SITE_OP,
                                   .name = snd_buffer_str(&name),
                                   .file = snd_buffer_str(&stack),
                                   .detail = snd_buffer_str(&text)};
    uint32_t node = add_node(self, self->nodes[parent != Py_None], &site);
    set(self, node, SND_METRIC_COUNT, (snd_value){.whole = (uint64_t)number_of(self, "count")});
#define READ(field, attribute, metric) \
    set(self, node, SND_METRIC_##metric, (snd_value){.real = number_of(self, attribute)});
    SND_OP_NUMBER_MAP(READ)
    Py_XDECREF(parent);
    snd_buffer_free(&name);
    snd_buffer_free(&stack);
    snd_buffer_free(&shapes);
    snd_buffer_free(&overload);
    snd_buffer_free(&text);
}

PyObject *
snd_py_torch_profile(PyObject *module, PyObject *rows)
{
    const snd_profile_track track = {.thread_count = 1, .name = "PyTorch"};
    const snd_profile_site root = {.kind = SND_SITE_THREAD, .name = track.name, .file = "", .detail = ""};
    reader self = {.profile = snd_profile_new()};
    PyObject *items = PySequence_Fast(rows, "rows must be a sequence");
    uint32_t id;

    self.status = self.profile == NULL ? SND_NO_MEMORY : snd_profile_add_track(self.profile, &track, &id);
    self.nodes[0] = add_node(&self, SND_NONE, &root);
    self.nodes[1] = add_node(&self, self.nodes[0], &root);
    for (Py_ssize_t i = 0; items != NULL && !PyErr_Occurred() && i < PySequence_Fast_GET_SIZE(items); i++) {
        self.row = PySequence_Fast_GET_ITEM(items, i);
        read_row(&self);
    }
    Py_XDECREF(items);
    if (!PyErr_Occurred() && self.status == SND_OK)
        return snd_profile_wrap(snd_state_of_module(module), self.profile);
    snd_profile_free(self.profile);
    return PyErr_Occurred() ? NULL : snd_raise_status(self.status, NULL);
}
