"""The rotation that brings vectors to others: by least squares, or one of them exactly."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .... import numpy as fnp
from ....errors import ArgumentError, ShapeError, where
from ....indexing import known
from ....ops.linalg import p_norm
from . import quaternions as _q

_NAME = "Rotation.align_vectors"


def aligned(a: Any, b: Any, weights: Any, sensitivity: bool) -> tuple[Any, Any, Any]:
    """The quaternion, what is left, and how the rotation moves with the vectors, if asked for."""
    a, b = (x[None] if x.ndim == 1 else x for x in (a, b))
    if a.ndim != 2 or a.shape[-1] != 3 or a.shape != b.shape:
        raise ShapeError(
            f"{_NAME}: a has shape {list(a.shape)} and b {list(b.shape)}; need two arrays of one "
            f"shape, [3] or [n, 3]{where()}"
        )
    n = a.shape[0]
    weights = np.ones(n) if weights is None else weights
    if weights.shape != (n,):
        raise ShapeError(
            f"{_NAME}: weights has shape {list(weights.shape)}; need one for each of the {n} vectors"
            f"{where()}"
        )
    value = known(weights)
    if value is not None and bool((value < 0).any()):
        raise ArgumentError(f"{_NAME}: weights must not be negative{where()}")
    fixed = [] if value is None else [int(i) for i in np.flatnonzero(np.isinf(np.asarray(value)))]
    if len(fixed) > 1:
        raise ArgumentError(f"{_NAME}: more than one weight is infinite{where()}")
    if sensitivity and (fixed or n == 1):
        raise ArgumentError(
            f"{_NAME}: there is no sensitivity with an infinite weight or a single vector{where()}"
        )
    if not fixed and n > 1:
        return _least_squares(a, b, weights, sensitivity)
    i = fixed[0] if fixed else 0
    q = _through(a, b, weights, i)
    weights = fnp.where(np.arange(n) == i, 0.0, weights) if fixed else weights
    return q, _left_over(q, a, b, weights), None


def _left_over(q: Any, a: Any, b: Any, weights: Any) -> Any:
    d = a - _turned(q, b)
    return p_norm(d, p=2.0, axis=(0, 1), weights=weights[:, None])


def _turned(q: Any, v: Any) -> Any:
    return fnp.matmul(_q.matrices(q), v[..., None])[..., 0]


def _least_squares(a: Any, b: Any, weights: Any, sensitivity: bool) -> tuple[Any, Any, Any]:
    m = fnp.matmul(fnp.transpose(weights[:, None] * a), b)
    k = _q.agreement(m)
    value = known(k)
    if value is not None:
        w = np.linalg.eigvalsh(np.asarray(value))
        if w[-1] - w[-2] <= 1e-15 * w[-1]:
            warnings.warn("Optimal rotation is not uniquely or poorly defined.", stacklevel=4)
    q = _q.with_positive_largest(_q.leading(k))
    if not sensitivity:
        return q, _left_over(q, a, b, weights), None
    # The signed singular values of m are the eigenvalues of h: their sums of products follow.
    h = fnp.matmul(fnp.transpose(_q.matrices(q)), m)
    total = fnp.trace(h)
    kappa = 0.5 * (total * total - fnp.trace(fnp.matmul(h, h)))
    zeta = fnp.linalg.det(total * np.eye(3) - h)
    spread = fnp.mean(weights) / zeta * (kappa * np.eye(3) + fnp.matmul(m, fnp.transpose(m)))
    return q, _left_over(q, a, b, weights), spread


def _through(a: Any, b: Any, weights: Any, i: int) -> Any:
    """The quaternion that turns b[i] to a[i] on the shortest way, and then the others around it."""
    lengths = _q.size(a[i]), _q.size(b[i])
    if any(known(x) is not None and known(x) == 0 for x in lengths):
        raise ArgumentError(f"{_NAME}: a vector of length 0 has no direction{where()}")
    to, start = a[i] / lengths[0], b[i] / lengths[1]
    opposite = fnp.all(to == -start)
    middle = to + start
    middle = middle / fnp.where(opposite, 1.0, _q.size(middle))
    q = _q.joined(fnp.cross(start, middle), _q.dot(start, middle))
    # Of opposite vectors any way is the shortest.
    axis = fnp.cross(to, fnp.take(np.eye(3), fnp.argmin(fnp.absolute(to)), axis=0))
    q = fnp.where(opposite, _q.joined(axis / _q.size(axis), fnp.zeros(())), q)
    q = q + _q.without_derivative(fnp.concatenate([to, start]), opposite, 4)
    rest = [k for k in range(a.shape[0]) if k != i]
    if not rest:
        return q
    others, seen, w = a[np.array(rest)], _turned(q, b[np.array(rest)]), weights[np.array(rest)]
    sine = _q.dot(fnp.cross(seen, others), to)
    cosine = _q.dot(seen, others) - _q.dot(seen, to) * _q.dot(others, to)
    phi = 0.5 * fnp.arctan2(fnp.sum(w * sine), fnp.sum(w * cosine))
    return _q.product(_q.joined(fnp.sin(phi) * to, fnp.cos(phi)), q)


def reduced(q: Any, left: Any, right: Any) -> tuple[Any, Any, Any]:
    """For each row of `q` the ``left[i] q right[j]`` by the least angle, and its i and j."""
    beside = _q.product(q[:, None, None], right)
    products = _q.product(left[:, None], beside)
    flat = fnp.reshape(products, (q.shape[0], -1, 4))
    best = fnp.argmax(fnp.absolute(flat[..., 3]), axis=-1)
    found = fnp.take_along_axis(flat, best[:, None, None], axis=1)[:, 0]
    return found, best // right.shape[0], best % right.shape[0]
