"""The options of the magics, and what the package does without IPython."""

import subprocess
import sys
from pathlib import Path

import pytest

import sonde
from sonde._notebook import display
from sonde._notebook import options as magic_options


def test_the_package_does_not_import_ipython():
    names = "IPython argparse html typing sonde._notebook.magics sonde._notebook.options sonde._notebook.display"
    code = f"import sys, sonde; print([name for name in {names.split()!r} if name in sys.modules])"
    command, environment = [sys.executable, "-S", "-c", code], {"PYTHONPATH": str(Path(sonde.__file__).parent.parent)}
    told = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert told.stdout == "[]\n", told.stderr


@pytest.mark.quick
@pytest.mark.parametrize(
    ("line", "statement"),
    [
        ("work()", "work()"),
        ("--memory work(x = '--cli')", "work(x = '--cli')"),
        ("--rate 200 -o 'a b.sonde' -- -x", "-x"),
        ("--rate=200   f( 1,  2 )", "f( 1,  2 )"),
        ("", ""),
    ],
)
def test_the_statement_is_what_follows_the_options(line, statement):
    assert magic_options.read_own(line)[1] == statement


def test_options_say_what_is_measured():
    options, _ = magic_options.read_own("--memory --ops --rate 100 -o 'a b.sonde' --cli --exact --height 300 f()")
    assert options.probes == ["region", "sample", "memory", "op"]
    assert (options.rate, options.output, options.height, options.is_text_only) == (100, "a b.sonde", 300, True)
    assert options.settings == {"exact": True}
    assert not options.with_waiting
    assert magic_options.read_own("--with-waiting f()")[0].with_waiting


@pytest.mark.parametrize("line", ["--trace --signatures f()", "--signatures --trace f()"])
def test_calls_stand_instead_of_samples(line):
    options, _ = magic_options.read_own(line)
    assert options.probes == ["region", "call"]
    assert options.settings == {"signatures": True}
    assert options.view == "signatures"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--bogus", "unknown option --bogus; %sonde --help lists the options"),
        ("--rate", "needs a value"),
        ("--rate x f()", "takes a whole number, not 'x'"),
        ("--rate 0 f()", "rate"),
        ("--memory=3 f()", "takes no value"),
        ("--memory-interval 1 f()", "interval"),
        ("--height 5 f()", "--height must be from 100 to 10000 pixels, not 5"),
        ("--reduced-profile f()", "unknown option"),  # Scalene's, not ours
    ],
)
def test_a_mistake_is_named(line, said):
    with pytest.raises(magic_options.Mistake, match=said):
        magic_options.read_own(line)


def test_a_build_without_a_probe_says_so(monkeypatch):
    monkeypatch.setattr(magic_options.sampling, "PROBES", ("region", "sample"))
    with pytest.raises(magic_options.Mistake, match="this sonde does not support --memory"):
        magic_options.read_own("--memory f()")


# As `scalene --help` and `scalene run --help-advanced` list them.
SCALENE = """--version --column-width=100 --outfile=x --html --json --cli --stacks --web --no-browser --viewer
--reduced-profile --profile-interval=1.5 --cpu --cpu-only --gpu --memory --profile-all --profile-only=a,b
--profile-exclude=c --use-virtual-time --cpu-percent-threshold=2 --cpu-sampling-rate=0.01
--allocation-sampling-window=10485767 --malloc-threshold=5 --program-path=/tmp --memory-leak-detector
--on --off --profile-system-libraries
--use-legacy-tracer --use-python-callback --disable-jit --pid=3 --config=x.yaml"""


@pytest.mark.parametrize("word", SCALENE.split())
def test_every_option_of_scalene_is_taken(word):
    for line in (f"{word} f()", word.replace("=", " ") + " f()"):
        options, statement = magic_options.read_scalene(line)
        assert statement == "f()"
        assert len(options.remarks) <= 1


def test_what_has_a_meaning_is_translated():
    words = (
        "--cpu-sampling-rate 0.01 --profile-all --use-virtual-time --profile-exclude a,b --allocation-sampling-window 9"
    )
    options, _ = magic_options.read_scalene(f"--memory {words} f()")
    assert options.rate == 100
    assert options.settings == {"all_code": True, "cpu_only": True, "exclude": "*a*,*b*", "interval": 1024}
    assert options.remarks == []


def test_what_has_none_is_said_in_one_line():
    options, _ = magic_options.read_scalene("--malloc-threshold 5 f()")
    assert options.remarks == ["--malloc-threshold has no effect: the page already hides cold lines"]


def test_a_frame_carries_everything_itself():
    bundle = display.bundle("a < b", '<p class="x">&lt;</p>', 200)
    assert bundle["text/plain"] == "a < b"
    assert 'srcdoc="&lt;p class=&quot;x&quot;&gt;&amp;lt;&lt;/p&gt;"' in bundle["text/html"]
    assert ">a &lt; b</pre>" in bundle["text/html"]
    assert display.bundle("a", None) == {"text/plain": "a"}
