"""NumPy's functions done another way because it is faster: the same results, to the bit or rounding."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp

import funcgrad as fg
from funcgrad import choose as choosing
from funcgrad import faster, thin

DTYPES = [*map(np.dtype, ("f4", "f8", "i4", "i8", "u4", "u8", "i2", "f2", "c16", "?", ">f8"))]
NUMBERS = st.sampled_from([0, 0.0, -0.0, 1, 1.5, -2.0, np.inf, np.nan, True, np.float64(0.0)])


@st.composite
def choices(draw: Any) -> tuple[Any, Any, Any]:
    """A condition and two operands that broadcast, in some order of memory."""
    shape = draw(hnp.array_shapes(max_dims=3, max_side=4))
    kinds = [draw(st.sampled_from(DTYPES)) for _ in range(2)]
    if draw(st.booleans()):
        kinds[1] = kinds[0]

    def array(dtype: Any) -> Any:
        own = tuple(draw(st.sampled_from([n, 1])) for n in shape)
        x = draw(hnp.arrays(dtype, own))
        return x.T.copy().T if draw(st.booleans()) else x

    x, y = (draw(NUMBERS) if draw(st.booleans()) else array(dtype) for dtype in kinds)
    return array(np.dtype(bool)), x, y


def bitwise(found: Any, expected: Any) -> None:
    assert found.dtype == expected.dtype and found.shape == expected.shape
    assert found.tobytes() == expected.tobytes()


@given(choices())
def test_choose_is_where(given: tuple[Any, Any, Any]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choosing, "FEW", 0)
        for regular in (-1, choosing.SAMPLE):
            patch.setattr(choosing, "REGULAR", regular)
            bitwise(choosing.choose(*given), np.where(*given))


@given(choices(), st.booleans())
def test_choose_writes_into_memory(given: Any, wide: bool) -> None:
    """Of the result's dtype or of a wider one."""
    expected = np.where(*given)
    dtype = np.dtype(complex) if wide else expected.dtype
    target = np.empty(expected.shape, dtype)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choosing, "FEW", 0)
        choosing.choose(*given, target)
    bitwise(target, expected.astype(dtype))


@pytest.mark.parametrize("p", [0.0, 0.01, 0.5, 1.0])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_selections_of_large_arrays(p: float, dtype: str) -> None:
    """Values and gradients of selections, where the way by bits is taken; NaN is not taken either."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=3 * choosing.FEW).astype(dtype)
    other = np.where(rng.random(x.size) < 0.5, np.nan, np.inf).astype(dtype)
    mask = rng.random(x.size) < p
    value = fg.value_and_grad(lambda x, y: np.sum(np.where(mask, x * x, y)), argnums=(0, 1))
    y = np.where(mask, other, x)
    for f in (value, fg.jit(value)):
        found, (gx, gy) = f(x, y)
        np.testing.assert_allclose(found, np.sum(np.where(mask, x * x, x)), rtol=1e-4)
        np.testing.assert_array_equal(gx, np.where(mask, 2 * x, 0))
        np.testing.assert_array_equal(gy, ~mask)


@pytest.mark.parametrize("rows", [1, 2, 7, thin.MOST_ROWS, thin.MOST_ROWS + 1])
@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_products_with_few_rows(rows: int, order: str, dtype: str) -> None:
    """The product is the same, and lies in memory as NumPy's does."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, 96)).astype(dtype)
    y = np.asarray(rng.normal(size=(96, 3 * thin.LEAST // 96 // 2)).astype(dtype), order=order)
    found, expected = thin.dot(x, y), x.dot(y)
    np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-4)
    assert found.strides == expected.strides and found.dtype == expected.dtype


@st.composite
def pairs_of_floats(draw: Any) -> tuple[Any, Any]:
    """Of one dtype or two, some of them whole multiples, signed zeros, infinite, tiny or NaN."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    special = draw(
        st.sampled_from([[0.0, -0.0], [1.5, -3.0], [np.inf, -np.inf], [np.nan], [5e-324]])
    )

    def some(shape: tuple[int, ...]) -> Any:
        x = rng.normal(size=shape) * 10.0 ** rng.integers(-3, 4, shape)
        x[rng.random(shape) < 0.1] = rng.choice(special)
        return x.astype(draw(st.sampled_from(["f4", "f8", "f2", "i4"])))

    x = some(draw(st.sampled_from([(0,), (7,), (40, 60), (9000,)])))
    number = st.sampled_from([1.3, -0.7, 2, 0.0, -0.0, np.inf, np.float32(-1.5)])
    y = draw(number) if draw(st.booleans()) else some(x.shape)
    return (x, y) if draw(st.booleans()) else (y, x)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ufunc", [np.remainder, np.floor_divide], ids=lambda f: f.__name__)
@given(pairs_of_floats())
def test_divisions_are_numpys_to_the_bit(ufunc: Any, given: tuple[Any, Any]) -> None:
    expected = ufunc(*given)
    found = faster.FASTER[ufunc](*given)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found)[known], np.signbit(expected)[known])
    target = np.empty_like(expected)
    assert faster.FASTER[ufunc](*given, target) is target
    np.testing.assert_array_equal(target, expected)


@pytest.mark.filterwarnings("ignore")
@given(pairs_of_floats())
def test_logaddexp(given: tuple[Any, Any]) -> None:
    expected = np.logaddexp(*given)
    found = faster.logaddexp(*given)
    assert found.dtype == expected.dtype
    few = 4 * np.finfo(expected.dtype).eps
    np.testing.assert_allclose(found, expected, few, few)


@pytest.mark.parametrize("ufunc", [np.remainder, np.floor_divide], ids=lambda f: f.__name__)
def test_divisions_warn_as_numpys(ufunc: Any) -> None:
    x = np.ones(faster.LONG)
    with pytest.warns(RuntimeWarning) as expected:
        ufunc(x, 0.0)
    with pytest.warns(RuntimeWarning) as found:
        faster.FASTER[ufunc](x, 0.0)
    assert [str(w.message) for w in found] == [str(w.message) for w in expected]


@pytest.mark.parametrize("name", ["remainder", "floor_divide", "logaddexp"])
@pytest.mark.parametrize("compiled", [False, True])
def test_long_arrays_have_short_ones_gradients(name: str, compiled: bool) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 3, faster.LONG))
    f = getattr(np, name)
    run = fg.jit if compiled else lambda g: g
    whole = run(fg.grad(lambda x, y: f(x, y).sum(), (0, 1)))(x, y)
    rows = [fg.grad(lambda x, y: f(x, y).sum(), (0, 1))(*p) for p in zip(x.T, y.T, strict=True)]
    for a, b in zip(whole, map(np.array, zip(*rows, strict=True)), strict=True):
        np.testing.assert_allclose(a, b.T, rtol=1e-12)
