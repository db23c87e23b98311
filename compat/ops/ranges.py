"""Numbers at equal distances: ranges by their step or by their number."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.core import Tracer
from funcgrad.indexing import known
from funcgrad.ops.arithmetic import power
from funcgrad.ops.cast import astype
from funcgrad.ops.rounding import trunc
from funcgrad.ops.select import where

from .. import dtypes
from ..autograd import sites
from ..autograd.base import TensorBase
from ..autograd.tape import through
from ._apply import _type_word, finish
from ._fresh import dtype_for, finished, only_strided, there
from ._operands import dtype_of, is_number, number_for, plain_number

if TYPE_CHECKING:
    from .._tensor import Tensor

_MISSING: Any = object()


def _limit(name: str, position: int, argument: str, x: Any) -> Any:
    """A number, or the one in a tensor without axes that needs no gradient.

    Raises: TypeError: it is none.
    """
    if isinstance(x, TensorBase) and not x._array.shape:
        return plain_number(name, argument, x)
    if not is_number(x):
        raise TypeError(
            f"{name}(): argument '{argument}' (position {position}) must be Number, not "
            f"{type(x).__name__}"
        )
    return x.item() if isinstance(x, np.generic) else x


def _refused(kernel: str, dtype: dtypes.dtype) -> NotImplementedError:
    """PyTorch's error for a dtype that it has no kernel for."""
    return NotImplementedError(
        f"\"{kernel}\" not implemented for '{_type_word(dtype)}'. Make it in another dtype and "
        f"convert that."
    )


def _as_in(out: Any, array: Any) -> Any:
    """The numbers in the shape of `out`, if it has room for just as many."""
    if out is None or out.numel() != array.size:
        return array
    return array.reshape(out._array.shape)


# ---------------------------------------------------------------- by the step


def _check(start: Any, end: Any, step: Any) -> None:
    """Raises: RuntimeError: the step is 0 or leads away from the end, or there is no end."""
    if not step:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if (end - start) * step < 0:
        raise RuntimeError(
            f"upper bound and lower bound inconsistent with step sign: from {start} to {end} by "
            f"{step}"
        )


def _steps(start: Any, step: Any, count: int, dtype: dtypes.dtype) -> np.ndarray:
    """``start + step * i``, computed in integers or in double precision."""
    wide: Any = np.int64 if dtype.category == 1 else np.float64
    numbers = np.arange(count, dtype=wide)
    return np.asarray(wide(start) + wide(step) * numbers).astype(dtype.numpy)


