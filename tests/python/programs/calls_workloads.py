"""Small uses of the standard library that call the same functions each time: what two profilers must agree on."""

from __future__ import annotations

import _pydecimal
import argparse
import ast
import asyncio
import base64
import bisect
import calendar
import collections
import configparser
import contextlib
import copy
import csv
import dataclasses
import datetime
import decimal
import difflib
import dis
import email
import email.message
import enum
import fnmatch
import fractions
import functools
import heapq
import html.parser
import inspect
import io
import itertools
import json
import json.decoder
import json.encoder
import json.scanner
import logging
import operator
import pathlib
import pickle
import pprint
import random
import re
import shlex
import sqlite3
import statistics
import string
import struct
import tempfile
import textwrap
import threading
import tokenize
import typing
import unittest
import urllib.parse
import xml.etree.ElementTree as ElementTree
import zipfile

SOURCE = textwrap.dedent(
    '''
    """A module."""
    import os

    class Shape:
        sides: int = 0

        def area(self, scale=1.0, *rest, named=None, **more):
            """Nothing yet."""
            return [scale * side for side in range(self.sides) if side % 2] or {"none": (1, 2, 3)}

    async def wait(shape: Shape) -> float:
        async with shape as inner:
            return await inner.area() if inner else lambda x: x**2

    try:
        print(f"{Shape().area()!r:>10}")
    except (ValueError, TypeError) as error:
        raise RuntimeError from error
    '''
)
PEOPLE = [{"name": f"person {i}", "age": 20 + i * 7 % 50, "tags": ["a", "b", None, True, 1.5]} for i in range(20)]


def use_argparse():
    parser = argparse.ArgumentParser(prog="prog")
    parser.add_argument("files", nargs="*")
    parser.add_argument("-v", "--verbose", action="count", default=0)
    parser.add_argument("--size", type=int, choices=[1, 2, 3])
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--fast", action="store_true")
    group.add_argument("--slow", action="store_false")
    parser.parse_args(["-vv", "--size", "2", "a", "b", "--fast"])
    parser.format_help()
    with contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(SystemExit):
        parser.parse_args(["--size", "many"])


def use_json():
    text = json.dumps(PEOPLE, indent=2, sort_keys=True)
    json.loads(text, object_hook=lambda pairs: collections.OrderedDict(sorted(pairs.items())))
    with contextlib.suppress(json.JSONDecodeError):
        json.loads("{broken")


def use_json_in_python():
    encoder = json.JSONEncoder(indent=1, default=str)
    "".join(encoder.iterencode([PEOPLE[:3], {1: None, "two": 2.5}]))
    decoder = json.JSONDecoder()
    decoder.parse_string = json.decoder.py_scanstring
    decoder.scan_once = json.scanner.py_make_scanner(decoder)
    decoder.decode('{"a": [1, 2.5, "x\\n", null, true], "b": {"c": []}}')


def use_ast():
    class Rename(ast.NodeTransformer):
        def visit_Name(self, node):
            return ast.copy_location(ast.Name(id=node.id.upper(), ctx=node.ctx), node)

    tree = Rename().visit(ast.parse(SOURCE))
    ast.fix_missing_locations(tree)
    ast.unparse(tree)
    ast.dump(tree, indent=1)
    ast.literal_eval("{'a': [1, -2, (3, 4)]}")


def use_dis():
    dis.dis(compile(SOURCE, "source", "exec"), file=io.StringIO())


def use_decimal():
    with decimal.localcontext() as context:
        context.prec = 40
        total = sum((decimal.Decimal(i) / 7 for i in range(1, 30)), decimal.Decimal(0))
        total.quantize(decimal.Decimal("0.001")).sqrt()


def use_decimal_in_python():
    context = _pydecimal.Context(prec=20)
    total = _pydecimal.Decimal(1)
    for i in range(1, 6):
        total = context.add(total, context.divide(_pydecimal.Decimal(i), _pydecimal.Decimal("7.3")))
    f"{total.sqrt(context):.5f}"


