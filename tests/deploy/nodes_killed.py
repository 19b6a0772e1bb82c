"""Three nodes on one folder, behind HAProxy and under load: one is killed, one comes back, one is added,
one is stopped for longer than its lease and goes on. Reads that are lost were in flight on the killed
node; none is older than a version that was acknowledged and in a snapshot; every write is in the tables
once."""
import array
import collections
import http.client
import json
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
import unittest

from instance import skip
from nodes import Client, Nodes
from proxy import HAProxy, names_of

NAMES = [f"table-{i}" for i in range(9)]
WRITES = 4096  # of a name at most: an element each
READERS = 3
LEASE_S = 1
SAVE_EVERY = 20


class Table:
    """One name: what was acknowledged of it. Its writer alone changes this, readers look."""

    def __init__(self, name):
        self.name = name
        self.sent = 0      # writes [0, sent) were acknowledged
        self.saved = []    # those of them that are in a snapshot that was acknowledged
        self.tag = None    # the last acknowledged (generation, epoch), version


def split_tag(etag):
    generation, epoch, version = etag.strip('"').split("-")
    return (generation, epoch), int(version)


class Load:
    """A writer for each table, and readers of any, until `stop`."""

    def __init__(self, address):
        self.address, self.tables = address, [Table(name) for name in NAMES]
        self.counts, self.faults, self.lost = collections.Counter(), [], []
        self.lock, self.is_over = threading.Lock(), threading.Event()
        for table in self.tables:
            self.put(table)
        self.threads = [threading.Thread(target=self.run, args=(self.write_on, t)) for t in self.tables]
        self.threads += [threading.Thread(target=self.run, args=(self.read_on, i)) for i in range(READERS)]
        for thread in self.threads:
            thread.start()

    def run(self, work, what):
        client = Client(self.address)
        try:
            work(client, what)
        except Exception as e:
            self.faults.append(repr(e))
        client.close()

    def stop(self):
        self.is_over.set()
        for thread in self.threads:
            thread.join()

    def count(self, what):
        with self.lock:
            self.counts[what] += 1

    def repeat(self, client, what, *request, **headers):
        """Asks until the answer is none that says to ask again: (headers, body)"""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                status, answered, body = client.ask(*request, **headers)
            except (OSError, http.client.HTTPException):
                status, body = 0, b""
            if status in (200, 201):
                return answered, body
            if status not in (0, 429, 502, 503, 504):
                raise AssertionError(f"{request[:2]}: {status}, {body}")
            self.count(f"{what} repeated after {status or 'a cut'}")
            time.sleep(random.uniform(0.01, 0.05))
        raise AssertionError(f"{request[:2]}: still {status} after a minute, {body[:300]}")

    def write(self, client, table, serial):
        target = f"/v2/models/tensor_scatter_add/infer?tensor={table.name}&into={table.name}"
        body = json.dumps({"inputs": {"indices": [[serial]], "updates": [1]}})
        return self.repeat(client, "write", "POST", target, body, Idempotency_Key=f"{table.name}-{serial}")[0]

    def put(self, table):
        client = Client(self.address)
        body = json.dumps({"datatype": "FP32", "shape": [WRITES], "data": [0] * WRITES})
        self.repeat(client, "put", "PUT", f"/v2/tensors/{table.name}", body, Idempotency_Key="first")
        self.repeat(client, "snapshot", "POST", f"/v2/tensors/{table.name}/snapshot")
        client.close()

    def write_on(self, client, table):
        """Writes, and now and then a snapshot, which keeps those of them that came after the last one
        unless the table has begun anew from its file since: then it has another epoch."""
        fresh, epoch = [], None
        while not self.is_over.is_set() and table.sent < WRITES:
            now, version = split_tag(self.write(client, table, table.sent)["ETag"])
            if now != epoch:
                fresh, epoch = [], now
            fresh.append(table.sent)
            table.tag = now, version
            table.sent += 1
            self.count("writes")
            if len(fresh) == SAVE_EVERY:
                headers, _ = self.repeat(client, "snapshot", "POST", f"/v2/tensors/{table.name}/snapshot")
                if split_tag(headers["ETag"])[0] == epoch:
                    table.saved = table.saved + fresh
                fresh = []

    def read_on(self, client, seed):
        choose = random.Random(seed)
        while not self.is_over.is_set():
            self.read(client, choose.choice(self.tables))

    def read(self, client, table):
        saved, tag, started = table.saved, table.tag, time.monotonic()
        try:
            status, headers, body = client.ask("GET", f"/v2/tensors/{table.name}/data", Accept="application/octet-stream")
        except (OSError, http.client.HTTPException):
            status = 0
        if status != 200:
            self.failed_read(status, started, table, body if status else b"")
            return
        self.count("reads")
        epoch, version = split_tag(headers["ETag"])
        values = array.array("f", body)
        if max(values) > 1:
            self.faults.append(f"{table.name}: a write was applied twice")
        if not all(values[i] == 1 for i in saved):
            self.faults.append(f"{table.name}: a read lacks what was acknowledged and in a snapshot")
        if tag and epoch == tag[0] and version < tag[1]:
            self.faults.append(f"{table.name}: version {version} was read after {tag[1]} of the same epoch")
        if tag and epoch != tag[0]:
            self.count("reads of another epoch than the last acknowledged one")

    def values(self, client, table):
        return array.array("f", self.repeat(client, "read", "GET", f"/v2/tensors/{table.name}/data",
                                            Accept="application/octet-stream")[1])

    def failed_read(self, status, started, table, body):
        if status == 503:
            self.count("reads told to come again")
            time.sleep(0.02)
        elif status in (0, 502):
            self.lost.append((started, time.monotonic()))
        else:
            self.faults.append(f"{table.name}: a read was answered {status}, {body[:300]}")


