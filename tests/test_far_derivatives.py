"""Derivatives of elementwise functions far out, where the obvious formulas have no digits left."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.scipy import special, stats

pytest.importorskip("scipy")


@settings(deadline=None)
@given(x=st.floats(-700.0, 700.0))
def test_the_slope_of_expm1_keeps_its_digits(x: float) -> None:
    slope = funcgrad.grad(fnp.expm1)
    for f in (slope, funcgrad.grad(slope), funcgrad.jit(slope)):
        np.testing.assert_allclose(f(x), np.exp(x), rtol=1e-14)


def normal_slopes(mpmath: Any, x: float) -> list[float]:
    """The first three derivatives of the logarithm of the normal probability."""
    with mpmath.workdps(60 + 6 * round(math.log10(1.0 + abs(x)))):
        x = mpmath.mpf(x)
        slope = 2 * mpmath.npdf(x) / mpmath.erfc(-x / mpmath.sqrt(2))
        bend = -slope * (x + slope)
        return [float(v) for v in (slope, bend, -bend * (x + slope) - slope * (1 + bend))]


@settings(deadline=None)
@given(x=st.floats(-1e4, 30.0))
def test_slopes_of_log_ndtr(x: float) -> None:
    """The second is ``-y (x + y)`` for the first, y, which is -x but for its last digits far down."""
    mpmath = pytest.importorskip("mpmath")
    first = funcgrad.grad(special.log_ndtr)
    second = funcgrad.grad(first)
    tolerances = (
        1e-13 + 1e-15 * x * x * (x > 0),
        1e-12,
        1e-8,
    )  # the density has the error of x**2 / 2
    for f, exact, rtol in zip(
        (first, second, funcgrad.grad(second)), normal_slopes(mpmath, x), tolerances, strict=True
    ):
        np.testing.assert_allclose(f(x), exact, rtol=rtol)
    np.testing.assert_allclose(funcgrad.jit(second)(x), second(x), rtol=1e-12)


@pytest.mark.parametrize("x", [-1e20, -1e80, -1e155, -1e160, -1e300])
def test_slopes_of_log_ndtr_beyond_squares(x: float) -> None:
    first = funcgrad.grad(special.log_ndtr)
    for f in (first, funcgrad.grad(lambda x: stats.norm.logcdf(x))):
        np.testing.assert_allclose(f(x), -x, rtol=1e-15)
        np.testing.assert_allclose(funcgrad.grad(f)(x), -1.0, rtol=1e-15)
    assert funcgrad.grad(first)(-x) == 0.0
    np.testing.assert_allclose(funcgrad.hessian(stats.norm.logsf)(-x), -1.0, rtol=1e-15)
    np.testing.assert_allclose(funcgrad.hessian(stats.halfnorm.logsf)(-x), -1.0, rtol=1e-15)


def logistic_slopes(mpmath: Any, x: float) -> list[float]:
    """The logistic function and its first three derivatives."""
    with mpmath.workdps(700):
        y, rest = (1 / (1 + mpmath.exp(v)) for v in (-mpmath.mpf(x), mpmath.mpf(x)))
        first = y * rest
        second = first * (rest - y)
        return [float(v) for v in (y, first, second, first * (1 - 6 * first))]


@settings(deadline=None)
@given(x=st.floats(-700.0, 700.0) | st.sampled_from([0.0, 1e-9, 30.0, -30.0, 300.0, -300.0]))
def test_slopes_of_the_logistic_function_and_its_integrals(x: float) -> None:
    """``y (1 - y)`` has no digits left where `y` is 1 but for its last ones."""
    exact = logistic_slopes(pytest.importorskip("mpmath"), x)
    mirrored = logistic_slopes(pytest.importorskip("mpmath"), -x)

    def check(f: Any, *expected: float, rtol: float = 1e-14) -> None:
        for truth in expected:
            f = funcgrad.grad(f)
            # of what vanishes at 0 or at a root nothing but the place of `x` is known
            np.testing.assert_allclose(f(x), truth, rtol=rtol, atol=1e-15 * abs(exact[1]))
            np.testing.assert_allclose(funcgrad.jit(f)(x), f(x), rtol=1e-14)

    check(special.expit, *exact[1:])
    np.testing.assert_allclose(funcgrad.hessian(special.expit)(x), exact[2], rtol=1e-13)
    check(stats.logistic.sf, *[-y for y in exact[1:]])
    check(special.softplus, *exact[:3])
    check(lambda x: fnp.logaddexp(2.0, x + 2.0), *exact[:3])
    twos = 1.0 / math.log(2.0)  # as is `x` in bits, it is rounded
    check(
        lambda x: fnp.logaddexp2(1.0, x * twos + 1.0) / twos,
        *exact[:2],
        rtol=1e-14 + 4e-16 * abs(x),
    )
    check(special.log_expit, mirrored[0], -mirrored[1], mirrored[2])
    check(lambda x: -fnp.logaddexp(np.float64(5.0) - x, 5.0), mirrored[0], -mirrored[1])


@settings(deadline=None)
@given(
    n=st.integers(1, 6),
    whole=st.sampled_from([0, 1, 2, 7, 100, 10**6, 10**9, 2**45]),
    off=st.sampled_from([0.5, 0.25, 0.75, 0.125, 2.0**-7]) | st.floats(0.01, 0.99),
)
def test_polygamma_below_zero(n: int, whole: int, off: float) -> None:
    """SciPy's zeta adds up as many terms as `x` is below 0: it ran for minutes."""
    mpmath = pytest.importorskip("mpmath")
    x = np.float64(-(whole + off))
    if x == np.round(x):
        return
    with mpmath.workdps(80):
        # by the reflection, which mpmath finds by differences
        def cot(v: Any) -> Any:
            return mpmath.pi * mpmath.cot(mpmath.pi * v)

        exact = (-1) ** n * mpmath.psi(n, 1 - mpmath.mpf(x)) - mpmath.diff(cot, mpmath.mpf(x), n)
    np.testing.assert_allclose(special.polygamma(n, x), float(exact), rtol=1e-13)
    slopes = special.digamma
    for _ in range(n):
        slopes = funcgrad.grad(slopes)
    np.testing.assert_allclose(slopes(x), float(exact), rtol=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(n=st.integers(1, 8), places=st.lists(st.floats(-30, 60, width=32), min_size=1, max_size=5))
def test_polygamma_is_scipys(n: int, places: list[float], dtype: Any) -> None:
    scipy_special = pytest.importorskip("scipy.special")
    x = np.array([*places, 1e-3, 10.0, 1e5], dtype)
    x = x[(x > 0.01) | (x == np.round(x))]  # SciPy has lost digits next to poles
    found = special.polygamma(n, x)
    assert found.dtype == dtype
    with np.errstate(all="ignore"):
        expected = scipy_special.polygamma(n, x.astype(float)).astype(dtype)
    np.testing.assert_allclose(found, expected, rtol=1e-13 if dtype == np.float64 else 2e-7)


def test_polygamma_at_its_poles_and_beyond() -> None:
    x = np.array([-3.0, 0.0, -(2.0**60), -math.inf, math.inf, math.nan])
    np.testing.assert_array_equal(special.polygamma(1, x), [*[math.inf] * 4, 0.0, math.nan])
    assert special.polygamma(2, np.float32(-2.5)).dtype == np.float32


@settings(deadline=None)
@given(
    a=st.sampled_from([15.1, 1e5, 1e8, 1e15]) | st.floats(16.0, 1e3),
    b=st.sampled_from([1e-10, 1e-3, 0.5, 3.0, 1e4, 1e15]),
)
def test_derivatives_of_beta_with_one_large_shape(a: float, b: float) -> None:
    """They are differences of digammas, which have most digits in common."""
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(60):
        x, y = mpmath.mpf(a), mpmath.mpf(b)
        first = [float(mpmath.psi(0, v) - mpmath.psi(0, x + y)) for v in (x, y)]
        mixed = float(mpmath.psi(1, x + y))
        bend = float(mpmath.psi(1, x) - mpmath.psi(1, x + y))
    slopes = funcgrad.grad(special.betaln, argnums=(0, 1))
    np.testing.assert_allclose(slopes(a, b), first, rtol=1e-12)
    of_a = funcgrad.grad(lambda a, b: slopes(a, b)[0], argnums=(0, 1))(a, b)
    np.testing.assert_allclose(of_a, [bend, -mixed], rtol=1e-12)
    value = special.beta(np.float64(a), np.float64(b))
    if value > 1e-250:
        of_beta = funcgrad.grad(special.beta, argnums=(0, 1))(a, b)
        np.testing.assert_allclose(of_beta, value * np.array(first), rtol=1e-12)
        found = funcgrad.hessian(special.beta, argnums=(0, 1))(a, b)[0][1]
        expected, atol = value * (first[0] * first[1] - mixed), 1e-12 * value * mixed
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=atol)


