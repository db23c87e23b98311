"""Quaternions of length 1 along the last axis, as x, y, z, w, and what they stand for.

NOTE [Small angles] Where an angle is small, what is divided by it is a series in its square, so that
values and derivatives of all orders keep their digits there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .... import numpy as fnp
from ....errors import ArgumentError, where
from ....indexing import known
from ....numpy._arguments import beside
from ....ops.select import stop_gradient
from ..._programs import with_tangent

_HALF_SINES = [0.5 * (-0.25) ** k / math.factorial(2 * k + 1) for k in range(10)]
_HALF_COSINES = [(-0.25) ** k / math.factorial(2 * k) for k in range(10)]
_ARC_TANGENTS = [(-1.0) ** k / (2 * k + 1) for k in range(15)]
_LOCKED = 1e-7  # radians


def _series(coefficients: Sequence[float], x: Any) -> Any:
    y = fnp.zeros_like(x) + coefficients[-1]
    for c in reversed(coefficients[:-1]):
        y = y * x + c
    return y


def dot(u: Any, v: Any) -> Any:
    return fnp.sum(u * v, axis=-1)


def size(v: Any) -> Any:
    return fnp.linalg.norm(v, axis=-1)


def joined(v: Any, w: Any) -> Any:
    """The quaternions with the vectors `v` and the numbers `w`."""
    return fnp.concatenate([v, w[..., None]], axis=-1)


def identities(shape: tuple[int, ...]) -> Any:
    return np.zeros((*shape, 4)) + np.array([0.0, 0.0, 0.0, 1.0])


def units(q: Any) -> Any:
    """The quaternions divided by their lengths; nan for 0, where it is not known to be 0."""
    length = size(q)[..., None]
    value = known(length)
    if value is not None and bool((value == 0).any()):
        raise ArgumentError(f"Rotation: a quaternion of length 0 is no rotation{where()}")
    return q / (length if value is not None else fnp.where(length == 0, math.nan, length))


def product(p: Any, q: Any) -> Any:
    """First the rotation q, then p."""
    u, v, a, b = p[..., :3], q[..., :3], p[..., 3:], q[..., 3:]
    return joined(a * v + b * u + fnp.cross(u, v), (a * b)[..., 0] - dot(u, v))


def inverse(q: Any) -> Any:
    return q * beside(q, np.array([-1.0, -1.0, -1.0, 1.0]))


def canonical(q: Any) -> Any:
    """That of q and -q in which the first of w, x, y, z that is not 0 is positive."""
    sign = fnp.sign(q)
    first: Any = 0.0
    for i in (2, 1, 0, 3):
        first = fnp.where(sign[..., i] == 0, first, sign[..., i])
    return fnp.where((first < 0)[..., None], -q, q)


# ---------------------------------------------------------------- matrices


def matrices(q: Any) -> Any:
    x, y, z, w = (q[..., i] for i in range(4))
    xx, yy, zz, ww = x * x, y * y, z * z, w * w
    rows = [
        [xx - yy - zz + ww, 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), -xx + yy - zz + ww, 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), -xx - yy + zz + ww],
    ]
    return fnp.stack([fnp.stack(row, axis=-1) for row in rows], axis=-2)


def agreement(m: Any) -> Any:
    """The symmetric K with ``q^T K q = sum(m * R(q))``, of which the best q is an eigenvector."""
    e = [[m[..., i, j] for j in range(3)] for i in range(3)]
    xy, xz, yz = e[0][1] + e[1][0], e[0][2] + e[2][0], e[1][2] + e[2][1]
    xw, yw, zw = e[2][1] - e[1][2], e[0][2] - e[2][0], e[1][0] - e[0][1]
    rows = [
        [e[0][0] - e[1][1] - e[2][2], xy, xz, xw],
        [xy, e[1][1] - e[0][0] - e[2][2], yz, yw],
        [xz, yz, e[2][2] - e[0][0] - e[1][1], zw],
        [xw, yw, zw, e[0][0] + e[1][1] + e[2][2]],
    ]
    return fnp.stack([fnp.stack(row, axis=-1) for row in rows], axis=-2)


def from_matrices(m: Any) -> Any:
    """The rotations that are nearest to matrices with positive determinants."""
    return with_positive_largest(leading(agreement(m), polish=True))


def with_positive_largest(q: Any) -> Any:
    """That of q and -q whose element of the largest size, the first of these, is positive."""
    largest = fnp.argmax(fnp.absolute(q), axis=-1)[..., None]
    return q * fnp.sign(fnp.take_along_axis(q, largest, axis=-1))


def leading(k: Any, *, polish: bool = False) -> Any:
    """The eigenvector of the largest eigenvalue of symmetric matrices.

    Its derivative needs a gap below that eigenvalue only: the others may be equal, as they are where
    a matrix is a rotation. A step of Newton's, if asked for, gives small elements all of their digits.
    """
    plain = stop_gradient(k)
    v = fnp.linalg.eigh(plain)[1][..., -1]
    if polish:
        v = v - _moved(plain, v, _times(plain, v))
        v = v / size(v)[..., None]

    def tangent(y: Any, held: Sequence[Any], dots: Sequence[Any]) -> Any:
        return None if dots[0] is None else _moved(held[0], y, _times(dots[0], y), sign=1.0)

    return with_tangent("Rotation", v, [k], tangent)


def _times(k: Any, v: Any) -> Any:
    return fnp.sum(k * v[..., None, :], axis=-1)


def _moved(k: Any, v: Any, right: Any, sign: float = -1.0) -> Any:
    """``sign (w - k)^+ right``, where `v` is the eigenvector of k for the eigenvalue w."""
    w = dot(v, _times(k, v))[..., None]
    square = w[..., None] * (beside(v, np.eye(4)) + v[..., :, None] * v[..., None, :]) - k
    off = right - v * dot(v, right)[..., None]
    return sign * fnp.linalg.solve(square, off[..., None])[..., 0]


# ---------------------------------------------------------------- vectors along the axis


def from_vectors(r: Any) -> Any:
    """Of rotations around vectors by their lengths, in radians."""
    s = dot(r, r)[..., None]
    small = s <= 1.0
    near, far = fnp.where(small, s, 0.0), fnp.sqrt(fnp.where(small, 1.0, s))
    scale = fnp.where(small, _series(_HALF_SINES, near), fnp.sin(0.5 * far) / far)
    w = fnp.where(small, _series(_HALF_COSINES, near), fnp.cos(0.5 * far))
    return joined(scale * r, w[..., 0])


def vectors(q: Any) -> Any:
    q = canonical(q)
    return turns(q[..., :3], q[..., 3:])


def turns(v: Any, w: Any) -> Any:
    """Along `v`, of sizes ``sin(x / 2)``, the angles x, where `w` is ``cos(x / 2)``, not negative."""
    s = dot(v, v)[..., None]
    small = s <= 0.05 * (w * w)
    beside = fnp.where(small, w, 1.0)
    near = 2.0 * _series(_ARC_TANGENTS, fnp.where(small, s, 0.0) / (beside * beside)) / beside
    length = fnp.sqrt(fnp.where(small, 1.0, s))
    return v * fnp.where(small, near, 2.0 * fnp.arctan2(length, w) / length)


def angles_of(q: Any) -> Any:
    return 2.0 * fnp.arctan2(size(q[..., :3]), fnp.absolute(q[..., 3]))


# ---------------------------------------------------------------- three angles


def euler(q: Any, axes: Sequence[int], extrinsic: bool) -> tuple[Any, Any]:
    """The angles around three of the axes, and where the first and the third are the same axis."""
    i, j, k = axes if extrinsic else axes[::-1]
    symmetric = i == k
    k = 3 - i - j if symmetric else k
    sign = (i - j) * (j - k) * (k - i) // 2
    x, y, z, w = q[..., i], q[..., j], q[..., k] * sign, q[..., 3]
    if symmetric:
        return _angles(q, (w, x, y, z), extrinsic, 0.0, 1)
    return _angles(q, (w - y, x + z, y + w, z - x), extrinsic, 0.5 * math.pi, sign)


def davenport(q: Any, n: Any, extrinsic: bool) -> tuple[Any, Any]:
    """`euler` around the vectors n of length 1, of which the second is orthogonal to the others."""
    first, second, third = (n[..., i, :] for i in ((0, 1, 2) if extrinsic else (2, 1, 0)))
    across = fnp.cross(first, second)
    apart = fnp.arctan2(dot(third, across), dot(third, first))
    side = fnp.where(apart < 0, -1.0, 1.0)
    second, across, apart = second * side[..., None], across * side[..., None], apart * side
    turn = joined(fnp.sin(0.5 * apart)[..., None] * second, fnp.cos(0.5 * apart))
    turned = product(turn, q)
    parts = (turned[..., 3], *(dot(turned[..., :3], v) for v in (first, second, across)))
    found, locked = _angles(q, parts, extrinsic, apart, 1)
    signs = fnp.stack([fnp.ones_like(side), side, fnp.ones_like(side)], axis=-1)
    return found * signs, locked


def _angles(
    q: Any, parts: Sequence[Any], extrinsic: bool, apart: Any, sign: int
) -> tuple[Any, Any]:
    """The angles of Bernardes and Viollet's four numbers; where locked, the third is 0."""
    a, b, c, d = parts
    second = 2.0 * fnp.arctan2(fnp.hypot(c, d), fnp.hypot(a, b))
    same = fnp.absolute(second) <= _LOCKED
    locked = fnp.logical_or(same, fnp.absolute(second - math.pi) <= _LOCKED)
    half_sum = fnp.arctan2(b, fnp.where(locked & (a == 0) & (b == 0), 1.0, a))
    half_diff = fnp.arctan2(d, fnp.where(locked & (c == 0) & (d == 0), 1.0, c))
    one = fnp.where(same, 2.0 * half_sum, (-2.0 if extrinsic else 2.0) * half_diff)
    minus, plus = half_sum - half_diff, (half_sum + half_diff) * sign
    first, third = (minus, plus) if extrinsic else (plus, minus)
    one = one if extrinsic else one * sign
    found = [fnp.where(locked, one, first), second - apart, fnp.where(locked, 0.0, third)]
    turns = fnp.stack(found, axis=-1)
    turns = fnp.where(turns < -math.pi, turns + 2 * math.pi, turns)
    turns = fnp.where(turns > math.pi, turns - 2 * math.pi, turns)
    return turns + without_derivative(q, locked, 3), locked


def without_derivative(x: Any, places: Any, count: int) -> Any:
    """Rows of zeros, with derivatives by `x` that are nan at the places: where there is no formula."""
    factor = fnp.where(places, math.nan, 0.0)[..., None]

    def tangent(y: Any, held: Sequence[Any], dots: Sequence[Any]) -> Any:
        if dots[0] is None:
            return None
        return (fnp.sum(dots[0], axis=-1)[..., None] * held[1]) * beside(y, np.ones(count))

    zeros = beside(x, np.zeros((*x.shape[:-1], count)))
    return with_tangent("Rotation", zeros, [x, factor], tangent)
