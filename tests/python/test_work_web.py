"""Recording requests of web applications: through real servers, and with applications driven by hand."""

import asyncio
import contextlib
import json
import re
import socketserver
import threading
import urllib.error
import urllib.request
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server
from wsgiref.util import FileWrapper, setup_testing_defaults
from wsgiref.validate import validator

import pytest
from wait_support import spin, until

from sonde import _core
from sonde.web import ASGIMiddleware, WSGIMiddleware

SECRET = "a long random text"
QUERY = "sonde=a+long%20random+text"


def hot_view():
    spin(0.05, "hot_view")


def other_view():
    spin(0.05, "other_view")


def has_line_of(text, function):
    """Whether a function stands in the tables of a report, or in its tree."""
    return re.search(rf"(^|[-─] ){function}( |$)", text, re.MULTILINE) is not None


def has_source(text):
    """Whether a line of ``spin`` stands there; which one was found by the sampler, chance decides."""
    return "sum(range(100))" in text or "time.thread_time() < end" in text


# ---- WSGI ----


def plain_app(environ, start_response):
    hot_view() if environ["PATH_INFO"] == "/hot" else other_view()
    start_response("201 Created", [("Content-Type", "text/plain"), ("X-From", "app")])
    return [environ["QUERY_STRING"].encode()]


class Threads(socketserver.ThreadingMixIn, WSGIServer):
    daemon_threads = True


class Quiet(WSGIRequestHandler):
    def log_message(self, *words):
        pass


class Reply:
    def __init__(self, answer):
        self.status = answer.status
        self.headers = answer.headers
        self.body = answer.read().decode()


def get(url, method="GET", **headers):
    asked = urllib.request.Request(url, method=method, headers=headers)
    try:
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return Reply(answer)
    except urllib.error.HTTPError as answer:
        return Reply(answer)


@contextlib.contextmanager
def serving(app):
    server = make_server("127.0.0.1", 0, app, Threads, Quiet)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module")
def site():
    """A real server that checks both sides of the middleware by the words of PEP 3333."""
    with serving(validator(WSGIMiddleware(validator(plain_app), secret=SECRET))) as address:
        yield address


def call(app, path="/", query="", **more):
    """What a WSGI application answers: status, headers, body."""
    environ = {"PATH_INFO": path, "QUERY_STRING": query, "REQUEST_METHOD": "GET", **more}
    setup_testing_defaults(environ)
    told = []
    body = app(environ, lambda status, headers, exc_info=None: told.append((status, dict(headers))))
    try:
        text = b"".join(body)
    finally:
        if hasattr(body, "close"):
            body.close()
    return *told[-1], text.decode()


@pytest.mark.quick
def test_a_request_with_the_secret_is_answered_by_its_page(site):
    page = get(f"{site}/hot?a=1&{QUERY}&b=%20x")
    assert page.status == 200
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert page.headers["Cache-Control"] == "no-store"
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert page.headers["X-Sonde-Status"] == "201 Created"
    assert page.headers["X-From"] is None
    assert page.body.startswith("<!doctype html>")
    assert page.headers["Content-Length"] == str(len(page.body.encode()))


def test_the_text_says_what_the_application_answered(site):
    text = get(f"{site}/hot?a=1&{QUERY}&sonde_view=text&b=%20x").body
    assert text.startswith("GET /hot: 201 Created, 10 bytes in ")  # a=1&b=%20x, and nothing of ours
    assert has_line_of(text, "hot_view")
    assert not has_line_of(text, "other_view")
    assert has_source(text)


def test_the_secret_may_be_in_a_header(site):
    assert get(f"{site}/hot?sonde&sonde_view=text", **{"X-Sonde-Secret": SECRET}).headers["X-Sonde-Status"]
    assert get(f"{site}/hot?sonde", **{"X-Sonde-Secret": "wrong"}).status == 201
    assert get(f"{site}/hot?{QUERY}", **{"X-Sonde-Secret": "wrong"}).status == 201
    assert get(f"{site}/hot?a=1", **{"X-Sonde-Secret": SECRET}).body == "a=1"


