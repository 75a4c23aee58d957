#!/bin/bash
# Runs commands, several at a time: tools/steps.sh [-j JOBS] [-l LOG] COMMAND...
# What a command prints appears when it ends, with the time it took; a list of all of them comes last. Every command runs, and
# the status is 1 when one has failed. With -l the times are also added to LOG, a line each: seconds, "ok" or "FAILED", command.
set -uo pipefail

jobs=1
log=/dev/null
while getopts j:l: option; do
    case $option in
    j) jobs=$OPTARG ;;
    l) log=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
declare -A command_of=() started_at=()
list=()
status=0

finish() {
    local pid result seconds word=ok
    wait -n -p pid "${!command_of[@]}"
    result=$?
    seconds=$((SECONDS - started_at[$pid]))
    [ "$result" = 0 ] || { word=FAILED; status=1; }
    echo "=== ${command_of[$pid]}"
    cat "$work/$pid"
    echo "=== $word after $seconds s: ${command_of[$pid]}"
    printf '%s %s %s\n' "$seconds" "$word" "${command_of[$pid]}" >>"$log"
    list+=("$(printf '%5d s  %-6s  %s' "$seconds" "$word" "${command_of[$pid]}")")
    unset "command_of[$pid]"
}

for command in "$@"; do
    while [ "${#command_of[@]}" -ge "$jobs" ]; do finish; done
    out=$(mktemp "$work/XXXXXX")
    bash -c "$command" </dev/null >"$out" 2>&1 &
    mv "$out" "$work/$!"
    command_of[$!]=$command
    started_at[$!]=$SECONDS
done
while [ "${#command_of[@]}" -gt 0 ]; do finish; done

printf '%s\n' "=== $SECONDS s in all" "${list[@]}"
exit "$status"
