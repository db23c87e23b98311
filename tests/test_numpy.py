"""`funcgrad.numpy` and `funcgrad.scipy.special` against NumPy and SciPy, for every public name.

A row of a table draws calls of one function. Every call must give on plain arrays what NumPy gives
(value, shape, dtype), the same inside a transform and through NumPy's own function, and derivatives
whose forward and reverse form agree with each other and with finite differences.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from samples import (
    array,
    away,
    booleans,
    broadcastable,
    complexes,
    distinct,
    floats,
    integers,
    shapes,
)

import funcgrad
import funcgrad.numpy as fnp
from funcgrad import tree
from funcgrad.compile import cuda_source
from funcgrad.errors import (
    ArgumentError,
    ConcretizationError,
    HandoverError,
    MissingRuleError,
    NonScalarOutputError,
    ShapeError,
)
from funcgrad.scipy import special
from funcgrad.testing import check_all

Array = np.ndarray


class Call(NamedTuple):
    """``function(*args, **kwargs)``; `smooth`: finite differences may be compared."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    smooth: bool = True


Row = SearchStrategy[Call]

# ---------------------------------------------------------------- how rows are written

REAL = away(floats(-2.9, 2.9), 0.0, 1.0, -1.0, 2.0, -2.0)
HALF = away(floats(-0.45, 0.45), 0.0)  # not integers, not halves, ...
POSITIVE = floats(0.15, 3.9, count=97)  # of which no integer is a multiple
UNIT = away(floats(-0.9, 0.9), 0.0)
COMPLEX = complexes()
SINGLE = REAL.astype(np.float32)
WHOLE = integers(-4, 4)
COUNTS = integers(1, 5)
TRUTH = booleans()
ANY = [REAL, SINGLE, COMPLEX, WHOLE, TRUTH]
NUMBERS = [REAL, SINGLE, COMPLEX, WHOLE]
REALS = [REAL, SINGLE, WHOLE]
BITS = [WHOLE, TRUTH]


def some(*domains: Any, ndim: tuple[int, int] = (0, 3), side: tuple[int, int] = (0, 3)) -> Any:
    """Arrays with elements of one of the domains."""
    return shapes(ndim=ndim, side=side).flatmap(
        lambda shape: st.sampled_from(domains).flatmap(lambda domain: array(domain, shape))
    )


def call(*args: Any, smooth: bool = True, **kwargs: Any) -> Row:
    """One call, with a draw in place of every strategy among the arguments."""
    return st.builds(
        lambda args, kwargs: Call(args, kwargs, smooth),
        st.tuples(*map(_strategy, args)),
        st.fixed_dictionaries({k: _strategy(v) for k, v in kwargs.items()}),
    )


def rough(*args: Any, **kwargs: Any) -> Row:
    """A call at a kink, or one whose result jumps."""
    return call(*args, smooth=False, **kwargs)


def _strategy(x: Any) -> SearchStrategy:
    if isinstance(x, SearchStrategy):
        return x
    if isinstance(x, list | tuple) and any(isinstance(e, SearchStrategy) for e in x):
        return st.tuples(*map(_strategy, x)).map(type(x))
    return st.just(x)


def unary(*domains: Array, smooth: bool = True) -> Row:
    return call(some(*domains), smooth=smooth)


@st.composite
def elementwise(draw: Any, *domains: Any, smooth: bool = True) -> Call:
    """One operand per entry (a domain, or a list of them), of shapes that broadcast together."""
    found = draw(broadcastable(len(domains)))
    picked = [draw(st.sampled_from(d)) if isinstance(d, list) else d for d in domains]
    return Call(tuple(draw(array(d, s)) for d, s in zip(picked, found, strict=True)), {}, smooth)


def two(*domains: Array, smooth: bool = True) -> Row:
    return elementwise(list(domains), list(domains), smooth=smooth)


@st.composite
def reduction(
    draw: Any,
    *domains: Array,
    least: int = 0,
    several: bool = True,
    whole: bool = True,
    keep: bool = True,
    smooth: bool = True,
    before: tuple[Any, ...] = (),
    **options: Any,
) -> Call:
    """An array and axis= in any form; a negative one, a tuple and None among them."""
    shape = draw(shapes(ndim=(0 if whole else 1, 3), side=(least, 3)))
    n = len(shape)
    single = [st.integers(-n, n - 1)] if n else []
    group = [st.sets(st.integers(0, n - 1)).map(lambda s: tuple(s))] if n and several else []
    axis = draw(st.one_of(*([st.none()] if whole else []), *single, *group))
    kwargs: dict[str, Any] = {"axis": axis} if axis is not None or draw(st.booleans()) else {}
    if keep:
        kwargs["keepdims"] = draw(st.booleans())
    kwargs |= {k: draw(v) if isinstance(v, SearchStrategy) else v for k, v in options.items()}
    domain = draw(st.sampled_from(domains))
    fill = distinct if domain.dtype.kind in "fc" else array
    x = draw(fill(domain, shape))
    return Call((x, *(draw(_strategy(b)) for b in before)), kwargs, smooth)


def running(*domains: Array, **options: Any) -> Row:
    """Along one axis, or of the flattened array."""
    return reduction(*domains, several=False, keep=False, **options)


def numbers(*shape: int, low: float = 0.3, high: float = 1.9, seed: int = 0) -> Array:
    """Numbers that look random, no two equal."""
    rng = np.random.default_rng([seed, *shape])
    return rng.permutation(np.linspace(low, high, max(int(np.prod(shape)), 1)))[
        : int(np.prod(shape))
    ].reshape(shape)


def complex_numbers(*shape: int) -> Array:
    return numbers(*shape) + 1j * numbers(*shape, seed=1)


V, W = numbers(4), numbers(4, seed=1)  # vectors
M, N = numbers(3, 4), numbers(3, 4, seed=1)  # matrices
S = numbers(3, 3) + np.eye(3)  # square
T = numbers(2, 3, 4)
Z = complex_numbers(3)
I3 = np.array([2, 0, 1])
MASK = np.array([True, False, True, True])
NAN = np.array([[1.5, np.nan, 0.5], [np.nan, np.nan, 2.5]])
P2 = S @ S.T  # positive definite
H2 = complex_numbers(3, 3) + complex_numbers(3, 3).conj().T + 4 * np.diag([1.0, 2.0, 3.0])

TRUTH_TABLE = numbers(3, 11) > 1.0
BYTES = (100 * numbers(2, 3)).astype(np.uint8)

one_of = st.one_of

# ---------------------------------------------------------------- elementwise

SMOOTH: dict[str, Row] = {
    "abs": unary(*NUMBERS),
    "absolute": unary(*NUMBERS),
    "add": two(*NUMBERS),
    "angle": one_of(unary(COMPLEX, POSITIVE, SINGLE), call(Z, deg=True), call(Z, True)),
    "arccos": unary(UNIT, COMPLEX),
    "arccosh": unary(POSITIVE + 1.1, COMPLEX),
    "arcsin": unary(UNIT, COMPLEX),
    "arcsinh": unary(REAL, COMPLEX),
    "arctan": unary(REAL, COMPLEX),
    "arctan2": elementwise([REAL, SINGLE], [REAL, SINGLE]),
    "arctanh": unary(UNIT),
    "cbrt": unary(REAL, SINGLE),
    "conj": unary(*NUMBERS),
    "conjugate": unary(*NUMBERS),
    "copysign": two(REAL, SINGLE),
    "cos": unary(REAL, SINGLE, COMPLEX, WHOLE),
    "cosh": unary(REAL, COMPLEX),
    "deg2rad": unary(REAL, SINGLE, WHOLE),
    "degrees": unary(REAL, SINGLE, WHOLE),
    "divide": elementwise(NUMBERS, [POSITIVE, COMPLEX, COUNTS]),
    "exp": unary(REAL, SINGLE, COMPLEX, WHOLE),
    "exp2": unary(REAL, SINGLE),
    "expm1": unary(REAL, COMPLEX),
    "fabs": unary(REAL, SINGLE, WHOLE.astype(np.int64)),
    "float_power": elementwise([POSITIVE, COMPLEX], [REAL, COMPLEX]),
    "fmax": two(REAL, WHOLE, smooth=False),
    "fmin": two(REAL, WHOLE, smooth=False),
    "fmod": elementwise([HALF, WHOLE], POSITIVE + 0.5),
    "hypot": two(REAL, SINGLE),
    "i0": unary(REAL),
    "imag": unary(*NUMBERS),
    "log": unary(POSITIVE, COMPLEX, COUNTS),
    "log10": unary(POSITIVE, COMPLEX),
    "log1p": unary(POSITIVE, COMPLEX),
    "log2": unary(POSITIVE, COMPLEX),
    "logaddexp": two(REAL, SINGLE),
    "logaddexp2": two(REAL, SINGLE),
    "maximum": two(REAL, WHOLE, smooth=False),
    "minimum": two(REAL, WHOLE, smooth=False),
    "mod": elementwise([HALF, WHOLE], [POSITIVE + 0.5]),
    "multiply": two(*NUMBERS),
    "nan_to_num": one_of(
        unary(REAL, COMPLEX),
        call(np.array([1.5, np.nan, np.inf, -np.inf]), smooth=False),
        rough(np.array([1.5, np.nan, np.inf]), nan=2.0, posinf=3.0, neginf=-1.0),
    ),
    "negative": unary(*NUMBERS),
    "positive": unary(*NUMBERS),
    "pow": elementwise([POSITIVE, COMPLEX], [REAL, COMPLEX]),
    "power": one_of(
        elementwise([POSITIVE, COMPLEX], [REAL, COMPLEX]), elementwise(NUMBERS, COUNTS)
    ),
    "rad2deg": unary(REAL, SINGLE, WHOLE),
    "radians": unary(REAL, SINGLE, WHOLE),
    "real": unary(*NUMBERS),
    "reciprocal": unary(REAL, COMPLEX),
    "remainder": elementwise([HALF, WHOLE], [POSITIVE + 0.5]),
    "sin": unary(REAL, SINGLE, COMPLEX, WHOLE),
    "sinc": unary(REAL, SINGLE),
    "sinh": unary(REAL, COMPLEX),
    "sqrt": unary(POSITIVE, COMPLEX, COUNTS),
    "square": unary(*NUMBERS),
    "subtract": two(*NUMBERS),
    "tan": unary(UNIT, COMPLEX),
    "tanh": unary(REAL, SINGLE, COMPLEX, WHOLE),
    "true_divide": elementwise(NUMBERS, [POSITIVE, COMPLEX, COUNTS]),
}
SMOOTH |= {
    array_api: SMOOTH[name]
    for array_api, name in {
        "acos": "arccos",
        "acosh": "arccosh",
        "asin": "arcsin",
        "asinh": "arcsinh",
        "atan": "arctan",
        "atan2": "arctan2",
        "atanh": "arctanh",
    }.items()
}

STEPS: dict[str, Row] = {
    "around": one_of(unary(HALF, WHOLE, smooth=False), rough(some(HALF, COMPLEX), 1)),
    "bitwise_and": elementwise(WHOLE, WHOLE),
    "bitwise_invert": unary(*BITS),
    "bitwise_left_shift": elementwise(COUNTS, COUNTS),
    "bitwise_not": unary(*BITS),
    "bitwise_or": elementwise(TRUTH, TRUTH),
    "bitwise_right_shift": elementwise(WHOLE, COUNTS),
    "bitwise_xor": elementwise(WHOLE, WHOLE),
    "ceil": unary(HALF, SINGLE),
    "clip": one_of(
        call(some(REAL, SINGLE), -0.52, 0.53),
        call(some(REAL), None, 0.53),
        call(some(REAL), 0.53, None),
        call(some(REAL), min=-0.52, max=0.53),
        call(some(WHOLE), -1, None),
        call(some(WHOLE), a_min=-1, a_max=2),
        rough(np.array([0.0, 1.0, 0.5]), 0.0, 1.0),
        call(M, 0.5 + 0.01 * N, 1.5 + 0.01 * V),
    ),
    "divmod": elementwise([HALF, WHOLE], [POSITIVE + 0.5]),
    "equal": two(REAL, WHOLE),
    "fix": unary(HALF, SINGLE),
    "floor": unary(HALF, SINGLE),
    "floor_divide": elementwise([HALF, WHOLE], [POSITIVE + 0.5]),
    "gcd": elementwise(WHOLE, WHOLE),
    "greater": two(REAL, WHOLE),
    "greater_equal": two(REAL, WHOLE),
    "heaviside": elementwise(REAL, REAL),
    "invert": unary(*BITS),
    "isfinite": unary(*NUMBERS),
    "isinf": one_of(unary(*NUMBERS), rough(np.array([1.0, np.inf, np.nan]))),
    "isnan": one_of(unary(*NUMBERS), rough(np.array([1.0, np.inf, np.nan]))),
    "isneginf": rough(np.array([1.0, np.inf, -np.inf, np.nan])),
    "isposinf": rough(np.array([1.0, np.inf, -np.inf, np.nan])),
    "lcm": elementwise(COUNTS, COUNTS),
    "ldexp": elementwise([REAL, SINGLE], integers(-2, 2)),
    "left_shift": elementwise(COUNTS, COUNTS),
    "less": two(REAL, WHOLE),
    "less_equal": two(REAL, WHOLE),
    "logical_and": two(REAL, TRUTH),
    "logical_not": unary(REAL, TRUTH, WHOLE),
    "logical_or": two(REAL, TRUTH),
    "logical_xor": two(REAL, TRUTH),
    "modf": unary(HALF, REAL, WHOLE, smooth=False),
    "nextafter": two(REAL, SINGLE),
    "not_equal": two(REAL, WHOLE),
    "right_shift": elementwise(WHOLE, COUNTS),
    "rint": unary(HALF, SINGLE),
    "round": one_of(
        unary(HALF, WHOLE, COMPLEX, smooth=False),
        rough(some(REAL, SINGLE, COMPLEX), 1),
        rough(some(REAL, WHOLE), decimals=-1),
    ),
    "sign": one_of(unary(*NUMBERS), rough(np.array([0.0, -1.0, 0j]))),
    "signbit": unary(REAL, SINGLE),
    "spacing": unary(POSITIVE, POSITIVE.astype(np.float32)),
    "trunc": unary(HALF, SINGLE),
}

