"""Programs that hook into the interpreter themselves. The name of one is the argument."""

import io
import sys
import threading
import time
import tracemalloc


def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(50))


def work(n):
    total = 0
    for i in range(n):
        total += len(str(i))
    return total


def traced():
    """sys.settrace sees the program's lines, and none of ours."""
    seen = []

    def trace(frame, event, arg):
        seen.append((event, frame.f_lineno, frame.f_code.co_name))
        return trace

    threading.settrace(trace)
    sys.settrace(trace)
    print(work(500))
    thread = threading.Thread(target=work, args=(100,), name="traced")
    thread.start()
    thread.join()
    sys.settrace(None)
    threading.settrace(None)
    own = [event for event in seen if event[2] in ("work", "spin")]
    print(len(own), own[:4], {name for _, _, name in seen if "sonde" in name})


def profiled():
    seen = []
    sys.setprofile(lambda frame, event, arg: seen.append((event, frame.f_code.co_name)))
    print(work(300))
    sys.setprofile(None)
    print(len(seen), seen[:3])


def monitored():
    if sys.version_info < (3, 12):
        return
    events = sys.monitoring.events
    seen = []
    sys.monitoring.use_tool_id(4, "own")
    for event in (events.PY_START, events.LINE, events.CALL):
        sys.monitoring.register_callback(4, event, lambda *args: seen.append(args[0].co_name))
    sys.monitoring.set_events(4, events.PY_START | events.LINE | events.CALL)
    print(work(300))
    spin(0.05)
    sys.monitoring.set_events(4, 0)
    print(sys.monitoring.get_tool(4), seen.count("work"))
    sys.monitoring.free_tool_id(4)
    print([sys.monitoring.get_tool(i) for i in range(6)])


def memory_traced():
    tracemalloc.start(10)
    kept = [bytes(1000) for _ in range(1000)]
    spin(0.1)
    found = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, __file__)]).statistics("lineno")
    print(max(found, key=lambda one: one.size).count >= 1000, len(kept), tracemalloc.is_tracing())
    tracemalloc.stop()


def replaced():
    """Streams and hooks that the program has put in place of the usual ones."""

    class Loud(io.TextIOBase):
        def __init__(self, to):
            self.to = to

        def write(self, text):
            return self.to.write(text.upper())

        def flush(self):
            self.to.flush()

    sys.stdout = Loud(sys.stdout)
    sys.stderr = Loud(sys.stderr)
    sys.excepthook = lambda kind, error, trace: print("hook", kind.__name__, error, trace.tb_lineno > 0)
    threading.excepthook = lambda args: print("thread", args.exc_type.__name__)
    sys.unraisablehook = lambda args: print("lost", args.exc_type.__name__)

    class Bad:
        def __del__(self):
            raise ValueError

    Bad()
    thread = threading.Thread(target=lambda: 1 / 0)
    thread.start()
    thread.join()
    spin(0.05)
    raise KeyError("last")


def closed_streams():
    print("first", flush=True)
    sys.stdout.close()
    sys.stderr = None
    spin(0.05)


def hidden_modules():
    """The program takes away what we would use."""
    spin(0.02)
    for name in ("threading", "signal", "os", "sonde", "sonde._core"):
        sys.modules.pop(name, None)
    import threading as again

    thread = again.Thread(target=spin, args=(0.05,))
    thread.start()
    thread.join()
    print(again.active_count(), sys.gettrace(), sys.getprofile())


if __name__ == "__main__":
    globals()[sys.argv[1]]()
