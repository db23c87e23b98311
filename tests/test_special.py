"""Derivatives of special functions against numbers computed with 50 digits or more (mpmath 1.3).

The registry's checks compare rules with differences of the function; here are the extremes, where
differences say little: far tails, small and large shapes, poles, removable points.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
from funcgrad.errors import ArgumentError
from funcgrad.scipy import special
from funcgrad.testing import check_all

ss = pytest.importorskip("scipy.special")

# Name, point, first derivatives by every operand, second derivative by the first operand.
BY_SHAPE: list[tuple[str, tuple[float, ...], tuple[float, ...], float]] = [
    ("gammainc", (0.001, 1e-05), (-10.81839829908634, 98.91131633960173), 116.70010711471055),
    ("gammainc", (0.3, 0.01), (-1.2403581253867568, 8.313004828396613), 5.195339318507014),
    ("gammainc", (0.3, 4.0), (-0.010264313972653528, 0.0023199629863237176), -0.027379077921292218),
    ("gammainc", (2.0, 2.0), (-0.29400469074623087, 0.2706705664732254), 0.006217852566381788),
    ("gammainc", (80.0, 60.0), (-0.0025210327451364732, 0.0029150239722010147),
     0.0007260443017318604),
    ("gammainc", (80.0, 95.0), (-0.011701404661749246, 0.010728803754978165),
     -0.002012834098825894),
    ("gammainc", (2e3, 2050.0), (-0.004764824241364456, 0.004706085307317863),
     -0.00011766076239022594),
    ("betainc", (0.01, 0.02, 0.3),
     (-22.588449240546257, 11.02759578976957, 0.03115318382954994), 1505.8365964623583),
    ("betainc", (0.5, 3.0, 0.9),
     (-0.0009711133724860445, 0.0007969110991643981, 0.00988211768802618), -0.0014057637764501607),
    ("betainc", (3.0, 0.5, 0.02),
     (-1.0238013021820644e-05, 7.686756652890338e-06, 0.00037880720420707903),
     4.1727310544543255e-05),
    ("betainc", (20.0, 30.0, 0.4),
     (-0.06977511922457008, 0.04638767884524421, 5.7279276414761995), 0.0014252973151806401),
    ("betainc", (300.0, 2.0, 0.995),
     (-0.0016741613726697874, 0.3126847496768514, 100.86927460110284), 2.820559156122574e-06),
]  # fmt: skip


@pytest.mark.parametrize(("name", "point", "first", "second"), BY_SHAPE, ids=repr)
def test_probabilities_by_shape(name: str, point: Any, first: Any, second: float) -> None:
    f, xs = getattr(special, name), [np.float64(x) for x in point]
    found = funcgrad.grad(f, argnums=tuple(range(len(xs))))(*xs)
    np.testing.assert_allclose(found, first, rtol=2e-11, atol=1e-15)
    bend = funcgrad.grad(funcgrad.grad(f))(*xs)
    np.testing.assert_allclose(bend, second, rtol=1e-9, atol=1e-12)
    if name == "gammainc":
        rest = funcgrad.grad(special.gammaincc, argnums=(0, 1))(*xs)
        np.testing.assert_allclose(rest, [-d for d in first], rtol=2e-11, atol=1e-15)


@pytest.mark.parametrize("name", ["gammainc", "betainc"])
def test_probabilities_outside(name: str) -> None:
    """Where the integral begins and ends, shapes change nothing."""
    ends = np.array([0.0, np.inf] if name == "gammainc" else [0.0, 1.0])
    shapes = [np.array([2.0, 3.0]), np.array([4.0, 5.0])][: 1 if name == "gammainc" else 2]
    for i in range(len(shapes)):
        slope = funcgrad.grad(lambda *a: getattr(special, name)(*a, ends).sum(), argnums=i)(*shapes)
        np.testing.assert_allclose(slope, 0.0, atol=1e-15)


@pytest.mark.parametrize(
    ("x", "first", "second"),
    [
        (-3.0, -6.0, 15.073412021181605),
        (-2.0, 2.0, -3.6911373403938685),
        (-1.5, -0.2975352391908593, -3.7595410647080545),
        (0.0, 1.0, 1.1544313298030657),
        (0.4999, 1.1078527910478075, -0.6087400022929518),
        (0.5, 1.107791903872871, -0.6090034884161106),
        (3.0, -0.46139216754923357, 0.22829843112744683),
        (200.0, 0.0, 0.0),
    ],
)
def test_reciprocal_gamma(x: float, first: float, second: float) -> None:
    f = special.rgamma
    np.testing.assert_allclose(funcgrad.grad(f)(x), first, rtol=1e-13)
    np.testing.assert_allclose(funcgrad.grad(funcgrad.grad(f))(x), second, rtol=1e-12)


# ---------------------------------------------------------------- against SciPy

COMPOSED = {
    "bdtr": 3, "bdtrc": 3, "beta": 2, "chdtr": 2, "chdtrc": 2, "factorial": 1, "fdtr": 3, "fdtrc": 3,
    "gammasgn": 1, "gdtr": 3, "gdtrc": 3, "huber": 2, "kl_div": 2, "kn": 2, "pdtr": 2, "pdtrc": 2,
    "pseudo_huber": 2, "stdtr": 2,
}  # fmt: skip
EDGES = [0.0, 1.0, -1.0, 0.3, 1.5, 2.0, 3.0, 7.5, -2.0, 1e-10, 40.0, 0.9999]
BEYOND = [float("nan"), -0.0]
SINGLE = {"bdtr", "bdtrc", "fdtr", "fdtrc", "gdtr", "gdtrc", "gammasgn"}
numbers = st.sampled_from(EDGES) | st.floats(-4.0, 8.0)


@pytest.mark.parametrize("name", COMPOSED)
@pytest.mark.filterwarnings("ignore:non-integer arg n is deprecated")
@pytest.mark.filterwarnings("ignore:floating point number truncated")
@given(data=st.data())
def test_values(name: str, data: Any) -> None:
    places = numbers | st.sampled_from(BEYOND) if name in SINGLE else numbers
    xs = np.array(data.draw(st.tuples(*[places] * COMPOSED[name])))
    with np.errstate(all="ignore"):
        found, wanted = getattr(special, name)(*xs), getattr(ss, name)(*xs)
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("name", COMPOSED)
def test_single_precision_stays(name: str) -> None:
    f, x = getattr(special, name), np.array([2.0, 3.0], np.float32)
    for among in ([x] * COMPOSED[name], [x, *[0.5] * (COMPOSED[name] - 1)]):
        for operands in (among, among[::-1]):
            assert f(*operands).dtype == np.float32
            assert (
                funcgrad.grad(lambda v, r=operands: f(*[v if a is x else a for a in r]).sum())(
                    x
                ).dtype
                == np.float32
            )


@pytest.mark.parametrize("name", sorted(set(COMPOSED) - {"kn"}))
def test_complex_numbers_are_refused(name: str) -> None:
    with pytest.raises(ArgumentError, match="needs real numbers, found"):
        getattr(special, name)(*[np.array([1.0 + 1j])] * COMPOSED[name])


# ---------------------------------------------------------------- ends and far tails


@pytest.mark.parametrize(
    ("x", "first", "second"),
    [
        (11.9, -0.003942633974226029, 0.0006557763815958489),
        (12.1, -0.003814669471505324, 0.0006242134692411792),
        (50.0, -0.00022554056313532387, 9.016217115157223e-06),
        (1e8, -5.641895835477562e-17, 1.1283791670955122e-24),
    ],
)
def test_slopes_of_the_scaled_error_function(x: float, first: float, second: float) -> None:
    np.testing.assert_allclose(funcgrad.grad(special.erfcx)(x), first, rtol=1e-13)
    bend = funcgrad.grad(funcgrad.grad(special.erfcx))(x)
    np.testing.assert_allclose(bend, second, rtol=1e-11)


@pytest.mark.parametrize(
    ("name", "ends"), [("gammaincinv", [0.0]), ("gammainccinv", [1.0]), ("betaincinv", [0.0, 1.0])]
)
@given(a=st.floats(0.2, 9.0), b=st.floats(0.2, 9.0))
def test_shapes_do_not_move_the_ends(name: str, ends: list[float], a: float, b: float) -> None:
    shapes = [a] if name.startswith("gamma") else [a, b]
    for end in [*ends, 1e-300 if 0.0 in ends else 1.0 - 1e-16]:
        for i in range(len(shapes)):
            slope = funcgrad.grad(getattr(special, name), argnums=i)(*shapes, end)
            assert np.isfinite(slope) and (slope == 0.0 or end not in ends)


# ---------------------------------------------------------------- degrees


@given(k=st.integers(-40, 40), thousandths=st.integers(-(10**7), 10**7))
def test_degrees(k: int, thousandths: int) -> None:
    """Exact at multiples of 90, SciPy's elsewhere, and every derivative is another one of them."""
    x = thousandths / 1000.0
    quarter = [0.0, 1.0, 0.0, -1.0]
    assert special.sindg(90.0 * k) == quarter[k % 4]
    assert special.cosdg(90.0 * k) == quarter[(k + 1) % 4]
    for name in ("sindg", "cosdg"):
        np.testing.assert_allclose(getattr(special, name)(x), getattr(ss, name)(x), atol=1e-13)
    per = np.pi / 180.0
    for v in (x, 90.0 * k):
        sine, cosine = special.sindg(v), special.cosdg(v)
        np.testing.assert_allclose(funcgrad.grad(special.sindg)(v), cosine * per, atol=1e-15)
        np.testing.assert_allclose(funcgrad.grad(special.cosdg)(v), -sine * per, atol=1e-15)
        if v % 180.0 != 90.0:
            np.testing.assert_allclose(special.tandg(v), sine / cosine, rtol=1e-9, atol=1e-15)
            slope = funcgrad.grad(special.tandg)(v)
            np.testing.assert_allclose(slope, per / cosine**2, rtol=1e-12)
        if v % 180.0 != 0.0:
            np.testing.assert_allclose(special.cotdg(v), cosine / sine, rtol=1e-9, atol=1e-15)
            slope = funcgrad.grad(special.cotdg)(v)
            np.testing.assert_allclose(slope, -per / sine**2, rtol=1e-12)