LOGIC: dict[str, Row] = {
    "allclose": one_of(
        call(M, M + 1e-9), call(M, M + 1e-3), call(M, N, rtol=9.0), rough(NAN, NAN, equal_nan=True)
    ),
    "array_equal": one_of(call(M, M), call(M, N), call(M, V), rough(NAN, NAN, equal_nan=True)),
    "array_equiv": one_of(call(M, M), call(M, M[0]), call(V, np.ones(3))),
    "isclose": one_of(
        call(M, M + 1e-9),
        call(some(REAL, WHOLE), 0.5),
        rough(NAN, NAN),
        rough(NAN, NAN, equal_nan=True),
        rough(np.array([np.inf, -np.inf, 1.0]), np.array([np.inf, np.inf, np.inf])),
        call([1, 2], [1, 3]),
    ),
    "iscomplex": unary(*NUMBERS),
    "iscomplexobj": unary(*NUMBERS),
    "isin": one_of(call(WHOLE, [1, 2]), call(M, M[0], invert=True)),
    "isreal": unary(*NUMBERS),
    "isrealobj": unary(*NUMBERS),
    "isscalar": one_of(call(2.0), call("a"), call(np.ones(2))),
    "real_if_close": one_of(call(M), call(Z), rough(Z.real + 1e-18j)),
}

# ---------------------------------------------------------------- creation, shape, order

CREATION: dict[str, Row] = {
    "arange": one_of(
        call(5), call(1, 7, 2), call(2.0), call(1, stop=4), call(0, 1, 0.25), call(3, dtype="f4")
    ),
    "array": one_of(
        call([[1.0, 2.0], [3.0, 4.0]]),
        call([V, W]),
        call([M[0, 0], 2.0, 3]),
        call(M, dtype=np.float32),
        call(V, ndmin=3),
        call(((1, 2), (3, 4))),
        call(2.5),
        call(range(3)),
        call([]),
    ),
    "asarray": one_of(call(M), call([1, 2]), call([V, W]), call(M, np.float32), call([Z, Z])),
    "astype": one_of(
        call(M, np.float32), call(M, int, smooth=False), call(Z, "c8"), call(I3, float)
    ),
    "copy": unary(*ANY),
    "empty": one_of(call((2, 0)), call(0, "f4")),
    "empty_like": call(np.ones((0, 2), "f4")),
    "eye": one_of(call(3), call(2, 3, k=1), call(3, dtype=int), call(2, M=4)),
    "fromfunction": one_of(
        call(lambda i, j: i + 2 * j, (2, 3)), call(lambda i: i, (3,), dtype=int)
    ),
    "full": one_of(call(3, 2.0), call((2, 3), 7), call((2, 3), V[:3]), call(2, M[0, 0], "f4")),
    "full_like": one_of(call(M, 2), call(I3, 7.0), call(M, V), call(M, 2, dtype=int)),
    "geomspace": one_of(
        call(1.0, 9.0, 5), call(M[0, 0], M[0, 1], num=4), call(V, W, 3), call(1, 100, 4, False)
    ),
    "identity": one_of(call(3), call(2, "f4")),
    "indices": one_of(call((2, 3)), call((2, 3), sparse=True), call((3,), dtype=float)),
    "kaiser": one_of(call(5, V[0]), call(1, V[0]), call(0, 2.0), call(4, 3)),
    "linspace": one_of(
        call(0.0, 1.0, 5),
        call(M[0, 0], M[0, 1], 4),
        call(V, W, 3, axis=1),
        call(V, W, 3, axis=-1, endpoint=False),
        call(V, 3.0, num=1),
        call(0, 10, 4, dtype=int),
        call(V[0], W[0], 3, retstep=True),
        call(Z, 0.0, 3),
    ),
    "logspace": one_of(call(0.0, 1.0, 5), call(V, W, 3, base=2.0), call(0, 2, 3, axis=0)),
    "meshgrid": one_of(
        call(V, W[:3]),
        call(V, W[:3], indexing="ij"),
        call(V, W[:3], sparse=True),
        call(V, W[:3], V[:2]),
        call(V),
        call(V, W, copy=False),
    ),
    "ones": one_of(call(3), call((2, 3), int)),
    "ones_like": one_of(unary(*ANY), call(M, dtype=int), call(M, shape=(2,)), call([1, 2])),
    "tri": one_of(call(3), call(2, 4, 1), call(3, k=-1, dtype=int)),
    "zeros": one_of(call(3), call((2, 3), int), call(shape=2, dtype="c16")),
    "zeros_like": one_of(unary(*ANY), call(M, dtype=int), call(M, shape=(2,)), call([1, 2])),
}

SHAPES: dict[str, Row] = {
    "atleast_1d": one_of(unary(REAL), call(2.0, V, M)),
    "atleast_2d": one_of(unary(REAL), call(2.0, V, T)),
    "atleast_3d": one_of(unary(REAL), call(2.0, V, M)),
    "broadcast_arrays": one_of(call(V, M, 2.0), call(V), call()),
    "broadcast_to": one_of(call(V, (3, 4)), call(2.0, (2, 2)), call([1, 2], (2,)), call(V[:1], 3)),
    "expand_dims": one_of(call(M, 0), call(M, -1), call(M, (0, 2)), call(2.0, axis=0)),
    "flip": one_of(unary(*ANY), call(T, 1), call(T, (0, -1)), call([1, 2])),
    "fliplr": one_of(call(M), call(T)),
    "flipud": one_of(call(M), call(V)),
    "matrix_transpose": one_of(call(M), call(T)),
    "moveaxis": one_of(call(T, 0, -1), call(T, [0, 1], [-1, -2]), call(T, (2,), (0,))),
    "ndim": one_of(unary(REAL), call([[1]])),
    "permute_dims": one_of(call(T, (2, 0, 1)), call(M, axes=(-1, 0))),
    "ravel": one_of(unary(*ANY), call(T, "F"), call(T, order="C"), call([[1], [2]])),
    "reshape": one_of(
        call(T, (4, 6)),
        call(T, -1),
        call(T, (-1, 2)),
        call(T, (6, 4), order="F"),
        call(T, (4, -1), "F"),
        call([1, 2, 3, 4], (2, 2)),
        call(np.ones((0, 3)), (3, 0)),
        call(2.0, (1, 1)),
    ),
    "rollaxis": one_of(call(T, 2), call(T, 0, 3), call(T, 1, start=-1), call(T, 2, 1)),
    "rot90": one_of(*(call(M, k) for k in range(-1, 5)), call(T, 1, (1, 2)), call(T, axes=(2, 0))),
    "shape": one_of(unary(REAL), call([[1, 2]])),
    "size": one_of(unary(REAL), call(M, 1), call([[1, 2]])),
    "squeeze": one_of(call(M[:1, :, None]), call(M[:1, :, None], 0), call(M[:, None], axis=(1,))),
    "swapaxes": one_of(call(T, 0, 2), call(T, -1, 1)),
    "transpose": one_of(unary(*ANY), call(T, (1, 2, 0)), call(T, [-1, 0, 1]), call([[1, 2]])),
}

JOINING: dict[str, Row] = {
    "append": one_of(call(M, N), call(M, N, 0), call(M, N, axis=-1), call([1], 2)),
    "array_split": one_of(call(V, 3), call(M, [1, 3], 1), call(M, 2, axis=-1), call(V, (2, 9))),
    "block": one_of(
        call([[M, N], [N, M]]),
        call([V, W]),
        call(V),
        call([[M], [V]]),
        call([[np.eye(2), Z[:2, None]]]),
    ),
    "column_stack": one_of(call([V, W]), call((V[:3], M)), call(M)),
    "concatenate": one_of(
        call([V, W]),
        call((M, N), 1),
        call([M, N], axis=-1),
        call([M, V], axis=None),
        call([V, I3]),
        call([V, W], dtype=np.float32),
        call(M),
        call([[1.0], V]),
        call([Z, V]),
    ),
    "delete": one_of(
        call(V, 1),
        call(M, [0, 2], 1),
        call(M, slice(0, 2), axis=0),
        call(M, -1),
        call(V, MASK),
        call(V, []),
    ),
    "dsplit": one_of(call(T, 2), call(T, [1, 3])),
    "dstack": one_of(call([V, W]), call([M, N]), call([T, T])),
    "hsplit": one_of(call(M, 2), call(V, 2), call(T, [1])),
    "hstack": one_of(call([V, W]), call([M, N]), call((1.0, V)), call([V, W], dtype="f4")),
    "insert": one_of(
        call(V, 1, 9.0),
        call(V, [1, 3], [8.0, 9.0]),
        call(V, [1, 3], 9.0),
        call(M, 1, 9.0, axis=1),
        call(M, 1, V[:3], axis=1),
        call(M, [1], V[:3, None], axis=1),
        call(M, [0, 2], W, axis=0),
        call(V, slice(1, 3), [8.0, 9.0]),
        call(V, 2, [5.0, 6.0, 7.0]),
        call(M, -1, 9.0),
        call(I3, 0, 7.9, smooth=False),
    ),
    "pad": one_of(
        call(V, 1),
        call(M, ((1, 2), (0, 1))),
        call(M, (1, 2), "constant", constant_values=5.0),
        call(M, 1, constant_values=((1.0, 2.0), (3.0, 4.0))),
        call(V, 2, constant_values=W[:2]),
        *(call(V, (2, 3), mode) for mode in ("edge", "reflect", "symmetric", "wrap")),
        *(call(M, 2, mode) for mode in ("edge", "reflect", "symmetric", "wrap")),
        *(call(M, 2, mode) for mode in ("maximum", "mean", "median", "minimum", "linear_ramp")),
        call(M, ((1, 0), (2, 1)), "mean", stat_length=2),
        call(M, ((1, 0), (2, 1)), "linear_ramp", end_values=((1.0, 2.0), (3.0, 4.0))),
        call(I3, 2, "mean"),
        call(I3, 3, "linear_ramp", end_values=9),
        *(call(M, (3, 9), mode, reflect_type="odd") for mode in ("reflect", "symmetric")),
        call(I3, (4, 7), "reflect", reflect_type="odd"),
        call(V[:1], (2, 1), "symmetric", reflect_type="odd"),
    ),
    "repeat": one_of(
        call(V, 2), call(M, 2, 1), call(M, [1, 0, 2], axis=0), call(V, [2]), call(3, 4)
    ),
    "roll": one_of(
        call(V, 1), call(M, 5), call(M, -1, 1), call(M, (1, 2), (0, 1)), call(M, 1, axis=(0, 0))
    ),
    "split": one_of(call(V, 2), call(M, [1, 3], 1), call(M, 3, axis=0), call(V, np.array([1]))),
    "stack": one_of(
        call([V, W]),
        call([M, N], 1),
        call((M, N), axis=-1),
        call([1.0, V[0]]),
        call([V, W], dtype="f4"),
    ),
    "tile": one_of(call(V, 2), call(M, (2, 1)), call(M, (2, 1, 2)), call(T, 2), call(2.0, 3)),
    "unstack": one_of(call(M), call(M, axis=1)),
    "vsplit": one_of(call(M, 3), call(T, [1])),
    "vstack": one_of(call([V, W]), call([M, N]), call((V, M))),
}
JOINING["concat"] = JOINING["concatenate"]

# ---------------------------------------------------------------- reductions

