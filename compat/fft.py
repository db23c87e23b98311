"""`torch.fft`: discrete Fourier transforms, over funcgrad's.

Layer 8. Axes and lengths are checked here, in PyTorch's words; the transform itself is that of
`funcgrad.numpy.fft`, whose primitives are recorded.

A length (``n=``, ``s=``) that is not that of the axis cuts the end off or puts zeros there.
``norm=`` says which direction is divided by the number of points: "backward" (or None) the inverse,
"forward" the other one; "ortho" divides either by its root.

>>> import compat as torch
>>> torch.fft.fft(torch.tensor([1.0, 2.0, 4.0, 3.0]))
tensor([10.+0.j, -3.+1.j,  0.+0.j, -3.-1.j])
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import funcgrad.numpy.fft as transforms

from . import dtypes
from .autograd.base import TensorBase
from .ops._apply import _type_word, finish
from .ops._axes import axis_of
from .ops._compose import composed
from .ops._fresh import dtype_for, finished, there
from .ops._layout import alias, ints_of, own
from .ops._operands import convert, dtype_of, is_number, operand
from .ops.rearrange import roll

if TYPE_CHECKING:
    from ._tensor import Tensor

_C2C, _R2C, _C2R = "FftC2CBackward0", "FftR2CBackward0", "FftC2RBackward0"
_CONJ = "ConjBackward0"  # of the transforms that PyTorch makes of another and a conjugate

# ---------------------------------------------------------------- arguments


def _operand(name: str, input: Any, norm: Any) -> Any:
    """`input` in a dtype that has a transform: integers become the default dtype.

    Raises: TypeError: it is no tensor. RuntimeError: the dtype has no transform, or there is no such
    norm.
    """
    x = operand(f"fft_{name}", 1, "input", input)
    if norm is not None and not isinstance(norm, str):
        raise TypeError(f"fft_{name}(): argument 'norm' must be str, not {type(norm).__name__}")
    if norm not in (None, "backward", "ortho", "forward"):
        raise RuntimeError(
            f'Invalid normalization mode: "{norm}"; use "backward", "ortho" or "forward"'
        )
    dtype = dtype_of(x)
    if dtype.category < 2:
        x = convert(x, dtypes.get_default_dtype())
        dtype = dtype_of(x)
    if dtype.category == 2 and dtype.itemsize < 4:
        raise RuntimeError(
            f"Unsupported dtype {_type_word(dtype)}: convert the tensor first, for example with "
            f"x.float()"
        )
    return x


def _check_real(name: str, x: Any) -> None:
    """Raises: RuntimeError: `x` is complex."""
    word = _type_word(dtype_of(x))
    if dtype_of(x).category == 3:
        message = {
            "rfftn": f"rfftn expects a real-valued input tensor, but got {word}",
            "ihfftn": f"Only supports floating-point dtypes, but found: {word}",
        }.get(name, f"{name} expects a real input tensor, but got {word}")
        raise RuntimeError(f"{message}; take x.real, or transform with fft or ifft")


def _check_out(name: str, out: Any, *, real: bool) -> None:
    """Require that the results fit into `out`, if there is one: real or complex numbers.

    Raises: RuntimeError: it holds the others.
    """
    if isinstance(out, TensorBase) and dtype_of(out).category != (2 if real else 3):
        kind = "floating point" if real else "complex"
        raise RuntimeError(
            f"{name} expects a {kind} output tensor, but got {_type_word(dtype_of(out))}"
        )


def _integer(name: str, argument: str, x: Any) -> int:
    """Raises: TypeError: `x` is no integer."""
    if not _is_integer(x):
        raise TypeError(f"fft_{name}(): argument '{argument}' must be int, not {type(x).__name__}")
    return operator.index(x)


def _is_integer(x: Any) -> bool:
    return hasattr(type(x), "__index__") and not isinstance(x, bool)


def _integers(name: str, argument: str, xs: Any) -> tuple[int, ...]:
    """One integer or several.

    Raises: TypeError: something is none.
    """
    several = tuple(xs) if isinstance(xs, tuple | list) else (xs,)
    if not all(map(_is_integer, several)):
        raise TypeError(
            f"fft_{name}(): argument '{argument}' must be tuple of ints, not {type(xs).__name__}"
        )
    return tuple(map(operator.index, several))


def _points(n: int) -> int:
    """Raises: RuntimeError: `n` is no number of points."""
    if n < 1:
        raise RuntimeError(
            f"Invalid number of data points ({n}) specified: a transform needs one or more"
        )
    return n


def _axis(name: str, x: Any, dim: Any) -> int:
    """`dim`, counted from the front.

    Raises: TypeError: it is no integer. IndexError: there is no such dimension.
    """
    d = _integer(name, "dim", dim)
    if not x._array.shape:
        raise IndexError(f"Dimension specified as {d} but tensor has no dimensions")
    return axis_of(x._array.ndim, d)


def _axes(name: str, x: Any, s: Any, dim: Any) -> tuple[list[int], list[int | None]]:
    """The axes of a transform along several, and their lengths: None for what they are.

    Without `dim` they are all of them, or as many as `s` has entries, the last ones.

    Raises: RuntimeError: an axis is given twice, or the lengths do not fit them.
    """
    ndim = x._array.ndim
    lengths = None if s is None else _integers(name, "s", s)
    if dim is not None:
        axes = [_axis(name, x, d) for d in _integers(name, "dim", dim)]
    elif lengths is not None and len(lengths) > ndim:
        raise RuntimeError(
            f"Got shape with {len(lengths)} values but input tensor only has {ndim} dimensions."
        )
    else:
        axes = list(range(0 if lengths is None else ndim - len(lengths), ndim))
    if len(set(axes)) < len(axes):
        raise RuntimeError(f"FFT dims must be unique, found {dim}")
    if lengths is None:
        return axes, [None] * len(axes)
    if len(lengths) != len(axes):
        raise RuntimeError(
            f"When given, dim and shape arguments must have the same length, found {s} and {dim}"
        )
    return axes, [None if n == -1 else _points(n) for n in lengths]


# ---------------------------------------------------------------- along one axis


def _along_one(name: str, input: Any, n: Any, dim: Any, norm: Any, out: Any, node: str = "") -> Any:
    """The transform `name` along one axis; `node`: of one that gives or takes half of the points."""
    x = _operand(name, input, norm)
    if name in ("rfft", "ihfft"):
        _check_real(name, x)
    to_real = node == _C2R
    _check_out(name, out, real=to_real)
    axis = _axis(name, x, dim)
    length = x._array.shape[axis]
    if n is not None:
        n = _points(_integer(name, "n", n))
    else:
        _points(2 * (length - 1) if to_real else length)
    if not node:
        node = _C2C if dtype_of(x).category == 3 else _R2C if name == "fft" else _CONJ
    y = composed(node, getattr(transforms, name), x, n=n, axis=axis, norm=norm)
    return finish(f"fft_{name}", y, out, (x,))


def fft(input: Any, n: Any = None, dim: int = -1, norm: Any = None, *, out: Any = None) -> Tensor:
    """``y_k = sum_j x_j exp(-2 pi i j k / n)`` along `dim`.

    Raises: RuntimeError: `n` is less than 1, or the dtype float16. IndexError: there is no such dim.

    >>> import compat as torch
    >>> torch.fft.fft(torch.tensor([1.0, 0.0, -1.0, 0.0]))
    tensor([0.+0.j, 2.+0.j, 0.+0.j, 2.+0.j])
    """
    return _along_one("fft", input, n, dim, norm, out)


def ifft(input: Any, n: Any = None, dim: int = -1, norm: Any = None, *, out: Any = None) -> Tensor:
    """``y_k = sum_j x_j exp(2 pi i j k / n) / n`` along `dim`: the inverse of `fft`.

    Raises: as `fft`.

    >>> import compat as torch
    >>> torch.fft.ifft(torch.tensor([0.0, 2.0, 0.0, 2.0]))
    tensor([ 1.+0.j,  0.+0.j, -1.+0.j,  0.+0.j])
    """
    return _along_one("ifft", input, n, dim, norm, out)


def rfft(input: Any, n: Any = None, dim: int = -1, norm: Any = None, *, out: Any = None) -> Tensor:
    """`fft` of real numbers, of which the frequencies 0 to ``n // 2`` say everything.

    Raises: RuntimeError: complex numbers; and as `fft`.

    >>> import compat as torch
    >>> torch.fft.rfft(torch.tensor([1.0, 2.0, 4.0, 3.0]))
    tensor([10.+0.j, -3.+1.j,  0.+0.j])
    """
    return _along_one("rfft", input, n, dim, norm, out, _R2C)


def irfft(input: Any, n: Any = None, dim: int = -1, norm: Any = None, *, out: Any = None) -> Tensor:
    """The `n` real numbers with the frequencies `input`: the inverse of `rfft`.

    There are ``2 (m - 1)`` of them unless `n` is given. The imaginary parts of the first and, of an
    even `n`, of the last frequency do not count.

    Raises: as `fft`.

    >>> import compat as torch
    >>> torch.fft.irfft(torch.tensor([10 + 0j, -3 + 1j, 0j]))
    tensor([1., 2., 4., 3.])
    """
    return _along_one("irfft", input, n, dim, norm, out, _C2R)


def hfft(input: Any, n: Any = None, dim: int = -1, norm: Any = None, *, out: Any = None) -> Tensor:
    """`fft` of `n` points that are conjugates of their mirror images, half of which are given.

    Raises: as `fft`.

    >>> import compat as torch
    >>> torch.fft.hfft(torch.tensor([10 + 0j, -3 - 1j, 0j]), norm="forward")
    tensor([1., 2., 4., 3.])
    """
    return _along_one("hfft", input, n, dim, norm, out, _C2R)


def ihfft(input: Any, n: Any = None, dim: int = -1, norm: Any = None, *, out: Any = None) -> Tensor:
    """Half of the points whose `fft` are the real numbers `input`: the inverse of `hfft`.

    Raises: RuntimeError: complex numbers; and as `fft`.

    >>> import compat as torch
    >>> torch.fft.ihfft(torch.tensor([1.0, 2.0, 4.0, 3.0]), norm="forward").real
    tensor([10., -3.,  0.])
    """
    return _along_one("ihfft", input, n, dim, norm, out, _CONJ)


# ---------------------------------------------------------------- along several axes


def _along_several(name: str, input: Any, s: Any, dim: Any, norm: Any, out: Any) -> Any:
    """The transform `name`, "fftn" or another, along several axes."""
    x = _operand(name, input, norm)
    if name in ("rfftn", "ihfftn"):
        _check_real(name, x)
    to_real = name in ("irfftn", "hfftn")
    _check_out(name, out, real=to_real)
    axes, lengths = _axes(name, x, s, dim)
    shape = x._array.shape
    if not axes:
        if name not in ("fftn", "ifftn"):
            raise RuntimeError(f"{name} must transform at least one axis")
        return finish(f"fft_{name}", own(alias(_as_complex(x), _C2C)), out, (x,))
    goal = [shape[i] if n is None else n for i, n in zip(axes, lengths, strict=True)]
    if to_real and lengths[-1] is None:
        goal[-1] = 2 * (shape[axes[-1]] - 1)
    for n in goal:
        _points(n)
    f, node = _SEVERAL[name]
    if name == "ihfftn" and len(axes) == 1:
        node = _CONJ
    y = composed(node, f, x, goal, axes, norm)
    return finish(f"fft_{name}", y, out, (x,))


def _as_complex(x: Any) -> Any:
    return convert(x, dtype_of(x).to_complex())


def _hfftn(a: Any, s: Sequence[int], axes: Sequence[int], norm: Any) -> Any:
    a = transforms.fftn(a, s[:-1], axes[:-1], norm)
    return transforms.hfft(a, s[-1], axes[-1], norm)


def _ihfftn(a: Any, s: Sequence[int], axes: Sequence[int], norm: Any) -> Any:
    a = transforms.ihfft(a, s[-1], axes[-1], norm)
    return transforms.ifftn(a, s[:-1], axes[:-1], norm)


_SEVERAL: dict[str, tuple[Callable[..., Any], str]] = {
    "fftn": (transforms.fftn, _C2C),
    "ifftn": (transforms.ifftn, _C2C),
    "rfftn": (transforms.rfftn, _R2C),
    "irfftn": (transforms.irfftn, _C2R),
    "hfftn": (_hfftn, _C2R),
    "ihfftn": (_ihfftn, _C2C),
}


def fftn(
    input: Any, s: Any = None, dim: Any = None, norm: Any = None, *, out: Any = None
) -> Tensor:
    """`fft` along each of `dim`, with the lengths `s`, of which -1 leaves one as it is.

    Without `dim`, along all axes, or the last ones for which `s` has a length.

    Raises: RuntimeError: a length is less than 1, or an axis is given twice. IndexError: there is no
    such dim.

    >>> import compat as torch
    >>> torch.fft.fftn(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[10.+0.j, -2.+0.j],
            [-4.+0.j,  0.+0.j]])
    """
    return _along_several("fftn", input, s, dim, norm, out)


def ifftn(
    input: Any, s: Any = None, dim: Any = None, norm: Any = None, *, out: Any = None
) -> Tensor:
    """`ifft` along each of `dim`, as in `fftn`.

    >>> import compat as torch
    >>> torch.fft.ifftn(torch.tensor([[10.0, -2.0], [-4.0, 0.0]]))
    tensor([[1.+0.j, 2.+0.j],
            [3.+0.j, 4.+0.j]])
    """
    return _along_several("ifftn", input, s, dim, norm, out)


def rfftn(
    input: Any, s: Any = None, dim: Any = None, norm: Any = None, *, out: Any = None
) -> Tensor:
    """`rfft` along the last of `dim`, then `fft` along the others, as in `fftn`.

    Raises: RuntimeError: complex numbers, or no dim; and as `fftn`.

    >>> import compat as torch
    >>> torch.fft.rfftn(torch.ones(3, 4)).shape
    torch.Size([3, 3])
    """
    return _along_several("rfftn", input, s, dim, norm, out)


def irfftn(
    input: Any, s: Any = None, dim: Any = None, norm: Any = None, *, out: Any = None
) -> Tensor:
    """`ifft` along all of `dim` but the last, then `irfft` along that one, as in `fftn`.

    Raises: RuntimeError: no dim; and as `fftn`.

    >>> import compat as torch
    >>> torch.fft.irfftn(torch.ones(3, 3, dtype=torch.complex64)).shape
    torch.Size([3, 4])
    """
    return _along_several("irfftn", input, s, dim, norm, out)


def hfftn(
    input: Any, s: Any = None, dim: Any = None, norm: Any = None, *, out: Any = None
) -> Tensor:
    """`fft` along all of `dim` but the last, then `hfft` along that one, as in `fftn`.

    Raises: RuntimeError: no dim; and as `fftn`.

    >>> import compat as torch
    >>> torch.fft.hfftn(torch.ones(3, 3, dtype=torch.complex64)).shape
    torch.Size([3, 4])
    """
    return _along_several("hfftn", input, s, dim, norm, out)


def ihfftn(
    input: Any, s: Any = None, dim: Any = None, norm: Any = None, *, out: Any = None
) -> Tensor:
    """`ihfft` along the last of `dim`, then `ifft` along the others, as in `fftn`.

    Raises: RuntimeError: complex numbers, or no dim; and as `fftn`.

    >>> import compat as torch
    >>> torch.fft.ihfftn(torch.ones(3, 4)).shape
    torch.Size([3, 3])
    """
    return _along_several("ihfftn", input, s, dim, norm, out)


# ---------------------------------------------------------------- along the last two axes


def fft2(
    input: Any, s: Any = None, dim: Any = (-2, -1), norm: Any = None, *, out: Any = None
) -> Tensor:
    """`fftn` along the last two axes.

    >>> import compat as torch
    >>> torch.fft.fft2(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[10.+0.j, -2.+0.j],
            [-4.+0.j,  0.+0.j]])
    """
    return fftn(input, s, dim, norm, out=out)


def ifft2(
    input: Any, s: Any = None, dim: Any = (-2, -1), norm: Any = None, *, out: Any = None
) -> Tensor:
    """`ifftn` along the last two axes.

    >>> import compat as torch
    >>> torch.fft.ifft2(torch.tensor([[10.0, -2.0], [-4.0, 0.0]]))
    tensor([[1.+0.j, 2.+0.j],
            [3.+0.j, 4.+0.j]])
    """
    return ifftn(input, s, dim, norm, out=out)


def rfft2(
    input: Any, s: Any = None, dim: Any = (-2, -1), norm: Any = None, *, out: Any = None
) -> Tensor:
    """`rfftn` along the last two axes.

    >>> import compat as torch
    >>> torch.fft.rfft2(torch.ones(2, 3, 4)).shape
    torch.Size([2, 3, 3])
    """
    return rfftn(input, s, dim, norm, out=out)


def irfft2(
    input: Any, s: Any = None, dim: Any = (-2, -1), norm: Any = None, *, out: Any = None
) -> Tensor:
    """`irfftn` along the last two axes.

    >>> import compat as torch
    >>> torch.fft.irfft2(torch.ones(2, 3, 3, dtype=torch.complex64)).shape
    torch.Size([2, 3, 4])
    """
    return irfftn(input, s, dim, norm, out=out)


def hfft2(
    input: Any, s: Any = None, dim: Any = (-2, -1), norm: Any = None, *, out: Any = None
) -> Tensor:
    """`hfftn` along the last two axes.

    >>> import compat as torch
    >>> torch.fft.hfft2(torch.ones(2, 3, 3, dtype=torch.complex64)).shape
    torch.Size([2, 3, 4])
    """
    return hfftn(input, s, dim, norm, out=out)


def ihfft2(
    input: Any, s: Any = None, dim: Any = (-2, -1), norm: Any = None, *, out: Any = None
) -> Tensor:
    """`ihfftn` along the last two axes.

    >>> import compat as torch
    >>> torch.fft.ihfft2(torch.ones(2, 3, 4)).shape
    torch.Size([2, 3, 3])
    """
    return ihfftn(input, s, dim, norm, out=out)


# ---------------------------------------------------------------- frequencies


def _frequencies(
    name: str, n: int, places: np.ndarray, d: Any, dtype: Any, out: Any, device: Any, grad: bool
) -> Any:
    """``places / (n d)``, computed in the dtype of the result, or in float32 if that is narrower.

    Raises: TypeError: `d` is no real number. RuntimeError: the dtype is one of integers.
    """
    if isinstance(d, TensorBase) and not d._array.shape:
        d = d.item()  # type: ignore[attr-defined]
    if not is_number(d) or isinstance(d, complex | np.complexfloating):
        raise TypeError(
            f"fft_{name}(): argument 'd' (position 2) must be float, not {type(d).__name__}"
        )
    chosen = dtype_for(f"fft_{name}", dtype, out)
    if chosen.category < 2:
        raise RuntimeError(f"{name} requires a floating point or complex dtype, not {chosen!r}")
    if chosen.category == 3:
        raise NotImplementedError(
            f"\"arange_cpu\" not implemented for '{_type_word(chosen)}': make real frequencies and "
            f"convert them"
        )
    wide = chosen.numpy if chosen.itemsize >= 4 else np.dtype(np.float32)
    with np.errstate(all="ignore"):
        scale = wide.type(np.divide(1.0, n * float(d)))
        array = (places.astype(wide) * scale).astype(chosen.numpy)
    with there(device) as xp:
        return finished(f"fft_{name}", xp.asarray(array), out, grad)


def fftfreq(
    n: int,
    d: float = 1.0,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """The frequencies that `fft` gives of `n` points at the distance `d`: ``k / (n d)``.

    Raises: RuntimeError: `n` is negative, or `dtype` one of integers.

    >>> import compat as torch
    >>> torch.fft.fftfreq(4)
    tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
    """
    n = _integer("fftfreq", "n", n)
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    places = np.concatenate([np.arange((n + 1) // 2), np.arange(-(n // 2), 0)])
    return _frequencies("fftfreq", n, places, d, dtype, out, device, requires_grad)


def rfftfreq(
    n: int,
    d: float = 1.0,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """The frequencies that `rfft` gives of `n` points at the distance `d`: ``k / (n d)``.

    Raises: RuntimeError: `dtype` is one of integers.

    >>> import compat as torch
    >>> torch.fft.rfftfreq(4)
    tensor([0.0000, 0.2500, 0.5000])
    """
    n = _integer("rfftfreq", "n", n)
    return _frequencies("rfftfreq", n, np.arange(n // 2 + 1), d, dtype, out, device, requires_grad)


def fftshift(input: Any, dim: Any = None) -> Tensor:
    """The frequency 0, which is the first, moved to the middle; along all axes without `dim`.

    Raises: IndexError: there is no such dim. RuntimeError: there is none at all.

    >>> import compat as torch
    >>> torch.fft.fftshift(torch.tensor([0.0, 1.0, 2.0, -2.0, -1.0]))
    tensor([-2., -1.,  0.,  1.,  2.])
    """
    return _shifted("fftshift", input, dim, 0)


def ifftshift(input: Any, dim: Any = None) -> Tensor:
    """The inverse of `fftshift`.

    >>> import compat as torch
    >>> torch.fft.ifftshift(torch.tensor([-2.0, -1.0, 0.0, 1.0, 2.0]))
    tensor([ 0.,  1.,  2., -2., -1.])
    """
    return _shifted("ifftshift", input, dim, 1)


def _shifted(name: str, input: Any, dim: Any, up: int) -> Any:
    """Rolled by half of the length, which of an odd one is rounded down, or up."""
    x = operand(f"fft_{name}", 1, "input", input)
    shape = x._array.shape
    dims = range(len(shape)) if dim is None else ints_of(f"fft_{name}", "dim", (dim,))
    axes = tuple(axis_of(len(shape), d) for d in dims)
    return roll(x, tuple((shape[i] + up) // 2 for i in axes), axes)


__all__ = ["fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "hfft2", "hfftn", "ifft", "ifft2"]
__all__ += ["ifftn", "ifftshift", "ihfft", "ihfft2", "ihfftn", "irfft", "irfft2", "irfftn", "rfft"]
__all__ += ["rfft2", "rfftfreq", "rfftn"]
