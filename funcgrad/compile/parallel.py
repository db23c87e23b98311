"""Loops over large arrays in several threads.

Layer 4½. NumPy's loops let other threads run, so parts of an array can be worked on at once. That
pays from a few hundred thousand elements on.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

import numpy as np

LARGE = 1 << 18  # elements from which two threads are faster than one


@functools.cache
def threads() -> int:
    """How many threads share the work: `OMP_NUM_THREADS` if that is set, else one per core."""
    named = os.environ.get("OMP_NUM_THREADS", "")
    if named.isdigit():
        return max(1, int(named))
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@functools.cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads() - 1, thread_name_prefix="funcgrad")


def in_parts(part: Callable[[int, int], Any], length: int, step: int, elements: int) -> list[Any]:
    """``part(start, stop)`` for ranges that cover `length`, in order; their ends are multiples of
    `step`. `elements`: how much work there is in all."""
    count = threads()
    if count == 1 or elements < LARGE or length < 2 * step:
        return [part(0, length)]
    blocks = -(-length // step)
    each = -(-blocks // count) * step
    ranges = [(a, min(a + each, length)) for a in range(0, length, each)]
    # NumPy's error settings belong to the context, so every thread gets a copy of it.
    waiting = [_pool().submit(copy_context().run, part, a, b) for a, b in ranges[1:]]
    first = part(*ranges[0])
    return [first, *[w.result() for w in waiting]]


def shared(loop: Any, group: Any) -> Callable[..., Any]:
    """A C loop over flat arrays, in parts where several threads pay.

    `loop`: the ufunc of `group`, whose results are arrays of the group's shape, and sums.
    """
    if not group.shape:  # a loop over rows
        return loop
    size = math.prod(group.shape)
    sliced = [v.shape == group.shape for v in group.inputs]
    # A loop with sums has one axis, whatever the arrays have.
    has_sums = len(group.shape) > 1 and any(v.shape != group.shape for v in group.outs)
    if not has_sums and (threads() == 1 or size < LARGE or not any(sliced)):
        return loop
    if not all(s or v.size == 1 for s, v in zip(sliced, group.inputs, strict=True)):
        return loop
    whole = [v.shape == group.shape for v in group.outs]

    def run(*args: Any) -> Any:
        """Of the inputs, and of arrays for the results, or None, if there are any."""
        xs, given = args[: len(sliced)], args[len(sliced) :] or (None,) * len(whole)
        flat = [x.reshape(-1) if s else x for x, s in zip(xs, sliced, strict=True)]
        outs = [
            (np.empty(v.shape, v.dtype) if y is None or not y.flags.c_contiguous else y)
            if w
            else None
            for v, w, y in zip(group.outs, whole, given, strict=True)
        ]
        lines = [None if o is None else o.reshape(-1) for o in outs]

        def part(a: int, b: int) -> Any:
            into = tuple(None if o is None else o[a:b] for o in lines)
            return loop(*[x[a:b] if s else x for x, s in zip(flat, sliced, strict=True)], out=into)

        found = in_parts(part, size, 1 << 12, size)
        if len(outs) == 1:
            return outs[0] if whole[0] else sum(found)
        return tuple(sum(f[k] for f in found) if o is None else o for k, o in enumerate(outs))

    run.takes_outs = True  # type: ignore[attr-defined]
    return run
