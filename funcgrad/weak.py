"""Python's numbers with NumPy's arithmetic, for the first step of eager loops and for branches.

Layer 0. A program computes with a Python number as with any array: ``1.0 / 0.0`` is infinite,
``(-1.0) ** 0.5`` is NaN, ``~(x > 0)`` is a truth value, ``x.shape`` is ``()``; only its type yields to
that of arrays. Python raises, makes it complex, says -2, and knows no shape. These numbers do what
a program does, and are Python's for everything else:

>>> x = weak(1.0)
>>> y = x / 0.0
>>> y, y.shape, (np.ones(1, np.float32) * y).dtype, type(plain(y))
(inf, (), dtype('float32'), <class 'float'>)
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np


def _binary(ufunc: np.ufunc, *, reflected: bool = False) -> Callable[[Any, Any], Any]:
    python = _SAME.get(ufunc)

    def operation(self: Any, other: Any) -> Any:
        x, y = _PLAIN[self.__class__](self), other
        if y.__class__ in _PLAIN:
            y = _PLAIN[y.__class__](y)
        if python is not None and y.__class__ is x.__class__ is not complex:
            z = python(y, x) if reflected else python(x, y)
            if z.__class__ is float or -_MOST <= z < _MOST:
                return _KINDS[z.__class__](z)
        if y.__class__ in _KINDS:
            with np.errstate(all="ignore"):
                return weak((ufunc(y, x) if reflected else ufunc(x, y)).item())
        if not hasattr(y, "__array_ufunc__"):
            return NotImplemented
        return ufunc(y, x) if reflected else ufunc(x, y)

    return operation


def _unary(ufunc: np.ufunc) -> Callable[[Any], Any]:
    return lambda self: weak(ufunc(plain(self)).item())


# Where Python computes what NumPy does, for two of one kind, if no integer is too large.
_SAME: dict[Any, Callable[[Any, Any], Any]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
}
_MOST = 2**63


class Weak:
    """What the numbers of all kinds share."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(np.asarray(plain(self))[()], name)

    def __getitem__(self, index: Any) -> Any:
        return np.asarray(plain(self))[()][index]

    def __reduce__(self) -> Any:
        return plain, (plain(self),)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *xs: Any, **options: Any) -> Any:
        numbers = [_PLAIN[x.__class__](x) if x.__class__ in _PLAIN else plain(x) for x in xs]
        if method == "__call__" and not options:
            return ufunc(*numbers)
        return getattr(ufunc, method)(*numbers, **options)

    def __array_function__(self, f: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return f(*plain(args), **plain(kwargs))


_ARITHMETIC = {
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
_OF_ONE = {
    "neg": np.negative,
    "pos": np.positive,
    "abs": np.absolute,
    "invert": np.invert,
}

# The operators that make a Python number of Python's numbers, as NumPy calls them.
OPERATORS = frozenset(f.__name__ for f in (*_ARITHMETIC.values(), *_OF_ONE.values()))

for _name, _ufunc in _ARITHMETIC.items():
    setattr(Weak, f"__{_name}__", _binary(_ufunc))
    setattr(Weak, f"__r{_name}__", _binary(_ufunc, reflected=True))

for _name, _ufunc in {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}.items():
    setattr(Weak, f"__{_name}__", _binary(_ufunc))

for _name, _function in _OF_ONE.items():
    setattr(Weak, f"__{_name}__", _unary(_function))


class WeakInt(Weak, int):
    __hash__ = int.__hash__


class WeakFloat(Weak, float):
    __hash__ = float.__hash__


class WeakComplex(Weak, complex):
    __hash__ = complex.__hash__


PYTHON_DTYPES: dict[type, Any] = {
    **{cls: np.dtype(cls) for cls in (bool, int, float, complex)},
    **{WeakInt: np.dtype(int), WeakFloat: np.dtype(float), WeakComplex: np.dtype(complex)},
}
_KINDS: dict[type, type] = {
    bool: np.bool_,
    int: WeakInt,
    float: WeakFloat,
    complex: WeakComplex,
}
_PLAIN: dict[type, type] = {WeakInt: int, WeakFloat: float, WeakComplex: complex}


def weak(x: Any) -> Any:
    """A Python number with NumPy's arithmetic; anything else as it is."""
    kind = _KINDS.get(x.__class__)
    return x if kind is None else kind(x)


def plain(x: Any) -> Any:
    """A number as Python's, also inside of lists and dicts; anything else as it is."""
    cls = x.__class__
    if cls in _PLAIN:
        return _PLAIN[cls](x)
    if cls is tuple or cls is list:
        return cls(map(plain, x))
    return {k: plain(v) for k, v in x.items()} if cls is dict else x


def number(x: Any) -> Any:
    """What operators have made of Python's numbers, and NumPy one of its own: Python's again."""
    return x.item() if isinstance(x, np.generic) else x
