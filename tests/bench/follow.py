"""bench-follow: how far tensord-follow is behind a stream of updates, and how fast it catches up, on
a table of 25.6 MB, over a Redis that writes each entry to disk. Times only mean something beside each other."""

import os
import statistics
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "follow"))
from support.rig import Follower, Redis, Rig, Server, need_all, wait_until  # noqa: E402

RATE, SECONDS, BACKLOG = 1000, 8, 5000
ROWS, WIDTH = 100000, 64
ADD = "/v2/models/tensor_scatter_add/infer?tensor=t&into=t"
ONE_ROW = '{"inputs": {"indices": [[7]], "updates": [[%s]]}}' % ",".join(["1"] * WIDTH)


def add_steadily(redis, samples):
    """RATE entries a second; what the follower was behind meanwhile, in `samples`."""
    start = time.monotonic()
    for i in range(RATE * SECONDS):
        redis.add(ADD, ONE_ROW)
        time.sleep(max(0, start + (i + 1) / RATE - time.monotonic()))
    samples.append(None)
    return RATE * SECONDS / (time.monotonic() - start)


def watch(follower, samples):
    while None not in samples:
        samples.insert(0, follower.metrics()["lag_seconds"])
        time.sleep(0.05)


def main():
    rig = Rig()
    try:
        redis = rig.start(Redis(rig.folder))
        server = rig.start(Server(rig.folder, "server"))
        follower = rig.start(Follower(rig.folder, "follower", server, redis))
        follower.reaches(redis.add("/v2/tensors/t", '{"datatype": "FP32", "shape": [%d, %d]}' % (ROWS, WIDTH), "PUT",
                                   content_type="application/json"))  # fmt: skip
        samples = []
        watcher = threading.Thread(target=watch, args=(follower, samples))
        watcher.start()
        rate = add_steadily(redis, samples)
        watcher.join()
        lags = [lag for lag in samples if lag is not None]
        wait_until(lambda: server.version("t") == RATE * SECONDS + 1, "all is applied")
        print(f"at {rate:.0f} updates/s for {SECONDS} s: behind by {statistics.median(lags) * 1e3:.1f} ms (median of "
              f"{len(lags)} looks), at most {max(lags) * 1e3:.1f} ms")  # fmt: skip
        follower.stop()
        last = [redis.add(ADD, ONE_ROW) for _ in range(BACKLOG)][-1]
        start = time.monotonic()
        follower.start()
        follower.reaches(last)
        print(f"{BACKLOG} entries that waited: {BACKLOG / (time.monotonic() - start):.0f} entries/s, its start included")
    finally:
        rig.close()


need_all()
main()
