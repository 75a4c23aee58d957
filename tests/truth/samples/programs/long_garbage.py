"""Nothing but full collections, one after the other, each longer than the time from one look to the next."""

import gc
import time

import answer

gc.disable()
KEPT = [[i] for i in range(400_000)]


def collect():
    gc.collect()


watch = answer.Watch()
while time.thread_time() < answer.seconds():  # on a busy machine, too, it is looked at now and then
    watch.run("collect gc", collect)
answer.write()
