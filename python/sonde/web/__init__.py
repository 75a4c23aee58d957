"""Middleware for web applications: records a request with ``?sonde`` and answers with its report.

>>> app = WSGIMiddleware(app, secret=os.environ["SONDE_SECRET"])
>>> app = ASGIMiddleware(app, allow=lambda scope: scope["client"][0] == "127.0.0.1")

Without a secret or a callback, nothing is ever recorded. A request that may not be recorded reaches the application
unchanged.
"""

from __future__ import annotations

import time

from sonde import regions
from sonde.web import request

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Awaitable, Callable, Iterable, MutableMapping
    from typing import Any

    Environ = dict[str, Any]
    Scope = MutableMapping[str, Any]
    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]

__all__ = ["ASGIMiddleware", "WSGIMiddleware"]


class _Middleware:
    def __init__(
        self,
        app: Any,
        *,
        secret: str | None = None,
        allow: Callable[[Any], Any] | None = None,
        parameter: str = "sonde",
        memory: bool = False,
        rate: int = 1000,
        source: bool = True,
        keep: str | os.PathLike[str] | None = None,
        max_seconds: float = 60,
        include: Iterable[str] | str = (),
        exclude: Iterable[str] | str = (),
    ) -> None:
        self.app = app
        self._allow = allow
        self._max_seconds = max_seconds
        self._guard = request.Guard(secret, parameter, is_on=secret is not None or allow is not None)
        self._recorder = request.Recorder(memory, rate, source, keep, include, exclude)


class WSGIMiddleware(_Middleware):
    """Wraps a WSGI application.

    ``?sonde=SECRET`` or the header ``X-Sonde-Secret`` must contain the ``secret``. ``allow`` is a function of the
    environment that says whether this request may be recorded; if you set both, both must agree. ``memory`` measures
    memory in every recording, as ``&sonde_memory`` does in one. ``source=False`` leaves source code out of the page.
    ``keep`` is a folder for recordings; without it, they are not kept. A response that takes longer than
    ``max_seconds`` is cut off. ``rate``, ``include`` and ``exclude`` are as in ``sonde.sample``.

    >>> app.wsgi_app = WSGIMiddleware(app.wsgi_app, secret="a long random text")
    """

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        asked = self._guard.read(environ.get("QUERY_STRING", ""), environ.get("HTTP_X_SONDE_SECRET"))
        if asked is None or not (self._allow is None or self._allow(environ)):
            answer: Iterable[bytes] = self.app(environ, start_response)
            return answer
        path = environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")
        asked.describe(
            environ.get("REQUEST_METHOD", "GET"), path.encode("latin-1", "replace").decode("utf-8", "replace")
        )
        page = self._record({**environ, "QUERY_STRING": asked.query}, asked)
        start_response(page.status, [*page.headers])
        return [b"" if asked.method == "HEAD" else page.body]

    def _record(self, environ: Environ, asked: request.Asked) -> request.Answer:
        with request.turn() as is_ours:
            if not is_ours:
                return request.BUSY
            taken = self._recorder.begin(asked)
            if isinstance(taken, request.Answer):
                return taken
            try:
                with regions.region(asked.name):
                    self._respond(environ, taken)
            finally:
                taken.end()
            return self._recorder.answer(taken, only_own=asked.scope != "process")

    def _respond(self, environ: Environ, taken: request.Recorded) -> None:
        """Let the application answer; what it says is counted, and goes nowhere."""

        def start_response(
            status: str, headers: list[tuple[str, str]], exc_info: Any = None
        ) -> Callable[[bytes], None]:
            if taken.status and exc_info is None:
                raise AssertionError("start_response was called a second time without exc_info")
            taken.status = status
            return taken.count

        until = time.monotonic() + self._max_seconds
        body = self.app(environ, start_response)
        try:
            for part in body:
                taken.count(part)
                if time.monotonic() > until:
                    taken.is_cut_off = True
                    break
        finally:
            if hasattr(body, "close"):
                body.close()


class ASGIMiddleware(_Middleware):
    """Wraps an ASGI application. Takes the options of ``WSGIMiddleware``; ``allow`` gets the scope.

    ``allow`` may be a coroutine function. WebSockets and lifespan events pass through.

    >>> app.add_middleware(ASGIMiddleware, secret="a long random text")
    """

    def __init__(self, app: Any, **options: Any) -> None:
        super().__init__(app, **options)
        self._open = 0  # requests that are being answered
        self._begun = 0  # requests so far

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not self._guard.is_on:
            await self.app(scope, receive, send)
            return
        self._open += 1
        self._begun += 1
        try:
            await self._answer(scope, receive, send)
        finally:
            self._open -= 1

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = [value for name, value in scope["headers"] if bytes(name).lower() == b"x-sonde-secret"]
        query = bytes(scope.get("query_string", b"")).decode("latin-1")
        asked = self._guard.read(query, bytes(given[0]).decode("latin-1") if given else None)
        if asked is None or not await self._is_allowed(scope):
            await self.app(scope, receive, send)
            return
        asked.describe(scope["method"], scope.get("root_path", "") + scope["path"])
        own = {**scope, "query_string": asked.query.encode("latin-1"), "extensions": {}}
        page = await self._record(own, receive, asked)
        headers = [(name.lower().encode(), value.encode("latin-1", "replace")) for name, value in page.headers]
        await send({"type": "http.response.start", "status": int(page.status[:3]), "headers": headers})
        body = b"" if asked.method == "HEAD" else page.body
        await send({"type": "http.response.body", "body": body, "more_body": False})

    async def _is_allowed(self, scope: Scope) -> bool:
        if self._allow is None:
            return True
        answer = self._allow(scope)
        return bool(await answer if hasattr(answer, "__await__") else answer)

    async def _record(self, scope: Scope, receive: Receive, asked: request.Asked) -> request.Answer:
        with request.turn() as is_ours:
            if not is_ours:
                return request.BUSY
            taken = self._recorder.begin(asked)
            if isinstance(taken, request.Answer):
                return taken
            is_alone, begun = self._open == 1, self._begun
            try:
                await self._respond(scope, receive, taken)
            finally:
                taken.end()
            is_alone = is_alone and begun == self._begun
            return self._recorder.answer(taken, only_own=asked.scope == "request" or not (asked.scope or is_alone))

    async def _respond(self, scope: Scope, receive: Receive, taken: request.Recorded) -> None:
        """Let the application answer, in a coroutine that begins after the measurement: of one that runs already, the
        first suspension may not be seen."""
        until = time.monotonic() + self._max_seconds

        async def count(message: Message) -> None:
            if message["type"] == "http.response.start":
                taken.status = request.status_line(message["status"])
            elif message["type"] == "http.response.body":
                taken.count(message.get("body", b""))
            if time.monotonic() > until:
                taken.is_cut_off = True
                raise request.CutOff("the recording of this request has ended")

        try:
            with regions.region(taken.asked.name):
                await self.app(scope, receive, count)
        except request.CutOff:
            pass