@pytest.mark.parametrize(("name", "pole", "slope"), [("tandg", 90.0, 1.0), ("cotdg", 180.0, -1.0)])
def test_poles_of_degrees(name: str, pole: float, slope: float) -> None:
    f = getattr(special, name)
    with np.errstate(divide="ignore"):
        for k in (-3, -1, 1, 3, 5):
            assert f(pole * k) == np.inf == getattr(ss, name)(pole * k)
            assert funcgrad.grad(f)(pole * k) == slope * np.inf
    with np.errstate(all="raise"):  # what is not chosen does not divide
        assert f(pole - 90.0) == 0.0


@pytest.mark.parametrize("weights", [None, np.array([1.0, -2.0, 3.0, np.nan])])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_logsumexp_of_some(weights: Any, dtype: str) -> None:
    """What is left out may be anything, and gets no cotangent."""
    x, where = np.array([0.5, 3.0, 2.0, np.nan]).astype(dtype), np.array([True, False, True, False])
    of_some = None if weights is None else weights[where]
    for wrap in (lambda f: f, funcgrad.jit):
        found = wrap(lambda x: special.logsumexp(x, 0, weights, where=where))(x)
        np.testing.assert_allclose(found, special.logsumexp(x[where], 0, of_some), rtol=1e-14)
    slope = funcgrad.grad(lambda x: special.logsumexp(x, b=weights, where=where).real)(x)
    expected = funcgrad.grad(lambda x: special.logsumexp(x, b=of_some).real)(x[where])
    np.testing.assert_allclose(slope[where], expected, rtol=1e-14)
    assert not slope[~where].any()
    nothing = special.logsumexp(x, 0, weights, where=np.zeros(4, bool))
    assert nothing == -np.inf and nothing.dtype == dtype


