"""Where the folder with the newer interpreters can be made, and where not."""

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "chroot.sh"
STUBS = {"sudo": "exit 0", "debootstrap": "exit 0", "unshare": "exit 0"}
NOT_DEBIAN = "this system is not Debian, and apt knows no mirror of Debian\n"


@pytest.fixture
def obstacle(tmp_path):
    """What is said on a system of this name, whose apt knows these mirrors."""

    def ask(system, *mirrors, kind="unstable", **stubs):
        apt = "\n".join(["exit 0"] if not mirrors else [f"echo {mirror}" for mirror in mirrors])
        for name, script in {**STUBS, "apt-get": apt, **stubs}.items():
            (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
            (tmp_path / name).chmod(0o755)
        release = tmp_path / "os-release"
        release.write_text(f"NAME=a\nID={system}\n")
        env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "SONDE_OS_RELEASE": str(release)}
        done = subprocess.run([SCRIPT, "-k", kind, "obstacle"], env=env, capture_output=True, text=True, check=True)
        assert done.stderr == ""
        return done.stdout

    return ask


def test_another_system_without_a_mirror_of_debian_is_an_obstacle(obstacle):
    assert obstacle("ubuntu") == NOT_DEBIAN
    assert obstacle("ubuntu", "http://security.example/debian") == NOT_DEBIAN
    assert obstacle("ubuntu", "http://security.example/debian", "http://deb.example/debian") == ""


def test_a_debian_whose_mirror_is_unknown_is_a_failure_and_no_obstacle(obstacle):
    assert obstacle("debian") == obstacle('"debian"') == ""


def test_where_the_kernel_starts_no_programs_for_aarch64_there_is_no_debian_for_it(obstacle):
    refuses = 'case "$*" in *binfmt*) exit 1;; esac'
    said = obstacle("debian", kind="arm64", dpkg="echo amd64", unshare=refuses)
    assert said == (
        "this machine does not let root mount binfmt_misc, so that the kernel cannot start programs for arm64\n"
    )
    assert obstacle("debian", kind="arm64", dpkg="echo amd64") == ""
    assert obstacle("debian", kind="arm64", dpkg="echo arm64", unshare=refuses) == ""  # needs no help there
    assert obstacle("debian", dpkg="echo amd64", unshare=refuses) == ""  # nor does another kind
