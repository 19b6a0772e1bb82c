#!/bin/sh
# Runs test programs one after the other, one line each, and counts.
#
#   tests/run.sh PROGRAM...      PROGRAM: an executable, or a .sh, .py or .mjs file
#
# A program passes with exit status 0; with 77 it was skipped, and its last line says why. Of one
# that fails the output's tail is shown; all of it is kept beside the name that is printed.
# TENSORD names the server for scripts, PYTHON the interpreter; TEST_TIMEOUT seconds end a program.
cd "$(dirname "$0")/.." || exit 2
logs=$(mktemp -d "${TMPDIR:-/tmp}/tensord-tests.XXXXXX") || exit 2
passed=0 failed=0 skipped=0

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
    esac
    timeout -k 10 "${TEST_TIMEOUT:-600}" "$@"
}

for program; do
    name=${program#"${TENSORD%/*}/"}
    log=$logs/$(printf %s "$name" | tr / -).log
    start=$(date +%s)
    run "$program" >"$log" 2>&1 </dev/null
    status=$?
    seconds=$(($(date +%s) - start))
    case $status in
    0)
        passed=$((passed + 1))
        printf 'ok       %-50s %3d s\n' "$name" "$seconds"
        ;;
    77)
        skipped=$((skipped + 1))
        printf 'skipped  %-50s %s\n' "$name" "$(tail -n 1 "$log")"
        ;;
    *)
        failed=$((failed + 1))
        printf 'FAILED   %-50s %3d s, exit status %d, %s\n' "$name" "$seconds" "$status" "$log"
        tail -n "${TEST_TAIL:-40}" "$log" | sed 's/^/    | /'
        ;;
    esac
done

[ "$failed" != 0 ] || rm -rf "$logs"
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" = 0 ]
