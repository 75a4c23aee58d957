/* Signatures: one site for each combination of argument types that a function was called with. */
#include "python/calls/call.h"
#include "python/module/describe.h"

#include "base/alloc.h"
#include "base/map.h"

#include <stdio.h>
#include <string.h>

#define REST_LIMIT 8    /* of *args and **kwargs so many are told */
#define KEPT_LIMIT 4096 /* what earlier profiles met is kept up to here */

/* One combination. The text is what was compared. */
typedef struct signature {
    char *text;
    size_t size;
    uint64_t book; /* the serial of the last book that met it */
    uint32_t site;
} signature;

struct snd_signatures {
    snd_map by_text;
    signature *all;
    uint32_t count;
    uint32_t capacity;
    uint64_t book;  /* the serial of the book that the next is about */
    uint32_t met;   /* how many this book has met */
    uint32_t last;  /* the one found last: most calls are like the call before */
    uint32_t other; /* the site of those beyond the limit */
};

static void
forget_all(struct snd_signatures *self)
{
    for (uint32_t i = 0; i < self->count; i++) {
        snd_free(self->all[i].text);
    }
    snd_map_free(&self->by_text);
    self->count = self->last = 0;
}

void
snd_signatures_free(struct snd_signatures *self)
{
    if (self == NULL)
        return;
    forget_all(self);
    snd_free(self->all);
    snd_free(self);
}

/* A parameter's name; NULL for an odd one. */
static const char *
parameter_name(const PyCodeObject *code, int number)
{
    PyObject *name = PyTuple_GET_ITEM(code->co_localsplusnames, number);
    const char *text = PyUnicode_AsUTF8(name);
    if (text == NULL)
        PyErr_Clear();
    return text == NULL ? "?" : text;
}

/* The class that a method was called on. */
static const char *
class_name(const PyCodeObject *code, PyObject *self)
{
    if (strcmp(parameter_name(code, 0), "cls") == 0 && PyType_Check(self))
        return snd_type_name((PyTypeObject *)self);
    return snd_type_name(Py_TYPE(self));
}

static void
add_rest(const char *mark, const PyCodeObject *code, int number, PyObject *value, int is_named, snd_description *out)
{
    PyObject *key, *item;
    Py_ssize_t at = 0, told = 0;

    snd_description_text(out, mark);
    if (is_named) {
        snd_description_text(out, parameter_name(code, number));
        snd_description_text(out, ":");
    }
    if (PyTuple_CheckExact(value)) {
        snd_description_text(out, "(");
        for (; told < PyTuple_GET_SIZE(value) && told < REST_LIMIT; told++) {
            snd_description_text(out, told == 0 ? "" : ", ");
            snd_describe(PyTuple_GET_ITEM(value, told), out);
        }
        snd_description_text(out, told < PyTuple_GET_SIZE(value) ? ", …)" : told == 1 ? ",)" : ")");
    }
    else if (PyDict_CheckExact(value)) {
        snd_description_text(out, "{");
        for (; told < REST_LIMIT && PyDict_Next(value, &at, &key, &item); told++) {
            const char *name = PyUnicode_Check(key) ? PyUnicode_AsUTF8(key) : NULL;
            snd_description_text(out, told == 0 ? "" : ", ");
            snd_description_text(out, name == NULL ? "?" : name);
            snd_description_text(out, ":");
            snd_describe(item, out);
        }
        snd_description_text(out, told < PyDict_GET_SIZE(value) ? ", …}" : "}");
    }
}

/* One list of arguments while it is written. */
typedef struct writing {
    const PyCodeObject *code;
    int is_method;
    const snd_frame *frame;
    int is_named; /* with the parameters' names, for people; without them for comparing */
    int is_first;
    snd_description *out;
} writing;

static void
add_comma(writing *self)
{
    if (!self->is_first)
        snd_description_text(self->out, ", ");
    self->is_first = 0;
}

static void
add_parameters(writing *self, int from, int to)
{
    for (int i = from; i < to; i++) {
        PyObject *value = snd_frame_local(self->frame, i);
        add_comma(self);
        if (self->is_named) {
            snd_description_text(self->out, parameter_name(self->code, i));
            snd_description_text(self->out, ":");
        }
        if (value == NULL)
            snd_description_text(self->out, "?");
        else if (i == 0 && self->is_method)
            snd_description_text(self->out, class_name(self->code, value));
        else
            snd_describe(value, self->out);
    }
}

static void
add_rest_of(writing *self, const char *mark, int number)
{
    PyObject *value = snd_frame_local(self->frame, number);
    if (value == NULL)
        return;
    add_comma(self);
    add_rest(mark, self->code, number, value, self->is_named, self->out);
}

/* The types of all arguments, in the order of the parameters. */
static void
add_arguments(const PyCodeObject *code, const snd_code *known, const snd_frame *frame, int is_named,
              snd_description *out)
{
    int plain = code->co_argcount;
    int named = plain + code->co_kwonlyargcount; /* *args and **kwargs stand behind these */
    int has_rest = (code->co_flags & CO_VARARGS) != 0;
    writing self = {code, known->is_method, frame, is_named, 1, out};

    add_parameters(&self, is_named && known->is_method, plain); /* for people the class stands before the name */
    if (has_rest)
        add_rest_of(&self, "*", named);
    add_parameters(&self, plain, named);
    if (code->co_flags & CO_VARKEYWORDS)
        add_rest_of(&self, "**", named + has_rest);
}

