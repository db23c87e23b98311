"""Functions of elements and sums along axes, as tables of names and what they are."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

import compat as torch
import funcgrad.numpy as fnp

from ._function import Function, MyGradBinaryUfunc, MyGradUnaryUfunc

# Ufuncs by the number of their operands; PyTorch's name where it differs.
_UNARY = [
    "negative",
    "positive",
    "sqrt",
    "cbrt",
    "square",
    "reciprocal",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "arcsin",
    "arccos",
    "arctan",
    "sinh",
    "cosh",
    "tanh",
    "arcsinh",
    "arccosh",
    "arctanh",
]
_BINARY = ["arctan2", "logaddexp", "logaddexp2", "maximum", "minimum"]
_OPERATORS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "true_divide": operator.truediv,
    "power": operator.pow,
}


class _Absolute(MyGradUnaryUfunc):
    """The distance from 0, whose slope at 0 is 0, or NaN with ``nan_to_num=False``."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        is_flat = options.pop("nan_to_num", True)
        return super().__call__(*args, **options) if is_flat else _cusped(*args, **options)


def no_slope_at_zero(x: Any, y: Any) -> Any:
    """``y``, with a derivative of NaN where ``x`` is 0."""
    root = np.sqrt(np.where(x == 0, x, 1.0) ** 2)
    return np.where(x == 0, root, y)


_cusped = Function("absolute", lambda x: no_slope_at_zero(x, np.abs(x)), operands="x")

NAMES: dict[str, Any] = {}
for _name in _UNARY:
    NAMES[_name] = MyGradUnaryUfunc(_name, getattr(np, _name), getattr(torch, _name, None))
for _name in _BINARY:
    NAMES[_name] = MyGradBinaryUfunc(_name, getattr(np, _name), getattr(torch, _name, None))
for _name, _operator in _OPERATORS.items():
    NAMES[_name] = MyGradBinaryUfunc(_name, getattr(np, _name), _operator, numbers=True)
NAMES["matmul"] = MyGradBinaryUfunc("matmul", np.matmul, torch.matmul)
NAMES["absolute"] = NAMES["abs"] = _Absolute("absolute", np.absolute, torch.absolute)
NAMES["divide"] = NAMES["true_divide"]


# ---------------------------------------------------------------- formulas


def _arccot(x: Any) -> Any:
    inverse = 1 / np.where(x == 0, 1.0, x)
    return np.where(x == 0, np.pi / 2 - x, np.arctan(inverse))


_FORMULAS: dict[str, tuple[Callable[..., Any], str]] = {
    "cot": (lambda x: 1 / np.tan(x), "``1 / tan x``."),
    "csc": (lambda x: 1 / np.sin(x), "``1 / sin x``."),
    "sec": (lambda x: 1 / np.cos(x), "``1 / cos x``."),
    "arccot": (_arccot, "The angle in ``(-pi / 2, pi / 2]`` with this cotangent."),
    "arccsc": (lambda x: np.arcsin(1 / x), "``arcsin(1 / x)``."),
    "arcsec": (lambda x: np.arccos(1 / x), "``arccos(1 / x)``."),
    "coth": (lambda x: 1 / np.tanh(x), "``1 / tanh x``."),
    "csch": (lambda x: 1 / np.sinh(x), "``1 / sinh x``."),
    "sech": (lambda x: 1 / np.cosh(x), "``1 / cosh x``."),
    "arccoth": (lambda x: np.arctanh(1 / x), "``arctanh(1 / x)``."),
    "arccsch": (lambda x: np.arcsinh(1 / x), "``arcsinh(1 / x)``."),
}
for _name, (_formula, _does) in _FORMULAS.items():
    NAMES[_name] = Function(_name, _formula, does=_does)
NAMES["sinc"] = Function("sinc", np.sinc, fast=torch.sinc, traced=fnp.sinc, overrides=[np.sinc])


# ---------------------------------------------------------------- along axes


def _of_numbers_too(f: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy lets numbers have an axis 0 to be summed along."""

    def reduced(x: Any, axis: Any = None, **options: Any) -> Any:
        return f(x, axis=axis if x.shape or axis not in (0, -1) else None, **options)

    return reduced


for _name, _parameters, _fast in (
    ("sum", "axis keepdims", operator.methodcaller("sum")),
    ("mean", "axis keepdims", operator.methodcaller("mean")),
    ("prod", "axis keepdims", None),
    ("max", "axis keepdims", None),
    ("min", "axis keepdims", None),
    ("var", "axis ddof keepdims", None),
    ("std", "axis ddof keepdims", None),
    ("cumsum", "axis", None),
    ("cumprod", "axis", None),
):
    _numpy = getattr(np, _name)
    NAMES[_name] = Function(
        _name,
        _numpy,
        _parameters,
        operands="a" if _name in ("prod", "cumsum", "cumprod") else "x",
        fast=_fast,
        traced=_of_numbers_too(getattr(fnp, _name)),
        overrides=[_numpy],
    )
for _short, _long in (("max", "amax"), ("min", "amin")):
    NAMES[_long] = NAMES[_short]


# ---------------------------------------------------------------- of several tensors


class _Several(Function):
    """A function of any number of tensors, from two on."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        constant = options.pop("constant", None)
        if len(args) < 2:
            raise ValueError(f"{self.__name__}: need two operands or more, found {len(args)}")
        if options:
            raise TypeError(
                f"{self.__name__}() got an unexpected keyword argument {min(options)!r}"
            )
        return self._called(args, {}, constant)


def _all(f: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda *xs: functools.reduce(f, xs)


for _name, _f in (("add_sequence", operator.add), ("multiply_sequence", operator.mul)):
    NAMES[_name] = _Several(
        _name, _all(_f), fast=_all(_f), does=f"{_name[:-9].capitalize()} two tensors or more."
    )
