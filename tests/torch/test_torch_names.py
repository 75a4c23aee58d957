"""What PyTorch's users bring with them: every public name, and a profile that can be kept and shown."""

import base64
import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import sonde.torch
from sonde.torch import ProfilerActivity, profile, record_function

CPU = [ProfilerActivity.CPU]
PROGRAM = Path(sys.executable).parent / "sonde"


@pytest.fixture(scope="module")
def prof():
    with profile(activities=CPU, record_shapes=True) as made:
        for _ in range(3):
            with record_function("step"):
                torch.ones(8, 8) @ torch.ones(8, 8)
    return made


@pytest.mark.parametrize("module", [torch.profiler, torch.autograd.profiler])
def test_every_public_name_can_be_imported(module):
    for name in module.__all__:
        assert name in sonde.torch.__all__ and name in dir(sonde.torch)
        ours = getattr(sonde.torch, name)
        assert ours is profile if name == "profile" else ours is getattr(module, name)
    assert sonde.torch.itt is torch.profiler.itt
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        sonde.torch.no_such_name  # noqa: B018


def test_a_saved_profile_is_a_recording(prof, tmp_path):
    prof.save(tmp_path / "r.sonde")
    shown = subprocess.check_output([PROGRAM, "view", tmp_path / "r.sonde", "--ops", "--by-shape"], text=True)
    row = next(line for line in shown.splitlines() if line.startswith("aten::mm "))
    assert "[[8, 8], [8, 8]]" in row and " 3 " in row
    assert "region step" in shown
    question = "select sum(count), count(*) from op where name = 'aten::mm'"
    asked = subprocess.check_output([PROGRAM, "sql", tmp_path / "r.sonde", question], text=True)
    assert asked.splitlines()[2].split() == ["3", "1"]  # one node for all calls at this place


def test_a_recording_has_the_times_of_the_table(prof, tmp_path):
    prof.save(tmp_path / "r.sonde")
    question = "select name, sum(count), sum(self_ns) from op group by 1 order by 1"
    asked = subprocess.check_output([PROGRAM, "sql", "--format", "csv", tmp_path / "r.sonde", question], text=True)
    found = {name: (int(count), int(ns)) for name, count, ns in (line.split(",") for line in asked.splitlines()[1:])}
    rows = {row.key: row for row in prof.key_averages() if not row.is_user_annotation}
    assert found.keys() == rows.keys()
    for name, (count, ns) in found.items():
        assert count == rows[name].count
        assert ns / 1e3 == pytest.approx(rows[name].self_cpu_time_total, abs=0.01)


def test_a_report_is_a_page(prof, tmp_path):
    prof.report(tmp_path / "page.html")
    packed = re.search(r'<script id="sonde-data"[^>]*>([^<]*)</script>', (tmp_path / "page.html").read_text())[1]
    data = json.loads(gzip.decompress(base64.b64decode(packed)))
    assert "aten::mm" in json.dumps(data["tables"])
    shown = prof._repr_html_()
    assert "<iframe" in shown and "aten::mm" in shown


def test_a_profile_that_runs_shows_nothing(tmp_path):
    made = profile(activities=CPU)
    assert made._repr_html_() is None
    with pytest.raises(RuntimeError, match="nothing was profiled"):
        made.save(tmp_path / "r.sonde")
    with made:
        assert made._repr_html_() is None


def test_events_that_are_accumulated_can_be_kept(tmp_path):
    with profile(activities=CPU, acc_events=True) as made:
        torch.ones(3) + 1
    made.save(tmp_path / "r.sonde")
    shown = subprocess.check_output([PROGRAM, "view", tmp_path / "r.sonde", "--ops"], text=True)
    assert "aten::add" in shown
