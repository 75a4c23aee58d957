# Completion of sonde for bash, written by 'sonde completion bash'.
_sonde_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur"); }
_sonde_files() {
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -d -- "$cur"; compgen -f -X "!$1" -- "$cur" | while read -r file; do
        [[ -d $file ]] || printf '%s\n' "$file"; done)
}
_sonde_columns() {
    local list= last=${cur##*,}
    [[ $cur == *,* ]] && list=${cur%,*},
    local names
    names=$("${COMP_WORDS[0]}" completion columns "${COMP_WORDS[@]:1:at-1}" 2>/dev/null)
    mapfile -t COMPREPLY < <(compgen -P "$list" -W "$names" -- "$last")
    compopt -o nospace
}
_sonde() {
    local cur=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} at=$((COMP_CWORD - 1))
    COMPREPLY=()
    if [[ $cur == = ]]; then cur=; elif [[ ${COMP_WORDS[at]} == = ]]; then at=$((at - 1)); fi
    if ((COMP_CWORD == 1)); then
        _sonde_files '*.py'
        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W 'run trace view report diff merge export import stat info sql doctor config completion --help --version' -- "$cur")
        return
    fi
    case $command:${COMP_WORDS[at]} in
    run:--output|run:-o) _sonde_files '*' ;;
    run:--rate|run:-r) _sonde_words '' ;;
    run:--memory-interval) _sonde_words '' ;;
    run:--ops-window) _sonde_words '' ;;
    run:--include) _sonde_words '' ;;
    run:--exclude) _sonde_words '' ;;
    run:--duration|run:-d) _sonde_words '' ;;
    run:--module|run:-m) _sonde_words '' ;;
    run:--code|run:-c) _sonde_words '' ;;
    trace:--include) _sonde_words '' ;;
    trace:--exclude) _sonde_words '' ;;
    trace:--output|trace:-o) _sonde_files '*' ;;
    trace:--module|trace:-m) _sonde_words '' ;;
    trace:--code|trace:-c) _sonde_words '' ;;
    view:--include) _sonde_words '' ;;
    view:--exclude) _sonde_words '' ;;
    view:--process) _sonde_words '' ;;
    view:--region) _sonde_words '' ;;
    view:--thread) _sonde_words '' ;;
    view:--hide) _sonde_words '' ;;
    view:--function) _sonde_words '' ;;
    view:--n-ops) _sonde_words '' ;;
    view:--n-apply) _sonde_words '' ;;
    view:--min-memory) _sonde_words '' ;;
    view:--columns|view:-c) _sonde_columns ;;
    view:--sort|view:-s) _sonde_columns ;;
    view:--match|view:-m) _sonde_words '' ;;
    view:--limit|view:-n) _sonde_words '' ;;
    view:--color) _sonde_words 'always never auto' ;;
    report:--output|report:-o) _sonde_files '*' ;;
    report:--process) _sonde_words '' ;;
    diff:--fail-over) _sonde_words '' ;;
    diff:--run-noise) _sonde_words '' ;;
    diff:--include) _sonde_words '' ;;
    diff:--exclude) _sonde_words '' ;;
    diff:--sort|diff:-s) _sonde_words 'before after difference percent noise verdict name place' ;;
    diff:--limit|diff:-n) _sonde_words '' ;;
    diff:--format|diff:-f) _sonde_words 'table csv json html ' ;;
    diff:--color) _sonde_words 'always never auto' ;;
    merge:--output|merge:-o) _sonde_files '*' ;;
    export:--format|export:-f) _sonde_words 'table csv json html collapsed speedscope pprof pstats callgrind chrome perfetto ' ;;
    export:--view) _sonde_words 'lines tree waiting memory leaks copies footprint owners sizes timeline regions ops graph functions callers callees signatures threads counters marks processes ranks ' ;;
    export:--columns|export:-c) _sonde_columns ;;
    export:--sort|export:-s) _sonde_columns ;;
    export:--match|export:-m) _sonde_words '' ;;
    export:--limit|export:-n) _sonde_words '' ;;
    export:--cost) _sonde_words '' ;;
    export:--include) _sonde_words '' ;;
    export:--exclude) _sonde_words '' ;;
    export:--process) _sonde_words '' ;;
    export:--region) _sonde_words '' ;;
    export:--thread) _sonde_words '' ;;
    export:--hide) _sonde_words '' ;;
    export:--function) _sonde_words '' ;;
    export:--n-ops) _sonde_words '' ;;
    export:--n-apply) _sonde_words '' ;;
    export:--min-memory) _sonde_words '' ;;
    export:--output|export:-o) _sonde_files '*' ;;
    import:--output|import:-o) _sonde_files '*' ;;
    import:--format|import:-f) _sonde_words 'pstats collapsed' ;;
    import:--unit|import:-u) _sonde_words 'us ns ms s samples bytes' ;;
    import:--rate|import:-r) _sonde_words '' ;;
    stat:--repeat|stat:-r) _sonde_words '' ;;
    stat:--warmup|stat:-w) _sonde_words '' ;;
    stat:--compare) _sonde_words '' ;;
    stat:--statement|stat:-c) _sonde_words '' ;;
    stat:--setup|stat:-s) _sonde_words '' ;;
    stat:--loops|stat:-n) _sonde_words '' ;;
    stat:--output|stat:-o) _sonde_files '*' ;;
    info:--process) _sonde_words '' ;;
    info:--format|info:-f) _sonde_words 'table csv json html ' ;;
    sql:--format|sql:-f) _sonde_words 'table csv json html ' ;;
    run:*) if [[ $cur == -* ]]; then _sonde_words '--help --output --rate --native --cpu-only --no-imports --memory --exact --memory-interval --ops --ops-window --graph --include --exclude --all-code --no-signals --no-timeline --start-paused --duration --children --no-children --html --open --json-summary --no-report --with-waiting --cli --module --code'; else _sonde_files '*'; fi ;;
    trace:*) if [[ $cur == -* ]]; then _sonde_words '--help --signatures --no-builtins --include --exclude --timeline --output --children --no-children --no-report --module --code'; else _sonde_files '*'; fi ;;
    view:*) if [[ $cur == -* ]]; then _sonde_words '--help --summary --annotate --json-summary --lines --tree --waiting --memory --leaks --copies --footprint --owners --sizes --timeline --regions --ops --graph --functions --callers --callees --signatures --threads --counters --marks --processes --ranks --all-code --include --exclude --process --region --thread --cpu-only --with-waiting --seconds --show-all --hide --flat --by-time --by-shape --by-line --function --total --n-ops --n-apply --min-memory --columns --sort --match --limit --color'; else _sonde_files '*.sonde'; fi ;;
    report:*) if [[ $cur == -* ]]; then _sonde_words '--help --output --open --process --no-source'; else _sonde_files '*.sonde'; fi ;;
    diff:*) if [[ $cur == -* ]]; then _sonde_words '--help --regions --functions --lines --ops --calls --counts --memory --allocated --copies --fail-over --run-noise --cpu-only --all-code --include --exclude --by-shape --sort --limit --format --color'; else _sonde_files '*.sonde'; fi ;;
    merge:*) if [[ $cur == -* ]]; then _sonde_words '--help --output'; else _sonde_files '*.sonde'; fi ;;
    export:*) if [[ $cur == -* ]]; then _sonde_words '--help --format --view --columns --sort --match --limit --by-line --cost --schema --all-code --include --exclude --process --region --thread --cpu-only --with-waiting --seconds --show-all --hide --flat --by-time --by-shape --function --total --n-ops --n-apply --min-memory --output'; else _sonde_files '*.sonde'; fi ;;
    import:*) if [[ $cur == -* ]]; then _sonde_words '--help --output --format --unit --rate'; else _sonde_files '*'; fi ;;
    stat:*) if [[ $cur == -* ]]; then _sonde_words '--help --repeat --warmup --compare --statement --setup --loops --gc --json --output'; else _sonde_files '*'; fi ;;
    info:*) if [[ $cur == -* ]]; then _sonde_words '--help --process --format'; else _sonde_files '*.sonde'; fi ;;
    sql:*) if [[ $cur == -* ]]; then _sonde_words '--help --format'; else _sonde_files '*.sonde'; fi ;;
    doctor:*) if [[ $cur == -* ]]; then _sonde_words '--help'; else :; fi ;;
    config:*) if [[ $cur == -* ]]; then _sonde_words '--help --cflags --libs'; else :; fi ;;
    completion:*) if [[ $cur == -* ]]; then _sonde_words '--help'; else _sonde_words 'bash zsh fish man'; fi ;;
    esac
}
complete -F _sonde sonde
