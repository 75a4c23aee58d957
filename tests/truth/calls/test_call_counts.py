"""Programs that know how often each function was called, and by whom."""

import asyncio
import contextlib

import pytest

pytestmark = pytest.mark.interpreter


def test_every_call_is_counted_with_its_caller(profile, functions):
    def leaf():
        pass

    def left():
        for _ in range(3):
            leaf()

    def right():
        for _ in range(5):
            leaf()
        left()

    def main():
        for _ in range(100):
            left()
            right()

    with profile:
        main()
    found = functions(profile)
    assert {name: found[name].calls for name in ("main", "left", "right", "leaf")} == {
        "main": 1,
        "left": 200,
        "right": 100,
        "leaf": 1100,
    }
    assert found["main"].callers == {}
    assert found["left"].callers == {"main": 100, "right": 100}
    assert found["right"].callers == {"main": 100}
    assert found["leaf"].callers == {"left": 600, "right": 500}


def test_recursion_counts_all_calls_and_the_outermost(profile, functions):
    def fall(depth):
        if depth:
            fall(depth - 1)

    with profile:
        for _ in range(4):
            fall(50)
    fall = functions(profile)["fall"]
    assert (fall.calls, fall.primitive) == (204, 4)
    assert fall.callers == {"fall": 200}


def test_two_functions_that_call_each_other(profile, functions):
    def even(n):
        return n == 0 or odd(n - 1)

    def odd(n):
        return n != 0 and even(n - 1)

    with profile:
        for _ in range(3):
            even(10)
        odd(9)
    found = functions(profile)
    # 3 × even(10, 8, … 0) and odd(9, 7, … 1); then odd(9, 7, … 1) and even(8, 6, … 0)
    assert (found["even"].calls, found["even"].primitive) == (3 * 6 + 5, 4)
    assert (found["odd"].calls, found["odd"].primitive) == (3 * 5 + 5, 4)
    assert found["even"].callers == {"odd": 3 * 5 + 5}
    assert found["odd"].callers == {"even": 3 * 5 + 4}


def test_a_tree_of_known_size(profile, functions):
    def node(depth):
        if depth:
            node(depth - 1)
            node(depth - 1)

    with profile:
        node(11)
    node = functions(profile)["node"]
    assert (node.calls, node.primitive, node.callers) == (2**12 - 1, 1, {"node": 2**12 - 2})


def test_a_resume_of_a_generator_is_not_a_call(profile, functions):
    def numbers(n):
        for i in range(n):
            step()
            yield i

    def step():
        pass

    def main():
        for _ in range(10):
            for _ in numbers(20):
                pass

    with profile:
        main()
    found = functions(profile)
    assert found["numbers"].calls == found["numbers"].primitive == 10
    assert found["numbers"].callers == {"main": 10}
    assert found["step"].callers == {"numbers": 200}


def test_a_resume_is_counted_on_request(functions):
    from sonde import tracing

    def numbers(n):
        yield from range(n)

    for builtins in (True, False):
        profile = tracing.Profile(builtins=builtins, resumes=True)
        with profile:
            for _ in numbers(20):
                pass
        assert functions(profile)["numbers"].calls == 21


def test_generators_that_are_used_by_turns_keep_their_own_callers(profile, functions):
    def numbers():
        while True:
            leaf()
            yield

    def leaf():
        pass

    def first(generator):
        for _ in generator:
            break

    def second(generator):
        for _ in generator:
            break

    with profile:
        one, two = numbers(), numbers()
        for _ in range(10):
            first(one)
            second(two)
            second(one)
    found = functions(profile)
    assert found["leaf"].callers == {"numbers": 30}
    assert found["numbers"].calls == 2
    assert found["numbers"].callers == {"first": 1, "second": 1}


def test_what_is_thrown_into_a_generator(profile, functions):
    def patient():
        while True:
            try:
                yield
            except KeyError:
                handle()

    def handle():
        pass

    with profile:
        generator = patient()
        next(generator)
        for _ in range(7):
            generator.throw(KeyError())
        generator.close()
    found = functions(profile)
    assert found["patient"].calls == 1
    assert found["handle"].callers == {"patient": 7}


