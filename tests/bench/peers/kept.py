"""Rows of a kept table read and assigned: tensord, redis-server and FastAPI in turn, medians in one
table. Each is sent bytes that were made before, over one connection of its own; its answer is read to
the end.

    python3 tests/bench/peers/kept.py TENSORD VENV      VENV has fastapi, uvicorn and numpy
"""

import os
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time

ROWS, WIDTH, RUNS = 100_000, 64, 15
ROW = WIDTH * 4
TENSORD, VENV = sys.argv[1:]
HERE = os.path.dirname(os.path.abspath(__file__))


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def connect(port):
    for _ in range(300):
        try:
            line = socket.create_connection(("127.0.0.1", port))
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return line
        except ConnectionRefusedError:
            time.sleep(0.1)
    sys.exit(f"no server on port {port}")


def http(path, body, headers=""):
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{headers}Content-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def binary(path, inputs):
    described = ",".join(f'{{"name":"{name}","datatype":"{dtype}","shape":{shape},'
                         f'"parameters":{{"binary_data_size":{len(data)}}}}}'
                         for name, dtype, shape, data in inputs)
    text = f'{{"inputs":[{described}],"parameters":{{"binary_data_output":true}}}}'.encode()
    return http(path, text + b"".join(data for *_, data in inputs),
                f"Inference-Header-Content-Length: {len(text)}\r\n")


def command(*words):
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%b\r\n" % (len(word), word) for word in words)


def read_http(line):
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += line.recv(65536)
    head, _, body = answer.partition(b"\r\n\r\n")
    if b" 200 " not in head[:14]:
        sys.exit(answer[:500].decode())
    length = next(int(h.split(b":")[1]) for h in head.split(b"\r\n")
                  if h.lower().startswith(b"content-length"))
    read(line, length - len(body))


def read(line, size):
    while size > 0:
        size -= len(line.recv(min(size, 1 << 20)) or sys.exit("the connection broke"))


class Tensord:
    name = "tensord"

    def __init__(self, port):
        self.command = [TENSORD, f"--listen=127.0.0.1:{port}", "--log_requests=false"]

    def fill(self, line):
        line.sendall(http("/v2/models/scatter_nd/infer?into=table",
                          b'{"inputs":{"indices":{"shape":[0,1],"data":[]},"updates":'
                          b'{"shape":[0,%d],"data":[]},"shape":[%d,%d]}}' % (WIDTH, ROWS, WIDTH)))
        read_http(line)

    def lookup(self, rows):
        indices = ("indices", "INT32", [len(rows), 1], struct.pack(f"{len(rows)}i", *rows))
        return binary("/v2/models/gather_nd/infer?tensor=table", [indices]), read_http

    def update(self, rows):
        indices = ("indices", "INT32", [len(rows), 1], struct.pack(f"{len(rows)}i", *rows))
        updates = ("updates", "FP32", [len(rows), WIDTH], bytes(ROW * len(rows)))
        path = "/v2/models/tensor_scatter_update/infer?tensor=table&into=table"
        return binary(path, [indices, updates]), read_http


class Redis:
    name = "redis-server"

    def __init__(self, port):
        self.command = ["redis-server", "--port", str(port), "--save", "", "--bind", "127.0.0.1"]

    def fill(self, line):
        request, answer = self.update(range(ROWS))
        line.sendall(request)
        answer(line)

    def lookup(self, rows):
        size = len(b"*%d\r\n" % len(rows)) + len(rows) * (len(b"$%d\r\n\r\n" % ROW) + ROW)
        return command(b"MGET", *(b"%d" % row for row in rows)), lambda line: read(line, size)

    def update(self, rows):
        row_bytes = bytes(ROW)
        request = b"".join(command(b"SETRANGE", b"%d" % row, b"0", row_bytes) for row in rows)
        return request, lambda line: read(line, len(rows) * len(b":%d\r\n" % ROW))


class Fastapi:
    name = "FastAPI"

    def __init__(self, port):
        self.command = [f"{VENV}/bin/uvicorn", "--app-dir", HERE, "kept_fastapi:app", "--port",
                        str(port), "--no-access-log", "--log-level", "warning"]

    def fill(self, line):
        pass  # it starts with its table

    def lookup(self, rows):
        return http("/lookup/table", struct.pack(f"{len(rows)}i", *rows)), read_http

    def update(self, rows):
        body = struct.pack(f"{len(rows)}i", *rows) + bytes(ROW * len(rows))
        return http(f"/update/table/{len(rows)}", body), read_http


def exchange(line, request, answer):
    start = time.perf_counter()
    line.sendall(request)
    answer(line)
    return (time.perf_counter() - start) * 1000


def measure(name, peers, request_of, repeats):
    """One row: the peers in turn, `repeats` requests each."""
    asked = [(line, *request_of(peer)) for peer, line in peers]
    times = [[] for _ in peers]
    for run in range(RUNS + 1):
        for (line, request, answer), kept in zip(asked, times):
            spent = sum(exchange(line, request, answer) for _ in range(repeats)) / repeats
            if run > 0:  # the first warms up
                kept.append(spent)
    print(f"{name:34}", *(f"{statistics.median(kept):13.3f}" for kept in times), flush=True)


def main():
    rows = [row * 7919 % ROWS for row in range(10_000)]
    log = tempfile.TemporaryFile()
    started, peers = [], []
    try:
        for kind in (Tensord, Redis, Fastapi):
            port = free_port()
            peer = kind(port)
            started.append(subprocess.Popen(peer.command, stdout=log, stderr=log))
            peers.append((peer, connect(port)))
            peer.fill(peers[-1][1])
        print(f"{'milliseconds, medians of ' + str(RUNS):34}", *(f"{p.name:>13}" for p, _ in peers))
        measure("16 rows of 64 FP32 read", peers, lambda p: p.lookup(rows[:16]), 200)
        measure("10,000 rows read", peers, lambda p: p.lookup(rows), 5)
        measure("16 rows assigned", peers, lambda p: p.update(rows[:16]), 200)
        measure("10,000 rows assigned", peers, lambda p: p.update(rows), 5)
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait()


main()