/* "Class.method" or the function's own name. */
static void
add_name(const PyCodeObject *code, const snd_code *known, const snd_frame *frame, snd_description *out)
{
    PyObject *self = known->is_method ? snd_frame_local(frame, 0) : NULL;
    const char *name = PyUnicode_AsUTF8(code->co_name);

    if (self != NULL) {
        snd_description_text(out, class_name(code, self));
        snd_description_text(out, ".");
    }
    snd_description_text(out, name == NULL ? "?" : name);
    PyErr_Clear();
}

static uint32_t
add_site(const snd_code *known, const char *label)
{
    snd_profile_site site = snd_site_get(known->site);
    site.detail = label;
    return snd_site_add_placed(&site);
}

/* The number of the new one; SND_NONE when memory runs out. */
static uint32_t
add_signature(PyCodeObject *code, snd_code *known, const snd_frame *frame, uint64_t key, const snd_description *text)
{
    struct snd_signatures *self = known->signatures;
    snd_description label = {0};

    add_name(code, known, frame, &label);
    snd_description_text(&label, "(");
    add_arguments(code, known, frame, 1, &label);
    snd_description_text(&label, ")");
    snd_description_end(&label, "…)");
    if (!snd_make_room(&self->all, self->count + 1, &self->capacity, sizeof *self->all))
        return SND_NONE;
    signature added = {.text = snd_strdup(text->text), .size = text->size, .site = add_site(known, label.text)};
    if (added.text == NULL || added.site == SND_NONE || snd_map_add(&self->by_text, key, self->count) != SND_OK) {
        snd_free(added.text);
        return SND_NONE;
    }
    self->all[self->count] = added;
    return self->count++;
}

static uint32_t
other_signatures(PyCodeObject *code, snd_code *known)
{
    if (known->signatures->other == SND_NONE) {
        snd_description label = {0};
        const char *name = PyUnicode_AsUTF8(code->co_name);
        PyErr_Clear();
        snd_description_text(&label, name == NULL ? "?" : name);
        snd_description_text(&label, "(other signatures)");
        snd_description_end(&label, "…");
        known->signatures->other = add_site(known, label.text);
    }
    return known->signatures->other == SND_NONE ? known->site : known->signatures->other;
}

static int
is_text_of(const signature *self, const snd_description *text)
{
    return self->size == text->size && memcmp(self->text, text->text, text->size) == 0;
}

/* The number of the signature; SND_NONE: it is new. */
static uint32_t
find(struct snd_signatures *self, const snd_description *text, uint64_t *key)
{
    uint32_t cursor = 0;
    uint32_t at;

    if (self->last < self->count && is_text_of(&self->all[self->last], text))
        return self->last;
    *key = snd_hash(text->text, text->size, 0);
    while ((at = snd_map_next(&self->by_text, *key, &cursor)) != SND_MAP_NONE)
        if (is_text_of(&self->all[at], text))
            return self->last = at;
    return SND_NONE;
}

/* The site of what a book has met already, or may meet as one more; SND_NONE: it has met enough. */
static uint32_t
meet(struct snd_signatures *self, uint32_t at, uint64_t book, uint32_t limit)
{
    signature *found = &self->all[at];

    if (SND_LIKELY(found->book == book))
        return found->site;
    if (self->met >= limit)
        return SND_NONE;
    found->book = book;
    self->met++;
    return found->site;
}

static uint32_t
site_of_text(const snd_call_probe *probe, PyCodeObject *code, snd_code *known, const snd_frame *frame,
             const snd_description *text)
{
    struct snd_signatures *self = known->signatures;
    uint64_t book = probe->book->serial;
    uint64_t key = 0;

    if (SND_UNLIKELY(self->book != book)) {
        if (self->count > KEPT_LIMIT)
            forget_all(self);
        self->book = book;
        self->met = 0;
    }
    uint32_t at = find(self, text, &key);
    if (SND_UNLIKELY(at == SND_NONE) && self->met < probe->wish.limit)
        at = add_signature(code, known, frame, key, text);
    uint32_t site = at == SND_NONE ? SND_NONE : meet(self, at, book, probe->wish.limit);
    return SND_LIKELY(site != SND_NONE) ? site : other_signatures(code, known);
}

uint32_t
snd_signature_site(const snd_call_probe *probe, PyCodeObject *code, snd_code *known, const snd_frame *frame)
{
    snd_call_thread *thread = snd_call_mine;
    PyObject *type, *value, *trace;
    snd_description text;
    uint32_t site;

    if (known->signatures == NULL) {
        known->signatures = snd_calloc(1, sizeof *known->signatures);
        if (known->signatures == NULL)
            return known->site;
        known->signatures->other = SND_NONE;
    }
    PyErr_Fetch(&type, &value, &trace); /* a generator may start with an exception under way */
    thread->is_muted++;
    text.size = 0;
    add_arguments(code, known, frame, 0, &text);
    snd_description_end(&text, "…");
    site = site_of_text(probe, code, known, frame, &text);
    thread->is_muted--;
    PyErr_Restore(type, value, trace);
    return site;
}
