"""The gamma function and its relatives, element by element.

Those that PyTorch has as ``torch.<name>`` are in `__all__`; the others are in `compat.special` only.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from funcgrad.ops import gamma
from funcgrad.scipy.special import multigammaln as multigammaln_of_array

from ..autograd import printed
from ._apply import finish, inplace
from ._compose import composed
from ._elementwise import floats, narrow, special, special_of_two
from ._operands import operand

if TYPE_CHECKING:
    from .._tensor import Tensor


@printed.unary(gamma.gammaln, "LgammaBackward0", out=None)
def lgamma(input: Any, *, out: Any = None) -> Tensor:
    """``log |gamma(input)|``; the derivative is `digamma`.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.lgamma(torch.tensor([1.0, 5.0]))
    tensor([0.0000, 3.1781])
    """
    return special("lgamma", gamma.gammaln, input, out, "LgammaBackward0", "lgamma_vml_cpu")


def digamma(input: Any, *, out: Any = None) -> Tensor:
    """The derivative of ``log(gamma(input))``; its own is ``polygamma(1, input)``.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.digamma(torch.tensor([1.0, 5.0]))
    tensor([-0.5772,  1.5061])
    """
    return special("digamma", gamma.digamma, input, out, "DigammaBackward0", "digamma")


def polygamma(n: int, input: Any, *, out: Any = None) -> Tensor:
    """The derivative of `digamma` of order `n`.

    Raises: RuntimeError: `n` is negative. NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.polygamma(1, torch.tensor([1.0, 0.5]))
    tensor([1.6449, 4.9348])
    """
    order = operator.index(n)
    if order < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    node = "PolygammaBackward0"
    if not order:
        return special("polygamma", gamma.digamma, input, out, node, "digamma")
    return special("polygamma", gamma.polygamma, input, out, node, "polygamma", n=order)


def _polygamma(self: Any, n: int) -> Tensor:
    """The method has its operands the other way round."""
    return polygamma(n, self)


def mvlgamma(input: Any, p: int, *, out: Any = None) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension `p`.

    ``p (p - 1) / 4 log(pi) + sum_j lgamma(input - j / 2)`` for j = 0, ..., p - 1.
    Raises: RuntimeError: `p` is less than 1.

    >>> import compat as torch
    >>> torch.mvlgamma(torch.tensor([3.0, 4.0]), 2)
    tensor([1.5502, 3.5651])
    """
    if p < 1:
        raise RuntimeError(f"p has to be greater than or equal to 1, but it is {p}")
    x = floats("mvlgamma", input, "mvlgamma")
    y = narrow(lambda a: composed("MvlgammaBackward0", multigammaln_of_array, a, p), x)
    return finish("mvlgamma", y, out, (x,))


def zeta(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """``sum_k (k + other)**-input`` for k = 0, 1, ..., the zeta function of Hurwitz; needs SciPy.

    Derivative: ``-input zeta(input + 1, other)`` by `other`; by `input`, which PyTorch does not have.
    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.zeta(torch.tensor([2.0, 4.0]), 1)
    tensor([1.6449, 1.0823])
    """
    return special_of_two("zeta", gamma.zeta, input, other, out, "SpecialZetaBackward0")


def _incomplete(name: str, prim: Any, input: Any, other: Any, out: Any) -> Any:
    """Of two tensors: unlike other functions of two operands these take no numbers."""
    x, y = operand(name, 1, "input", input), operand(name, 2, "other", other)
    return special_of_two(name, prim, x, y, out, f"{name.title()}Backward0")


def igamma(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """``P(input, other)``: how probable a standard gamma variable of shape `input` is below `other`.

    Derivative: by both, which PyTorch has by `other` only.
    Raises: TypeError: an operand is no tensor. NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.igamma(torch.tensor([1.0, 2.0]), torch.tensor(1.0))
    tensor([0.6321, 0.2642])
    """
    return _incomplete("igamma", gamma.gammainc, input, other, out)


def igammac(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """``1 - igamma(input, other)``, accurate for large `other`.

    Derivative: by both, which PyTorch has by `other` only.
    Raises: TypeError: an operand is no tensor. NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.igammac(torch.tensor([1.0, 2.0]), torch.tensor(1.0))
    tensor([0.3679, 0.7358])
    """
    return _incomplete("igammac", gamma.gammaincc, input, other, out)


digamma_ = inplace(digamma)
lgamma_ = inplace(lgamma)


class GammaMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    digamma = digamma
    digamma_ = digamma_
    igamma = igamma
    igamma_ = inplace(igamma)
    igammac = igammac
    igammac_ = inplace(igammac)
    lgamma = lgamma
    lgamma_ = lgamma_
    mvlgamma = mvlgamma
    mvlgamma_ = inplace(mvlgamma)
    polygamma = _polygamma
    polygamma_ = inplace(_polygamma, "polygamma_")


__all__ = [
    "digamma",
    "igamma",
    "igammac",
    "lgamma",
    "mvlgamma",
    "polygamma",
]
