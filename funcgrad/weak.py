"""Python's numbers with NumPy's arithmetic, for what eager loops and branches are given.

Layer 0. A program computes with a Python number as with any other array: ``1.0 / 0.0`` is infinite,
``(-1.0) ** 0.5`` is NaN, ``~(x > 0)`` is a truth value, ``x.shape`` is ``()``; only its type yields to
that of arrays. Python itself raises, makes it complex, says -2, and knows no shape. These numbers do
what a program does, and NumPy takes them for Python's, since they are.

>>> x = weak(1.0)
>>> x / 0.0, x.shape, (x * np.ones(1, np.float32)).dtype
(inf, (), dtype('float32'))
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np


def _binary(ufunc: np.ufunc, *, reflected: bool = False) -> Callable[[Any, Any], Any]:
    def operation(self: Any, other: Any) -> Any:
        cls = other.__class__
        if cls in _PLAIN:
            other = plain(other)
        elif not hasattr(cls, "__array_ufunc__"):
            return NotImplemented
        x = plain(self)
        with np.errstate(all="ignore"):
            found = ufunc(other, x) if reflected else ufunc(x, other)
        return weak(found.item()) if cls in _PLAIN and found.dtype.kind != "b" else found

    return operation


def _unary(ufunc: np.ufunc) -> Callable[[Any], Any]:
    return lambda self: weak(ufunc(plain(self)).item())


class Weak:
    """What the three kinds of numbers share."""

    __slots__ = ()
    __array_priority__ = -1.0

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(np.asarray(plain(self))[()], name)

    def __getitem__(self, index: Any) -> Any:
        return np.asarray(plain(self))[()][index]

    def __hash__(self) -> int:
        return hash(plain(self))

    def __reduce__(self) -> Any:
        return plain, (plain(self),)


_BINARY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.true_divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "pow": np.power,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "lshift": np.left_shift,
    "rshift": np.right_shift,
}
_COMPARISONS = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
_UNARY = {"neg": np.negative, "pos": np.positive, "abs": np.absolute, "invert": np.invert}

for _name, _ufunc in _BINARY.items():
    setattr(Weak, f"__{_name}__", _binary(_ufunc))
    setattr(Weak, f"__r{_name}__", _binary(_ufunc, reflected=True))
for _name, _ufunc in _COMPARISONS.items():
    setattr(Weak, f"__{_name}__", _binary(_ufunc))
for _name, _ufunc in _UNARY.items():
    setattr(Weak, f"__{_name}__", _unary(_ufunc))
