"""tests/examples/sharded.py over three servers, beside one server that has the whole table: lookups and
updates are equal to the bit, means where sums are exact, else to a few roundings."""
import os
import sys
import unittest

from instance import Instance, skip

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../examples"))
try:
    import numpy as np
    from sharded import Sharded
except ImportError as e:
    skip(str(e))

SERVERS, ROWS, WIDTH = 3, 1000, 7


class Shards(unittest.TestCase):
    def setUp(self):
        self.instances = [Instance() for _ in range(SERVERS + 1)]
        urls = [f"http://{i.address}" for i in self.instances]
        self.many, self.one = Sharded("emb", urls[:SERVERS]), Sharded("emb", urls[SERVERS:])
        self.random = np.random.default_rng(1)

    def tearDown(self):
        for instance in self.instances:
            instance.drain()

    def both(self, table):
        self.many.put(table)
        self.one.put(table)

    def same_bits(self, a, b):
        self.assertEqual((a.shape, a.dtype, a.tobytes()), (b.shape, b.dtype, b.tobytes()))

    def test_lookups_and_updates(self):
        self.both(self.random.standard_normal((ROWS, WIDTH), np.float32))
        for i in range(20):
            rows = self.random.integers(0, 30 if i % 2 else ROWS, 200)
            updates = self.random.standard_normal((200, WIDTH), np.float32)
            for table in (self.many, self.one):
                table.update(rows, updates, f"u{i}")
                table.update(rows, updates, f"u{i}")  # a repeat under the key changes nothing
            self.same_bits(self.many.lookup(rows), self.one.lookup(rows))
        every = np.arange(ROWS)
        self.same_bits(self.many.lookup(every), self.one.lookup(every))

    def means(self, table):
        self.both(table)
        rows, segments = self.random.integers(0, ROWS, 500), np.sort(self.random.integers(0, 40, 500))
        return [t.mean(rows, segments, 45) for t in (self.many, self.one)]

    def test_means_of_whole_numbers(self):
        self.same_bits(*self.means(self.random.integers(-99, 99, (ROWS, WIDTH)).astype(np.float32)))

    def test_means_of_any_numbers(self):
        many, one = self.means(self.random.standard_normal((ROWS, WIDTH), np.float32))
        np.testing.assert_allclose(many, one, rtol=0, atol=2e-6)
        self.assertTrue(np.any(many != one))  # else the page says too little


if __name__ == "__main__":
    unittest.main()