REDUCTIONS: dict[str, Row] = {
    "all": one_of(reduction(*ANY), call(M > 1, where=MASK), call(M > 0.5, 1, where=N > 1)),
    "amax": reduction(*REALS, least=1),
    "amin": reduction(*REALS, least=1),
    "any": one_of(reduction(*ANY), call(M > 1, where=MASK), call(M > 1.5, 1, where=N > 1)),
    "argmax": reduction(*REALS, least=1, several=False),
    "argmin": reduction(*REALS, least=1, several=False),
    "average": one_of(
        reduction(*NUMBERS, least=1),
        call(M, 1, V),
        call(M, None, N),
        call(M, (0,), weights=V[:3], returned=True),
        call(M, 0, N, True, keepdims=True),
        call(T, (1, 2), weights=M),
        call(M, returned=True),
        call(Z, weights=V[:3]),
    ),
    "count_nonzero": reduction(*ANY),
    "max": one_of(
        reduction(*REALS, least=1),
        call(M, initial=1.05),
        call(M, 0, None, True, 1.05),
        call(M, 1, initial=0.0, where=N > 1),
        call(np.ones((0, 3)), axis=0, initial=2.0),
        rough(np.array([1.0, 1.0, 0.0])),
    ),
    "mean": one_of(
        reduction(*ANY, least=1),
        call(M, 0, np.float32),
        call(M, where=N > 1),
        call(M, 1, keepdims=True, where=MASK),
        call(I3, dtype=np.float32),
    ),
    "median": reduction(*REALS, least=1),
    "min": one_of(
        reduction(*REALS, least=1), call(M, initial=1.05), call(M, 1, initial=9.0, where=N > 1)
    ),
    "nanargmax": one_of(running(*REALS, least=1), rough(NAN), rough(NAN, 1)),
    "nanargmin": one_of(running(*REALS, least=1), rough(NAN), rough(NAN, 1, keepdims=True)),
    "nancumprod": one_of(running(*NUMBERS), rough(NAN), rough(NAN, 1)),
    "nancumsum": one_of(running(*NUMBERS), rough(NAN), rough(NAN, 1)),
    "nanmax": one_of(reduction(*REALS, least=1), rough(NAN, 1), rough(NAN), rough(NAN, 0)),
    "nanmean": one_of(
        reduction(*ANY, least=1),
        rough(NAN),
        rough(NAN, 0),
        rough(NAN, 1, where=[True, True, False]),
    ),
    "nanmedian": one_of(
        reduction(*REALS, least=1), rough(NAN), rough(NAN, 0), rough(NAN, 1, keepdims=True)
    ),
    "nanmin": one_of(reduction(*REALS, least=1), rough(NAN, 1), rough(NAN), rough(NAN, 0)),
    "nanpercentile": one_of(
        call(M, 30.0), rough(NAN, [10.0, 55.0], 1), rough(NAN, 30, keepdims=True)
    ),
    "nanprod": one_of(reduction(*ANY), rough(NAN), rough(NAN, 1), rough(NAN, 0, initial=2.0)),
    "nanquantile": one_of(
        call(M, 0.3),
        rough(NAN, [0.1, 0.55], 1),
        rough(NAN, 0.3, keepdims=True),
        call(T, V[:2] / 4, (0, 2)),
    ),
    "nanstd": one_of(
        reduction(REAL, WHOLE, least=2), rough(NAN), rough(NAN, 0), rough(NAN, 1, ddof=1)
    ),
    "nansum": one_of(reduction(*ANY), rough(NAN), rough(NAN, 1), rough(NAN, 0, initial=2.0)),
    "nanvar": one_of(
        reduction(*NUMBERS, least=2), rough(NAN), rough(NAN, 0), rough(NAN, 1, ddof=1)
    ),
    "percentile": one_of(reduction(*REALS, least=1, before=(37.0,)), call(M, [10, 90], 0)),
    "prod": one_of(
        reduction(*ANY),
        call(M, 0, np.float32),
        call(M, 1, initial=2.0, where=N > 1),
        rough(np.array([0.0, 2.0, 3.0])),
        call(I3, dtype=np.int8),
    ),
    "ptp": reduction(*REALS, least=1),
    "quantile": one_of(
        reduction(*REALS, least=1, before=(0.37,)),
        call(T, V[:2] / 4, (0, 2), keepdims=True),
        call(M, [[0.1], [0.6]], 1),
        *(call(M, 0.37, 1, method=m) for m in ("lower", "higher", "nearest", "midpoint", "hazen")),
        call(M, 0.37, None, None, False, "weibull"),
        *(
            call(M, q, axis, method=m)
            for m in ("inverted_cdf", "averaged_inverted_cdf", "closest_observation")
            for q, axis in ((0.0, 0), (0.5, None), (0.37, 1), ([0.25, 1.0], 0))
        ),
        call(M, [0.0, 0.4, 1.0], weights=N, method="inverted_cdf"),
        call(M, 0.4, 1, weights=V[: M.shape[1]] ** 2, method="inverted_cdf", keepdims=True),
        call(T, [[0.1], [0.6]], (0, 2), weights=T**2, method="inverted_cdf"),
    ),
    "std": one_of(
        reduction(REAL, COMPLEX, WHOLE, least=2),
        call(M, 0, ddof=1),
        call(M, 1, None, None, 1, True),
        call(M, where=N > 1),
        call(M, 1, correction=1),
        call(M, axis=0, mean=M.mean(axis=0, keepdims=True)),
        call(I3, dtype=np.float32),
    ),
    "sum": one_of(
        reduction(*ANY),
        call(M, 0, np.float32),
        call(M, 1, None, None, True),
        call(M, initial=2.0),
        call(M, where=N > 1),
        call(M, 1, where=MASK, initial=1.0),
        call(I3, dtype=np.int8),
        call([1, 2]),
        call(2.0),
    ),
    "var": one_of(
        reduction(*NUMBERS, least=2),
        call(M, 0, ddof=1),
        call(M, where=N > 1),
        call(M, 1, correction=1),
        call(Z, where=MASK[:3]),
        call(M, axis=0, mean=M.mean(axis=0, keepdims=True)),
    ),
}

SEARCHING: dict[str, Row] = {
    "argpartition": call(M, 1),
    "argsort": one_of(running(*REALS, whole=False), call(M, None), call(M, stable=True)),
    "argwhere": one_of(call(M > 1), call(I3)),
    "bincount": one_of(call(I3), call(I3, V[:3]), call(I3, minlength=5), call(I3, weights=I3)),
    "digitize": one_of(
        call(M, [0.5, 1.0, 1.5]),
        call(M, [1.5, 1.0, 0.5]),
        call(np.array([1.0, 1.5]), [0.5, 1.0, 1.5], right=True),
        call(np.array([1.0, 1.5]), [1.5, 1.0, 0.5], True),
    ),
    "flatnonzero": one_of(call(M > 1), call(I3)),
    "ravel_multi_index": one_of(
        call((I3, I3[::-1]), (3, 4)),
        call((I3 - 1, I3 * 2), (2, 4), mode=("wrap", "clip"), order="F"),
        call((1, 2, 0), (2, 3, 4)),
        call((I3,), (3,)),
    ),
    "unravel_index": one_of(
        call(I3 * 5, (3, 4)), call(I3, (3, 1, 2), order="F"), call(7, (2, 2, 2)), call(I3, 3)
    ),
    "lexsort": one_of(call((V, W)), call((I3, [1, 0, 1])), call(M), call((M, N), axis=0)),
    "nonzero": one_of(call(M > 1), call(I3)),
    "partition": one_of(call(M, 1), call(M, (0, 2), 0), call(M, 3, axis=None)),
    "searchsorted": one_of(
        call([1.0, 2.0, 3.0], np.array([2.0, 9.0])),
        call([1.0, 2.0, 3.0], np.array([[2.0, 9.0]]), "right"),
        call(np.array([3.0, 1.0, 2.0]), 2.5, sorter=[1, 2, 0]),
    ),
    "sort": one_of(running(*REALS, whole=False), call(M, None), call(M, 0, stable=True)),
    "intersect1d": one_of(
        rough(V, V[1:]), rough(np.array([3.0, 1.0, 3.0]), np.array([2.0, 3.0]), return_indices=True)
    ),
    "setdiff1d": one_of(rough(V, V[1:]), rough(np.array([3.0, 1.0, 2.0]), V[:0], True)),
    "setxor1d": rough(np.array([3.0, 1.0, 3.0]), np.array([2.0, 3.0])),
    "union1d": rough(np.array([3.0, 1.0, 3.0]), np.array([[2.0], [3.0]])),
    "unique": one_of(
        call(V),
        rough(np.array([3.0, 1.0, 3.0])),
        call(np.array([[3, 1], [3, 1], [0, 2]]), axis=0),
        rough(np.array([3.0, 1.0, 3.0]), True, True, True),
        rough(np.array([[3.0, 1.0, 3.0]]), return_inverse=True),
        rough(NAN),
    ),
    "unique_all": rough(np.array([3.0, 1.0, 3.0])),
    "unique_counts": rough(np.array([3.0, 1.0, 3.0])),
    "unique_inverse": rough(np.array([[3.0, 1.0, 3.0]])),
    "unique_values": rough(np.array([3.0, 1.0, 3.0])),
}

# ---------------------------------------------------------------- along an axis, products

ALONG: dict[str, Row] = {
    "convolve": one_of(
        *(call(V, W[:k], mode) for k in (1, 2, 3, 4) for mode in ("full", "same", "valid")),
        call(V[:2], W),
        call(V[:2], W, "same"),
        call(Z, V),
        call([1, 2], [3]),
    ),
    "corrcoef": one_of(call(M), call(V, W), call(M, rowvar=False), call(complex_numbers(2, 3))),
    "correlate": one_of(
        *(call(V, W[:k], mode) for k in (1, 2, 3, 4) for mode in ("full", "same", "valid")),
        *(call(V[:k], W, mode) for k in (1, 2, 3) for mode in ("full", "same", "valid")),
        call(Z, complex_numbers(2)),
        call(V, Z),
    ),
    "cov": one_of(
        call(M),
        call(V),
        call(V, W),
        call(M, N, bias=True),
        call(M, rowvar=False, ddof=0),
        call(M, fweights=np.array([1, 2, 1, 3])),
        call(M, aweights=V),
        call(M, None, True, False, None, np.array([1, 2, 1, 3]), W),
        call(complex_numbers(2, 3)),
    ),
    "cross": one_of(
        call(M[:, :3], N[:, :3]),
        call(V[:3], W[:3]),
        call(M, N, axis=0),
        call(M, V[:3], 0, -1, 0),
        call(Z, V[:3]),
    ),
    "cumprod": one_of(running(*ANY), call(M, 0, np.float32), rough(np.array([2.0, 0.0, 3.0]))),
    "cumsum": one_of(running(*ANY), call(M, 0, np.float32), call([1, 2])),
    "cumulative_prod": one_of(call(V), call(M, axis=1), call(M, axis=-1, include_initial=True)),
    "cumulative_sum": one_of(
        call(V), call(M, axis=1), call(M, axis=-1, include_initial=True), call(V, dtype="f4")
    ),
    "diff": one_of(
        running(*ANY, whole=False),
        call(M, 2),
        call(M, 1, 0, prepend=1.0, append=N),
        call(M, axis=1, append=0.0),
        call(V, 0),
        call(V[:1], 2),
    ),
    "dot": one_of(
        call(V, W),
        call(M, V),
        call(M, N.T),
        call(T, V),
        call(V, T.swapaxes(1, 2)),
        call(M, 2.0),
        call(T, S.repeat(2, 0)[:4]),
        call(Z, Z),
        call([1, 2], [3, 4]),
    ),
    "ediff1d": one_of(call(V), call(M), call(V, [1.0, 2.0], 0.0), call(V, to_begin=W)),
    "einsum": one_of(
        call("ij,kj->ik", M, N),
        call("ii", S),
        call("...j,j", T, V),
        call("ij,jk,kl", M, M.T, M, optimize=True),
        call(M, [0, 1], V, [1], [0]),
        call("i->", Z),
        call("ij,j", M.astype("f4"), V.astype("f4"), dtype=np.float64),
    ),
    "gradient": one_of(
        call(V),
        call(V, 0.5),
        call(M),
        call(M, 2.0, 3.0),
        call(M, axis=0),
        call(V, np.sort(W)),
        call(V, np.sort(W), edge_order=2),
        call(M, np.sort(V[:3]), np.sort(W), edge_order=2),
        call(T, axis=(1, 2), edge_order=2),
        call(np.array([1, 4, 9])),
    ),
    "inner": one_of(call(V, W), call(M, N), call(T, V), call(V, 2.0), call(Z, Z)),
    "interp": one_of(
        call(numbers(3, low=-0.4, high=5.3), np.arange(5.0), numbers(5)),
        call(numbers(2, 2, low=-0.4, high=5.3), np.arange(5.0), numbers(5), left=-1.0, right=7.0),
        call(0.5, [0.0, 1.0], [1.0, 3.0]),
        call(np.array([0.3, 2.0]), [1.0], [4.0]),
        call(V, np.arange(3.0), Z),
        call(numbers(4, low=-5.0, high=9.0), np.array([0.5, 3.1, 1.7]), V[:3], period=4.0),
        rough(np.arange(5.0), np.arange(5.0), numbers(5)),
    ),
    "kron": one_of(call(V, W), call(M, N), call(M, V), call(2.0, V), call(T, V)),
    "matmul": one_of(
        call(M, N.T), call(M, V), call(V[:3], M), call(V, W), call(T, M.T), call(V, [1.0, 2, 3, 4])
    ),
    "matvec": one_of(call(M, V), call(T, V), call(T, W), call(np.stack([S + 0j] * 2), Z)),
    "outer": one_of(call(V, W), call(M, V), call(2.0, V)),
    "polyadd": one_of(call(V, W), call(V[:2], W), call(V, 1.0)),
    "poly": one_of(call(V), call(S), call(np.array([1.0, 2.0]))),
    "polyder": one_of(call(V), call(V, 2), call(V, m=9), call([1, 2, 3])),
    "polyfit": one_of(
        call(V, W, 1),
        call(V, W, deg=2, w=0.5 + V),
        call(V, np.stack([W, V], 1), 2, 1e-9),
        call(numbers(6), complex_numbers(6), 3),
        call([1, 2, 3], [4, 5, 9], 1),
        call(V, W, 1, cov=True),
        call(V, np.stack([W, V**2], 1), 2, w=0.5 + V, cov=True),
        call(V, W, 1, cov="unscaled"),
    ),
    "polyint": one_of(call(V), call(V, 2), call(V, 2, [1.0, 2.0]), call(V, m=2, k=3.0)),
    "polymul": one_of(call(V, W), call(V[:2], W)),
    "polysub": one_of(call(V, W), call(V[:2], W)),
    "roots": one_of(
        call(np.array([2.0, 0.3, 1.0])),
        rough(np.array([0.0, 1.0, 0.5, 2.0, 0.0])),
    ),
    "polyval": one_of(call(V, M), call([1, 2], 3), call(V, 2.0), call(Z, V)),
    "tensordot": one_of(
        call(T, T.transpose(1, 2, 0)),
        call(T, M, axes=((1, 2), (0, 1))),
        call(V, W, 0),
        call(T, V, 1),
        call(M, N, ([0], [0])),
    ),
    "trapezoid": one_of(
        running(REAL, COMPLEX, WHOLE, whole=False),
        call(M, V),
        call(M, N),
        call(M, dx=0.5, axis=0),
        call(M, V[:3], axis=0),
        call(M, 2 * N, 1.0, 0),
    ),
    "unwrap": one_of(
        call(numbers(6, low=-9.0, high=9.0)),
        call(numbers(3, 4, low=-9.0, high=9.0), axis=0),
        call(numbers(6, low=-9.0, high=9.0), period=3.0),
        call(numbers(6, low=-9.0, high=9.0), 4.0),
        call(np.array([0, 5, 1, 7]), period=4),
        call(np.array([0, 5, 1, 7]), period=5),
    ),
    "vander": one_of(call(V), call(V, 3), call(V, N=3, increasing=True), call([1, 2, 3])),
    "vdot": one_of(call(V, W), call(M, N), call(Z, Z)),
    "vecdot": one_of(
        call(V, W),
        call(M, V),
        call(T, M),
        call(M, N, axis=0),
        call(Z, Z),
        call(M, N, axis=0, keepdims=True),
    ),
    "vecmat": one_of(call(V[:3], M), call(V[:3], np.stack([M, N])), call(Z, S)),
}

