"""Random numbers for the distributions, those of the gamma distribution as functions of its shape."""

from __future__ import annotations

from typing import Any

import numpy as np

import compat as torch
from funcgrad.random.gammas import log_gamma_at

from .. import dtypes
from ..autograd.base import tensor
from ..ops import _draw
from ..ops._fused import fused
from ..ops.create import moved
from ..size import device_of


def normal(like: Any, shape: Any) -> Any:
    """Standard normal numbers in the dtype and on the device of `like`."""
    return torch.randn(shape, dtype=like.dtype, device=like.device)


def uniform(like: Any, shape: Any) -> Any:
    """Numbers with ``0 <= x < 1`` in the dtype and on the device of `like`."""
    return torch.rand(shape, dtype=like.dtype, device=like.device)


def drawn(name: str, draw: Any, *parameters: Any, dtype: Any = None) -> Any:
    """``draw(stream, *arrays)`` of the parameters as a constant, in a dtype or in the first one's."""
    like = parameters[0]
    kind = (dtype or like.dtype).numpy

    def converted(source: Any, *arrays: Any) -> Any:
        return np.asarray(draw(source, *arrays)).astype(kind, copy=False)

    array = _draw.numbers(name, None, converted, *[p.detach() for p in parameters])
    return tensor(moved(array, device_of(like._array)))


def places(rows: Any, count: int) -> Any:
    """For each row of probabilities `count` places drawn with them; shape (count, number of rows).

    Raises: RuntimeError: a row has a number that is negative or not finite, or only zeros.
    """

    if not count:
        return torch.empty((0, len(rows)), dtype=dtypes.int64)
    return torch.multinomial(rows.detach(), count, True).t()


def log_standard_gamma(a: Any) -> Any:
    """The logarithm of standard gamma numbers of shape `a`; differentiable.

    For noise that stays, the number moves with `a` so that the probability below it does not.
    In logarithms nothing vanishes for small `a`: ``g(a) = g(a + 1) u**(1/a)`` for uniform `u`.
    """
    dtype, a = a.dtype, a.double()
    more = drawn("standard_gamma", lambda s, shape: s.standard_gamma(shape + 1), a)
    u = 1 - uniform(a, a.shape)
    noise = (more.log() + u.log() / a).detach()
    return fused("StandardGammaBackward0", log_gamma_at, a, noise).to(dtype)


def standard_gamma(a: Any) -> Any:
    """Standard gamma numbers of shape `a`, above 0; differentiable."""
    return log_standard_gamma(a).exp().clamp(min=torch.finfo(a.dtype).tiny)
