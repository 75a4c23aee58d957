"""Small uses of the standard library that call the same functions each time: what two profilers must agree on."""

from __future__ import annotations

import _pydecimal
import argparse
import ast
import base64
import calendar
import collections
import configparser
import contextlib
import copy
import csv
import datetime
import decimal
import difflib
import dis
import email
import email.message
import fnmatch
import fractions
import html.parser
import io
import json
import json.decoder
import json.encoder
import json.scanner
import logging
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
import tokenize
import unittest
import urllib.parse
import xml.etree.ElementTree as ElementTree
import zipfile

import calls_workloads_language

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


def use_sqlite():
    connection = sqlite3.connect(":memory:")
    connection.create_function("double", 1, lambda value: value * 2)
    connection.row_factory = sqlite3.Row
    with contextlib.closing(connection):
        connection.execute("create table people(name text, age integer)")
        connection.executemany("insert into people values(:name, :age)", PEOPLE)
        [dict(row) for row in connection.execute("select name, double(age) d from people order by d")]


def use_text():
    pprint.pformat(PEOPLE, width=60)
    shlex.split("a 'b c' --d=\"e f\"")
    urllib.parse.urlencode({"a b": "ü", "c": [1, 2]}, doseq=True)
    urllib.parse.urljoin("http://example.org/a/b?q#f", "../c")
    fnmatch.filter(["a.py", "b.txt"], "*.py")
    base64.b85encode(struct.pack("<IQ", 7, 9))


EVERYTHING = {**globals(), **vars(calls_workloads_language)}
WORKLOADS = [value for name, value in sorted(EVERYTHING.items()) if name.startswith("use_")]
