"""Nothing but full collections, one after the other, each longer than the time from one look to the next."""

import gc

import answer

gc.disable()
KEPT = [[i] for i in range(400_000)]


def collect():
    gc.collect()


watch = answer.Watch()
for _ in answer.until():
    watch.run("collect gc", collect)
answer.write()
