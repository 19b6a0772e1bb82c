#!/bin/sh
# The runner of the tests tests itself: tests/run.sh counts what did not run, and no goal of the
# Makefile tests an empty list. Scripts stand in for programs and print what test libraries print.
cd "$(dirname "$0")/.." || exit 2
folder=$(mktemp -d "${TMPDIR:-/tmp}/tensord-harness.XXXXXX") || exit 2
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/tests/unit" "$folder/thread/tests/unit"
failed=0

# program NAME STATUS TEXT: a script that prints TEXT and exits with STATUS.
program() {
    printf '#!/bin/sh\ncat <<"END"\n%s\nEND\nexit %d\n' "$3" "$2" >"$folder/$1"
    chmod +x "$folder/$1"
}

# expect STATUS PATTERN COMMAND...: the exit status, and a line of the output.
expect() {
    wanted=$1 pattern=$2
    shift 2
    output=$("$@" 2>&1)
    status=$?
    if [ $status != "$wanted" ] || ! printf '%s\n' "$output" | grep -qE "$pattern"; then
        printf '%s\nstatus %d, wanted %d and /%s/, from %s\n' "$output" $status "$wanted" "$pattern" "$*"
        failed=1
    fi
}

run() {
    (cd "$folder" && TENSORD=$folder/tensord TEST_TAIL=3 "$OLDPWD/tests/run.sh" "$@")
}

# names NAME...: the paths of these programs.
names() {
    for name; do printf '%s/%s ' "$folder" "$name"; done
}

program tests/unit/good 0 '[       OK ] a
[  PASSED  ] 1 test(s).'
program tests/unit/part 0 '[       OK ] a
[  SKIPPED ] slow_one
[  PASSED  ] 1 test(s).
[  SKIPPED ] 1 test(s), listed below:
[  SKIPPED ] slow_one'
program tests/unit/none 0 '[  SKIPPED ] slow_one
[  PASSED  ] 0 test(s).'
program tests/unit/empty 0 '[  PASSED  ] 0 test(s).'
program tests/unit/plain 0 'no test library'
program tests/unit/python 0 'Ran 2 tests in 0.001s

OK (skipped=1)'
program tests/unit/python_all 0 'Ran 2 tests in 0.001s

OK (skipped=2)'
program tests/unit/python_none 0 'Ran 0 tests in 0.000s

OK'
program tests/unit/node 0 '# tests 3
# skipped 2'
program tests/unit/bad 1 '[  FAILED  ] a'
program tests/unit/away 77 'no browser here'
program thread/tests/unit/good 0 '[  PASSED  ] 4 test(s).'

# shellcheck disable=SC2046 # one word a program
{
    expect 2 'no program was given' run
    expect 0 '^1 passed, 0 failed, 0 skipped$' run $(names tests/unit/good)
    expect 0 '^1 passed, 0 failed, 0 skipped$' run $(names tests/unit/plain)
    expect 0 '^tests-unit-plain.log$' ls "$folder/test-logs"
    expect 1 '^1 passed, 1 failed, 0 skipped$' run $(names tests/unit/good tests/unit/bad)
    expect 1 "^FAILED +tests/unit/bad .*, $folder/test-logs/tests-unit-bad.log$" run $(names tests/unit/bad)
    expect 0 '^\[  FAILED  \] a$' cat "$folder/test-logs/tests-unit-bad.log"
    expect 0 '^0 passed, 0 failed, 1 skipped$' run $(names tests/unit/away)
    expect 0 '^tests-unit-away.log$' ls "$folder/test-logs"
    expect 0 '^$' test ! -e "$folder/test-logs/tests-unit-bad.log"
    expect 0 '^skipped +tests/unit/part +slow_one$' run $(names tests/unit/part)
    expect 0 '^1 passed, 0 failed, 1 skipped$' run $(names tests/unit/part)
    expect 0 '^0 passed, 0 failed, 1 skipped$' run $(names tests/unit/none)
    expect 1 '^FAILED +tests/unit/empty .* it ran no test,' run $(names tests/unit/empty)
    expect 0 '^skipped +tests/unit/python +1 of its tests$' run $(names tests/unit/python)
    expect 0 '^0 passed, 0 failed, 1 skipped$' run $(names tests/unit/python_all)
    expect 1 '^0 passed, 1 failed, 0 skipped$' run $(names tests/unit/python_none)
    expect 0 '^skipped +tests/unit/node +2 of its tests$' run $(names tests/unit/node)
    expect 0 '^ran +programs: 2 unit$' run $(names tests/unit/good tests/unit/part thread/tests/unit/good)
    expect 0 '^ran +thread: 1 unit$' run $(names tests/unit/good thread/tests/unit/good)
}

# A variable of the Makefile that lists programs and finds none stops the goal that would test them.
for goal in check:UNIT check:SERVED check:REPLAY check-kernels:UNIT test:CLIENTS test-deploy:DEPLOY_TESTS \
    test-clients:HEAVY_CLIENTS; do
    expect 2 "${goal#*:} names no program" env -u MAKEFLAGS make -s -n "${goal%:*}" "${goal#*:}="
done
# shellcheck disable=SC2012 # the names are this project's own
count=$(ls tests/unit/kernels_*.c tests/golden/kernels_*.c | wc -l)
expect 0 "^$count\$" sh -c 'env -u MAKEFLAGS make -s -n check-kernels | grep tests/run.sh | grep -o "/kernels_[a-z_]*" | sort -u | wc -l'

# Tests leave the program as `make run` linked it. A compiler that is not there links nothing here: the
# program's rule is looked at, not run.
links() {
    env -u MAKEFLAGS make -s -n BUILD="$folder/build" NVCC=/no/nvcc CC=false CXX=false "$1" |
        grep -c 'kernels/cuda/.*\.o' | sed 's/^[1-9][0-9]*$/cuda/'
}
mkdir -p "$folder/build"
expect 0 '^cuda$' links all
expect 0 '^0$' links programs
touch "$folder/build/linked-with-cuda"
expect 0 '^cuda$' links programs
expect 0 '^cuda$' links all
rm "$folder/build/linked-with-cuda"
touch "$folder/build/linked-without-cuda"
expect 0 '^0$' links programs
expect 0 '^cuda$' links all

exit $failed