def jets_by_differences(mpmath: Any, f: Any, args: tuple[float, float], orders: Any) -> list[Any]:
    """Derivatives of `f` of two numbers, by steps that are small beside them."""
    sizes = [abs(v) if v else 1.0 for v in args]
    with mpmath.workdps(150):

        def moved(*shares: Any) -> Any:
            pairs = zip(args, shares, sizes, strict=True)
            return f(*[mpmath.mpf(v) + share * size for v, share, size in pairs])

        return [
            float(mpmath.diff(moved, (0, 0), n) / sizes[0] ** n[0] / sizes[1] ** n[1])
            for n in orders
        ]


FIRST_AND_SECOND = [(1, 0), (0, 1), (2, 0), (1, 1), (0, 2)]


def derivatives(f: Any, args: tuple[float, float], orders: Any) -> list[float]:
    found = []
    for by_first, by_second in orders:
        g = f
        for i in [0] * by_first + [1] * by_second:
            g = funcgrad.grad(g, argnums=i)
        found.append(float(g(*args)))
    return found


NEAR_AND_FAR = [1e-20, 1e-8, 1e-3, 0.5, 1.0, 3.5, 10.0, 1e4, 1e8]


@settings(deadline=None)
@given(a=st.sampled_from(NEAR_AND_FAR), b=st.sampled_from(NEAR_AND_FAR))
def test_ratios_of_gammas_at_tiny_and_huge_arguments(a: float, b: float) -> None:
    """Their slopes are differences of digammas, of which the argument may move the last digits."""
    mpmath = pytest.importorskip("mpmath")

    def betaln(a: Any, b: Any) -> Any:
        return mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(a + b)

    exact = jets_by_differences(mpmath, betaln, (a, b), FIRST_AND_SECOND)
    found = derivatives(special.betaln, (a, b), FIRST_AND_SECOND)
    np.testing.assert_allclose(found, exact, rtol=1e-10)
    if max(a, b) <= 10.0 and min(a, b) > 1e-20:

        def poch(z: Any, m: Any) -> Any:
            return mpmath.gammaprod([z + m], [z])

        exact = jets_by_differences(mpmath, poch, (a, b), FIRST_AND_SECOND)
        found = derivatives(special.poch, (a, b), FIRST_AND_SECOND)
        np.testing.assert_allclose(found, exact, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("args", [(0.5, -0.5), (-0.5, 0.5), (-2.25, 0.25), (3.5, -4.5)])
def test_beta_where_it_vanishes(args: tuple[float, float]) -> None:
    """There the sum is a pole of the denominator, and one digamma of a slope infinite."""
    mpmath = pytest.importorskip("mpmath")

    def beta(a: Any, b: Any) -> Any:
        return mpmath.gammaprod([a, b], [a + b])

    exact = jets_by_differences(mpmath, beta, args, FIRST_AND_SECOND)
    np.testing.assert_allclose(derivatives(special.beta, args, FIRST_AND_SECOND), exact, rtol=1e-10)


@pytest.mark.parametrize("a", [-1.0, -4.0, -1.0 + 1e-9, -3.0 - 1e-9, -2.5])
def test_beta_beside_a_whole_number(a: float) -> None:
    """``beta(a, 1)`` is ``1 / a``: poles of two digammas that leave a finite difference."""
    slopes = -1.0 / a**2, 2.0 / a**3
    np.testing.assert_allclose(
        derivatives(special.beta, (a, 1.0), [(1, 0), (2, 0)]), slopes, rtol=1e-9
    )
    np.testing.assert_allclose(funcgrad.grad(special.betaln)(a, 1.0), -1.0 / a, rtol=1e-9)


@pytest.mark.parametrize("a", [1e-300, 1e-8, -1e-8])
@pytest.mark.parametrize("b", [-0.5, -7.7, -1e4 - 0.3])
def test_slopes_of_beta_with_a_tiny_shape_beside_a_negative_one(a: float, b: float) -> None:
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(700):
        exact = float(mpmath.psi(0, b) - mpmath.psi(0, mpmath.mpf(a) + mpmath.mpf(b)))
    np.testing.assert_allclose(funcgrad.grad(special.betaln, 1)(a, b), exact, rtol=1e-11)


@pytest.mark.parametrize(
    "args",
    [(0.0, 5.0), (2.0, 5.0), (2.0, 5.5), (-0.5, 2.5), (4.0, -1.0), (0.5, -2.0), (30.5, 29.0)],
)
def test_binomial_coefficients_where_they_vanish(args: tuple[float, float]) -> None:
    """There 0 is multiplied by an infinite digamma."""
    mpmath = pytest.importorskip("mpmath")

    def binom(n: Any, k: Any) -> Any:
        return mpmath.gammaprod([n + 1], [k + 1, n - k + 1])

    exact = jets_by_differences(mpmath, binom, args, FIRST_AND_SECOND)
    found = derivatives(special.binom, args, FIRST_AND_SECOND)
    np.testing.assert_allclose(found, exact, rtol=1e-9, atol=1e-12 * max(map(abs, exact)))


@pytest.mark.parametrize("z", [-3.0, -1.0, 0.0, 2.0, -2.5])
@pytest.mark.parametrize("m", [1.0, 2.0, 4.0])
def test_rising_products_at_whole_numbers(z: float, m: float) -> None:
    roots = -np.arange(m)
    polynomial = np.poly1d(roots, r=True)
    slope = funcgrad.grad(special.poch)
    np.testing.assert_allclose(slope(z, m), polynomial.deriv()(z), rtol=1e-12, atol=1e-12)
    bend = funcgrad.grad(slope)(z, m)
    np.testing.assert_allclose(bend, polynomial.deriv(2)(z), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("z", [1e-8, -1e-8, -2.7, -3.0001])
@pytest.mark.parametrize("m", [-3.0, -1.0])
def test_rising_products_between_poles(z: float, m: float) -> None:
    """Both digammas of the slope are close to poles."""
    mpmath = pytest.importorskip("mpmath")

    def poch(z: Any, m: Any) -> Any:
        return mpmath.gammaprod([z + m], [z])

    orders = [(1, 0), (2, 0), (1, 1)]
    exact = jets_by_differences(mpmath, poch, (z, m), orders)
    found = derivatives(special.poch, (z, m), orders)
    np.testing.assert_allclose(found, exact, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_slopes_of_modified_bessel_functions_that_overflow(dtype: Any) -> None:
    even, odd = special.i0, special.i1
    for _ in range(4):
        assert even(dtype(1000.0)) == even(dtype(-1000.0)) == odd(dtype(1000.0)) == math.inf
        assert odd(dtype(-1000.0)) == -math.inf
        even, odd = funcgrad.grad(odd), funcgrad.grad(even)


@settings(deadline=None)
@given(
    st.lists(st.integers(-8, 8), min_size=2, max_size=9).filter(lambda x: len({*x}) > 1),
    st.floats(-0.95, 0.95),
    st.sampled_from(["f4", "f8", "c16"]),
    st.sampled_from([0, 1]),
)
def test_slopes_of_std_do_not_depend_on_the_size(
    numbers: list[int], exponent: float, dtype: str, ddof: int
) -> None:
    """Also where squares overflow or are 0."""
    x = np.array(numbers, dtype)
    if dtype == "c16":
        x = x * (1 + 2j)
    scale = x.real.dtype.type(2.0 ** round(exponent * np.finfo(dtype).maxexp))
    std = lambda x: fnp.std(x, ddof=ddof)  # noqa: E731
    slope, rtol = funcgrad.grad(std), 1e-5 if dtype == "f4" else 1e-12
    np.testing.assert_allclose(fnp.std(x * scale, ddof=ddof) / scale, std(x), rtol=rtol)
    for f in (slope, funcgrad.jit(slope)):
        np.testing.assert_allclose(f(x * scale), slope(x), rtol=rtol, atol=rtol)
    rows = np.stack([x * scale, x, 0 * x])
    found = funcgrad.jit(funcgrad.grad(lambda x: fnp.sum(fnp.std(x, axis=1, ddof=ddof))))(rows)
    np.testing.assert_allclose(found, [slope(x)] * 2 + [0 * x], rtol=rtol, atol=rtol)


@pytest.mark.parametrize("name", ["jv", "iv"])
@pytest.mark.parametrize("dtype, tiny", [(np.float64, 1e-200), (np.float32, 1e-30)])
def test_curvatures_of_bessel_functions_where_squares_vanish(
    name: str, dtype: Any, tiny: float
) -> None:
    """What divides by the place is another formula's: its slope was 0 times infinity."""
    f = getattr(special, name)
    sign = 1.0 if name == "iv" else -1.0
    bend = funcgrad.grad(funcgrad.grad(f, 1), 1)
    for order, expected in [(0.0, 0.5 * sign), (2.0, 0.25), (-2.0, 0.25), (20.0, 0.0)]:
        assert bend(order, dtype(tiny)) == dtype(expected)
