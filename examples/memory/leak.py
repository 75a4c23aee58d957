"""A service that forgets to forget: ``sonde run --memory leak.py``, then ``sonde view FILE --leaks`` names the line."""

import time

seen = []


def handle(request):
    seen.append(bytes(50_000))
    return bytearray(1_000_000)


for request in range(1000):
    handle(request)
    time.sleep(0.002)