@pytest.mark.parametrize("options", [{}, {"axis": 1}, {"axis": -1, "b": [1.0, 0.0, -2j]}], ids=str)
def test_logsumexp_of_complex_numbers(options: dict[str, Any]) -> None:
    """SciPy's values, and the derivative of the formula, also where exp overflows."""
    rng = np.random.default_rng(5)
    z = rng.normal(size=(3, 3)) + 2j * rng.normal(size=(3, 3))
    for shift in (0.0, 900.0):
        found = special.logsumexp(z + shift, **options)
        np.testing.assert_allclose(found, ss.logsumexp(z + shift, **options), rtol=1e-14)
    size, turn = special.logsumexp(z, return_sign=True, **options)
    np.testing.assert_allclose(np.exp(size) * turn, np.exp(special.logsumexp(z, **options)))

    def f(z: Any) -> Any:
        return special.logsumexp(z, **options).sum()

    direction = rng.normal(size=(3, 3)) + 1j * rng.normal(size=(3, 3))
    step = 1e-6
    slope = (f(z + step * direction) - f(z - step * direction)) / (2 * step)
    np.testing.assert_allclose(funcgrad.jvp(f, (z,), (direction,))[1], slope, rtol=1e-8)
    ct = funcgrad.grad(lambda z: np.real(f(z)))(z)
    np.testing.assert_allclose(np.real(np.sum(ct * direction)), slope.real, rtol=1e-8)
    assert special.logsumexp(np.array([-np.inf + 0j, -np.inf])) == -np.inf
    report = check_all(
        lambda z: special.logsumexp(z, return_sign=True, **options),
        (z,),
        only=["types", "transpose", "numerical", "jit"],
    )
    assert not report.failures, str(report)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, bool])
@pytest.mark.parametrize("name, k", [("xlogy", 1), ("xlog1py", 1), ("zeta", 1), ("hyp0f1", 1),
                                     ("hyp1f1", 2), ("hyp2f1", 3), ("hyperu", 2), ("eval_jacobi", 3),
                                     ("eval_gegenbauer", 2), ("eval_genlaguerre", 2)])  # fmt: skip
def test_derivatives_beside_small_integers(name: str, k: int, dtype: Any) -> None:
    """Rules compute with them as with float64: log(3) of int8 is a half, -2 of uint8 is 254."""
    f = getattr(special, name)
    whole = np.array([1, 3, 100, 127]).astype(dtype)
    degree = [2] if name.startswith("eval") else []
    x = np.array([0.3, 0.7, 0.2, 0.8])

    def slope(parameter: np.ndarray) -> Any:
        by = [*degree, *[parameter] * (k - len(degree))]
        order = (lambda t: (t, parameter)) if name.startswith("xlog") else lambda t: (*by, t)
        return funcgrad.grad(lambda t: np.sum(f(*order(t))))(x)

    np.testing.assert_allclose(slope(whole), slope(whole.astype(np.float64)), rtol=1e-14)
