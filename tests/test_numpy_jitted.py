"""Programs of NumPy functions give what plain NumPy gives: its values and its types."""

import numpy as np
import pytest

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.ops.linalg import norm

METHODS = [
    "inverted_cdf",
    "averaged_inverted_cdf",
    "closest_observation",
    "interpolated_inverted_cdf",
    "hazen",
    "weibull",
    "linear",
    "median_unbiased",
    "normal_unbiased",
    "lower",
    "higher",
    "midpoint",
    "nearest",
]
SHARES = [0.4, 0.6, 1, 0, np.float64(0.4), np.array([0.1, 0.7]), np.array([0.5], np.float32)]


def same(found, expected):
    np.testing.assert_allclose(found, expected, rtol=2e-3 if expected.dtype.char == "e" else 1e-6)
    assert (found.dtype, np.shape(found)) == (expected.dtype, np.shape(expected))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", "bHlefd")
def test_quantiles_have_the_type_and_value_of_numpys_whatever_is_traced(method, dtype):
    x = np.array([3, 1, 7, 2, 5]).astype(dtype)
    for q in SHARES:
        for f, share in ((np.quantile, q), (np.percentile, q * 100)):
            expected = f(x, share, method=method)
            same(funcgrad.jit(lambda x, f=f, q=share: f(x, q, method=method))(x), expected)
            same(funcgrad.jit(lambda x, q, f=f: f(x, q, method=method))(x, share), expected)


@pytest.mark.parametrize("method", [m for m in METHODS if m != "averaged_inverted_cdf"])
def test_quantiles_beside_infinite_elements_are_numpys(method):
    x = np.array([1.0, np.inf, 2.0, -np.inf, 3.0])
    for q in (0, 1, 0.22, 0.4, 0.78):
        with np.errstate(invalid="ignore"):
            expected = np.quantile(x, q, method=method)
            found = funcgrad.vjp(lambda x, q=q: np.quantile(x, q, method=method), x)[0]
        same(found, expected)


def rows_with_gaps(dtype=float):
    """Of each row another number of elements, in the last none, are no NaN."""
    x = np.random.default_rng(1).permutation(20).reshape(4, 5).astype(dtype)
    for row, missing in zip(x, ([], [3], [0, 2, 4], range(5)), strict=True):
        row[list(missing)] = np.nan
    return x


