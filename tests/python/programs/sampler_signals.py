"""Programs that use signals themselves. The name of one is the argument; it prints what happened to it."""

import faulthandler
import os
import select
import signal
import socket
import sys
import tempfile
import threading
import time


def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(50))


def profiling_timer():
    """SIGPROF and ITIMER_PROF are the program's own."""
    hits = []
    signal.signal(signal.SIGPROF, lambda number, frame: hits.append(number))
    signal.setitimer(signal.ITIMER_PROF, 0.02, 0.02)
    while len(hits) < 4:
        spin(0.01)
    signal.setitimer(signal.ITIMER_PROF, 0)
    print(set(hits) == {signal.SIGPROF}, signal.getitimer(signal.ITIMER_PROF))


def real_timer():
    """Sleeps and reads are interrupted by the program's own timer, and by nothing else."""
    hits = []
    signal.signal(signal.SIGALRM, lambda number, frame: hits.append(number))
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    start = time.monotonic()
    time.sleep(0.2)
    print(len(hits), time.monotonic() - start >= 0.2)
    reads, writes = os.pipe()
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    threading.Timer(0.1, os.write, (writes, b"x")).start()
    print(os.read(reads, 1), len(hits))


def raising_handler():
    """An exception out of a handler comes where the program runs."""

    class Alarm(Exception):
        pass

    def raise_alarm(number, frame):
        raise Alarm(frame.f_code.co_name)

    signal.signal(signal.SIGALRM, raise_alarm)
    caught = 0
    for _ in range(20):
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.003)
            spin(60)
        except Alarm as alarm:
            caught += str(alarm) in ("spin", "raising_handler")  # it may come before spin does
    for _ in range(5):
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.003)
            time.sleep(60)
        except Alarm:
            caught += 1
    print(caught)


def wait_for_any():
    """A thread that blocks every signal and waits for any: it gets those that were sent, and no other."""
    everything = signal.valid_signals()
    got = []

    def serve():
        signal.pthread_sigmask(signal.SIG_BLOCK, everything)
        while not got or got[-1] != signal.SIGTERM:
            spin(0.03)
            got.append(signal.sigwait(everything))

    server = threading.Thread(target=serve)
    signal.pthread_sigmask(signal.SIG_BLOCK, everything)
    server.start()
    for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGRTMIN + 3, signal.SIGTERM):
        spin(0.06)
        signal.pthread_kill(server.ident, number)
        while not got or got[-1] != number:  # of two at once the lower one would come first
            time.sleep(0.01)
    server.join()
    spin(0.05)
    print([int(number) for number in got], sorted(signal.sigpending()))
    print(signal.sigtimedwait(everything, 0.01))
    os.kill(os.getpid(), signal.SIGUSR1)
    print(signal.sigwaitinfo(everything).si_signo)


def all_blocked():
    """Threads that block everything work, and the mask is what they made it."""
    everything = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}
    masks = []

    def work():
        before = signal.pthread_sigmask(signal.SIG_SETMASK, everything)
        spin(0.1)
        masks.append(signal.pthread_sigmask(signal.SIG_SETMASK, before) == everything)
        spin(0.05)
        masks.append(signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(masks)


def all_default():
    """A program that gives every signal its default action back, and one to all of them."""
    for action in (signal.SIG_DFL, signal.SIG_IGN, lambda number, frame: None, signal.SIG_DFL):
        for number in range(1, signal.NSIG):
            if number not in (signal.SIGKILL, signal.SIGSTOP, 32, 33):
                signal.signal(number, action)
        spin(0.1)
    print({signal.getsignal(number) for number in (signal.SIGRTMAX, signal.SIGRTMIN, signal.SIGRTMAX - 2)})


def real_time_handlers():
    """Handlers for real-time signals see only what was sent."""
    seen = []
    for number in range(signal.SIGRTMIN, signal.SIGRTMAX + 1):
        signal.signal(number, lambda number, frame: seen.append(int(number)))
        spin(0.002)
    for number in range(signal.SIGRTMIN, signal.SIGRTMAX + 1):
        signal.raise_signal(number)
    spin(0.1)
    print(seen)


def wakeup_descriptor():
    """Nothing is written to the wakeup descriptor but the program's signals."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.setblocking(False)
    signal.signal(signal.SIGUSR1, lambda number, frame: None)
    signal.set_wakeup_fd(theirs.fileno())
    spin(0.1)
    signal.raise_signal(signal.SIGUSR1)
    spin(0.1)
    print(ours.recv(100))


def interrupted_calls():
    """Calls that wait with a limit wait as long as they should."""
    start = time.monotonic()
    reads, writes = os.pipe()
    stop = threading.Event()
    busy = threading.Thread(target=lambda: [spin(0.01) for _ in iter(stop.is_set, True)])
    busy.start()
    for _ in range(5):
        print(select.select([reads], [], [], 0.01)[0], stop.wait(0.01), threading.Lock().acquire(timeout=0.01))
    poll = select.poll()
    poll.register(reads)
    print(poll.poll(10), time.monotonic() - start > 0.12)
    stop.set()
    busy.join()


def dumps_later():
    """The watchdog of faulthandler dumps the tracebacks of all threads."""
    with tempfile.TemporaryFile("w+") as file:
        faulthandler.enable(file=file)
        faulthandler.dump_traceback_later(0.1, repeat=False, file=file)
        while not os.fstat(file.fileno()).st_size:
            spin(0.01)
        faulthandler.cancel_dump_traceback_later()
        faulthandler.register(signal.SIGUSR2, file=file, all_threads=True)
        signal.raise_signal(signal.SIGUSR2)
        file.seek(0)
        text = file.read()
        faulthandler.disable()
    print(text.count("Timeout (0:00:00.1"), text.count("in dumps_later"), text.count("in <module>"))


def dies_of_a_fault():
    """A crash is reported and kills by its own signal."""
    faulthandler.enable()
    spin(0.05)
    faulthandler._sigsegv()


def killed_by_its_timer():
    signal.setitimer(signal.ITIMER_PROF, 0.05)
    spin(60)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
