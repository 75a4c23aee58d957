/* sonde doctor: check what works on this machine, and why something does not. */
#include "cli/commands.h"

#include "base/buffer.h"
#include "cli/core/common.h"
#include "cli/core/program.h"
#include "format/page/page.h"
#include "os/clock.h"
#include "os/process.h"
#include "os/usage/nvml.h"
#include "probe/region/region.h"
#include "store/writer.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* One finding: SND_OK or not, and a sentence. */
typedef int check(snd_buffer *why);

static uint64_t
cost_of(uint64_t (*read_clock)(void))
{
    enum { READS = 1000 };
    uint64_t before = snd_clock_monotonic_ns();
    for (int i = 0; i < READS; i++)
        (void)read_clock();
    return (snd_clock_monotonic_ns() - before) / READS;
}

static uint64_t
read_ticks(void)
{
    return snd_clock_ticks();
}

static int
check_clock(snd_buffer *why)
{
    snd_clock_start(NULL);
    const char *fault = snd_clock_why_not_counter();
    if (fault == NULL)
        snd_buffer_printf(why, "time-stamp counter at %.3f GHz", (double)snd_clock_counter_hz() / 1e9);
    else
        snd_buffer_printf(why, "system clock: %s", fault);
    snd_buffer_printf(why, ", %llu ns per read", (unsigned long long)cost_of(read_ticks));
    return 1; /* either works */
}

static int
check_cpu_clock(snd_buffer *why)
{
    if (snd_clock_thread_cpu_ns() == 0) {
        snd_buffer_text(why, "this system has no CPU clock per thread");
        return 0;
    }
    snd_buffer_printf(why, "%llu ns per read; two reads per entry when enabled",
                      (unsigned long long)cost_of(snd_clock_thread_cpu_ns));
    return 1;
}

/* What a region and sonde stat can count here; without perf events it is less. */
static int
check_counters(snd_buffer *why)
{
    const snd_system_counter_set all = (1u << SND_SYSTEM_COUNTER_COUNT_OF) - 1;
    snd_buffer missing = {0};
    int is_whole = snd_system_counter_choose(all) == all;

    snd_system_counter_describe(why, &missing);
    if (missing.size != 0)
        snd_buffer_printf(why, "; not %s", snd_buffer_str(&missing));
    (void)snd_system_counter_choose(0);
    snd_buffer_free(&missing);
    return is_whole;
}

static int
check_regions(snd_buffer *why)
{
    uint64_t cost = snd_region_own_cost_ns();
    snd_buffer_printf(why, "%llu ns to enter and leave a region from C", (unsigned long long)cost);
    return cost != 0;
}

/* Writes a recording in the current folder and reads it again. */
static int
check_recording(snd_buffer *why)
{
    char path[PATH_MAX];
    char here[PATH_MAX - 64];
    snd_writer *writer = NULL;
    snd_reader *reader = NULL;
    snd_profile *profile = snd_profile_new();

    if (getcwd(here, sizeof here) == NULL || profile == NULL)
        strcpy(here, "/tmp");
    snprintf(path, sizeof path, "%s/.sonde-doctor-%u.sonde", here, snd_process_id());
    snd_status status = profile == NULL ? SND_NO_MEMORY : snd_writer_open(path, &writer);
    if (status == SND_OK)
        status = snd_writer_checkpoint(writer, profile, NULL);
    if (status == SND_OK)
        status = snd_reader_open(path, &reader);
    if (status == SND_OK)
        snd_buffer_printf(why, "can write and read recordings in %s (%s)", here, snd_reader_library());
    else
        snd_buffer_printf(why, "cannot write a recording in %s: %s", here, snd_status_detail(status, errno));
    if (writer != NULL) /* else what is there is not ours */
        unlink(path);
    snd_reader_free(reader);
    snd_writer_free(writer);
    snd_profile_free(profile);
    return status == SND_OK;
}

