#!/bin/bash
# Builds a manylinux wheel in dist/ from build/sdist for every minor version of CPython found here and in the Debian unstable
# (tools/chroot.sh). Those are compiled and linked with the headers and libraries of this system, which is /host there: they run
# on systems as old as this one. auditwheel is on PATH.
set -euo pipefail
cd "$(dirname "$0")/.."

rm -rf build/plain dist/*.whl
mapfile -t pythons < <(tools/pythons.sh)
built=" "
for line in "${pythons[@]}"; do
    version=${line%% *}
    [[ $built != *" ${version%.*} "* ]] || continue
    make plain-wheel PYTHON="${line#* }" TAG="-$version"
    built+="${version%.*} "
done

why=$(tools/chroot.sh obstacle)
if [ -n "$why" ]; then
    echo "=== no wheels for CPython 3.14 and later: $why"
else
    tools/chroot.sh make
    # Without -B the compiler would look into its own system's libraries first; only the interpreter's headers come from there.
    # What libc takes from the loader the linker need not find: the link to the loader leads out of /host.
    compiler="ccache gcc --sysroot=/host -B/host/usr/lib/$(gcc -print-multiarch) -idirafter /usr/include -Wl,--allow-shlib-undefined"
    for version in $(tools/chroot.sh newer); do
        tools/chroot.sh run env CC="$compiler" make plain-wheel PYTHON="python$version" TAG="-$version"
    done
fi

for wheel in build/plain/*.whl; do
    tools/repair_wheel.py "$wheel" --into dist --page-licences build/sdist/web/licences
done
