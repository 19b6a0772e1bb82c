"""One stream, two followers, two servers, all of which are killed at random times, Redis with them:
in the end both tables are the model's, to the bit, at equal versions. CHAOS_UPDATES (400) updates,
CHAOS_SEED (1): the same kills between the same updates, whose moment is the machine's."""

import concurrent.futures
import json
import os
import random
import struct
import threading
import time
import unittest

from support.rig import FOLLOWERS, PATIENCE, Follower, Redis, Rig, Server, need_all, wait_until

UPDATES = int(os.environ.get("CHAOS_UPDATES", "400"))
SEED = int(os.environ.get("CHAOS_SEED", "1"))
KILLS = int(os.environ.get("CHAOS_KILLS", "16"))
ROWS, WIDTH, EACH = 50, 4, 3
ADD = "/v2/models/tensor_scatter_add/infer?tensor=t&into=t"


def as_float(value):
    """Rounded to FP32."""
    return struct.unpack("<f", struct.pack("<f", value))[0]


class Model:
    """The table as the updates make it. A sum of two FP32 in FP64, rounded, is the sum in FP32."""

    def __init__(self, chance):
        self.table = [[as_float(chance.uniform(-1, 1)) for _ in range(WIDTH)] for _ in range(ROWS)]

    def bytes(self):
        return b"".join(struct.pack(f"<{WIDTH}f", *row) for row in self.table)

    def update(self, chance):
        """One update, with rows that repeat, as a request; it is applied here too."""
        rows = [chance.randrange(ROWS) for _ in range(EACH)]
        updates = [[as_float(chance.uniform(-1, 1)) for _ in range(WIDTH)] for _ in rows]
        for row, update in zip(rows, updates):
            self.table[row] = [as_float(a + b) for a, b in zip(self.table[row], update)]
        head = json.dumps(
            {"inputs": [
                {"name": "indices", "datatype": "INT32", "shape": [EACH, 1], "parameters": {"binary_data_size": EACH * 4}},
                {"name": "updates", "datatype": "FP32", "shape": [EACH, WIDTH], "parameters": {"binary_data_size": EACH * WIDTH * 4}},
             ], "parameters": {"bad_indices_policy": "ERROR"}}
        ).encode()  # fmt: skip
        body = head + struct.pack(f"<{EACH}i", *rows)
        return body + b"".join(struct.pack(f"<{WIDTH}f", *u) for u in updates), len(head)


class Chaos(unittest.TestCase):
    def settings(self, name):
        """Of a server whose folder, if it has one, is `name`."""
        return []

    def end(self, process, chance):
        process.kill()

    def check(self, process):
        """After it was started again."""

    def setUp(self):
        self.rig = Rig()
        self.addCleanup(self.rig.close)
        folder = self.rig.folder
        self.redis = self.rig.start(Redis(folder))
        self.servers = [self.rig.start(Server(folder, f"server{i}", *self.settings(f"kept{i}"))) for i in range(2)]
        self.followers = [
            self.rig.start(Follower(folder, f"follower{i}", s, self.redis, program=FOLLOWERS[i % len(FOLLOWERS)]))
            for i, s in enumerate(self.servers)
        ]  # fmt: skip
        self.killed = dict.fromkeys(["redis", "server0", "server1", "follower0", "follower1"], 0)
        self.over = threading.Event()

    def add(self, *arguments, **fields):
        """Until Redis says that the entry is there: under an id of our own, a repeat adds none."""
        id = self.redis.next_id()
        while True:
            try:
                # "error": the id is not above the last one, so the entry is there. Or Redis loads.
                if self.redis.add(*arguments, id=id, **fields) != "error":
                    return
                if self.redis.ask("XRANGE", "updates", id, id) not in ("error", []):
                    return
            except OSError:
                time.sleep(0.02)

    def kill_one(self, chance):
        process = chance.choice([self.redis, *self.servers, *self.followers])
        self.end(process, chance)
        self.killed[process.name] += 1
        time.sleep(chance.random() * 0.05)
        process.start()
        self.check(process)

    def killer(self, chance):
        try:
            for _ in range(KILLS):
                time.sleep(0.05 + chance.random() * 0.3)
                self.kill_one(chance)
        finally:
            self.over.set()

    def fill(self, model, chance):
        for i in range(UPDATES):
            body, head = model.update(chance)
            self.add(ADD, body, inference_header_content_length=head)
            if not self.over.is_set() and i % 8 == 0:
                time.sleep(0.1 if UPDATES <= 1000 else 0)

    def is_done(self, server, follower):
        self.assertIsNone(follower.process.poll(), follower.text())
        return server.version("t") == UPDATES + 1

    def test_both_tables_are_the_model(self):
        chance = random.Random(SEED)
        model = Model(chance)
        start = time.monotonic()
        self.add(f"/v2/tensors/t?datatype=FP32&shape={ROWS},{WIDTH}", model.bytes(), "PUT")
        with concurrent.futures.ThreadPoolExecutor(1) as threads:
            killer = threads.submit(self.killer, random.Random(SEED + 1))
            self.fill(model, chance)
            killer.result()
        for server, follower in zip(self.servers, self.followers):
            wait_until(lambda s=server, f=follower: self.is_done(s, f), "all is applied", PATIENCE + UPDATES / 100)
        tables = [server.data("t") for server in self.servers]
        self.assertEqual(tables[0], tables[1])
        self.assertEqual(tables[0], model.bytes())
        self.redis.client.close()  # Redis may have been killed after the last update
        self.assertEqual(self.redis.ask("XLEN", "updates"), UPDATES + 1)
        for follower in self.followers:
            self.assertEqual(follower.metrics()["rejected_total"], 0, follower.text())
            self.assertEqual(follower.stop(), 0, follower.text())
        print(f"{UPDATES} updates in {time.monotonic() - start:.1f} s, killed: {self.killed}")


class ChaosWithFiles(Chaos):
    """The servers keep their table in files: some are told to end, some are killed in a snapshot."""

    def settings(self, name):
        folder = os.path.join(self.rig.folder, name)
        os.makedirs(folder)
        return [f"--tensor_dir={folder}", "--snapshot_interval=50ms"]

    def check(self, process):
        """Over all tensors a server never is ahead of its table, which every update writes."""
        if process in self.servers:
            all, table = (process.position(path) for path in ("/v2/tensors", "/v2/tensors/t"))
            self.assertLessEqual(all, table)

    def end(self, process, chance):
        if process in self.servers and chance.random() < 0.5:
            self.assertEqual(process.stop(), 0, process.text())
        else:
            process.kill()


if __name__ == "__main__":
    need_all()
    unittest.main()
