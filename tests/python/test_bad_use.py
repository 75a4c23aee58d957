"""Mistakes get a clear exception or line, and the rest of the data is kept."""

import sys

import pytest

import sonde as package

pytestmark = pytest.mark.interpreter


def test_pop_with_nothing_open(measured):
    with pytest.raises(RuntimeError, match=r"pop\(\) without push\(\): no region is open here"):
        package.pop()
    with package.region("block"):
        with pytest.raises(RuntimeError, match="the innermost region here is 'block'"):
            package.pop()
        package.push("mine")
        package.pop()
    assert measured()["<main>"]["block"]["mine"].count == 1


def test_a_region_entered_twice_at_once(measured):
    region = package.region("once")
    with region, pytest.raises(RuntimeError, match="this region is already open; make another one"):
        region.__enter__()
    with region:
        pass
    with pytest.raises(RuntimeError, match="this region is not open"):
        region.__exit__(None, None, None)
    assert measured()["<main>"]["once"].count == 2


def test_regions_say_what_they_are(measured):
    def work():
        pass

    region, nameless = package.region("load"), package.region()
    assert repr(nameless) == "<sonde region, named after its place, closed>"
    with region:
        assert repr(region) == "<sonde region 'load', open>"
    assert repr(region) == "<sonde region 'load', closed>"
    assert repr(package.func()(work)) == f"<sonde region around {work!r}>"


@pytest.mark.parametrize("make", [package.region, package.push, lambda name: package.iter_proxy([], name)])
def test_a_name_that_is_not_a_string(measured, make):
    with pytest.raises(TypeError, match="a region's name must be a string, not int"):
        make(5)


def test_func_on_what_cannot_be_called(measured):
    with pytest.raises(TypeError, match="must be a string, not int"):
        package.func(5)
    with pytest.raises(TypeError, match="only a function can be a region"):
        package.func()(5)


def test_a_report_of_what_is_not_installed():
    with pytest.raises(RuntimeError, match=r"regions are not installed; call install\(\) first"):
        package.report()


def test_wrong_arguments(measured):
    with pytest.raises(TypeError, match=r"region\(\) got an unexpected keyword argument 'nam'"):
        package.region(nam="x")
    with pytest.raises(TypeError, match=r"takes at most 2 arguments"):
        package.region("a", True, 3)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'iterable'"):
        package.iter_proxy(name="x")


def test_a_region_dropped_while_open_is_closed(measured):
    package.region("dropped").__enter__()
    with package.region("next"):
        pass
    main = measured()["<main>"]
    assert (main["dropped"].count, main["dropped"].open) == (1, 0)
    assert "next" in main.children


def test_a_clock_that_fails_is_reported_and_does_no_harm(sonde):
    done = sonde.python(
        """
        import sonde
        class Timer:
            calls = 0
            def clock(self):
                self.calls += 1
                if self.calls == 5:
                    raise OSError("broken clock")
                return self.calls
        sonde.install(timer_cls=Timer)
        for _ in range(5):
            with sonde.region("x"):
                pass
        """
    )
    assert "OSError: broken clock" in done.stderr
    assert ". x" in done.stderr


def test_a_thread_still_inside_at_exit(sonde):
    done = sonde.python(
        """
        import threading, time, sonde
        sonde.install(recording="r.sonde")
        inside = threading.Event()
        def work():
            with sonde.region("endless"):
                inside.set()
                time.sleep(60)
        threading.Thread(target=work, daemon=True, name="worker").start()
        inside.wait()
        with sonde.region("main work"):
            pass
        """
    )
    assert "still open, counted so far: endless in thread worker" in done.stderr
    trees = sonde.trees("r.sonde")
    assert trees["<main>"]["main work"].count == 1
    row = trees["<worker>"]["endless"]
    assert (row.count, row.open) == (1, 1)
    assert row.total_ns >= trees["<main>"]["main work"].total_ns


def test_arguments_are_not_kept_alive(measured):
    import gc
    import weakref

    class Thing:
        pass

    @package.func()
    def use(thing):
        return None

    thing = Thing()
    gone = weakref.ref(thing)
    use(thing)
    list(package.iter_proxy([thing], "items"))
    del thing
    gc.collect()
    assert gone() is None


def test_subinterpreters_are_refused(sonde):
    done = sonde.python(
        """
        import sonde
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
        other = interpreters.create()
        try:
            failed = interpreters.run_string(other, "import sonde")
            print(f"{failed.type.__name__} {failed.msg}" if failed is not None else "fine")
        except Exception as error:
            print(type(error).__name__, error)
        with sonde.region("x"):
            pass
        """
    )
    assert "ImportError" in done.stdout
    ours, its = (
        "sonde measures the main interpreter only, not subinterpreters",
        "does not support loading in subinterpreters",
    )
    assert (its if sys.version_info >= (3, 12) else ours) in done.stdout  # from 3.12 on, the interpreter asks first
