"""Columns of pandas beside traced values. A stand-in has what pandas' classes have: a module of that
name, `__array__`, and operators that leave operands of a higher priority alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.errors import ArgumentError, HandoverError


class Column:
    """A column of numbers."""

    __pandas_priority__ = 3000
    __array_priority__ = 1000

    def __init__(self, numbers: Any) -> None:
        self.numbers = np.asarray(numbers)
        self.dtype, self.shape = self.numbers.dtype, self.numbers.shape

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.numbers, dtype, copy=copy)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if any(hasattr(x, "__array_ufunc__") and not isinstance(x, Column) for x in inputs):
            return NotImplemented
        return getattr(ufunc, method)(*map(np.asarray, inputs), **options)

    def _by(self, other: Any, ufunc: Any) -> Any:
        if getattr(other, "__pandas_priority__", 0) > self.__pandas_priority__:
            return NotImplemented
        return ufunc(self.numbers, np.asarray(other))

    def __mul__(self, other: Any) -> Any:
        return self._by(other, np.multiply)

    def __sub__(self, other: Any) -> Any:
        return self._by(other, np.subtract)

    def __gt__(self, other: Any) -> Any:
        return self._by(other, np.greater)

    def __matmul__(self, other: Any) -> Any:
        return self.numbers @ np.asarray(other)


Column.__module__ = "pandas.core.series"

A = Column([1.0, 2.0, 3.0])
MASK = Column([True, False, True])
PLACES = Column([0, 2, 2])
X = np.array([0.3, 0.2, 0.5])


def written(x: Any, column: Any, mask: Any) -> Any:
    y = x * 1.0
    y[mask] = 2.0
    y[1:] *= column[1:] if isinstance(column, np.ndarray) else Column(column.numbers[1:])
    np.add.at(y, [0, 1, 0], column)
    return fnp.sum(y * x)


@pytest.mark.parametrize(
    "f",
    [
        lambda x, a, m, i: fnp.sum(x * a),
        lambda x, a, m, i: fnp.sum((a - x) ** 2 * a),
        lambda x, a, m, i: fnp.sum(np.exp(a * x[0])),
        lambda x, a, m, i: fnp.sum(np.multiply(a, x)),
        lambda x, a, m, i: fnp.sum(fnp.power(x, a)),
        lambda x, a, m, i: fnp.sum(np.where(a > x + 1, x, x * x)),
        lambda x, a, m, i: x @ a,
        lambda x, a, m, i: fnp.sum(x[m] ** 2),
        lambda x, a, m, i: fnp.sum(x[i] ** 2),
        lambda x, a, m, i: written(x, a, m),
    ],
)
def test_columns_count_as_their_numbers(f: Callable[..., Any]) -> None:
    plain = [column.numbers for column in (A, MASK, PLACES)]
    expected = funcgrad.grad(lambda x: f(x, *plain))(X)
    by_columns = lambda x: f(x, A, MASK, PLACES)  # noqa: E731
    for transform in (funcgrad.grad, funcgrad.jacfwd):
        np.testing.assert_allclose(transform(by_columns)(X), expected, rtol=1e-12)
    np.testing.assert_allclose(funcgrad.jit(funcgrad.grad(by_columns))(X), expected, rtol=1e-12)
    batched = funcgrad.vmap(funcgrad.grad(by_columns))(np.stack([X, X]))
    np.testing.assert_allclose(batched, [expected, expected], rtol=1e-12)


def test_what_pandas_converts_says_so() -> None:
    names: dict[str, Any] = {"__name__": "pandas.core.series", "np": np}
    exec(
        compile("def dot(a, x):\n    return a @ np.asarray(x)", "/lib/pandas/series.py", "exec"),
        names,
    )
    with pytest.raises(HandoverError, match=r"table\.to_numpy\(\) @ x \(at test_pandas\.py"):
        funcgrad.grad(lambda x: names["dot"](np.ones(3), x))(X)


def test_to_differentiate_by_a_column_says_what_to_write() -> None:
    with pytest.raises(ArgumentError, match=r"type Column; need .* as \.to_numpy\(\) gives"):
        funcgrad.grad(np.sum)(Column([1.0, 2.0]))
