"""Dissimilarities of vectors of truth values, by how many places agree.

Numbers from 0 to 1 count as parts of both, so that what is counted are sums of products.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import aval_of
from ...errors import ArgumentError, where
from ...indexing import known
from ...numpy._arguments import converted
from ...ops.logic import equal, not_equal
from ...ops.select import where as choose
from ._arguments import total, two_vectors


def truth(x: Any, *, w: Any = None) -> Any:
    """1 where `x` is not 0."""
    return converted(not_equal(x, 0), aval_of(x).dtype)


def _counts(u: Any, v: Any, w: Any) -> tuple[Any, Any, Any, Any]:
    """How many are true in both, in the first, in the second, in none."""
    p, q = 1.0 - u, 1.0 - v
    return total(u * v, w), total(u * q, w), total(p * v, w), total(p * q, w)


def _over(x: Any, y: Any, empty: float) -> Any:
    none = equal(y, 0)
    return choose(none, empty, x / choose(none, 1.0, y))


def dice_of(u: Any, v: Any, *, w: Any = None) -> Any:
    both, first, second, _ = _counts(u, v, w)
    return _over(first + second, 2.0 * both + first + second, math.nan)


def rogerstanimoto_of(u: Any, v: Any, *, w: Any = None) -> Any:
    both, first, second, none = _counts(u, v, w)
    twice = 2.0 * (first + second)
    return _over(twice, both + none + twice, math.nan)


def russellrao_of(u: Any, v: Any, *, w: Any = None) -> Any:
    n = float(u.shape[-1]) if w is None else total(w, None)
    return (n - total(u * v, w)) / n


def sokalsneath_of(u: Any, v: Any, *, w: Any = None) -> Any:
    both, first, second, _ = _counts(u, v, w)
    twice = 2.0 * (first + second)
    return _over(twice, both + twice, math.nan)


def yule_of(u: Any, v: Any, *, w: Any = None) -> Any:
    both, first, second, none = _counts(u, v, w)
    across = first * second
    return choose(equal(across, 0), 0.0, _over(2.0 * across, both * none + across, 0.0))


def jaccard_of(u: Any, v: Any, *, w: Any = None) -> Any:
    u, v = truth(u), truth(v)
    either = u + v - u * v
    return _over(total(either - u * v, w), total(either, w), 0.0)


def hamming_of(u: Any, v: Any, *, w: Any = None) -> Any:
    differ = converted(not_equal(u, v), aval_of(u).dtype)
    return total(differ, w) / (float(u.shape[-1]) if w is None else total(w, None))


# ---------------------------------------------------------------- two vectors


def dice(u: Any, v: Any, w: Any = None) -> Any:
    """``d / (2 t + d)``, where t places are true in both vectors and d in one.

    Shapes: ``u: (n,), v: (n,) -> ()``, weights `w` like `u`.   Dtypes: real; gives floats.
    Derivative: of the sums of products; by `w`, too.
    Raises: ShapeError: u and v are no vectors of one length.
    Source: SciPy reference, ``scipy.spatial.distance.dice``.

    >>> float(dice([1, 0, 0], [1, 1, 0]).round(4))
    0.3333
    """
    options = {"w": w}
    return dice_of(*two_vectors("dice", options, u, v), w=options["w"])


def rogerstanimoto(u: Any, v: Any, w: Any = None) -> Any:
    """``2 d / (t + f + 2 d)``, where t places are true in both, f in none and d in one.

    Shapes, Dtypes, Derivative, Raises: as `dice`; `cdist` takes all that is not 0 as true.
    Source: SciPy reference, ``scipy.spatial.distance.rogerstanimoto``.

    >>> float(rogerstanimoto([1, 0, 0], [1, 1, 0]))
    0.5
    """
    options = {"w": w}
    return rogerstanimoto_of(*two_vectors("rogerstanimoto", options, u, v), w=options["w"])


def russellrao(u: Any, v: Any, w: Any = None) -> Any:
    """``(n - t) / n``, where t of n places are true in both.

    Shapes, Dtypes, Derivative, Raises: as `rogerstanimoto`.
    Source: SciPy reference, ``scipy.spatial.distance.russellrao``.

    >>> float(russellrao([1, 0, 0, 1], [1, 1, 0, 0]))
    0.75
    """
    options = {"w": w}
    return russellrao_of(*two_vectors("russellrao", options, u, v), w=options["w"])


def sokalsneath(u: Any, v: Any, w: Any = None) -> Any:
    """``2 d / (t + 2 d)``, where t places are true in both and d in one.

    Shapes, Dtypes, Derivative: as `rogerstanimoto`.
    Raises: as `dice`; ArgumentError: nothing is true in either, which `cdist` answers with nan.
    Source: SciPy reference, ``scipy.spatial.distance.sokalsneath``.

    >>> float(sokalsneath([1, 0, 0], [1, 1, 0]).round(4))
    0.6667
    """
    options = {"w": w}
    y = sokalsneath_of(*two_vectors("sokalsneath", options, u, v), w=options["w"])
    value = known(y)
    if value is not None and np.isnan(value):
        raise ArgumentError(f"distance.sokalsneath: nothing is true in u and v{where()}")
    return y


def yule(u: Any, v: Any, w: Any = None) -> Any:
    """``2 a b / (t f + a b)``, where t places are true in both, f in none, a and b in the first and in
    the second alone; 0 if ``a b`` is.

    Shapes, Dtypes, Derivative, Raises: as `rogerstanimoto`.
    Source: SciPy reference, ``scipy.spatial.distance.yule``.

    >>> float(yule([1, 0, 0, 1], [1, 1, 0, 0]))
    1.0
    """
    options = {"w": w}
    return yule_of(*two_vectors("yule", options, u, v), w=options["w"])


def jaccard(u: Any, v: Any, w: Any = None) -> Any:
    """Of the places where one is not 0, the part where the other is 0; 0 if there are none.

    Shapes, Dtypes, Raises: as `dice`.   Derivative: by `w`; zero by `u` and `v`.
    Source: SciPy reference, ``scipy.spatial.distance.jaccard``.

    >>> float(jaccard([1, 0, 0, 0], [1, 1, 1, 1]))
    0.75
    """
    options = {"w": w}
    return jaccard_of(*two_vectors("jaccard", options, u, v), w=options["w"])


def hamming(u: Any, v: Any, w: Any = None) -> Any:
    """The part of the places, which `w` weighs, where the vectors differ.

    Shapes, Dtypes, Raises: as `dice`.   Derivative: by `w`; zero by `u` and `v`.
    Source: SciPy reference, ``scipy.spatial.distance.hamming``.

    >>> float(hamming([1, 0, 0, 2], [1, 1, 0, 3]))
    0.5
    """
    options = {"w": w}
    return hamming_of(*two_vectors("hamming", options, u, v), w=options["w"])
