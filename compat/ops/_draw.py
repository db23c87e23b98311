"""Arrays of random numbers in any dtype, and the checks of what distributions take.

NOTE [Randomness] Everything that draws goes through `numbers`, which asks the running `vmap`s what
their `randomness` is: the innermost first, then those outside of it. Where `compile` traces, its trace
keeps `draw`, which is called again at every call of the program: it must mean the same then.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad.core import Trace, Tracer, current, run_under
from funcgrad.ops.join import stack
from funcgrad.transforms.vmap import BatchTracer, take_example
from funcgrad.views import refresh

from .. import dtypes
from ..autograd import modes, views
from ..autograd.base import TensorBase, tensor
from ..autograd.levels import Level
from ._apply import _type_word
from ._compose import values_of
from .create import moved
from .generator import stream

Stream = np.random.Generator
Shape = tuple[int, ...]
Draw = Callable[..., Any]  # of a stream and the arrays of parameters

_BITS = {"float16": 11, "bfloat16": 8}  # so many bits have numbers below 1 that never round to 1
_C_WORDS = {
    "float32": "float",
    "float64": "double",
    "float16": "c10::Half",
    "bfloat16": "c10::BFloat16",
    "int64": "long int",
    "int32": "int",
    "int16": "short int",
    "int8": "signed char",
    "uint8": "unsigned char",
    "bool": "bool",
}


# ---------------------------------------------------------------- drawing


def numbers(name: str, generator: Any, draw: Draw, *parameters: TensorBase) -> Any:
    """``draw(stream, *arrays)`` as the function `name` draws, with the arrays of the parameters.

    Under `vmap` the result is traced where every example has its own.

    Raises: TypeError: `generator` is none. RuntimeError: `vmap` does not allow it.
    """
    source = stream(name, generator)
    return _drawn(name, modes.get().level, draw, source, [p._array for p in parameters])


def _drawn(
    name: str, level: Level | None, draw: Draw, source: Stream, arrays: Sequence[Any]
) -> Any:
    """As the levels from `level` outwards want it."""
    while level is not None and level.randomness is None:
        level = level.outside.level
    if level is None:
        values = [moved(values_of(name, tensor(a)), "cpu") for a in arrays]
        drawn = getattr(current.get(), "drawn", None)
        return draw(source, *values) if drawn is None else drawn(draw, source, values)
    if level.randomness == "error":
        raise RuntimeError(
            "vmap: called random operation while in randomness error mode. Please either use the "
            "'same' or 'different' randomness flags on vmap or perform the randomness operation out of "
            f"vmap: {name}()"
        )
    outside, trace = level.outside.level, level.batch
    parts = [_part(a, trace) for a in arrays]
    if level.randomness == "same":
        if any(axis is not None for _, axis in parts):
            raise RuntimeError(
                f"Vmap does not currently support same randomness with a batched tensor input: the "
                f"parameters of {name}() differ between examples. Use randomness='different'."
            )
        return _drawn(name, outside, draw, source, [x for x, _ in parts])

    def each() -> Any:
        rows = [[x if b is None else take_example(x, b, i) for x, b in parts] for i in range(size)]
        return stack([_drawn(name, outside, draw, source, row) for row in rows], axis=0)

    size = trace.size
    return BatchTracer(trace, run_under(trace.parent, each, ()), 0)


def _part(x: Any, trace: Trace) -> tuple[Any, int | None]:
    """What `x` is to a trace of `vmap`, below the traces inside it: a value and its batch axis."""
    outside: set[Trace] = set()
    outer = trace.parent
    while outer not in outside:  # the last one is its own parent
        outside.add(outer)
        outer = outer.parent
    while isinstance(x, Tracer) and x.owner not in outside:
        if x.alias is not None:
            refresh(x)
        if isinstance(x, BatchTracer) and x.owner is trace:
            return x.value, x.bdim
        if x.known is None:
            break
        x = x.known
    return x, None


# ---------------------------------------------------------------- what distributions take


def c_word(dtype: dtypes.dtype) -> str:
    """How PyTorch's messages about limits call a dtype."""
    return _C_WORDS[dtype.name]


def real(name: str, argument: str, position: int, x: Any) -> float:
    """A parameter of a distribution: a real number, or a tensor of one that has no axes.

    Raises: TypeError: it is something else, or requires grad.
    """
    if isinstance(x, TensorBase) and not x._array.shape and views.edge(x) is None:
        x = values_of(name, x).item()
    if isinstance(x, int | float | np.bool | np.integer | np.floating):
        return float(x)
    raise TypeError(
        f"{name}(): argument '{argument}' (position {position}) must be float, not "
        f"{type(x).__name__}"
    )