# ---------------------------------------------------------------- matrices, choosing, writing

CHOOSING: dict[str, Row] = {
    "choose": one_of(
        call(I3, [V[:3], W[:3], 2.0]),
        call(np.array([5, 0, -1]), [V[:3], W[:3]], mode="wrap"),
        call(np.array([5, 0, -1]), [V[:3], W[:3]], None, "clip"),
        call(I3[:, None], M),
    ),
    "compress": one_of(call(MASK, V), call(MASK, M, 1), call([True], M, axis=0), call(MASK, M)),
    "diag": one_of(call(V), call(V, 1), call(V, k=-2), call(M), call(M, 1), call(M, -1)),
    "diag_indices_from": one_of(call(S), call(np.ones((2, 2, 2)))),
    "diagflat": one_of(call(M), call(V, -1), call(2.0)),
    "diagonal": one_of(call(M), call(T, 1), call(T, -1, 1, 2), call(T, axis1=2, axis2=0)),
    "extract": one_of(call(M > 1, M), call(MASK, V), call([1, 0], [3, 4])),
    "apply_along_axis": one_of(
        call(lambda x: x * x, 0, M),
        call(lambda x: x.sum(), -1, T),
        call(np.diff, 1, T),
        call(lambda x, a: x[:, None] * x * a, 1, M, 2.0),
    ),
    "apply_over_axes": one_of(call(np.sum, T, (0, 2)), call(np.cumsum, M, 1)),
    "histogram": one_of(
        rough(V),
        rough(M, 3),
        rough(M, [0.0, 0.7, 2.0]),
        rough(V, 4, (0.0, 1.0)),
        rough(V, "auto"),
        rough(V, 3, weights=W),
        rough(V, density=True),
        rough(V, 3, (0.0, 2.0), True, W),
    ),
    "histogram_bin_edges": one_of(rough(V), rough(M, 3, (0.0, 2.0)), rough(V, [1.0, 2.0])),
    "piecewise": one_of(
        call(M, [M < 0.8, M > 1.2], [lambda x: x**2, 3.0]),
        call(M, [M < 0.8, M > 1.2], [np.sin, np.exp, lambda x: -x]),
        call(V, V > 1, [lambda x, a: a * x, 0.0], 3.0),
        call(V, [MASK, V > 9], [lambda x: x, lambda x: x[0]]),
        call(0.5, [True], [lambda x: x * 2.0]),
    ),
    "select": one_of(
        call([M < 0.8, M > 1.2], [M, N]),
        call([M < 0.8, M > 1.2], [M, 2.0], default=-1.0),
        call([MASK], [I3[[0, 1, 2, 0]]], 2.5),
    ),
    "take": one_of(
        call(V, [2, 0, 0]),
        call(M, I3, 1),
        call(M, -1, axis=0),
        call(M, [[1, 2], [0, 9]]),
        call(M, [7, -9], 1, mode="wrap"),
        call(M, [7, -9], 1, None, "clip"),
        call(V, []),
    ),
    "take_along_axis": one_of(
        call(M, np.array([[1, 0]]), 1),
        call(M, np.argsort(M, axis=0), axis=0),
        call(M, np.array([5, 0]), None),
    ),
    "trace": one_of(call(M), call(T, 1), call(T, -1, 1, 2), call(T, axis1=2, axis2=0, dtype="f4")),
    "tril": one_of(call(M), call(T, 1), call(V), call(M, k=-1)),
    "tril_indices_from": one_of(call(S), call(M, 1)),
    "mask_indices": one_of(call(3, np.triu), call(2, np.tril, 1)),
    "triu": one_of(call(M), call(T, 1), call(V), call(M, k=-1)),
    "triu_indices_from": one_of(call(S), call(M, k=1)),
    "where": one_of(
        call(M > 1, M, N),
        call(MASK, V, 0.0),
        call(M > 1, 1, 2),
        call(M > 1),
        call([1, 0], V[:2], 0),
    ),
}

WRITING: dict[str, Row] = {
    "copyto": one_of(call(M, N), call(M, V), call(M, 2.0, where=N > 1), call(M, I3[0])),
    "fill_diagonal": one_of(
        call(M, 2.0),
        call(M, V),
        call(T[:, :2, :2], V),
        call(numbers(7, 2), V[:3], wrap=True),
        call(numbers(7, 2), 5.0),
    ),
    "place": one_of(call(M, N > 1, V), call(V, MASK, [1.0, 2.0])),
    "put": one_of(
        call(M, [0, 5], V[:2]),
        call(M, [0, 5, 7], [1.0]),
        call(M, 3, 2.0),
        call(M, [-1, 99], W, mode="clip"),
        call(M, [-1, 99], W, "wrap"),
    ),
    "put_along_axis": one_of(
        call(M, np.array([[1, 0]]), 5.0, 1),
        call(M, np.array([[1], [0], [3]]), V[:3, None], axis=1),
        call(M, np.array([5, 0]), V[:2], None),
    ),
    "putmask": one_of(call(M, N > 1, V), call(V, MASK, 2.0), call(M, N > 1, N)),
}

TYPES: dict[str, Row] = {
    "can_cast": one_of(call(np.float32, "f8"), call(I3.dtype, "f4", "same_kind")),
    "common_type": one_of(call(V, Z), call(V.astype("f4")), call(I3, V)),
    "result_type": one_of(call(V, "f4"), call(V.astype("f4"), 2.0), call(I3, V), call(2)),
}

# ---------------------------------------------------------------- linalg

TURNING = np.array([[0.5, 1.0, 0.1], [-0.6, 0.5, 0.0], [0.2, 0.1, 2.0]])  # a complex pair

LINALG: dict[str, Row] = {
    "cholesky": one_of(call(P2), call(H2), call(np.stack([P2, 2 * P2]), upper=True)),
    "cond": one_of(call(S), call(M), *(call(S, p) for p in (2, -2, 1, np.inf, "fro"))),
    "cross": one_of(call(V[:3], W[:3]), call(M, N, axis=0)),
    "det": one_of(call(S), call(np.stack([S, P2])), call(H2), call(np.eye(3, dtype=int))),
    "diagonal": one_of(call(M), call(T, offset=1)),
    "eig": one_of(call(TURNING), call(np.stack([TURNING, 2 * TURNING]))),
    "eigh": one_of(call(P2), call(np.stack([P2, 2 * P2]), UPLO="L")),
    "eigvals": one_of(call(TURNING), call(np.stack([TURNING, 2 * TURNING]))),
    "eigvalsh": one_of(call(P2), call(P2, "U"), call(H2), call(np.stack([P2, 2 * P2]))),
    "inv": one_of(call(S), call(np.stack([S, P2])), call(H2)),
    "lstsq": one_of(
        call(M.T, W), call(M.T, N.T), call(M, N), call(np.ones((3, 2)), V[:3], 1e-9, smooth=False)
    ),
    "matmul": call(M, N.T),
    "matrix_norm": one_of(
        call(M), *(call(T, ord=p) for p in (1, -1, 2, -2, np.inf, "nuc")), call(M, keepdims=True)
    ),
    "matrix_power": one_of(*(call(S, n) for n in (0, 1, 3, -2))),
    "matrix_rank": one_of(
        *(call(x) for x in (M, np.ones((2, 2)), V, np.zeros((3, 0, 2)), np.stack([S, np.eye(3)]))),
        *(call(np.stack([P2, np.ones(P2.shape)]), hermitian=True), call(S, tol=np.array(0.5))),
        *(call(S, rtol=0.3), call(np.eye(3, dtype=int))),
    ),
    "matrix_transpose": call(T),
    "multi_dot": one_of(call([M, N.T, S]), call([V[:3], M, V]), call([M, V])),
    "norm": one_of(
        *(call(V, p) for p in (None, 1, 2, 3, np.inf, -np.inf, 0, -1)),
        *(call(M, p) for p in (None, 1, -1, 2, -2, np.inf, -np.inf, "fro", "nuc")),
        call(M, axis=1),
        call(T, 1, -1, True),
        call(T, axis=(0, 2)),
        call(T, None, None, True),
        call(Z),
        call(I3),
    ),
    "outer": call(V, W),
    "pinv": one_of(call(M), call(S), call(M, 1e-9), call(M, rtol=None)),
    "qr": one_of(call(S), call(M, "r"), call(M.T, mode="reduced"), call(M, "complete")),
    "slogdet": one_of(call(S), call(-P2), call(H2)),
    "solve": one_of(call(S, V[:3]), call(S, M), call(np.stack([S, P2]), M), call(H2, Z)),
    "svd": one_of(call(S), call(M, False), call(M, compute_uv=False), call(M, full_matrices=False)),
    "svdvals": one_of(call(M), call(T), call(H2)),
    "tensordot": one_of(call(T, T.transpose(1, 2, 0)), call(T, M, axes=((1, 2), (0, 1)))),
    "tensorinv": one_of(call(numbers(4, 2, 2), ind=1), call(numbers(2, 3, 6), ind=2)),
    "tensorsolve": one_of(
        call(numbers(2, 3, 6), numbers(2, 3, seed=1)),
        call(numbers(6, 2, 3), numbers(6, seed=1), None),
    ),
    "trace": one_of(call(M), call(T, offset=1)),
    "vecdot": one_of(call(V, W), call(Z, Z), call(M, N, axis=0)),
    "vector_norm": one_of(
        call(M),
        call(M, ord=1),
        call(T, axis=(0, 2)),
        call(M, axis=1, ord=3),
        call(M, keepdims=True),
    ),
}

# ---------------------------------------------------------------- special

