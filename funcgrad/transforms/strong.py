"""Strong zeros: a cotangent that is exactly zero stays zero through a singular derivative."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ..algebra import scaling
from ..ops.arithmetic import zero_preserving_multiply


@contextlib.contextmanager
def strong_zeros() -> Iterator[None]:
    """Within this context, ``0 * inf`` and ``0 * nan`` in derivatives of elementwise functions are 0.

    Makes ``where(x < 1, x, sqrt(x))`` differentiate to 1 at 0, where the plain rules give nan
    because the branch not taken has an infinite derivative there. Also a decorator.

    >>> import funcgrad, funcgrad.numpy as fnp, numpy as np
    >>> f = lambda x: fnp.where(x < 1, x, fnp.sqrt(x))
    >>> with np.errstate(divide="ignore"):
    ...     float(funcgrad.grad(f, strong_zeros=True)(0.0))
    1.0
    """
    token = scaling.set(zero_preserving_multiply)
    try:
        yield
    finally:
        scaling.reset(token)
