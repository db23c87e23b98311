"""`funcgrad.scipy.spatial.transform` against SciPy, and its derivatives."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.errors import ArgumentError, HandoverError, ShapeError
from funcgrad.scipy.spatial.transform import Rotation, Slerp
from funcgrad.testing import check_all

theirs = pytest.importorskip("scipy.spatial.transform")

SEQUENCES = ["xyz", "ZYX", "zxz", "XYX", "yzx", "YXZ"]
AXES = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
shapes = st.sampled_from([(), (1,), (4,), (2, 3)])


@st.composite
def quaternions(draw: Any, shape: tuple[int, ...] | None = None) -> np.ndarray:
    """Also those of small angles and of angles near pi."""
    shape = draw(shapes) if shape is None else shape
    rng = np.random.default_rng(draw(st.integers(0, 9999)))
    q = rng.normal(size=(*shape, 4))
    near = draw(st.sampled_from([1.0, 1e-3, 1e-9]))
    q[..., :3] *= near
    return q if draw(st.booleans()) else np.roll(q, 1, -1)


def same_turn(p: Any, q: Any, atol: float = 1e-13) -> None:
    """The quaternions stand for the same rotations."""
    assert np.shape(p) == np.shape(q)
    np.testing.assert_allclose(np.abs(np.sum(np.multiply(p, q), axis=-1)), 1.0, atol=atol)
    sign = np.sign(np.sum(np.multiply(p, q), axis=-1))[..., None]
    np.testing.assert_allclose(p * sign, q, atol=atol)


def both(q: np.ndarray) -> tuple[Rotation, Any]:
    """Ours, with the numbers that SciPy has."""
    s = theirs.Rotation.from_quat(q)
    return Rotation(s.as_quat(), normalize=False), s


@given(q=quaternions())
def test_what_rotations_are_given_as(q: np.ndarray) -> None:
    np.testing.assert_allclose(Rotation(q).as_quat(), theirs.Rotation(q).as_quat(), atol=1e-15)
    r, s = both(q)
    assert (r.shape, r.single) == (s.shape, s.single)
    for run in (lambda f: f, funcgrad.jit):
        for name in ("as_matrix", "as_rotvec", "as_mrp", "magnitude"):
            found = run(lambda r, name=name: getattr(r, name)())(r)
            np.testing.assert_allclose(found, getattr(s, name)(), rtol=1e-13, atol=1e-15)
        found = run(lambda r: r.as_quat(canonical=True, scalar_first=True))(r)
        np.testing.assert_array_equal(found, s.as_quat(canonical=True, scalar_first=True))
    same_turn(r.inv().as_quat(), s.inv().as_quat())
    for n in (-1, 0, 1, 0.5, -2.3):
        same_turn((r**n).as_quat(), (s**n).as_quat())


@given(q=quaternions())
def test_what_they_are_made_of(q: np.ndarray) -> None:
    s = theirs.Rotation.from_quat(q)
    for name in ("matrix", "rotvec", "mrp"):
        value = getattr(s, f"as_{name}")()
        made, wanted = (getattr(cls, f"from_{name}")(value) for cls in (Rotation, theirs.Rotation))
        np.testing.assert_allclose(made.as_quat(), wanted.as_quat(), rtol=1e-13, atol=1e-15)
        # Small turns have all their digits.
        np.testing.assert_allclose(made.as_rotvec(), wanted.as_rotvec(), rtol=1e-9, atol=1e-18)


@given(q=quaternions(), noise=st.floats(0.0, 0.3))
def test_nearest_rotations_of_matrices(q: np.ndarray, noise: float) -> None:
    m = theirs.Rotation.from_quat(q).as_matrix()
    m = 1.5 * m + noise * np.random.default_rng(0).normal(size=m.shape)
    if np.all(np.linalg.det(m) > 0.1):
        wanted = theirs.Rotation.from_matrix(m).as_quat()
        same_turn(Rotation.from_matrix(m).as_quat(), wanted)
        found = funcgrad.jit(lambda m: Rotation.from_matrix(m).as_quat())(m)
        same_turn(found, wanted)


@pytest.mark.parametrize("seq", SEQUENCES)
@given(q=quaternions())
def test_euler_angles(seq: str, q: np.ndarray) -> None:
    r, s = both(q)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, wanted = r.as_euler(seq), s.as_euler(seq)
        degrees = r.as_euler(seq, degrees=True)
    locked = np.abs(np.abs(wanted[..., 1] - (seq[0] == seq[2]) * np.pi / 2) - np.pi / 2) < 1e-6
    off = np.where(locked[..., None], 0.0, np.sin((found - wanted) / 2))
    np.testing.assert_allclose(off, 0.0, atol=1e-8)
    np.testing.assert_allclose(degrees, np.rad2deg(found), rtol=1e-14)
    same_turn(Rotation.from_euler(seq, found).as_quat(), r.as_quat(), atol=1e-7)
    made = theirs.Rotation.from_euler(seq, wanted).as_quat()
    np.testing.assert_allclose(Rotation.from_euler(seq, wanted).as_quat(), made, atol=1e-14)


@pytest.mark.parametrize("order", ["extrinsic", "i"])
@given(q=quaternions((4,)))
def test_davenport_angles(order: str, q: np.ndarray) -> None:
    r, s = both(np.random.default_rng(1).normal(size=q.shape) + q)
    axes = np.stack([AXES[0], AXES[1], AXES[0] * 0.6 + AXES[2] * 0.8])
    found = r.as_davenport(axes, order)
    np.testing.assert_allclose(found, s.as_davenport(axes, order), atol=1e-9)
    made = theirs.Rotation.from_davenport(axes, order, found).as_quat()
    np.testing.assert_allclose(
        Rotation.from_davenport(axes, order, found).as_quat(), made, atol=1e-14
    )


@pytest.mark.parametrize("lock", [0.0, np.pi / 2, -np.pi / 2, np.pi])
@pytest.mark.parametrize("seq", SEQUENCES)
def test_gimbal_lock_has_values_and_no_derivative(seq: str, lock: float) -> None:
    symmetric = seq[0].lower() == seq[2].lower()
    if symmetric != (lock in (0.0, np.pi)):
        return
    r, s = both(theirs.Rotation.from_euler(seq, [0.3, lock, 0.4]).as_quat())
    with pytest.warns(UserWarning, match="Gimbal"):
        found = r.as_euler(seq)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_allclose(found, s.as_euler(seq), atol=1e-7)
        slopes = funcgrad.jacrev(lambda r: r.as_euler(seq))(r).as_quat()
        assert np.isnan(slopes).all()
    apart = Rotation.from_euler(seq, [[0.3, 1.1, 0.4], [0.3, lock, 0.4]])
    slopes = funcgrad.grad(lambda r: r.as_euler(seq, suppress_warnings=True)[0].sum())(apart)
    assert np.isfinite(slopes.as_quat()[0]).all()


@given(p=quaternions((4,)), q=quaternions(), at=st.sampled_from([(3,), (4, 3), (2, 1, 3)]))
def test_products_and_vectors(p: np.ndarray, q: np.ndarray, at: tuple[int, ...]) -> None:
    r, s = both(q)
    v = np.random.default_rng(0).normal(size=at)
    try:
        wanted = s.apply(v)
    except ValueError:
        with pytest.raises(ShapeError):
            r.apply(v)
    else:
        np.testing.assert_allclose(r.apply(v), wanted, atol=1e-14)
        np.testing.assert_allclose(r.apply(v, inverse=True), s.apply(v, inverse=True), atol=1e-14)
    r4, s4 = both(p)
    if r.shape in ((), (1,), (4,)):
        same_turn((r4 * r).as_quat(), (s4 * s).as_quat())
        same_turn((r * r4).as_quat(), (s * s4).as_quat())
        np.testing.assert_array_equal(r4.approx_equal(r, 2.0), s4.approx_equal(s, 2.0))


@given(q=quaternions((2, 5)), weigh=st.booleans(), axis=st.sampled_from([None, 0, 1, -1, (0, 1)]))
def test_means(q: np.ndarray, weigh: bool, axis: Any) -> None:
    q = q + np.array([0.5, 0.0, 0.0, 2.0])
    r, s = both(q)
    w = np.random.default_rng(0).uniform(size=5) if weigh else None
    same_turn(r.mean(w, axis).as_quat(), s.mean(w, axis).as_quat())
    same_turn(r[0].mean().as_quat(), s[0].mean().as_quat())


@given(seed=st.integers(0, 999), n=st.integers(1, 6), noise=st.sampled_from([0.0, 1e-3, 0.5]))
def test_alignment(seed: int, n: int, noise: float) -> None:
    rng = np.random.default_rng(seed)
    r = theirs.Rotation.random(rng=rng)
    b = rng.normal(size=(n, 3))
    a = r.apply(b) + noise * rng.normal(size=(n, 3))
    for w in (None, rng.uniform(0.5, 2.0, n), np.where(np.arange(n) == n // 2, np.inf, 1.0)):
        ours, left = Rotation.align_vectors(a, b, w)
        wanted, rssd = theirs.Rotation.align_vectors(a, b, w)
        same_turn(ours.as_quat(), wanted.as_quat(), atol=1e-9)
        np.testing.assert_allclose(left, rssd, atol=1e-6)
    if n > 2:
        *_, spread = Rotation.align_vectors(a, b, return_sensitivity=True)
        *_, wanted = theirs.Rotation.align_vectors(a, b, return_sensitivity=True)
        np.testing.assert_allclose(spread, wanted, rtol=1e-8)


def test_alignment_of_opposite_vectors() -> None:
    r, left = Rotation.align_vectors([0.0, 2.0, 0.0], [0.0, -1.0, 0.0])
    np.testing.assert_allclose(r.apply([0.0, -1.0, 0.0]), [0.0, 1.0, 0.0], atol=1e-15)
    assert left == 1.0
    slope = funcgrad.grad(lambda a: Rotation.align_vectors(a, [0.0, -1.0, 0.0])[0].magnitude())
    assert np.isnan(slope(np.array([0.0, 1.0, 0.0]))).all()
    with pytest.warns(UserWarning, match="poorly"):
        Rotation.align_vectors(np.eye(3)[[0, 0]], np.eye(3)[[1, 1]])


def test_containers() -> None:
    r, s = both(np.random.default_rng(0).normal(size=(5, 4)))
    for key in (0, -1, slice(1, 4), np.array([3, 0]), r.magnitude() > 1.0):
        np.testing.assert_array_equal(r[key].as_quat(), s[key].as_quat())
    assert len(r) == len(list(r)) == 5
    np.testing.assert_array_equal(
        Rotation.concatenate([r, r[0]]).as_quat(), theirs.Rotation.concatenate([s, s[0]]).as_quat()
    )
    r[1:3], s[1:3] = r[0], s[0]
    np.testing.assert_array_equal(r.as_quat(), s.as_quat())
    assert (
        Rotation.random(3, rng=1)
        .approx_equal(both(theirs.Rotation.random(3, rng=1).as_quat())[0])
        .all()
    )
    assert Rotation.identity(shape=(2, 3)).shape == (2, 3)
    assert (r[:0].shape, r[:0].as_rotvec().shape, bool(r[0])) == ((0,), (0, 3), True)
    for what in (len, list, lambda x: x[0]):
        with pytest.raises(TypeError, match="single"):
            what(r[0])

    def replaced(v: Any) -> Any:
        many = Rotation.identity(2)
        many[1] = Rotation.from_rotvec(v)
        return many.as_rotvec()[1]

    np.testing.assert_allclose(funcgrad.jacrev(replaced)(np.zeros(3)), np.eye(3))


@pytest.mark.parametrize("group", ["T", "O", "C3", "D4"])
def test_reductions(group: str) -> None:
    r, s = both(np.random.default_rng(0).normal(size=(7, 4)))
    g, h = Rotation.create_group(group), theirs.Rotation.create_group(group)
    for left, right in ((g, None), (None, g), (g, g[:2])):
        before, after = (None if x is None else theirs.Rotation(x.as_quat()) for x in (left, right))
        found, wanted = r.reduce(left, right, True), s.reduce(before, after, True)
        np.testing.assert_allclose(found[0].magnitude(), wanted[0].magnitude(), atol=1e-13)
    same_turn(g.as_quat(), h.as_quat())
    assert r.reduce() is r


@given(seed=st.integers(0, 99), where=st.sampled_from([(), (4,)]))
def test_slerp(seed: int, where: tuple[int, ...]) -> None:
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.uniform(0.1, 1.0, 5))
    r, s = both(rng.normal(size=(5, 4)))
    t = np.clip(rng.uniform(times[0], times[-1], where), times[0], times[-1])
    ours, other = Slerp(times, r), theirs.Slerp(times, s)
    same_turn(ours(t).as_quat(), other(t).as_quat())
    same_turn(ours(times).as_quat(), r.as_quat())
    np.testing.assert_allclose(ours.rotvecs, other.rotvecs, atol=1e-13)
    found = funcgrad.jit(lambda x, t: x(t).as_quat())(ours, t)
    same_turn(found, other(t).as_quat())
    with pytest.raises(ArgumentError, match="within"):
        ours(times[-1] + 1.0)


# ---------------------------------------------------------------- derivatives


def passes(f: Any, args: Any) -> None:
    report = check_all(f, args)
    assert all(o.status != "failed" for o in report.outcomes), str(report)


def euler(v: Any) -> Any:
    return Rotation.from_rotvec(v).as_euler("xyz")


V = np.random.default_rng(0).normal(size=(3, 3))


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-4, 0.3, 0.4498, 0.9, 1.0, 3.1, 3.1415])
def test_derivatives_at_all_angles(angle: float) -> None:
    """Of vectors to rotations and back, which is the identity, to second order; of the others."""
    v = angle * np.array([2.0, -1.0, 2.0]) / 3.0

    def back(v: Any) -> Any:
        return Rotation.from_rotvec(v).as_rotvec()

    def through_matrix(v: Any) -> Any:
        return Rotation.from_matrix(Rotation.from_rotvec(v).as_matrix()).as_rotvec()

    for f, atol in ((back, 1e-13), (through_matrix, 1e-11 if angle < 3.0 else 1e-7)):
        np.testing.assert_allclose(funcgrad.jacfwd(f)(v), np.eye(3), atol=atol)
        np.testing.assert_allclose(funcgrad.jacrev(f)(v), np.eye(3), atol=atol)
        bend = funcgrad.jacfwd(funcgrad.jacrev(f))(v)
        np.testing.assert_allclose(bend, 0.0, atol=1e3 * atol)
    passes(lambda v: Rotation.from_rotvec(v).as_matrix(), (v,))
    passes(lambda v: Rotation.from_rotvec(v).as_quat(), (v,))
    if angle < 3.14:
        passes(lambda v: Rotation.from_rotvec(v).as_mrp(), (v,))
        passes(lambda v: Rotation.from_mrp(v).as_rotvec(), (0.25 * v,))
    if 1e-3 < angle < 3.0:
        passes(euler, (v,))
        passes(lambda v: Rotation.from_rotvec(v).magnitude(), (v,))
        passes(
            lambda v, n: (Rotation.from_rotvec(v) ** n).apply([1.0, 2.0, 3.0]), (v, np.array(0.7))
        )


def test_derivative_of_a_turn_is_a_cross_product() -> None:
    """d/dv of the rotation by v at 0 applied to x is v x x, and the second one v x (v x x)."""
    x, v = np.array([1.0, 2.0, 3.0]), np.array([0.3, -0.5, 0.2])

    def turned(s: Any) -> Any:
        return Rotation.from_rotvec(s * v).apply(x)

    np.testing.assert_allclose(funcgrad.jacfwd(turned)(0.0), np.cross(v, x), rtol=1e-14)
    np.testing.assert_allclose(
        funcgrad.jacfwd(funcgrad.jacfwd(turned))(0.0), np.cross(v, np.cross(v, x)), rtol=1e-14
    )
    assert (
        funcgrad.grad(lambda v: Rotation.from_rotvec(v).magnitude())(np.zeros(3)).tolist()
        == [0] * 3
    )


CASES = {
    "quat": (lambda q: Rotation(q).as_matrix(), (np.array([0.3, -0.2, 0.5, 0.9]),)),
    "matrix": (lambda m: Rotation.from_matrix(m).as_quat(), (np.eye(3) + 0.2 * V,)),
    "matrix, at one": (lambda m: Rotation.from_matrix(m).as_quat(), (np.eye(3),)),
    "euler": (lambda a: Rotation.from_euler("ZXY", a).as_matrix(), (V,)),
    "davenport": (
        lambda x, a: Rotation.from_davenport(x, "e", a).as_quat(),
        (AXES[:1] * 2.0, np.array([0.4])),
    ),
    "as davenport": (
        lambda v: Rotation.from_rotvec(v).as_davenport(AXES, "i"),
        (np.array([0.3, 0.4, -0.5]),),
    ),
    "apply": (lambda v, x: Rotation.from_rotvec(v).apply(x), (V, V[::-1] + 1.0)),
    "back": (lambda v, x: Rotation.from_rotvec(v).apply(x, inverse=True), (V, V[0])),
    "product": (
        lambda u, v: (Rotation.from_rotvec(u) * Rotation.from_rotvec(v).inv()).as_rotvec(),
        (V[0], 0.3 * V[1]),
    ),
    "mean": (
        lambda v, w: Rotation.from_rotvec(v).mean(w).as_matrix(),
        (0.5 * V, np.array([1.0, 2.0, 0.5])),
    ),
    "mean of two": (lambda v: Rotation.from_rotvec(v).mean().as_matrix(), (0.5 * V[:2],)),
    "alignment": (
        lambda a, b, w: fnp.append(
            Rotation.align_vectors(a, b, w)[0].as_rotvec(), Rotation.align_vectors(a, b, w)[1]
        ),
        (V, 2.0 * V[::-1] + 1.0, np.array([1.0, 2.0, 0.5])),
    ),
    "alignment of two": (
        lambda a, b: Rotation.align_vectors(a, b)[0].as_matrix(),
        (V[:2], np.roll(V[:2], 1, 1)),
    ),
    "alignment of one": (
        lambda a, b: Rotation.align_vectors(a, b)[0].as_matrix(),
        (V[0], V[1]),
    ),
    "alignment through one": (
        lambda a, b: Rotation.align_vectors(a, b, [1.0, np.inf, 2.0])[0].as_matrix(),
        (V, np.roll(V, 1, 1) + 0.1),
    ),
    "sensitivity": (
        lambda a: Rotation.align_vectors(a, V, return_sensitivity=True)[2],
        (V + 0.1 * V[::-1],),
    ),
    "reduce": (
        lambda v: Rotation.from_rotvec(v).reduce(Rotation.create_group("O")).as_matrix(),
        (V,),
    ),
    "slerp": (
        lambda x, v, t: Slerp(x, Rotation.from_rotvec(v))(t).as_matrix(),
        (np.array([0.0, 1.0, 2.5]), V, np.array([0.3, 1.1])),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name: str) -> None:
    passes(*CASES[name])


def test_exact_alignments_have_derivatives() -> None:
    """Of points of a symmetric body, where the singular values are equal."""
    points = np.concatenate([np.eye(3), -np.eye(3)])

    def found(v: Any) -> Any:
        return Rotation.align_vectors(Rotation.from_rotvec(v).apply(points), points)[0].as_rotvec()

    v = np.array([0.3, -0.2, 0.1])
    for d in (funcgrad.jacfwd, funcgrad.jacrev):
        np.testing.assert_allclose(d(found)(v), np.eye(3), atol=1e-12)
    left = funcgrad.grad(lambda a: Rotation.align_vectors(a, points)[1])(points)
    np.testing.assert_array_equal(left, np.zeros((6, 3)))


def test_rotations_are_trees() -> None:
    r = Rotation.from_rotvec(V)
    x = np.array([1.0, 2.0, 3.0])
    each = funcgrad.vmap(lambda r: r.apply(x))(r)
    np.testing.assert_allclose(each, r.apply(x), rtol=1e-14)
    made = funcgrad.vmap(funcgrad.jit(Rotation.from_rotvec))(V)
    assert isinstance(made, Rotation)
    np.testing.assert_array_equal(made.as_quat(), r.as_quat())
    slope = funcgrad.grad(lambda r: r.apply(x)[0])(r[0])
    assert (isinstance(slope, Rotation), slope.shape) == (True, ())
    # Along a turn by w, which moves the quaternion by w q / 2, it is the derivative of that turn.
    w = np.array([0.2, 0.5, -0.4])
    turn = funcgrad.grad(lambda s: (Rotation.from_rotvec(s * w) * r[0]).apply(x)[0])(0.0)
    half = np.append(w / 2, 0.0)
    q = r[0].as_quat()
    moved = np.append(
        half[3] * q[:3] + q[3] * half[:3] + np.cross(half[:3], q[:3]), -half[:3] @ q[:3]
    )
    np.testing.assert_allclose(slope.as_quat() @ moved, turn, rtol=1e-12)

    def step(r: Rotation, v: Any) -> tuple[Rotation, Any]:
        r = Rotation.from_rotvec(v) * r
        return r, r.as_rotvec()

    last, rows = funcgrad.lax.scan(step, Rotation.identity(), V)
    np.testing.assert_allclose(rows[-1], last.as_rotvec(), rtol=1e-14)
    same_turn(last.as_quat(), (r[2] * r[1] * r[0]).as_quat())


def test_batches_of_unknown_values_are_nan_where_there_is_no_rotation() -> None:
    q = funcgrad.jit(lambda q: Rotation(q).as_quat())(np.zeros(4))
    m = funcgrad.jit(lambda m: Rotation.from_matrix(m).as_quat())(np.stack([-np.eye(3), np.eye(3)]))
    t = funcgrad.jit(Slerp([0.0, 1.0], Rotation.identity(2)))(2.0)
    assert np.isnan([*q, *m[0], *t.as_quat()]).all()
    np.testing.assert_array_equal(m[1], [0.0, 0.0, 0.0, 1.0])


def test_mistakes_are_named() -> None:
    r = Rotation.identity(2)
    for f, error, text in (
        (lambda: Rotation(np.zeros(3)), ShapeError, r"last axes \[4\]"),
        (lambda: Rotation(np.zeros(4)), ArgumentError, "length 0"),
        (lambda: Rotation.from_matrix(-np.eye(3)), ArgumentError, "right-handed"),
        (lambda: Rotation.from_rotvec([1j, 0.0, 0.0]), ArgumentError, "real numbers"),
        (lambda: Rotation.from_euler("xxy", [1, 2, 3]), ArgumentError, "twice in a row"),
        (lambda: Rotation.from_euler("xY", [1, 2]), ArgumentError, "'xY'"),
        (lambda: Rotation.from_euler("xy", [1, 2, 3]), ShapeError, "one for each"),
        (lambda: r.as_euler("xy"), ArgumentError, "need three of"),
        (lambda: r.as_davenport(np.ones((3, 3)), "e"), ArgumentError, "orthogonal"),
        (lambda: Rotation.from_davenport(np.eye(3), "up", [1, 2, 3]), ArgumentError, "'up'"),
        (lambda: r ** np.ones(2), ShapeError, "need a number"),
        (lambda: r[:0].mean(), ArgumentError, "no rotations"),
        (lambda: r.mean([-1.0, 1.0]), ArgumentError, "negative"),
        (lambda: r.mean(axis=1), ShapeError, "axis=1"),
        (lambda: r.approx_equal(r, degrees=True), ArgumentError, "atol"),
        (lambda: Rotation.concatenate([r, 1.0]), ArgumentError, "found a float"),
        (lambda: Rotation.identity(2, shape=(3,)), ArgumentError, "not both"),
        (lambda: Rotation.align_vectors(np.eye(3), np.ones(3)), ShapeError, "one shape"),
        (lambda: Rotation.align_vectors(np.eye(3), np.eye(3), [1, 2]), ShapeError, "weights"),
        (
            lambda: Rotation.align_vectors(np.eye(3), np.eye(3), [1, -1, 1]),
            ArgumentError,
            "negative",
        ),
        (lambda: Rotation.align_vectors(np.zeros(3), np.ones(3)), ArgumentError, "no direction"),
        (
            lambda: Rotation.align_vectors(np.ones(3), np.ones(3), return_sensitivity=True),
            ArgumentError,
            "no sensitivity",
        ),
        (lambda: Slerp([0, 1], r[0]), ArgumentError, "two or more"),
        (lambda: Slerp([0, 1, 2], r), ShapeError, "one for each"),
        (lambda: Slerp([1, 0], r), ArgumentError, "rise"),
    ):
        with pytest.raises(error, match=text):
            f()


def test_scipys_own_name_ours() -> None:
    one = theirs.Rotation.identity()
    for name, f in (
        ("Rotation.from_rotvec", lambda v: theirs.Rotation.from_rotvec(v).as_matrix()),
        ("Rotation.apply", lambda v: one.apply(v)),
        ("Slerp", lambda v: theirs.Slerp(v, theirs.Rotation.identity(3))),
    ):
        with pytest.raises(
            HandoverError, match=rf"use funcgrad\.scipy\.spatial\.transform\.{name}"
        ):
            funcgrad.jacfwd(f)(np.ones(3) * 0.3)
