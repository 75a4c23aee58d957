#!/bin/bash
# Builds sonde for aarch64 with this machine's tools, and tries it in a Debian 12 for aarch64 (tools/chroot.sh). Where the
# processor is another one, qemu runs what is tried, and only that: it takes ten times as long, and pip loses its connections.
#
#   tools/aarch64.sh build VENV       builds and downloads with that environment's tools; all is in build/aarch64
#   tools/aarch64.sh c                runs the C tests, in that Debian and without those that tests/qemu.txt lists
#   tools/aarch64.sh python FILE...   so with Python tests
#   tools/aarch64.sh shares           compares samples with programs that know their answer
set -euo pipefail
cd "$(dirname "$0")/.."
to=$PWD/build/aarch64
packages=$to/env/lib/python3.11/site-packages

# The part of the Debian that the compiler needs, its links followed: some lead out of it.
make_sysroot() {
    rm -rf "$to/sysroot"
    mkdir -p "$to/sysroot"
    tools/chroot.sh -k arm64 run cp -rL --parents /usr/include /usr/lib/aarch64-linux-gnu /lib/aarch64-linux-gnu /lib/ld-linux-aarch64.so.1 "$to/sysroot"
}

# What Meson wants to know of the compiler, and of the interpreter, as newer ones say it themselves (build-details.json).
write_machine_files() {
    cat >"$to/cross.ini" <<END
[constants]
root = '$to/sysroot'
headers = root / 'usr/include'
libraries = root / 'usr/lib/aarch64-linux-gnu'
[binaries]
c = [$(command -v ccache >/dev/null && echo "'ccache', ")'aarch64-linux-gnu-gcc']
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
[built-in options]
# Before the compiler's own, which are those of this system.
c_args = ['--sysroot=' + root, '-isystem', headers / 'aarch64-linux-gnu', '-isystem', headers / 'python3.11', '-isystem', headers]
c_link_args = ['--sysroot=' + root, '-B' + libraries]
[properties]
sys_root = root
needs_exe_wrapper = false # the tests run where their processor is
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
END
    cat >"$to/python.json" <<END
{"schema_version": "1.0", "base_prefix": "/usr", "platform": "linux-aarch64",
 "language": {"version": "3.11"}, "implementation": {"name": "cpython"},
 "abi": {"flags": [], "extension_suffix": ".cpython-311-aarch64-linux-gnu.so", "stable_abi_suffix": ".abi3.so"},
 "libpython": {"link_extensions": false}, "c_api": {"headers": "/usr/include/python3.11"}}
END
}

build() {
    local venv=$PWD/$1
    export PATH="$venv/bin:$PATH"
    make_sysroot
    write_machine_files
    [ -e "$to/build/build.ninja" ] ||
        meson setup "$to/build" --cross-file "$to/cross.ini" -Dpython.build_config="$to/python.json" -Dbuildtype=debugoptimized \
            -Dpython=enabled -Dtests=enabled -Dnative=enabled -Dpage=disabled \
            --prefix="$to/env" -Dpython.platlibdir="$packages" -Dpython.purelibdir="$packages"
    ninja -C "$to/build" --quiet
    # An environment like the one that venv makes there.
    rm -rf "$to/env"
    mkdir -p "$to/env/bin" "$packages"
    echo "home = /usr/bin" >"$to/env/pyvenv.cfg"
    ln -s /usr/bin/python3.11 "$to/env/bin/python"
    meson install -C "$to/build" --no-rebuild --quiet --tags runtime,python-runtime
    [ "$(uname -m)" = aarch64 ] || aarch64-linux-gnu-gcc -O2 -Wall -Werror -D_GNU_SOURCE -shared -fPIC -o "$to/qemu_peek.so" tests/qemu_peek.c
    # Meson reads there what the same version has written here.
    "$venv/bin/python" -m pip --disable-pip-version-check -q install --target "$packages" --python-version 3.11 \
        --platform manylinux_2_17_aarch64 --platform manylinux_2_28_aarch64 --only-binary :all: \
        -r tools/env-base.txt numpy "meson==$("$venv/bin/meson" --version)"
}

# What tests/qemu.txt lists for a kind of test, a line each.
listed() {
    sed -n "s/^$1\([^ ]*\) *|.*/\1/p" tests/qemu.txt
}

test_c() {
    local meson=("$to/env/bin/python" -m mesonbuild.mesonmain test -C "$to/build" --no-rebuild) tests
    # As Meson names them; those of which tests/qemu.txt lists some cases only run without these.
    mapfile -t tests < <("${meson[@]}" --list 2>/dev/null | sed -n 's/.*sonde:\([a-z0-9_]*\)$/\1/p' | grep -vxF -f <(listed c: | grep -v ::))
    SONDE_LEAVE_OUT=" $(listed c: | sed -n 's/.*:://p' | tr '\n' ' ')" FAIL_EVERY=${FAIL_EVERY-7} \
        "${meson[@]}" --print-errorlogs --timeout-multiplier 5 "${tests[@]}"
}

test_python() {
    local left_out
    mapfile -t left_out < <(listed python: | sed 's/^/--deselect=/')
    PATH="$to/env/bin:$PATH" "$to/env/bin/python" -m pytest --timeout=300 -n 2 -m 'not slow and not quiet' "${left_out[@]}" "$@"
}

# Long enough for what is beside the work, such as the start, to be as small a part as on a processor of its own.
test_shares() {
    SONDE_TRUTH_SECONDS=20 PATH="$to/env/bin:$PATH" "$to/env/bin/python" -m pytest --timeout=300 \
        -k 'four_functions and default' tests/truth/samples/test_sample_functions.py
}

try() {
    [ ! -e "$to/qemu_peek.so" ] || export LD_PRELOAD=$to/qemu_peek.so
    "$@"
}

command=${1-}
shift || true
case $command in
build) build "$@" ;;
c) try test_c ;;
python) try test_python "$@" ;;
shares) try test_shares ;;
*)
    sed -n '2,/^set/{/^#/p}' "$0" | cut -c3- >&2
    exit 2
    ;;
esac