def whole(name: str, argument: str, position: int, x: Any) -> int:
    """A bound or a count.

    Raises: TypeError: it is no integer, or a truth value.
    """
    if not hasattr(type(x), "__index__") or isinstance(x, bool | np.bool):
        raise TypeError(
            f"{name}(): argument '{argument}' (position {position}) must be int, not "
            f"{type(x).__name__}"
        )
    return operator.index(x)


def require(kernel: str, dtype: dtypes.dtype, *categories: int) -> None:
    """Raises: NotImplementedError: the dtype is of another category; as PyTorch's kernel says it."""
    if dtype.category not in categories:
        raise NotImplementedError(
            f"\"{kernel}\" not implemented for '{_type_word(dtype)}'. Draw the numbers in another "
            f"dtype and convert them."
        )


def uniform(source: Stream, shape: Shape, dtype: dtypes.dtype) -> Any:
    """Numbers with ``0 <= x < 1``, floats; the parts of complex ones."""
    require("check_uniform_bounds", dtype, 2, 3)
    if dtype.category == 3:
        parts = source.random((2, *shape), dtype.to_real().numpy)
        return (parts[0] + dtype.numpy.type(1j) * parts[1]).astype(dtype.numpy)
    bits = _BITS.get(dtype.name)
    if bits is None:
        return np.asarray(source.random(shape, dtype.numpy))
    whole = source.integers(0, 2**bits, shape)
    return np.asarray(whole / 2.0**bits).astype(dtype.numpy)


def normal(source: Stream, shape: Shape, dtype: dtypes.dtype) -> Any:
    """Numbers of mean 0 and variance 1; the parts of complex ones have half the variance."""
    require("normal_kernel_cpu", dtype, 2, 3)
    if dtype.category == 3:
        parts = source.standard_normal((2, *shape), dtype.to_real().numpy)
        return ((parts[0] + dtype.numpy.type(1j) * parts[1]) * np.sqrt(0.5)).astype(dtype.numpy)
    return np.asarray(source.standard_normal(shape, _computed(dtype))).astype(dtype.numpy)


def exponential(source: Stream, shape: Shape, dtype: dtypes.dtype) -> Any:
    """Exponential numbers of mean 1."""
    return np.asarray(source.standard_exponential(shape, _computed(dtype))).astype(dtype.numpy)


def _computed(dtype: dtypes.dtype) -> Any:
    """The dtype that NumPy draws them in."""
    return np.float64 if dtype is dtypes.float64 else np.float32


def integers(source: Stream, shape: Shape, low: int, high: int, dtype: dtypes.dtype) -> Any:
    """Integers with ``low <= x < high`` in any real dtype.

    Raises: RuntimeError: there are none, or the dtype cannot hold them.
    """
    if low >= high:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    first, last = limits(dtype)
    for name, bound in (("from", low), ("to - 1", high - 1)):
        if not first <= bound <= last:
            raise RuntimeError(
                f"{name} is out of bounds for {c_word(dtype)}: {bound} is not between {first} and "
                f"{last}"
            )
    drawn = np.asarray(source.integers(low, high, shape, np.int64)).astype(dtype.numpy)
    if dtype.category != 2:
        return drawn
    # Integers of more digits than the dtype has were rounded, the last ones up to `high`.
    ends = dtype.numpy.type(low), dtype.numpy.type(high)
    least = np.nextafter(ends[0], ends[1]) if int(ends[0]) < low else ends[0]
    most = np.nextafter(ends[1], ends[0]) if int(ends[1]) >= high else ends[1]
    return np.clip(drawn, least, most)


def limits(dtype: dtypes.dtype) -> tuple[int, int]:
    """The smallest and the largest integer of a real dtype."""
    if not dtype.category:
        return 0, 1
    found: Any = dtypes.iinfo(dtype) if dtype.category == 1 else dtypes.finfo(dtype)
    return int(found.min), int(found.max)


def require_probabilities(p: Any) -> None:
    """Raises: RuntimeError: a number in the array is not between 0 and 1."""
    if not bool(((p >= 0) & (p <= 1)).all()):
        raise RuntimeError(
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false. Probabilities are between "
            "0 and 1."
        )
