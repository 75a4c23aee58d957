"""What docs/architecture.md says must be touched for a view, a format and an option is enough."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# As the C tests are built, in a folder at the same depth: ccache then has all that does not see the additions.
OUT = "build/c"
KIND = ["-Dbuildtype=debug", "-Dwerror=true"]

VIEW = """/* The view of toys: how many nodes there are. */
#include "view/core/view.h"

static const snd_column columns[] = {{"nodes", "nodes", SND_UNIT_COUNT, SND_COLUMN_SHOWN}};

static void
ask_toy(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    snd_table *table = snd_table_new("toy", columns, 1);

    (void)options;
    snd_set_whole(&snd_table_row(table, 0)[0], profile->node_count);
    *out = table;
}

SND_VIEW(toy, ask_toy)
"""

FORMAT = """/* Toys: the names of the columns. */
#include "format/table/format.h"

void
snd_format_toy(const snd_table *table, const snd_format_options *options, snd_buffer *out)
{
    (void)options;
    for (uint32_t i = 0; i < table->column_count; i++)
        snd_buffer_printf(out, "toy %s\\n", table->columns[i].name);
}
"""


class Copy:
    """A copy of the sources in which only files are changed that the page names for what is added."""

    def __init__(self, folder):
        left_out = shutil.ignore_patterns(
            "build", "dist", "node_modules", ".*", "__pycache__", "tests", "bench", "docs"
        )
        shutil.copytree(ROOT, folder, ignore=left_out)
        shutil.copytree(ROOT / "docs" / "schema", folder / "docs" / "schema")
        self.folder = folder
        page = (ROOT / "docs" / "architecture.md").read_text()
        self.named = dict(re.findall(r"(?m)^\| (a view|a format|an option) \| (.*) \|$", page))

    def allowed(self, what, path):
        text = self.named[what].replace("ROOM", "regions" if what == "a view" else "table").replace("NAME", "toy")
        assert f"`{path}`" in text, f"{path} is not among what {what} takes: {text}"
        return self.folder / path

    def add(self, what, path, text):
        self.allowed(what, path).write_text(text)

    def insert(self, what, path, after, line):
        file = self.allowed(what, path)
        text, count = re.subn(f"(?m)^({after}.*\n)", lambda found: found[1] + line, file.read_text())
        assert count == 1
        file.write_text(text)

    def build(self):
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        env = {**os.environ, "PATH": path, "CCACHE_BASEDIR": str(self.folder), "CCACHE_NOHASHDIR": "1"}
        for words in (
            ["meson", "setup", OUT, "-Dpython=disabled", "-Dpage=disabled", "-Dtests=disabled", *KIND],
            ["ninja", "-C", OUT, "src/cli/sonde"],
        ):
            done = subprocess.run(words, cwd=self.folder, env=env, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout + done.stderr

    def sonde(self, *words):
        done = subprocess.run(
            [self.folder / OUT / "src" / "cli" / "sonde", *words],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout + done.stderr


@pytest.mark.slow
def test_a_view_a_format_and_an_option_take_what_the_page_says(tmp_path):
    copy = Copy(tmp_path / "copy")
    copy.add("a view", "src/view/regions/view_toy.c", VIEW)
    copy.insert("a view", "src/view/core/view.h", r"#define SND_VIEW_MAP\(X\)", '    X(toy, "toys") \\\n')
    copy.insert("a view", "meson.build", "  'src/view/regions/view_regions.c'", "  'src/view/regions/view_toy.c',\n")
    copy.add("a format", "src/format/table/toy.c", FORMAT)
    copy.insert(
        "a format", "src/format/table/format.h", r"#define SND_FORMAT_TABLE_MAP\(X\)", '    X(toy, "toys") \\\n'
    )
    copy.insert("a format", "meson.build", "  'src/format/table/csv.c'", "  'src/format/table/toy.c',\n")
    copy.insert(
        "an option",
        "src/collect/setting_table.c",
        r"const snd_setting snd_setting_table\[\]",
        '    {"toy", "with toys", RUN, SND_FLAG},\n',
    )
    copy.build()
    (copy.folder / "stacks.txt").write_text("a;b 1\na;c 2\n")
    copy.sonde("import", "stacks.txt", "-o", "toy.sonde")
    assert copy.sonde("view", "--toy", "toy.sonde") == "nodes\n-----\n    4\n"
    assert copy.sonde("export", "--view", "toy", "--format", "toy", "toy.sonde") == "toy nodes\n"
    assert re.search(r"--toy +with toys\n", copy.sonde("run", "--help"))
    assert "--toy" in copy.sonde("view", "--help")
