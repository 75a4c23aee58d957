#!/bin/bash
# Installs each wheel of dist/ in a Debian that has nothing but an interpreter (tools/chroot.sh), and tries it there
# (tests/wheel/check.py). CPython 3.12, which no such Debian has, comes from pyenv.
set -euo pipefail
cd "$(dirname "$0")/.."

compgen -G 'dist/*.whl' >/dev/null || { echo "tools/test_wheels.sh: no wheels in dist; build them with: make wheel" >&2; exit 1; }
tools/chroot.sh -k bare-12 make
tools/chroot.sh -k bare-unstable make
status=0
for wheel in dist/*.whl; do
    version=$(sed -E 's/.*-cp3([0-9]+)-.*/3.\1/' <<<"$wheel")
    kind=bare-unstable
    python=python$version
    export SONDE_SHOW=""
    case $version in
    3.11) kind=bare-12 ;;
    3.12)
        kind=bare-12
        SONDE_SHOW=$(ls -d "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.12.* | head -1)
        python=$SONDE_SHOW/bin/python
        ;;
    esac
    log=build/test-wheel-$version.log
    # shellcheck disable=SC2016 # for the shell inside
    if tools/chroot.sh -k "$kind" run sh -euc '
        "$1" -m venv /tmp/env
        /tmp/env/bin/python -m pip -q --disable-pip-version-check install --no-index "$2"
        /tmp/env/bin/python tests/wheel/check.py' sh "$python" "$wheel" >"$log" 2>&1; then
        echo "ok: $wheel in $kind"
    else
        cat "$log"
        echo "FAILED: $wheel in $kind"
        status=1
    fi
done
exit "$status"
