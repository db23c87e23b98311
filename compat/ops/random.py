"""Random tensors. The numbers are those of `Generator`: the same for a seed, but not PyTorch's.

Inside a transform they are constants; `compat.func.vmap` says whether examples share them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.ops.select import where

from .. import dtypes
from ..autograd.base import TensorBase, tensor
from ..autograd.tape import record
from ..size import contiguous_format, device_of
from . import _draw, fills
from ._apply import _type_word, check_broadcast, finish, requires_grad
from ._fresh import dtype_for, finished, only_strided, shape_in, shape_of
from ._operands import convert, dtype_of, operand
from .create import moved

if TYPE_CHECKING:
    from .._tensor import Tensor

# ---------------------------------------------------------------- new tensors


def rand(
    *sizes: Any,
    size: Any = None,
    generator: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Numbers with ``0 <= x < 1``, all equally likely.

    >>> import compat as torch
    >>> torch.rand(2, 3).shape
    torch.Size([2, 3])
    """
    if layout is not None:
        only_strided("rand", layout)
    shape = shape_of("rand", sizes, size)
    chosen = dtype_for("rand", dtype, out)
    array = _draw.numbers("rand", generator, lambda s: _draw.uniform(s, shape, chosen))
    return finished("rand", moved(array, device), out, requires_grad)


