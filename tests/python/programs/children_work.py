"""A program that starts others in every way there is; each spins for a known CPU time.

``children_work.py WAY`` prints, as its last line, what it and all that it waited for have used, by the system's count,
and "unwaited": what processes that it did not wait for say that they have used.
"""

import contextlib
import json
import multiprocessing
import os
import resource
import shlex
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

SECONDS = 0.25
SELF = str(Path(__file__).resolve())


unwaited = 0.0


def spin_on(_=None):
    end = time.process_time() + SECONDS
    while time.process_time() < end:
        pass
    return time.process_time()


def used():
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(sum(resource.getrusage(kind)[:2]) for kind in kinds)


def fork():
    for _ in range(2):
        if os.fork() == 0:
            spin_on()
            os._exit(0)
    for _ in range(2):
        os.wait()


def fork_and_return():
    if os.fork() == 0:
        spin_on()
        sys.exit(0)
    os.wait()


def fork_exec():
    if os.fork() == 0:
        os.execv(sys.executable, [sys.executable, SELF, "alone"])
    os.wait()


def become_another():
    spin_on()
    os.execv(sys.executable, [sys.executable, SELF, "alone"])


def subprocesses():
    running = [subprocess.Popen([sys.executable, SELF, "alone"], stdout=subprocess.DEVNULL) for _ in range(2)]
    for process in running:
        process.wait()


def shell():
    line = f"{shlex.join([sys.executable, SELF, 'alone'])} > /dev/null; true"
    os.system(line)
    subprocess.run(line, shell=True, check=True)


def posix_spawn():
    os.waitpid(os.posix_spawn(sys.executable, [sys.executable, SELF, "quiet"], os.environ), 0)


def pool(method):
    with multiprocessing.get_context(method).Pool(2) as workers:
        seconds = workers.map(spin_on, range(2), chunksize=1)
        workers.close()
        workers.join()
    return seconds


def pool_of_forks():
    pool("fork")


def pool_of_spawns():
    pool("spawn")


def pool_of_forkserver():
    """The workers are the server's children, not ours."""
    global unwaited
    unwaited = sum(pool("forkserver"))


def futures():
    """By default from 3.14 on, the workers are a server's children, not ours."""
    global unwaited
    with ProcessPoolExecutor(2) as executor:
        told = sum(executor.map(spin_on, range(2)))
    unwaited = told if multiprocessing.get_start_method() == "forkserver" else 0.0


def joblib():
    """The workers stay until we end."""
    from joblib import Parallel, delayed

    global unwaited
    unwaited = sum(Parallel(n_jobs=2)(delayed(spin_on)() for _ in range(2)))


def prefork():
    """As servers do: children accept on one socket, and end when they are told to."""
    server = socket.create_server(("127.0.0.1", 0))
    children = []
    for _ in range(2):
        process = os.fork()
        if process == 0:
            serve(server)
        children.append(process)
    for _ in range(2):
        clients = [socket.create_connection(server.getsockname()) for _ in range(2)]  # one for each
        assert [client.recv(10) for client in clients] == [b"done", b"done"]
    while children:  # a signal right before a call of accept is seen only after the next one
        for process in children:
            os.kill(process, signal.SIGTERM)
        time.sleep(0.1)
        children = [process for process in children if os.waitpid(process, os.WNOHANG)[0] == 0]


def serve(server):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    while True:
        connection, _ = server.accept()
        end = time.process_time() + SECONDS / 2
        while time.process_time() < end:
            pass
        connection.sendall(b"done")
        connection.close()


def nested(depth="3"):
    spin_on()
    if int(depth) > 0:
        subprocess.run([sys.executable, SELF, "nested", str(int(depth) - 1)], stdout=subprocess.DEVNULL, check=True)


def many():
    words = [sys.executable, "-c", "import time\nwhile time.process_time() < 0.1: pass"]
    for process in [subprocess.Popen(words) for _ in range(20)]:
        process.wait()


def is_saved(name):
    """Whether a part, written so far, knows this function."""
    for part in Path("r.sonde.parts").glob("*.sonde"):
        try:
            with contextlib.closing(sqlite3.connect(f"file:{part}?mode=ro", uri=True)) as db:
                if db.execute("select 1 from site where name = ?", (name,)).fetchone():
                    return True
        except sqlite3.OperationalError:  # it is empty, or being written
            pass
    return False


def killed():
    """After a checkpoint."""
    process = subprocess.Popen([sys.executable, "-c", "def forever():\n    while True: pass\nforever()"])
    while not is_saved("forever"):
        time.sleep(0.05)
    process.kill()
    process.wait()


def alone():
    spin_on()


def quiet():
    spin_on()
    os._exit(0)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
    print(json.dumps({"used": used(), "unwaited": unwaited}))
