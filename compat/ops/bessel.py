"""Bessel functions, element by element.

Those that PyTorch has as ``torch.<name>`` are in `__all__`; the others are in `compat.special` only.
"""

from __future__ import annotations

from typing import Any

from funcgrad.ops import bessel

from ..autograd import printed
from ._apply import inplace
from ._elementwise import special


@printed.unary(bessel.i0, "I0Backward0", out=None)
def i0(input: Any, *, out: Any = None) -> Any:
    """The modified Bessel function of the first kind of order 0.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.i0(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 1.2661])
    """
    return special("i0", bessel.i0, input, out, "I0Backward0", "i0_vml_cpu")


@printed.unary(bessel.i0e, "SpecialI0EBackward0", out=None)
def i0e(input: Any, *, out: Any = None) -> Any:
    """``e**-|input| i0(input)``.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.i0e(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 0.4658])
    """
    return special("i0e", bessel.i0e, input, out, "SpecialI0EBackward0", "i0e_cpu")


@printed.unary(bessel.i1, "SpecialI1Backward0", out=None)
def i1(input: Any, *, out: Any = None) -> Any:
    """The modified Bessel function of the first kind of order 1.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.i1(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.5652])
    """
    return special("i1", bessel.i1, input, out, "SpecialI1Backward0", "i1_cpu")


@printed.unary(bessel.i1e, "SpecialI1EBackward0", out=None)
def i1e(input: Any, *, out: Any = None) -> Any:
    """``e**-|input| i1(input)``.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.i1e(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.2079])
    """
    return special("i1e", bessel.i1e, input, out, "SpecialI1EBackward0", "i1e_cpu")


i0_ = inplace(i0)


class BesselMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    i0 = i0
    i0_ = i0_


__all__ = ["i0", "i0_"]
