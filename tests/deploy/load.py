"""Mixed load on one address, every answer compared: small requests over long connections (JSON,
binary, wrong ones) and large ones. Each carries an X-Request-Id that its answer must echo, so an
answer that is lost, doubled or somebody else's shows."""
import asyncio
import http.client
import json
import multiprocessing
import re
import threading
import time

import numpy as np

INFER = "/v2/models/tensor_scatter_add/infer"
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.I)
ECHO = re.compile(rb"\r\nx-request-id: *(\S+)", re.I)
HEAD = re.compile(rb"\r\ninference-header-content-length: *(\d+)", re.I)
LARGE_ROWS = 4 << 20  # 16 MiB of FP32
LARGE_UPDATES = 100_000


def binary_head(tensor, indices, updates):
    part = '{"name":"%s","datatype":"%s","shape":%s,"parameters":{"binary_data_size":%d}}'
    parts = [part % (name, kind, list(array.shape), array.nbytes) for name, kind, array in
             (("tensor", "FP32", tensor), ("indices", "INT64", indices), ("updates", "FP32", updates))]
    return ('{"inputs":[%s],"parameters":{"binary_data_output":true}}' % ",".join(parts)).encode()


def small_request(i):
    """(headers, body, check of (status, head, body)); every number depends on i."""
    kind, n = i % 16, i % 100_000
    if kind == 7:
        body = b'{"inputs":{"tensor":[1,2,3,4],"indices":[[1],[%d]],"updates":[1,2]}}' % (n + 4)
        wanted = b'{"error":"INDEX_OUT_OF_BOUNDS: indices[1] = [%d] is out of bounds' % (n + 4)
        return "", body, lambda status, head, answer: status == 400 and answer.startswith(wanted)
    if kind % 2:
        tensor = np.arange(n, n + 8, dtype=np.float32)
        indices, updates = np.array([[0], [7], [0], [3]]), np.array([n, 1, 2, 3], np.float32)
        wanted = tensor.copy()
        np.add.at(wanted, indices[:, 0], updates)
        json_head = binary_head(tensor, indices, updates)
        body = b"".join([json_head, tensor.tobytes(), indices.tobytes(), updates.tobytes()])
        return (f"Inference-Header-Content-Length: {len(json_head)}\r\n", body,
                lambda status, head, answer: status == 200
                and answer[int(HEAD.search(head)[1]):] == wanted.tobytes())
    body = (b'{"inputs":{"tensor":[%d,%d,%d,%d],"indices":[[1],[3],[1]],"updates":[%d,20,1]}}'
            % (n, n + 1, n + 2, n + 3, n))
    values = [float(n), float(2 * n + 2), float(n + 2), float(n + 23)]
    return ("", body, lambda status, head, answer: status == 200
            and json.loads(answer)["outputs"][0]["data"] == values)


class Counts:
    """Shared by the processes of a load."""

    def __init__(self):
        self.small, self.large, self.wrong, self.repeated, self.connections = (
            multiprocessing.Value("q", 0) for _ in range(5))
        self.stop = multiprocessing.Event()
        self.faults = multiprocessing.SimpleQueue()

    @staticmethod
    def add(value):
        with value.get_lock():
            value.value += 1

    def fault(self, text):
        self.add(self.wrong)
        if self.wrong.value <= 20:
            self.faults.put(text)


async def exchange(reader, writer, i):
    headers, body, check = small_request(i)
    writer.write((f"POST {INFER} HTTP/1.1\r\nHost: tensord\r\nX-Request-Id: s{i}\r\n"
                  f"Content-Length: {len(body)}\r\n{headers}\r\n").encode() + body)
    head = await reader.readuntil(b"\r\n\r\n")
    answer = await reader.readexactly(int(LENGTH.search(head)[1]))
    echo, status = ECHO.search(head), int(head[9:12])
    if not echo or echo[1] != b"s%d" % i:
        return f"s{i}: answered with id {echo and echo[1]}"
    if not check(status, head, answer):
        return f"s{i}: status {status}, {answer[:300]!r}"
    return None


