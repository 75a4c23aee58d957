#compdef sonde
# Completion of sonde for zsh, written by 'sonde completion zsh'.
_sonde_columns() {
    local -a columns
    columns=(${(f)"$(sonde completion columns ${sonde_words[1,-3]} 2>/dev/null)"})
    _values -s , column $columns
}
_sonde() {
    local -a commands sonde_words
    commands=(
        'run:run a program and show where its time goes, line by line'
        'trace:run a program and measure every call exactly'
        'view:show a recording as a summary or a table'
        'report:write an HTML page all views of a recording, or a comparison of two'
        'diff:compare two recordings what got slower or faster, beyond noise'
        'merge:merge recordings of several processes into one'
        'export:convert a recording for other programs CSV, JSON, flame graphs, pprof, pstats, callgrind, traces'
        'import:convert another profilers file into a recording pstats, collapsed stacks'
        'stat:measure what a command or a Python statement uses time, faults, switches, memory, I/O'
        'info:show a recordings metadata program, host, length, cost'
        'sql:query a recording with SQL (read-only)'
        'doctor:check what works on this machine, and why something does not'
        'config:print the flags to build C programs that use sonde.h'
        'completion:print a completion script for your shell, or a man page'
    )
    if (( CURRENT == 2 )); then
        _describe -t commands command commands
        _files -g '*.py'
        return
    fi
    shift words
    (( CURRENT-- ))
    sonde_words=(${words[1,CURRENT]})
    case $words[1] in
    run) _arguments -s -S '(- *)'{-h,--help}'[show this help]' \
        '(-o --output)'{-o+,--output=}'[the recording (default PROG-PID.sonde)]:FILE:_files' \
        '(-r --rate)'{-r+,--rate=}'[samples per second (1-20000, default 1000; 250 with memory)]:HZ: ' \
        '--native[also show native functions, between the Python functions that called them]' \
        '--cpu-only[leave out waiting threads]' \
        '--no-imports[leave out the time of importing modules]' \
        '--memory[also profile memory allocations, peak owners, leaks, copies]' \
        '--exact[record every allocation instead of sampling them]' \
        '--memory-interval=[sample one block per this many bytes (1024-1073741824, default 131072)]:BYTES: ' \
        '--ops[also profile NumPy and PyTorch operators time, inputs, bytes and calling lines]' \
        '--ops-window=[record PyTorch operators for this many optimizer steps (0-1000000, default 0 100,000 events or 2 s of CPU)]:STEPS: ' \
        '--graph[also profile functions compiled by Aesara and PyTensor, by class, op and node]' \
        '--include=[treat matching files as your own code, such as */model/*; separate patterns with commas]:PATTERN: ' \
        '--exclude=[do not treat matching files as your own code]:PATTERN: ' \
        '--all-code[show library code like your own]' \
        '--no-signals[for programs that break when interrupted by signals read every thread from outside]' \
        '--no-timeline[keep totals only, not the time of each sample]' \
        '--start-paused[start sampling when the program calls sonde.start()]' \
        '(-d --duration)'{-d+,--duration=}'[stop sampling after this many seconds; the program keeps running]:S: ' \
        '--children[also profile child processes (default)]' \
        '--no-children[profile this process only]' \
        '--html[also write an HTML page next to the recording; sonde report can do it later]' \
        '--open[also write an HTML page and open it in a browser]' \
        '--json-summary[print the summary as one line of JSON, the last one on standard output]' \
        '--no-report[print no summary at the end]' \
        '--with-waiting[rank the summary by CPU plus waiting time, not by CPU time alone]' \
        '--cli[print the summary on the terminal (default)]' \
        '(-m --module)'{-m+,--module=}'[run a module, like python -m]:MODULE: ' \
        '(-c --code)'{-c+,--code=}'[run a code string, like python -c]:CODE: ' \
        '(-)1:program:_files' '*::argument:_files' ;;
    trace) _arguments -s -S '(- *)'{-h,--help}'[show this help]' \
        '--signatures[separate calls by the types and shapes of their arguments]' \
        '--no-builtins[leave out functions written in C]' \
        '--include=[profile only matching files or functions, such as *model*; separate patterns with commas]:PATTERN: ' \
        '--exclude=[leave out matching files or functions]:PATTERN: ' \
        '--timeline[keep every call for a trace, not only totals]' \
        '(-o --output)'{-o+,--output=}'[the recording (default PROG-PID.sonde)]:FILE:_files' \
        '--children[also profile child processes (default)]' \
        '--no-children[profile this process only]' \
        '--no-report[print no table at the end]' \
        '(-m --module)'{-m+,--module=}'[run a module, like python -m]:MODULE: ' \
        '(-c --code)'{-c+,--code=}'[run a code string, like python -c]:CODE: ' \
        '(-)1:program:_files' '*::argument:_files' ;;
    view) _arguments -s -S '(- *)'{-h,--help}'[show this help]' \
        '--summary[hottest lines, hottest functions and call tree (default for samples)]' \
        '--annotate[your files from the first line to the last, with the time and memory of each line]' \
        '--json-summary[the summary as one line of JSON]' \
        '--lines[your lines Python, native, system and waiting time]' \
        '--tree[the sampled call tree, libraries folded]' \
        '--waiting[what threads waited for, by line and reason; idle threads as one row]' \
        '--memory[memory at the peak by owner lines, call tree, temporary blocks, sizes]' \
        '--leaks[lines whose memory keeps growing]' \
        '--copies[lines that copy memory]' \
        '--footprint[heap and resident memory over time]' \
        '--owners[memory at the peak as a call tree]' \
        '--sizes[allocations by the size of their blocks]' \
        '--timeline[what the program did, one time slice after another]' \
        '--regions[the region tree time, count, minimum, maximum, percentiles]' \
        '--ops[operators time, bytes, GFLOP/s, copies; and regions]' \
        '--graph[functions compiled by Aesara and PyTensor, by class, op and node]' \
        '--functions[functions traced calls as in pstats, or sampled time]' \
        '--callers[functions and their callers]' \
        '--callees[functions and what they called]' \
        '--signatures[functions, and the types and shapes of their arguments]' \
        '--threads[the profiled threads]' \
        '--counters[values counted by your program]' \
        '--marks[moments marked by your program]' \
        '--processes[the profiled processes]' \
        '--ranks[regions and functions across processes minimum, median, maximum, outliers]' \
        '--all-code[show library code like your own]' \
        '--include=[treat matching files as your own code, such as *model*,*/util/*]:PATTERNS: ' \
        '--exclude=[do not treat matching files as your own code]:PATTERNS: ' \
        '--process=[one process of a merged recording PID, rankN or HOSTPID]:WHICH: ' \
        '--region=[only inside this region]:NAME: ' \
        '--thread=[only this thread]:NAME: ' \
        '--cpu-only[leave out waiting time]' \
        '--with-waiting[rank by CPU plus waiting time, not by CPU time alone]' \
        '--seconds[lines, functions seconds instead of percentages]' \
        '--show-all[also show (tree) library frames and small rows, (lines) small files, (waiting) idle threads]' \
        '--hide=[fold frames whose function or file matches]:REGEX: ' \
        '--flat[list its functions instead]' \
        '--by-time[in order of time]' \
        '--by-shape[one row per kind of inputs]' \
        '--by-line[one row per calling line]' \
        '--function=[this compiled function only]:NAME: ' \
        '--total[only the total of all functions]' \
        '--n-ops=[number of classes and ops to list (default 20)]:N: ' \
        '--n-apply=[number of nodes to list (default 20)]:N: ' \
        '--min-memory=[list memory of nodes with at least this much output (default 1024)]:BYTES: ' \
        '(-c --columns)'{-c+,--columns=}'[show these columns; an unknown name lists them all]:A,B,...:_sonde_columns' \
        '(-s --sort)'{-s+,--sort=}'[sort by a column, or by a pstats key calls, cumtime, tottime, name, ...]:KEY:_sonde_columns' \
        '(-m --match)'{-m+,--match=}'[show rows that match this regular expression; same as PATTERN]:PATTERN: ' \
        '(-n --limit)'{-n+,--limit=}'[keep the first N rows; in a list of functions with callers or callees, the first N functions]:N: ' \
        '--color=[always, never or auto (color on a terminal unless NO_COLOR is set)]:WHEN:(always never auto)' \
        '*:recording:_files -g "*.sonde(-.)"' ;;
    report) _arguments -s -S '(- *)'{-h,--help}'[show this help]' \
        '(-o --output)'{-o+,--output=}'[the page (default the recordings name with .html, in this folder); - is standard output]:FILE:_files' \
        '--open[open the page in a browser]' \
        '--process=[one process of a merged recording PID, rankN or HOSTPID]:WHICH: ' \
        '--no-source[leave out source code]' \
        '*:recording:_files -g "*.sonde(-.)"' ;;
    diff) _arguments -s -S '(- *)'{-h,--help}'[show this help]' \
        '--regions[regions by path (default everything both recordings have)]' \
        '--functions[functions by self time, sampled or else traced]' \
        '--lines[lines, matched by their text if the file was edited]' \
        '--ops[operators]' \
        '--calls[traced functions by self time]' \
        '--counts[traced functions by number of calls]' \
        '--memory[lines by memory held at the peak]' \
        '--allocated[lines by memory allocated]' \
        '--copies[lines by bytes copied]' \
        '--fail-over=[exit with status 1 if a total, or a row of 1% or more, grew by more than this and beyond its noise]:PERCENT: ' \
        '--run-noise=[standard deviation of the same program from run to run (default 2%)]:PERCENT: ' \
        '--cpu-only[leave out waiting time]' \
        '--all-code[show library code like your own]' \
        '--include=[treat matching files as your own code, such as *model*,*/util/*]:PATTERNS: ' \
        '--exclude=[do not treat matching files as your own code]:PATTERNS: ' \
        '--by-shape[one row per kind of inputs]' \
        '(-s --sort)'{-s+,--sort=}'[sort by before, after, difference, percent, noise, verdict, name or place (default size of the difference)]:KEY:(before after difference percent noise verdict name place)' \
        '(-n --limit)'{-n+,--limit=}'[show the first N rows of each table (default 10; all for csv and json)]:N: ' \
        '(-f --format)'{-f+,--format=}'[table, csv, json or html]:NAME:(table csv json html )' \
        '--color=[always, never or auto (color on a terminal unless NO_COLOR is set)]:WHEN:(always never auto)' \
        '*:recording:_files -g "*.sonde(-.)"' ;;
    merge) _arguments -s -S '(- *)'{-h,--help}'[show this help]' \
        '(-o --output)'{-o+,--output=}'[the recording to write; it may be one of the inputs]:ALL.sonde:_files' \
        '*:recording:_files -g "*.sonde(-.)"' ;;
    export) _arguments -s -S '(- *)'{-h,--help}'[show this help]' \
        '(-f --format)'{-f+,--format=}'[one view table, csv, json, html; the whole recording collapsed, speedscope, pprof, pstats, callgrind, chrome, perfetto]:NAME:(table csv json html collapsed speedscope pprof pstats callgrind chrome perfetto )' \
        '--view=[the view lines, tree, memory, leaks, copies, functions, ... (an unknown name lists them all)]:NAME:(lines tree waiting memory leaks copies footprint owners sizes timeline regions ops graph functions callers callees signatures threads counters marks processes ranks )' \
        '(-c --columns)'{-c+,--columns=}'[write these columns only]:A,B,...:_sonde_columns' \
        '(-s --sort)'{-s+,--sort=}'[sort by a column, or by a pstats key calls, cumtime, tottime, name, ...]:KEY:_sonde_columns' \
        '(-m --match)'{-m+,--match=}'[keep rows that match this regular expression, and the rows above and below them]:PATTERN: ' \
        '(-n --limit)'{-n+,--limit=}'[keep the first N rows; in a list of functions with callers or callees, the first N functions]:N: ' \
        '--by-line[collapsed, speedscope, chrome, perfetto separate the lines of a function]' \
        '--cost=[collapsed, speedscope the cost to write (wall, cpu, samples, time, alloc_space, ...); pprof, callgrind the cost that comes first]:NAME: ' \
        '--schema[print the JSON Schema of --format json; needs no recording]' \
        '--all-code[show library code like your own]' \
        '--include=[treat matching files as your own code, such as *model*,*/util/*]:PATTERNS: ' \
        '--exclude=[do not treat matching files as your own code]:PATTERNS: ' \
        '--process=[one process of a merged recording PID, rankN or HOSTPID]:WHICH: ' \
        '--region=[only inside this region]:NAME: ' \
        '--thread=[only this thread]:NAME: ' \
        '--cpu-only[leave out waiting time]' \
        '--with-waiting[rank by CPU plus waiting time, not by CPU time alone]' \
        '--seconds[lines, functions seconds instead of percentages]' \
        '--show-all[also show (tree) library frames and small rows, (lines) small files, (waiting) idle threads]' \
        '--hide=[fold frames whose function or file matches]:REGEX: ' \
        '--flat[list its functions instead]' \
        '--by-time[in order of time]' \
        '--by-shape[one row per kind of inputs]' \
        '--function=[this compiled function only]:NAME: ' \
        '--total[only the total of all functions]' \
        '--n-ops=[number of classes and ops to list (default 20)]:N: ' \
        '--n-apply=[number of nodes to list (default 20)]:N: ' \
        '--min-memory=[list memory of nodes with at least this much output (default 1024)]:BYTES: ' \
        '(-o --output)'{-o+,--output=}'[write to this file instead of standard output]:FILE:_files' \
        '*:recording:_files -g "*.sonde(-.)"' ;;
    import) _arguments -s -S '(- *)'{-h,--help}'[show this help]' \
        '(-o --output)'{-o+,--output=}'[the recording (default the files name with .sonde, in this folder)]:FILE:_files' \
        '(-f --format)'{-f+,--format=}'[pstats or collapsed (default detected)]:NAME:(pstats collapsed)' \
        '(-u --unit)'{-u+,--unit=}'[unit of the numbers us, ns, ms, s, samples or bytes (default us)]:NAME:(us ns ms s samples bytes)' \
        '(-r --rate)'{-r+,--rate=}'[with --unit samples samples per second]:HZ: ' \
        '*:file:_files' ;;
    stat) _arguments -s -S '(- *)'{-h,--help}'[show this help]' \
        '(-r --repeat)'{-r+,--repeat=}'[number of runs (default 1; 10 of each with --compare, 5 processes with -c)]:N: ' \
        '(-w --warmup)'{-w+,--warmup=}'[number of warm-up runs, which do not count]:N: ' \
        '--compare=[compare with another command (with -c statement) run both in turns and print the ratio]:OTHER: ' \
        '(-c --statement)'{-c+,--statement=}'[a Python statement instead of a command; repeat it for several lines]:TEXT: ' \
        '(-s --setup)'{-s+,--setup=}'[setup before the loops of a statement, not counted; repeat it for several lines]:TEXT: ' \
        '(-n --loops)'{-n+,--loops=}'[loops per value of a statement (default enough for 10 ms)]:N: ' \
        '--gc[allow garbage collection while a statement is timed]' \
        '--json[print the result as JSON; a commands own output goes to standard error]' \
        '(-o --output)'{-o+,--output=}'[write the result to this file (default standard error)]:FILE:_files' \
        '(-)1:program:_files' '*::argument:_files' ;;
    info) _arguments -s -S '(- *)'{-h,--help}'[show this help]' \
        '--process=[one process of a merged recording PID, rankN or HOSTPID]:WHICH: ' \
        '(-f --format)'{-f+,--format=}'[table, csv, json or html]:NAME:(table csv json html )' \
        '*:recording:_files -g "*.sonde(-.)"' ;;
    sql) _arguments -s -S '(- *)'{-h,--help}'[show this help]' \
        '(-f --format)'{-f+,--format=}'[table, csv, json or html]:NAME:(table csv json html )' \
        '*:recording:_files -g "*.sonde(-.)"' ;;
    doctor) _arguments -s -S '(- *)'{-h,--help}'[show this help]' ;;
    config) _arguments -s -S '(- *)'{-h,--help}'[show this help]' \
        '--cflags[compiler flags]' \
        '--libs[linker flags]' ;;
    completion) _arguments -s -S '(- *)'{-h,--help}'[show this help]' \
        '1:shell:(bash zsh fish man)' ;;
    esac
}
if [ "$funcstack[1]" = _sonde ]; then _sonde "$@"; else compdef _sonde sonde; fi
