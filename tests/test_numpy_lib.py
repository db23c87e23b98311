"""``numpy.lib``: sliding windows and complex results, called by NumPy's names on traced values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib import scimath
from numpy.lib.stride_tricks import sliding_window_view

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.errors import ArgumentError, ConcretizationError, MutationError, ShapeError
from funcgrad.testing import check_all

X = np.random.default_rng(0).uniform(-0.9, 0.9, (3, 4, 5))
WINDOWS: Any = st.sampled_from(
    [
        ((2, 3, 5), None),
        (2, 1),
        (5, -1),
        (0, 0),
        ((2, 2), (1, 1)),
        ((3, 1, 2), (2, 0, 2)),
        ((2, 3), (-1, 0)),
        ((), ()),
    ]
)


@given(window=WINDOWS)
def test_windows(window: Any) -> None:
    theirs = sliding_window_view(X, *window)
    ours = fnp.lib.stride_tricks.sliding_window_view(X, *window)
    np.testing.assert_array_equal(ours, theirs)
    assert ours.shape == theirs.shape

    def f(x: Any) -> Any:
        return sliding_window_view(x, *window) ** 2

    assert check_all(f, (X,)).ok
    np.testing.assert_array_equal(funcgrad.jit(f)(X), f(X))


@given(n=st.integers(1, 6), w=st.integers(1, 6))
def test_the_gradient_of_windows_counts_them(n: int, w: int) -> None:
    w = min(w, n)
    counts = funcgrad.grad(lambda x: sliding_window_view(x, w).sum())(np.ones(n))
    assert counts.tolist() == np.convolve(np.ones(n - w + 1), np.ones(w)).tolist()


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"window_shape": 6, "axis": 2}, ShapeError),
        ({"window_shape": (4, 3), "axis": (1, 1)}, ShapeError),
        ({"window_shape": 2, "axis": 3}, ShapeError),
        ({"window_shape": 2}, ArgumentError),
        ({"window_shape": -1, "axis": 0}, ArgumentError),
        ({"window_shape": 2, "axis": 0, "writeable": True}, MutationError),
    ],
)
def test_windows_that_there_are_not(options: Any, error: Any) -> None:
    with pytest.raises(error, match="sliding_window_view"):
        funcgrad.grad(lambda x: sliding_window_view(x, **options).sum())(X)


ONE = ("sqrt", "log", "log2", "log10", "arccos", "arcsin", "arctanh")
PLACES = st.sampled_from([-2.5, -0.5, 0.5, 2.5])


@pytest.mark.parametrize("name", ONE)
@given(data=st.data())
def test_complex_where_they_must_be(name: str, data: Any) -> None:
    theirs = getattr(scimath, name)
    dtype = data.draw(st.sampled_from(["float64", "float32", "int16", "int64", "complex128"]))
    x = np.array(data.draw(st.lists(PLACES, min_size=1, max_size=3)), dtype)
    with np.errstate(all="ignore"):
        expected, found = theirs(x), getattr(fnp.lib.scimath, name)(x)
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == expected.dtype
    if dtype == "float64":
        assert check_all(lambda x: fnp.real(theirs(x)) + 2.0 * fnp.imag(theirs(x)), (x,)).ok


@given(x=PLACES, p=st.sampled_from([0.5, -1.3, 2.0]))
def test_powers_and_logarithms_to_a_base(x: float, p: float) -> None:
    x, p = np.array(x), np.array(p)
    for theirs in (np.emath.power, np.emath.logn):
        ours = getattr(fnp.lib.scimath, theirs.__name__)
        assert ours(x, p) == theirs(x, p) and ours(2, -3) == theirs(2, -3)
        assert check_all(lambda x, p, f=theirs: fnp.real(f(x, p)), (x, p)).ok


def test_complex_results_need_values() -> None:
    for f in (funcgrad.vmap(np.emath.sqrt), funcgrad.jit(funcgrad.vmap(np.emath.sqrt))):
        with pytest.raises(ConcretizationError, match=r"x \+ 0j"):
            f(np.ones(2))
