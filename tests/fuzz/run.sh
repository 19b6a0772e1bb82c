#!/bin/sh
# Runs every fuzzer for a while, as many at a time as there are cores.
#
#   FUZZ=FOLDER tests/fuzz/run.sh [TARGET...]
#
# FUZZ holds the fuzzers in tests/fuzz/ and their seeds in seeds/. FUZZ_SECONDS: how long each runs,
# 10 unless said. FUZZ_CORPUS: a folder that keeps what they find to be new, for the next run; without
# it every run starts from the same files. An input that crashes is kept in FUZZ/crashes/TARGET/: it
# belongs into tests/fuzz/regression/TARGET/, with the fix.
set -eu
cd "$(dirname "$0")/../.."
: "${FUZZ:=build/fuzz}" "${FUZZ_SECONDS:=10}"
export FUZZ FUZZ_SECONDS

fuzz() {
    crashes=$FUZZ/crashes/$1 known=tests/fuzz/regression/$1 log=$FUZZ/$1.log
    corpus=${FUZZ_CORPUS:+$FUZZ_CORPUS/$1}
    [ -n "$corpus" ] || corpus=$(mktemp -d "${TMPDIR:-/tmp}/tensord-fuzz.XXXXXX")
    mkdir -p "$crashes" "$corpus"
    set -- "$1" "$corpus" "$FUZZ/seeds/$1"
    [ ! -d "$known" ] || set -- "$@" "$known"
    case $1 in
    request_json | recall | frame | safetensors | file) set -- "$@" -dict=tests/fuzz/json.dict ;;
    esac
    target=$1
    shift
    status=0
    "$FUZZ/tests/fuzz/$target" -seed=1 -max_total_time="$FUZZ_SECONDS" -max_len=8192 -timeout=10 \
        -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$crashes/" "$@" \
        >"$log" 2>&1 || status=$?
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1)
    printf '%-14s %s runs\n' "$target" "${runs:-no}"
    [ "${runs:-0}" -gt 0 ] || status=1
    [ "$status" = 0 ] || tail -n 60 "$log"
    [ -n "${FUZZ_CORPUS:-}" ] || rm -rf "$corpus"
    return "$status"
}

if [ "${1:-}" = --one ]; then
    fuzz "$2"
    exit
fi
# shellcheck disable=SC2046 # one word each
[ $# -gt 0 ] || set -- $(basename -s .c tests/fuzz/*.c)
printf '%s\n' "$@" | xargs -P "$(nproc)" -n 1 "$0" --one
