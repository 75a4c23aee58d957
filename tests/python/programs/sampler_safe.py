"""Runs another program with samples that are taken with the GIL held: sampler_safe.py RATE PROGRAM ARGUMENTS…"""

import runpy
import sys

from sonde._runtime import session as _session

rate, sys.argv = int(sys.argv[1]), sys.argv[2:]
_session.hold(_session.OUTER, recording="safe.sonde", rate=rate, safe_frames=True)
runpy.run_path(sys.argv[0], run_name="__main__")
