"""HAProxy with docker/haproxy.cfg, and the name server that it asks, for the tests of this folder."""
import csv
import io
import os
import socket
import struct
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

from instance import free_port

CONFIG = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docker/haproxy.cfg")
ADDRESSES = ("127.0.0.1", "127.0.0.2", "127.0.0.3")  # of the replicas, and of the first nodes
REPLICAS, NODES, DOMAIN = "replicas.test", "node-", ".test"
NO_SUCH_NAME = 3


def node_address(i):
    return f"127.0.0.{i + 1}"


def names_of(nodes):
    """What the name server knows: the replicas by one name, each node by its own."""
    return {REPLICAS: ADDRESSES} | {f"{NODES}{i}{DOMAIN}": (node_address(i),) for i in range(nodes)}


class Names(threading.Thread):
    """A name server of the addresses of each name, which may change."""

    def __init__(self, known):
        super().__init__(daemon=True)
        self.known = known
        self.socket = socket.socket(type=socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.socket.getsockname()[1]
        self.start()

    def run(self):
        while True:
            query, client = self.socket.recvfrom(4096)
            end = query.index(b"\0", 12) + 5
            labels, at = [], 12
            while query[at]:
                labels.append(query[at + 1:at + 1 + query[at]].decode())
                at += 1 + query[at]
            found = self.known.get(".".join(labels))
            records = [struct.pack(">HHHIH", 0xC00C, 1, 1, 1, 4) + socket.inet_aton(address)
                       for address in found or () if query[end - 4:end - 2] == b"\0\1"]  # type A
            self.socket.sendto(query[:2] + struct.pack(">HHHHH", 0x8180 | (0 if found else NO_SUCH_NAME), 1,
                                                       len(records), 0, 0)
                               + query[12:end] + b"".join(records), client)


class HAProxy:
    """In front of replicas, and of so many nodes if there are any; all on one port."""

    def __init__(self, port, nodes=0):
        self.port, self.stats_port = free_port(), free_port()
        self.names = Names(names_of(nodes))
        self.log = tempfile.TemporaryFile("w+")
        places = {"NODES": NODES, "DOMAIN": f"{DOMAIN}:{port}"} if nodes else {}
        self.process = subprocess.Popen(
            ["haproxy", "-db", "-f", CONFIG], stdout=self.log, stderr=self.log,
            env={**os.environ, "LISTEN": f"127.0.0.1:{self.port}", "DNS": self.names.address,
                 "STATS": f"127.0.0.1:{self.stats_port}", "REPLICAS": f"{REPLICAS}:{port}", **places})

    def servers(self, backend="replicas"):
        """The rows of a backend's servers in HAProxy's statistics."""
        try:
            text = urllib.request.urlopen(f"http://127.0.0.1:{self.stats_port}/;csv").read().decode()
        except urllib.error.URLError:
            return []
        rows = csv.DictReader(io.StringIO(text.removeprefix("# ")))
        return [row for row in rows if row["pxname"] == backend and row["svname"] != "BACKEND"
                and not row["status"].startswith("MAINT")]

    def up(self, backend="replicas"):
        return sum(row["status"].startswith("UP") for row in self.servers(backend))

    def wait_up(self, count, backend="replicas", seconds=30):
        end = time.monotonic() + seconds
        while self.up(backend) != count:
            if time.monotonic() > end:
                raise RuntimeError(f"{self.up(backend)} {backend} are up, not {count}")
            time.sleep(0.05)

    def stop(self):
        self.process.terminate()
        self.process.wait()
        with self.log:
            self.log.seek(0)
            return self.log.read()
