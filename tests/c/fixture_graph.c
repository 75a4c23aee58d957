/* Profiles with compiled functions, made by hand. */
#include "fixture_graph.h"

#include "check.h"
#include "fixture.h"
#include "store/writer.h"

#include <string.h>

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

static uint32_t
graph_site(snd_profile *profile, snd_site_kind kind, const char *name, const char *detail)
{
    snd_profile_site site = {.kind = kind, .name = name, .file = "", .detail = detail};
    uint32_t id;

    for (uint32_t i = 0; i < profile->site_count; i++) {
        const snd_profile_site *known = &profile->sites[i];
        if (known->kind == kind && strcmp(known->name, name) == 0 && strcmp(known->detail, detail) == 0)
            return i;
    }
    REQUIRE(snd_profile_add_site(profile, &site, &id) == SND_OK);
    return id;
}

uint32_t
add_graph(snd_profile *profile, uint32_t parent, snd_site_kind kind, const char *name, const char *detail)
{
    uint32_t site = graph_site(profile, kind, name, detail), node;

    for (uint32_t i = parent; i < profile->node_count; i++)
        if (profile->nodes[i].parent == parent && profile->nodes[i].site == site)
            return i;
    REQUIRE(snd_profile_add_node(profile, parent, profile->nodes[parent].track, site, &node) == SND_OK);
    return node;
}

static uint32_t
add_timed(snd_profile *profile, uint32_t parent, snd_site_kind kind, const char *name, uint64_t total_ns)
{
    uint32_t node = add_graph(profile, parent, kind, name, "");

    set_whole(profile, node, SND_METRIC_TOTAL, total_ns);
    return node;
}

uint32_t
add_apply(snd_profile *profile, uint32_t function, const char *const texts[4], uint64_t count, uint64_t total_ns)
{
    const char *dot = strrchr(texts[0], '.');
    uint32_t class = add_graph(profile, function, SND_SITE_GRAPH_CLASS, dot == NULL ? texts[0] : dot + 1, texts[0]);
    uint32_t op = add_graph(profile, class, SND_SITE_GRAPH_OP, texts[1], "");
    uint32_t node = add_graph(profile, op, SND_SITE_GRAPH_APPLY, texts[2], texts[3]);

    set_whole(profile, node, SND_METRIC_COUNT, count);
    set_whole(profile, node, SND_METRIC_TOTAL, total_ns);
    return node;
}

static uint32_t
add_function(snd_profile *profile, uint32_t parent, const char *name, uint64_t count, uint64_t total_ns, uint64_t vm_ns)
{
    uint32_t node = add_timed(profile, parent, SND_SITE_GRAPH, name, total_ns);

    set_whole(profile, node, SND_METRIC_COUNT, count);
    set_whole(profile, node, SND_METRIC_GRAPH_VM, vm_ns);
    return node;
}

static void
set_sizes(snd_profile *profile, uint32_t node, uint64_t created, uint64_t inplace, uint64_t view)
{
    set_whole(profile, node, SND_METRIC_GRAPH_CREATED, created);
    set_whole(profile, node, SND_METRIC_GRAPH_INPLACE, inplace);
    set_whole(profile, node, SND_METRIC_GRAPH_VIEW, view);
}

/* Names as the recording has them, not in the order in which people read them. */
static void
add_shapes(snd_profile *profile, uint32_t node)
{
    add_graph(profile, node, SND_SITE_GRAPH_VARIABLE, "output 0", "float64 (400,), strides (8,)");
    add_graph(profile, node, SND_SITE_GRAPH_VARIABLE, "input 10", "float64 ()");
    add_graph(profile, node, SND_SITE_GRAPH_VARIABLE, "input 2", "float64 (400, 784), strides (6272, 8)");
    uint32_t old = add_graph(profile, node, SND_SITE_GRAPH_VARIABLE, "input 2", "float64 (3, 784), strides (6272, 8)");
    set_whole(profile, old, SND_METRIC_GRAPH_GONE, 1);
}

static void
add_train_nodes(snd_profile *profile, uint32_t train)
{
    static const char gemv[] = "aesara.tensor.blas_c.CGemv", elemwise[] = "aesara.tensor.elemwise.Elemwise";
    static const char *const texts[][4] = {
        {gemv, "CGemv{inplace}", "CGemv{inplace}(AllocEmpty{dtype='float64'}.0, 1.0, x, w, 0.0)", "#3 C"},
        {gemv, "CGemv{inplace}", "CGemv{inplace}(w, -0.1, x.T, Elemwise{sub}.0, 0.998)", "#17 C"},
        {"aesara.scan.op.Scan", "for{cpu,scan_fn}", "for{cpu,scan_fn}(n, x)", "#12 Py"},
        {elemwise, "Elemwise{sub}", "Elemwise{sub}(y, p)", "#8 C"},
        {elemwise, "Elemwise{gt,no_inplace}", "Elemwise{gt,no_inplace}(p, 0.5)", "#15 Py"},
    };
    static const uint64_t times[] = {600 * MS, 380 * MS, 120 * MS, 43700 * US, 800 * US};

    for (size_t i = 0; i < 5; i++) {
        uint32_t node = add_apply(profile, train, texts[i], 1000, times[i]);
        if (i < 2) {
            set_real(profile, node, SND_METRIC_OP_FLOPS, 627.2e6);
            add_shapes(profile, node);
        }
        set_sizes(profile, node, i == 3 ? 3200 : i == 4 ? 400 : 0, i == 0 ? 3200 : i == 1 ? 6272 : 0, i == 2 ? 8 : 0);
        if (i != 2)
            continue;
        uint32_t step = add_function(profile, node, "step", 9000, 100 * MS, 90 * MS);
        add_apply(profile, step, (const char *const[]){elemwise, "Elemwise{mul}", "Elemwise{mul}(a, b)", "#0 C"}, 9000,
                  80 * MS);
    }
}

