"""A table that is larger than one machine: its row r is row r // N of the tensor NAME.n on server n = r % N.

Needs numpy and safetensors. Lookups and updates give the bits that one server with the whole table
gives: a row's updates all go to its server, in their order. Means need not: each server adds up its
own rows, so the sum is made in another order, and FP32 rounds differently. They are equal where
sums are exact, as of small whole numbers; where every bit counts, look the rows up and send them to
one server's sparse_segment_mean.

An update reaches its servers one after the other: a reader may see it on one and not yet on the
next. With a key it may be repeated until all have it; each applies it once.
"""
import urllib.request

import numpy as np
from safetensors.numpy import load, save


class Sharded:
    def __init__(self, name, servers):
        self.name, self.servers = name, servers

    def ask(self, n, path, method="POST", key=None, **arrays):
        headers = {"Content-Type": "application/vnd.safetensors", "Accept": "application/vnd.safetensors"}
        if key:
            headers["Idempotency-Key"] = f'"{key}"'
        body = save({name: np.ascontiguousarray(array) for name, array in arrays.items()})
        request = urllib.request.Request(self.servers[n] + path.format(f"{self.name}.{n}"), body, headers, method=method)
        with urllib.request.urlopen(request) as answer:
            return answer.read()

    def compute(self, *arguments, **arrays):
        return load(self.ask(*arguments, **arrays))["output"]

    def mine(self, rows):
        """For each server: where its rows stand in the request, and their numbers there."""
        for n in range(len(self.servers)):
            at = np.flatnonzero(rows % len(self.servers) == n)
            if len(at):
                yield n, at, (rows[at] // len(self.servers)).astype(np.int64)

    def put(self, table):
        for n in range(len(self.servers)):
            self.ask(n, "/v2/tensors/{}", "PUT", tensor=table[n :: len(self.servers)])

    def lookup(self, rows):
        parts = [(at, self.compute(n, "/v2/models/gather_nd/infer?tensor={}", indices=own[:, None]))
                 for n, at, own in self.mine(rows)]  # fmt: skip
        result = np.empty((len(rows), *parts[0][1].shape[1:]), parts[0][1].dtype)
        for at, found in parts:
            result[at] = found
        return result

    def update(self, rows, updates, key):
        for n, at, own in self.mine(rows):
            self.ask(n, "/v2/models/tensor_scatter_add/infer?tensor={0}&into={0}", key=key,
                     indices=own[:, None], updates=updates[at])  # fmt: skip

    def mean(self, rows, segments, count):
        """segments: of each row, ascending; segments without a row are 0."""
        total = sum(self.compute(n, "/v2/models/sparse_segment_sum/infer?tensor={}", indices=own, segment_ids=segments[at],
                             num_segments=np.array(count, np.int64)) for n, at, own in self.mine(rows))  # fmt: skip
        rows_of = np.maximum(np.bincount(segments, minlength=count), 1).astype(total.dtype)
        return total / rows_of.reshape(-1, *[1] * (total.ndim - 1))
