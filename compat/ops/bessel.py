"""Bessel functions and Airy's, element by element.

Those that PyTorch has as ``torch.<name>`` are in `__all__`; the others are in `compat.special` only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from funcgrad.ops import airy, bessel
from funcgrad.scipy.special import spherical_jn

from ..autograd import printed
from ._apply import finish, inplace
from ._compose import composed
from ._elementwise import floats, narrow, special

if TYPE_CHECKING:
    from .._tensor import Tensor


@printed.unary(bessel.i0, "I0Backward0", out=None)
def i0(input: Any, *, out: Any = None) -> Tensor:
    """The modified Bessel function of the first kind of order 0.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.i0(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 1.2661])
    """
    return special("i0", bessel.i0, input, out, "I0Backward0", "i0_vml_cpu")


@printed.unary(bessel.i0e, "SpecialI0EBackward0", out=None)
def i0e(input: Any, *, out: Any = None) -> Tensor:
    """``e**-|input| i0(input)``.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.i0e(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 0.4658])
    """
    return special("i0e", bessel.i0e, input, out, "SpecialI0EBackward0", "i0e_cpu")


@printed.unary(bessel.i1, "SpecialI1Backward0", out=None)
def i1(input: Any, *, out: Any = None) -> Tensor:
    """The modified Bessel function of the first kind of order 1.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.i1(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.5652])
    """
    return special("i1", bessel.i1, input, out, "SpecialI1Backward0", "i1_cpu")


@printed.unary(bessel.i1e, "SpecialI1EBackward0", out=None)
def i1e(input: Any, *, out: Any = None) -> Tensor:
    """``e**-|input| i1(input)``.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.i1e(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.2079])
    """
    return special("i1e", bessel.i1e, input, out, "SpecialI1EBackward0", "i1e_cpu")


def bessel_j0(input: Any, *, out: Any = None) -> Tensor:
    """The Bessel function of the first kind of order 0.

    Derivative: by `input`, which PyTorch does not have.
    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.bessel_j0(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 0.7652])
    """
    return special("bessel_j0", bessel.j0, input, out, "SpecialBesselJ0Backward0", "bessel_j0_cpu")


def bessel_j1(input: Any, *, out: Any = None) -> Tensor:
    """The Bessel function of the first kind of order 1.

    Derivative: by `input`, which PyTorch does not have.
    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.bessel_j1(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.4401])
    """
    return special("bessel_j1", bessel.j1, input, out, "SpecialBesselJ1Backward0", "bessel_j1_cpu")


def bessel_y0(input: Any, *, out: Any = None) -> Tensor:
    """The Bessel function of the second kind of order 0.

    Derivative: by `input`, which PyTorch does not have.
    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.bessel_y0(torch.tensor([0.5, 1.0]))
    tensor([-0.4445,  0.0883])
    """
    return special("bessel_y0", bessel.y0, input, out, "SpecialBesselY0Backward0", "bessel_y0_cpu")


def bessel_y1(input: Any, *, out: Any = None) -> Tensor:
    """The Bessel function of the second kind of order 1.

    Derivative: by `input`, which PyTorch does not have.
    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.bessel_y1(torch.tensor([0.5, 1.0]))
    tensor([-1.4715, -0.7812])
    """
    return special("bessel_y1", bessel.y1, input, out, "SpecialBesselY1Backward0", "bessel_y1_cpu")


def modified_bessel_i0(input: Any, *, out: Any = None) -> Tensor:
    """The modified Bessel function of the first kind of order 0.

    Derivative: by `input`, which PyTorch does not have.
    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.modified_bessel_i0(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 1.2661])
    """
    node = "SpecialModifiedBesselI0Backward0"
    return special("modified_bessel_i0", bessel.i0, input, out, node, "modified_bessel_i0_cpu")


def modified_bessel_i1(input: Any, *, out: Any = None) -> Tensor:
    """The modified Bessel function of the first kind of order 1.

    Derivative: by `input`, which PyTorch does not have.
    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.modified_bessel_i1(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.5652])
    """
    node = "SpecialModifiedBesselI1Backward0"
    return special("modified_bessel_i1", bessel.i1, input, out, node, "modified_bessel_i1_cpu")


def modified_bessel_k0(input: Any, *, out: Any = None) -> Tensor:
    """The modified Bessel function of the second kind of order 0.

    Derivative: by `input`, which PyTorch does not have.
    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.modified_bessel_k0(torch.tensor([0.5, 1.0]))
    tensor([0.9244, 0.4210])
    """
    node = "SpecialModifiedBesselK0Backward0"
    return special("modified_bessel_k0", bessel.k0, input, out, node, "modified_bessel_k0_cpu")


def modified_bessel_k1(input: Any, *, out: Any = None) -> Tensor:
    """The modified Bessel function of the second kind of order 1.

    Derivative: by `input`, which PyTorch does not have.
    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.modified_bessel_k1(torch.tensor([0.5, 1.0]))
    tensor([1.6564, 0.6019])
    """
    node = "SpecialModifiedBesselK1Backward0"
    return special("modified_bessel_k1", bessel.k1, input, out, node, "modified_bessel_k1_cpu")


def scaled_modified_bessel_k0(input: Any, *, out: Any = None) -> Tensor:
    """``e**input`` times the modified Bessel function of the second kind of order 0.

    Derivative: by `input`, which PyTorch does not have.
    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.scaled_modified_bessel_k0(torch.tensor([0.5, 1.0]))
    tensor([1.5241, 1.1445])
    """
    node = "SpecialScaledModifiedBesselK0Backward0"
    return special(
        "scaled_modified_bessel_k0", bessel.k0e, input, out, node, "scaled_modified_bessel_k0_cpu"
    )


def scaled_modified_bessel_k1(input: Any, *, out: Any = None) -> Tensor:
    """``e**input`` times the modified Bessel function of the second kind of order 1.

    Derivative: by `input`, which PyTorch does not have.
    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.scaled_modified_bessel_k1(torch.tensor([0.5, 1.0]))
    tensor([2.7310, 1.6362])
    """
    node = "SpecialScaledModifiedBesselK1Backward0"
    return special(
        "scaled_modified_bessel_k1", bessel.k1e, input, out, node, "scaled_modified_bessel_k1_cpu"
    )


def airy_ai(input: Any, *, out: Any = None) -> Tensor:
    """Airy's function Ai.

    Derivative: by `input`, which PyTorch does not have.
    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.airy_ai(torch.tensor([0.0, 1.0]))
    tensor([0.3550, 0.1353])
    """
    return special("airy_ai", airy.airy_ai, input, out, "SpecialAiryAiBackward0", "airy_ai_cpu")


def spherical_bessel_j0(x: Any, *, out: Any = None) -> Tensor:
    """``sin(x) / x``, 1 at 0.

    Derivative: by `input`, which PyTorch does not have.
    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.special.spherical_bessel_j0(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 0.8415])
    """
    x = floats("spherical_bessel_j0", x, "spherical_bessel_j0_cpu")
    y = narrow(lambda a: composed("SpecialSphericalBesselJ0Backward0", spherical_jn, 0, a), x)
    return finish("spherical_bessel_j0", y, out, (x,))


i0_ = inplace(i0)


class BesselMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    i0 = i0
    i0_ = i0_


__all__ = ["i0", "i0_"]