def use_fractions():
    total = fractions.Fraction(0)
    for i in range(1, 25):
        total += fractions.Fraction(1, i) * fractions.Fraction("2/3")
    round(total, 2)
    float(total.limit_denominator(1000))


def use_statistics():
    data = [fractions.Fraction(i * i % 17, 3) for i in range(25)]
    statistics.mean(data), statistics.median(data), statistics.pstdev(data), statistics.mode(data)
    statistics.quantiles([1.0, 5.0, 2.5, 9.0], n=4)
    statistics.NormalDist(10, 2).cdf(11)


def use_asyncio():
    async def work(number, queue):
        await asyncio.sleep(0)
        await queue.put(number)
        return number

    async def main():
        queue = asyncio.Queue()
        tasks = [asyncio.create_task(work(i, queue)) for i in range(5)]
        await asyncio.gather(*tasks)
        while not queue.empty():
            await queue.get()

    loop = asyncio.SelectorEventLoop()
    try:
        loop.run_until_complete(main())
    finally:
        loop.close()


def use_coroutines_in_python():
    import asyncio.tasks

    async def work(number):
        await asyncio.sleep(0)
        return number

    loop = asyncio.SelectorEventLoop()
    loop.set_task_factory(lambda loop, coro, **more: asyncio.tasks._PyTask(coro, loop=loop, name="task", **more))
    try:
        loop.run_until_complete(asyncio.wait_for(work(3), 60))
    finally:
        loop.close()


def use_unittest():
    class Sums(unittest.TestCase):
        def setUp(self):
            self.numbers = [1, 2, 3]

        def test_sum(self):
            self.assertEqual(sum(self.numbers), 6)

        def test_fails(self):
            self.assertEqual([1, 2, 3], [1, 2, 4])

        def test_raises(self):
            with self.assertRaisesRegex(ValueError, "literal"):
                int("x")

        @unittest.skip("later")
        def test_skipped(self):
            raise AssertionError

    suite = unittest.defaultTestLoader.loadTestsFromTestCase(Sums)
    unittest.TextTestRunner(stream=io.StringIO(), verbosity=0).run(suite)


def use_re():
    re.purge()
    pattern = re.compile(r"(?P<key>\w+)\s*=\s*(?:\"(?P<quoted>[^\"]*)\"|(?P<plain>[^;\s]+))(?=;|$)", re.MULTILINE)
    pattern.sub(lambda found: found["key"].upper(), 'a = 1; b="two words"; c=three')
    re.split(r"[,;]\s*", "a, b;c")
    re.escape("a.b*c")


