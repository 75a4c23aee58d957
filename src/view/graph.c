/* Compiled functions of a profile, each as a tree with sums. */
#include "view/graph.h"

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#define BIT(metric) (UINT64_C(1) << (metric))

static snd_site_kind
kind_of(const snd_profile *profile, uint32_t node)
{
    return profile->sites[profile->nodes[node].site].kind;
}

int
snd_graphs_exist(const snd_profile *profile)
{
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (kind_of(profile, i) == SND_SITE_GRAPH)
            return 1;
    return 0;
}

/* ---- the list of functions ---- */

void
snd_graph_functions_free(snd_graph_functions *self)
{
    snd_free(self->rows);
    *self = (snd_graph_functions){0};
}

/* `of` has the number of the function that each node is in, for those before this one too. */
static snd_status
add_function(const snd_profile *profile, uint32_t node, const uint32_t *of, snd_graph_functions *self)
{
    uint32_t parent = profile->nodes[node].parent;

    if (!snd_make_room(&self->rows, self->count + 1, &self->capacity, sizeof *self->rows))
        return SND_NO_MEMORY;
    snd_graph_function *row = &self->rows[self->count];
    *row = (snd_graph_function){
        .node = node,
        .outer = parent == SND_NONE ? SND_NONE : of[parent],
        .apply = SND_NONE,
        .name = profile->sites[profile->nodes[node].site].name,
        .total_ns = snd_profile_whole(profile, node, SND_METRIC_TOTAL),
    };
    if (row->outer != SND_NONE)
        row->apply = parent;
    self->count++;
    return SND_OK;
}

/* A parent's id is smaller than its children's: outer functions come first. */
static snd_status
list_functions(const snd_profile *profile, snd_graph_functions *self)
{
    uint32_t *of = snd_malloc(((size_t)profile->node_count + 1) * sizeof *of);
    snd_status status = of == NULL ? SND_NO_MEMORY : SND_OK;

    for (uint32_t i = 0; i < profile->node_count && status == SND_OK; i++) {
        uint32_t parent = profile->nodes[i].parent;
        of[i] = parent == SND_NONE ? SND_NONE : of[parent];
        if (kind_of(profile, i) != SND_SITE_GRAPH)
            continue;
        status = add_function(profile, i, of, self);
        of[i] = self->count - 1;
    }
    snd_free(of);
    return status;
}

/* Those of the name stay as if they were called, and what is inside them. */
static void
keep_named(snd_graph_functions *self, const char *name, uint32_t *number)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < self->count; i++) {
        snd_graph_function row = self->rows[i];
        uint32_t outer = row.outer == SND_NONE ? SND_NONE : number[row.outer];
        number[i] = SND_NONE;
        if (outer == SND_NONE && strcmp(row.name, name) != 0)
            continue;
        row.outer = outer;
        number[i] = count;
        self->rows[count++] = row;
    }
    self->count = count;
}

/* Where each function stands in the list that people get. */
typedef struct place {
    snd_graph_function row;
    uint32_t top; /* the function that is called itself */
    uint64_t top_ns;
    uint32_t number;
} place;

