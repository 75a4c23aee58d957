/* What several test files need: files, a profile made by hand, a clock that tests move, threads and children. */
#ifndef SND_TEST_FIXTURE_H
#define SND_TEST_FIXTURE_H

#include "base/buffer.h"
#include "model/profile.h"

/* ---- memory ---- */

/* Runs `attempt` with the first allocation failing, then the second, … until it says SND_OK; every answer before
 * that must be SND_NO_MEMORY. Returns how many allocations there are. With FAIL_EVERY=n in the environment, as in
 * `make check`, only every n-th fails after the first 16, and the count is rounded up to that. */
typedef snd_status test_attempt(void *context);
unsigned fail_each_allocation(test_attempt *attempt, void *context);

/* ---- files ---- */

/* A path in a folder that is removed at exit. Valid until the eighth call after this one. */
const char *temp_path(const char *name);

/* The caller frees the bytes, which end with a NUL. `size` may be NULL. Ends the program when it cannot be read. */
char *read_file(const char *path, size_t *size);
void write_file(const char *path, const void *data, size_t size);

/* Files that this process has open. */
unsigned files_open(void);

/* How often `part` stands in `text`. */
unsigned count_text(const char *text, const char *part);

/* ---- chance, the same in every run ---- */

/* A number below `bound`; the next one every time. */
uint64_t draw(uint64_t *state, uint64_t bound);

/* Between 0 and 1, never one of them. */
double draw_share(uint64_t *state);

/* ---- profiles ---- */

/* Tracks "main" and "worker"; on main load (2 entries) with parse below it (10 entries), write (1 entry) and the
 * counter queue; on worker parse (4 entries, one still open). Every root's total is the sum of its nodes' self. */
snd_profile *small_profile(void);

uint32_t add_site(snd_profile *profile, snd_site_kind kind, const char *name);
uint32_t add_track(snd_profile *profile, const char *name, uint32_t thread_id, uint64_t start_ns, uint64_t end_ns);
uint32_t add_root(snd_profile *profile, uint32_t track, uint64_t total_ns, uint64_t self_ns);

/* A region whose entries all took `each_ns`. */
uint32_t add_region(snd_profile *profile, uint32_t parent, const char *name, uint64_t count, uint64_t each_ns,
                    uint64_t self_ns);
void set_whole(snd_profile *profile, uint32_t node, snd_metric metric, uint64_t value);
void set_real(snd_profile *profile, uint32_t node, snd_metric metric, double value);
void set_info(snd_profile *profile, const char *key, const char *value);

/* The node at a path of names such as "load/parse" on the track of that name; SND_NONE: there is none. "" is the
 * root. */
uint32_t find_node(const snd_profile *profile, const char *track, const char *path);
uint32_t find_track(const snd_profile *profile, const char *name);

/* A metric of find_node's node; 0 where there is none. */
uint64_t node_whole(const snd_profile *profile, const char *track, const char *path, snd_metric metric);
double node_real(const snd_profile *profile, const char *track, const char *path, snd_metric metric);

/* Sum of the self times of a track's nodes. */
uint64_t self_sum(const snd_profile *profile, uint32_t track);

/* How many threads the tracks are of. */
uint64_t thread_count(const snd_profile *profile);

/* Writes the profile as a recording, with `events` events on each of its nodes. */
void write_profile(const char *path, const snd_profile *profile, unsigned events);

/* Opens the recording and reads all of it, events too; the first status that is not SND_OK. */
snd_status read_status(const char *path);

/* What the recording at `path` holds, in a profile of the caller's; ends the program when it cannot be read. */
snd_profile *read_recording(const char *path);

/* Whether both hold the same sites, tracks, nodes, values, histograms, infos and sources; prints the first difference.
 */
int profiles_are_equal(const snd_profile *a, const snd_profile *b);

/* ---- live tracks ---- */

/* A clock that only tests move. */
extern _Atomic uint64_t test_ticks;
uint64_t test_clock(void);

void pass_time(uint64_t ticks);

/* The calling thread's track, named and empty, with the clock above. */
struct snd_track *start_anew(const char *name);

/* A region, or a counter, of that name; ends the program when it gets no id. */
uint32_t region_site(const char *name);
uint32_t counter_site(const char *name);
uint32_t operator_site(const char *name); /* SND_NONE when it gets no id */

/* Enters that region on the calling thread and leaves it. */
void enter_and_leave(const char *name);

/* What the live tracks hold now, in a profile of the caller's. */
snd_profile *profile_now(void);

/* The same in place of the last one. */
void look_again(snd_profile **profile);

/* ---- the program's own measurements, by the public interface ---- */

void enter_named(const char *name, unsigned count);

/* In the recording at `path` the region was entered so often on main. */
void check_count(const char *path, const char *name, uint64_t wanted);

/* ---- threads and processes ---- */

void run_in_thread(void (*function)(void));
void sleep_ms(unsigned ms);

/* Looks every 20 ms, for 30 s at most. Whether it became true. */
int wait_until(int (*is_true)(const char *context), const char *context);

/* Runs `function` in a forked child, which ends with what it returns. The status of waitpid. */
int run_in_child(int (*function)(void));

/* As RUN, inside a work (base/work.h): what a view allocates is freed with it. */
#define RUN_WORK(test) run_in_work(#test, test)
void run_in_work(const char *name, void (*test)(void));

#endif
