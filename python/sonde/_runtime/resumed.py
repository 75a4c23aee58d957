"""Functions that are resumed, wrapped so that a context is open from their first step to their last."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator
    from contextlib import AbstractContextManager
    from typing import Any

# Bits of a code object's co_flags: inspect has them too, but takes long to import.
_GENERATOR, _COROUTINE, _ASYNC_GENERATOR = 0x20, 0x80, 0x200


def code_of(function: Any) -> Any:
    """The code object that a call runs, also inside functools.partial or a method; None for other callables."""
    while True:
        inner = getattr(function, "__func__", None)
        if inner is None and type(function).__name__ == "partial":
            inner = function.func
        if inner is None:
            return getattr(function, "__code__", None)
        function = inner


def wrap_resumable(function: Any, make: Callable[[], AbstractContextManager[Any]]) -> Any:
    """The coroutine, generator or asynchronous generator function in such a context; None for other functions."""
    flags = getattr(code_of(function), "co_flags", 0)
    if flags & _COROUTINE:
        return _wrap_coroutine(function, make)
    if flags & _ASYNC_GENERATOR:
        return _wrap_async_generator(function, make)
    if flags & _GENERATOR:
        return _wrap_generator(function, make)
    return None


def _wrap_coroutine(function: Any, make: Callable[[], AbstractContextManager[Any]]) -> Any:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        with make():
            return await function(*args, **kwargs)

    return wrapper


def _wrap_generator(function: Any, make: Callable[[], AbstractContextManager[Any]]) -> Any:
    def wrapper(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        with make():
            return (yield from function(*args, **kwargs))

    return wrapper


def _wrap_async_generator(function: Any, make: Callable[[], AbstractContextManager[Any]]) -> Any:
    async def wrapper(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        with make():
            inner = function(*args, **kwargs)
            try:
                item = await inner.__anext__()
                while True:
                    try:
                        sent = yield item
                    except GeneratorExit:
                        await inner.aclose()
                        raise
                    except BaseException as error:
                        item = await inner.athrow(error)
                    else:
                        item = await inner.asend(sent)
            except StopAsyncIteration:
                return

    return wrapper
