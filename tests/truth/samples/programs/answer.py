"""What a program knows of itself: its threads' clocks, read around all that it does, and the answer it leaves.

Every program here is called with the seconds it is to run and the file for its answer, a JSON object:

- `process_cpu`: CPU time of the whole process from the first line of the program to the writing of the answer, in ns
- `thread_cpu`: for each thread id, its CPU time since then, up to its last measurement, in ns
- `thread_wall`: for each thread id, the time from its start to its last measurement, in ns
- `threads`: for each thread id, for each name: `cpu`, `waited` and `ready` in ns. `ready` is time on the kernel's run
  queue; `waited` is the rest of the wall time in which the thread did not run.
"""

import ctypes
import json
import os
import sys
import threading
import time

PROCESS_START, THREAD_START = time.process_time_ns(), time.thread_time_ns()
LIBC = ctypes.PyDLL(None)  # a PyDLL does not give the interpreter away
answer = {"threads": {}, "thread_cpu": {}, "thread_wall": {}}


class Watch:
    """The clocks of the calling thread. What the watch itself costs is charged to nobody."""

    def __init__(self):
        self.thread = threading.get_native_id()
        self.spent = answer["threads"].setdefault(self.thread, {})
        # A descriptor of the thread's own: the path means the thread that opens it.
        self.schedule = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
        self.text = ctypes.create_string_buffer(64)
        age = thread_age()  # first: reading it gives the interpreter away
        self.start = time.perf_counter_ns() - age

    def read(self):
        """Keeps the interpreter: giving it away here, and waiting for it, would be time that nobody counts."""
        LIBC.pread(self.schedule, self.text, 63, 0)
        ready = int(self.text.value.split()[1])
        return time.perf_counter_ns(), ready, time.thread_time_ns()

    def run(self, name, function, *args):
        """Call a function, and charge its time to a name."""
        wall, ready, cpu = self.read()
        result = function(*args)
        cpu_end = time.thread_time_ns()
        wall_end, ready_end, _ = self.read()
        spent = self.spent.setdefault(name, {"cpu": 0, "waited": 0, "ready": 0})
        spent["cpu"] += cpu_end - cpu
        spent["ready"] += ready_end - ready
        spent["waited"] += max(0, wall_end - wall - (ready_end - ready) - (cpu_end - cpu))
        answer["thread_cpu"][self.thread] = cpu_end - (THREAD_START if self.thread == os.getpid() else 0)
        answer["thread_wall"][self.thread] = wall_end - self.start
        return result


def thread_age():
    """How long the calling thread exists, in ns; the kernel counts in hundredths of a second."""
    with open("/proc/thread-self/stat") as file:
        started = int(file.read().rpartition(")")[2].split()[19])
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) - started * 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def seconds():
    return float(sys.argv[1])


def until(share=1.0, clock=time.process_time):
    """True until so much of the program's time is over, counted from the first question: CPU time, so that a busy
    machine leaves enough of it, but at most four times as long by the wall clock. A program that waits has another
    clock."""
    end, latest = clock() + seconds() * share, time.perf_counter() + 4 * seconds() * share
    while clock() < end and time.perf_counter() < latest:
        yield True


def count_for(function, ms):
    """With which argument a function takes about so many milliseconds of CPU time; it need not be exact."""
    count = 1
    while True:
        start = time.thread_time_ns()
        function(count)
        taken = time.thread_time_ns() - start
        if taken > 4e6:
            return max(1, int(count * ms * 1e6 / taken))
        count *= 2


def run_threads(targets):
    """Run each of the functions, given by name, on a thread of that name."""
    threads = [threading.Thread(target=target, name=name) for name, target in targets.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def write(**more):
    """The last thing a program does."""
    answer["process_cpu"] = time.process_time_ns() - PROCESS_START
    with open(sys.argv[2], "w") as file:
        json.dump({**answer, **more}, file)