async def small_connection(counts, host, port, first, step):
    reader = writer = None
    i = first
    while not counts.stop.is_set():
        try:
            if writer is None:
                reader, writer = await asyncio.open_connection(host, port)
                counts.add(counts.connections)
            fault = await asyncio.wait_for(exchange(reader, writer, i), 60)
        except (OSError, EOFError, asyncio.TimeoutError) as error:
            fault = f"s{i}: {error!r}"
        if fault:
            counts.fault(fault)
            if writer:
                writer.close()
            writer = None
        counts.add(counts.small)
        i += step
    if writer:
        writer.close()


def small_process(counts, host, port, number, processes, connections):
    async def run():
        step = processes * connections
        await asyncio.gather(*(small_connection(counts, host, port, number + c * processes, step)
                               for c in range(connections)))
    asyncio.run(run())


def large_request(counts, host, port, i):
    """Operations are pure: a client may repeat what met a broken connection, 502 or 503."""
    random = np.random.default_rng(i)
    tensor = np.full(LARGE_ROWS, i, np.float32)
    indices = random.integers(0, LARGE_ROWS, (LARGE_UPDATES, 1))
    updates = random.integers(0, 100, LARGE_UPDATES).astype(np.float32)
    head = binary_head(tensor, indices, updates)
    body = b"".join([head, tensor.tobytes(), indices.tobytes(), updates.tobytes()])
    np.add.at(tensor, indices[:, 0], updates)
    fault = ""
    for _ in range(5):
        connection = http.client.HTTPConnection(host, port, timeout=60)
        try:
            connection.request("POST", INFER, body, {"X-Request-Id": f"l{i}",
                                                     "Inference-Header-Content-Length": str(len(head))})
            answer = connection.getresponse()
            data = answer.read()
            if answer.status == 200:
                cut = int(answer.headers["Inference-Header-Content-Length"])
                same = data[cut:] == tensor.tobytes() and answer.headers["X-Request-Id"] == f"l{i}"
                return None if same else f"l{i}: a wrong answer"
            fault = f"l{i}: status {answer.status}, {data[:300]!r}"
            if answer.status not in (502, 503):
                return fault
        except (OSError, http.client.HTTPException) as error:
            fault = f"l{i}: {error!r}"
        finally:
            connection.close()
        counts.add(counts.repeated)
        time.sleep(0.2)
    return fault


def large_process(counts, host, port, small, large):
    """Two at a time, spread over the whole run."""
    def run(first):
        i = first
        while not counts.stop.is_set():
            if counts.large.value * small > (counts.small.value + small // 50) * large:
                time.sleep(0.01)
                continue
            fault = large_request(counts, host, port, i)
            if fault:
                counts.fault(fault)
            counts.add(counts.large)
            i += 2
    threads = [threading.Thread(target=run, args=(n,)) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class Load:
    """Runs from its making until finish(); `counts` tell how far it is."""

    PROCESSES, CONNECTIONS = 2, 16

    def __init__(self, host, port, small, large):
        self.counts = Counts()
        context = multiprocessing.get_context("fork")
        self.processes = [context.Process(target=small_process, args=(
            self.counts, host, port, n, self.PROCESSES, self.CONNECTIONS)) for n in range(self.PROCESSES)]
        self.processes.append(context.Process(target=large_process,
                                              args=(self.counts, host, port, small, large)))
        for process in self.processes:
            process.start()

    def finish(self):
        """The faults, as texts."""
        self.counts.stop.set()
        for process in self.processes:
            process.join()
            if process.exitcode != 0:
                self.counts.fault(f"a process of the load ended with {process.exitcode}")
        faults = []
        while not self.counts.faults.empty():
            faults.append(self.counts.faults.get())
        return faults
