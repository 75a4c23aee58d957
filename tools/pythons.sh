#!/bin/sh
# Lists every CPython 3.11 or later found here, one of each version: its version, a blank, its path.
# The first is the one that `make` uses unless PYTHON is given.

describe='
import sys
if sys.implementation.name == "cpython" and sys.version_info >= (3, 11):
    print("%d.%d.%d" % sys.version_info[:3] + sys.abiflags, sys.executable)
'
seen=" "
for name in python3 python3.11 python3.12 python3.13 python3.14 python3.15 \
    "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python /usr/bin/python3; do
    path=$(command -v "$name") || continue
    # A pyenv shim exists for versions that are not selected, and fails.
    line=$("$path" -c "$describe" 2>/dev/null) || continue
    [ -n "$line" ] || continue
    version=${line%% *}
    case "$seen" in *" $version "*) continue ;; esac
    seen="$seen$version "
    echo "$line"
done
