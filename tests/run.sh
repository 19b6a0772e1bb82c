#!/bin/sh
# Runs test programs one after the other, one line each, and counts.
#
#   tests/run.sh PROGRAM...      PROGRAM: an executable, or a .sh, .py or .mjs file
#
# A program passes with exit status 0; with 77 it was skipped, and its last line says why. A test that
# a program skips inside (cmocka's skip, unittest's, node's) is listed and counted as skipped too; a
# program whose report says that it ran no test at all has failed. Of one that fails the output's
# tail is shown. All output lies in test-logs/ beside the server until the next run. Before the last
# line stands how many programs of each kind (its folder) ran, those that failed included.
# TENSORD names the server for scripts, PYTHON the interpreter; TEST_TIMEOUT seconds end a program;
# EMULATOR runs the programs of another processor.
cd "$(dirname "$0")/.." || exit 2
if [ $# = 0 ]; then
    echo 'tests/run.sh: no program was given, so nothing was tested' >&2
    exit 2
fi
logs=${TENSORD:-build/tensord}
logs=${logs%/*}/test-logs
mkdir -p "$logs" && rm -f "$logs"/*.log || exit 2
passed=0 failed=0 skipped=0 kinds=''

export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_stack_use_after_return=1}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1}"
# What is not instrumented (libmicrohttpd, OpenMP's runtime) is not looked at; Archer, which comes
# with that runtime, tells where its threads wait for each other. No suppressions: their frames are
# in every stack of ours.
export TSAN_OPTIONS="${TSAN_OPTIONS:-ignore_noninstrumented_modules=1:second_deadlock_stack=1}"

# More threads than cores, as some tests want, must not spin while they wait for each other.
export OMP_WAIT_POLICY="${OMP_WAIT_POLICY:-passive}"

run() {
    case $1 in
    *.py) set -- "${PYTHON:-python3}" "$1" ;;
    *.sh) set -- sh "$1" ;;
    *.mjs) set -- node --test "$1" ;;
    # shellcheck disable=SC2086 # a command and its options
    *) set -- ${EMULATOR:-} "$1" ;;
    esac
    timeout -k 10 "${TEST_TIMEOUT:-600}" "$@"
}

# report LOG: what the program's test library says. Prints `ran N`, N being `?` where no library
# reports, and `skipped WHAT` for each test (or count of tests) that was skipped.
report() {
    awk '
        /^\[ +PASSED +\] [0-9]+ test/ { reports = 1; ran += $4 }
        /^Ran [0-9]+ tests? in / { reports = 1; ran += $2 }
        /^# tests [0-9]+$/ { reports = 1; ran += $3 }
        /^\[ +SKIPPED +\] [^0-9]/ && !seen[$4]++ { print "skipped " $4 }
        /^OK \(.*skipped=[0-9]+/ {
            sub(/.*skipped=/, "")
            ran -= $0 + 0
            print "skipped " $0 + 0 " of its tests"
        }
        /^# skipped [1-9]/ {
            ran -= $3
            print "skipped " $3 " of its tests"
        }
        END { print "ran " (reports ? ran + 0 : "?") }' "$1"
}

say_failed() {
    failed=$((failed + 1))
    printf 'FAILED   %-50s %3d s, %s, %s\n' "$name" "$seconds" "$1" "$log"
    tail -n "${TEST_TAIL:-40}" "$log" | sed 's/^/    | /'
}

say_passed() {
    passed=$((passed + 1))
    printf 'ok       %-50s %3d s\n' "$name" "$seconds"
}

say_skipped() {
    skipped=$((skipped + 1))
    printf 'skipped  %-50s %s\n' "$name" "$1"
}

# note_ran NAME: for tests/unit/x it is the kind unit of the programs, for thread/tests/unit/x that of
# those built in thread/.
note_ran() {
    way=programs inside=${1##*tests/}
    case $1 in */tests/*) way=${1%%/tests/*} ;; esac
    kinds="$kinds$way ${inside%/*}
"
}

for program; do
    name=${program#"${TENSORD%/*}/"}
    log=$logs/$(printf %s "$name" | tr / -).log
    start=$(date +%s)
    run "$program" >"$log" 2>&1 </dev/null
    status=$?
    seconds=$(($(date +%s) - start))
    if [ "$status" = 77 ]; then
        say_skipped "$(tail -n 1 "$log")"
        continue
    fi
    said=$(report "$log")
    skips=$(printf '%s\n' "$said" | sed -n 's/^skipped //p')
    if [ "$status" != 0 ]; then
        say_failed "exit status $status"
        note_ran "$name"
    elif [ "${said##*ran }" != 0 ]; then
        say_passed
        note_ran "$name"
    elif [ -z "$skips" ]; then
        say_failed 'it ran no test'
    fi
    while read -r what; do
        [ -z "$what" ] || say_skipped "$what"
    done <<EOF
$skips
EOF
done

# How many programs of each kind ran, a line for each way of building them.
printf %s "$kinds" | awk '
    {
        if (!($1 in text))
            ways[++way_count] = $1
        if (!count[$1, $2]++)
            text[$1] = text[$1] " " $2
    }
    END {
        for (w = 1; w <= way_count; w++) {
            kind_count = split(text[ways[w]], kinds, " ")
            printf "ran      %s:", ways[w]
            for (k = 1; k <= kind_count; k++)
                printf "%s %d %s", (k > 1 ? "," : ""), count[ways[w], kinds[k]], kinds[k]
            print ""
        }
    }'
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" = 0 ]
