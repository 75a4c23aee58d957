"""A worker that lives as long as the program keeps everything in a thread-local."""

import queue
import threading

from pace import steps, work

local = threading.local()
requests = queue.SimpleQueue()


def handle(number):
    local.buffers.append(bytearray(40_000))  # LEAK


def serve():
    local.buffers = []
    while (number := requests.get()) is not None:
        handle(number)


worker = threading.Thread(target=serve)
worker.start()
for number, _ in enumerate(steps()):
    work()
    requests.put(number)
requests.put(None)
worker.join()
