"""Forms: how every primitive of a random program is applied to a value, whatever its shape.

Layer 5; needs Hypothesis. `FORMS` is the table, by the primitives' names.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..ops.index_layout import FULL, ArrayIndex, Slice
from . import strategies as fs
from .recipes import (
    Guard,
    Recipe,
    above_one,
    anything,
    around_one,
    below_zero,
    gram,
    inside,
    level_away_from,
    nonzero,
    positive,
    separated,
    small,
    unit,
)
from .strategies import st

# ---------------------------------------------------------------- forms: how a primitive is applied


class Form(NamedTuple):
    """How a primitive is applied to a value of these `kinds`, with `least` axes or more."""

    apply: Callable[[Recipe, str, int], Any]
    kinds: str = "f"
    least: int = 0

    def fits(self, x: Any) -> bool:
        return x.dtype.kind in self.kinds and np.ndim(x) >= self.least


def of_one(guard: Guard = anything, kinds: str = "f", least: int = 0, **params: Any) -> Form:
    """One operand."""
    return Form(lambda r, name, x: r.add(name, guard(r, x), **params), kinds, least)


def of_two(guard: Guard = anything, other: Guard = anything, kinds: str = "f") -> Form:
    """Two operands that broadcast together, of which the second may be a number."""

    def apply(r: Recipe, name: str, x: int) -> None:
        y = _partner(r, x, kinds)
        r.add(name, guard(r, x), y if y.__class__ is float else other(r, y))

    return Form(apply, kinds)


def _partner(r: Recipe, x: int, kinds: str, *, numbers: bool = True) -> Any:
    """Another value (or the same) that broadcasts with `x`, or a number."""
    fitting = [k for k in r.places(kinds) if _broadcast(np.shape(r[k]), np.shape(r[x]))]
    return r.pick([*fitting, 0.5, 2.0] if numbers else fitting)


def _broadcast(a: Sequence[int], b: Sequence[int]) -> bool:
    pairs = zip(a[::-1], b[::-1], strict=False)
    return all(m == n or m == 1 or n == 1 for m, n in pairs)


def _compared(r: Recipe, x: int) -> tuple[int, int]:
    """`x` and another value, with a margin between them."""
    y = _partner(r, x, "f", numbers=False)
    level = level_away_from(r[x] - r[y])
    return x, r.add("add", y, level) if level else y


def _extreme_of_two(r: Recipe, name: str, x: int) -> None:
    r.add(name, *_compared(r, x))


def _choice(r: Recipe, name: str, x: int) -> None:
    test = r.pick(["less", "less_equal", "greater", "greater_equal"])
    condition = r.add(test, *_compared(r, x))
    r.add(name, condition, x, _partner(r, condition, "cf"))


def _clipped(r: Recipe, name: str, x: int) -> None:
    low = level_away_from(r[x], -1.0)
    r.add(name, x, low, level_away_from(r[x], low + 0.5))


def _complex_from(r: Recipe, name: str, x: int) -> None:
    r.add(name, x, _partner(r, x, "f", numbers=False))


def along_axes(guard: Guard = anything, kinds: str = "f", **params: Any) -> Form:
    """One operand, and one or more of its axes."""

    def apply(r: Recipe, name: str, x: int) -> None:
        axis = r.draw(fs.axes(np.ndim(r[x]), least=1))
        r.add(name, guard(r, x), axis=axis, **params)

    return Form(apply, kinds, 1)


def along_axis(guard: Guard = anything, kinds: str = "f", **options: Sequence[Any]) -> Form:
    """One operand, one of its axes, and a choice for every other parameter."""

    def apply(r: Recipe, name: str, x: int) -> None:
        axis = r.draw(fs.axis(np.ndim(r[x])))
        params = {key: r.pick(values) for key, values in options.items()}
        r.add(name, guard(r, x), axis=axis, **params)

    return Form(apply, kinds, 1)


def _spread(r: Recipe, name: str, x: int) -> None:
    """Of two or more different elements."""
    long = tuple(a for a, n in enumerate(np.shape(r[x])) if n > 1)
    if long:
        r.add(name, separated(r, x), axis=long, correction=r.pick([0, 1]))


# ---------------------------------------------------------------- forms: structure


def shaped(
    params: Callable[[Recipe, tuple[int, ...]], dict[str, Any]], kinds: str = "cf", least: int = 0
) -> Form:
    """One operand, and parameters that depend on its shape."""
    return Form(lambda r, name, x: r.add(name, x, **params(r, np.shape(r[x]))), kinds, least)


def _reshape(r: Recipe, shape: tuple[int, ...]) -> dict[str, Any]:
    size = math.prod(shape)
    return {"shape": r.pick([(size,), shape[::-1], (*shape, 1), (1, size)])}


def _transpose(r: Recipe, shape: tuple[int, ...]) -> dict[str, Any]:
    return {"axes": tuple(r.draw(st.permutations(range(len(shape)))))}


def _squeeze(r: Recipe, shape: tuple[int, ...]) -> dict[str, Any]:
    return {"axis": tuple(a for a, n in enumerate(shape) if n == 1)}


def _expand(r: Recipe, shape: tuple[int, ...]) -> dict[str, Any]:
    return {"axis": (r.draw(fs.axis(len(shape) + 1)),)}


def _broadcast_to(r: Recipe, shape: tuple[int, ...]) -> dict[str, Any]:
    return {
        "shape": (*r.pick([(2,), (), (1, 3)]), *(r.pick([2, 1]) if n == 1 else n for n in shape))
    }


def _diagonal(r: Recipe, shape: tuple[int, ...]) -> dict[str, Any]:
    first, second, *_ = r.draw(st.permutations(range(len(shape))))
    least, most = 1 - shape[first], shape[second] - 1
    return {"offset": r.draw(st.integers(least, most)), "axis1": first, "axis2": second}


def _on_diagonal(r: Recipe, shape: tuple[int, ...]) -> dict[str, Any]:
    n = shape[-1]
    ndim = len(shape)
    return {"shape": (*shape[:-1], n, n), "offset": 0, "axis1": ndim - 1, "axis2": ndim}


def _triangle(r: Recipe, shape: tuple[int, ...]) -> dict[str, Any]:
    return {"k": r.draw(st.integers(-1, 1))}


def _read(r: Recipe, shape: tuple[int, ...]) -> dict[str, Any]:
    options = [[0, FULL, n - 1, Slice(n - 1, None, -1), Slice(0, n, 2), None] for n in shape]
    index: list[Any] = []
    for entries in options:
        entry = r.pick(entries)
        index += [None, FULL] if entry is None else [entry]
    return {"index": tuple(index)}


def _embed(r: Recipe, shape: tuple[int, ...]) -> dict[str, Any]:
    return {
        "shape": (*shape[:-1], 3, shape[-1] + 1),
        "index": (FULL,) * (len(shape) - 1) + (r.pick([0, 1, 2]), Slice(0, shape[-1], 1)),
    }


def _repeat(r: Recipe, shape: tuple[int, ...]) -> dict[str, Any]:
    axis = r.draw(fs.axis(len(shape)))
    each = (*range(1, shape[axis]), 2)
    return {"repeats": r.pick([2, each]), "axis": axis}


def _roll(r: Recipe, shape: tuple[int, ...]) -> dict[str, Any]:
    axis = r.draw(fs.axes(len(shape), least=1))
    return {"shift": tuple(r.draw(st.integers(-2, 2)) for _ in axis), "axis": axis}


def _joined(r: Recipe, name: str, x: int) -> None:
    """With values of the same shape, along any axis; or of another axis, if there is a new one."""
    alike = [k for k in r.places() if np.shape(r[k]) == np.shape(r[x])]
    others = [r.pick(alike) for _ in range(r.pick([1, 2, 0]))]
    r.add(name, x, *others, axis=r.draw(fs.axis(np.ndim(r[x]) + (name == "stack_arrays"))))


def _some(r: Recipe, n: int, shape: tuple[int, ...], *, unique: bool = False) -> Any:
    """An index array of an axis of length `n`."""
    domain = fs.integers(0, n - 1)
    return r.draw((fs.well_separated if unique else fs.arrays)(shape, domain=domain))


def _gathered(r: Recipe, name: str, x: int) -> None:
    shape = np.shape(r[x])
    axis = r.draw(fs.axis(len(shape)))
    index = (FULL,) * axis + (ArrayIndex(0),) + (FULL,) * (len(shape) - axis - 1)
    r.add(name, x, _some(r, shape[axis], r.pick([(2,), (1, 3)])), index=index)


def _scattered(r: Recipe, name: str, x: int) -> None:
    """Rows of `x` added into more, or fewer, rows."""
    shape = np.shape(r[x])
    rows = r.pick([shape[0], 1, 2, 4])
    if name == "scatter_set":
        new = r.add("getitem", x, index=(Slice(0, 1, 1),) + (FULL,) * (len(shape) - 1))
        new = r.add("sin", new)
        where = _some(r, shape[0], (r.pick([1, 2]),))
        r.add(name, x, new, where, index=(ArrayIndex(0),) + (FULL,) * (len(shape) - 1))
        return
    where = _some(r, rows, (shape[0],))
    index = (ArrayIndex(0),) + (FULL,) * (len(shape) - 1)
    r.add(name, x, where, shape=(rows, *shape[1:]), index=index)


# ---------------------------------------------------------------- forms: products and systems


def _product(r: Recipe, name: str, x: int) -> None:
    """With another value whose shape fits, or with its own transpose."""
    shape = np.shape(r[x])
    fitting = [
        k
        for k in r.places()
        if np.ndim(r[k])
        and np.shape(r[k])[max(np.ndim(r[k]) - 2, 0)] == shape[-1]
        and _broadcast(np.shape(r[k])[:-2], shape[:-2])
    ]
    order = (*range(len(shape) - 2), len(shape) - 1, len(shape) - 2)
    y = r.pick([*fitting, None]) if len(shape) > 1 else r.pick([*fitting, x])
    r.add(name, x, r.add("transpose", x, axes=order) if y is None else y)


def _contraction(r: Recipe, name: str, x: int) -> None:
    """With a value of the same shape: some axes contracted, some in common."""
    shape = np.shape(r[x])
    alike = [k for k in r.places() if np.shape(r[k]) == shape]
    contracted = r.draw(fs.axes(len(shape)))
    rest = [a for a in range(len(shape)) if a not in contracted]
    batch = tuple(a for a in rest if r.pick([True, False]))
    r.add(name, x, r.pick(alike), contracting=(contracted, contracted), batch=(batch, batch))


def _solution(r: Recipe, name: str, x: int, **params: Any) -> None:
    """Of the system whose matrix and right-hand sides are made of `x`."""
    matrix = gram(r, x)
    if name == "triangular_solve":
        params = {"lower": r.pick([True, False]), "unit_diagonal": r.pick([False, True])}
        matrix = r.add("tril" if params["lower"] else "triu", matrix, k=0)
    ndim = np.ndim(r[x])
    side = r.add("transpose", x, axes=(*range(ndim - 2), ndim - 1, ndim - 2))
    r.add(name, matrix, side, **params)


def _adjugate(r: Recipe, name: str, x: int) -> None:
    matrix = gram(r, x)
    r.add(name, matrix, r.add("sin", matrix))


def _recurrence(r: Recipe, name: str, x: int) -> None:
    axis = r.draw(fs.axis(np.ndim(r[x])))
    n = np.shape(r[x])[axis]
    index = (FULL,) * axis + (Slice(0, n - 1, 1),) + (FULL,) * (np.ndim(r[x]) - axis - 1)
    if n > 1:
        factors = r.add("getitem", inside(r, x), index=index)
        r.add(name, factors, x, axis=axis, reverse=r.pick([False, True]))


def _fourier(r: Recipe, name: str, x: int) -> None:
    axis = r.draw(fs.axes(np.ndim(r[x]), least=1))
    r.add(name, x, axis=axis, inverse=r.pick(BOTH), norm=r.pick(NORMS))


def _inverse_rfft(r: Recipe, name: str, x: int) -> None:
    axis = r.draw(fs.axis(np.ndim(r[x])))
    n = 2 * np.shape(r[x])[axis] - 1
    r.add(name, x, axis=axis, n=r.pick([n, n - 1 or 1]), norm=r.pick(NORMS))


def _widened(r: Recipe, name: str, x: int) -> None:
    wider = np.complex128 if r[x].dtype.kind == "c" else r.pick([np.float64, np.complex128])
    r.add(name, x, dtype=np.dtype(wider))


# ---------------------------------------------------------------- all forms

NORMS = ["backward", "ortho", "forward"]
BOTH = [False, True]


def _each(names: str, form: Form) -> dict[str, Form]:
    return dict.fromkeys(names.split(), form)


FORMS: dict[str, Form] = {
    **_each("negative sin", of_one(kinds="cf")),
    **_each("add multiply subtract", of_two(kinds="cf")),
    "sum": along_axes(kinds="cf"),
    **_each("cos sinh cosh exp expm1 exp2 square", of_one(small, "cf")),
    **_each("arctan arcsinh sinc one_less_square", of_one()),
    **_each("tanh expit sigmoid log_expit erf erfc ndtr", of_one(small)),  # before they saturate
    **_each("log_ndtr log_ndtr_slope expit_slope", of_one(small)),
    **_each("positive conjugate real imag", of_one(kinds="cf")),
    **_each("deg2rad rad2deg", of_one()),
    **_each("i0 i1 erfcx", of_one(small)),
    **_each("tan arcsin arccos arctanh", of_one(inside, "cf")),
    "erfinv": of_one(inside),
    **_each("logit ndtri", of_one(unit)),
    "ndtri_exp": of_one(below_zero),
    **_each("log log2 log10 log1p sqrt reciprocal", of_one(positive, "cf")),
    **_each("entr gammaln digamma cbrt log_peak", of_one(positive)),
    "gamma": of_one(around_one),
    "polygamma": of_one(around_one, n=1),
    "arccosh": of_one(above_one),
    **_each("relu i0e i1e sign", of_one(nonzero)),
    "absolute": of_one(nonzero, "cf"),
    "nan_to_num": of_one(nan=0.0, posinf=9.0, neginf=None),
    "zero_preserving_multiply": of_two(kinds="cf"),
    "divide": of_two(other=positive, kinds="cf"),
    **_each("logaddexp logaddexp2", of_two()),
    **_each("hypot", of_two(positive)),
    **_each("power float_power", of_two(positive, inside)),
    **_each("arctan2 xlogy xlog1py", of_two(anything, positive)),
    "copysign": of_two(nonzero, nonzero),
    **_each("rel_entr log_ratio fallen_from", of_two(positive, positive)),
    **_each("maximum minimum fmax fmin", Form(_extreme_of_two)),
    "where": Form(_choice),
    "clip": Form(_clipped),
    "complex_from": Form(_complex_from),
    "cast": Form(_widened, "cf"),
    "mean": along_axes(kinds="cf"),
    **_each("var std", Form(_spread, "f", 1)),
    "prod": along_axes(inside, "cf"),
    **_each("max min", along_axes(separated)),
    "norm2": along_axes(nonzero, "cf"),
    **_each("softmax log_softmax logsumexp", along_axes()),
    "cumsum": along_axis(kinds="cf", reverse=BOTH),
    "cumprod": along_axis(inside, "cf", reverse=BOTH),
    **_each("cummax cummin", along_axis(separated, reverse=BOTH)),
    "logcumsumexp": along_axis(reverse=BOTH),
    "sort": along_axis(separated),
    "recurrence": Form(_recurrence, "cf", 1),
    "flip": along_axes(kinds="cf"),
    "reshape": shaped(_reshape),
    "transpose": shaped(_transpose),
    "squeeze": shaped(_squeeze),
    "expand_dims": shaped(_expand),
    "broadcast_to": shaped(_broadcast_to),
    "diagonal": shaped(_diagonal, least=2),
    "diagonal_embed": shaped(_on_diagonal, least=1),
    **_each("tril triu", shaped(_triangle, least=2)),
    "getitem": shaped(_read),
    "embed": shaped(_embed, least=1),
    "repeat": shaped(_repeat, least=1),
    "roll": shaped(_roll, least=1),
    "concatenate": Form(_joined, "cf", 1),
    "stack_arrays": Form(_joined, "cf"),
    **_each("gather gather_last", Form(_gathered, "cf", 1)),
    **_each("scatter_add scatter_last scatter_set", Form(_scattered, "cf", 1)),
    "matmul": Form(_product, "cf", 1),
    "dot_general": Form(_contraction, "cf"),
    **_each("matrix_solve triangular_solve", Form(_solution, "cf", 2)),
    **_each("inv det slogdet cholesky cofactor", of_one(gram, "cf", 2)),
    "adjugate_along": Form(_adjugate, "cf", 2),
    "qr": of_one(gram, least=2),  # LAPACK's phases jump where a complex matrix is partly real
    "pinv": of_one(gram, "cf", 2, rcond=1e-15),
    "fft": Form(_fourier, "cf", 1),
    "rfft": along_axis(norm=NORMS),
    "irfft": Form(_inverse_rfft, "cf", 1),
}
