"""Random numbers in place of what a tensor holds: `uniform_`, `normal_` and their like.

The tensor gets no derivative from what it was. Integers and shapes are NumPy's, the stream is that of
`Generator`: the same seed gives the same numbers, which are not PyTorch's.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import dtypes
from ..autograd import views
from ..autograd.base import TensorBase
from ..size import device_of
from . import _draw
from ._apply import _type_word
from ._operands import dtype_of
from .create import moved

if TYPE_CHECKING:
    from .._tensor import Tensor


def _write(x: Any, name: str, generator: Any, draw: _draw.Draw, *parameters: Any) -> Any:
    """The numbers of `draw` in place of what `x` holds, in its dtype and on its device."""
    dtype = x._array.dtype

    def converted(source: _draw.Stream, *values: Any) -> Any:
        with np.errstate(all="ignore"):
            return np.asarray(draw(source, *values)).astype(dtype, copy=False)

    found = _draw.numbers(name, generator, converted, *parameters)
    return views.assign(x, moved(found, device_of(x._array)), name, whole=True)


def _shape(x: Any) -> tuple[int, ...]:
    return tuple(x._array.shape)


def uniform_(self: Any, from_: float = 0, to: float = 1, *, generator: Any = None) -> Tensor:
    """Fill with numbers of ``from <= x < to``, all equally likely.

    Raises: RuntimeError: the bounds are in the wrong order or not finite. NotImplementedError: the
    dtype is one of integers.

    >>> import compat as torch
    >>> torch.zeros(3).uniform_(2, 2)
    tensor([2., 2., 2.])
    """
    views.check_writable(self)
    shape, kind = _shape(self), self._array.dtype
    dtype = dtype_of(self)
    _draw.require("check_uniform_bounds", dtype, 2, 3)
    low, high = _draw.real("uniform_", "from", 1, from_), _draw.real("uniform_", "to", 2, to)
    largest = dtypes.finfo(dtype).max
    for name, bound in (("from", low), ("to", high)):
        if not abs(bound) <= largest:
            raise RuntimeError(f"{name} is out of bounds for {_draw.c_word(dtype.to_real())}")
    if low > high:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={from_} > to={to}"
        )
    if high - low > largest:
        raise RuntimeError(
            f"uniform_ expects to-from <= {largest:g}, the largest number of the dtype, but found "
            f"to={to} and from={from_} which result in to-from to exceed the limit"
        )

    def draw(source: _draw.Stream) -> Any:
        noise = _draw.uniform(source, shape, dtype)
        if dtype.category == 3:
            return noise * (high - low) + complex(low, low)
        values = (noise * (high - low) + low).astype(kind)
        return np.where(values < high, values, low)  # rounding may reach it

    return _write(self, "uniform_", generator, draw)


def normal_(self: Any, mean: float = 0, std: float = 1, *, generator: Any = None) -> Tensor:
    """Fill with normal numbers.

    Raises: RuntimeError: `std` is negative. NotImplementedError: the dtype is one of integers.
    """
    views.check_writable(self)
    draw = normals("normal_", _shape(self), dtype_of(self), mean, std)
    return _write(self, "normal_", generator, draw)


def normals(
    name: str, shape: tuple[int, ...], dtype: dtypes.dtype, mean: Any, std: Any
) -> _draw.Draw:
    """Draws normal numbers of a mean and a standard deviation; complex ones have it in both parts.

    Raises: TypeError: they are no real numbers. RuntimeError: the standard deviation is negative.
    """
    center, width = _draw.real(name, "mean", 1, mean), _draw.real(name, "std", 2, std)
    require_std(width)

    def draw(source: _draw.Stream) -> Any:
        noise = _draw.normal(source, shape, dtype)
        found = noise * width + (complex(center, center) if dtype.category == 3 else center)
        return found.astype(noise.dtype)

    return draw


def require_std(std: float) -> None:
    """Raises: RuntimeError: a standard deviation is negative."""
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")


_MISSING = object()


def random_(
    self: Any, from_: Any = _MISSING, to: Any = _MISSING, *, generator: Any = None
) -> Tensor:
    """Fill with integers of ``from <= x < to``.

    ``random_(to)`` starts at 0; ``random_()`` takes all that the dtype has from 0 on (up to ``2**24``
    or ``2**53`` for floats, below which it has all), and ``random_(from, None)`` all from there on.

    Raises: RuntimeError: there are none, or the dtype cannot hold them. TypeError: a bound is no
    integer.

    >>> import compat as torch
    >>> torch.zeros(2).random_(3, 4)
    tensor([3., 3.])
    """
    views.check_writable(self)
    dtype = dtype_of(self)
    _draw.require("random_kernel_cpu", dtype, 0, 1, 2)
    if to is _MISSING:
        from_, to = 0, from_
    low = _draw.whole("random_", "from", 1, 0 if from_ is _MISSING else from_)
    if to is _MISSING or (to is None and from_ is not _MISSING):
        digits = -math.frexp(dtypes.finfo(dtype).eps)[1] + 2 if dtype.category == 2 else 0
        high = 2**digits if digits else min(_draw.limits(dtype)[1] + 1, 2**63 - 1)
    else:
        high = _draw.whole("random_", "to", 2, to)
    shape = _shape(self)
    return _write(
        self, "random_", generator, lambda source: _draw.integers(source, shape, low, high, dtype)
    )


def bernoulli_(self: Any, p: Any = 0.5, *, generator: Any = None) -> Tensor:
    """Fill with 1 with the probability `p`, else 0; `p` is a number, or a tensor of them.

    Raises: RuntimeError: `p` is not between 0 and 1.

    >>> import compat as torch
    >>> torch.ones(2).bernoulli_(torch.tensor([0.0, 1.0]))
    tensor([0., 1.])
    """
    views.check_writable(self)
    shape = _shape(self)
    if isinstance(p, TensorBase):
        _draw.require("bernoulli_tensor_cpu_p_", dtype_of(p), 2)
        return _write(self, "bernoulli_", generator, functools.partial(_trials, shape), p)
    _draw.require("bernoulli_scalar_cpu_", dtype_of(self), 0, 1, 2)
    chance = _draw.real("bernoulli_", "p", 1, p)
    if not 0 <= chance <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")
    return _write(
        self, "bernoulli_", generator, lambda source: source.random(shape, np.float32) < chance
    )


def _trials(shape: tuple[int, ...], source: _draw.Stream, chance: Any) -> Any:
    """Which of as many trials as `shape` says succeed.

    Raises: RuntimeError: `chance` has no probabilities, or of another shape.
    """
    _draw.require_probabilities(chance)
    try:
        chance = np.broadcast_to(chance, shape)
    except ValueError:
        raise RuntimeError(
            f"The expanded size of the tensor {list(shape)} must match the existing size "
            f"{list(chance.shape)} of the probabilities"
        ) from None
    return source.random(shape) < chance


def _require_floats(distribution: str, x: Any) -> dtypes.dtype:
    dtype = dtype_of(x)
    if dtype.category != 2:
        raise RuntimeError(
            f"{distribution} distribution is a continuous probability distribution. dtype must be "
            f"a floating point but you specified {_type_word(dtype)}"
        )
    return dtype


def _positive(name: str, parameter: str, position: int, x: Any) -> float:
    value = _draw.real(name, parameter, position, x)
    if not value > 0:
        word = {"lambd": "lambda"}.get(parameter, parameter)
        raise RuntimeError(f"{name} expects {word} > 0.0, but found {word}={value}")
    return value


def exponential_(self: Any, lambd: float = 1, *, generator: Any = None) -> Tensor:
    """Fill with exponential numbers of mean ``1 / lambd``.

    Raises: RuntimeError: `lambd` is not positive, or the dtype is one of integers.
    """
    views.check_writable(self)
    shape = _shape(self)
    dtype = _require_floats("Exponential", self)
    rate = _positive("exponential_", "lambd", 1, lambd)
    return _write(
        self,
        "exponential_",
        generator,
        lambda source: _draw.exponential(source, shape, dtype) / rate,
    )


def cauchy_(self: Any, median: float = 0, sigma: float = 1, *, generator: Any = None) -> Tensor:
    """Fill with numbers of the Cauchy distribution.

    Raises: RuntimeError: `sigma` is not positive, or the dtype is one of integers.
    """
    views.check_writable(self)
    shape = _shape(self)
    _require_floats("Cauchy", self)
    center, width = (
        _draw.real("cauchy_", "median", 1, median),
        _positive("cauchy_", "sigma", 2, sigma),
    )
    return _write(
        self,
        "cauchy_",
        generator,
        lambda source: center + width * source.standard_cauchy(shape),
    )


def log_normal_(self: Any, mean: float = 1, std: float = 2, *, generator: Any = None) -> Tensor:
    """Fill with ``exp`` of normal numbers.

    Raises: RuntimeError: `std` is not positive. NotImplementedError: the dtype is not floating.
    """
    views.check_writable(self)
    shape = _shape(self)
    _draw.require("log_normal_cpu", dtype_of(self), 2)
    center = _draw.real("log_normal_", "mean", 1, mean)
    width = _positive("log_normal_", "std", 2, std)
    return _write(
        self,
        "log_normal_",
        generator,
        lambda source: np.exp(center + width * source.standard_normal(shape)),
    )


def geometric_(self: Any, p: float, *, generator: Any = None) -> Tensor:
    """Fill with the number of trials until the first success, of probability `p`.

    Raises: RuntimeError: `p` is not between 0 and 1. NotImplementedError: booleans.
    """
    views.check_writable(self)
    shape = _shape(self)
    _draw.require("geometric_cpu", dtype_of(self), 1, 2)
    chance = _draw.real("geometric_", "p", 1, p)
    if not 0 < chance < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    return _write(self, "geometric_", generator, lambda source: source.geometric(chance, shape))
