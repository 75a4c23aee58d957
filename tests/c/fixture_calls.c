/* Profiles of calls, made by hand, and calls that are measured. */
#include "fixture_calls.h"

#include "check.h"
#include "fixture.h"
#include "probe/core/snapshot.h"

uint32_t
add_call_site(snd_profile *profile, snd_site_kind kind, const char *name, uint32_t line, const char *detail)
{
    snd_profile_site site = {kind, name, kind == SND_SITE_BUILTIN ? "" : "/app/run.py", line, detail, 0, 0};
    uint32_t id;

    REQUIRE(snd_profile_add_site(profile, &site, &id) == SND_OK);
    return id;
}

uint32_t
add_call(snd_profile *profile, uint32_t parent, uint32_t site, uint64_t count, uint64_t total_ns, uint64_t self_ns)
{
    uint32_t node;

    REQUIRE(snd_profile_add_node(profile, parent, profile->nodes[parent].track, site, &node) == SND_OK);
    set_whole(profile, node, SND_METRIC_COUNT, count);
    set_whole(profile, node, SND_METRIC_TOTAL, total_ns);
    set_whole(profile, node, SND_METRIC_SELF, self_ns);
    return node;
}

static void
set_run(snd_profile *profile)
{
    set_info(profile, "program", "run.py");
    set_info(profile, "process_id", "100");
    set_info(profile, "own_call_cost_ns", "50");
    set_info(profile, "length_ns", "10000000");
    set_info(profile, "complete", "1");
}

/* main() is open, fib() calls itself, fetch() is a coroutine that waits. */
static void
add_main_calls(snd_profile *profile, uint32_t root, uint32_t move)
{
    uint32_t main_site = add_call_site(profile, SND_SITE_FUNCTION, "main", 3, "");
    uint32_t fib_site = add_call_site(profile, SND_SITE_FUNCTION, "fib", 10, "");
    uint32_t fetch_site = add_call_site(profile, SND_SITE_FUNCTION, "fetch", 40, "");
    uint32_t len_site = add_call_site(profile, SND_SITE_BUILTIN, "<built-in method builtins.len>", 0, "");
    uint32_t append_site = add_call_site(profile, SND_SITE_BUILTIN, "<method 'append' of 'list' objects>", 0, "");

    uint32_t main_node = add_call(profile, root, main_site, 0, 10000000, 1000000);
    set_whole(profile, main_node, SND_METRIC_OPEN, 1);
    uint32_t fib = add_call(profile, root, fib_site, 21891, 6000000, 6000000);
    set_whole(profile, fib, SND_METRIC_RECURSIVE, 21890);
    uint32_t moves = add_call(profile, root, move, 10, 2000000, 1500000);
    uint32_t fetch = add_call(profile, root, fetch_site, 2, 500000, 500000);
    set_whole(profile, fetch, SND_METRIC_SUSPENDED, 400000);
    set_whole(profile, fetch, SND_METRIC_RESUMES, 3);
    add_call(profile, root, len_site, 4, 500000, 500000);
    add_call(profile, root, append_site, 10, 500000, 500000);

    add_call(profile, main_node, fib_site, 1, 6000000, 300);
    add_call(profile, main_node, move, 10, 2000000, 1500000);
    uint32_t fetched = add_call(profile, main_node, fetch_site, 2, 500000, 500000);
    set_whole(profile, fetched, SND_METRIC_SUSPENDED, 400000);
    set_whole(profile, fetched, SND_METRIC_RESUMES, 3);
    add_call(profile, main_node, len_site, 4, 500000, 500000);
    uint32_t again = add_call(profile, fib, fib_site, 21890, 5999000, 5999700);
    set_whole(profile, again, SND_METRIC_RECURSIVE, 21888);
    add_call(profile, moves, append_site, 10, 500000, 500000);
}

