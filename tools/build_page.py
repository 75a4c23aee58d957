#!/usr/bin/env python3
"""Builds the report page from web/ and writes it as a C file, for Meson.

Usage: build_page.py OUTPUT.c --depfile FILE [--web FOLDER --work FOLDER | --ready FILE]

With --ready the page is that file, as an sdist contains it (tools/dist.py). Without it and --web the C file holds no
page, and `sonde report` says so. The packages go to web/node_modules, once for all builds; where that cannot be
written, the page is built in a copy. WORK/page/index.html is the page as Vite makes it, of which no more
than LIMIT bytes are allowed; in WORK/page/packed.html, which goes into the C file, its code is compressed.
"""

import argparse
import base64
import fcntl
import gzip
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import page_metrics

PLACE = b"<!--sonde-data-->"
ROW = 96  # bytes a line of C
LIMIT = 200_000  # bytes of the page before compression
ENDS = b"\0"  # between the styles and the script
# What a page starts with: it unfolds the rest. Text that is put into an element is no HTML, and needs no escapes.
LOADER = b"""<script>
(async () => {
  const at = (id) => document.getElementById(id);
  try {
    const bytes = Uint8Array.from(atob(at("sonde-code").textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const texts = (await new Response(stream).text()).split("\\0");
    for (const [i, name] of ["style", "script"].entries()) {
      const element = document.createElement(name);
      element.textContent = texts[i];
      if (name === "script") element.type = "module";
      document.head.append(element);
    }
  } catch (error) {
    at("app").textContent = `This page needs a browser of 2023 or later (${error}).`;
  }
})();
</script>
"""


def sources(web: Path) -> list[Path]:
    """What the page is built from."""
    names = ["package.json", "package-lock.json", "vite.config.ts", "tsconfig.json", "index.html"]
    names.append("../src/model/metric.h")
    return [web / name for name in names] + sorted(path for path in (web / "src").rglob("*") if path.is_file())


def install(web: Path) -> None:
    """The packages of package-lock.json, if they are not there yet."""
    done = web / "node_modules" / ".sonde-installed"
    lock = (web / "package-lock.json").read_bytes()
    if done.exists() and done.read_bytes() == lock:
        return
    subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"], cwd=web, check=True)
    done.write_bytes(lock)


def build(web: Path, work: Path) -> bytes:
    """The page, in one file."""
    module, text = page_metrics.module(web)
    if module.read_text() != text:
        sys.exit(f"build_page.py: {module} is stale: run tools/page_metrics.py")
    if not os.access(web, os.W_OK):
        copy = work / "web"
        shutil.copytree(web, copy, dirs_exist_ok=True, ignore=shutil.ignore_patterns("node_modules", "dist"))
        web = copy
    with open(web / "package.json", "rb") as lock:  # other builds may want the same packages now
        fcntl.flock(lock, fcntl.LOCK_EX)
        install(web)
    out = (work / "page").resolve()
    command = ["npm", "run", "--silent", "build", "--", "--outDir", str(out), "--emptyOutDir", "--logLevel", "warn"]
    subprocess.run(command, cwd=web, check=True)
    page = (out / "index.html").read_bytes()
    if page.count(PLACE) != 1 or b"\0" in page:
        sys.exit(f"build_page.py: the page must have {PLACE.decode()} once")
    if len(page) > LIMIT:
        sys.exit(f"build_page.py: the page has {len(page)} bytes before compression, and may have {LIMIT}")
    page = packed(page)
    (out / "packed.html").write_bytes(page)
    return page


def packed(page: bytes) -> bytes:
    """The same page with its styles and its script compressed: a third of the size."""
    parts = []
    for name in (b"style", b"script"):
        found = re.findall(rb"<%b[^>]*>(.*?)</%b>\s*" % (name, name), page, re.DOTALL)
        if len(found) != 1:
            sys.exit(f"build_page.py: the page must have one {name.decode()}, not {len(found)}")
        parts += found
        page = re.sub(rb"\s*<%b[^>]*>.*?</%b>" % (name, name), b"", page, count=1, flags=re.DOTALL)
    code = base64.b64encode(gzip.compress(ENDS.join(parts), mtime=0))
    element = b'<script id="sonde-code" type="application/octet-stream">' + code + b"</script>\n"
    return page.replace(b"</body>", element + LOADER + b"</body>")


def literal(piece: bytes) -> str:
    plain = set(range(32, 127)) - set(b'"\\?')  # two question marks may mean something else
    return '"' + "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in piece) + '"'


def as_c(page: bytes) -> str:
    """A text and its size."""
    rows = [literal(page[at : at + ROW]) for at in range(0, len(page), ROW)] or ['""']
    return (
        "/* Written by tools/build_page.py. */\n#include <stddef.h>\n\n"
        "extern const char snd_page_template[];\nextern const size_t snd_page_template_size;\n\n"
        "const char snd_page_template[] =\n" + "\n".join(rows) + ";\n"
        f"const size_t snd_page_template_size = {len(page)};\n"
    )


def escaped(path: Path) -> str:
    return str(path.resolve()).replace("\\", "\\\\").replace(" ", "\\ ")


def build_or_exit(web: Path, work: Path) -> bytes:
    try:
        return build(web, work)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(
            f"build_page.py: the report page could not be built ({error}): its packages come from the network; an "
            "sdist contains the page, and -Dpage=disabled gives a sonde without it"
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("output", type=Path)
    parser.add_argument("--depfile", type=Path, required=True)
    parser.add_argument("--web", type=Path)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--ready", type=Path)
    given = parser.parse_args()
    page, made_from = b"", []
    if given.ready is not None:
        page, made_from = given.ready.read_bytes(), [given.ready]
    elif given.web is not None:
        page, made_from = build_or_exit(given.web, given.work), sources(given.web)
    given.depfile.write_text(f"{given.output}: {' '.join(escaped(path) for path in made_from)}\n")
    given.output.write_text(as_c(page))


if __name__ == "__main__":
    main()