def arange(
    start: Any = _MISSING,
    end: Any = _MISSING,
    step: Any = _MISSING,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """``start, start + step, ...`` before `end`: integers if all three are.

    ``arange(end)`` starts at 0. There are ``ceil((end - start) / step)`` numbers.

    Raises: RuntimeError: the step is 0 or has the wrong sign. TypeError: something is no number.

    >>> import compat as torch
    >>> torch.arange(3), torch.arange(0.0, 1.0, 0.5)
    (tensor([0, 1, 2]), tensor([0.0000, 0.5000]))
    """
    if layout is not None:
        only_strided("arange", layout)
    if end is _MISSING:
        if start is _MISSING or step is not _MISSING:
            raise TypeError("arange() received an invalid combination of arguments: end is missing")
        start, end = 0, _limit("arange", 1, "end", start)
    start, step = 0 if start is _MISSING else start, 1 if step is _MISSING else step
    start, end, step = (
        _limit("arange", i + 1, name, x)
        for i, (name, x) in enumerate((("start", start), ("end", end), ("step", step)))
    )
    given = (start, end, step)
    if any(isinstance(x, complex) for x in given):
        raise RuntimeError("value cannot be converted to type double without overflow")
    integers = all(dtypes.scalar_category(x) < 2 for x in given)
    chosen = dtype_for("arange", dtype, out, dtypes.int64 if integers else None)
    if chosen.category in (0, 3):
        raise _refused("arange_cpu", chosen)
    _check(start, end, step)
    if chosen is dtypes.int64:  # PyTorch counts in integers then
        start, end, step = map(int, given)
        if not step:
            raise ValueError(f"step must be nonzero: {given[2]} is 0 as an integer")
    count = -int((start - end) // step) if integers else math.ceil((end - start) / step)
    array = _steps(start, step, count, chosen)
    with there(device) as xp:
        return finished("arange", xp.asarray(_as_in(out, array)), out, requires_grad)


def range(
    start: Any = 0,
    end: Any = _MISSING,
    step: Any = 1,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Deprecated: `arange` with the end, in the default dtype also for integers."""
    if layout is not None:
        only_strided("range", layout)
    sites.warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is "
        "inconsistent with Python's range builtin. Instead, use torch.arange, which produces "
        "values in [start, end)."
    )
    if end is _MISSING:
        start, end = 0, start
    start, end, step = (
        _limit("range", i + 1, name, x)
        for i, (name, x) in enumerate((("start", start), ("end", end), ("step", step)))
    )
    _check(start, end, step)
    chosen = dtype_for("range", dtype, out)
    array = _steps(start, step, math.floor((end - start) / step) + 1, chosen)
    with there(device) as xp:
        return finished("range", xp.asarray(_as_in(out, array)), out, requires_grad)


# ---------------------------------------------------------------- by the number


def _end(x: Any, dtype: dtypes.dtype) -> Any:
    """One end in the precision that is computed in; whole if the numbers will be integers."""
    whole = dtype.category == 1
    real: Any = np.float64 if whole else np.float32 if dtype.itemsize < 4 else dtype.numpy.type
    if isinstance(x, Tracer):
        return astype(astype(x, dtype.numpy) if whole else x, real)
    return real(int(number_for(dtype, x)) if whole else x)


def _between(start: Any, end: Any, steps: int, dtype: dtypes.dtype) -> Any:
    """`steps` numbers, counted from the nearer end, so that both ends are exact."""
    if not dtype.category:
        raise _refused("linspace_cpu", dtype)
    low, high = _end(start, dtype), _end(end, dtype)
    step = (high - low) / low.dtype.type(max(steps - 1, 1))
    index = np.arange(steps)
    first = index < max(steps // 2, int(steps == 1))
    values = where(first, low + step * index, high - step * (steps - 1 - index))
    if dtype.category == 1:
        values = trunc(values)
    return astype(values, dtype.numpy)


def _powers(start: Any, end: Any, steps: int, base: float, dtype: dtypes.dtype) -> Any:
    """`base` to the powers of `_between`, computed in double precision."""
    wide = dtypes.complex128 if dtype.category == 3 else dtypes.float64
    if dtype.category == 1:
        start, end = (trunc(x) if isinstance(x, Tracer) else int(x) for x in (start, end))
    exponents = _between(start, end, steps, wide if dtype.category else dtype)
    with np.errstate(all="ignore"):
        return astype(power(wide.numpy.type(base), exponents), dtype.numpy)


def _tensor_of(
    name: str, f: Any, start: Any, end: Any, count: int, chosen: dtypes.dtype, options: Any
) -> Any:
    """``f(start, end, count, dtype)`` as a new leaf, or in `out`; the ends get no gradient."""
    out, device, requires_grad = options
    if any(isinstance(x, TensorBase) for x in (start, end)):
        values = through(lambda a, b: _as_in(out, f(a, b, count, chosen)), start, end)
        result = finish(name, values, out, ())
        return result.requires_grad_() if requires_grad else result
    with there(device) as xp:
        array = xp.asarray(_as_in(out, f(start, end, count, chosen)))
        return finished(name, array, out, requires_grad)


def _is_complex(x: Any) -> bool:
    return dtype_of(x).category == 3 if isinstance(x, TensorBase) else isinstance(x, complex)


def _arguments(
    name: str, start: Any, end: Any, steps: Any, dtype: Any, out: Any
) -> tuple[Any, Any, int, dtypes.dtype]:
    """The limits as numbers, or as tensors where a transform knows none; their number; the dtype.

    Raises: RuntimeError: a negative number of steps, limits with axes, or complex ones for a real
    dtype. TypeError: something is no number.
    """
    for argument, x in (("start", start), ("end", end)):
        if isinstance(x, TensorBase) and x._array.shape:
            raise RuntimeError(
                f"{name} only supports 0-dimensional start and end tensors, but got {argument} "
                f"with {len(x._array.shape)} dimension(s)."
            )
    ends = [
        x.detach() if isinstance(x, TensorBase) else x  # type: ignore[attr-defined]
        for x in (start, end)
    ]
    start, end = (
        x
        if isinstance(x, TensorBase) and known(x._array) is None
        else _limit(name, i + 1, argument, x)
        for i, (argument, x) in enumerate(zip(("start", "end"), ends, strict=True))
    )
    count = operator.index(steps)
    if count < 0:
        raise RuntimeError(f"number of steps must be non-negative, found {count}")
    inferred = None
    if any(_is_complex(x) for x in (start, end)):
        inferred = dtypes.get_default_dtype().to_complex()
    chosen = dtype_for(name, dtype, out, inferred)
    if inferred is not None and chosen.category < 3:
        raise RuntimeError(
            f"torch.{name}(): inferred dtype {_type_word(inferred)} can't be safely cast to passed "
            f"dtype {_type_word(chosen)}"
        )
    return start, end, count, chosen


def linspace(
    start: Any,
    end: Any,
    steps: Any,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """`steps` numbers from `start` to `end`, both included, equally far apart.

    Derivative: none by the ends, as in PyTorch; under `vmap` they may be tensors.
    Raises: RuntimeError: `steps` is negative. TypeError: something is no number.

    >>> import compat as torch
    >>> torch.linspace(0, 1, 3)
    tensor([0.0000, 0.5000, 1.0000])
    """
    if layout is not None:
        only_strided("linspace", layout)
    given = _arguments("linspace", start, end, steps, dtype, out)
    return _tensor_of("linspace", _between, *given, (out, device, requires_grad))


def logspace(
    start: Any,
    end: Any,
    steps: Any,
    base: float = 10.0,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """`base` to the powers `linspace`.

    >>> import compat as torch
    >>> torch.logspace(0, 2, 3)
    tensor([  1.,  10., 100.])
    """
    if layout is not None:
        only_strided("logspace", layout)
    given = _arguments("logspace", start, end, steps, dtype, out)

    def values(low: Any, high: Any, count: int, chosen: dtypes.dtype) -> Any:
        return _powers(low, high, count, base, chosen)

    return _tensor_of("logspace", values, *given, (out, device, requires_grad))


__all__ = ["arange", "linspace", "logspace", "range"]
