#!/usr/bin/env python3
"""Makes a wheel that every Linux with glibc 2.34 can install, with the shared libraries that it uses and all licences.

Usage: repair_wheel.py WHEEL --into FOLDER --page-licences FOLDER [--any-processor]

auditwheel copies the libraries. It fails when a symbol is newer than glibc 2.34 and, without --any-processor, when the
wheel needs more than the first x86-64 processors have. The libraries' licences are those that the system's packages
have, Debian's or those of an rpm system. SQLite and zlib, which may be linked into sonde, have theirs in their headers.
Those of the page's packages are in every sdist (tools/dist.py).
"""

import argparse
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

TAG = f"manylinux_2_34_{platform.machine()}"
LIMIT = 6_000_000  # bytes of a wheel
LINKED = ("sqlite3.h", "zlib.h")
# Every Linux has them: auditwheel copies none of them.
SYSTEM = {"libc.so.6", "libdl.so.2", "libgcc_s.so.1", "libm.so.6", "libpthread.so.0", "libz.so.1"}
COMMON = re.compile(r"/usr/share/common-licenses/[A-Za-z0-9.-]*[A-Za-z0-9]")
IS_DEBIAN = shutil.which("dpkg-query") is not None


def output(*words: str) -> str:
    return subprocess.run(words, check=False, capture_output=True, text=True).stdout


def owner(path: str) -> str:
    """The package that a file belongs to; its database may have the path before or after the merge of /usr."""
    real = str(Path(path).resolve())
    for name in (real, real.removeprefix("/usr")):
        if IS_DEBIAN:
            found = output("dpkg-query", "-S", name).partition(":")[0]
        else:
            found = output("rpm", "-qf", "--queryformat", "%{NAME}", name)
        if re.fullmatch(r"[A-Za-z0-9.+_-]+", found):
            return found
    sys.exit(f"repair_wheel.py: no package of this system owns {path}, so that its licence is not known")


def packages(wheel: Path) -> set[str]:
    """Those of the shared libraries that go into a wheel."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.unpack_archive(wheel, folder, "zip")
        said = "".join(output("ldd", str(file)) for file in Path(folder).rglob("*.so"))
        used = dict(re.findall(r"(\S+) => (/\S+) \(", said))
        return {owner(path) for name, path in used.items() if name not in SYSTEM and not path.startswith(folder)}


def package_licences(package: str) -> dict[str, str]:
    """A package's licence by the name of its file, what it refers to included."""
    if IS_DEBIAN:
        text = Path("/usr/share/doc", package, "copyright").read_text()
        others = sorted(set(COMMON.findall(text)))
        return {package: text} | {Path(other).name: Path(other).read_text() for other in others}
    files = [Path(name) for name in output("rpm", "-q", "--licensefiles", package).splitlines()]
    if not files:
        sys.exit(f"repair_wheel.py: the package {package} has no licence")
    return {f"{package}-{file.name}": file.read_text() for file in files}


def licences(wheel: Path, page: Path) -> dict[str, str]:
    found = {file.stem: file.read_text() for file in page.iterdir()}
    for header in LINKED:
        comment = re.match(r"/\*.*?\*/", Path("/usr/include", header).read_text(), re.DOTALL)
        found[header] = comment[0] + "\n" if comment else ""
    for package in sorted(packages(wheel)):
        found |= package_licences(package)
    return found


def repair(wheel: Path, into: Path, page: Path, options: list[str]) -> Path:
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "made"
        # auditwheel lists what it finds, so that nothing else need know of these files.
        whole = Path(shutil.copy(wheel, folder))
        with zipfile.ZipFile(whole, "a") as archive:
            (info,) = {name.partition("/")[0] for name in archive.namelist() if ".dist-info/" in name}
            for name, text in licences(wheel, page).items():
                archive.writestr(f"{info}/licenses/{name}.txt", text)
        # Only this tag: one for older systems would promise what nobody tries.
        command = ["auditwheel", "repair", "--plat", TAG, "--only-plat", *options, "-w", str(made), str(whole)]
        subprocess.run(command, check=True)
        (repaired,) = made.glob("*.whl")
        if repaired.stat().st_size > LIMIT:
            sys.exit(f"repair_wheel.py: {repaired} has {repaired.stat().st_size} bytes, and may have {LIMIT}")
        return Path(shutil.copy(repaired, into))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--into", type=Path, required=True)
    parser.add_argument("--page-licences", type=Path, required=True)
    parser.add_argument("--any-processor", action="store_const", const=["--disable-isa-ext-check"], default=[])
    given = parser.parse_args()
    given.into.mkdir(parents=True, exist_ok=True)
    made = repair(given.wheel, given.into, given.page_licences, given.any_processor)
    print(f"{made} ({made.stat().st_size / 1e6:.2f} MB)")


if __name__ == "__main__":
    main()
