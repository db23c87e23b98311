"""Numbers of the gamma distribution, as functions of its shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.random.gammas import log_gamma_at

from .. import dtypes
from ..autograd.base import tensor
from ..size import device_of
from . import _draw
from ._fused import fused
from .create import moved
from .random import rand

__all__ = ["_standard_gamma"]


def drawn(name: str, draw: Any, *parameters: Any, dtype: Any = None, generator: Any = None) -> Any:
    """``draw(stream, *arrays)`` of the parameters as a constant, in a dtype or in the first one's."""
    like = parameters[0]
    kind = (dtype or like.dtype).numpy

    def converted(source: Any, *arrays: Any) -> Any:
        return np.asarray(draw(source, *arrays)).astype(kind, copy=False)

    array = _draw.numbers(name, generator, converted, *[p.detach() for p in parameters])
    return tensor(moved(array, device_of(like._array)))


def log_standard_gamma(a: Any, generator: Any = None) -> Any:
    """The logarithm of standard gamma numbers of shape `a`; differentiable.

    For noise that stays, the number moves with `a` so that the probability below it does not.
    In logarithms nothing vanishes for small `a`: ``g(a) = g(a + 1) u**(1/a)`` for uniform `u`.
    """
    dtype, a = a.dtype, a.double()
    draw = lambda s, shape: s.standard_gamma(shape + 1)  # noqa: E731
    more = drawn("standard_gamma", draw, a, generator=generator)
    u = 1 - rand(a.shape, dtype=a.dtype, device=a.device, generator=generator)
    noise = (more.log() + u.log() / a).detach()
    return fused("StandardGammaBackward0", log_gamma_at, a, noise).to(dtype)


def _standard_gamma(a: Any, generator: Any = None) -> Any:
    """Standard gamma numbers of shape `a`, above 0; differentiable. The name is PyTorch's."""
    return log_standard_gamma(a, generator).exp().clamp(min=dtypes.finfo(a.dtype).tiny)
