"""Rotations in three dimensions."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .... import numpy as fnp
from ....core import Tracer, aval_of
from ....errors import ArgumentError, ShapeError, where
from ....indexing import known, read
from ....numpy._arguments import array_of, beside, converted, copied
from ....ops.from_scipy import scipy_package
from ....ops.select import stop_gradient
from ....treedef import register_node
from . import alignment as _alignment
from . import quaternions as _q


def numbers(name: str, x: Any, *last: int) -> Any:
    """`x` in double precision, with the last axes.

    Raises: ArgumentError: complex numbers. ShapeError: other last axes.
    """
    x = array_of(x)
    if aval_of(x).dtype.kind == "c":
        raise ArgumentError(f"Rotation.{name}: needs real numbers, found {aval_of(x)}{where()}")
    if x.shape[max(x.ndim - len(last), 0) :] != last:
        raise ShapeError(
            f"Rotation.{name}: found {aval_of(x)}; need the last axes {list(last)}{where()}"
        )
    return converted(x, np.float64)


def _radians(angles: Any, degrees: bool) -> Any:
    return angles * (np.pi / 180.0) if degrees else angles


def _scaled(angles: Any, degrees: bool) -> Any:
    return angles * (180.0 / np.pi) if degrees else angles


def _order(name: str, order: str) -> bool:
    """Whether the axes stand still."""
    if order not in ("e", "extrinsic", "i", "intrinsic"):
        raise ArgumentError(
            f"Rotation.{name}: order={order!r}; need 'extrinsic' or 'intrinsic'{where()}"
        )
    return order[0] == "e"


def _axes_named(name: str, seq: Any, most: int, least: int = 1) -> tuple[list[int], bool]:
    """The axes of a sequence such as "xyz" by number, and whether they stand still."""
    same = isinstance(seq, str) and (set(seq) <= set("xyz") or set(seq) <= set("XYZ"))
    if not same or not least <= len(seq) <= most or any(map(str.__eq__, seq, seq[1:])):
        raise ArgumentError(
            f"Rotation.{name}: seq={seq!r}; need {'three' if least == 3 else 'up to three'} of x, y, z "
            f"or of X, Y, Z, and not one twice in a row{where()}"
        )
    return ["xyz".index(letter) for letter in seq.lower()], seq.islower()


def _unit_axes(name: str, axes: Any) -> Any:
    axes = axes / _q.size(axes)[..., None]
    value = known(axes)
    if value is not None:
        products = abs((value[..., 1:, :] * value[..., :-1, :]).sum(axis=-1))
        if bool((products > 1e-7).any()):
            raise ArgumentError(f"Rotation.{name}: axes in a row must be orthogonal{where()}")
    return axes


class Rotation:
    """Rotations of vectors with three elements: one, or an array of them.

    A tree whose leaf are the quaternions, so that rotations are arguments and results of transforms. A
    derivative by a rotation is one by its quaternion, found in ``as_quat()``; only its part orthogonal
    to the quaternion has a meaning.

    Shapes: ``quat: (*a, 4)``, and then `shape` is a; all operations broadcast.
    Dtypes: real; all of it is in double precision.
    Derivative: smooth, at the identity, too; `as_rotvec` jumps at the angle pi, `magnitude` has a kink
    at 0, where its derivative is 0, and that of `as_euler` is nan where angles are not unique.
    Raises: ShapeError: the shapes do not fit. ArgumentError: complex numbers, a quaternion of length 0.
    Source: SciPy reference, ``scipy.spatial.transform.Rotation``.

    >>> import funcgrad
    >>> r = Rotation.from_euler("z", 90, degrees=True)
    >>> r.apply([1.0, 0.0, 0.0]).round(12).tolist()
    [0.0, 1.0, 0.0]
    >>> turn = lambda v: Rotation.from_rotvec(v).apply([1.0, 2.0, 3.0])
    >>> funcgrad.jacrev(turn)(np.zeros(3)).tolist()
    [[0.0, 3.0, -2.0], [-3.0, 0.0, 1.0], [2.0, -1.0, 0.0]]
    """

    def __init__(
        self, quat: Any, normalize: bool = True, copy: bool = True, scalar_first: bool = False
    ) -> None:
        q = numbers("from_quat", quat, 4)
        q = fnp.roll(q, -1, axis=-1) if scalar_first else q
        self._quat = _q.units(q) if normalize else copied(q) if copy else q

    # ------------------------------------------------------------ made of

    @staticmethod
    def from_quat(quat: Any, *, scalar_first: bool = False) -> Rotation:
        """Of quaternions ``(x, y, z, w)``, which are divided by their lengths.

        Shapes: ``(*a, 4)``.

        >>> Rotation.from_quat([0, 0, 1, 1]).as_rotvec(degrees=True).round(12).tolist()
        [0.0, 0.0, 90.0]
        """
        return Rotation(quat, scalar_first=scalar_first)

    @staticmethod
    def from_matrix(matrix: Any, *, assume_valid: bool = False) -> Rotation:
        """The nearest rotations of matrices with positive determinants.

        Shapes: ``(*a, 3, 3)``.   Derivative: of the nearest rotation, also at one.
        Raises: ArgumentError: a determinant is not positive; if it is not known, nan. `assume_valid`
        says that it is.

        >>> Rotation.from_matrix([[0, -1, 0], [1, 0, 0], [0, 0, 1]]).as_rotvec(True).round(
        ...     9
        ... ).tolist()
        [0.0, 0.0, 90.0]
        """
        m = numbers("from_matrix", matrix, 3, 3)
        if assume_valid:
            return _of(_q.from_matrices(m))
        wrong = fnp.linalg.det(stop_gradient(m)) <= 0
        value = known(wrong)
        if value is not None and bool(value.any()):
            raise ArgumentError(
                f"Rotation.from_matrix: a determinant is not positive, so that the axes are not "
                f"right-handed{where()}"
            )
        if value is None:
            m = fnp.where(wrong[..., None, None], beside(m, np.eye(3)), m)
        q = _q.from_matrices(m)
        return _of(q if value is not None else fnp.where(wrong[..., None], np.nan, q))

    @staticmethod
    def from_rotvec(rotvec: Any, degrees: bool = False) -> Rotation:
        """Around vectors, by their lengths.

        Shapes: ``(*a, 3)``.

        >>> Rotation.from_rotvec([0, 0, 180], degrees=True).as_quat().round(12).tolist()
        [0.0, 0.0, 1.0, 0.0]
        """
        return _of(_q.from_vectors(_radians(numbers("from_rotvec", rotvec, 3), degrees)))

    @staticmethod
    def from_euler(seq: str, angles: Any, degrees: bool = False) -> Rotation:
        """By up to three angles, around axes that stand still ("xyz") or turn along ("XYZ").

        Shapes: ``angles: (*a, n)`` for n axes; () for one.   Raises: ArgumentError: no such `seq`.

        >>> Rotation.from_euler("xy", [90, 90], degrees=True).apply([0, 1, 0]).round(9).tolist()
        [1.0, 0.0, 0.0]
        """
        axes, extrinsic = _axes_named("from_euler", seq, 3)
        return _turns("from_euler", np.eye(3)[axes], angles, degrees, extrinsic)

    @staticmethod
    def from_davenport(axes: Any, order: str, angles: Any, degrees: bool = False) -> Rotation:
        """By up to three angles around any axes, of which those in a row are orthogonal.

        Shapes: ``axes: (3) or (*a, n, 3), angles: (*b, n)``; () for one axis.
        Raises: ArgumentError: no such `order`, or axes that are not orthogonal.

        >>> r = Rotation.from_davenport([[0, 0, 1], [1, 0, 0]], "extrinsic", [90, 90], degrees=True)
        >>> r.apply([1, 0, 0]).round(9).tolist()
        [0.0, 0.0, 1.0]
        """
        axes = numbers("from_davenport", axes, 3)
        axes = _unit_axes("from_davenport", axes[None] if axes.ndim == 1 else axes)
        extrinsic = _order("from_davenport", order)
        return _turns("from_davenport", axes, angles, degrees, extrinsic)

    @staticmethod
    def from_mrp(mrp: Any) -> Rotation:
        """Of modified Rodrigues parameters: vectors along the axis of length ``tan(angle / 4)``.

        Shapes: ``(*a, 3)``.

        >>> Rotation.from_mrp([0, 0, 1]).magnitude().round(4).tolist()
        3.1416
        """
        v = numbers("from_mrp", mrp, 3)
        square = _q.dot(v, v)
        return _of(_q.joined(2.0 * v, 1.0 - square) / (1.0 + square)[..., None])

    @staticmethod
    def identity(num: Any = None, *, shape: Any = None) -> Rotation:
        """Rotations that turn nothing: one, `num` in a row, or of a shape.

        >>> Rotation.identity(2).magnitude().tolist()
        [0.0, 0.0]
        """
        return _of(_q.identities(_shape("identity", num, shape)))

    @staticmethod
    def random(num: Any = None, rng: Any = None, *, shape: Any = None) -> Rotation:
        """Rotations drawn evenly from all, as SciPy draws them: constants of a program.

        >>> Rotation.random(3, rng=0).shape
        (3,)
        """
        drawn = np.random.default_rng(rng).normal(size=(*_shape("random", num, shape), 4))
        return Rotation(drawn)

    @staticmethod
    def create_group(group: str, axis: str = "Z") -> Rotation:
        """The rotations of a group: "I", "O", "T", "Cn" or "Dn", around `axis`, by SciPy.

        >>> Rotation.create_group("C4").magnitude().round(3).tolist()
        [0.0, 1.571, 3.142, 1.571]
        """
        theirs = scipy_package("spatial.transform", "Rotation.create_group")
        return _of(theirs.Rotation.create_group(group, axis).as_quat())

    @staticmethod
    def concatenate(rotations: Rotation | Iterable[Rotation]) -> Rotation:
        """Rotations in a row, one after another.

        >>> Rotation.concatenate([Rotation.identity(), Rotation.identity(2)]).shape
        (3,)
        """
        if isinstance(rotations, Rotation):
            return _of(rotations._quat)
        rows = [_required("concatenate", r)._quat for r in rotations]
        return _of(fnp.concatenate([q[None] if q.ndim == 1 else q for q in rows]))

    @staticmethod
    def align_vectors(
        a: Any, b: Any, weights: Any = None, return_sensitivity: bool = False
    ) -> tuple[Any, ...]:
        """The rotation R with the least ``sum_i w_i |a_i - R b_i|**2``, and the root of that.

        A vector of infinite weight, or a single one, is met exactly. `return_sensitivity` gives the
        covariance of small turns, per variance of the vectors, too.

        Shapes: ``a: (n, 3), b: (n, 3)`` or ``(3), (3)``; ``weights: (n)``.
        Derivative: by vectors and weights; where R is not unique there is none. That of the root is 0
        where nothing is left.
        Raises: ShapeError: the shapes differ. ArgumentError: a negative weight, two infinite ones, no
        direction, a sensitivity where there is none.

        >>> r, left = Rotation.align_vectors([[0, 1, 0], [0, 0, 1]], [[1, 0, 0], [0, 0, 1]])
        >>> r.as_rotvec(degrees=True).round(9).tolist(), float(left.round(9))
        ([0.0, 0.0, 90.0], 0.0)
        """
        a, b = (numbers("align_vectors", x, 3) for x in (a, b))
        weights = None if weights is None else numbers("align_vectors", weights)
        q, left, spread = _alignment.aligned(a, b, weights, return_sensitivity)
        return (_of(q), left, spread) if return_sensitivity else (_of(q), left)

    # ------------------------------------------------------------ given as

    def as_quat(self, canonical: bool = False, *, scalar_first: bool = False) -> Any:
        """The quaternions ``(x, y, z, w)``; `canonical` ones have w > 0, or the first that is not 0.

        >>> Rotation([0, 0, 0, -1]).as_quat(canonical=True, scalar_first=True).tolist()
        [1.0, 0.0, 0.0, 0.0]
        """
        q = _q.canonical(self._quat) if canonical else self._quat
        return fnp.roll(q, 1, axis=-1) if scalar_first else q

    def as_matrix(self) -> Any:
        """The orthogonal matrices.

        >>> Rotation.from_rotvec([0, 0, np.pi / 2]).as_matrix().round(9).tolist()
        [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
        """
        return _q.matrices(self._quat)

    def as_rotvec(self, degrees: bool = False) -> Any:
        """Vectors along the axes, by the angles, which are at most pi.

        Derivative: at the angle pi that of the vector on the side that is returned.

        >>> Rotation.from_euler("y", 90, degrees=True).as_rotvec(degrees=True).round(9).tolist()
        [0.0, 90.0, 0.0]
        """
        return _scaled(_q.vectors(self._quat), degrees)

    def as_euler(self, seq: str, degrees: bool = False, *, suppress_warnings: bool = False) -> Any:
        """Three angles around three axes, as `from_euler` takes them.

        Derivative: nan within 1e-7 of a gimbal lock, where the third angle is set to 0.
        Raises: ArgumentError: no such `seq`.

        >>> Rotation.from_rotvec([0, 0, np.pi / 2]).as_euler("zyx", degrees=True).round(9).tolist()
        [90.0, 0.0, 0.0]
        """
        axes, extrinsic = _axes_named("as_euler", seq, 3, least=3)
        found, locked = _q.euler(self._quat, axes, extrinsic)
        _warn(locked, suppress_warnings)
        return _scaled(found, degrees)

    def as_davenport(
        self, axes: Any, order: str, degrees: bool = False, *, suppress_warnings: bool = False
    ) -> Any:
        """Three angles around three axes, as `from_davenport` takes them.

        Shapes: ``axes: (*a, 3, 3)``.   Derivative: as `as_euler`; by the axes, too.
        Raises: ArgumentError: no such `order`, or axes that are not orthogonal.

        >>> r = Rotation.from_rotvec([0, 0, np.pi / 2])
        >>> r.as_davenport(np.eye(3)[::-1], "extrinsic", degrees=True).round(9).tolist()
        [90.0, 0.0, 0.0]
        """
        extrinsic = _order("as_davenport", order)
        axes = _unit_axes("as_davenport", numbers("as_davenport", axes, 3, 3))
        found, locked = _q.davenport(self._quat, axes, extrinsic)
        _warn(locked, suppress_warnings)
        return _scaled(found, degrees)

    def as_mrp(self) -> Any:
        """Vectors along the axes of length ``tan(angle / 4)``, at most 1.

        >>> Rotation.from_rotvec([0, 0, np.pi]).as_mrp().round(9).tolist()
        [0.0, 0.0, 1.0]
        """
        v, w = self._quat[..., :3], self._quat[..., 3:]
        return fnp.where(w < 0, -v, v) / (1.0 + fnp.absolute(w))

    # ------------------------------------------------------------ operations

    def apply(self, vectors: Any, inverse: bool = False) -> Any:
        """The vectors turned, or turned back.

        Shapes: ``(*b, 3) -> (*broadcast(a, b), 3)``.

        >>> Rotation.from_euler("x", 90, degrees=True).apply([0, 1, 0], inverse=True).round(
        ...     9
        ... ).tolist()
        [0.0, 0.0, -1.0]
        """
        v = numbers("apply", vectors, 3)
        m = self.as_matrix()
        m = fnp.swapaxes(m, -1, -2) if inverse else m
        return fnp.matmul(m, v[..., None])[..., 0]

    def __mul__(self, other: Rotation) -> Rotation:
        """First `other`, then this one."""
        if not isinstance(other, Rotation):
            return NotImplemented
        return _of(_q.units(_q.product(self._quat, other._quat)))

    def __pow__(self, n: Any, modulus: None = None) -> Rotation:
        """The rotation by n times the angle, which is at most pi."""
        if modulus is not None:
            raise ArgumentError(f"Rotation.__pow__: modulus={modulus!r} is not supported{where()}")
        n = array_of(n)
        if aval_of(n).size != 1 or n.ndim > 1:
            raise ShapeError(f"Rotation.__pow__: n is {aval_of(n)}; need a number{where()}")
        n = fnp.reshape(n, ())
        if not isinstance(n, Tracer) and n in (1, -1):
            return _of(self._quat) if n == 1 else self.inv()
        return _of(_q.from_vectors(n * self.as_rotvec()))

    def inv(self) -> Rotation:
        """The rotations back.

        >>> Rotation.from_rotvec([0.0, 0.0, 0.5]).inv().as_rotvec().tolist()
        [-0.0, -0.0, -0.5]
        """
        return _of(_q.inverse(self._quat))

    def magnitude(self) -> Any:
        """The angles, from 0 to pi.

        Derivative: 0 at the identity, where it has a kink.

        >>> float(Rotation.from_rotvec([0.0, 3.0, 4.0]).magnitude().round(9))
        1.283185307
        """
        return _q.angles_of(self._quat)

    def approx_equal(self, other: Rotation, atol: Any = None, degrees: bool = False) -> Any:
        """Whether the angles between the rotations are less than `atol`, by default 1e-8 radians.

        >>> bool(Rotation.identity().approx_equal(Rotation([0, 0, 0, -1])))
        True
        """
        other = _required("approx_equal", other)
        if atol is None and degrees:
            raise ArgumentError(f"Rotation.approx_equal: degrees=True needs atol{where()}")
        within = 1e-8 if atol is None else _radians(atol, degrees)
        return _q.angles_of(_q.product(other._quat, _q.inverse(self._quat))) < within

    def mean(self, weights: Any = None, axis: Any = None) -> Rotation:
        """The rotation with the least weighted sum of squared distances of matrices to these.

        Shapes: ``(*a)`` less `axis`, all by default; `weights` broadcast to a.
        Derivative: by the weights, too; there is none where the mean is not unique.
        Raises: ArgumentError: no rotations, or a negative weight.

        >>> r = Rotation.from_euler("z", [[0], [90]], degrees=True).mean([1, 1])
        >>> float(r.magnitude().round(4))
        0.7854
        """
        q = self._quat if self._quat.ndim > 1 else self._quat[None]
        count = q.ndim - 1
        axes = range(count) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        if any(not -count <= i < count for i in axes):
            raise ShapeError(f"Rotation.mean: axis={axis!r} of {count} axes{where()}")
        axes = tuple(sorted({i % count for i in axes}))
        if not all(q.shape):
            raise ArgumentError(f"Rotation.mean: there are no rotations{where()}")
        k = q[..., :, None] * q[..., None, :]
        if weights is not None:
            w = numbers("mean", weights)
            value = known(w)
            if value is not None and bool((value < 0).any()):
                raise ArgumentError(f"Rotation.mean: weights must not be negative{where()}")
            k = w[..., None, None] * k
        return _of(_q.leading(fnp.mean(k, axis=axes)))

    def reduce(self, left: Any = None, right: Any = None, return_indices: bool = False) -> Any:
        """Of ``left[i] * self * right[j]`` that with the least angle, and i and j, if asked for.

        >>> r = Rotation.from_euler("z", 100, degrees=True)
        >>> float(r.reduce(right=Rotation.create_group("C4")).magnitude().round(4))
        0.1745
        """
        beside = [
            None if r is None else fnp.reshape(_required("reduce", r)._quat, (-1, 4))
            for r in (left, right)
        ]
        if left is None and right is None:
            return (self, None, None) if return_indices else self
        first, last = (_q.identities((1,)) if q is None else q for q in beside)
        found, i, j = _alignment.reduced(fnp.reshape(self._quat, (-1, 4)), first, last)
        made = _of(fnp.reshape(found, self._quat.shape))
        if not return_indices:
            return made
        return made, None if left is None else i, None if right is None else j

    # ------------------------------------------------------------ as a container

    @property
    def single(self) -> bool:
        """Whether this is one rotation, not an array of them."""
        return bool(self._quat.ndim == 1)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array of rotations."""
        return tuple(self._quat.shape[:-1])

    def _rows(self, what: str) -> Any:
        if self.single:
            raise TypeError(f"a single rotation has no {what}{where()}")
        return self._quat

    def __getitem__(self, indexer: Any) -> Rotation:
        q = self._rows("elements")
        return _of(read(q, _at(indexer)))

    def __setitem__(self, indexer: Any, value: Rotation) -> None:
        q = copied(self._rows("elements"))
        value = _required("__setitem__", value)
        if isinstance(value._quat, Tracer) and not isinstance(q, Tracer):
            q = fnp.array(q)
        q[_at(indexer)] = value._quat
        self._quat = q

    def __len__(self) -> int:
        return int(self._rows("length").shape[0])

    def __iter__(self) -> Iterator[Rotation]:
        return map(_of, self._rows("elements"))

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"Rotation.from_quat({self._quat!r})"


def _at(indexer: Any) -> Any:
    return (*indexer, Ellipsis) if isinstance(indexer, tuple) else (indexer, Ellipsis)


def _of(q: Any) -> Rotation:
    """Rotations by quaternions of length 1, or by whatever stands for their array in a tree."""
    made = Rotation.__new__(Rotation)
    made._quat = q
    return made


register_node(Rotation, lambda r: ((r._quat,), None, ("_quat",)), lambda _, parts: _of(parts[0]))


def _required(name: str, r: Any) -> Rotation:
    if not isinstance(r, Rotation):
        raise ArgumentError(f"Rotation.{name}: found a {type(r).__name__}; need rotations{where()}")
    return r


def _shape(name: str, num: Any, shape: Any) -> tuple[int, ...]:
    if num is not None and shape is not None:
        raise ArgumentError(f"Rotation.{name}: give num= or shape=, not both{where()}")
    shape = () if shape is None else shape
    return (num,) if num is not None else (shape,) if isinstance(shape, int) else tuple(shape)


def _warn(locked: Any, suppress: bool) -> None:
    value = known(locked)
    if not suppress and value is not None and bool(np.any(value)):
        warnings.warn(
            "Gimbal lock: the angles are not unique, and the third is set to 0.", stacklevel=3
        )


def _turns(name: str, axes: Any, angles: Any, degrees: bool, extrinsic: bool) -> Rotation:
    """By angles around axes of length 1, one after another."""
    angles = _radians(numbers(name, angles), degrees)
    angles = angles[None] if angles.ndim == 0 else angles
    n = axes.shape[-2]
    if not 1 <= n <= 3 or angles.shape[-1] != n:
        raise ShapeError(
            f"Rotation.{name}: {n} axes and angles of shape {list(angles.shape)}; need up to three "
            f"axes, and one angle for each along the last axis{where()}"
        )
    half = 0.5 * angles
    axes = beside(half, axes) if isinstance(axes, np.ndarray) else axes
    all_of = fnp.sin(half)[..., None] * axes, fnp.cos(half) + fnp.zeros_like(axes[..., 0])
    q = _q.joined(*all_of)
    found = q[..., 0, :]
    for i in range(1, n):
        step = q[..., i, :]
        found = _q.product(step, found) if extrinsic else _q.product(found, step)
    return _of(found)
