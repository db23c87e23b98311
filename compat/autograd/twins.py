"""`detach()`: the same memory with another derivative, which inside a transform takes more than that.

A traced value is its numbers and their derivative, so a detached tensor has a traced value of its
own. NOTE [Twins] Tensors that share memory but no traced value are *twins*, found by their counter of
writes, which they share. What is written into one of them goes to the others as numbers: their
derivatives stay what they were, as PyTorch's do.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from funcgrad.core import Tracer
from funcgrad.ops.index import follow
from funcgrad.ops.select import stop_gradient
from funcgrad.views import View as TracedView
from funcgrad.views import snapshot

from . import views
from .base import UNCOUNTED, TensorBase, View, hold, tensor
from .cutting import stop


class Twins(NamedTuple):
    """Bases that share memory, and the counter of writes into it."""

    counter: list[Any]
    bases: list[Callable[[], Any]]


def detached(x: TensorBase, level: Any) -> Any:
    """The same numbers in the same memory, without a derivative by anything inside `level`, if any."""
    if level is None or x._counter is UNCOUNTED:
        return _outside(x)
    views.edge(x)  # which brings a view up to date
    view = x._view
    if view is None:
        out = _copy(x)
        _join(level, x, weakref.ref(x), weakref.ref(out))
        return out
    base = views.base_of(view)
    hidden = _copy(base)
    _join(level, x, weakref.ref(base), weakref.ref(hidden))
    is_plain = x._array.__class__ is np.ndarray and hidden._array.__class__ is np.ndarray
    out = tensor(x._array if is_plain else follow(hidden._array, view.chain))
    out._counter = x._counter
    out._view = View(hidden, view.chain, x._counter[0], view.origin)
    return out


def _outside(x: TensorBase) -> Any:
    array = x._array
    if isinstance(array, Tracer):
        views.edge(x)  # which brings a view up to date
        array = stop_gradient(x._array)
    out = tensor(array)
    out._counter = x._counter
    if x._view is not None or x._memory is not None:
        out._memory = views.memory_of(x)
    return out


def detach(x: TensorBase, level: Any) -> None:
    """Take the derivative away from `x`, which is no view; views of it that there are keep it."""
    before = tensor(x._array)
    before._counter = x._counter
    x._array = stop(snapshot(x._array, copy=False))
    hold(x)
    _join(level, x, weakref.ref(x), lambda: before)


def _copy(x: TensorBase) -> Any:
    out = tensor(stop(x._array))
    out._counter = x._counter
    return out


def _join(level: Any, x: TensorBase, *bases: Callable[[], Any]) -> None:
    found = level.outermost.twins.setdefault(id(x._counter), Twins(x._counter, []))
    known = [base() for base in found.bases]
    found.bases.extend(base for base in bases if all(base() is not k for k in known))


def spread(x: TensorBase, level: Any) -> None:
    """Write what is in the memory of `x` now into its twins."""
    found = level.outermost.twins.get(id(x._counter))
    if found is None:
        return
    array = x._array
    if isinstance(array, Tracer) and isinstance(array.alias, TracedView):
        array = array.alias.base
    elif x._view is not None:
        array = views.base_of(x._view)._array
    found.bases[:] = [base for base in found.bases if base() is not None]
    for twin in [base() for base in found.bases]:
        if twin._array is not array and not _is_shared(twin._array, array):
            views.store_numbers(twin, stop(array))


def _is_shared(a: Any, b: Any) -> bool:
    return a.__class__ is b.__class__ is np.ndarray and np.may_share_memory(a, b)
