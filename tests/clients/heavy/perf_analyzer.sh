# Triton's perf_analyzer, where it is installed and starts: it needs a newer glibc than Debian 12's,
# and its package in PyPI is a placeholder without a program.
set -eu
tensord=${TENSORD:-build/tensord}
if ! perf_analyzer=$(command -v perf_analyzer); then
    echo "there is no perf_analyzer in the PATH (PyPI's package of that name is empty)"
    exit 77
fi
if ! version=$("$perf_analyzer" --version 2>&1); then
    echo "perf_analyzer does not start: $(printf '%s' "$version" | tail -n 1)"
    exit 77
fi
log=$(mktemp "${TMPDIR:-/tmp}/tensord-perf.XXXXXX")
"$tensord" --listen=127.0.0.1:0 >"$log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null; wait "$server"; rm -f "$log"' EXIT
for _ in $(seq 1 1000); do
    address=$(sed -n 's/.*"msg":"listening".*"address":"\([^"]*\)".*/\1/p' "$log" | head -n 1)
    [ -z "$address" ] || break
    sleep 0.01
done
"$perf_analyzer" -m tensor_scatter_add -u "$address" -i http --shape tensor:8 --shape indices:4,1 \
    --shape updates:4 --input-data zero --measurement-interval 1000 --stability-percentage 999 \
    --max-trials 3
