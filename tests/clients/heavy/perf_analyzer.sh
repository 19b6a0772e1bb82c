# Triton's perf_analyzer, unmodified, out of the last tritonclient that carries it: every request of
# its is answered 200, and it finds what it sent in the server's statistics.
set -eu
tensord=${TENSORD:-build/tensord}
venv=$(dirname "$(dirname "${PYTHON:-build/venv-heavy/bin/python}")")
perf_analyzer=$venv/bin/perf_analyzer
if ! [ -x "$perf_analyzer" ]; then
    echo "tritonclient has no perf_analyzer for $(uname -m)"
    exit 77
fi
LD_LIBRARY_PATH=$(dirname "$(find "$venv" -name 'libcudart.so.12')")
export LD_LIBRARY_PATH
if ! version=$("$perf_analyzer" --version 2>&1); then
    echo "perf_analyzer does not start: $(printf '%s' "$version" | tail -n 1)"
    exit 77
fi
log=$(mktemp "${TMPDIR:-/tmp}/tensord-perf.XXXXXX")
report=$log.report
"$tensord" --listen=127.0.0.1:0 >"$log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -f "$log" "$report"' EXIT
for _ in $(seq 1 1000); do
    address=$(sed -n 's/.*"msg":"listening".*"address":"\([^"]*\)".*/\1/p' "$log" | head -n 1)
    [ -z "$address" ] || break
    sleep 0.01
done
"$perf_analyzer" -m tensor_scatter_add -u "$address" -i http --shape tensor:8 --shape indices:4,1 \
    --shape updates:4 --input-data zero --concurrency-range 1:4 --measurement-mode count_windows \
    --measurement-request-count 1000 --stability-percentage 999 --max-trials 3 | tee "$report"
grep -q '^    Successful request count: [1-9]' "$report"
kill "$server"
wait "$server"
! grep '"msg":"request"' "$log" | grep -v '"status":200'
