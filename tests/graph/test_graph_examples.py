"""The examples of compiled functions run as a user would run them."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize("name", ["graph_logistic", "graph_scan"])
def test_graph_examples(sonde, name):
    def run():
        return sonde.run([sys.executable, str(EXAMPLES / f"{name}.py")], env={"OPENBLAS_NUM_THREADS": "1"})

    try:
        shown = run().stdout
    except subprocess.TimeoutExpired:  # the C code of every node is compiled once, and kept
        shown = run().stdout
    functions = {"graph_logistic": ["train", "predict"], "graph_scan": ["with a loop", "without"]}[name]
    for function in functions:
        assert f"Function {function}\n" in shown
    assert all(
        section in shown for section in ("\nClass\n", "\nOps\n", "\nApply\n", "remaining", "Total (2 functions)")
    )
    if name == "graph_logistic":
        right = float(shown.partition("%")[0])
        assert right > 90 and "peak measured" in shown and "in 100 calls" in shown
    else:
        assert "horner (inner function)" in shown and "in 10000 calls" in shown and "overhead of its steps" in shown