static int
compare_places(const void *a, const void *b)
{
    const place *x = a, *y = b;

    if (x->top_ns != y->top_ns)
        return x->top_ns > y->top_ns ? -1 : 1;
    if (x->top != y->top)
        return x->top < y->top ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void
order_functions(snd_graph_functions *self, place *places, uint32_t *number)
{
    for (uint32_t i = 0; i < self->count; i++) {
        uint32_t outer = self->rows[i].outer;
        uint32_t top = outer == SND_NONE ? i : places[outer].top;
        places[i] = (place){self->rows[i], top, self->rows[top].total_ns, i};
        self->called_count += outer == SND_NONE;
    }
    qsort(places, self->count, sizeof *places, compare_places);
    for (uint32_t i = 0; i < self->count; i++)
        number[places[i].number] = i;
    for (uint32_t i = 0; i < self->count; i++) {
        self->rows[i] = places[i].row;
        if (self->rows[i].outer != SND_NONE)
            self->rows[i].outer = number[self->rows[i].outer];
    }
}

snd_status
snd_graph_functions_make(const snd_profile *profile, const snd_view_options *options, snd_graph_functions *out)
{
    snd_graph_functions self = {0};
    snd_status status = list_functions(profile, &self);
    size_t room = (size_t)self.count + 1;
    place *places = snd_malloc(room * sizeof *places);
    uint32_t *number = snd_malloc(room * sizeof *number);

    if (places == NULL || number == NULL)
        status = SND_NO_MEMORY;
    if (status == SND_OK && options->function != NULL)
        keep_named(&self, options->function, number);
    if (status == SND_OK && self.count == 0)
        status = SND_NO_DATA;
    if (status == SND_OK) {
        order_functions(&self, places, number);
        *out = self;
    }
    else
        snd_graph_functions_free(&self);
    snd_free(places);
    snd_free(number);
    return status;
}

/* ---- the tree of one, or of all ---- */

typedef struct maker {
    const snd_profile *profile;
    snd_graph graph;
    snd_map map;       /* by parent and texts */
    uint32_t *node_of; /* per node of the profile; SND_NONE: it is not in the graph */
} maker;

void
snd_graph_free(snd_graph *self)
{
    snd_free(self->nodes);
    *self = (snd_graph){0};
}

/* A profile keeps each text once: addresses tell them apart. The node is one of its own where `is_own`. */
static snd_status
find_node(maker *self, uint32_t parent, uint32_t from, int is_own, uint32_t *node)
{
    const snd_profile_site *site = &self->profile->sites[self->profile->nodes[from].site];
    const uint64_t key[] = {(uint64_t)site->kind << 32 | parent, (uintptr_t)site->name, (uintptr_t)site->detail,
                            is_own ? from : 0};
    uint64_t hash = snd_hash(key, sizeof key, 0);
    snd_graph *graph = &self->graph;
    uint32_t cursor = 0;

    while (!is_own && (*node = snd_map_next(&self->map, hash, &cursor)) != SND_MAP_NONE) {
        const snd_graph_node *known = &graph->nodes[*node];
        if (known->parent == parent && known->site->kind == site->kind && known->site->name == site->name &&
            known->site->detail == site->detail)
            return SND_OK;
    }
    if (!snd_make_room(&graph->nodes, graph->count + 1, &graph->capacity, sizeof *graph->nodes))
        return SND_NO_MEMORY;
    snd_status status = is_own ? SND_OK : snd_map_add(&self->map, hash, graph->count);
    if (status != SND_OK)
        return status;
    graph->nodes[graph->count] = (snd_graph_node){.site = site, .parent = parent, .first = SND_NONE, .next = SND_NONE};
    *node = graph->count++;
    return SND_OK;
}

static uint64_t
larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void
add_numbers(const snd_profile *profile, uint32_t from, snd_graph_node *node)
{
    node->present |= profile->nodes[from].present;
    node->count += snd_profile_whole(profile, from, SND_METRIC_COUNT);
    node->total_ns += snd_profile_whole(profile, from, SND_METRIC_TOTAL);
    node->vm_ns += snd_profile_whole(profile, from, SND_METRIC_GRAPH_VM);
    node->created += snd_profile_whole(profile, from, SND_METRIC_GRAPH_CREATED);
    node->inplace += snd_profile_whole(profile, from, SND_METRIC_GRAPH_INPLACE);
    node->view += snd_profile_whole(profile, from, SND_METRIC_GRAPH_VIEW);
    node->peak = larger(node->peak, snd_profile_whole(profile, from, SND_METRIC_GRAPH_PEAK));
    node->before += snd_profile_whole(profile, from, SND_METRIC_GRAPH_BEFORE);
    node->after += snd_profile_whole(profile, from, SND_METRIC_GRAPH_AFTER);
    if (snd_profile_has(profile, from, SND_METRIC_OP_FLOPS)) {
        node->flops += snd_profile_real(profile, from, SND_METRIC_OP_FLOPS);
        node->flops_ns += snd_profile_whole(profile, from, SND_METRIC_TOTAL);
    }
}

static int
compare_words(const snd_graph_word *a, const snd_graph_word *b)
{
    int difference = memcmp(a->text, b->text, a->len < b->len ? a->len : b->len);

    return difference != 0 ? difference : a->len < b->len ? -1 : a->len > b->len;
}

/* There are two kinds of them, C and Python; more would not be said. */
static void
add_implementation(snd_graph_node *node, snd_graph_word word)
{
    snd_graph_word *known = node->implementations;

    if (word.text == NULL || word.len == 0)
        return;
    if (known[0].text == NULL) {
        known[0] = word;
        return;
    }
    int difference = compare_words(&word, &known[0]);
    if (difference == 0 || known[1].text != NULL)
        return;
    known[1] = difference > 0 ? word : known[0];
    if (difference < 0)
        known[0] = word;
}

/* Behind "#7 " in the detail. */
static snd_graph_word
implementation_of(const char *detail)
{
    size_t id = strcspn(detail, " ");

    if (detail[0] != '#' || detail[id] == '\0')
        return (snd_graph_word){0};
    return (snd_graph_word){detail + id + 1, strlen(detail + id + 1)};
}

/* What a class and an operator have is the sum of their nodes. */
static void
add_apply(snd_graph *self, uint32_t apply)
{
    const snd_graph_node *from = &self->nodes[apply];
    snd_graph_word word = implementation_of(from->site->detail);

    self->thunks_ns += from->total_ns;
    self->is_timed |= snd_graph_has(from, SND_METRIC_TOTAL);
    for (uint32_t i = apply; i != SND_NONE; i = self->nodes[i].parent) {
        snd_graph_node *node = &self->nodes[i];
        node->applies++;
        add_implementation(node, word);
        if (node->site->kind != SND_SITE_GRAPH_CLASS && node->site->kind != SND_SITE_GRAPH_OP)
            continue;
        node->count += from->count;
        node->total_ns += from->total_ns;
        node->flops += from->flops;
        node->flops_ns += from->flops_ns;
        node->present |= from->present;
    }
}

/* SND_NONE in `*number`: it is not in the graph. */
static snd_status
add_node(maker *self, uint32_t from, const char *function, uint32_t *number)
{
    const snd_profile *profile = self->profile;
    uint32_t above = profile->nodes[from].parent;
    uint32_t parent = above == SND_NONE ? SND_NONE : self->node_of[above];
    snd_site_kind kind = kind_of(profile, from);
    int is_sum = kind == SND_SITE_GRAPH_CLASS || kind == SND_SITE_GRAPH_OP;

    *number = SND_NONE;
    if (parent == SND_NONE || kind == SND_SITE_GRAPH || !snd_site_is_graph(kind))
        return SND_OK; /* of another function, of one inside this one, or something of another probe */
    snd_status status = find_node(self, parent, from, kind == SND_SITE_GRAPH_APPLY, number);
    if (status != SND_OK)
        return status;
    snd_graph_node *node = &self->graph.nodes[*number];
    if (node->function == NULL)
        node->function = function;
    if (!is_sum)
        add_numbers(profile, from, node);
    return SND_OK;
}

static void
link_children(snd_graph *self)
{
    for (uint32_t i = self->count; i-- > 1;) {
        snd_graph_node *parent = &self->nodes[self->nodes[i].parent];
        self->nodes[i].next = parent->first;
        parent->first = i;
    }
}

static snd_status
add_nodes(maker *self)
{
    const snd_profile *profile = self->profile;
    const char *function = NULL;
    snd_status status = SND_OK;

    for (uint32_t i = 0; i < profile->node_count && status == SND_OK; i++) {
        if (self->node_of[i] == 0) { /* one of the functions */
            add_numbers(profile, i, &self->graph.nodes[0]);
            continue;
        }
        uint32_t above = profile->nodes[i].parent;
        while (above != SND_NONE && kind_of(profile, above) != SND_SITE_GRAPH)
            above = profile->nodes[above].parent;
        function = above == SND_NONE ? NULL : profile->sites[profile->nodes[above].site].name;
        status = add_node(self, i, function, &self->node_of[i]);
    }
    return status;
}

/* The functions become the first node. */
static snd_status
start(maker *self, const snd_graph_functions *functions, uint32_t number)
{
    uint32_t root = 0;

    memset(self->node_of, 0xff, self->profile->node_count * sizeof *self->node_of);
    for (uint32_t i = 0; i < functions->count; i++) {
        if (number == SND_NONE ? functions->rows[i].outer != SND_NONE : number != i)
            continue;
        if (self->graph.count == 0) {
            snd_status status = find_node(self, SND_NONE, functions->rows[i].node, 1, &root);
            if (status != SND_OK)
                return status;
            self->graph.nodes[root].function = functions->rows[i].name;
        }
        self->node_of[functions->rows[i].node] = root;
        self->graph.function_count++;
    }
    return SND_OK;
}

snd_status
snd_graph_make(const snd_profile *profile, const snd_graph_functions *functions, uint32_t number, snd_graph *out)
{
    maker self = {
        .profile = profile,
        .node_of = snd_malloc(((size_t)profile->node_count + 1) * sizeof *self.node_of),
    };
    snd_status status = self.node_of == NULL ? SND_NO_MEMORY : start(&self, functions, number);

    if (status == SND_OK)
        status = add_nodes(&self);
    if (status == SND_OK) {
        for (uint32_t i = 0; i < self.graph.count; i++)
            if (self.graph.nodes[i].site->kind == SND_SITE_GRAPH_APPLY)
                add_apply(&self.graph, i);
        link_children(&self.graph);
        *out = self.graph;
    }
    else
        snd_graph_free(&self.graph);
    snd_map_free(&self.map);
    snd_free(self.node_of);
    return status;
}

snd_graph_limits
snd_graph_limits_of(const snd_profile *profile)
{
    snd_graph_limits limits = SND_GRAPH_LIMITS;

    if (snd_profile_info(profile, "graph_n_ops") != NULL)
        limits.ops = (uint32_t)snd_profile_info_number(profile, "graph_n_ops");
    if (snd_profile_info(profile, "graph_n_apply") != NULL)
        limits.applies = (uint32_t)snd_profile_info_number(profile, "graph_n_apply");
    if (snd_profile_info(profile, "graph_min_memory") != NULL)
        limits.memory = snd_profile_info_number(profile, "graph_min_memory");
    return limits;
}

/* ---- texts ---- */

int64_t
snd_graph_id(const snd_graph_node *node)
{
    const char *detail = node->site->detail;
    char *end;

    if (node->site->kind != SND_SITE_GRAPH_APPLY || detail[0] != '#' || detail[1] < '0' || detail[1] > '9')
        return -1;
    return strtoll(detail + 1, &end, 10);
}

/* By their name, shorter numbers first: input 2, input 10, output 0. */
static int
stands_before(const snd_graph_node *a, const snd_graph_node *b)
{
    const char *x = a->site->name, *y = b->site->name;

    if (*x != *y)
        return *x < *y;
    return strlen(x) != strlen(y) ? strlen(x) < strlen(y) : strcmp(x, y) < 0;
}

uint32_t
snd_graph_variable(const snd_graph *self, uint32_t node, uint32_t last)
{
    uint32_t best = SND_NONE;

    for (uint32_t i = self->nodes[node].first; i != SND_NONE; i = self->nodes[i].next) {
        const snd_graph_node *child = &self->nodes[i];
        if (child->site->kind != SND_SITE_GRAPH_VARIABLE || child->count == 0)
            continue; /* it was so in earlier calls */
        if ((last == SND_NONE || stands_before(&self->nodes[last], child)) &&
            (best == SND_NONE || stands_before(child, &self->nodes[best])))
            best = i;
    }
    return best;
}

void
snd_graph_implementation(const snd_graph_node *node, snd_buffer *out)
{
    for (size_t i = 0; i < 2 && node->implementations[i].text != NULL; i++) {
        snd_buffer_text(out, i == 0 ? "" : " & ");
        snd_buffer_put(out, node->implementations[i].text, node->implementations[i].len);
    }
}

const char *
snd_graph_name(const snd_graph_node *node)
{
    int is_class = node->site->kind == SND_SITE_GRAPH_CLASS && *node->site->detail != '\0';

    return is_class ? node->site->detail : node->site->name;
}

uint32_t
snd_graph_find(const snd_graph *self, uint32_t node, snd_site_kind kind, const char *name)
{
    uint32_t child = self->nodes[node].first;

    while (child != SND_NONE &&
           (self->nodes[child].site->kind != kind || strcmp(self->nodes[child].site->name, name) != 0))
        child = self->nodes[child].next;
    return child;
}

uint32_t
snd_graph_next(const snd_graph *self, uint32_t node)
{
    if (self->nodes[node].first != SND_NONE)
        return self->nodes[node].first;
    while (node != SND_NONE && self->nodes[node].next == SND_NONE)
        node = self->nodes[node].parent;
    return node == SND_NONE ? SND_NONE : self->nodes[node].next;
}
