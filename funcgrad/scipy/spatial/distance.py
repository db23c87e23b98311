"""Distances between vectors, and of all pairs of many, under ``scipy.spatial.distance``'s names.

NOTE [Equal points] A distance has its least value at equal points. Where it has a kink there, as a root
or a size has, its derivative is 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...core import aval_of
from ...errors import ArgumentError, ShapeError, where
from ...indexing import read
from ...numpy._arguments import array_of, arrays_of, axis_of, beside, stacked, with_axes, written
from ...numpy.joining import concatenate
from ...numpy.linalg import inv
from ...numpy.ordering import moveaxis
from ...numpy.reductions import var
from ...numpy.searching import argmax, argmin
from ...numpy.shaping import broadcast_arrays
from ...numpy.statistics import cov
from ...ops.arithmetic import absolute, divide
from ...ops.distance import FEW, distances, root, square_distances
from ...ops.index import take
from ...ops.linalg import matmul, p_norm
from ...ops.logic import equal
from ...ops.reduce import mean
from ...ops.select import stop_gradient
from ...ops.select import where as choose
from ...ops.structural import expand_dims, reshape
from ..special import rel_entr
from . import booleans as _booleans
from ._arguments import floating_vectors, prepared, total, two_vectors
from .booleans import dice, hamming, jaccard, rogerstanimoto, russellrao, sokalsneath, yule

__all__ = [
    "braycurtis", "canberra", "cdist", "chebyshev", "cityblock", "correlation", "cosine",
    "dice", "directed_hausdorff", "euclidean", "hamming", "jaccard", "jensenshannon", "mahalanobis",
    "minkowski", "pdist", "rogerstanimoto",
    "russellrao", "seuclidean", "sokalsneath", "sqeuclidean", "squareform", "yule",
]  # fmt: skip


# ---------------------------------------------------------------- of arrays, along the last axis


def _minkowski(x: Any, y: Any, *, p: float = 2.0, w: Any = None) -> Any:
    d = x - y
    return p_norm(d, p=p, axis=(d.ndim - 1,), weights=w)


def _cityblock(x: Any, y: Any, *, w: Any = None) -> Any:
    return _minkowski(x, y, p=1.0, w=w)


def _chebyshev(x: Any, y: Any, *, w: Any = None) -> Any:
    return _minkowski(x, y, p=math.inf, w=w)


def _squares(x: Any, y: Any, *, w: Any = None) -> Any:
    d = x - y
    return total(d * d, w)


def _units(x: Any, *, w: Any = None) -> Any:
    return x / expand_dims(p_norm(x, p=2.0, axis=(x.ndim - 1,), weights=w), axis=(x.ndim - 1,))


def _centred_units(x: Any, *, w: Any = None) -> Any:
    last = (x.ndim - 1,)
    middle = mean(x, axis=last) if w is None else total(x, w) / total(w, None)
    return _units(x - expand_dims(middle, axis=last), w=w)


def _half_squares(x: Any, y: Any, *, w: Any = None) -> Any:
    """One minus the cosine of vectors of length 1, small ones to all digits."""
    return 0.5 * _squares(x, y, w=w)


def _half_square_distances(x: Any, y: Any, /) -> Any:
    return 0.5 * square_distances(x, y)


def _canberra(x: Any, y: Any, *, w: Any = None) -> Any:
    size = absolute(x) + absolute(y)
    nothing = equal(size, 0)
    return total(choose(nothing, 0.0, absolute(x - y) / choose(nothing, 1.0, size)), w)


def _braycurtis(x: Any, y: Any, *, w: Any = None) -> Any:
    return total(absolute(x - y), w) / total(absolute(x + y), w)


def _seuclidean(x: Any, y: Any, *, V: Any) -> Any:
    return _minkowski(x, y, w=divide(1.0, V))


def _mahalanobis(x: Any, y: Any, *, VI: Any) -> Any:
    d = x - y
    return root(total(matmul(d, VI) * d, None))


def _jensenshannon(x: Any, y: Any, *, base: Any = None) -> Any:
    p, q = (a / expand_dims(total(a, None), axis=(a.ndim - 1,)) for a in (x, y))
    middle = 0.5 * (p + q)
    entropy = 0.5 * total(rel_entr(p, middle) + rel_entr(q, middle), None)
    return root(entropy if base is None else entropy / math.log(base))


class _Metric(NamedTuple):
    """How far rows are from rows."""

    between: Callable[..., Any]
    options: tuple[str, ...] = ("w",)
    rows: Callable[..., Any] | None = None  # what is done to every row first
    products: Callable[..., Any] | None = None  # all pairs by products of matrices, if no options


_METRICS = {
    "braycurtis": _Metric(_braycurtis),
    "canberra": _Metric(_canberra),
    "chebyshev": _Metric(_chebyshev),
    "cityblock": _Metric(_cityblock),
    "correlation": _Metric(_half_squares, ("w",), _centred_units, _half_square_distances),
    "cosine": _Metric(_half_squares, ("w",), _units, _half_square_distances),
    "dice": _Metric(_booleans.dice_of),
    "euclidean": _Metric(_minkowski, ("w",), None, distances),
    "hamming": _Metric(_booleans.hamming_of),
    "jaccard": _Metric(_booleans.jaccard_of),
    "jensenshannon": _Metric(_jensenshannon, ("base",)),
    "mahalanobis": _Metric(_mahalanobis, ("VI",)),
    "minkowski": _Metric(_minkowski, ("p", "w")),
    "rogerstanimoto": _Metric(_booleans.rogerstanimoto_of, ("w",), _booleans.truth),
    "russellrao": _Metric(_booleans.russellrao_of, ("w",), _booleans.truth),
    "seuclidean": _Metric(_seuclidean, ("V",)),
    "sokalsneath": _Metric(_booleans.sokalsneath_of, ("w",), _booleans.truth),
    "sqeuclidean": _Metric(_squares, ("w",), None, square_distances),
    "yule": _Metric(_booleans.yule_of, ("w",), _booleans.truth),
}
_SHORT = {
    "chebyshev": "chebychev cheby cheb ch",
    "cityblock": "cblock cb c",
    "correlation": "co",
    "cosine": "cos",
    "euclidean": "euclid eu e",
    "hamming": "matching hamm ha h",
    "jaccard": "jacc ja j",
    "jensenshannon": "js",
    "mahalanobis": "mahal mah",
    "minkowski": "mi m pnorm",
    "seuclidean": "se s",
    "sqeuclidean": "sqe sqeuclid",
}
_NAMES = {short: name for name, all_ in _SHORT.items() for short in all_.split()}


# ---------------------------------------------------------------- arguments


def _of_two(name: str, u: Any, v: Any, **options: Any) -> Any:
    """The distance of two vectors."""
    u, v = two_vectors(name, options, u, v)
    metric = _METRICS[name]
    if metric.rows is not None:
        u, v = (metric.rows(x, **options) for x in (u, v))
    return metric.between(u, v, **options)


# ---------------------------------------------------------------- two vectors


def euclidean(u: Any, v: Any, w: Any = None) -> Any:
    """``sqrt(sum_i w_i (u_i - v_i)**2)``.

    Shapes: ``u: (n,), v: (n,) -> ()``, weights `w` like `u`.   Dtypes: real; integers give float64.
    Derivative: ``w (u - v) / y``; 0 where the vectors are equal.
    Raises: ShapeError: u and v are no vectors of one length. ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.spatial.distance.euclidean``.

    >>> float(euclidean([0.0, 0.0], [3.0, 4.0]))
    5.0
    """
    return _of_two("euclidean", u, v, w=w)


def sqeuclidean(u: Any, v: Any, w: Any = None) -> Any:
    """``sum_i w_i (u_i - v_i)**2``.

    Shapes: ``u: (n,), v: (n,) -> ()``, weights `w` like `u`.   Dtypes: real; integers give float64.
    Derivative: ``2 w (u - v)``; smooth everywhere.
    Raises: ShapeError: u and v are no vectors of one length. ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.spatial.distance.sqeuclidean``.

    >>> float(sqeuclidean([0.0, 0.0], [3.0, 4.0]))
    25.0
    """
    return _of_two("sqeuclidean", u, v, w=w)


def cityblock(u: Any, v: Any, w: Any = None) -> Any:
    """``sum_i w_i |u_i - v_i|``.

    Shapes: ``u: (n,), v: (n,) -> ()``, weights `w` like `u`.   Dtypes: real; integers give float64.
    Derivative: ``w sign(u - v)``, which is 0 for equal elements.
    Raises: ShapeError: u and v are no vectors of one length. ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.spatial.distance.cityblock``.

    >>> float(cityblock([0.0, 0.0], [3.0, 4.0]))
    7.0
    """
    return _of_two("cityblock", u, v, w=w)


def chebyshev(u: Any, v: Any, w: Any = None) -> Any:
    """``max_i |u_i - v_i|`` over the elements whose weight is not 0.

    Shapes: ``u: (n,), v: (n,) -> ()``, weights `w` like `u`.   Dtypes: real; integers give float64.
    Derivative: ``sign(u - v)`` of the largest, which share it; 0 for equal vectors.
    Raises: ShapeError: u and v are no vectors of one length. ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.spatial.distance.chebyshev``.

    >>> float(chebyshev([0.0, 0.0], [3.0, 4.0]))
    4.0
    """
    return _of_two("chebyshev", u, v, w=w)


def minkowski(u: Any, v: Any, p: float = 2.0, w: Any = None) -> Any:
    """``(sum_i w_i |u_i - v_i|**p)**(1 / p)`` for p > 0.

    Shapes: ``u: (n,), v: (n,) -> ()``, weights `w` like `u`.   Dtypes: real; integers give float64.
    Derivative: ``w sign(u - v) (|u - v| / y)**(p - 1)``; 0 for equal elements.
    Raises: ShapeError: u and v are no vectors of one length. ArgumentError: complex numbers, or
    `p` is not positive.
    Source: SciPy reference, ``scipy.spatial.distance.minkowski``.

    >>> float(minkowski([0.0, 0.0], [3.0, 4.0], p=1.0))
    7.0
    """
    return _of_two("minkowski", u, v, p=p, w=w)


def cosine(u: Any, v: Any, w: Any = None) -> Any:
    """``1 - sum_i w_i u_i v_i / (|u| |v|)`` with ``|u|**2 = sum_i w_i u_i**2``.

    By the squares of the differences of ``u / |u|`` and ``v / |v|``, so that small ones are right.

    Shapes: ``u: (n,), v: (n,) -> ()``, weights `w` like `u`.   Dtypes: real; integers give float64.
    Derivative: smooth; nan for a zero vector, as the distance is.
    Raises: ShapeError: u and v are no vectors of one length. ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.spatial.distance.cosine``.

    >>> float(cosine([1.0, 0.0], [3.0, 4.0]).round(4))
    0.4
    """
    return _of_two("cosine", u, v, w=w)


def correlation(u: Any, v: Any, w: Any = None, centered: bool = True) -> Any:
    """`cosine` of ``u - mean(u)`` and ``v - mean(v)``, by the weights; `cosine` if not `centered`.

    Shapes: ``u: (n,), v: (n,) -> ()``, weights `w` like `u`.   Dtypes: real; integers give float64.
    Derivative: smooth; nan for vectors of equal elements, as the distance is.
    Raises: ShapeError: u and v are no vectors of one length. ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.spatial.distance.correlation``.

    >>> float(correlation([1.0, 2.0, 3.0], [3.0, 2.0, 1.0]))
    2.0
    """
    return _of_two("correlation" if centered else "cosine", u, v, w=w)


def canberra(u: Any, v: Any, w: Any = None) -> Any:
    """``sum_i w_i |u_i - v_i| / (|u_i| + |v_i|)``, where 0 / 0 counts as 0.

    Shapes: ``u: (n,), v: (n,) -> ()``, weights `w` like `u`.   Dtypes: real; integers give float64.
    Derivative: that of the sizes; 0 for elements that are equal or both 0.
    Raises: ShapeError: u and v are no vectors of one length. ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.spatial.distance.canberra``.

    >>> float(canberra([1.0, 0.0], [3.0, 0.0]))
    0.5
    """
    return _of_two("canberra", u, v, w=w)


def braycurtis(u: Any, v: Any, w: Any = None) -> Any:
    """``sum_i w_i |u_i - v_i| / sum_i w_i |u_i + v_i|``.

    Shapes: ``u: (n,), v: (n,) -> ()``, weights `w` like `u`.   Dtypes: real; integers give float64.
    Derivative: that of the sizes, 0 where they are 0.
    Raises: ShapeError: u and v are no vectors of one length. ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.spatial.distance.braycurtis``.

    >>> float(braycurtis([1.0, 0.0], [3.0, 0.0]))
    0.5
    """
    return _of_two("braycurtis", u, v, w=w)


def seuclidean(u: Any, v: Any, V: Any) -> Any:
    """``sqrt(sum_i (u_i - v_i)**2 / V_i)`` for variances V.

    Shapes: ``u: (n,), v: (n,), V: (n,) -> ()``.   Dtypes: real; integers give float64.
    Derivative: ``(u - v) / (V y)``; 0 where the vectors are equal.
    Raises: ShapeError: u and v are no vectors of one length. ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.spatial.distance.seuclidean``.

    >>> float(seuclidean([0.0, 0.0], [3.0, 4.0], [0.25, 0.25]))
    10.0
    """
    return _of_two("seuclidean", u, v, V=V)


def mahalanobis(u: Any, v: Any, VI: Any) -> Any:
    """``sqrt((u - v) VI (u - v))`` for the inverse VI of a covariance.

    Shapes: ``u: (n,), v: (n,), VI: (n, n) -> ()``.   Dtypes: real; integers give float64.
    Derivative: ``(VI + VI^T) (u - v) / (2 y)``; 0 where the vectors are equal.
    Raises: ShapeError: u and v are no vectors of one length. ArgumentError: complex numbers.
    Source: SciPy reference, ``scipy.spatial.distance.mahalanobis``.

    >>> float(mahalanobis([0.0, 0.0], [3.0, 4.0], [[4.0, 0.0], [0.0, 4.0]]))
    10.0
    """
    return _of_two("mahalanobis", u, v, VI=VI)


def jensenshannon(
    p: Any, q: Any, base: float | None = None, *, axis: int = 0, keepdims: bool = False
) -> Any:
    """``sqrt((D(p, m) + D(q, m)) / 2)`` for ``m = (p + q) / 2``, ``D(p, m) = sum p_i log(p_i / m_i)``,
    of vectors that are divided by their sums; logarithms to `base`.

    Shapes: ``p, q: (*a, n, *b) -> (*a, *b)``, broadcast.   Dtypes: real; integers give float64.
    Derivative: that of the entropies; 0 where the distance is.
    Raises: ShapeError: the shapes do not broadcast, or there is no such axis. ArgumentError: complex
    numbers.
    Source: SciPy reference, ``scipy.spatial.distance.jensenshannon``.

    >>> float(jensenshannon([1.0, 0.0], [0.0, 1.0], 2.0))
    1.0
    """
    p, q = floating_vectors("jensenshannon", p, q)
    p, q = broadcast_arrays(p, q)
    axis = axis_of("distance.jensenshannon", axis, p.ndim)
    y = _jensenshannon(moveaxis(p, axis, -1), moveaxis(q, axis, -1), base=base)
    return with_axes(y, p.shape, (axis,), keepdims)


# ---------------------------------------------------------------- all pairs


def _metric_of(name: str, metric: Any, options: dict[str, Any]) -> Any:
    """The name of a metric, with options that it takes; another function is itself."""
    if callable(metric):
        own = getattr(metric, "__name__", "")
        if globals().get(own) is not metric:
            return metric
        metric = own
    key = _NAMES.get(str(metric).lower(), str(metric).lower())
    if key not in _METRICS:
        raise ArgumentError(
            f"distance.{name}: metric={metric!r}; there are {', '.join(_METRICS)}, or a function"
            f"{where()}"
        )
    for option in options.keys() - set(_METRICS[key].options):
        raise ArgumentError(f"distance.{name}: the metric {key} has no {option}={where()}")
    return key


def _with_moments(key: str, options: dict[str, Any], *xs: Any) -> dict[str, Any]:
    """The options with the variances or the inverse covariance of all points, if they are missing."""
    missing = {"seuclidean": "V", "mahalanobis": "VI"}.get(key)
    if missing is None or options.get(missing) is not None:
        return options
    points = concatenate(floating_vectors(key, *xs))
    if missing == "V":
        return {**options, "V": var(points, axis=0, ddof=1)}
    count, length = points.shape
    if count <= length:
        raise ShapeError(
            f"distance.{key}: the covariance of {count} points of {length} numbers is singular; need "
            f"more, or VI={where()}"
        )
    return {**options, "VI": inv(reshape(cov(points, rowvar=False), shape=(length, length)))}


def _out(name: str, y: Any, out: Any) -> Any:
    return y if out is None else written(f"distance.{name} with out=", y, out)


def cdist(XA: Any, XB: Any, metric: Any = "euclidean", *, out: Any = None, **kwargs: Any) -> Any:
    """``d_ij = metric(XA_i, XB_j)``: the distances of all pairs of rows.

    A metric is a function of two vectors or the name of one of this module; `kwargs` are its options.
    What squares differences is done by products of matrices for more than a few rows.

    Shapes: ``XA: (m, k), XB: (n, k) -> (m, n)``.   Dtypes: real; integers give float64.
    Derivative: that of the metric; for Euclidean distances 0 where rows are equal.
    Raises: ShapeError: no matrices with rows of one length. ArgumentError: no such metric or option,
    or complex numbers.
    Source: SciPy reference, ``scipy.spatial.distance.cdist``.

    >>> cdist([[0.0, 0.0]], [[3.0, 4.0], [0.0, 1.0]]).tolist()
    [[5.0, 1.0]]
    """
    x, y = arrays_of(XA, XB)
    if x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[1]:
        raise ShapeError(
            f"distance.cdist: XA is {aval_of(x)} and XB is {aval_of(y)}; need rows of one length"
            f"{where()}"
        )
    key = _metric_of("cdist", metric, kwargs)
    if callable(key):
        x, y = floating_vectors("cdist", x, y)
        flat = [key(a, b, **kwargs) for a in x for b in y]
        found = reshape(stacked(flat), shape=(x.shape[0], y.shape[0]))
        return _out("cdist", found, out)
    kwargs = _with_moments(key, kwargs, x, y)
    x, y = prepared("cdist", kwargs, x.shape[1], x, y)
    between, _, rows, products = _METRICS[key]
    if rows is not None:
        x, y = rows(x, **kwargs), rows(y, **kwargs)
    if products is not None and kwargs.get("w") is None and max(x.shape[0], y.shape[0]) > FEW:
        return _out("cdist", products(x, y), out)
    found = between(expand_dims(x, axis=(1,)), expand_dims(y, axis=(0,)), **kwargs)
    return _out("cdist", found, out)


def pdist(X: Any, metric: Any = "euclidean", *, out: Any = None, **kwargs: Any) -> Any:
    """``metric(X_i, X_j)`` of all pairs of rows with i < j, in order, as a vector.

    A metric is a function of two vectors or the name of one of this module; `kwargs` are its options.
    What squares differences is done by products of matrices for more than a few rows.

    Shapes: ``X: (m, k) -> (m (m - 1) / 2,)``.   Dtypes: real; integers give float64.
    Derivative: that of the metric; for Euclidean distances 0 where rows are equal.
    Raises: ShapeError: no matrix. ArgumentError: no such metric or option, or complex numbers.
    Source: SciPy reference, ``scipy.spatial.distance.pdist``.

    >>> pdist([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]).round(4).tolist()
    [5.0, 1.0, 4.2426]
    """
    x = array_of(X)
    if x.ndim != 2:
        raise ShapeError(f"distance.pdist: X is {aval_of(x)}; need a matrix{where()}")
    key = _metric_of("pdist", metric, kwargs)
    i, j = np.triu_indices(x.shape[0], 1)
    if callable(key):
        (x,) = floating_vectors("pdist", x)
        pairs = [key(x[a], x[b], **kwargs) for a, b in zip(i, j, strict=True)]
        return _out("pdist", stacked(pairs), out)
    kwargs = _with_moments(key, kwargs, x)
    (x,) = prepared("pdist", kwargs, x.shape[1], x)
    between, _, rows, products = _METRICS[key]
    if rows is not None:
        x = rows(x, **kwargs)
    if products is not None and kwargs.get("w") is None and x.shape[0] > FEW:
        return _out("pdist", _flat_taken(products(x, x), i * x.shape[0] + j), out)
    one, other = (take(x, beside(x, k), axis=0, bounds="known") for k in (i, j))
    return _out("pdist", between(one, other, **kwargs), out)


def _flat_taken(x: Any, places: Any) -> Any:
    return take(reshape(x, shape=(x.shape[0] * x.shape[1],)), places, axis=0, bounds="known")


def squareform(X: Any, force: str = "no", checks: bool = True) -> Any:
    """The symmetric matrix of the distances that `pdist` gives as a vector; the vector of a matrix.

    Of a matrix the elements above the diagonal count. `checks` changes nothing: whether it is
    symmetric is not looked at. `force` is "no", "tomatrix" or "tovector".

    Shapes: ``(m (m - 1) / 2,) -> (m, m)`` or ``(m, m) -> (m (m - 1) / 2,)``.   Dtypes: numbers.
    Derivative: it is linear.
    Raises: ShapeError: no such vector and no square matrix, or not what `force` asks for.
    Source: SciPy reference, ``scipy.spatial.distance.squareform``.

    >>> squareform([1.0, 2.0, 3.0]).tolist()
    [[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.0]]
    """
    x = array_of(X)
    size = x.shape[0] if x.ndim else 0
    n = size if x.ndim == 2 else (1 + math.isqrt(1 + 8 * size)) // 2
    fits = x.shape == (n, n) or (x.ndim == 1 and n * (n - 1) == 2 * size)
    if not fits or {"tomatrix": 1, "tovector": 2}.get(force.lower(), x.ndim) != x.ndim:
        raise ShapeError(
            f"distance.squareform: X is {aval_of(x)} and force={force!r}; need a vector of "
            f"m (m - 1) / 2 numbers or a square matrix{where()}"
        )
    i, j = np.triu_indices(n, 1)
    if x.ndim == 2:
        return _flat_taken(x, i * n + j)
    places = np.full((n, n), size)  # on the diagonal the number after the last, which is 0
    places[i, j] = places[j, i] = np.arange(size)
    more = concatenate([x, beside(x, np.zeros(1, x.dtype))])
    return take(more, beside(x, places), axis=0, bounds="known")


def directed_hausdorff(u: Any, v: Any, rng: Any = 0) -> tuple[Any, Any, Any]:
    """The largest distance of a row of `u` from the rows of `v`, and the numbers of these two rows.

    ``max_i min_j |u_i - v_j|``; of equal ones the first. `rng` changes nothing.

    Shapes: ``u: (m, k), v: (n, k) -> (), (), ()``.   Dtypes: real; integers give float64.
    Derivative: that of the distance between the two rows; 0 where they are equal.
    Raises: ShapeError: the shapes do not fit, or there is no row. ArgumentError: complex numbers.
    Source: Taha & Hanbury, IEEE Trans. Pattern Anal. 37 (2015) 2153; SciPy reference,
    ``scipy.spatial.distance.directed_hausdorff``.

    >>> [float(x) for x in directed_hausdorff([[0.0], [5.0]], [[1.0], [2.0]])]
    [3.0, 1.0, 1.0]
    """
    u, v = floating_vectors("directed_hausdorff", u, v)
    if u.ndim != 2 or v.ndim != 2 or not (u.shape[0] and v.shape[0]):
        raise ShapeError(
            f"directed_hausdorff: u is {aval_of(u)} and v is {aval_of(v)}; need rows of one length"
            f"{where()}"
        )
    apart = cdist(stop_gradient(u), stop_gradient(v))
    i = argmax(apart.min(axis=1))
    j = argmin(read(apart, i))
    return euclidean(read(u, i), read(v, j)), i, j