class Killed(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.nodes = Nodes(3, f"--tensor-dir={self.folder.name}", "--tensor-load=first_use", "--tensor-share=true",
                           f"--tensor-lease={LEASE_S}s", f"--tensor-keys={2 * WRITES}", "--drain-delay=1s")
        self.killed_at = []

    def tearDown(self):
        self.nodes.stop()
        self.folder.cleanup()

    def kill(self, i):
        self.killed_at.append(time.monotonic())
        self.nodes.running.pop(i).kill()

    def pause(self, i):
        process = self.nodes.running[i].process
        process.send_signal(signal.SIGSTOP)
        time.sleep(3 * LEASE_S)
        process.send_signal(signal.SIGCONT)

    def check(self, load):
        """Every write sent again is in its table once."""
        client = Client(load.address)
        lost = 0
        for table in load.tables:
            lost += table.sent - round(sum(load.values(client, table)))
            for serial in range(table.sent):
                load.write(client, table, serial)
            values = load.values(client, table)
            self.assertEqual(set(values[:table.sent]), {1.0}, table.name)
            self.assertEqual(set(values[table.sent:]), {0.0}, table.name)
        client.close()
        print(", ".join(f"{n} {what}" for what, n in sorted(load.counts.items())))
        print(f"{lost} acknowledged writes were lost with a node and came again; {len(load.lost)} reads were cut")
        self.assertEqual(load.faults, [])
        self.assertTrue(all(table.saved for table in load.tables), "a table had no snapshot to be held against")

    def test_behind_haproxy(self):
        proxy = HAProxy(self.nodes.port, 3)
        self.addCleanup(proxy.stop)
        proxy.wait_up(3, "nodes")
        load = Load(f"127.0.0.1:{proxy.port}")
        try:
            time.sleep(2)
            self.kill(1)
            time.sleep(4)
            self.nodes.start(1)
            time.sleep(3)
            self.nodes.start(3)
            proxy.names.known = names_of(4)
            proxy.wait_up(4, "nodes")
            time.sleep(3)
            self.pause(2)
            time.sleep(3)
            self.nodes.end(0)
            time.sleep(2)
        finally:
            load.stop()
        self.check(load)
        for started, ended in load.lost:
            self.assertTrue(any(started <= at + 0.1 and ended >= at for at in self.killed_at), "a read was lost without a kill")


if __name__ == "__main__":
    if not shutil.which("haproxy"):
        skip("haproxy is not installed")
    sys.exit(unittest.main())