SPECIAL: dict[str, Row] = {
    "airy": unary(REAL),
    "bdtr": call(np.array([0.5, 1.5, 3.3]), 5, np.array([0.2, 0.5, 0.7])),
    "bdtrc": call(np.array([0.5, 1.5, 3.3]), 5, np.array([0.2, 0.5, 0.7])),
    "boxcox": elementwise(POSITIVE, REAL),
    "boxcox1p": elementwise(POSITIVE, REAL),
    "chdtr": elementwise(POSITIVE, POSITIVE),
    "chdtrc": elementwise(POSITIVE, POSITIVE),
    "cosm1": unary(REAL),
    "dawsn": unary(REAL, SINGLE),
    "ellipe": unary(UNIT),
    "ellipeinc": elementwise(REAL, UNIT / 2),
    "ellipj": one_of(*(call(some(REAL), m) for m in (0.0, 0.3, 1.0))),
    "ellipk": unary(UNIT),
    "ellipkinc": elementwise(REAL, UNIT / 2),
    "ellipkm1": unary(POSITIVE),
    "elliprc": elementwise(POSITIVE, POSITIVE),
    "elliprd": elementwise(POSITIVE, POSITIVE, POSITIVE),
    "elliprf": elementwise(POSITIVE, POSITIVE, POSITIVE),
    "elliprg": elementwise(POSITIVE, POSITIVE, POSITIVE),
    "elliprj": elementwise(POSITIVE, POSITIVE, POSITIVE, POSITIVE),
    "erfi": unary(REAL),
    "eval_chebyt": elementwise(WHOLE, UNIT),
    "eval_chebyu": elementwise(WHOLE, UNIT),
    "eval_gegenbauer": elementwise(COUNTS, COUNTS, UNIT),
    "eval_genlaguerre": elementwise(COUNTS, COUNTS, REAL),
    "eval_hermite": elementwise(COUNTS, REAL),
    "eval_hermitenorm": elementwise(COUNTS, REAL),
    "eval_jacobi": elementwise(COUNTS, COUNTS, COUNTS, UNIT),
    "eval_laguerre": elementwise(COUNTS, REAL),
    "eval_legendre": elementwise(WHOLE, UNIT),
    "exp1": unary(POSITIVE, COMPLEX),
    "expi": unary(REAL, COMPLEX),
    "expn": elementwise(COUNTS, POSITIVE),
    "exprel": unary(REAL),
    "fdtr": elementwise(POSITIVE, POSITIVE, POSITIVE),
    "fdtrc": elementwise(POSITIVE, POSITIVE, POSITIVE),
    "fresnel": unary(REAL),
    "gdtr": elementwise(POSITIVE, POSITIVE, POSITIVE),
    "gdtrc": elementwise(POSITIVE, POSITIVE, POSITIVE),
    "hankel1": elementwise(COUNTS, POSITIVE),
    "hankel2": elementwise(COUNTS, POSITIVE),
    "hankel1e": elementwise(COUNTS, POSITIVE),
    "hankel2e": elementwise(COUNTS, POSITIVE),
    "jvp": elementwise(COUNTS, REAL),
    "ivp": elementwise(COUNTS, REAL),
    "yvp": elementwise(COUNTS, POSITIVE),
    "kvp": elementwise(COUNTS, POSITIVE),
    "h1vp": elementwise(COUNTS, POSITIVE),
    "h2vp": elementwise(COUNTS, POSITIVE),
    "spherical_in": elementwise(COUNTS, POSITIVE),
    "spherical_kn": elementwise(COUNTS, POSITIVE),
    "hyp0f1": elementwise(COUNTS, REAL),
    "hyp1f1": elementwise(WHOLE, COUNTS, REAL),
    "hyp2f1": elementwise(WHOLE, COUNTS, COUNTS, UNIT),
    "hyperu": elementwise(WHOLE, COUNTS, POSITIVE),
    "inv_boxcox": elementwise(HALF, UNIT),
    "inv_boxcox1p": elementwise(HALF, UNIT),
    "iv": call(2, some(POSITIVE)),
    "ive": call(2, some(POSITIVE)),
    "j0": unary(REAL),
    "j1": unary(REAL),
    "jn": call(2, some(POSITIVE)),
    "jv": call(2, some(POSITIVE)),
    "k0": unary(POSITIVE),
    "k0e": unary(POSITIVE),
    "k1": unary(POSITIVE),
    "k1e": unary(POSITIVE),
    "kn": call(2, some(POSITIVE)),
    "kv": call(2, some(POSITIVE)),
    "kve": call(2, some(POSITIVE)),
    "lambertw": one_of(call(Z), call(Z, -1), call(V * V + 0.1, k=1)),
    "owens_t": elementwise(REAL, REAL),
    "pdtr": elementwise(COUNTS, POSITIVE),
    "pdtrc": elementwise(COUNTS, POSITIVE),
    "powm1": elementwise(POSITIVE, REAL),
    "shichi": unary(REAL),
    "sici": unary(REAL),
    "spence": unary(POSITIVE, COMPLEX),
    "sph_harm_y": elementwise(COUNTS, WHOLE, POSITIVE / 2, REAL),
    "spherical_jn": one_of(call(2, some(POSITIVE)), call(np.arange(3)[:, None], V, True)),
    "spherical_yn": one_of(call(2, some(POSITIVE)), call(1, some(POSITIVE), True)),
    "stdtr": elementwise(POSITIVE, REAL),
    "voigt_profile": elementwise(REAL, POSITIVE, POSITIVE),
    "wofz": unary(COMPLEX),
    "wrightomega": unary(REAL, COMPLEX),
    "y0": unary(POSITIVE),
    "y1": unary(POSITIVE),
    "yn": call(2, some(POSITIVE)),
    "yv": call(2, some(POSITIVE)),
    "agm": elementwise(POSITIVE, POSITIVE),
    "betainccinv": elementwise(POSITIVE, POSITIVE, POSITIVE / 4),
    "chdtri": elementwise(POSITIVE, POSITIVE / 4),
    "diric": call(some(REAL), 3),
    "eval_chebyc": elementwise(COUNTS, UNIT),
    "eval_chebys": elementwise(COUNTS, UNIT),
    "eval_sh_chebyt": elementwise(COUNTS, POSITIVE / 4),
    "eval_sh_chebyu": elementwise(COUNTS, POSITIVE / 4),
    "eval_sh_jacobi": elementwise(COUNTS, COUNTS + 5, COUNTS, POSITIVE / 4),
    "eval_sh_legendre": elementwise(COUNTS, POSITIVE / 4),
    "fdtri": elementwise(POSITIVE, POSITIVE, POSITIVE / 4),
    "lpmv": call(1, 3, some(UNIT)),
    "modstruve": call(2, some(POSITIVE)),
    "nbdtr": elementwise(COUNTS, COUNTS, POSITIVE / 4),
    "nbdtrc": elementwise(COUNTS, COUNTS, POSITIVE / 4),
    "ndtri_exp": unary(-POSITIVE),
    "struve": call(2, some(POSITIVE)),
    "bernoulli": call(6),
    "bessel_jn": call(some(REAL), v=2),
    "beta": elementwise(POSITIVE, POSITIVE),
    "betainc": elementwise(POSITIVE, POSITIVE, POSITIVE / 4),
    "betaincc": elementwise(POSITIVE, POSITIVE, POSITIVE / 4),
    "betaincinv": elementwise(POSITIVE, POSITIVE, POSITIVE / 4),
    "betaln": elementwise(POSITIVE, POSITIVE),
    "binom": elementwise(POSITIVE + 3, POSITIVE),
    "cbrt": unary(REAL),
    "comb": one_of(
        call(POSITIVE + 3, 2), call(5, POSITIVE), call(np.arange(4), 2, repetition=True)
    ),
    "cosdg": unary(REAL * 200.0),
    "cotdg": unary(REAL * 200.0 + 1.0),
    "digamma": unary(POSITIVE),
    "entr": unary(POSITIVE),
    "erf": unary(REAL, SINGLE),
    "erfc": unary(REAL),
    "erfcinv": unary(POSITIVE / 2.1),
    "erfcx": unary(REAL),
    "erfinv": unary(UNIT),
    "exp10": unary(REAL, SINGLE),
    "exp2": unary(REAL),
    "expit": unary(REAL, SINGLE),
    "expm1": unary(REAL),
    "factorial": one_of(call(POSITIVE), call(np.arange(-2, 5))),
    "gamma": unary(POSITIVE),
    "gammainc": elementwise(POSITIVE, POSITIVE),
    "gammaincc": elementwise(POSITIVE, POSITIVE),
    "gammainccinv": elementwise(POSITIVE, POSITIVE / 4),
    "gammaincinv": elementwise(POSITIVE, POSITIVE / 4),
    "gammaln": unary(POSITIVE),
    "gammasgn": unary(REAL),
    "huber": elementwise(POSITIVE, REAL + 0.02),
    "i0": unary(REAL),
    "i0e": unary(REAL),
    "i1": unary(REAL),
    "i1e": unary(REAL),
    "kl_div": elementwise(POSITIVE, POSITIVE),
    "log1p": unary(POSITIVE),
    "log_expit": unary(REAL),
    "log_ndtr": unary(REAL),
    "log_softmax": one_of(call(M), call(M, 1), call(T, axis=(0, 2))),
    "loggamma": unary(POSITIVE),
    "logit": unary(POSITIVE / 4),
    "logsumexp": one_of(
        reduction(REAL, WHOLE, least=1),
        call(M, b=N),
        call(M, 1, N - 1.0, return_sign=True),
        call(M, 0, V, True),
        call(M, axis=1, return_sign=True),
        rough(np.array([-np.inf, 1.0, 2.0]), b=np.array([1.0, 0.0, 3.0])),
    ),
    "multigammaln": call(POSITIVE[5:9] + 1, 3),
    "ndtr": unary(REAL),
    "ndtri": unary(POSITIVE / 4),
    "perm": one_of(call(POSITIVE + 3, 2), call(5, np.arange(7))),
    "poch": elementwise(POSITIVE, POSITIVE),
    "polygamma": one_of(call(0, V), call(1, V), call(2, V)),
    "pseudo_huber": elementwise(POSITIVE, REAL),
    "psi": unary(POSITIVE),
    "radian": call(REAL, REAL, REAL),
    "rel_entr": elementwise(POSITIVE, POSITIVE),
    "rgamma": unary(REAL),
    "sinc": unary(REAL),
    "sindg": unary(REAL * 200.0, SINGLE),
    "softmax": one_of(call(M), call(M, 1), call(T, axis=(0, 2))),
    "softplus": unary(REAL),
    "tandg": unary(REAL * 200.0),
    "xlog1py": elementwise(REAL, POSITIVE),
    "xlogy": elementwise(REAL, POSITIVE),
    "zeta": one_of(call(2, POSITIVE), call(np.arange(2, 5), POSITIVE[:3])),
}

POINTS = numbers(7, 2, low=0.0, high=1.0)
EDGES = np.array([0.0, 0.31, 0.52, 1.0])

LATER: dict[str, Row] = {
    "asanyarray": one_of(call(some(*ANY)), call([V[0], 1.0], dtype=np.float32)),
    "asarray_chkfinite": one_of(call(some(REAL, COMPLEX, WHOLE)), call(M, np.complex128)),
    "ascontiguousarray": one_of(call(some(*ANY)), call(M.T, np.float32), call([V[0], 1.0])),
    "asfortranarray": one_of(call(some(*ANY)), call(M, np.complex128)),
    "bitwise_count": unary(*BITS),
    "frexp": one_of(unary(POSITIVE, SINGLE, COUNTS), rough(np.array([0.0, -4.0, 5e-324]))),
    "histogram2d": one_of(
        call(POINTS[:, 0], POINTS[:, 1], 3, [(0.0, 0.9), (0.1, 1.0)], smooth=False),
        call(POINTS[:, 0], POINTS[:, 1], [2, EDGES], weights=V[[0, 1, 2, 3, 0, 1, 2]], smooth=False),
        rough(POINTS[:, 0], POINTS[:, 1], EDGES, density=True),
    ),
    "histogramdd": one_of(
        rough(POINTS, 3),
        rough(numbers(5, 3), (2, 3, 4), density=True),
        call(POINTS, [EDGES, EDGES], weights=numbers(7), density=True, smooth=False),
        rough([POINTS[:, 0], POINTS[:, 1]], [3, 2], [(0.0, 0.7), (0.2, 1.0)]),
    ),
    "packbits": one_of(
        call(some(*BITS, ndim=(1, 3)), smooth=False),
        call(TRUTH_TABLE, st.sampled_from([None, 0, 1, -1]), st.sampled_from(["big", "little"])),
    ),
    "polydiv": one_of(
        call(V, W[:2]), call(W, np.array([2.0])), call(V[:2], W), call(np.arange(1, 6), [2, 1])
    ),
    "require": one_of(call(some(*ANY)), call(M, np.float32, "F"), call(M.T, None, ["C", "W"])),
    "resize": one_of(
        call(some(*ANY, side=(1, 3)), (2, 3)), call(V, 7), call(M, (2, 2)), call(V[:0], (2, 2))
    ),
    "sort_complex": one_of(call(Z), call(V), call(SINGLE[:4]), call(I3.astype(np.int8))),
    "trim_zeros": one_of(
        rough(np.array([0.0, 0.0, 1.5, 0.0, 2.5, 0.0]), st.sampled_from(["fb", "f", "b", "FB"])),
        call(V), rough(np.zeros(3), st.sampled_from(["fb", "f", "b"])),
    ),
    "unpackbits": one_of(
        call(st.just(BYTES), st.sampled_from([None, 0, 1, -1]),
             count=st.sampled_from([None, 3, -2, 40]), bitorder=st.sampled_from(["big", "little"])),
    ),
}  # fmt: skip

TABLES = [
    SMOOTH, STEPS, LOGIC, CREATION, SHAPES, JOINING, REDUCTIONS, SEARCHING, ALONG, CHOOSING, WRITING,
    TYPES, LATER,
]  # fmt: skip
ROWS = {name: row for table in TABLES for name, row in table.items()}

# NumPy's own functions, types and constants.
AS_THEY_ARE = {name for name in fnp.__all__ if getattr(fnp, name) is getattr(np, name, None)} | {
    "e", "euler_gamma", "fft", "inf", "lib", "linalg", "nan", "newaxis", "pi", "polynomial"
}  # fmt: skip

# Texts, iterators and classes: tests/test_numpy_names.py.
ELSEWHERE = {
    "array2string", "array_repr", "array_str", "broadcast", "finfo", "iinfo", "may_share_memory",
    "min_scalar_type", "ndenumerate", "poly1d", "vectorize",
}  # fmt: skip

# ---------------------------------------------------------------- where NumPy differs, and why


REFERENCES: dict[str, Callable[..., Any]] = {
    "partition": lambda a, kth, axis=-1: np.sort(a, axis),  # a partition need not be sorted
    "argpartition": lambda a, kth, axis=-1: np.argsort(a, axis),
}
# NumPy's functions that are not asked through __array_function__, so `np.<name>` cannot reach ours.
NOT_DISPATCHED = {
    "arange", "array", "asarray", "broadcast_shapes", "eye", "fromfunction", "full", "identity",
    "indices", "isscalar", "kaiser", "ones", "tri", "zeros", "asanyarray", "asarray_chkfinite",
    "ascontiguousarray", "asfortranarray", "require",
}  # fmt: skip
IN_PLACE = set(WRITING)
# What cannot be answered without numbers: the shape of the result depends on them.
NEEDS_VALUES = {
    "argwhere", "compress", "digitize", "extract", "flatnonzero", "isin", "nonzero", "pad", "place",
    "histogram", "histogram_bin_edges", "intersect1d", "piecewise", "real_if_close", "roots",
    "setdiff1d", "setxor1d", "union1d", "unique", "unique_all", "unique_counts", "unique_inverse",
    "unique_values", "where", "asarray_chkfinite", "histogram2d", "histogramdd", "polydiv",
    "trim_zeros",
}  # fmt: skip


# ---------------------------------------------------------------- running a call


def function(space: ModuleType, name: str) -> Callable[..., Any]:
    """The function, which returns the array written into if NumPy's returns nothing."""
    f = getattr(space, name)
    if name not in IN_PLACE or space not in (np, fnp):
        return f

    def written(a: Any, *args: Any, **kwargs: Any) -> Any:
        a = a.copy()
        assert f(a, *args, **kwargs) is None
        return a

    return written


def is_inexact(x: Any) -> bool:
    return isinstance(x, np.ndarray | np.generic) and x.dtype.kind in "fc"


class Closed:
    """A call as a function of its floating arrays, to its floating results and the others."""

    def __init__(self, f: Callable[..., Any], call: Call) -> None:
        self.f = f
        leaves, self.treedef = tree.flatten((call.args, call.kwargs))
        self.places = [i for i, x in enumerate(leaves) if is_inexact(x)]
        self.leaves = leaves
        self.primals = [np.asarray(leaves[i]) for i in self.places]
        self.others: list[Any] = []

    def results(self, xs: Any) -> list[Any]:
        leaves = list(self.leaves)
        for i, x in zip(self.places, xs, strict=True):
            leaves[i] = x
        args, kwargs = tree.unflatten(self.treedef, leaves)
        return tree.leaves(self.f(*args, **kwargs))

    def __call__(self, *xs: Any) -> list[Any]:
        outs = self.results(xs)
        floating = [y for y in outs if getattr(getattr(y, "dtype", None), "kind", "") in ("f", "c")]
        self.others = [y for y in outs if not any(y is z for z in floating)]
        return floating