@pytest.mark.parametrize(
    "query", ["", "a=1", "sonde", "sonde=", "sonde=wrong&x", "a=sonde", "sonde_view=text", "%73onde"]
)
def test_others_pass_as_they_came(site, query):
    answer = get(f"{site}/other?{query}")
    assert (answer.status, answer.body, answer.headers["X-From"]) == (201, query, "app")
    assert answer.headers["X-Sonde-Status"] is None


def test_memory_is_measured_when_asked_for(site):
    assert "peak " in get(f"{site}/hot?{QUERY}&sonde_view=text&sonde_memory").body
    assert "peak " not in get(f"{site}/hot?{QUERY}&sonde_view=text").body


def test_head_has_the_headers_only(site):
    answer = get(f"{site}/hot?{QUERY}", method="HEAD")
    assert answer.headers["X-Sonde-Status"] == "201 Created"
    assert int(answer.headers["Content-Length"]) > 1000
    assert answer.body == ""


def test_other_requests_at_the_same_time_are_not_shown(site):
    is_over = threading.Event()

    def load():
        while not is_over.is_set():
            assert get(f"{site}/other").status == 201

    threads = [threading.Thread(target=load) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        own = get(f"{site}/hot?{QUERY}&sonde_view=text").body
        whole = get(f"{site}/hot?{QUERY}&sonde_view=text&sonde_scope=process").body
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
    assert has_line_of(own, "hot_view") and not has_line_of(own, "other_view")
    assert re.search(r"; 1\sthread\n", own), own  # a long line is wrapped
    assert ". This shows everything the process did meanwhile" in whole
    assert not re.search(r"; 1\sthread\n", whole)


def test_one_request_is_recorded_at_a_time():
    is_in, may_end = threading.Event(), threading.Event()

    def app(environ, start_response):
        is_in.set()
        may_end.wait(240)
        start_response("200 OK", [])
        return [b"done"]

    wrapped = WSGIMiddleware(app, secret=SECRET)
    answers = []
    first = threading.Thread(target=lambda: answers.append(call(wrapped, query=QUERY)))
    first.start()
    assert is_in.wait(240)
    status, headers, body = call(wrapped, query=QUERY)
    may_end.set()
    first.join()
    assert status == "503 Service Unavailable"
    assert headers["Retry-After"] == "1"
    assert "another request is being recorded" in body
    assert answers[0][0] == "200 OK"
    assert call(wrapped, query=QUERY)[0] == "200 OK"


def test_a_request_that_cannot_be_recorded_says_why(monkeypatch):
    def refuse(self):
        raise RuntimeError("no recording today")

    monkeypatch.setattr("sonde.sampling.Measurement.start", refuse)
    status, _, body = call(WSGIMiddleware(plain_app, secret=SECRET), query=QUERY)
    assert status == "503 Service Unavailable"
    assert body == "sonde: cannot record the request: no recording today\n"


def test_without_secret_and_callback_nothing_is_recorded():
    seen = []

    def app(environ, start_response):
        seen.append(_core.is_running())
        start_response("200 OK", [])
        return [environ["QUERY_STRING"].encode()]

    for query in ("sonde", "sonde=", "sonde=None", QUERY):
        assert call(WSGIMiddleware(app), query=query)[2] == query
    assert seen == [False] * 4
    assert not _core.is_running()


def test_a_callback_decides():
    def allow(environ):
        return environ["REMOTE_ADDR"] == "10.0.0.1"

    wrapped = WSGIMiddleware(plain_app, allow=allow)
    assert call(wrapped, query="sonde", REMOTE_ADDR="10.0.0.1")[1]["X-Sonde-Status"] == "201 Created"
    assert call(wrapped, query="sonde", REMOTE_ADDR="10.0.0.2")[0] == "201 Created"
    both = WSGIMiddleware(plain_app, allow=allow, secret=SECRET)
    assert call(both, query=QUERY, REMOTE_ADDR="10.0.0.1")[0] == "200 OK"
    assert call(both, query="sonde", REMOTE_ADDR="10.0.0.1")[0] == "201 Created"
    assert call(both, query=QUERY, REMOTE_ADDR="10.0.0.2")[0] == "201 Created"


@pytest.mark.parametrize("wrong", [{"secret": ""}, {"secret": b"x"}, {"parameter": "a b"}, {"rate": 0}])
def test_a_wrong_option_is_refused(wrong):
    with pytest.raises(ValueError):
        WSGIMiddleware(plain_app, **wrong)


class Body:
    """A body that counts what is done to it."""

    def __init__(self, parts):
        self.parts = iter(parts)
        self.taken = self.closed = 0

    def __iter__(self):
        return self

    def __next__(self):
        part = next(self.parts)
        self.taken += 1
        if isinstance(part, Exception):
            raise part
        return part

    def close(self):
        self.closed += 1


def test_a_large_streamed_body_is_counted_and_closed():
    body = Body(bytes(1_000_000) for _ in range(20))

    def app(environ, start_response):
        write = start_response("200 OK", [("Content-Type", "text/plain")])
        write(b"first")
        return body

    text = call(WSGIMiddleware(app, secret=SECRET), query=f"{QUERY}&sonde_view=text")[2]
    assert text.startswith("GET /: 200 OK, 20000005 bytes in ")
    assert (body.taken, body.closed) == (20, 1)


def test_a_generator_and_a_file_are_bodies(tmp_path):
    (tmp_path / "file").write_bytes(bytes(12345))

    def app(environ, start_response):
        start_response("200 OK", [])
        return FileWrapper((tmp_path / "file").open("rb"))

    def generator(environ, start_response):
        start_response("202 Accepted", [])
        yield b"a"
        yield b"b"

    assert "12345 bytes" in call(WSGIMiddleware(app, secret=SECRET), query=f"{QUERY}&sonde_view=text")[2]
    assert (
        "202 Accepted, 2 bytes" in call(WSGIMiddleware(generator, secret=SECRET), query=f"{QUERY}&sonde_view=text")[2]
    )


def test_exceptions_of_the_application_pass_through():
    body = Body([b"a", KeyError("in the body")])

    def early(environ, start_response):
        raise KeyError("before")

    def late(environ, start_response):
        start_response("200 OK", [])
        return body

    for app, words in ((early, "before"), (late, "in the body")):
        with pytest.raises(KeyError, match=words):
            call(WSGIMiddleware(app, secret=SECRET), query=QUERY)
        assert not _core.is_running()
    assert body.closed == 1
    assert call(WSGIMiddleware(plain_app, secret=SECRET), query=QUERY)[0] == "200 OK"


def test_start_response_may_be_called_again_with_an_error_only():
    def corrects_itself(environ, start_response):
        start_response("200 OK", [])
        try:
            raise KeyError
        except KeyError as error:
            start_response("500 Oops", [], (KeyError, error, None))
        return [b""]

    def twice(environ, start_response):
        start_response("200 OK", [])
        start_response("200 OK", [])
        return [b""]

    headers = call(WSGIMiddleware(corrects_itself, secret=SECRET), query=QUERY)[1]
    assert headers["X-Sonde-Status"] == "500 Oops"
    with pytest.raises(AssertionError, match="start_response was called a second time without exc_info"):
        call(WSGIMiddleware(twice, secret=SECRET), query=QUERY)


def test_a_response_without_end_is_cut_off():
    def app(environ, start_response):
        start_response("200 OK", [])
        while True:
            yield b"x"

    text = call(WSGIMiddleware(app, secret=SECRET, max_seconds=0.05), query=f"{QUERY}&sonde_view=text")[2]
    assert "; it was cut off" in text.splitlines()[0]


def test_recordings_are_kept_only_when_asked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call(WSGIMiddleware(plain_app, secret=SECRET), "/hot", QUERY)
    assert list(tmp_path.iterdir()) == []
    headers = call(WSGIMiddleware(plain_app, secret=SECRET, keep=tmp_path / "kept"), "/../../hot", QUERY)[1]
    kept = [path.name for path in (tmp_path / "kept").iterdir()]
    assert kept == [headers["X-Sonde-Recording"]]
    assert _core.page(str(tmp_path / "kept" / kept[0])).startswith("<!doctype html>")


def test_source_texts_can_be_left_out():
    from test_report import data_of

    for source in (True, False):
        wrapped = WSGIMiddleware(plain_app, secret=SECRET, source=source)
        page = json.dumps(data_of(call(wrapped, "/hot", QUERY)[2]))
        text = call(wrapped, "/hot", f"{QUERY}&sonde_view=text")[2]
        assert has_source(page) is source
        assert has_source(text) is source
        assert "hot_view" in page and "hot_view" in text


def test_inside_a_longer_measurement_only_the_request_is_shown():
    import sonde

    with sonde.sample() as outer:
        for _ in range(6):  # enough of it to be seen on a busy machine
            other_view()
        text = call(WSGIMiddleware(plain_app, secret=SECRET), "/hot", f"{QUERY}&sonde_view=text")[2]
        assert _core.is_running()
    assert has_line_of(text, "hot_view") and not has_line_of(text, "other_view")
    assert {"hot_view", "other_view"} <= {row["function"] for row in outer.rows("functions")}


# ---- ASGI ----


def drive(app, path="/", query="", messages=(), method="GET", headers=(), **more):
    """What an ASGI application sends."""
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "method": method,
        "path": path,
        "query_string": query.encode(),
        "headers": [*headers],
        "client": ("127.0.0.1", 1),
        **more,
    }
    waiting = list(messages) or [{"type": "http.request", "body": b"", "more_body": False}]
    sent = []

    async def receive():
        return waiting.pop(0) if waiting else {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    return sent


def body_of(sent):
    return b"".join(message.get("body", b"") for message in sent[1:]).decode()


def header_of(sent, name):
    return dict(sent[0]["headers"]).get(name.encode(), b"").decode()


async def echo_app(scope, receive, send):
    await asyncio.sleep(0)
    hot_view()
    got = await receive()
    await send({"type": "http.response.start", "status": 201, "headers": [(b"x-from", b"app")]})
    await send({"type": "http.response.body", "body": scope["query_string"], "more_body": True})
    await send({"type": "http.response.body", "body": got["body"], "more_body": False})


def test_asgi_answers_with_the_page_or_the_text():
    wrapped = ASGIMiddleware(echo_app, secret=SECRET)
    post = {"messages": [{"type": "http.request", "body": b"posted", "more_body": False}], "method": "POST"}
    sent = drive(wrapped, "/hot", f"a=1&{QUERY}&sonde_view=text", **post)
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    assert sent[0]["status"] == 200
    assert header_of(sent, "x-sonde-status") == "201 Created"
    assert body_of(sent).startswith("POST /hot: 201 Created, 9 bytes in ")
    assert has_line_of(body_of(sent), "hot_view")
    assert body_of(drive(wrapped, query=QUERY)).startswith("<!doctype html>")
    assert body_of(drive(wrapped, query=QUERY, method="HEAD")) == ""
    given = drive(wrapped, query="sonde", headers=[(b"X-Sonde-Secret", SECRET.encode())])
    assert header_of(given, "referrer-policy") == "no-referrer"


@pytest.mark.parametrize("query", ["", "a=1", "sonde", "sonde=wrong&x", "sonde_view=text"])
def test_asgi_others_pass_as_they_came(query):
    for wrapped in (ASGIMiddleware(echo_app, secret=SECRET), ASGIMiddleware(echo_app)):
        sent = drive(wrapped, query=query)
        assert (sent[0]["status"], header_of(sent, "x-from"), body_of(sent)) == (201, "app", query)
        assert len(sent) == 3


def test_asgi_lifespan_and_web_sockets_pass_through():
    seen = []

    async def app(scope, receive, send):
        seen.append((scope["type"], scope.get("query_string"), _core.is_running()))
        await send({"type": f"{scope['type']}.answer"})

    wrapped = ASGIMiddleware(app, secret=SECRET)
    for kind in ("lifespan", "websocket"):
        assert drive(wrapped, query=QUERY, type=kind) == [{"type": f"{kind}.answer"}]
    assert seen == [("lifespan", QUERY.encode(), False), ("websocket", QUERY.encode(), False)]


def test_asgi_callbacks_may_be_coroutines():
    async def allow(scope):
        await asyncio.sleep(0)
        return scope["client"][0] == "127.0.0.1"

    wrapped = ASGIMiddleware(echo_app, allow=allow)
    assert header_of(drive(wrapped, query="sonde"), "x-sonde-status") == "201 Created"
    assert drive(wrapped, query="sonde", client=("10.0.0.1", 1))[0]["status"] == 201


def test_asgi_exceptions_pass_through():
    async def app(scope, receive, send):
        raise KeyError("in the app")

    with pytest.raises(KeyError, match="in the app"):
        drive(ASGIMiddleware(app, secret=SECRET), query=QUERY)
    assert not _core.is_running()


def test_asgi_without_end_is_cut_off():
    ends = []

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        try:
            while True:
                await send({"type": "http.response.body", "body": b"x", "more_body": True})
        except Exception as end:
            ends.append(str(end))
            raise

    text = body_of(drive(ASGIMiddleware(app, secret=SECRET, max_seconds=0.05), query=f"{QUERY}&sonde_view=text"))
    assert "; it was cut off" in text.splitlines()[0]
    assert ends == ["the recording of this request has ended"]


def test_asgi_tasks_of_other_requests_are_not_shown():
    async def app(scope, receive, send):
        for _ in range(3):
            burn_here = hot_view if scope["path"] == "/hot" else other_view
            burn_here()
            await asyncio.sleep(0)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    wrapped = ASGIMiddleware(app, secret=SECRET)
    texts = {}

    async def one(path, query):
        sent = []

        async def send(message):
            sent.append(message)

        scope = {"type": "http", "method": "GET", "path": path, "query_string": query.encode(), "headers": []}
        await wrapped(scope, None, send)
        texts[path] = (header_of(sent, "x-sonde-scope"), body_of(sent))

    async def both():
        await asyncio.gather(one("/hot", f"{QUERY}&sonde_view=text"), one("/other", ""))

    asyncio.run(both())
    scope, text = texts["/hot"]
    assert scope == "request"
    assert has_line_of(text, "hot_view") and not has_line_of(text, "other_view")


def test_asgi_alone_shows_threads_that_it_has_work_in():
    async def app(scope, receive, send):
        await asyncio.to_thread(hot_view)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    wrapped = ASGIMiddleware(app, secret=SECRET)
    sent = drive(wrapped, query=f"{QUERY}&sonde_view=text")
    assert header_of(sent, "x-sonde-scope") == "process"
    assert has_line_of(body_of(sent), "hot_view")
    sent = drive(wrapped, query=f"{QUERY}&sonde_view=text&sonde_scope=request")
    assert not has_line_of(body_of(sent), "hot_view")


# ---- frameworks ----


def test_flask():
    import flask

    app = flask.Flask("site")

    @app.get("/hot")
    def hot():
        hot_view()
        return f"<p>{flask.request.args.get('a')}</p>"

    app.wsgi_app = WSGIMiddleware(app.wsgi_app, secret=SECRET)
    with serving(app) as address:
        assert get(f"{address}/hot?a=1").body == "<p>1</p>"
        text = get(f"{address}/hot?a=1&{QUERY}&sonde_view=text").body
        assert text.startswith("GET /hot: 200 OK, 8 bytes in ")
        assert has_line_of(text, "hot_view")
        assert get(f"{address}/none?{QUERY}").headers["X-Sonde-Status"] == "404 NOT FOUND"


def test_starlette_on_uvicorn():
    import uvicorn
    from starlette.applications import Starlette
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route

    def in_a_thread(request):
        hot_view()
        return PlainTextResponse("thread")

    async def in_the_loop(request):
        other_view()
        return PlainTextResponse(str(request.url.query))

    app = Starlette(routes=[Route("/thread", in_a_thread), Route("/loop", in_the_loop)])
    app.add_middleware(ASGIMiddleware, secret=SECRET)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        until(lambda: server.started)
        address = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        assert get(f"{address}/loop?a=1&sonde").body == "a=1&sonde"
        text = get(f"{address}/thread?{QUERY}&sonde_view=text").body
        assert text.startswith("GET /thread: 200 OK, 6 bytes in ")
        assert has_line_of(text, "hot_view")
        assert has_line_of(get(f"{address}/loop?{QUERY}&sonde_view=text").body, "other_view")
        assert get(f"{address}/loop?{QUERY}").body.startswith("<!doctype html>")
    finally:
        server.should_exit = True
        thread.join()
