"""HAProxy with docker/haproxy.cfg over three replicas under mixed load: one is drained, one is
killed, one is restarted with a new configuration, and every request is answered, once, and right.
The logs of the replicas say that none is computed twice, but for those that the killed one took
along.

SMALL and LARGE in the environment say how many requests there are at least; `make test-deploy` asks
for 200,000 and 200, the default is a short run.
"""
import collections
import os
import re
import shutil
import sys
import time

from instance import TENSORD, Instance, free_port, skip
from proxy import ADDRESSES, HAProxy

try:
    from load import Load
except ImportError as error:
    skip(f"{error.name} is not installed")

SMALL, LARGE = int(os.environ.get("SMALL", 4000)), int(os.environ.get("LARGE", 8))
COMPUTED = re.compile(r'"msg":"request","request_id":"(s[0-9]+)".*"op":')


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