def quiet(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The result without the warnings: NumPy's about NaN and empty slices are not ours."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return f(*args, **kwargs)


def close(x: Any, y: Any, scale: float = 1.0) -> None:
    """Equal up to rounding, with the same shape and dtype."""
    a, b = np.asarray(x), np.asarray(y)
    assert a.shape == b.shape
    assert a.dtype == b.dtype
    if a.dtype.kind in "fc":
        single = a.dtype.itemsize // (2 if a.dtype.kind == "c" else 1) <= 4
        tolerance = scale * (2e-5 if single else 1e-11)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
    else:
        np.testing.assert_array_equal(a, b)


def leaves(x: Any) -> list[Any]:
    """The leaves of a result, with a number in place of a dtype."""
    return [np.dtype(y).num if isinstance(y, np.dtype | type) else y for y in tree.leaves(x)]


def tangents(closed: Closed, rng: np.random.Generator) -> tuple[Any, ...]:
    return tuple(like(x, rng) for x in closed.primals)


def like(x: Any, rng: np.random.Generator) -> Any:
    t = rng.uniform(-1, 1, x.shape)
    if x.dtype.kind == "c":
        t = t + 1j * rng.uniform(-1, 1, x.shape)
    return t.astype(x.dtype)


def pairing(ts: Any, cts: Any) -> float:
    return float(
        sum((np.asarray(t) * np.asarray(ct)).real.sum() for t, ct in zip(ts, cts, strict=True))
    )


def check_plain(ours: Callable[..., Any], theirs: Callable[..., Any], call: Call) -> None:
    """The same values, and no warning where NumPy has none."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        expected = leaves(theirs(*call.args, **call.kwargs))
    run = quiet if heard else lambda f, *args, **kwargs: f(*args, **kwargs)
    found = leaves(run(ours, *call.args, **call.kwargs))
    assert len(found) == len(expected)
    for x, y in zip(found, expected, strict=True):
        assert isinstance(x, np.ndarray | np.generic | bool | int | float | complex)
        close(x, y)


def check_traced(closed: Closed, call: Call, *, exact: bool) -> None:
    """Values inside of `jvp` and `vjp`, reverse = forward = finite differences."""
    plain = quiet(closed, *closed.primals)
    others = closed.others
    if not closed.primals:
        return
    rng = np.random.default_rng(0)
    ts = tangents(closed, rng)
    ys, dys = quiet(funcgrad.jvp, closed, tuple(closed.primals), ts)
    back, pull = quiet(funcgrad.vjp, closed, *closed.primals)
    assert len(ys) == len(back) == len(plain)
    for x, y, z in zip(plain, ys, back, strict=True):
        close(y, x)
        close(z, x)
    for x, y in zip(others, closed.others, strict=True):
        assert x == y if isinstance(x, type) else np.shape(x) == np.shape(y)
    if not ys or not all(np.isfinite(d).all() for d in dys):
        return
    cts = [like(np.asarray(y), rng) for y in ys]
    gs = quiet(pull, cts)
    for x, g in zip(closed.primals, gs, strict=True):
        assert (g.shape, g.dtype) == (x.shape, x.dtype)
    single = any(
        x.dtype.itemsize <= (8 if x.dtype.kind == "c" else 4)
        for x in (*closed.primals, *map(np.asarray, ys))
    )
    size = 1 + sum(np.abs(np.asarray(d)).sum() for d in (*dys, *gs))
    assert abs(pairing(ts, gs) - pairing(dys, cts)) <= (1e-4 if single else 1e-9) * size
    if exact and call.smooth and not single:
        check_difference(closed, ts, dys)


def check_difference(closed: Closed, ts: Any, dys: Any) -> None:
    h = 2.0**-17
    high, low = (
        quiet(closed, *(x + s * h * t for x, t in zip(closed.primals, ts, strict=True)))
        for s in (1, -1)
    )
    for a, b, d in zip(high, low, dys, strict=True):
        numeric = (np.asarray(a) - np.asarray(b)) / (2 * h)
        scale = 1 + float(np.abs(d).max(initial=0)) + float(np.abs(a).max(initial=0))
        np.testing.assert_allclose(numeric, d, rtol=1e-5, atol=1e-5 * scale)


def check_batches(closed: Closed, *, needs_values: bool) -> None:
    """`vmap` is the function of every example; shapes and dtypes are known without numbers."""
    if not closed.primals:
        return
    batch = [(x, (1.01 * x).astype(x.dtype)) for x in closed.primals]
    try:
        found = quiet(funcgrad.vmap(closed), *(np.stack(pair) for pair in batch))
        avals = quiet(funcgrad.eval_shape, closed, *closed.primals)
    except ConcretizationError:
        assert needs_values
        return
    one, two = (quiet(closed, *xs) for xs in zip(*batch, strict=True))
    for y, a, b, aval in zip(found, one, two, avals, strict=True):
        close(y, np.stack([a, b]), 10)
        assert (aval.shape, aval.dtype) == (np.shape(a), a.dtype)


# ---------------------------------------------------------------- the tests


def test_every_name_has_a_row() -> None:
    assert sorted(fnp.__all__) == sorted(
        {*ROWS, *AS_THEY_ARE, *ELSEWHERE, "at", "c_", "ndarray", "r_"}
    )
    assert sorted(fnp.linalg.__all__) == sorted({*LINALG, "LinAlgError"})
    assert sorted(special.__all__) == sorted(SPECIAL)
    assert all(hasattr(fnp, name) for name in fnp.__all__)


BRACKETS: list[tuple[str, Any]] = [
    *(("r_", k) for k in [
        V, (1, V, 2.5), (slice(0, 5), V), (slice(0, 1, 5j), 3), ("0,2", V, W), ("1,2", V, W),
        ("0,2,0", V, W), ("1,2,0", V, W), ("0,3,1", V, W), ("0,3,-1", M, N), ("2,3,0", M, N),
        ("1,3,1", M, N), ("-1", M, N),
    ]),
    *(("c_", k) for k in [V, (V, W), (M, N), (1, 2), (M[:1], 0, 0, M[:1])]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "key"), BRACKETS, ids=lambda x: str(x)[:20])
def test_arrays_in_brackets(name: str, key: Any) -> None:
    ours, theirs = getattr(fnp, name)[key], getattr(np, name)[key]
    assert ours.dtype == theirs.dtype
    np.testing.assert_array_equal(ours, theirs)
    entries = key if isinstance(key, tuple) else (key,)
    arrays = [e for e in entries if isinstance(e, np.ndarray)]

    def f(*xs: Any) -> Any:
        left = iter(xs)
        return getattr(fnp, name)[
            tuple(next(left) if isinstance(e, np.ndarray) else e for e in entries)
        ]

    assert not arrays or check_all(f, tuple(arrays)).ok


@pytest.mark.parametrize("name", sorted(AS_THEY_ARE - {"fft", "lib", "linalg", "polynomial"}))
def test_what_is_numpys_own(name: str) -> None:
    ours, theirs = getattr(fnp, name), getattr(np, name)
    assert ours is theirs or ours == theirs or (ours != ours and theirs != theirs)


@pytest.mark.parametrize("name", sorted(ROWS))
@given(data=st.data())
def test_numpy(name: str, data: Any) -> None:
    if not hasattr(np, name):
        pytest.skip("this NumPy does not have it")
    call = data.draw(ROWS[name])
    ours, theirs = function(fnp, name), function(np, name)
    check_plain(ours, REFERENCES.get(name, theirs), call)
    closed = Closed(ours, call)
    check_traced(closed, call, exact=True)
    check_batches(closed, needs_values=name in NEEDS_VALUES)
    plain_ufunc = not (isinstance(theirs, np.ufunc) and call.kwargs)
    if name not in NOT_DISPATCHED and plain_ufunc:
        check_dispatch(closed, Closed(theirs, call))


def check_dispatch(ours: Closed, theirs: Closed) -> None:
    """NumPy's own function on traced values does what ours does."""
    if not ours.primals:
        return
    ts = tangents(ours, np.random.default_rng(0))
    expected = quiet(funcgrad.jvp, ours, tuple(ours.primals), ts)
    found = quiet(funcgrad.jvp, theirs, tuple(theirs.primals), ts)
    for xs, ys in zip(found, expected, strict=True):
        for x, y in zip(xs, ys, strict=True):
            close(x, y)


@pytest.mark.parametrize("name", sorted(LINALG))
@given(data=st.data())
def test_linalg(name: str, data: Any) -> None:
    if not hasattr(np.linalg, name):
        pytest.skip("this NumPy does not have it")
    call = data.draw(LINALG[name])
    ours, theirs = getattr(fnp.linalg, name), getattr(np.linalg, name)
    check_plain(ours, REFERENCES.get(name, theirs), call)
    closed = Closed(ours, call)
    check_traced(closed, call, exact=name not in ("cholesky", "eigh", "eigvalsh"))
    check_dispatch(closed, Closed(theirs, call))
    if name != "lstsq" or call.smooth:  # while only types are known it counts on full rank
        check_batches(closed, needs_values=False)


@pytest.mark.parametrize("name", sorted(SPECIAL))
@given(data=st.data())
def test_special(name: str, data: Any) -> None:
    reference = getattr(pytest.importorskip("scipy.special"), name, None)
    if reference is None:
        pytest.skip("this SciPy does not have it")
    call = data.draw(SPECIAL[name])
    check_plain(getattr(special, name), reference, call)
    closed = Closed(getattr(special, name), call)
    check_traced(closed, call, exact=True)
    check_batches(closed, needs_values=False)
    if isinstance(reference, np.ufunc):
        check_dispatch(closed, Closed(reference, call))


# ---------------------------------------------------------------- on another device


@pytest.mark.parametrize("name", sorted(ROWS))
@given(data=st.data())
def test_cupy(name: str, cupy: ModuleType, data: Any) -> None:
    """Arrays of another module give the same, and nothing meets an array of NumPy's."""
    check_cupy(cupy, function(fnp, name), data.draw(ROWS[name]), name not in NEEDS_VALUES)


@pytest.mark.parametrize("name", sorted(LINALG))
@given(data=st.data())
def test_linalg_on_cupy(name: str, cupy: ModuleType, data: Any) -> None:
    # While only types are known, `lstsq` counts on full rank.
    check_cupy(cupy, getattr(fnp.linalg, name), data.draw(LINALG[name]), name != "lstsq")


def check_cupy(
    cupy: ModuleType, f: Callable[..., Any], call: Call, as_program: bool = True
) -> None:
    def there(x: Any) -> Any:
        return cupy.asarray(x) if type(x) is np.ndarray else x

    def here(x: Any) -> Any:
        return x.get() if isinstance(x, cupy.ndarray) else x

    args, kwargs = tree.map(there, (call.args, call.kwargs))
    expected = leaves(quiet(f, *call.args, **call.kwargs))
    for x, y in zip(leaves(quiet(f, *args, **kwargs)), expected, strict=True):
        close(here(x), y)
    closed, moved = Closed(f, call), Closed(f, call)
    moved.leaves = tree.leaves((args, kwargs))
    if as_program and closed.primals:
        check_cupy_programs(closed, moved, there, here)


def check_cupy_programs(closed: Closed, moved: Closed, there: Any, here: Any) -> None:
    """What is traced for a device makes its constants there, those of derivatives too."""

    def gradient(f: Closed) -> Any:
        def total(*xs: Any) -> Any:
            return sum(np.sum(np.cos(y.real) * y.real) for y in f(*xs))

        return funcgrad.value_and_grad(total, tuple(range(len(f.primals))))

    with pytest.MonkeyPatch.context() as patch:  # what CuPy's functions do is enough here
        patch.setattr(cuda_source, "is_worth_it", lambda group: False)
        try:
            expected = leaves(quiet(gradient(closed), *closed.primals))
        except NonScalarOutputError:  # it has no floating result
            return
        program = funcgrad.jit(gradient(moved))
        found = leaves(quiet(program, *map(there, closed.primals)))
    for x, y in zip(found, expected, strict=True):
        close(here(x), y, 1e3)


# ---------------------------------------------------------------- signatures

OF_JAX = frozenset([
    "assume_unique_indices", "descending", "dtype", "fill_value", "indices_are_sorted", "inplace",
    "length", "method", "mode", "out_sharding", "precision", "preferred_element_type",
    "promote_integers", "size", "strip_zeros", "total_repeat_length", "trim_leading_zeros",
    "unique_indices", "unroll", "wrap_negative_indices",
])  # fmt: skip
POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def pairs_of_functions() -> list[tuple[str, Any, Any]]:
    spaces = [(fnp, np, ROWS), (fnp.linalg, np.linalg, LINALG)]
    return [
        (f"{ours.__name__}.{name}", getattr(ours, name), getattr(theirs, name))
        for ours, theirs, names in spaces
        for name in sorted(names)
        if hasattr(theirs, name)
    ]


@pytest.mark.parametrize(("name", "ours", "theirs"), pairs_of_functions())
def test_signature(name: str, ours: Any, theirs: Any) -> None:
    """Every parameter is NumPy's, in NumPy's place, and passed as NumPy's can, or one of JAX's."""
    try:
        found = inspect.signature(theirs).parameters
    except ValueError:
        pytest.skip("NumPy does not say")
    places = [p for p in found.values() if p.kind in POSITIONAL]
    for i, p in enumerate(inspect.signature(ours).parameters.values()):
        if hasattr(ours, "nin") and not isinstance(theirs, np.ufunc) and i >= len(places):
            break  # np.linalg.matmul has no options, np.matmul has
        if p.name in OF_JAX - found.keys():
            assert i >= len(places) or p.kind is p.KEYWORD_ONLY
            assert p.default is not p.empty
            continue
        if p.kind in POSITIONAL:
            assert p.kind is places[i].kind
            assert p.kind is p.POSITIONAL_ONLY or p.name == places[i].name
        else:
            assert p.name in found
            assert p.kind is found[p.name].kind


def test_stacked_in_a_dtype() -> None:
    for f in (fnp.vstack, fnp.hstack, fnp.dstack):
        assert f([[1.0, 2.0], [3.0, 4.0]], dtype=np.float32).dtype == np.float32


# ---------------------------------------------------------------- writing


@pytest.mark.parametrize(
    ("write", "args"),
    [
        ("put", (np.array([0, 5]), V[:2])),
        ("put_along_axis", (np.array([[0], [2]]), 7.0, 1)),
        ("put_along_axis", (np.array([0, 2]), 7.0, None)),
        ("place", (np.array([[True, False, True], [False, True, False]]), 2.0)),
        ("fill_diagonal", (3.0,)),
    ],
)
def test_writing_gives_a_new_array_where_asked(write: str, args: Any) -> None:
    """As in JAX, whose functions of these names take nothing else."""
    x = np.arange(6.0).reshape(2, 3) + 10.0
    expected = x.copy()
    getattr(np, write)(expected, *args)
    new = lambda x: getattr(fnp, write)(x, *args, inplace=False)  # noqa: E731
    assert np.array_equal(new(x), expected) and x[0, 0] == 10.0
    assert np.array_equal(funcgrad.jit(new)(x), expected)
    kept = funcgrad.grad(lambda x: new(x).sum())(x)
    assert np.array_equal(kept, (expected == x) * 1.0)
    scaled = funcgrad.grad(
        lambda c: getattr(fnp, write)(x, args[0], c, *args[2:], inplace=False).sum()
    )
    if write != "fill_diagonal":
        assert scaled(2.0) == (expected != x).sum()


def test_interpolation_goes_on_beyond_the_ends() -> None:
    f = lambda x, **beyond: fnp.interp(x, [0.0, 1.0, 3.0], [0.0, 2.0, 3.0], **beyond)  # noqa: E731
    x = np.array([-1.0, 0.5, 5.0])
    assert f(x, left="extrapolate", right="extrapolate").tolist() == [-2.0, 1.0, 4.0]
    assert f(x, right="extrapolate").tolist() == [0.0, 1.0, 4.0]
    slopes = funcgrad.grad(lambda x: f(x, left="extrapolate").sum())(x)
    assert slopes.tolist() == [2.0, 2.0, 0.0]
    assert fnp.interp([2.0], [1.0], [4.0], left="extrapolate", right="extrapolate") == 4.0


MAKERS: dict[str, Callable[[], Any]] = {
    "array": lambda: fnp.array([0.0, 0.0]),
    "asarray": lambda: fnp.asarray([0.0, 0.0]),
    "array of an array": lambda: fnp.array(np.zeros(2)),
    "copy": lambda: fnp.copy(np.zeros(2)),
    "empty": lambda: fnp.empty(2),
    "eye": lambda: fnp.eye(2)[0],
    "full": lambda: fnp.full(2, 0.0),
    "linspace": lambda: fnp.linspace(0.0, 1.0, 2),
    "ones_like": lambda: fnp.ones_like(np.zeros(2)),
    "zeros": lambda: fnp.zeros(2),
    "zeros_like": lambda: fnp.zeros_like(np.zeros(2)),
}


@pytest.mark.parametrize("name", MAKERS)
def test_new_arrays_can_be_written_into(name: str) -> None:
    def f(x: Any) -> Any:
        z = MAKERS[name]()
        z[0] = x
        z[1] = 2.0 * x
        return (z * z).sum()

    assert f(3.0) == 45.0
    assert funcgrad.grad(f)(3.0) == 30.0
    assert funcgrad.jvp(f, (3.0,), (1.0,))[1] == 30.0
    assert funcgrad.vmap(f)(np.array([1.0, 3.0])).tolist() == [5.0, 45.0]
    assert funcgrad.grad(funcgrad.grad(f))(3.0) == 10.0
    assert funcgrad.eval_jaxpr(funcgrad.make_jaxpr(f)(3.0), 3.0)[0] == 45.0


VIEWS: dict[str, Callable[[Any], Any]] = {
    "array_split": lambda z: fnp.array_split(z, 2)[1],
    "expand_dims": lambda z: fnp.expand_dims(z, 1)[1:],
    "flip": lambda z: fnp.flip(z, 1)[:, :2],
    "matrix_transpose": lambda z: fnp.matrix_transpose(z)[1],
    "moveaxis": lambda z: fnp.moveaxis(z, 0, 1)[1],
    "ravel": lambda z: fnp.ravel(z)[2:4],
    "reshape": lambda z: fnp.reshape(z, (4, 3))[2],
    "reshape F": lambda z: fnp.reshape(z, (4, 3), order="F")[2],
    "rot90": lambda z: fnp.rot90(z)[0],
    "squeeze": lambda z: fnp.squeeze(z[:1])[1:],
    "swapaxes": lambda z: fnp.swapaxes(z, 0, 1)[1],
    "transpose": lambda z: fnp.transpose(z)[2],
    "unstack": lambda z: fnp.unstack(z, axis=1)[1],
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_are_written_through_as_in_numpy(name: str) -> None:
    def f(z: Any, x: Any) -> Any:
        VIEWS[name](z)[...] = x
        return z

    expected = f(M.copy(), 5.0)
    assert (expected != M).any() or name == "reshape F"  # which has to copy
    found = funcgrad.jvp(lambda x: f(fnp.array(M), x), (5.0,), (1.0,))
    np.testing.assert_array_equal(found[0], expected)
    np.testing.assert_array_equal(found[1], expected != M)


@pytest.mark.parametrize("copy", [fnp.copy, fnp.array, lambda z: fnp.tile(z, 1), fnp.append])
def test_copies_are_not_written_through(copy: Any) -> None:
    def f(x: Any) -> Any:
        z = fnp.zeros(2)
        c = copy(z, 0.0) if copy is fnp.append else copy(z)
        c[0] = x
        return z.sum()

    assert funcgrad.grad(f)(3.0) == 0.0


def test_asarray_is_the_array_itself() -> None:
    def f(x: Any) -> Any:
        assert fnp.asarray(x) is x
        return x.sum()

    funcgrad.grad(f)(V)
    assert fnp.asarray(V) is V


# ---------------------------------------------------------------- errors

ERRORS: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (lambda x: fnp.sum(x, axis=5), ShapeError, r"fnp\.sum: axis 5 .* array of 2 dimensions"),
    (lambda x: np.sum(x, axis=5), ShapeError, r"fnp\.sum: axis 5 does not exist"),
    (lambda x: fnp.sum(x, (0, -2)), ShapeError, r"fnp\.sum: an axis is given twice"),
    (lambda x: fnp.sum(x, 1.5), ArgumentError, r"axis must be an integer, found float"),
    (lambda x: fnp.mean(x, out=np.zeros(())), HandoverError, r"fnp\.mean with out= would store"),
    (lambda x: fnp.sin(x, [1.0]), ArgumentError, r"with out=.* needs an array, found list"),
    (lambda x: fnp.max(x, where=x > 1), ArgumentError, r"where= needs initial="),
    (lambda x: fnp.sum("abc"), ArgumentError, r"found str"),
    (lambda x: fnp.sum([x, "abc"]), ArgumentError, r"found str"),
    (lambda x: fnp.array([x, 1.0]), ShapeError, r"nested list makes no array: entry 0 has shape"),
    (lambda x: fnp.reshape(x, (5, -1)), ShapeError, r"shape \[3, 4\] cannot take .* \[5, -1\]"),
    (lambda x: fnp.reshape(x, (5, 2)), ShapeError, r"has 12 elements; shape \[5, 2\] needs 10"),
    (lambda x: fnp.ravel(x, order="Q"), ArgumentError, r"order='Q'"),
    (lambda x: fnp.squeeze(x, 0), ShapeError, r"only axes of length 1"),
    (lambda x: fnp.transpose(x, (0, 0)), ShapeError, r"no permutation of 2 axes"),
    (lambda x: fnp.broadcast_to(x, (2, 2)), ShapeError, r"does not broadcast to \[2, 2\]"),
    (lambda x: fnp.stack([x, x[0]]), ShapeError, r"one shape, found \[3, 4\], \[4\]"),
    (lambda x: fnp.concatenate([x[0, 0], 1.0]), ShapeError, r"use fnp\.stack"),
    (lambda x: fnp.concatenate([]), ArgumentError, r"at least one array"),
    (lambda x: fnp.split(x, 2), ShapeError, r"3 elements make no 2 equal parts"),
    (lambda x: fnp.block([[x], x]), ArgumentError, r"nested equally deep"),
    (lambda x: fnp.pad(x, 1, "mirror"), ArgumentError, r"mode='mirror'; need one of constant"),
    (lambda x: fnp.pad(x, 1, "edge", end_values=1), ArgumentError, r"has no option end_values="),
    (lambda x: fnp.pad(x, ((1, 2, 3),)), ShapeError, r"does not fit 2 axes"),
    (lambda x: fnp.roll(x, (1, 2, 3), (0, 1)), ShapeError, r"differ in length"),
    (lambda x: fnp.clip(x, 0, 1, min=0), ArgumentError, r"given under two names"),
    (lambda x: fnp.take(x, [0], mode="no"), ArgumentError, r"mode='no'"),
    (lambda x: fnp.where(x > 0, x), ArgumentError, r"both x and y, or neither"),
    (lambda x: fnp.sort(x, order="f"), ArgumentError, r"order= is not supported"),
    (lambda x: fnp.interp(x, [], []), ShapeError, r"two vectors of one length, not empty"),
    (lambda x: fnp.average(x, weights=[1.0]), ShapeError, r"weights of shape \[1\]"),
    (lambda x: fnp.gradient(x[:1]), ShapeError, r"axis 0 has 1 elements; need 2"),
    (lambda x: fnp.cross(x, x), ShapeError, r"3 elements, found 4 and 4"),
    (lambda x: fnp.convolve(x, x), ShapeError, r"needs two vectors"),
    (lambda x: fnp.zeros(3, device="tpu"), ArgumentError, r"device='tpu'"),
    (
        lambda x: fnp.zeros_like(x, None, (2,)),
        ArgumentError,
        r"zeros_like: order=\(2,\).*by its name",
    ),
    (lambda x: fnp.full_like(x, 1.0, None, (2,)), ArgumentError, r"full_like: order=\(2,\)"),
    (lambda x: fnp.put(np.zeros(3), 0, x[0, 0]), HandoverError, r"fnp\.zeros"),
    (lambda x: fnp.fill_diagonal(np.zeros((3, 3)), x[0, 0]), HandoverError, r"fnp\.zeros"),
]


@pytest.mark.parametrize("i", range(len(ERRORS)))
def test_errors_name_the_function_and_the_line(i: int) -> None:
    f, error, message = ERRORS[i]

    def user(x: Any) -> Any:
        f(x)
        return x.sum()

    with pytest.raises(error, match=message) as caught:
        funcgrad.grad(user)(M)
    assert "test_numpy.py" in str(caught.value)


@pytest.mark.parametrize("of_a", [2, 3])
@pytest.mark.parametrize("of_b", [2, 3])
def test_vectors_of_a_plane_are_vectors_of_space(of_a: int, of_b: int) -> None:
    """`cross` of them is that of vectors with a third element 0."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(4, 1, of_a)), rng.normal(size=(3, of_b))
    f = lambda a, b: fnp.cross(a, b)  # noqa: E731
    wide = [np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, 3 - x.shape[-1])]) for x in (a, b)]
    expected = np.cross(*wide)
    found = f(a, b)
    np.testing.assert_array_equal(found, expected[..., 2] if of_a == of_b == 2 else expected)
    np.testing.assert_array_equal(funcgrad.jit(f)(a, b), found)
    report = check_all(f, (a, b))
    assert report.ok, str(report)
    if of_a != of_b:
        moved = fnp.cross(a[:, 0].T, b[0], axisa=0, axisc=0)
        np.testing.assert_array_equal(moved, found[:, 0].T)


@pytest.mark.parametrize("sizes", [(5, 2), (3, 3), (1, 4)])
def test_remainders_that_keep_their_length_are_had_in_programs(sizes: tuple[int, int]) -> None:
    u, v = (np.arange(1.0, n + 1) for n in sizes)
    f = functools.partial(fnp.polydiv, trim_leading_zeros=False)
    for g in (f, funcgrad.jit(f)):
        quotient, rest = g(u, v)
        assert rest.shape == u.shape
        back = np.polyadd(np.polymul(quotient, v), rest)
        np.testing.assert_allclose(back[-u.size :], u, rtol=1e-14)
        np.testing.assert_allclose(np.polyval(rest, 0.5), np.polyval(np.polydiv(u, v)[1], 0.5))
    report = check_all(lambda u, v: f(u, v)[1], (u, v))
    assert report.ok, str(report)
    with pytest.raises(ConcretizationError, match="trim_leading_zeros=True"):
        funcgrad.jit(fnp.polydiv)(u, v)


COMPLETED = {
    "svd": (lambda x: fnp.linalg.svd(x), r"pass full_matrices=False"),
    "svd of a tall matrix": (lambda x: fnp.linalg.svd(x.mT), r"pass full_matrices=False"),
    "qr": (lambda x: fnp.linalg.qr(x.mT, "complete"), r"use mode=.reduced."),
}


@pytest.mark.parametrize("name", COMPLETED)
def test_vectors_that_are_added_have_no_derivative(name: str) -> None:
    """But they are had in programs and of many matrices."""
    f, message = COMPLETED[name]
    many = np.stack([M, M[::-1] + 1])
    apart = funcgrad.vmap(f, 2)(np.moveaxis(many, 0, 2))
    for found in (funcgrad.jit(f)(many), funcgrad.vmap(f)(many), apart):
        for a, b in zip(found, f(many), strict=True):
            np.testing.assert_array_equal(a, b)
    refused = functools.partial(
        pytest.raises, MissingRuleError, match=rf"{message}.*test_numpy\.py"
    )
    with refused():
        funcgrad.jvp(f, (M,), (M,))
    for take in (lambda found: found[0], lambda found: found[-1]):
        with refused():
            funcgrad.grad(lambda x, take=take: fnp.sum(take(f(x))))(M)
    assert (funcgrad.grad(lambda x: fnp.sum(x) + 0 * f(x)[0].size)(M) == 1).all()


@pytest.mark.parametrize("f", [fnp.unique, fnp.nonzero, lambda x: fnp.compress(x > 1, x)])
def test_values_that_are_not_known(f: Any) -> None:
    with pytest.raises(ConcretizationError, match=r"must be known while tracing.*test_numpy"):
        funcgrad.vmap(f)(M)


# ---------------------------------------------------------------- derivatives at kinks


def gradient_of(f: Callable[[Any], Any], *x: float) -> list[float]:
    return funcgrad.grad(lambda v: f(v))(np.array(x)).tolist()


def test_choices_at_kinks() -> None:
    assert gradient_of(lambda x: fnp.clip(x, 0, 1).sum(), 0.0, 1.0, 0.5) == [1.0, 1.0, 1.0]
    assert gradient_of(lambda x: fnp.clip(x, 0, None).sum(), 0.0, -1.0) == [1.0, 0.0]
    assert gradient_of(fnp.max, 1.0, 1.0, 0.0) == [0.5, 0.5, 0.0]
    assert gradient_of(fnp.median, 1.0, 2.0, 3.0, 4.0) == [0.0, 0.5, 0.5, 0.0]
    assert gradient_of(lambda x: fnp.dot(fnp.sort(x), [1.0, 2.0, 3.0]), 1.0, 1.0, 0.0) == [
        2.0,
        3.0,
        1.0,
    ]
    assert gradient_of(fnp.std, 1.0, 1.0) == [0.0, 0.0]
    assert gradient_of(lambda x: fnp.std(x, where=[True, True]), 1.0, 1.0) == [0.0, 0.0]
    assert gradient_of(fnp.linalg.norm, 0.0, 0.0) == [0.0, 0.0]
    assert gradient_of(fnp.prod, 0.0, 2.0, 3.0) == [6.0, 0.0, 0.0]
    assert gradient_of(lambda x: fnp.nansum(x), np.nan, 1.0) == [0.0, 1.0]
    assert gradient_of(lambda x: fnp.interp(x, [0.0, 1.0, 3.0], [0.0, 1.0, 9.0]).sum(), 1.0) == [
        4.0
    ]


@pytest.mark.parametrize("f", [fnp.var, fnp.std])
@given(rows=st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=1, max_size=3))
@settings(deadline=None, max_examples=30)
def test_masked_spread_of_too_few_elements_has_no_derivative(
    f: Any, rows: list[list[bool]]
) -> None:
    """Where the result is NaN, so is every derivative of it; elsewhere all are finite."""
    mask = np.array(rows)
    x = np.random.default_rng(0).normal(size=mask.shape)
    for ddof in (0, 1, 1.5, 4):
        g = lambda x, ddof=ddof: f(x, axis=1, ddof=ddof, where=mask)  # noqa: E731
        with np.errstate(invalid="ignore", divide="ignore"):
            lost = np.isnan(g(x))
            rev = funcgrad.grad(lambda x, g=g: g(x).sum())(x)
            fwd = funcgrad.jvp(g, (x,), (np.ones_like(x),))[1]
        assert (lost == (mask.sum(axis=1) <= ddof)).all()
        assert (np.isnan(rev) == lost[:, None]).all()
        assert (np.isnan(fwd) == lost).all()
        if f is fnp.var and mask.any():
            np.testing.assert_array_equal(rev[~mask & ~lost[:, None]], 0.0)


def test_elementwise_pieces_do_not_see_each_other() -> None:
    """A function of `piecewise` is not evaluated where another one is used."""
    f = lambda x: fnp.piecewise(x, [x > 0], [fnp.sqrt, 0.0]).sum()  # noqa: E731
    assert gradient_of(f, 4.0, 0.0) == [0.25, 0.0]


# ---------------------------------------------------------------- complex numbers and NaN


@pytest.mark.parametrize(
    "f",
    [
        special.expit,
        special.log_expit,
        lambda z: special.huber(1.0, z),
        lambda z: special.huber(z, 1.0),
        lambda z: special.pseudo_huber(1.0, z),
        lambda z: special.pseudo_huber(z, 1.0),
    ],
)
@pytest.mark.parametrize("z", [1j, np.complex64(1j), np.array([1 + 1j, 2.0])])
def test_functions_of_real_numbers_refuse_complex_ones(f: Any, z: Any) -> None:
    with pytest.raises(ArgumentError, match="needs real numbers"):
        f(z)
    with pytest.raises(ArgumentError, match="needs real numbers"):
        funcgrad.make_jaxpr(f)(z)


def test_logit_of_complex_numbers() -> None:
    z = np.array([0.3 + 0.4j, -0.5 - 0.2j])
    np.testing.assert_allclose(1 / (1 + np.exp(-special.logit(z))), z)


NAN_MATRICES = np.array(
    [
        [[1.0, 2.0], [3.0, 4.0]],
        [[0.0, 0.0], [0.0, np.nan]],
        [[0.0, np.nan], [0.0, 1.0]],
        [[np.nan, 1.0], [1.0, 1.0]],
        [[0.0, 0.0], [0.0, 0.0]],
    ]
)


@pytest.mark.parametrize("dtype", [float, np.float32, complex])
@np.errstate(all="ignore")
def test_determinants_of_nan_are_nan(dtype: Any) -> None:
    """NumPy calls some of these singular."""
    x = NAN_MATRICES.astype(dtype)
    found = fnp.linalg.det(x)
    assert np.isnan(found).tolist() == [False, True, True, True, False]
    np.testing.assert_allclose(found[[0, 4]], [-2.0, 0.0], rtol=1e-6)
    sign, log = fnp.linalg.slogdet(x)
    assert found.dtype == sign.dtype == x.dtype and log.dtype == x.real.dtype
    assert np.isnan(sign).tolist() == np.isnan(log).tolist() == [False, True, True, True, False]
    assert sign[4] == 0 and log[4] == -np.inf
    for a, y in zip(x, found, strict=True):
        np.testing.assert_array_equal(np.isnan(fnp.linalg.det(a)), np.isnan(y))
        np.testing.assert_array_equal(np.isnan(fnp.linalg.slogdet(a)[1]), np.isnan(y))


@np.errstate(all="ignore")
def test_the_derivative_of_a_determinant_of_nan_is_nan() -> None:
    found = funcgrad.grad(lambda x: fnp.linalg.det(x).sum())(NAN_MATRICES)
    np.testing.assert_allclose(found[0], [[4.0, -3.0], [-2.0, 1.0]])
    assert np.isnan(found[1:3]).all() and np.isnan(found[3, 1, 1]) and not found[4].any()


@pytest.mark.parametrize("place", [(0, 0), (1, 0), (1, 1), (2, 1)])
def test_cholesky_refuses_nan(place: tuple[int, int]) -> None:
    x = np.eye(3)
    x[place] = np.nan
    for a in (x, np.stack([np.eye(3), x])):
        with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
            fnp.linalg.cholesky(a)


@pytest.mark.parametrize("f", [fnp.logaddexp, fnp.logaddexp2])
@given(st.floats(-30, 30, width=32), st.sampled_from([0, 2**10, -(2**13), 2**19]))
def test_shares_of_a_logarithmic_sum_depend_on_the_difference(
    f: Callable[..., Any], gap: float, shift: int
) -> None:
    gap = round(gap * 16) / 16  # so that nothing is rounded when both are shifted
    xs = np.float32(shift + gap), np.float32(shift)
    shares = funcgrad.grad(f, argnums=(0, 1))(*xs)
    base = np.e if f is fnp.logaddexp else 2.0
    wanted = 1 / (1 + base**-gap), 1 / (1 + base**gap)
    np.testing.assert_allclose(shares, wanted, rtol=2e-5)
    second = funcgrad.grad(funcgrad.grad(f))(*xs)
    np.testing.assert_allclose(second, np.log(base) * wanted[0] * wanted[1], rtol=2e-5)


@pytest.mark.parametrize("bounds", [(-2, 3), (0, 300), (None, 300), (-5, None), (2, 200)])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint64])
def test_clip_by_numbers_that_the_dtype_does_not_have(bounds: Any, dtype: Any) -> None:
    x = np.array([1, 100, 120], dtype)
    expected = np.clip(x, *bounds)
    for f in (lambda x: np.clip(x, *bounds), lambda x: fnp.clip(x, *bounds)):
        found = funcgrad.jit(f)(x)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(OverflowError):  # NumPy's, too
        funcgrad.jit(lambda x: np.clip(x, 1 << 64, None))(x)


@pytest.mark.parametrize("bounds", [(0.5, 2.0), (None, 2.0), (0.5, None)])
def test_clip_with_the_options_of_a_ufunc(bounds: Any) -> None:
    x, mask, base = np.arange(4.0), np.array([True, True, False, True]), np.arange(4.0) * 10.0

    def written(x: Any, base: Any) -> Any:
        return np.clip(x, *bounds, out=base * 1.0, where=mask)

    expected = written(x, base)
    for f in (funcgrad.jit(written), lambda *xs: funcgrad.vjp(written, *xs)[0]):
        np.testing.assert_array_equal(f(x, base), expected)
    slopes = funcgrad.vjp(written, x, base)[1](np.ones(4))
    inside = mask & (np.clip(x, *bounds) == x)
    np.testing.assert_array_equal(slopes[0], inside)
    np.testing.assert_array_equal(slopes[1], ~mask)
    single = funcgrad.jit(lambda x: np.clip(x, *bounds, dtype=np.float32))(x)
    assert single.dtype == np.clip(x, *bounds, dtype=np.float32).dtype == np.float32
    for options, error in (
        ({"where": mask}, HandoverError),
        ({"dtype": int}, ArgumentError),
        ({"axis": 0}, ArgumentError),
    ):
        with pytest.raises(error):
            funcgrad.vjp(functools.partial(fnp.clip, a_min=0.0, **options), x)


BOOLEAN_CALLS = {
    "square": lambda x: x**2,
    "power": lambda x: np.power(x, 2),
    "round": lambda x: np.round(x),
    "method round": lambda x: x.round(),
    **{
        f"clip {low} {high}": lambda x, low=low, high=high: x.clip(low, high)
        for low, high in [(False, True), (None, True), (0, 1), (None, 1), (-1, None), (0.5, None)]
    },
}


@pytest.mark.parametrize("name", BOOLEAN_CALLS)
def test_numbers_of_booleans_have_numpys_dtype(name: str) -> None:
    call, x = BOOLEAN_CALLS[name], np.array([True, False])
    found, expected = funcgrad.jit(call)(x), call(x)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    with pytest.raises(ArgumentError, match="booleans"):
        funcgrad.jit(lambda x: np.round(x, 1))(x)


def test_parts_of_infinities() -> None:
    x = np.array([np.inf, -np.inf, np.nan, -0.0, 1.5, -2.5])
    for found in (fnp.modf(x), funcgrad.jit(lambda x: np.modf(x))(x)):
        for part, expected in zip(found, np.modf(x), strict=True):
            np.testing.assert_array_equal(part, expected)
            np.testing.assert_array_equal(np.signbit(part[:2]), np.signbit(expected[:2]))
    np.testing.assert_array_equal(funcgrad.grad(lambda x: np.modf(x)[0].sum())(x[:2]), 0.0)
    for number in (2.5, np.float32(np.inf), np.array([2.5], np.float32), 3):
        assert [part.dtype for part in fnp.modf(number)] == [p.dtype for p in np.modf(number)]


@pytest.mark.filterwarnings("ignore:All-NaN slice:RuntimeWarning", "ignore:invalid value")
@given(st.lists(st.sampled_from([0.0, 1.5, np.inf, -np.inf, np.nan]), min_size=1, max_size=5))
def test_nanmedian_of_infinities(numbers: list[float]) -> None:
    """Between two infinities lies one: they are added up and not subtracted."""
    x = np.array(numbers)
    np.testing.assert_array_equal(funcgrad.vmap(np.nanmedian)(x[None])[0], np.nanmedian(x))


@pytest.mark.parametrize("spec, shapes, by_name", [
    ("j...,...->j", [(3, 2), (2,)], "ja,a->j"),
    ("...i,...i->i", [(1, 3), (4, 3)], "bi,ai->i"),
    ("...->", [(2, 3)], "ab->"),
])  # fmt: skip
def test_einsum_sums_over_an_ellipsis_that_the_output_leaves_out(
    spec: str, shapes: list[tuple[int, ...]], by_name: str
) -> None:
    """As in JAX and PyTorch; NumPy raises."""
    rng = np.random.default_rng(0)
    xs = [rng.normal(size=s) for s in shapes]
    np.testing.assert_allclose(fnp.einsum(spec, *xs), np.einsum(by_name, *xs), rtol=1e-14)
    report = check_all(lambda *xs: fnp.einsum(spec, *xs), tuple(xs))
    assert report.ok, str(report)
