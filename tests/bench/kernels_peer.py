"""PyTorch and JAX on the cells of the kernels' benchmark, driven by kernels_peer.c.

Reads lines from standard input and answers each by one line:
    load FOLDER KIND DTYPE N DEPTH DIM0 DIM1 WIDTH SEGMENTS IN_PLACE -> loaded
    run NAME                                                         -> milliseconds
Each library computes a cell in several forms; the fastest one is used.
"""
import os
import sys
import time
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import torch

TYPES = {"FP32": np.float32, "FP64": np.float64, "INT64": np.int64, "FP16": np.float16,
         "BF16": jnp.bfloat16}


class Cell:
    """A cell's inputs as NumPy arrays, its indices flattened to rows of a table of two dimensions."""

    def __init__(self, folder, kind, dtype, n, depth, dim0, dim1, width, segments, in_place):
        n, depth, dim0, dim1 = int(n), int(depth), int(dim0), int(dim1)
        self.kind, self.in_place = kind, in_place == "1"
        self.segments, self.rows, self.width = int(segments), dim0 * dim1, int(width)
        read = lambda name, kind: np.fromfile(os.path.join(folder, name), kind)
        self.table = read("table", TYPES[dtype]).reshape(self.rows, self.width)
        self.values = read("values", TYPES[dtype]).reshape(n, self.width)
        indices = read("indices", np.int32).reshape(n, depth)
        self.indices = indices[:, 0] if depth == 1 else indices[:, 0] * dim1 + indices[:, 1]
        self.ids = read("ids", np.int32)
        if self.width == 1:
            self.table, self.values = self.table[:, 0], self.values[:, 0]


REDUCTIONS = {"segment_sum": "sum", "unsorted_sum": "sum", "unsorted_max": "amax", "unsorted_mean": "mean"}


def torch_segments(cell, values, ids):
    """The values folded by ids."""
    reduction = REDUCTIONS[cell.kind]
    out = torch.empty((cell.rows, *values.shape[1:]), dtype=values.dtype)
    spread = ids if values.ndim == 1 else ids[:, None].expand_as(values)
    forms = [lambda: out.zero_().scatter_reduce_(0, spread, values, reduction, include_self=False)]
    if reduction == "sum":
        forms.append(lambda: out.zero_().index_add_(0, ids, values))
    else:
        forms.append(lambda: out.zero_().index_reduce_(0, ids, values, reduction, include_self=False))
    if cell.kind == "segment_sum":
        lengths = torch.from_numpy(np.bincount(cell.indices, minlength=cell.rows))
        forms.append(lambda: torch.segment_reduce(values, "sum", lengths=lengths))
    return forms


def jax_segments(cell, values, ids, wait):
    fold = jax.ops.segment_max if cell.kind == "unsorted_max" else jax.ops.segment_sum

    def whole(values, ids, ordered):
        result = fold(values, ids, cell.rows, indices_are_sorted=ordered)
        if cell.kind != "unsorted_mean":
            return result
        count = jnp.maximum(jax.ops.segment_sum(jnp.ones_like(ids), ids, cell.rows), 1)
        return result / (count if values.ndim == 1 else count[:, None])

    return [wait(jax.jit(lambda v, i, o=ordered: whole(v, i, o)), values, ids)
            for ordered in ((False, True) if cell.kind == "segment_sum" else (False,))]


def torch_forms(cell):
    """The cell as functions without arguments."""
    tensor = lambda a: (torch.from_numpy(a.view(np.uint16)).view(torch.bfloat16)
                        if a.dtype == jnp.bfloat16 else torch.from_numpy(a))
    table, values = tensor(cell.table), tensor(cell.values)
    indices = torch.from_numpy(cell.indices)
    wide = indices.long()
    if cell.kind == "gather":
        out = torch.empty_like(values)
        return [lambda: torch.index_select(table, 0, indices, out=out), lambda: table[wide],
                lambda: torch.nn.functional.embedding(wide, table)]
    if cell.kind == "mean":
        starts = torch.from_numpy(np.searchsorted(cell.ids, np.arange(cell.segments), "left")
                                  .astype(np.int32))
        return [lambda: torch.nn.functional.embedding_bag(indices, table, starts, mode="mean")]
    if cell.kind in REDUCTIONS:
        return torch_segments(cell, values, wide)
    if cell.in_place:
        start = lambda: table
    else:
        out = torch.empty_like(table)
        start = out.zero_ if cell.kind == "scatter_nd" else lambda: out.copy_(table)
    forms = [lambda: start().index_add_(0, indices, values),
             lambda: start().index_put_((wide,), values, accumulate=True)]
    if cell.width == 1:
        forms.append(lambda: start().scatter_add_(0, wide, values))
    return forms


def jax_forms(cell):
    table, values = jnp.asarray(cell.table), jnp.asarray(cell.values)
    indices, ids = jnp.asarray(cell.indices), jnp.asarray(cell.ids)
    wait = lambda function, *inputs: lambda: function(*inputs).block_until_ready()
    if cell.kind == "gather":
        return [wait(jax.jit(lambda t, i: jnp.take(t, i, axis=0)), table, indices),
                wait(jax.jit(lambda t, i: t[i]), table, indices)]
    if cell.kind == "mean":
        count = jnp.asarray(np.bincount(cell.ids, minlength=cell.segments).astype(np.float32))
        mean = lambda t, i, s, c, ordered: jax.ops.segment_sum(
            t[i], s, cell.segments, indices_are_sorted=ordered) / c[:, None]
        return [wait(jax.jit(lambda t, i, s, c, o=ordered: mean(t, i, s, c, o)),
                     table, indices, ids, count) for ordered in (False, True)]
    if cell.kind in REDUCTIONS:
        return jax_segments(cell, values, indices, wait)
    start = jnp.zeros_like if cell.kind == "scatter_nd" else lambda t: t
    add = lambda t, i, u: start(t).at[i].add(u, mode="promise_in_bounds")
    if not cell.in_place:
        return [wait(jax.jit(add), table, indices, values)]
    given = jax.jit(add, donate_argnums=0)
    held = [table]

    def in_place():
        held[0] = given(held[0], indices, values)
        held[0].block_until_ready()

    return [in_place]


def milliseconds(form):
    start = time.perf_counter()
    form()
    return (time.perf_counter() - start) * 1e3


def fastest(forms, set_threads=None):
    """The form, and the number of threads where the library lets choose, of the least time."""
    best, best_ms = None, float("inf")
    for threads in (os.cpu_count(), 1) if set_threads else (None,):
        for form in forms:
            def run(form=form, threads=threads):
                if set_threads:
                    set_threads(threads)
                return milliseconds(form)
            run()
            ms = min(run() for _ in range(3))
            if ms < best_ms:
                best, best_ms = run, ms
    return best


def main():
    warnings.simplefilter("ignore", UserWarning)  # of what PyTorch calls beta
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    answer = lambda text: print(text, flush=True)
    answer("torch jax")
    runs = {}
    for line in sys.stdin:
        verb, *words = line.split()
        if verb == "load":
            cell = Cell(*words)
            runs = {"torch": fastest(torch_forms(cell), torch.set_num_threads),
                    "jax": fastest(jax_forms(cell))}
            answer("loaded")
        else:
            answer(f"{runs[words[0]]():.6f}")


main()
