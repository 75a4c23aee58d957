"""PyTorch's operators of a program that knows nothing of sonde: ``sonde run --ops``, and blocks with a window."""

import json
import re
import sys
import textwrap

import numpy as np
import pytest
import torch
from ops_support import rows_of

import sonde as package
from sonde import _torch_ops

STEPS = """
import torch
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(6):
    optimizer.zero_grad()
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
"""

# Until the window of so much CPU time has ended; after that nothing is counted.
LONG = """
from sonde import _torch_ops
_torch_ops.CPU_SECONDS = 0.2
import torch
x = torch.ones(4)
def spin():
    while _torch_ops._running is not None:
        x + 1
spin()
torch.relu(x)
"""


def run(sonde, code, *options):
    (sonde.folder / "prog.py").write_text(code)
    return sonde.command("run", "--ops", *options, "-o", "r.sonde", "prog.py")


def calls(sonde):
    text = sonde.command("export", "r.sonde", "--view", "ops", "-f", "json").stdout
    return {row["name"]: row["calls"] for row in json.loads(text)["rows"]}


def test_a_run_shows_operators_of_a_program_that_imports_torch(sonde):
    code = "import torch, numpy as np, sonde\nwith sonde.region('step'):\n    torch.ones(3) + 1\nnp.ones(3) + 1\n"
    done = run(sonde, code)
    assert "aten::add" in done.stderr
    found = calls(sonde)
    assert (found["aten::add"], found["numpy.add"], found["region step"]) == (1, 1, 1)


def infos(sonde):
    rows = json.loads(sonde.command("sql", "r.sonde", "select key, value from info", "-f", "json").stdout)["rows"]
    return {row["key"]: row["value"] for row in rows}


def test_the_recording_says_what_the_profiler_of_pytorch_cost(sonde):
    done = run(sonde, STEPS, "--ops-window=2")
    found = infos(sonde)
    assert (found["torch_window"], int(found["torch_events"]) > 20, int(found["own_torch_ns"]) > 0) == ("2", True, True)
    cost = re.search(
        r"PyTorch: [\d,]+ events in a window of the run .* took (.*) CPU to start, stop and read", done.stderr
    )
    assert f", {cost[1]} of it PyTorch's profiler, " in done.stderr
    assert cost[0] in sonde.command("view", "r.sonde", "--ops").stdout
    assert f"profiler overhead about {cost[1]}" in sonde.command("view", "r.sonde", "--ops").stdout


def test_blocks_in_a_run_add_to_the_cost(sonde):
    code = "import torch, sonde\nfor i in range(2):\n    with sonde.ops():\n        torch.ones(3) + 1\n"
    run(sonde, code)
    assert int(infos(sonde)["torch_events"]) >= 4


def test_only_the_programs_own_profiler_writes_to_standard_error(sonde):
    code = "import torch\nwith torch.profiler.profile():\n    torch.ones(3) + 1\nprint('done')\n"
    (sonde.folder / "plain.py").write_text(code)
    plain = sonde.run([sys.executable, "plain.py"]).stderr
    assert run(sonde, "import torch\ntorch.ones(3) + 1\n", "--no-report").stderr.count("\n") == 1
    code = code.replace("with", "torch.ones(3) + 1\nwith")
    (sonde.folder / "prog.py").write_text(code)
    done = run(sonde, code, "--no-report").stderr
    assert done.count("USDT:") == plain.count("USDT:")


def test_a_window_of_steps(sonde):
    run(sonde, STEPS, "--ops-window=2")
    found = calls(sonde)
    assert found["aten::addmm"] == 2
    run(sonde, STEPS)
    assert calls(sonde)["aten::addmm"] == 6


def test_a_window_ends_after_so_much_cpu_time(sonde):
    run(sonde, LONG)
    found = calls(sonde)
    assert found["aten::add"] > 0 and "aten::relu" not in found


def test_a_block_of_the_program_does_not_end_the_window(sonde):
    code = """
    from sonde import _torch_ops
    _torch_ops.PART_SECONDS, _torch_ops.CPU_SECONDS = 0.02, 1e6
    import torch
    x = torch.ones(4)
    part = lambda: None if _torch_ops._running is None else _torch_ops._running._bounds._number
    with torch.profiler.record_function("block"):
        first = part()
        while part() is not None and part() < first + 3:
            x + 1
    torch.relu(x)
    """
    run(sonde, textwrap.dedent(code))
    found = calls(sonde)
    assert found["block"] == found["aten::relu"] == 1


def test_a_window_ends_after_so_many_events(sonde):
    code = LONG.replace(
        "CPU_SECONDS = 0.2", "EVENTS, _torch_ops.PART_SECONDS, _torch_ops.CPU_SECONDS = 30_000, 0.02, 1e6"
    )
    done = run(sonde, code)
    assert int(re.search(r"PyTorch: ([\d,]+) events", done.stderr)[1].replace(",", "")) >= 20_000
    assert "aten::relu" not in calls(sonde)


def test_a_part_of_the_window_does_not_end_within_a_step(sonde):
    """Or the window would have to end, too."""
    code = """
    from sonde import _torch_ops
    _torch_ops.PART_SECONDS, _torch_ops.CPU_SECONDS = 0.02, 1e6
    import time, torch
    class Slow(torch.optim.SGD):
        def step(self):
            end = time.process_time() + 0.3
            while time.process_time() < end:
                pass
    x = torch.ones(4)
    Slow([x], lr=1).step()
    torch.relu(x)
    """
    run(sonde, textwrap.dedent(code))
    assert calls(sonde)["aten::relu"] == 1