static int
check_timeline(snd_buffer *why)
{
    snd_buffer_printf(why, "zlib %s, %u bytes per event, up to %u events per thread waiting to be saved", zlibVersion(),
                      (unsigned)sizeof(snd_event), SND_RING_SLOTS);
    return 1;
}

static int
check_python(snd_buffer *why)
{
    snd_buffer answer = {0};
    char program[PATH_MAX + 32];
    int works = 0;

    if (!snd_python_find(program, sizeof program))
        snd_buffer_text(why, "no Python was found next to this binary or on PATH");
    else if (!snd_python_ask("import platform, sys, sonde\n"
                             "is_free = 't' in sys.abiflags\n"
                             "print(platform.python_version(), sonde.__version__ + "
                             "('; free-threaded: importing sonde turns the GIL on' if is_free else ''))",
                             &answer))
        snd_buffer_printf(why, "%s cannot import sonde; install sonde-profiler there", program);
    else {
        snd_buffer_printf(why, "%s (Python and sonde %s)", program, snd_buffer_str(&answer));
        works = 1;
    }
    snd_buffer_free(&answer);
    return works;
}

/* Measures some calls in the Python that was found. */
static int
check_calls(snd_buffer *why)
{
    static const char code[] = "from sonde._core import Calls; p, c = Calls(builtins=False), Calls(); "
                               "print(f'through {p.hook()}: {p.own_cost()} ns per call; with C functions, through '"
                               "f'{c.hook()}: {c.own_cost()} ns')";
    int works = snd_python_ask(code, why);

    if (!works)
        snd_buffer_text(why, "cannot measure calls with this Python");
    return works;
}

/* Samples of a busy loop of 50 ms, which must be found in the machine code of the interpreter's loop; the note says
 * what does not work. */
static int
check_samples(snd_buffer *why)
{
    static const char code[] =
        "import time\n"
        "from sonde import _core\n"
        "exec('def loop(b):\\n for _ in range(40): ' + 'a = b; b = a; ' * 1000)\n"
        "_core.start({'rate': 1000, 'native': True})\n"
        "end = time.monotonic() + 0.05\n"
        "while time.monotonic() < end: loop(None)\n"
        "seen = _core.profile()\n"
        "_core.stop()\n"
        "way = 'by signal' if seen.info('signals') == '1' else 'from outside'\n"
        "cost = seen.info('own_sample_cost_ns')\n"
        "count = lambda name: int(seen.info(name) or 0)\n"
        "outside = count('samples_plain') - count('samples_plain_inside')\n"
        "is_half = lambda part, whole: part > 5 and 2 * part > whole\n"
        "is_wrong = is_half(outside, count('samples_plain')) or "
        "is_half(count('native_misfits'), count('native_stitched'))\n"
        "if is_wrong: print('a plain Python loop does not run where the interpreter should be: '\n"
        "    'Python and native time may be confused')\n"
        "else: print(seen.info('note') or f'{way}, with native frames: {cost} ns per sample')\n"
        "raise SystemExit(is_wrong)";
    int works = snd_python_ask(code, why);

    if (!works && why->size == 0)
        snd_buffer_text(why, "cannot take samples with this Python");
    return works;
}

/* A block of 64 MB must be seen to a hundredth. */
static int
check_memory(snd_buffer *why)
{
    static const char code[] = "import time\n"
                               "from sonde import _core\n"
                               "def blocks():\n"
                               "    start = time.perf_counter_ns()\n"
                               "    for _ in range(10_000): bytearray(40)\n" /* two blocks each */
                               "    return (time.perf_counter_ns() - start) / 20_000\n"
                               "def cost(): return min(blocks() for _ in range(9))\n"
                               "_core.start({'memory': True})\n"
                               "block = bytes(64_000_000)\n"
                               "seen = _core.memory_now()['live_bytes']\n"
                               "with_us = cost()\n"
                               "_core.stop()\n"
                               "assert abs(seen - 64e6) < 64e4\n"
                               "print(f'saw a 64 MB block; {max(with_us - cost(), 0):.1f} ns per small block')";
    int works = snd_python_ask(code, why);

    if (!works)
        snd_buffer_text(why, "did not see a block that this Python allocated");
    return works;
}

