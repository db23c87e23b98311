"""`at(x)[i]`: what NumPy's writing does to a copy, and indices out of bounds as the mode says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad import lax
from funcgrad.errors import ArgumentError, MutationError, ShapeError
from funcgrad.testing import check_all

UFUNCS = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "power": np.power,
    "min": np.minimum,
    "max": np.maximum,
}
SHAPE = (4, 3)


def number(length: int) -> Any:
    return st.integers(-length, length - 1)


def numbers(length: int) -> Any:
    return st.lists(number(length), min_size=1, max_size=5).map(np.array)


INDICES = st.one_of(
    number(4),
    numbers(4),
    st.tuples(number(4), numbers(3)),
    st.tuples(st.just(...), numbers(3)),
    st.tuples(numbers(4).map(lambda i: i[:, None]), numbers(3)),
    st.tuples(st.just(slice(1, None, 2)), numbers(3)),
    st.tuples(st.none(), number(4), st.just(slice(None, None, -1))),
    st.lists(st.booleans(), min_size=4, max_size=4).map(np.array),
)
SEEDS = st.integers(0, 99).map(np.random.default_rng)


def wanted(name: str, x: np.ndarray, index: Any, values: Any) -> np.ndarray:
    out = x.copy()
    if name == "set":
        out[index] = values
    else:
        UFUNCS[name].at(out, index, values)
    return out


@given(INDICES, SEEDS, st.sampled_from(["set", *UFUNCS]))
def test_as_numpy_on_a_copy(index: Any, rng: Any, name: str) -> None:
    x = rng.uniform(1.0, 2.0, SHAPE)
    before, values = x.copy(), rng.uniform(1.0, 2.0, x[index].shape)

    def f(x: Any, values: Any) -> Any:
        return getattr(fnp.at(x)[index], name)(values)

    expected = wanted(name, x, index, values)
    assert np.allclose(f(x, values), expected, rtol=1e-12)
    assert np.allclose(funcgrad.jit(f)(x, values), expected, rtol=1e-12)
    rows = funcgrad.vmap(lambda x: x.at[index].get())(np.stack([x, 2 * x]))
    assert np.array_equal(rows, np.stack([x[index], 2 * x[index]]))
    assert np.array_equal(x, before)
    check_all(f, (x, values), only=["transpose", "numerical"]).raise_if_failed()


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=5), SEEDS, st.data())
def test_indices_out_of_bounds(places: list[int], rng: Any, data: Any) -> None:
    name = data.draw(st.sampled_from(["set", *UFUNCS]))
    wraps = data.draw(st.booleans())
    x, index = rng.uniform(1.0, 2.0, SHAPE), np.array(places)
    values = rng.uniform(1.0, 2.0, (len(places), 3))
    from_front = np.where((index < 0) & wraps, index + 4, index)
    held = (from_front >= 0) & (from_front < 4)

    def f(x: Any, index: Any, **options: Any) -> Any:
        at = fnp.at(x)[index]
        return getattr(at, name)(values, wrap_negative_indices=wraps, **options)

    dropped = wanted(name, x, from_front[held], values[held])
    clipped = wanted(name, x, from_front.clip(0, 3), values)
    for run in (f, lambda x, i, mode: funcgrad.jit(lambda x, i: f(x, i, mode=mode))(x, i)):
        assert np.allclose(run(x, index, mode="drop"), dropped, rtol=1e-12)
        assert np.allclose(run(x, index, mode="clip"), clipped, rtol=1e-12)
    read = fnp.at(x)[index].get(mode="fill", fill_value=7.0, wrap_negative_indices=wraps)
    assert np.array_equal(read, np.where(held[:, None], x[from_front.clip(0, 3)], 7.0))
    if not held.all():
        with pytest.raises(IndexError):
            f(x, index)
    slopes = funcgrad.grad(lambda x: fnp.sum(f(x, index, mode="drop")))(x)
    assert np.isfinite(slopes).all()


def test_modes_have_jaxs_names_too() -> None:
    x, modes = np.ones(2), lax.GatherScatterMode
    assert fnp.at(x)[5].set(2.0, mode=modes.FILL_OR_DROP).tolist() == [1.0, 1.0]
    assert fnp.at(x)[5].set(2.0, mode=modes.CLIP).tolist() == [1.0, 2.0]
    assert np.isnan(fnp.at(x)[5].get(mode="fill"))
    assert fnp.at(x)[5].get(fill_value=3.0) == 3.0


def test_apply_goes_once_for_every_time() -> None:
    x = np.array([3.0, 2.0, 5.0])
    assert fnp.at(x)[np.array([0, 0, 1])].apply(np.square).tolist() == [81.0, 4.0, 5.0]
    assert fnp.at(x)[1:].apply(np.square).tolist() == [3.0, 4.0, 25.0]
    nothing = fnp.at(x)[np.zeros(3, bool)].apply(np.square)
    nothing[0] = 7.0
    assert x[0] == 3.0  # it is a new array
    f = funcgrad.jit(lambda x, i: x.at[i].apply(np.square, unique_indices=True))
    assert f(x, np.array([2, 0])).tolist() == [9.0, 2.0, 25.0]
    with pytest.raises(ArgumentError, match="unique_indices=True"):
        funcgrad.jit(lambda x, i: x.at[i].apply(np.square))(x, np.array([2, 0]))


def test_dtypes_stay_and_what_does_not_fit_raises() -> None:
    x = np.arange(3)
    assert fnp.at(x)[0].set(True).dtype == x.dtype
    assert fnp.at(np.ones(2, "float32"))[0].multiply(np.float64(2.0)).dtype == np.float32
    assert fnp.at(x)[1].divide(2).tolist() == [0.0, 0.5, 2.0]
    assert fnp.at([1.0, 2.0])[0].add(1.0).tolist() == [2.0, 2.0]
    with pytest.raises(MutationError):
        fnp.at(x)[0].set(0.5)
    with pytest.raises(ShapeError):
        fnp.at(x)[:2].set([1, 2, 3])
    with pytest.raises(ArgumentError, match="mode='wrap'"):
        fnp.at(x)[0].set(1, mode="wrap")
    with pytest.raises(ArgumentError, match="fill_value= is for mode='fill'"):
        fnp.at(x)[0].get(mode="clip", fill_value=1)
