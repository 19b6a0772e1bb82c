"""HAProxy with docker/haproxy.cfg over three replicas under mixed load: one is drained, one is
killed, one is restarted with a new configuration, and every request is answered, once, and right.
The logs of the replicas say that none is computed twice, but for those that the killed one took
along.

SMALL and LARGE in the environment say how many requests there are at least; `make test-deploy` asks
for 200,000 and 200, the default is a short run.
"""
import collections
import csv
import io
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

from instance import TENSORD, Instance, free_port, skip

try:
    from load import Load
except ImportError as error:
    skip(f"{error.name} is not installed")

CONFIG = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docker/haproxy.cfg")
SMALL, LARGE = int(os.environ.get("SMALL", 4000)), int(os.environ.get("LARGE", 8))
COMPUTED = re.compile(r'"msg":"request","request_id":"(s[0-9]+)".*"op":')
ADDRESSES = ("127.0.0.1", "127.0.0.2", "127.0.0.3")


class Names(threading.Thread):
    """A name server that knows one answer: the addresses of the replicas."""

    def __init__(self):
        super().__init__(daemon=True)
        self.socket = socket.socket(type=socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.socket.getsockname()[1]
        self.start()

    def run(self):
        while True:
            query, client = self.socket.recvfrom(4096)
            end = query.index(b"\0", 12) + 5
            records = b""
            if query[end - 4:end - 2] == b"\0\1":  # type A
                for address in ADDRESSES:
                    records += struct.pack(">HHHIH", 0xC00C, 1, 1, 1, 4) + socket.inet_aton(address)
            count = len(records) // 16
            self.socket.sendto(query[:2] + struct.pack(">HHHHH", 0x8180, 1, count, 0, 0)
                               + query[12:end] + records, client)


class HAProxy:
    def __init__(self, replicas_port):
        self.port, self.stats_port = free_port(), free_port()
        names = Names()
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            ["haproxy", "-db", "-f", CONFIG], stdout=self.log, stderr=self.log,
            env={**os.environ, "LISTEN": f"127.0.0.1:{self.port}", "DNS": names.address,
                 "STATS": f"127.0.0.1:{self.stats_port}", "REPLICAS": f"replicas.test:{replicas_port}"})

    def servers(self):
        """The rows of the replicas in HAProxy's statistics."""
        try:
            text = urllib.request.urlopen(f"http://127.0.0.1:{self.stats_port}/;csv").read().decode()
        except urllib.error.URLError:
            return []
        rows = csv.DictReader(io.StringIO(text.removeprefix("# ")))
        return [row for row in rows if row["pxname"] == "replicas" and row["svname"] != "BACKEND"
                and not row["status"].startswith("MAINT")]

    def up(self):
        return sum(row["status"].startswith("UP") for row in self.servers())

    def wait_up(self, count, seconds=30):
        end = time.monotonic() + seconds
        while self.up() != count:
            if time.monotonic() > end:
                raise RuntimeError(f"{self.up()} replicas are up, not {count}")
            time.sleep(0.05)

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.log.seek(0)
        return self.log.read()


class Fleet:
    """Three replicas, one port, an address each."""

    SETTINGS = ("--drain-delay=2s", "--memory=1G", "--log-buffer=64M")

    def __init__(self):
        self.port = free_port()
        self.computed = collections.Counter()  # small requests by id
        self.replicas = [self.start(i) for i in range(len(ADDRESSES))]

    def start(self, i, *settings):
        return Instance(f"{ADDRESSES[i]}:{self.port}", *self.SETTINGS, *settings)

    def end(self, i):
        """SIGTERM; the faults."""
        with open(self.replicas[i].log_path) as log:
            status = self.replicas[i].drain()
            self.computed.update(COMPUTED.findall(log.read()))
        return [] if status == 0 else [f"replica {i} ended with {status}"]

    def drain(self, i, *settings):
        faults = self.end(i)
        self.replicas[i] = self.start(i, *settings)
        return faults

    def kill(self, i, proxy):
        self.replicas[i].kill()
        proxy.wait_up(len(ADDRESSES) - 1)
        self.replicas[i] = self.start(i)
        return []

    def stop(self):
        faults = [fault for i in range(len(self.replicas)) for fault in self.end(i)]
        twice = [name for name, times in self.computed.items() if times > 1]
        if not self.computed:
            faults.append("the logs tell of no request")
        return faults + ([f"computed twice: {twice[:10]}"] if twice else [])


def shares(proxy, what):
    counts = [sum(int(row[f"hrsp_{n}xx"]) for n in range(1, 6)) for row in proxy.servers()]
    print(f"{what}: answers of each replica {counts}")
    return counts


def disturb(load, fleet, proxy):
    """The events, spread over the run."""
    counts = load.counts
    before = [0]
    for part, what, event in ((0.2, "balance, undisturbed", lambda: []),
                              (0.2, "one drained and started again", lambda: fleet.drain(0)),
                              (0.4, "one killed and started again", lambda: fleet.kill(1, proxy)),
                              (0.6, "one restarted with a new configuration",
                               lambda: fleet.drain(2, "--http-threads=1", "--queue-jobs=64"))):
        while counts.small.value < part * SMALL and not counts.wrong.value:
            time.sleep(0.02)
        for fault in event():
            counts.fault(fault)
        proxy.wait_up(len(ADDRESSES))
        before = shares(proxy, what) if before == [0] else before
        print(f"{what}: {counts.small.value} small and {counts.large.value} large requests so far, "
              f"{counts.wrong.value} wrong")
    while (counts.small.value < SMALL or counts.large.value < LARGE) and not counts.wrong.value:
        time.sleep(0.02)
    if min(before) * 10 < sum(before):
        counts.fault(f"long connections are not balanced: {before}")


def main():
    if not shutil.which("haproxy"):
        skip("haproxy is not installed")
    if not os.path.exists(TENSORD):
        skip(f"there is no {TENSORD}")
    fleet = Fleet()
    proxy = HAProxy(fleet.port)
    proxy.wait_up(len(ADDRESSES))
    start = time.monotonic()
    load = Load("127.0.0.1", proxy.port, SMALL, LARGE)
    try:
        disturb(load, fleet, proxy)
    finally:
        faults = load.finish()
        rows = proxy.servers()
        log = proxy.stop()
        faults += fleet.stop()
    shares_of = {name: sum(int(row[name] or 0) for row in rows) for name in ("wretr", "wredis")}
    counts = load.counts
    print(f"{counts.small.value} small requests over {counts.connections.value} connections and "
          f"{counts.large.value} large ones in {time.monotonic() - start:.0f} s: {counts.wrong.value} lost "
          f"or wrong; HAProxy repeated {shares_of['wretr']}, moved {shares_of['wredis']}; the client "
          f"repeated {counts.repeated.value} large ones; the logs tell of {len(fleet.computed)} small "
          f"ones that were computed")
    for fault in faults:
        print(fault)
    if faults:
        print(log[-4000:])
    return 1 if faults or counts.wrong.value else 0


if __name__ == "__main__":
    sys.exit(main())
