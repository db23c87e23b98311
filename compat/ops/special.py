"""Element by element: error functions and entropies.

Those that PyTorch has as ``torch.<name>`` are in `__all__`; the others are in `compat.special` only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from funcgrad.ops import exponential
from funcgrad.ops import special as ops

from ..autograd import printed
from ._apply import inplace
from ._elementwise import special
from .exponential import times_log

if TYPE_CHECKING:
    from .._tensor import Tensor

# ---------------------------------------------------------------- error functions


@printed.unary(ops.erf, "ErfBackward0", out=None)
def erf(input: Any, *, out: Any = None) -> Tensor:
    """``2 / sqrt(pi)`` times the integral of ``e**(-t**2)`` from 0 to `input`.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.erf(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.8427])
    """
    return special("erf", ops.erf, input, out, "ErfBackward0", "erf_vml_cpu")


@printed.unary(ops.erfc, "ErfcBackward0", out=None)
def erfc(input: Any, *, out: Any = None) -> Tensor:
    """``1 - erf(input)``, accurate for large `input`.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.erfc(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 0.1573])
    """
    return special("erfc", ops.erfc, input, out, "ErfcBackward0", "erfc_vml_cpu")


@printed.unary(ops.erfinv, "ErfinvBackward0", out=None)
def erfinv(input: Any, *, out: Any = None) -> Tensor:
    """The number with the error function `input`; infinite at 1 and -1.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.erfinv(torch.tensor([0.0, 0.5]))
    tensor([0.0000, 0.4769])
    """
    return special("erfinv", ops.erfinv, input, out, "ErfinvBackward0", "erfinv_vml_cpu")


@printed.unary(ops.erfcx, "SpecialErfcxBackward0", out=None)
def erfcx(input: Any, *, out: Any = None) -> Tensor:
    """``e**(input**2) erfc(input)``, which does not vanish for large `input`.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.erfcx(torch.tensor([0.0, 100.0]))
    tensor([1.0000, 0.0056])
    """
    return special("erfcx", ops.erfcx, input, out, "SpecialErfcxBackward0", "erfcx_cpu")


@printed.unary(ops.ndtr, "SpecialNdtrBackward0", out=None)
def ndtr(input: Any, *, out: Any = None) -> Tensor:
    """The probability that a standard normal variable is below `input`.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.ndtr(torch.tensor([0.0, 1.0]))
    tensor([0.5000, 0.8413])
    """
    return special("ndtr", ops.ndtr, input, out, "SpecialNdtrBackward0", "ndtr_cpu")


@printed.unary(ops.log_ndtr, "SpecialLogNdtrBackward0", out=None)
def log_ndtr(input: Any, *, out: Any = None) -> Tensor:
    """``log(ndtr(input))``, accurate where `ndtr` vanishes.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.log_ndtr(torch.tensor([0.0, -100.0]))
    tensor([-6.9315e-01, -5.0055e+03])
    """
    return special("log_ndtr", ops.log_ndtr, input, out, "SpecialLogNdtrBackward0", "log_ndtr_cpu")


@printed.unary(ops.ndtri, "SpecialNdtriBackward0", out=None)
def ndtri(input: Any, *, out: Any = None) -> Tensor:
    """The number below which a standard normal variable lies with probability `input`.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.ndtri(torch.tensor([0.5, 0.975]))
    tensor([0.0000, 1.9600])
    """
    return special("ndtri", ops.ndtri, input, out, "SpecialNdtriBackward0", "ndtri_cpu")


# ---------------------------------------------------------------- entropies


@printed.unary(ops.entr, "SpecialEntrBackward0", out=None)
def entr(input: Any, *, out: Any = None) -> Tensor:
    """``-input log(input)``; 0 at 0, minus infinity below.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.entr(torch.tensor([0.0, 0.5, -1.0]))
    tensor([0.0000, 0.3466,   -inf])
    """
    return special("entr", ops.entr, input, out, "SpecialEntrBackward0", "entr_cpu")


def xlog1py(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """``input * log(1 + other)``, 0 where `input` is 0 and `other` no NaN.

    Raises: TypeError: no operand is a tensor. NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.xlog1py(torch.tensor([0.0, 2.0]), torch.tensor([-1.0, 1.0]))
    tensor([0.0000, 1.3863])
    """
    return times_log("xlog1py", exponential.xlog1py, input, other, out, "SpecialXlog1Py")


erf_ = inplace(erf)
erfc_ = inplace(erfc)
erfinv_ = inplace(erfinv)


class SpecialMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    erf = erf
    erf_ = erf_
    erfc = erfc
    erfc_ = erfc_
    erfinv = erfinv
    erfinv_ = erfinv_


__all__ = [
    "erf",
    "erf_",
    "erfc",
    "erfc_",
    "erfinv",
]
