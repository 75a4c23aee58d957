/* A profile with operators, made by hand. */
#include "fixture_ops.h"

#include "check.h"
#include "fixture.h"
#include "store/writer.h"

#include <string.h>

#define MS UINT64_C(1000000)

static const char small[] = "float64[100,100], float64[100,100]";
static const char large[] = "float64[200,200], float64[200,200]";

/* A site of the same texts is the same one. */
static uint32_t
op_site(snd_profile *profile, snd_profile_site site)
{
    uint32_t id;

    for (uint32_t i = 0; i < profile->site_count; i++) {
        const snd_profile_site *known = &profile->sites[i];
        if (known->kind == site.kind && known->line == site.line && strcmp(known->name, site.name) == 0 &&
            strcmp(known->detail, site.detail) == 0)
            return i;
    }
    REQUIRE(snd_profile_add_site(profile, &site, &id) == SND_OK);
    return id;
}

uint32_t
add_op(snd_profile *profile, uint32_t parent, const char *name, const char *detail, uint32_t line, uint64_t count,
       uint64_t each_ns, uint64_t self_ns)
{
    uint32_t node = add_region(profile, parent, "op", count, each_ns, self_ns);
    snd_profile_site site = {.kind = SND_SITE_OP, .name = name, .file = "/app/prog.py", .line = line, .detail = detail};

    profile->nodes[node].site = op_site(profile, site);
    return node;
}

static void
set_work(snd_profile *profile, uint32_t node, uint64_t read, uint64_t written, double flops)
{
    set_whole(profile, node, SND_METRIC_OP_READ, read);
    set_whole(profile, node, SND_METRIC_OP_WRITTEN, written);
    set_whole(profile, node, SND_METRIC_OP_COPIES, 0);
    set_whole(profile, node, SND_METRIC_OP_CASTS, 0);
    if (flops > 0)
        set_real(profile, node, SND_METRIC_OP_FLOPS, flops);
}

static void
add_step(snd_profile *profile, uint32_t root)
{
    uint32_t step = add_region(profile, root, "step", 2, 35 * MS, 10 * MS);
    uint32_t dot = add_op(profile, step, "numpy.dot", small, 10, 4, 2 * MS, 8 * MS);
    set_work(profile, dot, 4 * 160000, 4 * 80000, 8e6);
    dot = add_op(profile, step, "numpy.dot", large, 11, 2, 18 * MS, 36 * MS);
    set_work(profile, dot, 2 * 640000, 2 * 320000, 32e6);
    set_whole(profile, dot, SND_METRIC_OP_COPIES, 2);
    uint32_t apply = add_op(profile, step, "numpy.apply_along_axis", "float64[3,100]", 12, 1, 12 * MS, 6 * MS);
    set_work(profile, apply, 2400, 2400, 0);
    uint32_t inner = add_region(profile, apply, "inner", 3, 2 * MS, 4 * MS);
    dot = add_op(profile, inner, "numpy.dot", small, 14, 1, 2 * MS, 2 * MS);
    set_work(profile, dot, 160000, 80000, 2e6);
    uint32_t direct = add_region(profile, step, "inner", 1, 4 * MS, 4 * MS);
    profile->nodes[direct].site = profile->nodes[inner].site;
}

snd_profile *
ops_profile(void)
{
    snd_profile *profile = snd_profile_new();

    REQUIRE(profile != NULL);
    uint32_t root = add_root(profile, add_track(profile, "main", 100, 0, 100 * MS), 100 * MS, 25 * MS);
    add_step(profile, root);
    uint32_t add = add_op(profile, root, "numpy.add", "float64[1000], int64[1000]", 20, 5, MS, 5 * MS);
    set_work(profile, add, 80000, 40000, 5000);
    set_whole(profile, add, SND_METRIC_OP_CASTS, 5);
    uint32_t worker = add_root(profile, add_track(profile, "worker", 107, 50 * MS, 100 * MS), 50 * MS, 40 * MS);
    add = add_op(profile, worker, "numpy.add", "float64[1000], float64[1000]", 20, 2, 5 * MS, 10 * MS);
    set_work(profile, add, 32000, 16000, 2000);
    set_info(profile, "program", "prog");
    set_info(profile, "program_path", "/app/prog.py");
    set_info(profile, "probes", "region, op");
    set_info(profile, "process_id", "100");
    set_info(profile, "own_cost_ns", "50");
    set_info(profile, "length_ns", "100000000");
    set_info(profile, "complete", "1");
    return profile;
}

void
write_ops(const char *path)
{
    snd_profile *profile = ops_profile();

    write_profile(path, profile, 0);
    snd_profile_free(profile);
}