snd_profile *
calls_profile(void)
{
    snd_profile *profile = snd_profile_new();

    REQUIRE(profile != NULL);
    uint32_t main_root = add_root(profile, add_track(profile, "main", 100, 0, 10000000), 10000000, 0);
    uint32_t worker = add_root(profile, add_track(profile, "worker", 107, 2000000, 9000000), 7000000, 6000000);
    uint32_t move = add_call_site(profile, SND_SITE_FUNCTION, "Point.move", 7, "");
    add_main_calls(profile, main_root, move);
    add_call(profile, worker, add_call_site(profile, SND_SITE_FUNCTION, "Point.move", 7, ""), 5, 1000000, 1000000);
    set_run(profile);
    return profile;
}

snd_profile *
signatures_profile(void)
{
    static const char *const details[] = {"dot(a:ndarray(dtype=float32, shape=(16,)), b:int)", "dot(a:int, b:int)"};
    snd_profile *profile = snd_profile_new();

    REQUIRE(profile != NULL);
    uint32_t root = add_root(profile, add_track(profile, "main", 100, 0, 1000), 1000, 0);
    uint32_t main_node =
        add_call(profile, root, add_call_site(profile, SND_SITE_FUNCTION, "main", 3, "main()"), 1, 1000, 100);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t site = add_call_site(profile, SND_SITE_FUNCTION, "dot", 7, details[i]);
        add_call(profile, root, site, 10 + i, 300 + 100 * i, 300 + 100 * i);
        add_call(profile, main_node, site, 10 + i, 300 + 100 * i, 300 + 100 * i);
    }
    uint32_t len_site = add_call_site(profile, SND_SITE_BUILTIN, "<built-in method builtins.len>", 0, "");
    add_call(profile, root, add_call_site(profile, SND_SITE_FUNCTION, "main", 3, ""), 1, 1000, 100);
    add_call(profile, root, add_call_site(profile, SND_SITE_FUNCTION, "dot", 7, ""), 21, 700, 700);
    add_call(profile, root, len_site, 2, 200, 200);
    add_call(profile, main_node, len_site, 2, 200, 200);
    set_run(profile);
    return profile;
}

uint32_t
call_site(const char *name, const char *detail)
{
    uint32_t site = snd_site_add_placed(&(snd_profile_site){SND_SITE_FUNCTION, name, "test.py", 1, detail, 0, 0});
    REQUIRE(site != SND_NONE);
    return site;
}

static const void *
key_of(uint32_t site)
{
    static const char keys[4096];
    REQUIRE(site < sizeof keys);
    return &keys[site];
}

void
call_begin_signature(snd_call_book *book, const char *name, const char *detail)
{
    uint32_t base = call_site(name, "");
    snd_call_thread *thread = snd_call_thread_get(book);

    REQUIRE(thread != NULL);
    snd_call_enter(book, thread, call_site(name, detail), base, key_of(base), 1);
}

void
call_begin(snd_call_book *book, const char *name)
{
    call_begin_signature(book, name, "");
}

void
call_resume(snd_call_book *book, const char *name, uint64_t paused)
{
    uint32_t site = call_site(name, "");
    snd_call_thread *thread = snd_call_thread_get(book);

    REQUIRE(thread != NULL);
    snd_call_enter(book, thread, site, site, key_of(site), 0);
    snd_call_resumed(thread, paused);
}

void
call_end(snd_call_book *book, const char *name)
{
    snd_call_thread *thread = snd_call_thread_get(book);

    REQUIRE(thread != NULL);
    snd_call_leave(book, thread, key_of(call_site(name, "")));
}

snd_profile *
book_profile(const snd_call_book *book)
{
    snd_snapshot snapshot = {0};
    snd_profile *profile = snd_profile_new();
    uint64_t now = snd_call_now(book);

    REQUIRE(profile != NULL);
    for (const snd_call_thread *thread = book->threads; thread != NULL; thread = thread->next)
        REQUIRE(snd_snapshot_add(&snapshot, profile, thread->track, 0, now) == SND_OK);
    snd_snapshot_free(&snapshot);
    return profile;
}
