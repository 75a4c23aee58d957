/* The kinds of calls met so far, by what was told of them. Bounded: beyond that an operation has one row for the rest.
 */
#include "python/numpy/numpy_ops.h"

#include "base/alloc.h"

enum {
    ENTRY_LIMIT = 1 << 14,
    DETAIL_LIMIT = 1024, /* kinds of calls of one operation */
    VALUE_LIMIT = 64,    /* those with numbers in them; from then on numbers are not told */
};

static snd_op_entry **table; /* not base/map: every call of an operator looks here, and entries are compared in place */
static uint32_t table_mask, entry_count;

SND_HOT uint64_t
hash_of(const snd_op_key *key)
{
    uint64_t hash = key->count;

    for (uint32_t i = 0; i < key->count; i++) {
        hash = (hash ^ key->words[i]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
    }
    return hash;
}

static int
grow(void)
{
    uint32_t size = table == NULL ? 256 : (table_mask + 1) * 2;
    snd_op_entry **larger = snd_calloc(size, sizeof *larger);

    if (larger == NULL)
        return 0;
    for (uint32_t i = 0; table != NULL && i <= table_mask; i++) {
        if (table[i] == NULL)
            continue;
        uint64_t at = table[i]->hash;
        while (larger[at & (size - 1)] != NULL)
            at++;
        larger[at & (size - 1)] = table[i];
    }
    snd_free(table);
    table = larger;
    table_mask = size - 1;
    return 1;
}

/* The file and line of a place; the text lives as long as the code. */
static const char *
place_of(const snd_op_key *key, uint32_t *line)
{
    int number = PyCode_Addr2Line(key->code, key->offset);
    const char *file = PyUnicode_AsUTF8(key->code->co_filename);

    PyErr_Clear();
    *line = number > 0 ? (uint32_t)number : 0;
    return file == NULL ? "?" : file;
}

static uint32_t
make_site(const snd_op *op, const snd_op_key *key)
{
    snd_description detail = {0};
    snd_profile_site site = {.kind = SND_SITE_OP, .name = op->name, .file = "", .detail = detail.text};

    snd_op_key_text(key->words, key->count, &detail);
    if (key->code != NULL)
        site.file = place_of(key, &site.line);
    return snd_op_site(&site, NULL);
}

static snd_op_entry *
make_entry(const snd_op *op, const snd_op_key *key, uint64_t hash, snd_op_wishes wishes)
{
    snd_op_entry *entry = snd_malloc(sizeof *entry);
    uint64_t *words = snd_malloc(key->count * sizeof *words);
    uint32_t site = entry == NULL || words == NULL ? SND_NONE : make_site(op, key);

    if (site == SND_NONE) {
        snd_free(entry);
        snd_free(words);
        return NULL;
    }
    memcpy(words, key->words, key->count * sizeof *words);
    Py_XINCREF(key->code); /* so that its address stays its own */
    *entry = (snd_op_entry){hash, words, key->count, site, wishes.shapes};
    return entry;
}

static SND_COLD snd_op_entry *
add_entry(snd_op *op, const snd_op_key *key, uint64_t hash, snd_op_wishes wishes)
{
    if (op->detail_count >= DETAIL_LIMIT || entry_count >= ENTRY_LIMIT)
        return NULL;
    if ((table == NULL || entry_count >= table_mask / 2) && !grow())
        return NULL;
    snd_op_entry *entry = make_entry(op, key, hash, wishes);
    if (entry == NULL)
        return NULL;
    uint64_t at = hash;
    while (table[at & table_mask] != NULL)
        at++;
    table[at & table_mask] = entry;
    entry_count++;
    op->detail_count++;
    if (key->value_count != 0 && ++op->value_count == VALUE_LIMIT)
        op->tells_values = 0;
    return entry;
}

snd_op_entry *
snd_op_entry_find(snd_op *op, const snd_op_key *key, snd_op_wishes wishes)
{
    uint64_t hash = hash_of(key);

    if (SND_LIKELY(table != NULL))
        for (uint64_t at = hash; table[at & table_mask] != NULL; at++) {
            snd_op_entry *entry = table[at & table_mask];
            if (SND_LIKELY(entry->hash == hash && entry->count == key->count &&
                           memcmp(entry->words, key->words, key->count * sizeof *key->words) == 0))
                return entry;
        }
    return add_entry(op, key, hash, wishes);
}

uint32_t
snd_op_other_site(snd_op *op)
{
    snd_profile_site site = {.kind = SND_SITE_OP, .name = op->name, .file = "", .detail = "[other shapes]"};

    if (op->other == SND_NONE)
        op->other = snd_op_site(&site, NULL);
    return op->other;
}
