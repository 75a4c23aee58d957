/* Compiled functions of a profile, each as a tree with sums. */
#include "view/graph/graph_tree.h"

#include "base/alloc.h"
#include "base/buffer.h"

#include <stdlib.h>
#include <string.h>

/* It was told of earlier only; so was what is below it. */
static int
is_gone(const snd_profile *profile, uint32_t node)
{
    return snd_profile_whole(profile, node, SND_METRIC_GRAPH_GONE) != 0;
}

int
snd_graphs_exist(const snd_profile *profile)
{
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (snd_profile_kind(profile, i) == SND_SITE_GRAPH && !is_gone(profile, i))
            return 1;
    return 0;
}

/* ---- the list of functions ---- */

static void
add_function(const snd_profile *profile, uint32_t node, uint32_t outer, snd_graph_functions *self)
{
    snd_need_room(&self->rows, self->count + 1, &self->capacity, sizeof *self->rows);
    self->rows[self->count++] = (snd_graph_function){
        .node = node,
        .outer = outer,
        .apply = outer == SND_NONE ? SND_NONE : profile->nodes[node].parent,
        .name = profile->sites[profile->nodes[node].site].name,
        .total_ns = snd_profile_whole(profile, node, SND_METRIC_TOTAL),
    };
}

/* A parent's id is smaller than its children's: outer functions come first. `of` gets the number of the function that
 * each node is in, SND_NONE for those of other probes and those that are gone. */
static void
list_functions(const snd_profile *profile, snd_graph_functions *self, uint32_t *of)
{

    for (uint32_t i = 0; i < profile->node_count; i++) {
        uint32_t parent = profile->nodes[i].parent;
        uint32_t above = parent == SND_NONE ? SND_NONE : of[parent];
        of[i] = SND_NONE;
        if (!snd_site_is_graph(snd_profile_kind(profile, i)) || is_gone(profile, i))
            continue;
        of[i] = above;
        if (snd_profile_kind(profile, i) != SND_SITE_GRAPH)
            continue;
        of[i] = self->count;
        add_function(profile, i, above, self);
    }
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

/* Those of the name, as if each were called itself, and what is inside them. `number` gets the place of each, SND_NONE
 * for those that are left out. */
static void
order_functions(snd_graph_functions *self, const char *name, place *places, uint32_t *number)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < self->count; i++) {
        snd_graph_function row = self->rows[i];
        row.outer = row.outer == SND_NONE ? SND_NONE : number[row.outer];
        number[i] = SND_NONE;
        if (name != NULL && row.outer == SND_NONE && strcmp(row.name, name) != 0)
            continue;
        uint32_t top = row.outer == SND_NONE ? count : places[row.outer].top;
        places[count] = (place){row, top, top == count ? row.total_ns : places[top].top_ns, i};
        self->called_count += row.outer == SND_NONE;
        number[i] = count++;
    }
    for (uint32_t i = 0; i < count; i++) /* as the numbers were in the list of all */
        places[i].row.outer = places[i].row.outer == SND_NONE ? SND_NONE : places[places[i].row.outer].number;
    qsort(places, count, sizeof *places, compare_places);
    for (uint32_t i = 0; i < count; i++)
        number[places[i].number] = i;
    for (uint32_t i = 0; i < count; i++) {
        self->rows[i] = places[i].row;
        if (self->rows[i].outer != SND_NONE)
            self->rows[i].outer = number[self->rows[i].outer];
    }
    self->count = count;
}

/* The nodes of each function one after the other, in the profile's order. */
static void
group_nodes(const snd_profile *profile, const uint32_t *of, const uint32_t *number, snd_graph_functions *self)
{
    uint32_t first = 0;

    for (uint32_t i = 0; i < profile->node_count; i++)
        if (of[i] != SND_NONE && number[of[i]] != SND_NONE)
            self->rows[number[of[i]]].node_count++;
    for (uint32_t i = 0; i < self->count; i++) {
        self->rows[i].first = first;
        first += self->rows[i].node_count;
        self->rows[i].node_count = 0;
    }
    for (uint32_t i = 0; i < profile->node_count; i++) {
        if (of[i] == SND_NONE || number[of[i]] == SND_NONE)
            continue;
        snd_graph_function *row = &self->rows[number[of[i]]];
        self->nodes[row->first + row->node_count++] = i;
        self->function_of[i] = number[of[i]];
    }
}

static void
arrange_functions(const snd_profile *profile, const char *name, const uint32_t *of, snd_graph_functions *self)
{
    size_t room = (size_t)self->count + 1;
    place *places = snd_malloc(room * sizeof *places);
    uint32_t *number = snd_malloc(room * sizeof *number);

    order_functions(self, name, places, number);
    group_nodes(profile, of, number, self);
    if (self->count == 0)
        snd_work_end(SND_NO_DATA);
}

