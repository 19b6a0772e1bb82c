"""The functions of tests/examples/README.md for Python: `run` for every type and shape of input, and
`run_at_home`, which sends only the rows that are touched and gives the same bits as the whole table."""

import importlib.util
import os
import re
import sys
import tempfile
import unittest

import numpy as np

from support.server import ServerCase

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../examples/README.md")
SCATTERS = [f"tensor_scatter_{name}" for name in ("add", "sub", "mul", "div", "min", "max", "update")]


def ops():
    """The block ops.py of the page, as a module."""
    with open(PAGE) as page:
        source = re.search(r"^```python ops.py\n(.*?)^```$", page.read(), re.M | re.S)[1]
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(source)
        file.flush()
        spec = importlib.util.spec_from_file_location("ops", file.name)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


class Ops(ServerCase, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.ops = ops()
        cls.ops.SERVER = f"http://{cls.server.address}"

    def test_updates_become_of_the_tables_type(self):
        for dtype in (np.float32, np.float64, np.float16, np.int8, np.int32, np.int64, np.uint8):
            output = self.ops.run("tensor_scatter_add", tensor=np.zeros(3, dtype), indices=[[1]], updates=[7])
            self.assertEqual(output.dtype, dtype)
            self.assertEqual(output.tolist(), [0, 7, 0])

    def test_a_type_that_would_lose_is_refused(self):
        for dtype, update in ((np.int32, 1.5), (np.int8, 300), (np.uint8, -1), (np.int64, np.inf)):
            with np.errstate(invalid="ignore"), self.assertRaisesRegex(ValueError, "updates do not fit into"):
                self.ops.run("tensor_scatter_add", tensor=np.zeros(3, dtype), indices=[[1]], updates=[update])

    def test_operations_without_a_table(self):
        data = np.float32([[1, 2], [3, 4], [5, 6]])
        self.assertEqual(self.ops.run("gather_nd", params=data, indices=[[2], [0]]).tolist(), [[5, 6], [1, 2]])
        self.assertEqual(self.ops.run("scatter_nd", indices=[[1]], updates=np.float32([9]), shape=[3]).tolist(), [0, 9, 0])
        self.assertEqual(self.ops.run("gather", params=data, indices=[2, 0]).tolist(), [[5, 6], [1, 2]])
        self.assertEqual(
            self.ops.run("UnsortedSegmentMax", data=data, segment_ids=[1, -1, 1], num_segments=2).tolist()[1], [5, 6]
        )
        self.assertEqual(self.ops.run("sparse_segment_mean", data=data, indices=[0, 2], segment_ids=[0, 0]).tolist(), [[3, 4]])

    def test_arrays_that_are_not_contiguous(self):
        table = np.arange(12, dtype=np.float32).reshape(3, 4).T[::2]
        output = self.ops.run("tensor_scatter_update", tensor=table, indices=[[1]], updates=[[7, 8, 9]])
        self.assertEqual(output.tolist(), [table[0].tolist(), [7, 8, 9]])

    def test_the_servers_sentence_is_raised(self):
        with self.assertRaisesRegex(ValueError, r"^INDEX_OUT_OF_BOUNDS: indices\[0\] = \[5\] is out of bounds"):
            self.ops.run("tensor_scatter_add", tensor=np.zeros(3), indices=[[5]], updates=[1])
        with self.assertRaisesRegex(ValueError, "^MODEL_NOT_FOUND: "):
            self.ops.run("no_such", data=np.zeros(3))

    def test_the_touched_rows_alone_give_the_bits_of_the_whole(self):
        random = np.random.default_rng(11)
        for op in SCATTERS:
            for shape, depth in (((1000,), 1), ((1000, 3), 1), ((200, 5, 2), 2), ((50, 4), 2)):
                for count in (0, 1, 40):
                    table = random.standard_normal(shape).astype(np.float32)
                    indices = np.stack([random.integers(0, min(size, 30), count) for size in shape[:depth]], -1)
                    updates = random.standard_normal((count, *shape[depth:])) + 3
                    whole = self.ops.run(op, tensor=table, indices=indices, updates=updates)
                    self.ops.run_at_home(op, table, indices, updates)
                    self.assertEqual(table.tobytes(), whole.tobytes(), (op, shape, count))

    def test_the_touched_rows_must_be_there(self):
        for index in (-1, 3):
            table = np.zeros((3, 2), np.float32)
            with self.assertRaises(IndexError):
                self.ops.run_at_home("tensor_scatter_add", table, [[0], [index]], np.ones((2, 2)))
            self.assertFalse(table.any())


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main()