def randn(
    *sizes: Any,
    size: Any = None,
    generator: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Normal numbers of mean 0 and variance 1.

    >>> import compat as torch
    >>> torch.randn(2, requires_grad=True).requires_grad
    True
    """
    if layout is not None:
        only_strided("randn", layout)
    shape = shape_of("randn", sizes, size)
    chosen = dtype_for("randn", dtype, out)
    array = _draw.numbers("randn", generator, lambda s: _draw.normal(s, shape, chosen))
    return finished("randn", moved(array, device), out, requires_grad)


def randint(
    low: Any = 0,
    high: Any = None,
    size: Any = None,
    *,
    generator: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Integers with ``low <= x < high``, all equally likely; ``randint(high, size)`` starts at 0.

    Raises: RuntimeError: there are none, or the dtype cannot hold them.

    >>> import compat as torch
    >>> torch.randint(3, 4, (2,))
    tensor([3, 3])
    """
    if layout is not None:
        only_strided("randint", layout)
    if isinstance(high, tuple | list) and size is None:
        high, size = None, high
    if high is None:
        low, high = 0, low
    if size is None:
        raise TypeError('randint() missing 1 required positional arguments: "size"')
    shape = shape_in("randint", size)
    bounds = _draw.whole("randint", "low", 1, low), _draw.whole("randint", "high", 2, high)
    if max(map(abs, bounds)) > 2**63 - 1 and bounds[0] != -(2**63):
        raise ValueError("Overflow when unpacking long long")
    chosen = dtype_for("randint", dtype, out, dtypes.int64)
    if chosen.category == 3:
        raise RuntimeError(
            "check_random_bounds handles only integral, floating-point and boolean types"
        )
    array = _draw.numbers("randint", generator, lambda s: _draw.integers(s, shape, *bounds, chosen))
    return finished("randint", moved(array, device), out, requires_grad)


def randperm(
    n: Any,
    *,
    generator: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """The integers below `n`, in an order of which all are equally likely.

    Raises: RuntimeError: `n` is negative, or the dtype cannot hold all of them.

    >>> import compat as torch
    >>> torch.randperm(4).sort().values
    tensor([0, 1, 2, 3])
    """
    if layout is not None:
        only_strided("randperm", layout)
    count = _draw.whole("randperm", "n", 1, n)
    if count < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {count}: [{count}]")
    chosen = dtype_for("randperm", dtype, out, dtypes.int64)
    _draw.require("randperm", chosen, 1, 2)
    largest = 1 + (_draw.limits(chosen)[1] if chosen.category == 1 else int(2 / _eps(chosen)))
    if count > largest:
        raise RuntimeError(
            f"value cannot be converted to type {_draw.c_word(chosen)} without overflow: n cannot "
            f"be greater than {largest} for {_type_word(chosen)} type."
        )
    array = _draw.numbers(
        "randperm", generator, lambda s: s.permutation(count).astype(chosen.numpy)
    )
    return finished("randperm", moved(array, device), out, requires_grad)


def _eps(dtype: dtypes.dtype) -> float:
    return dtypes.finfo(dtype).eps


# ---------------------------------------------------------------- like another


def _like(
    name: str, f: Any, input: Any, dtype: Any, device: Any, memory_format: Any, **given: Any
) -> Any:
    """What `f` makes in the shape, the dtype, on the device and in the memory layout of `input`."""
    x = operand(name, 1, "input", input)
    out = f(
        size=tuple(x._array.shape),
        dtype=dtype_of(x) if dtype is None else dtype,
        device=device_of(x._array) if device is None else device,
        **given,
    )
    made, like = out._array, x._array
    if made.__class__ is like.__class__ is np.ndarray and memory_format is not contiguous_format:
        out._array = np.empty_like(like, made.dtype, "K")
        out._array[...] = made
    return out


def rand_like(
    input: Any,
    *,
    generator: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """`rand` in the shape, the dtype and on the device of `input`."""
    if layout is not None:
        only_strided("rand_like", layout)
    given = {"generator": generator, "requires_grad": requires_grad}
    return _like("rand_like", rand, input, dtype, device, memory_format, **given)


def randn_like(
    input: Any,
    *,
    generator: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """`randn` in the shape, the dtype and on the device of `input`."""
    if layout is not None:
        only_strided("randn_like", layout)
    given = {"generator": generator, "requires_grad": requires_grad}
    return _like("randn_like", randn, input, dtype, device, memory_format, **given)


def randint_like(
    input: Any,
    low: Any = None,
    high: Any = None,
    *,
    generator: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """`randint` in the shape, the dtype and on the device of `input`."""
    if layout is not None:
        only_strided("randint_like", layout)
    if low is None and high is None:
        raise TypeError('randint_like() missing 1 required positional arguments: "high"')
    low, high = (0 if low is None else low, high) if high is not None else (0, low)
    given = {"low": low, "high": high, "generator": generator, "requires_grad": requires_grad}
    return _like("randint_like", randint, input, dtype, device, memory_format, **given)


# ---------------------------------------------------------------- distributions


def normal(
    mean: Any = 0.0,
    std: Any = 1.0,
    size: Any = None,
    *,
    generator: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Normal numbers of a mean and a standard deviation: two numbers and a size, or tensors.

    The result has the dtype of the first tensor. Derivative: zero, the numbers are constants.

    Raises: RuntimeError: a standard deviation is negative, or the shapes differ.

    >>> import compat as torch
    >>> torch.normal(2.0, 0.0, (2,)), torch.normal(torch.tensor([1.0, 2.0]), 0.0)
    (tensor([2., 2.]), tensor([1., 2.]))
    """
    if layout is not None:
        only_strided("normal", layout)
    tensors = [x for x in (mean, std) if isinstance(x, TensorBase)]
    if not tensors or size is not None:
        if size is None:
            raise TypeError('normal() missing 1 required positional arguments: "size"')
        shape, chosen = shape_in("normal", size), dtype_for("normal", dtype, out)
        draw = fills.normals("normal", shape, chosen, mean, std)
        array = _draw.numbers("normal", generator, draw)
        return finished("normal", moved(array, device), out, requires_grad)
    if isinstance(std, TensorBase) and dtype_of(std).category == 3:
        raise RuntimeError("normal expects standard deviation to be non-complex")
    check_broadcast(*tensors)
    center = mean if isinstance(mean, TensorBase) else _draw.real("normal", "mean", 1, mean)
    width: Any = std if isinstance(std, TensorBase) else _draw.real("normal", "std", 2, std)
    if not isinstance(std, TensorBase):
        fills.require_std(width)
    kind = dtype_of(tensors[0])

    def draw_around(source: _draw.Stream, *values: Any) -> Any:
        given = iter(values)
        c, w = (next(given) if isinstance(x, TensorBase) else x for x in (center, width))
        if np.less(w, 0).any():
            raise RuntimeError("normal expects all elements of std >= 0.0")
        noise = _draw.normal(source, np.broadcast_shapes(np.shape(c), np.shape(w)), kind)
        return np.asarray(noise * w + c)

    array = _draw.numbers("normal", generator, draw_around, *tensors)
    number = 3 if len(tensors) == 2 else 1 + (tensors[0] is std)
    return _constant("normal", f"NormalBackward{number}", tensors, array, out)


def _constant(name: str, node: str, xs: Sequence[Any], array: Any, out: Any) -> Any:
    """Numbers drawn with the parameters `xs`, in the dtype and on the device of the first.

    They require grad if a parameter does, as in PyTorch; its gradient is zero.
    """
    dtype, device = dtype_of(xs[0]), device_of(xs[0]._array)
    found = tensor(moved(array.astype(dtype.numpy, copy=False), device))
    if out is None and requires_grad(*xs):
        never = moved(np.zeros(array.shape, bool), device)
        for x in reversed(xs):
            found = record(where, (never, convert(x, dtype), found), None, node)
        return found
    return finish(name, found, out, tuple(xs))


def bernoulli(input: Any, p: Any = None, *, generator: Any = None, out: Any = None) -> Tensor:
    """1 with the probability that `input` gives, else 0; or with the probability `p` everywhere.

    Derivative: zero.
    Raises: RuntimeError: a probability is not between 0 and 1.

    >>> import compat as torch
    >>> torch.bernoulli(torch.tensor([0.0, 1.0]))
    tensor([0., 1.])
    """
    x = operand("bernoulli", 1, "input", input)
    if p is not None:
        p = _draw.real("bernoulli", "p", 2, p)
        drawn = tensor(np.zeros(x._array.shape, dtype_of(x).numpy))
        drawn = fills.bernoulli_(drawn, p, generator=generator)
        return _constant("bernoulli", "BernoulliBackward1", [x], drawn._array, out)
    _draw.require("bernoulli_tensor_cpu_p_", dtype_of(x), 2)
    array = _draw.numbers("bernoulli", generator, _trials, x)
    if out is not None:
        return finish("bernoulli", tensor(moved(array, device_of(x._array))), out, (x,))
    return _constant("bernoulli", "BernoulliBackward0", [x], array, None)


def _trials(source: _draw.Stream, chance: Any) -> Any:
    _draw.require_probabilities(chance)
    return np.asarray(source.random(chance.shape) < chance)


def poisson(input: Any, generator: Any = None) -> Tensor:
    """Poisson numbers of the means `input`.

    Derivative: zero.
    Raises: RuntimeError: a mean is negative.

    >>> import compat as torch
    >>> torch.poisson(torch.zeros(2))
    tensor([0., 0.])
    """
    x = operand("poisson", 1, "input", input)
    _draw.require("poisson_cpu", dtype_of(x), 2)

    def draw(source: _draw.Stream, rate: Any) -> Any:
        if not bool((rate >= 0).all()):
            raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
        return np.asarray(source.poisson(rate.astype(np.float64)))

    array = _draw.numbers("poisson", generator, draw, x)
    return _constant("poisson", "PoissonBackward0", [x], array, None)


def binomial(count: Any, prob: Any, generator: Any = None) -> Tensor:
    """How many of `count` trials succeed, with the probability `prob` each.

    Derivative: zero. Counts and probabilities out of range are the nearest in range.

    Raises: ValueError: they are no floats. RuntimeError: their dtypes differ.

    >>> import compat as torch
    >>> torch.binomial(torch.tensor([5.0, 5.0]), torch.tensor([0.0, 1.0]))
    tensor([0., 5.])
    """
    x, p = operand("binomial", 1, "count", count), operand("binomial", 2, "prob", prob)
    for name, d in (("count", dtype_of(x)), ("prob", dtype_of(p))):
        if d.category != 2:
            raise ValueError(
                f"binomial only supports floating-point dtypes for {name}, got: {_type_word(d)}"
            )
    if dtype_of(p) is not dtype_of(x):
        raise RuntimeError(
            f"Found dtype {_type_word(dtype_of(p))} but expected {_type_word(dtype_of(x))}: count "
            f"and prob must be of one dtype"
        )
    check_broadcast(x, p)

    def draw(source: _draw.Stream, trials: Any, chance: Any) -> Any:
        trials = np.maximum(trials, 0).astype(np.int64)
        return np.asarray(source.binomial(trials, np.clip(chance.astype(np.float64), 0, 1)))

    array = _draw.numbers("binomial", generator, draw, x, p)
    return _constant("binomial", "BinomialBackward0", [x, p], array, None)


def multinomial(
    input: Any,
    num_samples: Any,
    replacement: bool = False,
    *,
    generator: Any = None,
    out: Any = None,
) -> Tensor:
    """Places along the last axis, drawn with probabilities proportional to `input`.

    Shapes: ``(k,) -> (num_samples,)``, ``(n, k) -> (n, num_samples)``. Without `replacement` every
    place is drawn once at most, those of weight 0 last.

    Raises: RuntimeError: weights that are negative, not finite or all 0; more samples than places.

    >>> import compat as torch
    >>> torch.multinomial(torch.tensor([0.0, 1.0]), 2, replacement=True)
    tensor([1, 1])
    """
    x = operand("multinomial", 1, "input", input)
    count = _draw.whole("multinomial", "num_samples", 2, num_samples)

    def draw(source: _draw.Stream, weights: Any) -> Any:
        _check_multinomial(x, weights, count, replacement, out)
        found = _places(source, np.atleast_2d(weights).astype(np.float64), count, replacement)
        return found if weights.ndim == 2 else found[0]

    array = _draw.numbers("multinomial", generator, draw, x)
    return finish("multinomial", tensor(moved(array, device_of(x._array))), out, ())


def _places(source: _draw.Stream, rows: Any, count: int, replacement: bool) -> Any:
    """For each row of weights, `count` places drawn in proportion to them."""
    if not replacement:
        with np.errstate(divide="ignore"):
            keys = rows / source.standard_exponential(rows.shape)
        return np.argsort(-keys, axis=1, kind="stable")[:, :count]
    up_to = np.cumsum(rows, axis=1)
    # Row i fills the numbers from i to i + 1, so that one search finds the places of all rows.
    row = np.arange(len(rows))[:, None]
    drawn = source.random((len(rows), count)) + row
    found = np.searchsorted((up_to / up_to[:, -1:] + row).ravel(), drawn, side="right")
    size = rows.shape[1]
    last = size - 1 - np.argmax(rows[:, ::-1] > 0, axis=1)  # rounding may reach the end
    return np.clip(found - row * size, 0, last[:, None])


def _check_multinomial(x: Any, weights: Any, count: int, replacement: bool, out: Any) -> None:
    """Raises: RuntimeError: the arguments fit no distribution."""
    if dtype_of(x).category != 2:
        raise RuntimeError(
            f"multinomial only supports floating-point dtypes for input, got: "
            f"{_type_word(dtype_of(x))}"
        )
    if out is not None and dtype_of(out) is not dtypes.int64:
        raise RuntimeError(f"multinomial expects Long tensor out, got: {_type_word(dtype_of(out))}")
    if weights.ndim not in (1, 2):
        raise RuntimeError(f"prob_dist must be 1 or 2 dim, found {weights.ndim}")
    if count <= 0:
        raise RuntimeError(f"cannot sample n_sample <= 0 samples, found {count}")
    if not replacement and count > weights.shape[-1]:
        raise RuntimeError(
            f"cannot sample n_sample > prob_dist.size(-1) samples without replacement: {count} of "
            f"{weights.shape[-1]}"
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if not (weights.sum(axis=-1) > 0).all():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")


class RandomMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    bernoulli = bernoulli
    bernoulli_ = fills.bernoulli_
    cauchy_ = fills.cauchy_
    exponential_ = fills.exponential_
    geometric_ = fills.geometric_
    log_normal_ = fills.log_normal_
    multinomial = multinomial
    normal_ = fills.normal_
    random_ = fills.random_
    uniform_ = fills.uniform_


__all__ = [
    "bernoulli",
    "binomial",
    "multinomial",
    "normal",
    "poisson",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
]
