"""Code that is made, run and thrown away all the time: each function has a name and a file of its own, and begins in a
line that tells its number. Before its loop stand lines that never run, as many as its number says: an instruction of
one function that is taken for another's mostly is in one of these.

Arguments: seconds, threads, and "waits" when the functions shall also be met while they sleep.
"""

import sys
import threading
import time

SECONDS = float(sys.argv[1])
THREADS = int(sys.argv[2])
WAITS = "waits" in sys.argv[3:]


def make(number, base):
    """Function number N of a thread begins in line N % 1000 * 4 + 1 of <code THREAD N>, and has N % 50 idle lines."""
    name = f"f_{base}_{number}"
    wait = "time.sleep(0.0005)" if WAITS else "sum(range(30))"
    padding = "\n" * (number % 1000 * 4)
    idle = "    time = 1\n" * (number % 50)
    text = f"{padding}def {name}(time, end):\n  if end == 0:\n    time = 2\n{idle}"
    text += f"  while time.monotonic() < end:\n    {wait}\n    sum(range(300))\n"
    names = {}
    exec(compile(text, f"<code {base} {number}>", "exec"), names)
    return names[name]


def work(base):
    number = 0
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        number += 1
        made = make(number, base)
        made(time, time.monotonic() + (number % 7) * 0.0002)
        del made


threads = [threading.Thread(target=work, args=(base,)) for base in range(THREADS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
