"""Programs that use PyTorch, with calls measured and by its own profiler."""

import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize("name, operator", [("resnet18", "convolution"), ("transformer", "aten::addmm")])
def test_torch_models(sonde, name, operator):
    done = sonde.run([sys.executable, str(EXAMPLES / "torch_models.py"), name])
    assert operator in done.stdout and "Self CPU time total" in done.stdout


def test_torch_compile_goes_on(sonde):
    """Both kinds in one process, because the compiler takes seconds to load."""
    done = sonde.python(
        """
        import torch
        from sonde.tracing import Profile
        def leaf(): pass
        for builtins in (True, False):
            compiled = torch.compile(lambda x: x * 2 + 1, backend="eager")
            with Profile(builtins=builtins) as profile:
                for _ in range(3):
                    leaf()
                    assert compiled(torch.ones(3)).tolist() == [3.0, 3.0, 3.0]
            profile.create_stats()
            print(*(row[1] for label, row in profile.stats.items() if label[2] == "leaf"))
            torch._dynamo.reset()
        """
    )
    assert done.stdout.split() == ["3", "3"]


def test_real_tensors(sonde):
    done = sonde.python(
        """
        import torch
        from sonde import profiler
        def take(a): pass
        class Mine(torch.Tensor): pass
        with profiler.Profile(builtins=False) as profile:
            take(torch.zeros(2, 3))
            take(torch.nn.Parameter(torch.zeros(4, dtype=torch.float64)))
            take(torch.zeros(2).as_subclass(Mine))
        profile.create_stats()
        print(*sorted(label[2] for label in profile.stats), sep="\\n")
        """
    )
    assert [line for line in done.stdout.splitlines() if line.startswith("take(")] == [
        "take(a:Mine)",
        "take(a:Parameter(dtype=float64, shape=(4,), device=cpu))",
        "take(a:Tensor(dtype=float32, shape=(2, 3), device=cpu))",
    ]
