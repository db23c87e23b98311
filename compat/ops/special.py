"""Element by element: error functions, gamma functions, Bessel functions, entropies.

Those that PyTorch has as ``torch.<name>`` are in `__all__`; the others are in `compat.special` only.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from funcgrad.ops import exponential, special
from funcgrad.scipy.special import multigammaln as multigammaln_of_array

from ..autograd import printed
from ..autograd.base import TensorBase, tensor
from ..autograd.tape import record
from ._apply import finish, inplace, requires_grad
from ._compose import composed, values_of
from ._elementwise import floats, narrow, numbers_too, require_real
from ._operands import promoted, result_type
from .exponential import times_log


def _special(
    name: str, prim: Any, input: Any, out: Any, node: str, kernel: str, **params: Any
) -> Any:
    x = floats(name, input, kernel)
    return finish(name, narrow(lambda a: record(prim, (a,), params, node), x), out, (x,))


# ---------------------------------------------------------------- error functions


@printed.unary(special.erf, "ErfBackward0", out=None)
def erf(input: Any, *, out: Any = None) -> Any:
    """``2 / sqrt(pi)`` times the integral of ``e**(-t**2)`` from 0 to `input`.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.erf(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.8427])
    """
    return _special("erf", special.erf, input, out, "ErfBackward0", "erf_vml_cpu")


@printed.unary(special.erfc, "ErfcBackward0", out=None)
def erfc(input: Any, *, out: Any = None) -> Any:
    """``1 - erf(input)``, accurate for large `input`.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.erfc(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 0.1573])
    """
    return _special("erfc", special.erfc, input, out, "ErfcBackward0", "erfc_vml_cpu")


@printed.unary(special.erfinv, "ErfinvBackward0", out=None)
def erfinv(input: Any, *, out: Any = None) -> Any:
    """The number with the error function `input`; infinite at 1 and -1.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.erfinv(torch.tensor([0.0, 0.5]))
    tensor([0.0000, 0.4769])
    """
    return _special("erfinv", special.erfinv, input, out, "ErfinvBackward0", "erfinv_vml_cpu")


@printed.unary(special.erfcx, "SpecialErfcxBackward0", out=None)
def erfcx(input: Any, *, out: Any = None) -> Any:
    """``e**(input**2) erfc(input)``, which does not vanish for large `input`.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.erfcx(torch.tensor([0.0, 100.0]))
    tensor([1.0000, 0.0056])
    """
    return _special("erfcx", special.erfcx, input, out, "SpecialErfcxBackward0", "erfcx_cpu")


@printed.unary(special.ndtr, "SpecialNdtrBackward0", out=None)
def ndtr(input: Any, *, out: Any = None) -> Any:
    """The probability that a standard normal variable is below `input`.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.ndtr(torch.tensor([0.0, 1.0]))
    tensor([0.5000, 0.8413])
    """
    return _special("ndtr", special.ndtr, input, out, "SpecialNdtrBackward0", "ndtr_cpu")


@printed.unary(special.log_ndtr, "SpecialLogNdtrBackward0", out=None)
def log_ndtr(input: Any, *, out: Any = None) -> Any:
    """``log(ndtr(input))``, accurate where `ndtr` vanishes.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.log_ndtr(torch.tensor([0.0, -100.0]))
    tensor([-6.9315e-01, -5.0055e+03])
    """
    return _special(
        "log_ndtr", special.log_ndtr, input, out, "SpecialLogNdtrBackward0", "log_ndtr_cpu"
    )


@printed.unary(special.ndtri, "SpecialNdtriBackward0", out=None)
def ndtri(input: Any, *, out: Any = None) -> Any:
    """The number below which a standard normal variable lies with probability `input`.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.ndtri(torch.tensor([0.5, 0.975]))
    tensor([0.0000, 1.9600])
    """
    return _special("ndtri", special.ndtri, input, out, "SpecialNdtriBackward0", "ndtri_cpu")


# ---------------------------------------------------------------- gamma functions


@printed.unary(special.gammaln, "LgammaBackward0", out=None)
def lgamma(input: Any, *, out: Any = None) -> Any:
    """``log |gamma(input)|``; the derivative is `digamma`.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.lgamma(torch.tensor([1.0, 5.0]))
    tensor([0.0000, 3.1781])
    """
    return _special("lgamma", special.gammaln, input, out, "LgammaBackward0", "lgamma_vml_cpu")


def digamma(input: Any, *, out: Any = None) -> Any:
    """The derivative of ``log(gamma(input))``; its own is ``polygamma(1, input)``.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.digamma(torch.tensor([1.0, 5.0]))
    tensor([-0.5772,  1.5061])
    """
    return _special("digamma", special.digamma, input, out, "DigammaBackward0", "digamma")


def polygamma(n: int, input: Any, *, out: Any = None) -> Any:
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
        return _special("polygamma", special.digamma, input, out, node, "digamma")
    return _special("polygamma", special.polygamma, input, out, node, "polygamma", n=order)


def _polygamma(self: Any, n: int) -> Any:
    """The method has its operands the other way round."""
    return polygamma(n, self)


def mvlgamma(input: Any, p: int, *, out: Any = None) -> Any:
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


def zeta(input: Any, other: Any, *, out: Any = None) -> Any:
    """``sum_k (k + other)**-input`` for k = 0, 1, ..., the zeta function of Hurwitz; needs SciPy.

    Raises: NotImplementedError: an operand requires grad: the derivative is not implemented.

    >>> import compat as torch
    >>> torch.special.zeta(torch.tensor([2.0, 4.0]), 1)
    tensor([1.6449, 1.0823])
    """
    x, q = numbers_too("zeta", input, other)
    require_real("zeta_cpu", x, q)
    if requires_grad(x, q):
        raise NotImplementedError(
            "the derivative for 'zeta' is not implemented. For a whole number n use "
            "torch.polygamma(n - 1, x), or x.detach() if the value alone is wanted."
        )
    x, q = promoted((x, q), floating=True)
    values = [values_of("zeta", a) if isinstance(a, TensorBase) else a for a in (x, q)]
    y = special._scipy(np, "zeta")(*values)
    return finish("zeta", tensor(np.asarray(y, result_type(x, q).numpy)), out, (x, q))


# ---------------------------------------------------------------- modified Bessel functions


@printed.unary(special.i0, "I0Backward0", out=None)
def i0(input: Any, *, out: Any = None) -> Any:
    """The modified Bessel function of the first kind of order 0.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.i0(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 1.2661])
    """
    return _special("i0", special.i0, input, out, "I0Backward0", "i0_vml_cpu")


@printed.unary(special.i0e, "SpecialI0EBackward0", out=None)
def i0e(input: Any, *, out: Any = None) -> Any:
    """``e**-|input| i0(input)``.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.i0e(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 0.4658])
    """
    return _special("i0e", special.i0e, input, out, "SpecialI0EBackward0", "i0e_cpu")


@printed.unary(special.i1, "SpecialI1Backward0", out=None)
def i1(input: Any, *, out: Any = None) -> Any:
    """The modified Bessel function of the first kind of order 1.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.i1(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.5652])
    """
    return _special("i1", special.i1, input, out, "SpecialI1Backward0", "i1_cpu")


@printed.unary(special.i1e, "SpecialI1EBackward0", out=None)
def i1e(input: Any, *, out: Any = None) -> Any:
    """``e**-|input| i1(input)``.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.i1e(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.2079])
    """
    return _special("i1e", special.i1e, input, out, "SpecialI1EBackward0", "i1e_cpu")


# ---------------------------------------------------------------- entropies


@printed.unary(special.entr, "SpecialEntrBackward0", out=None)
def entr(input: Any, *, out: Any = None) -> Any:
    """``-input log(input)``; 0 at 0, minus infinity below.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.entr(torch.tensor([0.0, 0.5, -1.0]))
    tensor([0.0000, 0.3466,   -inf])
    """
    return _special("entr", special.entr, input, out, "SpecialEntrBackward0", "entr_cpu")


def xlog1py(input: Any, other: Any, *, out: Any = None) -> Any:
    """``input * log(1 + other)``, 0 where `input` is 0 and `other` no NaN.

    Raises: TypeError: no operand is a tensor. NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.xlog1py(torch.tensor([0.0, 2.0]), torch.tensor([-1.0, 1.0]))
    tensor([0.0000, 1.3863])
    """
    return times_log("xlog1py", exponential.xlog1py, input, other, out, "SpecialXlog1Py")


digamma_ = inplace(digamma)
erf_ = inplace(erf)
erfc_ = inplace(erfc)
erfinv_ = inplace(erfinv)
i0_ = inplace(i0)
lgamma_ = inplace(lgamma)


class SpecialMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    digamma = digamma
    digamma_ = digamma_
    erf = erf
    erf_ = erf_
    erfc = erfc
    erfc_ = erfc_
    erfinv = erfinv
    erfinv_ = erfinv_
    i0 = i0
    i0_ = i0_
    lgamma = lgamma
    lgamma_ = lgamma_
    mvlgamma = mvlgamma
    mvlgamma_ = inplace(mvlgamma)
    polygamma = _polygamma
    polygamma_ = inplace(_polygamma, "polygamma_")


__all__ = [
    "digamma",
    "erf",
    "erf_",
    "erfc",
    "erfc_",
    "erfinv",
    "i0",
    "i0_",
    "lgamma",
    "mvlgamma",
    "polygamma",
]
