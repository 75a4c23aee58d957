"""A thread that Python knows nothing of allocates, and the main thread frees.

usage: native_thread.py VOLUME
"""

import json
import sys
import time

import truth_native

volume = int(sys.argv[1])
truth_native.thread(volume)
time.sleep(0.2)  # its blocks are looked at whether or not the sampler had found it by then
print(json.dumps({"bytes": truth_native.join() * 1000}))