def use_csv():
    out = io.StringIO()
    writer = csv.DictWriter(out, ["name", "age"], extrasaction="ignore", quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows(PEOPLE)
    list(csv.DictReader(io.StringIO(out.getvalue())))
    csv.Sniffer().sniff("a;b;c\n1;2;3\n4;5;6\n")


def use_configparser():
    parser = configparser.ConfigParser(interpolation=configparser.ExtendedInterpolation())
    parser.read_string("[paths]\nroot = /srv\nlogs = ${root}/logs\n\n[more]\nflag: yes\nmany =\n  a\n  b\n")
    parser.get("paths", "logs"), parser.getboolean("more", "flag"), parser["more"]["many"]
    parser.set("more", "size", "12")
    parser.write(io.StringIO())


def use_logging():
    logger = logging.Logger("calls")
    handler = logging.StreamHandler(io.StringIO())
    handler.setFormatter(logging.Formatter("%(levelname)s:%(name)s:%(message)s"))
    logger.addHandler(handler)
    logger.addFilter(lambda record: record.levelno >= logging.INFO)
    logger.info("one %s", 1)
    logger.debug("two")
    try:
        raise KeyError("three")
    except KeyError:
        logger.exception("failed")
    logger.removeHandler(handler)


def use_dataclasses():
    @dataclasses.dataclass(order=True, frozen=True)
    class Point:
        x: int
        y: int = 0
        tags: list[str] = dataclasses.field(default_factory=list, compare=False)

    points = sorted(Point(i * 7 % 5, -i) for i in range(10))
    dataclasses.asdict(dataclasses.replace(points[0], y=9))
    repr(points)


def use_collections():
    counts = collections.Counter("abracadabra")
    counts.update(collections.Counter(a=3))
    counts.most_common(2)
    chain = collections.ChainMap({"a": 1}, {"b": 2}, counts)
    [chain[key] for key in sorted(chain)]
    Pair = collections.namedtuple("Pair", ["left", "right"], defaults=[0])
    Pair(1)._replace(right=2)._asdict()
    text = collections.UserString("some text")
    text.upper() + text
    collections.deque(range(10), 5).rotate(2)


def use_heapq():
    class Job:
        def __init__(self, rank):
            self.rank = rank

        def __lt__(self, other):
            return self.rank < other.rank

    heap = []
    for i in range(40):
        heapq.heappush(heap, Job(i * 37 % 41))
    [heapq.heappop(heap).rank for _ in range(40)]
    list(heapq.merge([1, 4], [2, 3], key=lambda value: -value, reverse=True))
    heapq.nlargest(3, [Job(i) for i in range(9)], key=lambda job: job.rank)
    bisect.insort([1, 5, 9], 4, key=lambda value: value)


def use_difflib():
    old, new = SOURCE.splitlines(), SOURCE.replace("area", "size").splitlines()
    list(difflib.unified_diff(old, new, lineterm=""))
    list(difflib.ndiff(old[:6], new[:6]))
    difflib.get_close_matches("appel", ["ape", "apple", "peach"])


def use_textwrap():
    text = " ".join(f"word{i}" * (i % 3 + 1) for i in range(60))
    textwrap.fill(text, 30, initial_indent="* ", subsequent_indent="  ")
    textwrap.shorten(text, 40)
    textwrap.dedent(textwrap.indent(text, "    ", lambda line: True))


def use_tokenize():
    tokens = list(tokenize.generate_tokens(io.StringIO(SOURCE).readline))
    tokenize.untokenize((token.type, token.string) for token in tokens)


def use_templates():
    string.Template("$name is ${age} and $$ $other").safe_substitute(PEOPLE[0])
    string.capwords("some words here")
    string.Formatter().vformat("{0!r:>10} {name[0]}", (1,), PEOPLE[0])


def use_files():
    with tempfile.TemporaryDirectory(prefix="calls") as folder:
        root = pathlib.Path(folder)
        for i in range(5):
            (root / f"part{i}" / "deep").mkdir(parents=True)
            (root / f"part{i}" / "file.txt").write_text("x" * i)
        assert sum(path.stat().st_size for path in root.rglob("*.txt")) == 10
        [path.relative_to(root).with_suffix(".md").parts for path in sorted(root.glob("*/*.txt"))]


def use_email():
    message = email.message.EmailMessage()
    message["Subject"] = "Grüße"
    message["To"] = "One <one@example.org>, two@example.org"
    message.set_content("text\n")
    message.add_alternative("<p>text</p>", subtype="html", cte="quoted-printable")
    message.set_boundary("boundary")
    again = email.message_from_string(message.as_string(), policy=email.policy.default)
    [part.get_content_type() for part in again.walk()]
    assert len(again["to"].addresses) == 2


def use_html():
    class Links(html.parser.HTMLParser):
        def handle_starttag(self, tag, attrs):
            self.found = [*getattr(self, "found", []), (tag, dict(attrs))]

        def handle_data(self, data):
            data.strip()

    parser = Links()
    parser.feed("<html><body class=x><a href='u'>a &amp; b</a><br/><!-- c --><p>&#60;text</p></body></html>" * 3)
    parser.close()


def use_xml():
    root = ElementTree.fromstring("<a><b n='1'>x</b><b n='2'><c/></b>tail</a>")
    for node in root.iter("b"):
        node.set("seen", "yes")
    root.findall("./b[@n='2']/c")
    ElementTree.indent(root)
    ElementTree.tostring(root, encoding="unicode")


def use_zipfile():
    buffer = io.BytesIO()
    stamp = (2020, 1, 1, 0, 0, 0)
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for i in range(3):
            archive.writestr(zipfile.ZipInfo(f"file{i}", stamp), "text " * 100 * i)
    with zipfile.ZipFile(buffer) as archive:
        assert archive.testzip() is None
        [archive.read(name) for name in archive.namelist()]


def use_pickle():
    class Out(io.BytesIO):
        pass

    out = Out()
    pickle._Pickler(out, 4).dump([PEOPLE, datetime.date(2020, 1, 2), {1, 2}, collections.OrderedDict(a=1)])
    pickle._Unpickler(io.BytesIO(out.getvalue())).load()
    pickle.loads(pickle.dumps(fractions.Fraction(1, 3)))
    copy.deepcopy(PEOPLE)


def use_random():
    source = random.Random(7)
    numbers = [source.randint(1, 100) for _ in range(50)]
    source.shuffle(numbers)
    source.sample(numbers, 5), source.choices(numbers, k=3), source.gauss(0, 1), source.uniform(1, 2)


def use_datetime():
    start = datetime.datetime(2024, 2, 28, 23, 0, tzinfo=datetime.UTC)
    days = [start + datetime.timedelta(hours=7 * i) for i in range(10)]
    [day.isoformat() for day in days if day.weekday() < 5]
    datetime.datetime.strptime("2024-02-29", "%Y-%m-%d").strftime("%A")
    calendar.TextCalendar().formatmonth(2024, 2)


def use_iterators():
    @functools.cache
    def fibonacci(n):
        return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

    @functools.singledispatch
    def show(value):
        return "object"

    @show.register
    def _(value: int):
        return "int"

    fibonacci(20)
    [show(value) for value in (1, "a", 2.0)]
    list(map(str, itertools.accumulate(range(10), operator.mul)))
    list(map(lambda a, b: a + b, range(5), itertools.repeat(1, 5)))
    [list(group) for _, group in itertools.groupby(sorted("aabbbc"), key=lambda letter: letter)]
    sorted(range(10), key=functools.cmp_to_key(lambda a, b: b - a))
    functools.reduce(lambda a, b: a * b, filter(lambda n: n % 2, range(1, 10)))
    functools.partial(max, key=lambda n: -n)([3, 1, 2])


def use_contexts():
    @contextlib.contextmanager
    def opened(name):
        try:
            yield name
        except ValueError:
            pass
        finally:
            name.upper()

    with contextlib.ExitStack() as stack:
        [stack.enter_context(opened(f"file{i}")) for i in range(5)]
        stack.callback(len, "abc")
        raise ValueError
    with opened("x"), contextlib.suppress(KeyError), contextlib.nullcontext(), contextlib.closing(io.StringIO()):
        {}["missing"]


def use_generators():
    def walk(depth):
        if depth:
            yield from walk(depth - 1)
            yield depth
            yield from walk(depth - 1)

    def echo():
        received = None
        while True:
            try:
                received = yield received
            except KeyError:
                received = "caught"

    assert sum(walk(6)) == 120
    talker = echo()
    next(talker)
    [talker.send(i) for i in range(5)]
    talker.throw(KeyError())
    talker.close()
    unfinished = walk(3)
    next(unfinished)
    del unfinished
    doubled = (number * 2 for number in range(10))
    assert sum(number for number in doubled if number % 3) == 54


def use_namesakes():
    assert sum(i for i in (j * 2 for j in range(10)) if i % 3) == 54
    (lambda call: call())(lambda: None)


def use_async_generators():
    async def numbers(n):
        for i in range(n):
            yield i

    async def total():
        found = 0
        async for number in numbers(5):
            found += number
        return found + sum([number async for number in numbers(3)])

    running = total()
    with contextlib.suppress(StopIteration):
        running.send(None)


def use_sqlite():
    connection = sqlite3.connect(":memory:")
    connection.create_function("double", 1, lambda value: value * 2)
    connection.row_factory = sqlite3.Row
    with contextlib.closing(connection):
        connection.execute("create table people(name text, age integer)")
        connection.executemany("insert into people values(:name, :age)", PEOPLE)
        [dict(row) for row in connection.execute("select name, double(age) d from people order by d")]


def use_classes():
    class Field:
        def __set_name__(self, owner, name):
            self.name = "_" + name

        def __get__(self, instance, owner=None):
            return self if instance is None else getattr(instance, self.name, 0)

        def __set__(self, instance, value):
            setattr(instance, self.name, value)

    class Counted(type):
        def __call__(cls, *args, **kwargs):
            return super().__call__(*args, **kwargs)

    class Thing(metaclass=Counted):
        size = Field()

        def __init__(self, size):
            self.size = size

        @property
        def area(self):
            return self.size**2

        @classmethod
        def make(cls, size):
            return cls(size)

        @staticmethod
        def check(size):
            return size > 0

        def __eq__(self, other):
            return self.size == other.size

        __hash__ = None

        def __getattr__(self, name):
            raise AttributeError(name)

    things = [Thing.make(i) for i in range(5)]
    [thing.area for thing in things if Thing.check(thing.size)]
    assert things.index(Thing(3)) == 3
    getattr(things[0], "missing", None)


def use_enum():
    class Color(enum.IntFlag):
        RED = enum.auto()
        GREEN = enum.auto()
        BLUE = enum.auto()

    assert Color.RED | Color.BLUE in Color.RED | Color.GREEN | Color.BLUE
    [color.name for color in Color]
    Color(3), Color["RED"], ~Color.RED


def use_exceptions():
    def fail(depth):
        if depth == 0:
            raise LookupError("deep")
        try:
            fail(depth - 1)
        finally:
            len("clean")

    for depth in range(5):
        try:
            fail(depth)
        except LookupError as error:
            error.add_note("note")
    with contextlib.suppress(TypeError):
        len(5)
    with contextlib.suppress(ValueError):
        int("x")
    with contextlib.suppress(ExceptionGroup):
        raise ExceptionGroup("many", [ValueError(1), TypeError(2)])


def use_recursion():
    def is_even(n):
        return n == 0 or is_odd(n - 1)

    def is_odd(n):
        return n != 0 and is_even(n - 1)

    def ackermann(m, n):
        if m == 0:
            return n + 1
        return ackermann(m - 1, 1) if n == 0 else ackermann(m - 1, ackermann(m, n - 1))

    is_even(50)
    ackermann(2, 5)


def use_inspect():
    inspect.signature(argparse.ArgumentParser.add_argument).bind(None, "-v", action="count")
    inspect.getmembers(Shape, callable)
    inspect.cleandoc(textwrap.__doc__ or "")
    typing.get_type_hints(Shape.area)


def use_text():
    pprint.pformat(PEOPLE, width=60)
    shlex.split("a 'b c' --d=\"e f\"")
    urllib.parse.urlencode({"a b": "ü", "c": [1, 2]}, doseq=True)
    urllib.parse.urljoin("http://example.org/a/b?q#f", "../c")
    fnmatch.filter(["a.py", "b.txt"], "*.py")
    base64.b85encode(struct.pack("<IQ", 7, 9))


def use_locks():
    lock = threading.RLock()
    condition = threading.Condition(lock)
    with condition:
        condition.notify_all()
    event = threading.Event()
    event.set()
    event.wait(1)
    with threading.Semaphore(2):
        pass


class Shape:
    """Something to inspect."""

    def area(self, scale: float = 1.0, *, named: int | None = None) -> float:
        return scale


WORKLOADS = [value for name, value in sorted(globals().items()) if name.startswith("use_")]
