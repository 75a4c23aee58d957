"""Programs that use signals themselves behave under the sampler as without it. See sampler_support for longer runs."""

import pytest
from sampler_support import compare, scenarios

pytestmark = pytest.mark.interpreter

PROGRAM = "sampler_signals.py"
SAFE = ("raising_handler", "wait_for_any")


@pytest.mark.parametrize(("name", "way"), scenarios(PROGRAM, unsafe=["dumps_later"]))
def test_signals(tmp_path, name, way):
    status, out, _ = compare(tmp_path, PROGRAM, name, way)
    assert out or status != 0


@pytest.mark.slow
@pytest.mark.parametrize("name", SAFE)
def test_signals_when_frames_are_read_with_the_gil(tmp_path, name):
    compare(tmp_path, PROGRAM, name, "safe")


def test_a_thread_that_blocked_all_signals_is_asked_again_when_it_does_not(sonde):
    done = sonde.python(
        """
        import signal, time
        from sonde import _core

        def info(name):
            return int(_core.profile().info(name))

        def spin(seconds):
            end = time.thread_time() + seconds
            while time.thread_time() < end:
                for i in range(2000):
                    pass

        _core.start({"rate": 1000})
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        missed = info("samples_missed")
        while info("samples_missed") < missed + 100:
            spin(0.02)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        then = info("samples_plain")
        spin(1)
        print(info("samples_plain") - then)
        _core.stop()
        """
    )
    assert int(done.stdout) > 20