def test_it_goes_on_with_the_first_call_of_a_module(sonde):
    run(sonde, LONG + "torch.nn.ReLU()(x)\nx * 2\nspin()\nx / 3\n")
    found = calls(sonde)
    assert found["aten::relu"] == 1 and found["aten::mul"] == 1 and "aten::div" not in found


def test_an_operator_that_is_open_when_the_window_ends_ends_it_for_good(sonde):
    code = LONG.replace("spin()\ntorch", "with torch.profiler.record_function('all'):\n    spin()\ntorch")
    run(sonde, code + "torch.nn.ReLU()(x)\n")
    assert "aten::relu" not in calls(sonde)


def test_a_main_thread_that_waits_does_not_keep_the_window_open(sonde):
    code = LONG.replace("_torch_ops.CPU", "_torch_ops.WAIT_NS = 100_000_000\n_torch_ops.CPU")
    code = code.replace("_running is not None", "_running._bounds._hooks")
    code = code.replace("\nspin()", "\nimport threading\nthread = threading.Thread(target=spin)\nthread.start()")
    run(sonde, code.replace("start()\n", "start()\nthread.join()\n"))
    assert "aten::relu" not in calls(sonde)


def test_importing_is_no_time_of_the_window(sonde):
    (sonde.folder / "slow.py").write_text(
        "import time\nend = time.process_time() + 0.6\nwhile time.process_time() < end: pass\n"
    )
    run(sonde, LONG.replace("\nspin()\n", "\nimport slow\n"))
    assert calls(sonde)["aten::relu"] == 1


def test_a_profiler_of_the_program_comes_first(sonde):
    code = """
    import torch
    torch.ones(3) + 1
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as theirs:
        torch.ones(3) * 2
    print(*sorted({row.key for row in theirs.key_averages()} & {"aten::add", "aten::mul"}))
    """
    done = run(sonde, "\n".join(line.removeprefix("    ") for line in code.splitlines()))
    assert done.stdout == "aten::mul\n"
    assert "recorded only up to here: the program starts PyTorch's own profiler" in done.stderr
    found = calls(sonde)
    assert found["aten::add"] == 1 and "aten::mul" not in found


def test_a_forked_process_goes_on_without_a_profiler(sonde):
    code = """
import os, torch
torch.ones(3) + 1
child = os.fork()
if child == 0:
    os._exit(int(torch.autograd._profiler_enabled()))
assert os.waitpid(child, 0)[1] == 0
torch.ones(3) * 2
"""
    run(sonde, code)
    found = calls(sonde)
    assert (found["aten::add"], found["aten::mul"]) == (1, 1)


def test_a_pause_of_the_run(sonde):
    run(sonde, "import torch, sonde\nx = torch.ones(2)\nx + 1\nsonde.stop()\nx * 2\nsonde.start()\nx / 3\n")
    found = calls(sonde)
    assert found.keys() & {"aten::add", "aten::mul", "aten::div"} == {"aten::add", "aten::div"}


def test_a_block_in_a_run(sonde):
    code = "import torch, sonde\nx = torch.ones(2)\nx + 1\nwith sonde.ops() as prof:\n    x * 2\n"
    done = run(sonde, code + "print([row.count for row in prof.key_averages() if row.key == 'aten::mul'])\n")
    assert done.stdout == "[1]\n"
    assert (calls(sonde)["aten::add"], calls(sonde)["aten::mul"]) == (1, 1)


def test_a_block_has_what_it_imports(sonde):
    done = sonde.python(
        """
        import sonde
        with sonde.record("r.sonde", probes=["op"]) as prof:
            import torch
            torch.ones(3) + 1
        print([row.count for row in prof.key_averages() if row.key == "aten::add"])
        """
    )
    assert done.stdout == "[1]\n"


def test_a_recording_has_a_window_of_steps(tmp_path):
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with package.record(tmp_path / "r.sonde", probes=["op"], ops_window=2) as prof:
        for _ in range(5):
            model(torch.ones(2, 4)).sum().backward()
            optimizer.step()
            np.ones(3) + 1
    rows = rows_of(prof)
    assert (rows["aten::addmm"].count, rows["numpy.add"].count) == (2, 5)
    with pytest.raises(ValueError, match="ops_window must be a whole number from 0 to 1000000, not -1"):
        package.record(tmp_path / "r.sonde", probes=["op"], ops_window=-1)


def test_a_profiler_that_starts_in_a_block_comes_first():
    with package.ops() as prof:
        torch.ones(3) + 1
        with (
            pytest.warns(UserWarning, match="recorded only up to here"),
            torch.autograd.profiler.profile() as theirs,
        ):
            torch.ones(3) * 2
    assert rows_of(prof).keys() & {"aten::add", "aten::mul"} == {"aten::add"}
    assert "aten::mul" in {row.key for row in theirs.key_averages()}


def test_a_torch_that_cannot_be_measured_is_a_note(monkeypatch):
    monkeypatch.setattr(_torch_ops, "_started", lambda torch, shapes: torch.no_such_name)
    with pytest.warns(UserWarning, match="operators are not measured: .*no_such_name"), package.ops() as prof:
        np.ones(3) + 1
        torch.ones(3) + 1
    assert rows_of(prof).keys() & {"numpy.add", "aten::add"} == {"numpy.add"}


def test_nothing_is_left_behind(tmp_path):
    before = torch.autograd.profiler._enable_profiler, torch.autograd.profiler._prepare_profiler, len(sys.meta_path)
    with package.record(tmp_path / "r.sonde", probes=["op"]):
        torch.nn.ReLU()(torch.ones(3))
    after = torch.autograd.profiler._enable_profiler, torch.autograd.profiler._prepare_profiler, len(sys.meta_path)
    assert after == before
    assert _torch_ops._running is None
    assert not torch.nn.modules.module._global_forward_pre_hooks
