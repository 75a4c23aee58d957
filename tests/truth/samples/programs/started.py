"""Runs another program under a sampler with settings for which `sonde run` has no option.

usage: started.py SETTINGS RECORDING PROGRAM ARGUMENT ...
"""

import json
import runpy
import sys

from sonde import _core

settings, recording, program = sys.argv[1:4]
del sys.argv[:3]
_core.start({"recording": recording, "rate": 1000, **json.loads(settings)})
try:
    runpy.run_path(program, run_name="__main__")
finally:
    _core.stop()
