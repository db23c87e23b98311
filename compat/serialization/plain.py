"""NumPy's arrays, numbers and dtypes, and Python's slices and the like, as `pickle` describes them.

Both directions. What is read is made by the functions below, which look at all of it first: a file
says a dtype by its code, a shape and bytes, and these have to fit together.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .names import CheckpointError, Global, may_be_key

_KINDS = "biufcSU"  # of dtypes whose elements are their bytes
_MULTIARRAY = "numpy._core.multiarray"
_PYTHON = ("__builtin__", "builtins")
TYPES = frozenset({"numpy ndarray"})


def is_plain(dtype: np.dtype[Any]) -> bool:
    """Whether elements are numbers, booleans or strings: no objects, dates or fields."""
    return dtype.kind in _KINDS and dtype.itemsize > 0


# ---------------------------------------------------------------- writing


def _parts(x: Any) -> Any:
    """The function that makes `x`, its arguments, and the state that it is given then."""
    return x.__reduce__()


def _write_dtype(w: Any, x: np.dtype[Any]) -> None:
    if not is_plain(x):
        raise TypeError(
            f"torch.save: the NumPy dtype {x} is not data: save arrays of numbers, booleans or "
            f"strings, or x.tolist()"
        )
    if not w.known(x):
        _, args, state = _parts(x)
        w.call("numpy dtype", *args)
        w.remember(x)
        w.raw_tuple(state)
        w.out += b"b"


def _write_array(w: Any, x: np.ndarray) -> None:
    if not w.known(x):
        _, (_, shape, code), state = _parts(x)
        w.call(f"{_MULTIARRAY} _reconstruct", lambda: w.name("numpy ndarray"), shape, code)
        w.remember(x)
        w.raw_tuple(state)
        w.out += b"b"


def _write_scalar(w: Any, x: np.generic) -> None:
    w.call(f"{_MULTIARRAY} scalar", x.dtype, x.tobytes())


_DTYPES = [np.dtype(code) for code in (*np.typecodes["All"], "S1", "U1")]

WRITERS: dict[type, Callable[[Any, Any], Any]] = {
    np.ndarray: _write_array,
    **{type(dtype): _write_dtype for dtype in _DTYPES},
    **{dtype.type: _write_scalar for dtype in _DTYPES},
    bytearray: lambda w, x: w.call("__builtin__ bytearray", bytes(x)),
    slice: lambda w, x: w.call("__builtin__ slice", x.start, x.stop, x.step),
    range: lambda w, x: w.call("__builtin__ xrange", x.start, x.stop, x.step),
    type(...): lambda w, x: w.name("__builtin__ Ellipsis"),
}


# ---------------------------------------------------------------- reading


def set_of(items: Any = ()) -> set[Any]:
    if not all(may_be_key(x) for x in items):
        raise CheckpointError("a set of what is no number, string or tuple of them")
    return set(items)


def _dtype(code: Any, *_: Any) -> np.dtype[Any]:
    """A dtype of its own, as `build` may change its order of bytes."""
    found = np.dtype(code, False, True) if type(code) is str else None
    if found is None or not is_plain(found):
        raise CheckpointError(f"an array or number of the NumPy dtype {code!r}, which is not data")
    return found


def _array(kind: Any, *_: Any) -> np.ndarray:
    if kind != Global("numpy ndarray"):
        raise CheckpointError("an array of a class of its own")
    return np.empty(0)


def _scalar(dtype: Any, data: Any) -> Any:
    return _elements((), dtype, data)[()]


def _elements(shape: Any, dtype: Any, data: Any) -> np.ndarray:
    """Such an array of these bytes, which must be as many as it has."""
    if not isinstance(dtype, np.dtype) or type(data) is not bytes or type(shape) is not tuple:
        raise CheckpointError("an array that is not made of a shape, a dtype and bytes")
    if not all(type(n) is int and n >= 0 for n in shape):
        raise CheckpointError(f"an array of the shape {shape!r}")
    if math.prod(shape) * dtype.itemsize != len(data):
        raise CheckpointError(f"an array of the shape {shape} and {dtype} of {len(data)} bytes")
    if dtype.kind == "b" and data.strip(b"\0\1"):
        raise CheckpointError("a boolean that is neither 0 nor 1")
    return np.frombuffer(data, dtype).reshape(shape)


def build(x: Any, state: Any) -> bool:
    """Give an array or dtype the state that its pickle has; False: `x` is neither.

    Raises: CheckpointError: that is not its state.
    """
    if type(x) is not np.ndarray and not isinstance(x, np.dtype):
        return False
    if type(state) is not tuple or len(state) < 5:
        raise CheckpointError("an array or dtype with the state of something else")
    if type(x) is np.ndarray:
        _, shape, dtype, fortran, data = state
        _elements(shape, dtype, data)
        x.__setstate__((1, shape, dtype, fortran is True, data))  # type: ignore[arg-type]
    else:
        if state[1] not in ("<", ">", "|", "="):
            raise CheckpointError(f"the order of bytes {state[1]!r}")
        version, _, *rest = _parts(x)[2]
        x.__setstate__((version, state[1], *rest))  # type: ignore[union-attr]
    return True


def _of_integers(make: Callable[..., Any]) -> Callable[..., Any]:
    def made(*args: Any) -> Any:
        if not all(x is None or type(x) is int for x in args):
            raise CheckpointError(f"a {make.__name__} of what is no integer")
        return make(*args)

    return made


def _bytearray(data: Any = b"") -> bytearray:
    if type(data) is not bytes:
        raise CheckpointError("a bytearray of what is no bytes")
    return bytearray(data)


CALLS: dict[str, Callable[..., Any]] = {
    "numpy dtype": _dtype,
    **{f"{module} _reconstruct": _array for module in (_MULTIARRAY, "numpy.core.multiarray")},
    **{f"{module} scalar": _scalar for module in (_MULTIARRAY, "numpy.core.multiarray")},
    **{f"{module} set": set_of for module in _PYTHON},
    **{f"{module} frozenset": lambda items=(): frozenset(set_of(items)) for module in _PYTHON},
    **{f"{module} bytearray": _bytearray for module in _PYTHON},
    **{f"{module} slice": _of_integers(slice) for module in _PYTHON},
    **{name: _of_integers(range) for name in ("__builtin__ xrange", "builtins range")},
}
CONSTANTS: dict[str, Any] = {f"{module} Ellipsis": ... for module in _PYTHON}