def test_exceptions_end_the_functions_that_they_pass(profile, functions):
    def fail(depth):
        if depth == 0:
            raise LookupError
        fail(depth - 1)

    def after():
        pass

    def main():
        for depth in range(20):
            with contextlib.suppress(LookupError):
                fail(depth)
            after()

    with profile:
        main()
    found = functions(profile)
    assert (found["fail"].calls, found["fail"].primitive) == (210, 20)
    assert found["fail"].callers == {"main": 20, "fail": 190}
    assert found["after"].callers == {"main": 20}


def test_coroutines_are_called_once_however_often_they_wait(profile, functions):
    async def wait(times):
        for _ in range(times):
            await asyncio.sleep(0)
            step()

    def step():
        pass

    async def main():
        await asyncio.gather(*(wait(10) for _ in range(5)))
        await wait(3)

    with profile:
        asyncio.run(main())
    found = functions(profile)
    assert found["main"].calls == 1
    assert found["wait"].calls == 6
    assert found["step"].callers == {"wait": 53}


def test_asynchronous_generators(profile, functions):
    async def numbers(n):
        for i in range(n):
            await asyncio.sleep(0)
            yield i

    async def main():
        total = 0
        async for number in numbers(10):
            total += number
        return total

    with profile:
        assert asyncio.run(main()) == 45
    found = functions(profile)
    assert found["numbers"].calls == found["main"].calls == 1


def test_enabled_in_one_function_and_disabled_in_another(profile, functions):
    def start():
        profile.enable()
        leaf()

    def stop():
        leaf()
        profile.disable()
        leaf()

    def leaf():
        pass

    def outer():
        start()
        leaf()
        stop()
        leaf()

    outer()
    found = functions(profile)
    assert found["leaf"].calls == 3
    assert found["leaf"].callers == {"stop": 1}
    assert found["stop"].calls == 1
    assert "start" not in found
    assert "outer" not in found


def test_disabled_deep_inside_and_enabled_again_further_up(profile, functions):
    def dive(depth):
        if depth:
            dive(depth - 1)
        else:
            profile.disable()
        leaf()

    def leaf():
        pass

    with profile:
        dive(10)
    profile.enable()
    dive(10)
    profile.disable()
    found = functions(profile)
    assert (found["dive"].calls, found["dive"].primitive) == (22, 2)
    assert "leaf" not in found


def test_a_profile_goes_on_where_it_stopped(profile, functions):
    def leaf():
        pass

    for _ in range(10):
        profile.enable()
        leaf()
        profile.disable()
        leaf()
    assert functions(profile)["leaf"].calls == 10


def test_c_functions_have_callers_and_may_call_back(functions):
    from sonde import tracing

    def key(value):
        return abs(value)

    def main():
        sorted([3, -1, 2], key=key)
        list(map(key, [1, 2]))
        max([1, 2, 3, 4], key=key)

    with tracing.Profile() as profile:
        main()
    found = functions(profile)
    assert found["<built-in method builtins.sorted>"].callers == {"main": 1}
    assert found["<built-in method builtins.abs>"].callers == {"key": 9}
    assert found["key"].calls == 9
    assert found["key"].callers["<built-in method builtins.sorted>"] == 3
    assert found["key"].callers["<built-in method builtins.max>"] == 4


def test_c_functions_that_raise_end(functions):
    from sonde import tracing

    def main():
        for _ in range(5):
            with contextlib.suppress(TypeError):
                len(5)
            leaf()

    def leaf():
        pass

    with tracing.Profile() as profile:
        main()
    found = functions(profile)
    assert found["<built-in method builtins.len>"].callers["main"] == 5  # a thread of pytest-xdist calls it too
    assert found["leaf"].callers == {"main": 5}


@pytest.mark.parametrize("count", [1, 10, 1000])
def test_as_many_functions_as_you_like(profile, functions, count):
    names = {}
    exec("\n".join(f"def f{i}(): pass" for i in range(count)), names)
    made = [names[f"f{i}"] for i in range(count)]
    with profile:
        for i, function in enumerate(made):
            for _ in range(i % 3 + 1):
                function()
    found = functions(profile)
    assert all(found[f"f{i}"].calls == i % 3 + 1 for i in range(count))