/* Every entry point of NumPy that is there, and what an addition costs more with it. */
static int
check_operators(snd_buffer *why)
{
    static const char code[] =
        "import time, numpy\n"
        "from sonde import _core\n"
        "a = numpy.ones(8)\n"
        "def adds():\n"
        "    start = time.perf_counter_ns()\n"
        "    for _ in range(5_000): a + a\n"
        "    return (time.perf_counter_ns() - start) / 5_000\n"
        "def cost(): return min(adds() for _ in range(9))\n"
        "_core.start({'ops': True})\n"
        "_core.ops_start()\n"
        "count, with_us = len(_core.ops_hooked()), cost()\n"
        "_core.ops_stop()\n"
        "_core.stop()\n"
        "print(f'{count} of NumPy {numpy.__version__}; {max(with_us - cost(), 0):.0f} ns per call')";
    int works = snd_python_ask(code, why);

    if (!works)
        snd_buffer_text(why, "this Python has no NumPy, or an unknown version of it");
    return works;
}

static int
check_gpu(snd_buffer *why)
{
    snd_nvml *nvml = snd_nvml_open();

    if (nvml == NULL)
        snd_buffer_text(why, "no NVML library, or no GPU that it knows; views have no GPU columns");
    else
        snd_buffer_printf(why, "NVML with %u GPU%s", snd_nvml_count(nvml), snd_nvml_count(nvml) == 1 ? "" : "s");
    int is_there = nvml != NULL;
    snd_nvml_close(nvml);
    return is_there;
}

static int
check_page(snd_buffer *why)
{
    snd_buffer_text(why, snd_page_exists() ? "sonde report can write pages" : SND_PAGE_MISSING);
    return snd_page_exists();
}

static int
check_terminal(snd_buffer *why)
{
    static const snd_setting none[] = {{0}};
    static const snd_command nothing = {.name = "", .options = none};
    snd_arguments given = {.command = &nothing};
    snd_format_options look = snd_terminal_options(&given);

    snd_buffer_printf(why, "color %s, Unicode %s", look.colour ? "on" : "off", look.unicode ? "on" : "off");
    return 1;
}

static const struct {
    const char *name;
    check *run;
    int is_optional; /* a machine without it lacks nothing */
} checks[] = {
    {"clock", check_clock, 0},       {"CPU clock", check_cpu_clock, 0},
    {"regions", check_regions, 0},   {"recording", check_recording, 0},
    {"timeline", check_timeline, 0}, {"Python", check_python, 0},
    {"calls", check_calls, 0},       {"samples", check_samples, 0},
    {"memory", check_memory, 0},     {"operators", check_operators, 1},
    {"GPU", check_gpu, 1},           {"counters", check_counters, 1},
    {"page", check_page, 1},         {"terminal", check_terminal, 0},
};

static int
run(const snd_arguments *given)
{
    int failed = 0;

    (void)given;
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        snd_buffer why = {0};
        int works = checks[i].run(&why);
        failed |= !works && !checks[i].is_optional;
        printf("%-10s %-4s %s\n", checks[i].name, works ? "ok" : "off", snd_buffer_str(&why));
        snd_buffer_free(&why);
    }
    return failed ? SND_EXIT_FAILED : SND_EXIT_OK;
}

static const snd_setting options[] = {{0}};

const snd_command snd_command_doctor = {
    .name = "doctor",
    .usage = "",
    .about = "check what works on this machine, and why something does not",
    .options = options,
    .run = run,
    .examples = {{"sonde doctor", "check this machine; exit with status 1 if something essential does not work"},
                 {"LC_ALL=C sonde doctor", "the same in ASCII, for a bug report"}},
};
