#!/bin/bash
# Runs the C tests of a build and some Python tests where qemu is the processor, without those that tests/qemu.txt lists:
#
#   tools/qemu_tests.sh BUILD PYTHON FILE...
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
python=$2
shift 2

listed() {
    sed -n "s/^$1\([^ ]*\) *|.*/\1/p" tests/qemu.txt
}

mapfile -t tests < <(meson test -C "$build" --list 2>/dev/null | sed -n 's/.*sonde:\([a-z0-9_]*\)$/\1/p' | grep -vxF -f <(listed c:))
mapfile -t left_out < <(listed python: | sed 's/^/--deselect=/')
status=0
FAIL_EVERY=${FAIL_EVERY-7} meson test -C "$build" --print-errorlogs --timeout-multiplier 20 "${tests[@]}" || status=1
"$python" -m pytest --timeout=1200 -n 2 -m 'not slow and not quiet' "${left_out[@]}" "$@" || status=1
exit "$status"
