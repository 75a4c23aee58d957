#!/bin/sh
# Runs every fuzz target of build/fuzz for a while: tools/fuzz.sh SECONDS
# It starts from a copy of tests/fuzz/corpus/TARGET; what it finds stays in build/fuzz, with the way to run it again.
set -eu
# Without it undefined behaviour is printed and the target goes on.
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1

failed=0
found=0
for target in build/fuzz/tests/fuzz/fuzz_*; do
    [ -f "$target" ] && [ -x "$target" ] || continue
    found=1
    name=${target##*/}
    corpus=build/fuzz/corpus/$name
    mkdir -p "$corpus"
    if [ -d "tests/fuzz/corpus/$name" ]; then
        cp "tests/fuzz/corpus/$name"/* "$corpus"
    fi
    echo "== $name for $1 s"
    "$target" -max_total_time="$1" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="build/fuzz/$name-" "$corpus" 2>"build/fuzz/$name.log" || failed=1
    grep -E '^stat::number_of_executed|SUMMARY|Test unit written' "build/fuzz/$name.log" || tail "build/fuzz/$name.log"
done
[ "$found" = 1 ] || { echo "no fuzz target in build/fuzz/tests/fuzz" >&2; exit 1; }
exit "$failed"