/* ---- nodes that are the same ---- */

/* A profile keeps each text once: addresses tell them apart. Nodes of graphs are never the same. */
static uint32_t
row_of_node(const snd_rollup *rows, uint32_t node, int is_sum)
{
    const snd_graph_functions *self = rows->context;
    const snd_profile_node *about = &rows->profile->nodes[node];
    const snd_profile_site *site = &rows->profile->sites[about->site];
    uint32_t function = self->function_of[node];

    if (function == SND_NONE || (is_sum && self->rows[function].outer != SND_NONE))
        return SND_NONE;
    int is_function = self->rows[function].node == node;
    if (site->kind == SND_SITE_GRAPH_APPLY || is_function) {
        const uint64_t key[] = {site->kind, is_function && is_sum ? SND_NONE : node};
        return snd_rollup_key(rows, key, sizeof key);
    }
    const uint64_t key[] = {(uint64_t)site->kind << 32 | rows->row_of[about->parent], (uintptr_t)site->name,
                            (uintptr_t)site->detail};
    return snd_rollup_key(rows, key, sizeof key);
}

static uint32_t
by_place(const snd_rollup *rows, uint32_t node)
{
    return row_of_node(rows, node, 0);
}

static uint32_t
by_place_in_any(const snd_rollup *rows, uint32_t node)
{
    return row_of_node(rows, node, 1);
}

/* What a class and an operator have is the sum of their nodes. */
static snd_metric_set
counted(const snd_rollup *rows, uint32_t node)
{
    snd_site_kind kind = snd_profile_kind(rows->profile, node);
    return kind == SND_SITE_GRAPH_CLASS || kind == SND_SITE_GRAPH_OP ? 0 : SND_METRIC_ALL;
}

void
snd_graph_functions_make(const snd_profile *profile, const snd_view_options *options, snd_graph_functions *out)
{
    size_t room = (size_t)profile->node_count + 1;
    uint32_t *of = snd_malloc(room * sizeof *of);
    snd_graph_functions self = {
        .nodes = snd_malloc(room * sizeof *self.nodes),
        .function_of = snd_malloc(room * sizeof *self.function_of),
        .node_of = snd_malloc(room * sizeof *self.node_of),
    };

    memset(self.function_of, 0xff, room * sizeof *self.function_of); /* SND_NONE */
    list_functions(profile, &self, of);
    arrange_functions(profile, options->function, of, &self);
    snd_rollup_make(profile, by_place, counted, &self, &self.apart);
    snd_rollup_make(profile, by_place_in_any, counted, &self, &self.together);
    *out = self;
}

/* ---- the tree of one, or of all ---- */

