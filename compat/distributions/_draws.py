"""Random numbers for the distributions, and the gamma distribution's as functions of its shape."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

import compat as torch
from funcgrad.core import Tracer

from .. import dtypes
from ..autograd.base import tensor
from ..ops import _draw
from ..ops.create import moved
from ..size import device_of

NODES = 64
_FADED = 40.0  # an integrand is left out where it is below e**-40 of its largest


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


@functools.cache
def _legendre() -> tuple[Any, Any]:
    """The nodes in (0, 1) and the weights of the quadrature of Gauss and Legendre."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return (nodes + 1) / 2, weights / 2


def _mass_at_side(a: Any, log_x: Any, log_scale: Any) -> tuple[Any, Any]:
    """The integral of ``t**(a-1) e**-t / gamma(a) / e**log_scale`` from `x` to the nearer end.

    And whether that end is 0, else infinity. In ``u = log t`` the integrand is smooth and has one
    hump, at ``log a``; it is integrated from `log_x` away from the hump until it has faded.
    """
    with torch.no_grad():
        below = log_x <= a.log()
        x = log_x.exp()
        down = (_FADED + (_FADED**2 + 2 * _FADED * a).sqrt()) / a
        up = ((_FADED + (_FADED**2 + 2 * _FADED * x).sqrt()) / x).log1p()
        width = torch.where(below, -down, up).unsqueeze(-1)
        nodes, weights = (torch.tensor(v, dtype=a.dtype, device=a.device) for v in _legendre())
    u = log_x.unsqueeze(-1) + width * nodes
    exponent = a.unsqueeze(-1) * u - u.exp() - (a.lgamma() + log_scale).unsqueeze(-1)
    return (exponent.exp() * weights).sum(-1) * width.squeeze(-1).abs(), below


def _density(a: Any, log_x: Any) -> Any:
    """``log(t**a e**-t / gamma(a))`` at `x`: the density of a gamma variable's logarithm."""
    return a * log_x - log_x.exp() - a.lgamma()


def _side(a: Any, log_x: Any, log_scale: Any) -> tuple[Any, Any]:
    """The probability on one side of `x` over ``e**log_scale``, and whether it is the lower side.

    For small `a` the hump is too wide for the nodes: ``P(a, x) = P(a + 1, x) + x**a e**-x / gamma(a
    + 1)`` leads to one that is not.
    """
    mass, below = _mass_at_side(a + 1, log_x, log_scale)
    between = (_density(a, log_x) - a.log() - log_scale).exp()
    return torch.where(below, mass + between, mass - between), below


def gammainc(a: Any, x: Any) -> Any:
    """The probability that a standard gamma variable of shape `a` is below `x`; 0 for x <= 0.

    >>> import compat as torch
    >>> gammainc(torch.tensor(1.0), torch.tensor(1.0))
    tensor(0.6321)
    """
    dtype = torch.promote_types(a.dtype, x.dtype)
    a, x = torch.broadcast_tensors(a.double(), x.double())
    positive = x > 0
    inside = torch.where(positive, x, torch.ones_like(x))
    mass, below = _side(a, inside.log(), torch.zeros_like(a))
    found = torch.where(below, mass, 1 - mass)
    return torch.where(positive, found, torch.zeros_like(found)).to(dtype)


def log_standard_gamma(a: Any) -> Any:
    """The logarithm of standard gamma numbers of shape `a`; differentiable.

    For noise that stays, the number moves with `a` so that the probability below it does not: by the
    change of that probability over the density. The change comes from the tape.
    In logarithms nothing vanishes for small `a`: ``g(a) = g(a + 1) u**(1/a)`` for uniform `u`.
    """
    dtype, a = a.dtype, a.double()
    more = drawn("standard_gamma", lambda s, shape: s.standard_gamma(shape + 1), a)
    u = 1 - uniform(a, a.shape)
    noise = (more.log() + u.log() / a).detach()
    if not (torch.is_grad_enabled() and (a.requires_grad or isinstance(a._array, Tracer))):
        return noise.to(dtype)
    before = _density(a, noise).detach()
    mass, below = _side(a, noise, before)
    toward = torch.where(below, -1.0, 1.0)
    first = noise + toward * (mass - mass.detach())
    # A second step of Newton's method makes the second derivative right, too.
    density = _density(a, first)
    again, _ = _side(a, first, density)
    return (first + toward * (again - mass.detach() * (before - density).exp())).to(dtype)


def standard_gamma(a: Any) -> Any:
    """Standard gamma numbers of shape `a`, above 0; differentiable."""
    return log_standard_gamma(a).exp().clamp(min=torch.finfo(a.dtype).tiny)