static void
set_rewriter(snd_profile *profile, uint32_t node, uint64_t applied, uint64_t before, uint64_t after)
{
    if (applied != UINT64_MAX)
        set_whole(profile, node, SND_METRIC_COUNT, applied);
    if (before != 0) {
        set_whole(profile, node, SND_METRIC_GRAPH_BEFORE, before);
        set_whole(profile, node, SND_METRIC_GRAPH_AFTER, after);
    }
}

static void
add_rewriters(snd_profile *profile, uint32_t rewriting)
{
    uint32_t all = add_timed(profile, rewriting, SND_SITE_GRAPH_REWRITER, "SeqOptimizer", 1390 * MS);
    uint32_t merge = add_timed(profile, all, SND_SITE_GRAPH_REWRITER, "merge1", 30 * MS);
    uint32_t canonicalize = add_timed(profile, all, SND_SITE_GRAPH_REWRITER, "canonicalize", 600 * MS);

    set_rewriter(profile, all, UINT64_MAX, 57, 21);
    set_rewriter(profile, merge, 4, 57, 50);
    set_rewriter(profile, canonicalize, 0, 50, 33);
    add_timed(profile, merge, SND_SITE_GRAPH_PHASE, "validation", 3 * MS);
    set_rewriter(profile, add_timed(profile, canonicalize, SND_SITE_GRAPH_REWRITER, "local_lift", 41 * MS), 12, 0, 0);
    set_rewriter(profile, add_timed(profile, canonicalize, SND_SITE_GRAPH_REWRITER, "local_never", 20 * US), 0, 0, 0);
    set_rewriter(profile, add_timed(profile, canonicalize, SND_SITE_GRAPH_REWRITER, "local_slow", 2 * MS), 0, 0, 0);
}

static void
add_compiling(snd_profile *profile, uint32_t train)
{
    uint32_t compile = add_timed(profile, train, SND_SITE_GRAPH_PHASE, "compile", 2345 * MS);
    uint32_t rewriting = add_timed(profile, compile, SND_SITE_GRAPH_PHASE, "rewriting", 1400 * MS);
    uint32_t linking = add_timed(profile, compile, SND_SITE_GRAPH_PHASE, "linking", 900 * MS);

    add_timed(profile, rewriting, SND_SITE_GRAPH_PHASE, "validation", 120 * MS);
    add_rewriters(profile, rewriting);
    add_timed(profile, linking, SND_SITE_GRAPH_PHASE, "import", 110 * MS);
    add_timed(profile, linking, SND_SITE_GRAPH_PHASE, "C compilation", 700 * MS);
    for (uint64_t i = 0; i < 7; i++) {
        static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g"};
        uint32_t node = add_graph(profile, linking, SND_SITE_GRAPH_PHASE, names[i], "node");
        set_whole(profile, node, SND_METRIC_TOTAL, (10 + i * 4 % 7) * MS);
    }
}

static void
add_peaks(snd_profile *profile, uint32_t function, uint64_t bytes)
{
    static const char *const names[] = {"peak, as executed", "peak without in-place", "peak without garbage collection",
                                        "peak measured"};

    for (size_t i = 0; i < 4; i++)
        set_whole(profile, add_graph(profile, function, SND_SITE_GRAPH_MEMORY, names[i], ""), SND_METRIC_GRAPH_PEAK,
                  bytes + i * 1000);
}

void
add_graphs(snd_profile *profile, uint32_t root)
{
    static const char *const compare[] = {"aesara.tensor.elemwise.Elemwise", "Elemwise{gt,no_inplace}",
                                          "Elemwise{gt,no_inplace}(p, 0.5)", "#1 C"};
    uint32_t predict = add_function(profile, root, "predict", 1, 41 * US, 30 * US);
    uint32_t train = add_function(profile, root, "train", 1000, 1234 * MS, 1190 * MS);

    add_apply(profile, predict, compare, 1, 7123);
    add_peaks(profile, predict, 500);
    add_train_nodes(profile, train);
    add_compiling(profile, train);
    add_peaks(profile, train, 2512000);
    add_function(profile, root, "unused", 0, 0, 0);
    uint32_t old = add_function(profile, root, "recompiled", 0, 0, 0);
    set_whole(profile, old, SND_METRIC_GRAPH_GONE, 1);
}

snd_profile *
graph_profile(void)
{
    snd_profile *profile = snd_profile_new();

    REQUIRE(profile != NULL);
    add_graphs(profile, add_root(profile, add_track(profile, "main", 100, 0, 5000 * MS), 5000 * MS, 5000 * MS));
    set_info(profile, "program", "prog");
    set_info(profile, "probes", "region, graph");
    set_info(profile, "process_id", "100");
    set_info(profile, "length_ns", "5000000000");
    set_info(profile, "complete", "1");
    set_info(profile, "graph_note_1", "step: its nodes are timed by sonde");
    set_info(profile, "graph_tip_1", "train: for{cpu,scan_fn} runs in Python");
    set_info(profile, "graph_tip_2", "train: x is copied to C order");
    return profile;
}

void
write_graphs(const char *path)
{
    snd_profile *profile = graph_profile();

    write_profile(path, profile, 0);
    snd_profile_free(profile);
}