static void
new_node(snd_graph *graph, uint32_t parent, const snd_profile_site *site, const char *function)
{
    snd_need_room(&graph->nodes, graph->count + 1, &graph->capacity, sizeof *graph->nodes);
    snd_graph_node *node = &graph->nodes[graph->count];
    *node = (snd_graph_node){.site = site,
                             .function = function,
                             .parent = parent,
                             .first = SND_NONE,
                             .next = SND_NONE,
                             .first_slow = SND_NONE};
    if (parent != SND_NONE) {
        const snd_graph_node *above = &graph->nodes[parent];
        node->depth = above->depth + 1;
        node->rewriters = above->rewriters + (above->site->kind == SND_SITE_GRAPH_REWRITER);
    }
    graph->count++;
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

static void
set_numbers(const snd_rollup *rows, uint32_t row, snd_graph_node *node)
{
    node->present = rows->present[row];
    node->count = snd_rollup_whole(rows, row, SND_METRIC_COUNT);
    node->total_ns = snd_rollup_whole(rows, row, SND_METRIC_TOTAL);
    node->vm_ns = snd_rollup_whole(rows, row, SND_METRIC_GRAPH_VM);
    node->created = snd_rollup_whole(rows, row, SND_METRIC_GRAPH_CREATED);
    node->inplace = snd_rollup_whole(rows, row, SND_METRIC_GRAPH_INPLACE);
    node->view = snd_rollup_whole(rows, row, SND_METRIC_GRAPH_VIEW);
    node->peak = snd_rollup_whole(rows, row, SND_METRIC_GRAPH_PEAK);
    node->before = snd_rollup_whole(rows, row, SND_METRIC_GRAPH_BEFORE);
    node->after = snd_rollup_whole(rows, row, SND_METRIC_GRAPH_AFTER);
    if (node->site->kind == SND_SITE_GRAPH_APPLY) {
        node->applies = 1;
        add_implementation(node, implementation_of(node->site->detail));
    }
    if (snd_graph_has(node, SND_METRIC_OP_FLOPS)) {
        node->flops = snd_rollup_real(rows, row, SND_METRIC_OP_FLOPS);
        node->flops_ns = node->total_ns;
    }
}

/* What a class and an operator have is the sum of their nodes. A parent's number is smaller than its children's. */
static void
add_up(snd_graph *self)
{
    for (uint32_t i = self->count; i-- > 1;) {
        const snd_graph_node *node = &self->nodes[i];
        snd_graph_node *above = &self->nodes[node->parent];
        if (node->site->kind == SND_SITE_GRAPH_APPLY) {
            self->thunks_ns += node->total_ns;
            self->is_timed |= snd_graph_has(node, SND_METRIC_TOTAL);
        }
        above->applies += node->applies;
        if (!snd_graph_is_sum(above) || !snd_graph_is_run(node))
            continue;
        add_implementation(above, node->implementations[0]);
        add_implementation(above, node->implementations[1]);
        above->count += node->count;
        above->total_ns += node->total_ns;
        above->flops += node->flops;
        above->flops_ns += node->flops_ns;
        above->present |= node->present;
    }
}

static void
link_children(snd_graph *self)
{
    for (uint32_t i = self->count; i-- > 1;) {
        snd_graph_node *parent = &self->nodes[self->nodes[i].parent];
        self->nodes[i].next = parent->first;
        parent->first = i;
        if (snd_graph_is_slow(&self->nodes[i]))
            parent->first_slow = i;
    }
}

/* A function becomes the first node, or is added to it; what is in it comes below. */
static void
add_function_nodes(const snd_graph_functions *functions, const snd_rollup *rows, uint32_t number, snd_graph *graph)
{
    const snd_graph_function *function = &functions->rows[number];
    const snd_profile *profile = rows->profile;

    for (uint32_t i = 0; i < function->node_count; i++) {
        uint32_t from = functions->nodes[function->first + i], row = rows->row_of[from];
        uint32_t *node = &functions->node_of[row], parent = profile->nodes[from].parent;
        if (*node != SND_NONE)
            continue;
        *node = graph->count;
        new_node(graph, from == function->node ? SND_NONE : functions->node_of[rows->row_of[parent]],
                 &profile->sites[profile->nodes[from].site], function->name);
        set_numbers(rows, row, &graph->nodes[*node]);
    }
    graph->function_count++;
}

void
snd_graph_make(const snd_graph_functions *functions, uint32_t number, snd_graph *out)
{
    const snd_rollup *rows = number == SND_NONE ? &functions->together : &functions->apart;
    snd_graph self = {0};

    for (uint32_t i = 0; i < rows->count && number == SND_NONE; i++)
        functions->node_of[i] = SND_NONE;
    for (uint32_t i = 0; number != SND_NONE && i < functions->rows[number].node_count; i++)
        functions->node_of[rows->row_of[functions->nodes[functions->rows[number].first + i]]] = SND_NONE;
    for (uint32_t i = 0; i < functions->count && number == SND_NONE; i++)
        if (functions->rows[i].outer == SND_NONE)
            add_function_nodes(functions, rows, i, &self);
    if (number != SND_NONE)
        add_function_nodes(functions, rows, number, &self);
    add_up(&self);
    link_children(&self);
    *out = self;
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
compare_variables(const void *a, const void *b, void *context)
{
    const snd_graph *self = context;
    const char *x = self->nodes[*(const uint32_t *)a].site->name, *y = self->nodes[*(const uint32_t *)b].site->name;
    size_t x_len = strlen(x), y_len = strlen(y);

    if (*x != *y)
        return (unsigned char)*x < (unsigned char)*y ? -1 : 1;
    if (x_len != y_len)
        return x_len < y_len ? -1 : 1;
    return strcmp(x, y);
}

uint32_t *
snd_graph_variables(const snd_graph *self, uint32_t node, uint32_t *count)
{
    uint32_t room = 0;

    for (uint32_t i = self->nodes[node].first; i != SND_NONE; i = self->nodes[i].next)
        room++;
    uint32_t *list = snd_malloc(((size_t)room + 1) * sizeof *list);
    *count = 0;
    if (list == NULL)
        return NULL;
    for (uint32_t i = self->nodes[node].first; i != SND_NONE; i = self->nodes[i].next)
        if (self->nodes[i].site->kind == SND_SITE_GRAPH_VARIABLE)
            list[(*count)++] = i;
    qsort_r(list, *count, sizeof *list, compare_variables, (void *)(uintptr_t)self);
    return list;
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
