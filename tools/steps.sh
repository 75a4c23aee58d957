#!/bin/bash
# Runs commands, several at a time: tools/steps.sh [-a PATTERN] [-j JOBS] [-l LOG] COMMAND...
# What a command prints appears when it ends, with the time it took; a list of all of them, with CPU time, comes last. Every
# command runs, and the status is 1 when one has failed. With -l the times are also added to LOG, a line each, the seconds first.
# With -a a command that failed and that the regular expression fits runs again at the end, twice, with SONDE_AGAIN set and
# nothing beside it (tests/support/sonde_again.py). If it passes both times, it is "AGAIN" and no failure: a busy machine may
# have been the reason, and the list shows whose tests are to be mended.
set -uo pipefail

jobs=1
log=/dev/null
again=
while getopts a:j:l: option; do
    case $option in
    a) again=$OPTARG ;;
    j) jobs=$OPTARG ;;
    l) log=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
declare -A command_of=() out_of=() started_at=()
list=() failed=()
status=0

# WORD SECONDS CPU_SECONDS COMMAND
note() {
    printf '%s s, %s s of CPU: %s %s\n' "$2" "$3" "$1" "$4" >>"$log"
    list+=("$(printf '%5d s  %5d s CPU  %-6s  %s' "$2" "$3" "$1" "$4")")
    [ "$1" != FAILED ] || status=1
}

finish() {
    local pid result seconds cpu word=ok command
    wait -n -p pid "${!command_of[@]}"
    result=$?
    command=${command_of[$pid]}
    seconds=$((SECONDS - started_at[$pid]))
    cpu=$(awk '{ printf "%.0f", $1 + $2 }' "${out_of[$pid]}.cpu")
    [ "$result" = 0 ] || word=FAILED
    echo "=== $command"
    cat "${out_of[$pid]}"
    echo "=== $word after $seconds s: $command"
    if [ "$word" = FAILED ] && [ -n "$again" ] && [[ $command =~ $again ]]; then
        failed+=("$seconds $cpu $command")
    else
        note "$word" "$seconds" "$cpu" "$command"
    fi
    unset "command_of[$pid]"
}

# SECONDS CPU_SECONDS COMMAND: one that failed and took so long.
repeat() {
    local seconds=$1 cpu=$2 command=$3 start=$SECONDS word=AGAIN
    for i in 1 2; do
        echo "=== again, run $i: $command"
        SONDE_AGAIN=$i bash -c "$command" </dev/null 2>&1 || { word=FAILED; break; }
    done
    echo "=== $word after $((SECONDS - start)) s more: $command"
    note "$word" "$((seconds + SECONDS - start))" "$cpu" "$command"
}

for command in "$@"; do
    while [ "${#command_of[@]}" -ge "$jobs" ]; do finish; done
    out=$(mktemp "$work/XXXXXX")
    (TIMEFORMAT='%U %S'; time bash -c "$command" </dev/null >"$out" 2>&1) 2>"$out.cpu" &
    out_of[$!]=$out
    command_of[$!]=$command
    started_at[$!]=$SECONDS
done
while [ "${#command_of[@]}" -gt 0 ]; do finish; done
for line in "${failed[@]}"; do
    read -r seconds cpu command <<<"$line"
    repeat "$seconds" "$cpu" "$command"
done

printf '%s\n' "=== $SECONDS s in all" "${list[@]}"
exit "$status"
