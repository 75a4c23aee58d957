"""Who may have a request recorded: odd queries, odd secrets, and requests that are too short to be seen."""

import random
from urllib.parse import quote_plus

import pytest
from test_work_web import body_of, call, drive

from sonde.web import ASGIMiddleware, WSGIMiddleware, request

SECRET = "s3cret"
ODD = ["é", "測定", "a b&c=d+e%", "\udcff", "a\ud800", "\x00"]


def read(query, header=None, secret=SECRET, parameter="sonde"):
    return request.Guard(secret, parameter, is_on=True).read(query, header)


def wire(text):
    """As a server hands on the bytes of a text."""
    return text.encode("utf-8", "surrogatepass").decode("latin-1")


def short_app(environ, start_response):
    start_response("204 No Content", [])
    return [environ["QUERY_STRING"].encode("latin-1", "replace")]


def is_passed_on(**environ):
    """Whether the application gets the request as it came."""
    told = []
    body = WSGIMiddleware(short_app, secret=SECRET)(environ, lambda status, headers: told.append(status))
    return told == ["204 No Content"] and [*body] == short_app(environ, lambda status, headers: None)


async def short_asgi_app(scope, receive, send):
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": scope["query_string"], "more_body": False})


@pytest.mark.parametrize(
    "query",
    [
        f"sonde_={SECRET}",
        f"sonde__={SECRET}",
        f"sonde%5F={SECRET}",
        f"sonde_secret={SECRET}",
        f"sonde_view={SECRET}",
        f"xsonde={SECRET}",
        f"sondex={SECRET}",
        f"Sonde={SECRET}",
        f"sonde_={SECRET}&sonde",
        f"sonde_={SECRET}&sonde=",
        f"sonde=&sonde_={SECRET}",
        f"a=sonde={SECRET}",
    ],
)
def test_only_the_parameter_itself_carries_the_secret(query):
    assert read(query) is None


def test_the_parameters_are_taken_out_and_the_rest_stays():
    asked = read(f"a=%20&sonde={SECRET}&b&sonde_view=text&sonde_scope=process&sonde_memory&sonde_&sondex=1")
    assert (asked.query, asked.view, asked.scope, asked.memory) == ("a=%20&b&sondex=1", "text", "process", True)
    asked = read(f"sonde={SECRET}&sonde_view=%FF&sonde_scope=\udcff")
    assert (asked.query, asked.view, asked.scope, asked.memory) == ("", "page", None, False)


@pytest.mark.parametrize("secret", ODD)
def test_an_odd_secret_is_compared_and_never_an_error(secret):
    sent = quote_plus(secret, errors="surrogatepass")
    assert read(f"sonde={sent}", secret=secret) is not None
    assert read("sonde", wire(secret), secret=secret) is not None
    for wrong in (SECRET, "", *ODD):
        if wrong != secret:
            assert read(f"sonde={quote_plus(wrong, errors='surrogatepass')}", secret=secret) is None
            assert read("sonde", wire(wrong), secret=secret) is None


@pytest.mark.parametrize("given", ODD)
def test_an_odd_text_is_not_the_secret_and_never_an_error(given):
    for query, header in [
        (f"sonde={given}", None),
        ("sonde", given),
        (f"sonde={given}", given),
        (f"{given}&sonde", None),
    ]:
        assert read(query, header) is None
    assert is_passed_on(QUERY_STRING=f"sonde={given}")
    assert is_passed_on(QUERY_STRING="sonde", HTTP_X_SONDE_SECRET=given)


def random_query(draw):
    words = [
        "sonde",
        "sonde_",
        "sonde_view",
        SECRET,
        "=",
        "&",
        "+",
        ";",
        "%",
        "%73",
        "%5F",
        "%00",
        "%C3%28",
        "_",
        "é",
        "測",
    ]
    words += [f"&sonde={SECRET}&", "&sonde&", "\udcff", "\ud83d", "\x00", "\xff", "s", "3cret", " ", "[]"]
    return "".join(draw.choice(words) for _ in range(draw.randrange(12)))


def carries_secret(query):
    """By the words of the documentation, another way."""
    values = [part[6:] for part in query.split("&") if part.startswith("sonde=") or part == "sonde"]
    return bool(values) and values[-1] == SECRET


def test_random_queries_and_headers_never_raise():
    draw = random.Random(18)
    matches = 0
    for _ in range(20000):
        query = random_query(draw)
        header = draw.choice([None, None, SECRET, random_query(draw)])
        asked = read(query, header)
        if "%" in query or "+" in query:  # the same name or value may be written in several ways
            continue
        has_name = any(part.partition("=")[0] == "sonde" for part in query.split("&"))
        expected = carries_secret(query) if header is None else has_name and header == SECRET
        assert (asked is not None) is expected, (query, header)
        matches += expected
    assert matches > 20


def test_random_requests_reach_the_application_as_they_came():
    draw = random.Random(19)
    asgi = ASGIMiddleware(short_asgi_app, secret=SECRET)
    for _ in range(300):
        query, header = random_query(draw), random_query(draw) + "x"  # never the secret
        assert is_passed_on(QUERY_STRING=wire(query), HTTP_X_SONDE_SECRET=header)
        sent = drive(
            asgi,
            query_string=query.encode("utf-8", "surrogatepass"),
            headers=[(b"x-sonde-secret", header.encode("utf-8", "surrogatepass"))],
        )
        assert sent[0]["status"] == 204
        assert sent[1]["body"] == query.encode("utf-8", "surrogatepass")


@pytest.mark.parametrize("source", [True, False])
@pytest.mark.parametrize("view", ["text", "page"])
def test_a_request_too_short_to_be_sampled_is_answered(source, view):
    query = f"sonde={SECRET}&sonde_view={view}"
    status, _, body = call(WSGIMiddleware(short_app, secret=SECRET, source=source), "/\udcff", query)
    assert status == "200 OK"
    sent = drive(ASGIMiddleware(short_asgi_app, secret=SECRET, source=source), "/\udcff", query)
    assert sent[0]["status"] == 200
    if view == "text":
        for text in (body, body_of(sent)):
            assert text.startswith("GET /?: 204 No Content, 0 bytes in ")


def test_without_a_single_sample_the_text_says_so():
    class Empty:
        def format(self, view, width):
            raise OSError("nothing was recorded")

    for source in (True, False):
        recorder = request.Recorder(False, 100, source, None, (), ())
        assert recorder._text(Empty()) == "no samples: the request was too short\n"