@pytest.mark.filterwarnings("ignore:All-NaN slice")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", "efd")
def test_quantiles_without_nan_are_numpys(method, dtype):
    x = rows_with_gaps(dtype)
    for q in SHARES:
        for f, share in ((np.nanquantile, q), (np.nanpercentile, q * 100)):
            for axis in (1, (0, 1)):
                expected = f(x, share, axis, method=method)
                found = funcgrad.jit(lambda x, a=axis, f=f, q=share: f(x, q, a, method=method))(x)
                np.testing.assert_allclose(found, expected, rtol=2e-3 if dtype == "e" else 1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_quantiles_without_nan_have_the_slopes_of_what_is_left(method):
    x = rows_with_gaps()[:3]
    for q in (0.0, 0.3, 0.55, 1.0):
        values, slopes = funcgrad.vmap(
            funcgrad.value_and_grad(lambda row, q=q: np.nanquantile(row, q, method=method))
        )(x)
        for row, value, slope in zip(x, values, slopes, strict=True):
            left = ~np.isnan(row)
            expected, by_left = funcgrad.value_and_grad(np.quantile)(row[left], q, method=method)
            assert value == expected
            np.testing.assert_array_equal(slope[left], by_left)
            np.testing.assert_array_equal(slope[~left], 0.0)


def test_quantiles_without_nan_beside_infinite_elements_are_quantiles():
    x = np.array([1.0, np.nan, np.inf, 2.0, -np.inf, 3.0])
    with np.errstate(invalid="ignore"):
        for q in (0, 1, 0.22, 0.4, 0.78):
            same(np.asarray(fnp.nanquantile(x, q)), np.quantile(x[~np.isnan(x)], q))


@pytest.mark.filterwarnings("ignore:All-NaN slice")
def test_weighted_quantiles_without_nan_are_numpys():
    x = rows_with_gaps()[:3]
    w = np.random.default_rng(2).integers(1, 4, x.shape).astype(float)
    for f in (np.nanquantile, np.quantile):
        for q in (0.3, np.array([0.0, 0.6, 1.0])):
            expected = f(x, q, 1, method="inverted_cdf", weights=w)
            run = funcgrad.jit(lambda x, w, f=f, q=q: f(x, q, 1, method="inverted_cdf", weights=w))
            same(run(x, w), expected)


@pytest.mark.parametrize("name", ["quantile", "percentile", "nanquantile", "nanpercentile"])
def test_quantiles_are_written_where_asked(name):
    def f(x):
        out = fnp.zeros(3)
        assert getattr(np, name)(x, 0.4, axis=0, out=out) is out
        return np.sum(out**2)

    x = np.random.default_rng(3).normal(size=(4, 3))
    expected = getattr(np, name)(x, 0.4, axis=0)
    value, slope = funcgrad.value_and_grad(f)(x)
    assert value == pytest.approx(np.sum(expected**2))
    assert np.sum(slope * x) == pytest.approx(2 * value)


@pytest.mark.parametrize("dtype", "lb")
def test_weighted_quantiles_of_integers_are_integers(dtype):
    x = np.array([3, 1, 7, 2]).astype(dtype)
    for q in (0.4, np.array([0.1, 0.7])):
        expected = np.quantile(x, q, method="inverted_cdf", weights=np.ones(4))
        same(fnp.quantile(x, q, method="inverted_cdf", weights=np.ones(4)), expected)


def test_interpolated_quantiles_have_both_elements_weights():
    x = np.array([1.0, 2.0, 4.0])
    for q, weights in ((0.1, [0.8, 0.2, 0.0]), (0.4, [0.2, 0.8, 0.0]), (0.75, [0.0, 0.5, 0.5])):
        by_x, by_q = funcgrad.grad(np.quantile, argnums=(0, 1))(x, q)
        np.testing.assert_allclose(by_x, weights, atol=1e-15)
        assert by_q == pytest.approx(2.0 if q < 0.5 else 4.0)


@pytest.mark.parametrize("weights", "eflb")
def test_weighted_quantiles_add_the_weights_up_in_double_precision(weights):
    x = np.random.default_rng(0).permutation(2000).astype(np.float32)
    w = np.ones(2000, weights) * 100  # the sum is too large for half precision
    for q in (0.3, 0.6, np.array([0.2, 0.7])):
        expected = np.quantile(x, q, method="inverted_cdf", weights=w)
        f = funcgrad.jit(lambda x, q, w: np.quantile(x, q, method="inverted_cdf", weights=w))
        same(f(x, q, w), expected)


def test_a_number_that_is_traced_does_not_widen_what_it_is_close_to():
    x, y = np.float32(1.0), 0.9999999999999998
    assert np.isclose(x, y, rtol=0, atol=0)
    assert funcgrad.jit(lambda x, y: np.isclose(x, y, rtol=0, atol=0))(x, y)
    assert not funcgrad.jit(lambda x, y: np.isclose(x, y, rtol=0, atol=0))(x, np.float64(y))


@pytest.mark.parametrize("rtol, atol", [(1e-5, 1e-8), (np.nan, np.inf), (np.inf, 0.0), (0.0, 0.0)])
def test_what_is_equal_is_close_and_nothing_is_close_to_infinity(rtol, atol):
    values = np.array([0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1.0 + 1e-9])
    x, y = values[:, None], values[None]
    jitted = funcgrad.jit(lambda x, y: np.isclose(x, y, rtol, atol))
    with np.errstate(invalid="ignore"):  # infinity times 0
        expected = np.isclose(x, y, rtol, atol)
        assert (jitted(x, y) == expected).all()
        assert (fnp.isclose(x, y, rtol, atol) == expected).all()
        for number in values[:5].tolist():
            assert (jitted(x, number) == np.isclose(x, number, rtol, atol)).all()


def test_complex_geometric_sequences_turn_between_numbers_of_different_sign():
    f = lambda y: np.geomspace(1, y, 4, dtype=complex)  # noqa: E731
    same(funcgrad.jit(f)(-1e6), f(-1e6))
    same(funcgrad.vjp(f, -1e6)[0], f(-1e6))
    slope = funcgrad.jvp(f, (-1e6,), (1.0,))[1]
    np.testing.assert_allclose(slope, f(-1e6) * np.arange(4) / 3 / -1e6)


def test_averages_compute_in_the_wider_type_of_the_two():
    x, w = np.array([[1, 2], [3, 4]], np.int32), np.array([[1.1, 2.3], [3.7, 4.1]], np.float32)
    expected = np.average(x, weights=w, returned=True)
    for found, right in zip(
        funcgrad.jit(lambda w: np.average(x, weights=w, returned=True))(w), expected, strict=True
    ):
        assert found.dtype == right.dtype
        np.testing.assert_allclose(found, right, rtol=1e-15)


@pytest.mark.parametrize("shift", [np.uint16(2), 2**100, -(2**70), np.array([1], "u1"), [1, -7]])
def test_rolls_by_any_integers(shift):
    x = np.arange(5.0)
    assert (funcgrad.jit(lambda x: np.roll(x, shift))(x) == np.roll(x, shift)).all()
    if np.ndim(shift) == 0:
        axis = lambda x: np.roll(x[:, None], shift, 0)  # noqa: E731
        assert (funcgrad.jit(axis)(x) == axis(x)).all()


def test_known_shifts_need_no_places():
    program = str(funcgrad.make_jaxpr(lambda x: np.roll(x, 1))(np.arange(5.0)))
    assert "roll" in program and "take" not in program


@pytest.mark.parametrize("name", ["std", "var", "nanstd", "nanvar"])
@pytest.mark.parametrize("option", ["ddof", "correction"])
def test_degrees_of_freedom_may_be_traced(name, option):
    f, x = getattr(np, name), np.array([1.0, 3.0, 4.0, 9.0])
    g = lambda x, d: f(x, **{option: d})  # noqa: E731
    for d in (0, 1, 0.5):
        assert funcgrad.jit(g)(x, d) == pytest.approx(f(x, ddof=d))
        assert funcgrad.vmap(g)(x[None], np.array([d]))[0] == pytest.approx(f(x, ddof=d))
    share = 1 if "var" in name else 0.5  # of the value, by each degree less
    assert funcgrad.grad(g, argnums=(0, 1))(x, 1.0)[1] == pytest.approx(f(x, ddof=1) * share / 3)
    assert np.isnan(funcgrad.jit(g)(x, 4.0))


def test_both_names_of_the_degrees_of_freedom_are_one_too_many():
    with pytest.raises((funcgrad.errors.ArgumentError, ValueError)):
        funcgrad.jit(lambda x, d: fnp.std(x, ddof=d, correction=1))(np.ones(3), 1.0)


@pytest.mark.parametrize("condition", [np.True_, np.False_, True, False])
def test_one_condition_of_a_piecewise_function_may_be_a_truth_value(condition):
    f = lambda x: np.piecewise(x, condition, [4.0, 0.0])  # noqa: E731
    assert funcgrad.jit(f)(np.array(3.0)) == f(np.array(3.0))
    assert fnp.piecewise(np.array(3.0), condition, [4.0, 0.0]) == f(np.array(3.0))


@pytest.mark.parametrize("name", ["partition", "argpartition"])
@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 2)])
def test_nothing_is_partitioned_whatever_the_place(name, shape):
    f = lambda x: getattr(np, name)(x, 0)  # noqa: E731
    assert funcgrad.jit(f)(np.zeros(shape)).shape == f(np.zeros(shape)).shape


