"""Programs that make other processes, or become others. The name of one is the argument."""

import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import time
import warnings

warnings.simplefilter("ignore", DeprecationWarning)  # of forks among threads, which are the point here


def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(50))


def busy_threads(count):
    stop = threading.Event()

    def work():
        while not stop.is_set():
            spin(0.002)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    return stop, threads


def fork_alone():
    for i in range(20):
        spin(0.002)
        child = os.fork()
        if child == 0:
            spin(0.002)
            os._exit(i)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), end=" ")
    print()


def fork_among_threads():
    stop, threads = busy_threads(4)
    for i in range(20):
        child = os.fork()
        if child == 0:
            thread = threading.Thread(target=spin, args=(0.002,))
            thread.start()
            thread.join()
            os._exit(i + threading.active_count())
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), end=" ")
    stop.set()
    for thread in threads:
        thread.join()
    print(threading.active_count())


def fork_in_a_thread():
    got = []

    def work():
        child = os.fork()
        if child == 0:
            spin(0.01)
            os._exit(7)
        got.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

    for _ in range(5):
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    print(got)


def end_an_idle_child():
    """A child that does nothing dies of what it is sent, as all do."""
    import signal

    reads, writes = os.pipe()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.write(writes, b"x")
            time.sleep(60)
            os._exit(3)
        os.read(reads, 1)
        os.kill(child, number)
        print(os.waitpid(child, 0)[1] == number)


def fork_in_forks():
    """Children of children, and each comes to its own end."""
    for busy in (0, 0.1):
        print("start", flush=True)
        depth = child = 0
        while depth < 4 and child == 0:
            spin(busy)
            child = os.fork()
            depth += 1
        if child:
            print(depth, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        if depth > 1 or not child:
            os._exit(depth + 5)


def fork_and_go_on():
    """Parent and child both come to the end of the program."""
    child = os.fork()
    spin(0.02)
    if child:
        os.waitpid(child, 0)
    print("parent" if child else "child", flush=True)


def square(x):
    spin(0.001)
    return x * x


class Thing:
    def __init__(self, x):
        self.x = x


def move(thing):
    return Thing(thing.x + 1)


def pools(method):
    context = multiprocessing.get_context(method)
    with context.Pool(2) as pool:
        print(pool.map(square, range(20)), [thing.x for thing in pool.map(move, [Thing(1), Thing(2)])])
    queue = context.Queue()
    process = context.Process(target=queue.put, args=(3,))
    process.start()
    print(queue.get(), process.join(), process.exitcode)


def pool_of_forks():
    pools("fork")


def pool_of_spawns():
    pools("spawn")


def pool_of_a_server():
    pools("forkserver")


def subprocesses():
    stop, threads = busy_threads(2)
    child = [sys.executable, "-S", "-c", "import sys; sys.stdout.write(sys.stdin.read()); sys.exit(3)"]
    for options in ({}, {"preexec_fn": os.setpgrp}, {"start_new_session": True}, {"extra_groups": ()}, {"umask": 7}):
        try:
            done = subprocess.run(child, input=b"in", stdout=subprocess.PIPE, timeout=60, check=False, **options)
            print(done.returncode, done.stdout)
        except PermissionError:  # who may not set groups
            print(3, b"in")
    for _ in range(8):  # a child that works before it runs the program
        print(subprocess.run(["true"], preexec_fn=lambda: spin(0.01), check=False).returncode)
    subprocess._USE_VFORK = False
    print(subprocess.run(child, input=b"in", stdout=subprocess.PIPE, timeout=60, check=False).returncode)
    print(os.system("exit 5") >> 8, os.popen("echo x").read())
    stop.set()
    for thread in threads:
        thread.join()


def exec_among_threads():
    busy_threads(3)
    spin(0.03)
    try:
        os.execv("/no/such/program", ["x"])
    except FileNotFoundError as error:
        print(error, flush=True)
    spin(0.03)
    os.execve(sys.executable, [sys.executable, "-S", "-c", "print('another')"], {})


def exec_in_a_thread():
    busy_threads(2)
    threading.Thread(target=lambda: os.execvp("echo", ["echo", "from a thread"])).start()
    time.sleep(60)


def exec_with_all_blocked():
    """What was on its way to this thread does not meet the next program, which lets all signals in."""
    import signal

    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    spin(0.05)
    program = "import signal; signal.pthread_sigmask(signal.SIG_UNBLOCK, signal.valid_signals()); print('lives')"
    os.execv(sys.executable, [sys.executable, "-S", "-c", program])


def finds_functions():
    """What the standard library knows of its functions holds."""
    sets = (os.supports_fd, os.supports_dir_fd, os.supports_follow_symlinks, os.supports_effective_ids)
    print(os.execve in os.supports_fd, [len(one) for one in sets], [all(f in one for f in one) for one in sets])
    print(os.execve, os._exit, os.execve.__text_signature__, os._exit.__module__)


def leave_at_once():
    busy_threads(3)
    spin(0.03)
    sys.stdout.write("left")
    sys.stdout.flush()
    os._exit(6)


def exit_in_threads():
    for _ in range(20):
        thread = threading.Thread(target=sys.exit, args=(3,))
        thread.start()
        thread.join()
    sys.exit(9)


def end_with_daemons():
    """The interpreter ends while daemon threads run, wait, and start others."""
    busy_threads(4)

    def start_others():
        while True:
            threading.Thread(target=spin, args=(0.001,), daemon=True).start()

    threading.Thread(target=time.sleep, args=(100,), daemon=True).start()
    if sys.argv[2:] == ["others"]:
        threading.Thread(target=start_others, daemon=True).start()
    spin(0.05)
    print("end")


def pickles():
    thing = pickle.loads(pickle.dumps(Thing(4)))
    print(type(thing) is Thing, thing.x, Thing.__module__, pickle.dumps(square))
    print(pickle.loads(pickle.dumps(threading.get_native_id))() == threading.get_native_id())


def closes_all_files():
    """Our files are gone, and their numbers lead to the program's own, which nobody touches."""
    stop, threads = busy_threads(3)
    spin(0.02)
    os.closerange(3, 4096)
    content = b"7 0x1 0x2 running\n"
    path = f"own-{os.getpid()}"
    files = [os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)]
    os.write(files[0], content)
    files += [os.dup(files[0]) for _ in range(400)]
    for _ in range(3):
        spin(0.02)
        more = [threading.Thread(target=spin, args=(0.005,)) for _ in range(8)]
        for thread in more:
            thread.start()
        for thread in more:
            thread.join()
    stop.set()
    for thread in threads:
        thread.join()
    spin(0.02)
    print(all(os.pread(file, 100, 0) == content for file in files), os.lseek(files[0], 0, os.SEEK_CUR))
    os.remove(path)  # noqa: PTH107


if __name__ == "__main__":
    globals()[sys.argv[1]]()
