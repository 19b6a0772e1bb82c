#!/bin/sh
# Starts tensord and what people would use instead, and measures them in turn.
#
#   BUILD=FOLDER PEERS=VENV tests/bench/peers/run.sh
set -eu
cd "$(dirname "$0")/../../.."
: "${BUILD:=build}" "${PEERS:=build/venv-peers}"
here=$PWD/tests/bench/peers
case $PEERS in /*) ;; *) PEERS=$PWD/$PEERS ;; esac
logs=$(mktemp -d "${TMPDIR:-/tmp}/tensord-peers.XXXXXX")
started=
export PYTHONDONTWRITEBYTECODE=1

# Ports that are free now, and were given to nobody else a moment ago.
# shellcheck disable=SC2046 # one word each
set -- $(python3 -c '
import socket
sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(5)]
print(*(s.getsockname()[1] for s in sockets))')

end() {
    # Each was started as a session of its own: its workers end with it.
    for pid in $started; do kill -TERM "-$pid" 2>/dev/null || true; done
    wait
    rm -rf "$logs"
}
trap end EXIT
trap "exit 1" INT TERM

# start NAME COMMAND...
start() {
    log=$logs/$1
    shift
    setsid "$@" >"$log" 2>&1 &
    started="$started $!"
}

start tensord "$BUILD/tensord" --listen="127.0.0.1:$1" --log_requests=false
start fastapi "$PEERS/bin/uvicorn" --app-dir "$here" fastapi_server:app --workers 2 --port "$2" \
    --no-access-log --log-level warning
# Without workers of its own it is the fastest: they cost a copy between processes.
cd "$here/mlserver"
start mlserver env MLSERVER_HTTP_PORT="$3" MLSERVER_GRPC_PORT="$4" MLSERVER_METRICS_PORT="$5" \
    MLSERVER_PARALLEL_WORKERS=0 MLSERVER_DEBUG=false "$PEERS/bin/mlserver" start .
cd - >/dev/null

for port in "$1" "$2" "$3"; do
    for _ in $(seq 1 600); do
        ! curl -sf -o "$logs/ready" "http://127.0.0.1:$port/v2/health/ready" || continue 2
        sleep 0.1
    done
    echo "no server on port $port:"
    tail -n 20 "$logs"/*
    exit 1
done
"$BUILD/bench/peers" "tensord=$1" "FastAPI=$2" "MLServer=$3" 2>"$logs/peers"