def test_nothing_is_added_between_no_places():
    f = lambda x: np.add.reduceat(x, np.array([], int))  # noqa: E731
    assert funcgrad.jit(f)(np.arange(3.0)).shape == f(np.arange(3.0)).shape


@pytest.mark.parametrize("ord", [None, 0, 1, 2, 3, 0.5, -1, -2, np.inf])
def test_norms_of_no_numbers_are_numpys(ord):
    x = np.zeros((3, 0))
    with np.errstate(divide="ignore"):
        expected = np.linalg.norm(x, ord, axis=1)
    same(norm(x, ord, 1), expected)
    same(funcgrad.jit(lambda x: np.linalg.norm(x, ord, axis=1))(x), expected)


@pytest.mark.parametrize("ord", ["fro", "nuc", 1, 2, np.inf, -1, -np.inf, -2])
@pytest.mark.parametrize("shape", [(0, 2), (2, 0), (0, 0)])
def test_norms_of_empty_matrices_are_numpys_or_raise_as_these(ord, shape):
    x = np.zeros(shape)
    try:
        expected = np.linalg.norm(x, ord)
    except ValueError:
        with pytest.raises(ValueError):
            norm(x, ord)
    else:
        same(norm(x, ord), expected)


def test_the_rank_of_least_squares_has_numpys_type():
    a, b = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]), np.ones(3)
    expected = np.linalg.lstsq(a, b)
    for found in (fnp.linalg.lstsq(a, b), funcgrad.jit(np.linalg.lstsq)(a, b)):
        assert found[2] == expected[2] and found[2].dtype == np.asarray(expected[2]).dtype


def test_lists_of_mapped_values_are_operands_of_ufuncs():
    x, y = np.arange(3.0), np.ones((3, 1))
    f = lambda x, y: np.maximum([x], y)  # noqa: E731
    assert (funcgrad.vmap(f)(x, y) == np.maximum(x[:, None], y)).all()
    slopes = funcgrad.vmap(funcgrad.grad(lambda x, y: f(x, y).sum()))(x, y)
    assert slopes.tolist() == [0.0, 0.5, 1.0]


OPERATIONS = ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "maximum"]


@pytest.mark.parametrize("code", ["numpy", "c"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_double_numbers_beside_single_arrays_stay_double(code, name):
    op = getattr(np, name)
    f = lambda x, y: op(x, np.where(np.isfinite(y), y, 0.0))  # noqa: E731
    with funcgrad.config(code):
        jitted = funcgrad.jit(f)
        for y in (np.float64(0.1), np.float64(1 - 2**-53), np.float64(1e-300)):
            for x in (np.float32(1.0), np.float32(0.1), np.array([1.0, 0.1, 0.0], np.float32)):
                assert np.array_equal(jitted(x, y), f(x, y))
