"""Control flow: branches and loops are what Python's are, under every transform."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad import lax, tree
from funcgrad.errors import (
    ArgumentError,
    ConcretizationError,
    MutationError,
    NotLinearError,
    ShapeError,
)
from funcgrad.jaxpr import check_jaxpr
from funcgrad.testing import check_all

RNG = np.random.default_rng(0)
W = RNG.normal(size=(3, 3)) * 0.5
X = RNG.normal(size=(5, 3))
V = np.array([0.3, -0.7, 1.2])


def assert_close(found: Any, expected: Any) -> None:
    """The same trees of the same numbers."""
    a, a_def = tree.flatten(found)
    b, b_def = tree.flatten(expected)
    assert a_def == b_def
    for x, y in zip(a, b, strict=True):
        assert np.shape(x) == np.shape(y)
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-11)


# ---------------------------------------------------------------- programs, and the same in Python


def python_scan(
    f: Any, init: Any, xs: Any = None, length: Any = None, reverse: bool = False
) -> Any:
    """`scan` without any of its code."""
    count = length if xs is None else len(tree.leaves(xs)[0])
    ys = []
    for i in reversed(range(count)) if reverse else range(count):
        init, y = f(init, tree.map(lambda x: x[i], xs))  # noqa: B023
        ys.append(y)
    if reverse:
        ys.reverse()
    return init, tree.map(lambda *column: fnp.stack(column), *ys)


def python_fori(lower: int, upper: int, body: Any, c: Any) -> Any:
    for i in range(lower, upper):
        c = body(i, c)
    return c


def python_while(test: Any, body: Any, c: Any) -> Any:
    while test(c):
        c = body(c)
    return c


class Python:
    """The functions of `lax` as Python's own statements."""

    scan = staticmethod(python_scan)
    fori_loop = staticmethod(python_fori)
    while_loop = staticmethod(python_while)
    cond = staticmethod(lambda p, f, g, *xs: f(*xs) if p else g(*xs))
    switch = staticmethod(lambda i, fs, *xs: fs[min(max(int(i), 0), len(fs) - 1)](*xs))
    map = staticmethod(lambda f, xs: fnp.stack([f(x) for x in xs]))


def recurrent(lax: Any, w: Any, x: Any) -> Any:
    """Closes over `w`; rows, results and carry move."""

    def body(c: Any, x: Any) -> Any:
        h = fnp.tanh(w @ c + x)
        return h, {"h": h * c, "s": (h * x).sum()}

    c, ys = lax.scan(body, fnp.zeros(3), x)
    return (c * c).sum() + (ys["h"] ** 2).sum() + ys["s"][1] * ys["s"][2]


def backwards(lax: Any, w: Any, x: Any) -> Any:
    """In reverse, with a tree as carry and an integer in it."""

    def body(c: Any, xs: Any) -> Any:
        (a, n), (x, y) = c, xs
        a = a * 0.5 + fnp.sin(x) @ w * y
        return (a, n + 1), a * n

    (a, n), ys = lax.scan(body, (fnp.ones(3), 0), (x, x[:, 0]), reverse=True)
    return (a * n).sum() + fnp.cos(ys).sum()


def power(lax: Any, w: Any, x: Any) -> Any:
    """By length alone; nothing is stacked; a Python number at first."""
    return lax.scan(lambda c, _: (c * fnp.exp(w[0, 0] * x[0, 0]), None), 1.0, length=4)[0]


def nested(lax: Any, w: Any, x: Any) -> Any:
    """A scan in a scan, with an integer carry inside."""

    def outer(c: Any, row: Any) -> Any:
        def inner(s: Any, v: Any) -> Any:
            t, k = s
            return (t * v + c[0] * k, k + 1), t

        (t, _), ts = lax.scan(inner, (w[1, 1], 0), row)
        return c + t * row, ts.sum()

    c, ys = lax.scan(outer, x[0], x)
    return c.sum() + (ys * ys).sum()


def branching(lax: Any, w: Any, x: Any) -> Any:
    """A branch in every step of a scan; one branch closes over `w`, one saves nothing."""

    def body(c: Any, x: Any) -> Any:
        c = lax.cond(x.sum() > 0, lambda c: fnp.tanh(w @ c), lambda c: c - x, c)
        return c, lax.switch(
            fnp.floor(x[0] * 2).astype(int), [fnp.sin, lambda c: c * w[0], fnp.ones_like], c
        )

    c, ys = lax.scan(body, x[0], x)
    return c.sum() + (ys**2).sum()


def growing(lax: Any, w: Any, x: Any) -> Any:
    """A while loop whose number of steps depends on the values."""
    y, n = lax.while_loop(
        lambda s: (s[0] ** 2).sum() < 50.0,
        lambda s: (s[0] * 1.5 + fnp.sin(w @ s[0]), s[1] + 1),
        (x[0], 0),
    )
    return (y * y).sum() * n


def counting(lax: Any, w: Any, x: Any) -> Any:
    """`fori_loop`, reading and writing at its counter, and `map`."""

    def body(i: Any, z: Any) -> Any:
        z[i, 0] = z[i - 1] @ w[0] + fnp.sin(z[i, 1])
        return z

    z = lax.fori_loop(1, 4, body, x)
    return (lax.map(lambda row: (row**3).sum() * w[2, 2], z) ** 2).sum()


PROGRAMS: dict[str, Callable[[Any, Any, Any], Any]] = {
    f.__name__: f
    for f in (
        recurrent,
        backwards,
        power,
        nested,
        branching,
        growing,
        counting,
    )
}
every_program = pytest.mark.parametrize("name", PROGRAMS)


def ours(name: str) -> Callable[[Any, Any], Any]:
    return lambda w, x: PROGRAMS[name](lax, w, x)


def pythons(name: str) -> Callable[[Any, Any], Any]:
    # `counting` writes into what it is given: in Python that is the caller's
    return lambda w, x: PROGRAMS[name](Python, w, x * 1.0)


def grad(f: Any) -> Any:
    return funcgrad.grad(f, (0, 1))


def tangent(f: Any) -> Any:
    return lambda w, x: funcgrad.jvp(f, (w, x), (W.T, X[::-1]))


def hessian(f: Any) -> Any:
    return funcgrad.hessian(f, (0, 1))


def twice_reverse(f: Any) -> Any:
    return funcgrad.jacrev(funcgrad.grad(f, 1), 1)


def curved(f: Any) -> Any:
    return funcgrad.jacfwd(lambda w: funcgrad.jvp(lambda x: f(w, x), (X,), (X[::-1],))[1])


def value(f: Any) -> Any:
    return f


TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "value": value,
    "grad": grad,
    "jvp": tangent,
    "hessian": hessian,
    "twice_reverse": twice_reverse,
}
every_transform = pytest.mark.parametrize("transform", TRANSFORMS)


# ---------------------------------------------------------------- the same as Python


@every_program
@every_transform
def test_as_in_python(name: str, transform: str) -> None:
    """Eagerly, in a program, and of a program."""
    t = TRANSFORMS[transform]
    expected = t(pythons(name))(W, X)
    assert_close(t(ours(name))(W, X), expected)
    assert_close(funcgrad.jit(t(ours(name)))(W, X), expected)
    assert_close(t(funcgrad.jit(ours(name)))(W, X), expected)


@every_program
def test_curvature(name: str) -> None:
    expected = curved(pythons(name))(W)
    assert_close(funcgrad.jit(curved(ours(name)))(W), expected)


@every_program
def test_programs_are_well_typed(name: str) -> None:
    for t in (value, grad, tangent, twice_reverse):
        check_jaxpr(funcgrad.make_jaxpr(t(ours(name)))(W, X))


XS = np.stack([X, -X, X[::-1], 0.3 * X])


@every_program
@pytest.mark.parametrize("transform", ["value", "grad", "jvp", "twice_reverse"])
def test_mapped_is_one_by_one(name: str, transform: str) -> None:
    t = TRANSFORMS[transform]

    rows = [t(pythons(name))(W, x) for x in XS]
    expected = tree.map(lambda *ys: np.stack(ys), *rows)
    axes = (None, 0)
    assert_close(funcgrad.vmap(t(ours(name)), axes)(W, XS), expected)
    assert_close(funcgrad.jit(funcgrad.vmap(t(ours(name)), axes))(W, XS), expected)
    assert_close(funcgrad.vmap(t(funcgrad.jit(ours(name))), axes)(W, XS), expected)
    assert_close(funcgrad.vmap(funcgrad.jit(t(ours(name))), axes)(W, XS), expected)


@every_program
def test_gradient_of_mapped(name: str) -> None:
    rows = [grad(pythons(name))(W, x) for x in XS]
    expected = (sum(w for w, _ in rows), np.stack([x for _, x in rows]))

    def total(w: Any, xs: Any) -> Any:
        return funcgrad.vmap(ours(name), (None, 0))(w, xs).sum()

    assert_close(grad(total)(W, XS), expected)
    assert_close(funcgrad.jit(grad(total))(W, XS), expected)
    assert_close(grad(funcgrad.jit(total))(W, XS), expected)


@every_program
def test_mapped_twice(name: str) -> None:
    ws = np.stack([W, W.T])
    expected = np.array([[pythons(name)(w, x) for x in XS[:3]] for w in ws])
    inner = funcgrad.vmap(ours(name), (None, 0))
    assert_close(funcgrad.vmap(inner, (0, None))(ws, XS[:3]), expected)
    assert_close(funcgrad.jit(funcgrad.vmap(inner, (0, None)))(ws, XS[:3]), expected)


@every_program
def test_gradients_check(name: str) -> None:
    check_all(ours(name), (W, X)).raise_if_failed()
    check_all(funcgrad.jit(ours(name)), (W, X), only=["numerical", "transpose"]).raise_if_failed()


# ---------------------------------------------------------------- what is run, and how often


def test_plain_values_run_plain_python() -> None:
    """Nothing is traced: the functions see arrays, once per step, and may branch on them."""
    seen: list[Any] = []

    def body(c: Any, x: Any) -> Any:
        seen.append(type(x))
        return (c + x if x > 1 else c * 2.0), x

    c, ys = lax.scan(body, 1.0, np.array([1.0, 3.0]))
    assert (c, ys.tolist(), seen) == (5.0, [1.0, 3.0], [np.float64] * 2)
    assert lax.cond(np.bool_(True), lambda: 1, lambda: pytest.fail("not taken")) == 1
    assert lax.while_loop(lambda c: c < 10, lambda c: c * 2 if c < 5 else c + 1, 1) == 10
    slope = funcgrad.grad(lambda x: lax.scan(body, x, np.array([1.0, 3.0]))[0])(1.0)
    assert slope == 2.0
    with pytest.raises(ConcretizationError):
        funcgrad.jit(lambda x: lax.scan(body, 1.0, x)[0])(np.ones(2))


def test_branches_of_cond_may_have_operands_of_their_own() -> None:
    def f(x: Any, y: Any) -> Any:
        return lax.cond(x > 0, {"a": x}, lambda d: d["a"] ** 2, (y, x), lambda t: t[0] * t[1])

    for x, y in ((3.0, 5.0), (-3.0, 5.0)):
        expected = ((2 * x, 0.0) if x > 0 else (y, x), x**2 if x > 0 else x * y)
        for derive in (funcgrad.grad(f, (0, 1)), funcgrad.jit(funcgrad.grad(f, (0, 1)))):
            assert (derive(x, y), f(x, y)) == expected
    with pytest.raises(ArgumentError, match="cond: the first argument must be a function"):
        lax.cond(True, 1.0, np.sin, 2.0, 3.0)


def equations(jaxpr: Any) -> list[str]:
    return [eqn.prim.name for eqn in jaxpr.eqns]


@pytest.mark.parametrize("length", [2, 50])
def test_the_gradient_of_a_scan_is_two_scans(length: int) -> None:
    def f(w: Any, x: Any) -> Any:
        return lax.scan(lambda c, x: (fnp.tanh(w @ c + x), None), fnp.zeros(3), x)[0].sum()

    x = np.ones((length, 3))
    for t in (funcgrad.grad, lambda f: funcgrad.jit(funcgrad.grad(f)), grad):
        names = equations(funcgrad.make_jaxpr(t(f))(W, x))
        names = names if names != ["jit_call"] else ["scan", "scan"]
        assert names.count("scan") == 2
        assert len(names) < 8
    inner = funcgrad.make_jaxpr(funcgrad.jit(funcgrad.grad(f)))(W, x).eqns[-1].params["jaxpr"]
    assert equations(inner).count("scan") == 2


def saved_shapes(f: Any, *args: Any) -> list[tuple[int, ...]]:
    """The shapes of what the forward scan of a gradient stacks for the way back."""
    eqns = funcgrad.make_jaxpr(funcgrad.grad(f))(*args).eqns
    if eqns[0].prim.name == "jit_call":
        eqns = eqns[0].params["jaxpr"].eqns
    first = next(eqn for eqn in eqns if eqn.prim.name == "scan")
    return [v.aval.shape for v in first.outs[1:]]


def test_what_does_not_change_is_not_stacked() -> None:
    def f(x: Any, big: Any) -> Any:
        big = big * x[0]

        def body(c: Any, x: Any) -> Any:
            return c * (fnp.exp(big) + fnp.full((20, 20), 0.5) * x).sum(), None

        return lax.scan(body, 1.0, x)[0]

    args = np.ones(7), np.ones((20, 20))
    assert (7, 20, 20) not in saved_shapes(f, *args)
    assert (7, 20, 20) not in saved_shapes(funcgrad.jit(f), *args)
    assert_close(funcgrad.jit(funcgrad.grad(f))(*args), funcgrad.grad(f)(*args))


def test_what_a_batch_adds_to_every_step_is_not_stacked() -> None:
    """`w` is brought to the carry's shape once, not in every step."""

    def one(w: Any, x: Any) -> Any:
        return lax.scan(lambda c, x: (c * w + x, None), fnp.zeros(3), x)[0]

    def f(w: Any, x: Any) -> Any:
        return (funcgrad.vmap(one)(w, x) ** 2).sum()

    w, x = np.linspace(0.5, 1.0, 4), np.ones((4, 7, 3))
    assert saved_shapes(f, w, x) == [(7, 4, 3)]
    assert_close(funcgrad.jit(funcgrad.grad(f))(w, x), funcgrad.grad(f)(w, x))


def test_results_are_saved_once() -> None:
    def f(x: Any) -> Any:
        def body(c: Any, x: Any) -> Any:
            y = fnp.tanh(x)
            return c, y

        return lax.scan(body, 0.0, x)[1].sum()

    assert saved_shapes(f, np.ones(7)) == [(7,)]


def chain(x: Any, **options: Any) -> Any:
    c, ys = lax.scan(lambda c, x: (fnp.sin(c) * x, fnp.cos(c) + x), 0.5, x, **options)
    return c + (ys * ys).sum()


def test_checkpoints_keep_the_carry_only() -> None:
    def steps(**options: Any) -> list[tuple[int, ...]]:
        return saved_shapes(lambda x: chain(x, **options), np.ones(100))

    assert [shape[0] for shape in steps()] == [100] * len(steps())
    assert steps(checkpoint_every=10) == [(10, 10), (10,)]  # the results, and one carry a block


ROWS = np.linspace(0.3, 1.2, 7)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3, 7, 9])
@pytest.mark.parametrize("option", ["checkpoint_every", "unroll"])
def test_blocks_change_nothing(option: str, k: int, reverse: bool) -> None:
    def blocked(x: Any) -> Any:
        return chain(x, reverse=reverse, **{option: k})

    def plain(x: Any) -> Any:
        return chain(x, reverse=reverse)

    for t in (value, funcgrad.grad, funcgrad.hessian):
        expected = t(plain)(ROWS)
        assert_close(t(blocked)(ROWS), expected)
        assert_close(funcgrad.jit(t(blocked))(ROWS), expected)
        assert_close(t(funcgrad.jit(blocked))(ROWS), expected)


def test_checkpointed_steps_may_branch_on_values() -> None:
    def f(x: Any) -> Any:
        step = lambda c, x: (c * x if x > 0.7 else c + x, None)  # noqa: E731
        return lax.scan(step, 1.0, x, checkpoint_every=2)[0]

    check_all(f, (ROWS,), only=["numerical", "transpose"]).raise_if_failed()


def test_unrolled_steps_are_written_out() -> None:
    def sines(unroll: int) -> int:
        jaxpr = funcgrad.make_jaxpr(lambda x: chain(x, unroll=unroll))(np.ones(6))
        return sum(
            equations(e.params["jaxpr"]).count("sin") for e in jaxpr.eqns if "jaxpr" in e.params
        )

    assert [sines(1), sines(3), sines(6)] == [1, 3, 6]


# ---------------------------------------------------------------- every example for itself


def test_examples_run_their_own_branch_only() -> None:
    x = np.array([0.0, 4.0, -1.0])
    f = lambda x: lax.cond(x > 0, fnp.sqrt, lambda x: x * x, x)  # noqa: E731
    with np.errstate(all="raise"):
        assert funcgrad.vmap(f)(x).tolist() == [0.0, 2.0, 1.0]
        assert funcgrad.vmap(funcgrad.grad(f))(x).tolist() == [0.0, 0.25, -2.0]
        nowhere = lambda i, x: lax.switch(i, [fnp.sin, fnp.log, fnp.cos], x)  # noqa: E731
        assert_close(
            funcgrad.vmap(nowhere)(np.array([0, 2, 0]), -x),
            np.array([0, np.cos(4), 0.8414709848078965]),
        )


def test_examples_stop_when_they_are_done() -> None:
    """A row that would overflow if it went on with the others does not."""

    def f(x: Any) -> Any:
        return lax.while_loop(lambda c: c < 1e6, lambda c: c * c * c, x)

    x = np.array([1.001, 1e5, 1e7, 3.0])
    expected = np.array([python_while(lambda c: c < 1e6, lambda c: c * c * c, v) for v in x])
    slopes = np.array([funcgrad.grad(f)(v) for v in x])
    with np.errstate(all="raise"):
        assert_close(funcgrad.vmap(f)(x), expected)
        assert_close(funcgrad.vmap(funcgrad.grad(f))(x), slopes)
    nan = np.array([np.nan, 2.0])
    assert_close(funcgrad.vmap(f)(nan), np.array([np.nan, f(2.0)]))


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=6),
    st.sampled_from(["numpy", "c"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([1, 9]),
)
def test_finished_examples_ask_for_nothing(
    counts: list[int], printer: str, own_table: bool, differentiated: bool, width: int
) -> None:
    """A row that is done reads no place behind its last one, and divides by nothing of its own."""

    def f(x: Any, n: Any, table: Any) -> Any:
        def body(state: Any) -> Any:
            i, y = state
            return i + 1, y * fnp.take(table, i, axis=0).mean() / fnp.sqrt(n - i)

        return lax.while_loop(lambda state: state[0] < n, body, (0, x))[1]

    n = np.array(counts)
    x = np.linspace(0.5, 1.5, n.size)
    longest = max(counts, default=0)
    shape = n.size, longest, width  # wide ones are not chosen anew in every step
    tables = np.arange(1.0, 1 + n.size * longest * width).reshape(shape) / 7
    if not own_table:
        tables[:] = tables[:1]
    g = funcgrad.grad(f) if differentiated else f
    expected = np.array([g(*row) for row in zip(x, n, tables, strict=True)])
    mapped = funcgrad.vmap(g, (0, 0, 0 if own_table else None))
    with funcgrad.config(printer), np.errstate(all="raise"):
        found = funcgrad.jit(mapped)(x, n, tables if own_table else tables[0])
    assert_close(found, expected)


@given(
    st.lists(st.integers(-3, 4), min_size=1, max_size=6),
    st.sampled_from(["eager", "jit inside", "jit outside"]),
)
def test_mapped_switch_and_loop_counts(indices: list[int], how: str) -> None:
    """Any mixture of branches and of numbers of steps, with gradients."""
    branches: list[Callable[[Any], Any]] = [np.sin, lambda x: x * x, lambda x: 2.0 * np.exp(x)]

    def f(i: Any, x: Any) -> Any:
        y = lax.switch(i, branches, x)
        return lax.fori_loop(0, i, lambda k, c: c * x + k, y)

    def plain(i: int, x: Any) -> Any:
        return python_fori(0, i, lambda k, c: c * x + k, branches[min(max(i, 0), 2)](x))

    xs = np.linspace(0.5, 1.5, len(indices))
    ours = funcgrad.jit(f) if how == "jit inside" else f
    for t in (lambda f: f, lambda f: funcgrad.grad(f, 1), lambda f: funcgrad.jacfwd(f, 1)):
        mapped = funcgrad.vmap(t(ours))
        mapped = funcgrad.jit(mapped) if how == "jit outside" else mapped
        expected = np.array([t(plain)(i, x) for i, x in zip(indices, xs, strict=True)])
        assert_close(mapped(np.array(indices), xs), expected)


# ---------------------------------------------------------------- types


CLOSURES: dict[str, tuple[Callable[[Any], Any], list[float]]] = {
    "branch": (lambda x: lax.cond(x > 0, lambda: np.sqrt(x), lambda: 0 * x), [0.0, 4.0]),
    "switch": (
        lambda x: lax.switch(
            fnp.astype(x, int), [lambda: x * 2, lambda: np.log(x - 1) * x, lambda: x**2]
        ),
        [0.0, 2.0],
    ),
    "branch in a branch": (
        lambda x: lax.cond(
            x > 0, lambda: lax.cond(x > 1, lambda: np.sqrt(x - 1), lambda: np.log(x)), lambda: x
        ),
        [0.0, 0.5, 3.0],
    ),
    "loop": (
        lambda x: lax.while_loop(
            lambda s: s[0] < x, lambda s: (s[0] + 1.0, s[1] + np.sqrt(x)), (0.0, 0.0)
        )[1],
        [0.0, 2.5],
    ),
    "no step": (
        lambda x: lax.scan(lambda c, _: (c + np.sqrt(x), None), 3.0 * x, None, length=0)[0],
        [0.0],
    ),
    "loop in a scan": (
        lambda x: lax.scan(
            lambda c, _: (lax.cond(x > 0, lambda: c + np.sqrt(x), lambda: c), None),
            x * 2,
            None,
            length=2,
        )[0],
        [0.0, 4.0],
    ),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", CLOSURES)
def test_what_a_branch_closes_over_is_computed_in_it(name: str) -> None:
    """Else a branch that is not taken has a slope all the same: 0 times infinity."""
    f, points = CLOSURES[name]
    grad, jit, vmap = funcgrad.grad, funcgrad.jit, funcgrad.vmap
    expected = [grad(f)(x) for x in points]
    assert np.isfinite(expected).all()
    for g in (jit(grad(f)), grad(jit(f)), lambda x: funcgrad.jvp(jit(f), (x,), (1.0,))[1]):
        np.testing.assert_allclose([g(x) for x in points], expected, rtol=1e-12)
    xs = np.array(points)
    for g in (vmap(grad(f)), jit(vmap(grad(f))), grad(lambda xs: np.sum(vmap(f)(xs)))):
        np.testing.assert_allclose(g(xs), expected, rtol=1e-12)


RULES_OF_NO_TANGENT: dict[str, Callable[[Any], Any]] = {
    "clipped": lambda ct: np.clip(ct, -1.0, 1.0),
    "by its norm": lambda ct: ct / np.maximum(1.0, np.sqrt(np.sum(ct * ct))),
    "where it is finite": lambda ct: np.where(np.isfinite(ct), ct, 0.0),
    "until it is small": lambda ct: lax.while_loop(
        lambda c: np.max(np.abs(c)) > 1.0, lambda c: 0.5 * c, ct
    ),
}
STEPS: dict[str, Callable[[Callable[[Any], Any], Any], Any]] = {
    "scan": lambda f, x: lax.scan(lambda c, _: (f(c * c), c), x, None, length=3),
    "while": lambda f, x: lax.while_loop(
        lambda s: s[0] < 3, lambda s: (s[0] + 1, f(s[1] * s[1])), (0, x)
    )[1],
    "cond": lambda f, x: lax.cond(x[0] > 0, lambda x: f(x * x), lambda x: x, x),
    "map": lambda f, x: lax.map(lambda row: f(row * row), x),
}


@pytest.mark.parametrize("rule", RULES_OF_NO_TANGENT)
@pytest.mark.parametrize("step", STEPS)
def test_rules_that_are_not_linear(rule: str, step: str) -> None:
    """A rule of `custom_vjp` may do anything to its cotangent, in programs too."""

    @funcgrad.custom_vjp
    def same(x: Any) -> Any:
        return x

    same.defvjp(lambda x: (x, None), lambda _, ct: (RULES_OF_NO_TANGENT[rule](ct),))

    def loss(x: Any) -> Any:
        return sum(np.sum(np.sin(y)) for y in tree.leaves(STEPS[step](same, x)))

    grad, x = funcgrad.grad(loss), np.array([0.5, 2.0])
    assert_close(funcgrad.jit(grad)(x), grad(x))
    assert_close(funcgrad.vmap(grad)(np.stack([x, x / 2])), np.stack([grad(x), grad(x / 2)]))


def test_a_branch_in_a_program_writes_into_nothing_outside() -> None:
    def f(x: Any) -> Any:
        y = x * 1.0

        def write() -> Any:
            y[0] = 5.0
            return y.sum()

        return lax.cond(x[0] > 0, write, lambda: x.sum()), y

    assert f(np.array([-1.0, 2.0]))[1].tolist() == [-1.0, 2.0]
    with pytest.raises(MutationError, match="fill an array that fnp"):
        funcgrad.jit(f)(np.array([-1.0, 2.0]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
def test_numbers_take_the_type_of_the_body(dtype: Any) -> None:
    x = np.ones(3, dtype)

    def f(x: Any) -> Any:
        return lax.scan(lambda c, x: ((c[0] + x, c[1] + 1), c[0]), (0, 0), x)

    for g in (f, funcgrad.jit(f)):
        assert g(x[:1])[1].dtype == dtype
        (c, n), ys = g(x)
        assert (c.dtype, n.dtype, ys.dtype) == (dtype, np.int64, dtype)
        assert (c, n, ys.tolist()) == (3, 3, [0, 1, 2])


FLAGS: dict[str, Any] = {
    "fori_loop": lambda k: lax.fori_loop(
        0, 3, lambda i, s: (s[0] + lax.cond(s[1], lambda: k, lambda: -k), ~s[1]), (0.0, True)
    )[0],
    "scan": lambda k: lax.scan(lambda up, _: (~up, np.where(up, k, -k)), True, length=4)[1][1],
    "while_loop": lambda k: lax.while_loop(
        lambda s: s[0] < 3, lambda s: (s[0] + 1, ~s[1], s[2] + k * s[1]), (0, True, 0.0 * k)
    )[2],
    "cond": lambda k: lax.cond(True, lambda b: k * ~b, lambda b: k * b, True),
    "switch": lambda k: lax.switch(1, [lambda b: k * b, lambda b: -k * ~b], False),
}


@pytest.mark.parametrize("name", FLAGS)
def test_flags_are_no_integers(name: str) -> None:
    """``~True`` is -2 in Python, which is as true."""
    f = FLAGS[name]
    expected = {"fori_loop": 1.5, "scan": -1.5, "while_loop": 3.0, "cond": 0.0, "switch": -1.5}[
        name
    ]
    slope = expected / 1.5
    for jit in (lambda f: f, funcgrad.jit):
        assert jit(f)(1.5) == expected
        assert jit(funcgrad.grad(f))(1.5) == slope
        assert jit(funcgrad.vmap(f))(np.array([1.5])).tolist() == [expected]


def test_numbers_do_not_change_what_arrays_are() -> None:
    for f in (value, funcgrad.jit):
        with pytest.raises(ArgumentError, match=r"goes in as f64\*\[\] and comes out as i64"):
            f(lambda i: lax.fori_loop(0, 3, lambda _, c: i, 0.5))(np.int64(3))


def test_computed_numbers_are_as_wide_as_arrays() -> None:
    """A float64 that a program computes widens float32 rows, and an argument 0.1 does not."""
    rows = np.ones(3, np.float32)

    def f(s: Any, t: Any, x: Any) -> Any:
        s = s.sum()
        narrow = lax.map(lambda r: r * t, x)
        wide = lax.map(lambda r: r * s, x)
        y = lax.while_loop(lambda c: c.sum() < 1, lambda c: c + x[0] * s, s * 1.0)
        return narrow, wide, y

    expected = f(np.array([0.1]), 0.1, rows)
    found = funcgrad.jit(f)(np.array([0.1]), 0.1, rows)
    assert [y.dtype for y in found] == [y.dtype for y in expected] == [np.float32, float, float]
    assert_close(found, expected)
    slopes = [
        t(funcgrad.grad(lambda s: f(s, 0.1, rows)[2]))(np.array([0.1]))
        for t in (value, funcgrad.jit)
    ]
    assert_close(*slopes)


def test_strong_zeros_are_not_remembered() -> None:
    """What is derived from a program is kept for the way in which zeros are multiplied."""
    x = np.zeros(2)

    def body(c: Any, x: Any) -> Any:
        return c + fnp.where(x < 1, x, fnp.sqrt(x)), c

    program = funcgrad.make_jaxpr(lambda x: lax.scan(body, 0.0, x)[0])(x)
    root = lambda x: funcgrad.eval_jaxpr(program, x)[0]  # noqa: E731
    with np.errstate(all="ignore"):
        assert np.isnan(funcgrad.grad(root)(x)).all()
        assert funcgrad.grad(root, strong_zeros=True)(x).tolist() == [1.0, 1.0]


def test_branches_meet_in_one_type() -> None:
    f = funcgrad.jit(lambda x: lax.cond(x[0] > 0, lambda: x[0], lambda: 0))
    found = f(-np.ones(1, np.float32))
    assert (found.dtype, found) == (np.float32, 0.0)


@pytest.mark.parametrize("jit", [lambda f: f, funcgrad.jit], ids=["eager", "jit"])
def test_arrays_in_another_order_of_bytes(jit: Any) -> None:
    def f(x: Any) -> Any:
        y = lax.fori_loop(0, 2, lambda i, c: c * 2.0, x)
        y = lax.while_loop(lambda c: c.sum() < 40.0, lambda c: c * 2.0, y)
        y = y + lax.scan(lambda c, r: (c + r, r), x, np.ones(2))[0]
        return (y + lax.cond(x[0] > 0.0, lambda: same(x), lambda: y)).sum()

    same = funcgrad.custom_jvp(lambda x: x)
    same.defjvp(lambda primals, tangents: (primals[0] * 1.0, tangents[0]))

    x = np.array([1.0, 2.0], ">f8")
    for order in ("=", ">"):
        assert jit(f)(x.astype(x.dtype.newbyteorder(order))) == 58.0
        assert jit(funcgrad.grad(f))(x.astype(x.dtype.newbyteorder(order))).tolist() == [18.0] * 2


@pytest.mark.parametrize("jit", [lambda f: f, funcgrad.jit], ids=["eager", "jit"])
def test_no_steps(jit: Any) -> None:
    nothing = np.zeros((0, 2))

    def f(w: Any) -> Any:
        c, ys = lax.scan(lambda c, x: (c * w, {"y": x * w}), w, nothing)
        return c + lax.fori_loop(3, 1, lambda i, c: c * w, w) + ys["y"].sum()

    assert jit(f)(2.0) == 4.0
    assert jit(funcgrad.grad(f))(2.0) == 2.0
    assert lax.fori_loop(0, 0, lambda i, c: c if c > 1 else 2 * c, 5.0) == 5.0
    assert lax.map(lambda x: x * 2, nothing).shape == (0, 2)
    assert jit(funcgrad.vmap(f))(np.ones(3)).tolist() == [2.0] * 3


@pytest.mark.parametrize("jit", [lambda f: f, funcgrad.jit], ids=["eager", "jit"])
def test_complex(jit: Any) -> None:
    def f(lax: Any, z: Any) -> Any:
        c, ys = lax.scan(lambda c, x: (c * z + x, c), 1j * z, np.arange(3.0))
        return abs(c) ** 2 + fnp.real(ys * z).sum()

    expected = funcgrad.grad(lambda z: f(Python, z))(1 + 2j)
    assert_close(jit(funcgrad.grad(lambda z: f(lax, z)))(1 + 2j), expected)


# ---------------------------------------------------------------- writing


@pytest.mark.parametrize("jit", [lambda f: f, funcgrad.jit], ids=["eager", "jit"])
def test_bodies_write_into_their_own_boxes(jit: Any) -> None:
    def body(c: Any, row: Any) -> Any:
        z = fnp.zeros(3)
        z[1] = row[0] * c[2]
        c[0] += z.sum()
        row *= 2.0
        c += z
        return c, (row, c)

    def f(start: Any, x: Any) -> Any:
        c, (rows, cs) = lax.scan(body, start, x)
        return c, rows, cs, lax.cond(start[0] > 0, in_place, in_place, start)

    def in_place(x: Any) -> Any:
        x[:] = 0.0
        return x

    def by_hand(start: Any, x: Any) -> Any:
        cs, c = [], start
        for row in x:
            extra = row[0] * c[2]
            c = fnp.stack([c[0] + extra, c[1] + extra, c[2]])
            cs.append(c)
        return c, 2.0 * x, fnp.stack(cs), 0.0 * start

    start, x = V.copy(), X.copy()
    assert_close(jit(f)(start, x), by_hand(V, X))
    np.testing.assert_array_equal(start, V)
    np.testing.assert_array_equal(x, X)
    total = lambda f: lambda s, x: sum((y * y * y).sum() for y in f(s, x))  # noqa: E731
    assert_close(jit(grad(total(f)))(V, X), grad(total(by_hand))(V, X))


# ---------------------------------------------------------------- linear maps and custom rules


def _counting(carry: Any, _: Any) -> Any:
    """A step that is linear in y, but for a count that depends on y, in the next step."""
    k, y = carry
    return (fnp.astype(np.sum(y), int), y * k), None


def test_linear_loops_are_transposed() -> None:
    def f(x: Any) -> Any:
        c, ys = lax.scan(lambda c, x: (W @ c + x, c[0]), fnp.zeros(3), x)
        c = lax.fori_loop(0, 2, lambda i, c: W @ c, c)
        c = lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, 2.0 * s[1]), (0, c))[1]
        zero = fnp.zeros(3)  # takes the place of what depended on x
        s = lax.while_loop(lambda s: s[0] < 2, lambda s: (s[0] + 1, zero, W @ s[2]), (0, c, c))
        c = s[1] + s[2]
        return lax.cond(np.array(True), lambda c: W @ c, lambda c: c, c), ys

    ct = (V, np.arange(5.0))
    (found,) = funcgrad.linear_transpose(f, X)(ct)
    assert_close(found, funcgrad.vjp(f, X)[1](ct)[0])
    assert_close(funcgrad.linearize(funcgrad.jit(f), X)[1](X), f(X))
    for bad in (
        lambda x: lax.scan(lambda c, x: (c * x, c), 1.0, x)[1],
        lambda x: lax.cond(np.array(True), np.sin, np.cos, x),
        lambda x: lax.cond(np.array(True), np.exp, np.exp, x),
        lambda x: lax.scan(_counting, (2, x), None, length=3)[0][1],
        lambda x: lax.while_loop(lambda s: s[0] > 0, lambda s: _counting(s, 0)[0], (2, x))[1],
    ):
        with pytest.raises(NotLinearError, match=r"what (scan|cond|while_loop) does"):
            funcgrad.linear_transpose(bad, ROWS)(np.ones(7))


@pytest.mark.parametrize("transform", [lambda f: f, funcgrad.jit], ids=["plain", "jit"])
def test_a_rule_may_know_of_operands_that_the_value_does_not_depend_on(transform: Any) -> None:
    @funcgrad.custom_vjp
    def noted(x: Any, note: Any) -> Any:
        return 1.0 * x

    noted.defvjp(lambda x, note: (1.0 * x, None), lambda _, ct: (ct, ct * ct))

    def f(note: Any) -> Any:
        return lax.scan(lambda c, _: (noted(c, note), None), 2.0, length=3)[0]

    assert transform(funcgrad.grad(f))(1.0) == 3.0


def test_loops_in_custom_rules_and_custom_rules_in_loops() -> None:
    def running(x: Any) -> Any:
        return lax.scan(lambda c, x: (c + x, c + x), 0.0, x)[1]

    @funcgrad.custom_jvp
    def f(x: Any) -> Any:
        return fnp.cumsum(x) ** 2

    f.defjvp(lambda xs, ts: (f(xs[0]), 2.0 * running(xs[0]) * running(ts[0])))

    def loss(x: Any) -> Any:
        return lax.scan(lambda c, k: (c + k * f(x).sum(), None), 0.0, np.arange(3.0))[0]

    expected = funcgrad.grad(lambda x: 3.0 * (fnp.cumsum(x) ** 2).sum())(ROWS)
    assert_close(funcgrad.grad(loss)(ROWS), expected)
    assert_close(funcgrad.jit(funcgrad.grad(loss))(ROWS), expected)


# ---------------------------------------------------------------- associative_scan

ASSOCIATIVE: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "maximum": fnp.maximum,
    "affine": lambda a, b: {"m": a["m"] * b["m"], "t": a["t"] * b["m"] + b["t"]},
    "matmul": lambda a, b: a @ b,
}


@given(st.sampled_from(sorted(ASSOCIATIVE)), st.integers(1, 9), st.booleans(), st.data())
def test_associative_scan(name: str, n: int, reverse: bool, data: Any) -> None:
    """As one after another; eagerly, compiled, and in its gradient."""
    fn = ASSOCIATIVE[name]
    axis = 0 if name == "matmul" else data.draw(st.sampled_from([0, 1, -1]))
    shape = [2, 2, 2] if name == "matmul" else [2, 3]
    shape[axis] = n
    rng = np.random.default_rng(n)
    x = rng.normal(size=shape)
    elems = {"m": x, "t": rng.normal(size=shape)} if name == "affine" else x

    def one_by_one(elems: Any) -> Any:
        rows = [tree.map(lambda x: fnp.take(x, [i], axis), elems) for i in range(n)]  # noqa: B023
        rows = rows[::-1] if reverse else rows
        out = rows[:1]
        for row in rows[1:]:
            out.append(fn(out[-1], row))
        out = out[::-1] if reverse else out
        return tree.map(lambda *ys: fnp.concatenate(ys, axis), *out)

    def scanned(elems: Any) -> Any:
        return lax.associative_scan(fn, elems, reverse=reverse, axis=axis)

    def total(f: Any) -> Any:
        return lambda e: sum((fnp.sin(y)).sum() for y in tree.leaves(f(e)))

    expected = one_by_one(elems)
    assert_close(scanned(elems), expected)
    assert_close(funcgrad.jit(scanned)(elems), expected)
    assert_close(funcgrad.grad(total(scanned))(elems), funcgrad.grad(total(one_by_one))(elems))


def test_associative_scan_calls_few_times() -> None:
    calls: list[int] = []

    def fn(a: Any, b: Any) -> Any:
        calls.append(len(a))
        return a + b

    lax.associative_scan(fn, np.ones(1024))
    assert len(calls) <= 20
    assert sum(calls) <= 2 * 1024


# ---------------------------------------------------------------- errors

three: Any = np.ones(3)
eye: Any = lambda c: c  # noqa: E731
ERRORS: dict[str, tuple[type[Exception], str, Callable[[], Any]]] = {
    "pair": (ArgumentError, "must return a pair", lambda: lax.scan(lambda c, x: c, 0.0, three)),
    "steps": (ArgumentError, "how many steps", lambda: lax.scan(lambda c, x: (c, x), 0.0)),
    "lengths": (
        ShapeError,
        r"xs\['a'\] says 3, xs\['b'\] says 4",
        lambda: lax.scan(lambda c, x: (c, x), 0.0, {"a": three, "b": np.ones(4)}),
    ),
    "scalar rows": (ShapeError, "xs is a scalar", lambda: lax.map(eye, 1.0)),
    "carry type": (
        ArgumentError,
        r"carry\['w'\] goes in as f64\[3\] and comes out as f64\[\]",
        lambda: lax.scan(lambda c, x: ({"w": c["w"].sum()}, x), {"w": three}, three),
    ),
    "carry structure": (
        ArgumentError,
        "keep its structure",
        lambda: lax.while_loop(lambda c: True, lambda c: (c, c), three),
    ),
    "carry of a loop": (
        ArgumentError,
        "goes in as i64.* and comes out as f64",
        lambda: lax.fori_loop(0, 3, lambda i, c: c * 0.5, np.int64(3)),
    ),
    "test": (ShapeError, "returns shape", lambda: lax.while_loop(lambda c: c > 0, eye, three)),
    "test of a float": (
        ArgumentError,
        r"cond_fun returns f64\[\]; need a boolean",
        lambda: lax.while_loop(lambda c: 3.0 - c, lambda c: c + 1, np.float64(1.0)),
    ),
    "test of a float in a program": (
        ArgumentError,
        r"cond_fun returns f64\[\]; need a boolean",
        lambda: funcgrad.jit(
            lambda x: lax.while_loop(lambda c: 3.0 - c, lambda c: c + 1, np.float64(1.0) * x)
        )(1.0),
    ),
    "test of an integer": (
        ArgumentError,
        "need a boolean",
        lambda: lax.while_loop(lambda c: c, lambda c: c - 1, 3),
    ),
    "no array": (ArgumentError, r"init\['k'\]", lambda: lax.scan(eye, {"k": "a"}, three)),
    "operand": (ArgumentError, r"operands\[0\]", lambda: lax.cond(True, eye, eye, "a")),
    "predicate": (ShapeError, "need a scalar", lambda: lax.cond(three > 0, eye, eye, 1.0)),
    "index": (ArgumentError, "need an integer", lambda: lax.switch(1.0, [eye], 1.0)),
    "no branches": (ArgumentError, "no branches", lambda: lax.switch(1, [])),
    "bounds": (ArgumentError, "need an integer", lambda: lax.fori_loop(0, 2.5, max, 1)),
    "function": (ArgumentError, "must be a function", lambda: lax.scan(three, three)),
    "option": (ArgumentError, "positive int", lambda: lax.scan(max, 0.0, three, unroll=0)),
    "axis": (ShapeError, "no axis 1", lambda: lax.associative_scan(np.add, three, axis=1)),
    "fn for one": (
        *(ShapeError, r"fn makes shape \[\] of elems of shape \[2\]; it gets many"),
        lambda: lax.associative_scan(lambda a, b: a @ b, np.ones(4)),
    ),
    "branch types": (
        ArgumentError,
        r"output\['a'\] is f64\[3\] from false_fun, f64\[\] from true_fun",
        lambda: funcgrad.jit(
            lambda x: lax.cond(x[0] > 0, lambda: {"a": x.sum()}, lambda: {"a": x})
        )(three),
    ),
    "branch structures": (
        ArgumentError,
        "different structures",
        lambda: funcgrad.vmap(lambda i: lax.switch(i, [eye, lambda c: (c, c)], i))(np.arange(2)),
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(case: str) -> None:
    kind, message, call = ERRORS[case]
    with pytest.raises(kind, match=message):
        call()


@pytest.mark.parametrize("jit", [lambda f: f, funcgrad.jit], ids=["eager", "jit"])
def test_the_same_errors_in_programs(jit: Any) -> None:
    with pytest.raises(ArgumentError, match=r"carry\[1\] goes in as f64\[3\]"):
        jit(lambda x: lax.scan(lambda c, x: ((c[0], c[1][:2]), x), (x[0], x), x)[0])(three)
    with pytest.raises(ArgumentError, match="keep its structure"):
        jit(lambda x: lax.while_loop(lambda c: c.sum() < 9, lambda c: [c], x))(three)


# ---------------------------------------------------------------- JAX as a second opinion


def test_as_jax() -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)

    def f(lax: Any, np: Any, w: Any, x: Any) -> Any:
        def body(c: Any, x: Any) -> Any:
            h = np.tanh(w @ c + x)
            return lax.cond(h[0] > 0, lambda h: h * 2.0, lambda h: h, h), h

        c, ys = lax.scan(body, np.zeros(3), x, reverse=True)
        n = lax.while_loop(lambda s: s < 9, lambda s: s + 2, 0)
        c = lax.fori_loop(0, 3, lambda i, c: c * w[0] + i, c)
        return (c * n).sum() + lax.associative_scan(np.multiply, ys).sum()

    expected = jax.grad(lambda w, x: f(jax.lax, jax.numpy, w, x), (0, 1))(W, X)
    found = funcgrad.jit(grad(lambda w, x: f(lax, fnp, w, x)))(W, X)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, np.asarray(b), rtol=1e-9)


INNER = {
    "cond": lambda c, a, x: lax.cond(c > 0, np.sin, np.cos, c * a),
    "scan": lambda c, a, x: lax.scan(lambda d, b: (np.sin(d * b), None), c, x)[0] * a,
    "fori": lambda c, a, x: lax.fori_loop(0, 3, lambda i, d: np.sin(d * a), c),
    "jit": lambda c, a, x: funcgrad.jit(lambda d: np.sin(d * a))(c),
    "while": lambda c, a, x: lax.while_loop(
        lambda d: d[1] < 3.0, lambda d: (np.sin(d[0] * a), d[1] + 1.0), (c, np.float64(0.0))
    )[0],
}


@pytest.mark.parametrize("name", INNER)
def test_tangents_of_loops_in_loops_are_transposed(name: str) -> None:
    """The tangent of a loop around another is linear in what it is linear in."""
    x, inner = np.array([1.3, 0.7, -0.4]), INNER[name]

    def f(x: Any) -> Any:
        return lax.scan(lambda c, a: (inner(c, a, x), None), x[0], x)[0]

    def tangent(v: Any) -> Any:
        return funcgrad.jvp(f, (x,), (v,))[1]

    expected = funcgrad.grad(f)(x)
    np.testing.assert_allclose(funcgrad.linear_transpose(tangent, x)(1.0)[0], expected, rtol=1e-12)

    @funcgrad.custom_jvp
    def g(x: Any) -> Any:
        return f(x)

    g.defjvp(lambda xs, ts: funcgrad.jvp(f, xs, ts))
    np.testing.assert_allclose(funcgrad.grad(g)(x), expected, rtol=1e-12)
    np.testing.assert_allclose(funcgrad.jit(funcgrad.grad(g))(x), expected, rtol=1e-12)


def test_a_carry_without_a_tangent_that_a_loop_inside_makes() -> None:
    def f(x: Any) -> Any:
        def body(c: Any, a: Any) -> Any:
            def step(c: Any) -> Any:
                return funcgrad.stop_gradient(c[0]) + 1.0, c[1] * a

            out = lax.while_loop(lambda c: c[0] < 3.0, step, c)
            return out, out[1]

        return lax.scan(body, (np.float64(0.0), x), np.arange(1.0, 3.0))[1].sum()

    assert funcgrad.grad(f)(2.0) == funcgrad.jit(funcgrad.grad(f))(2.0) == 2.0


def test_tangents_of_gradients_of_loops_are_transposed() -> None:
    def f(p: Any, d: Any) -> Any:
        return lax.scan(lambda c, a: (INNER["while"](c, a * p, None), c), d, np.ones(3))[0]

    def tangent(v: Any) -> Any:
        return funcgrad.jvp(lambda d: funcgrad.grad(f)(0.3, d), (0.7,), (v,))[1]

    expected = funcgrad.grad(lambda d: funcgrad.grad(f)(0.3, d))(0.7)
    np.testing.assert_allclose(funcgrad.linear_transpose(tangent, 0.7)(1.0)[0], expected)


@pytest.mark.parametrize("wrap", [funcgrad.jit, funcgrad.checkpoint], ids=["jit", "checkpoint"])
def test_tangents_of_recorded_gradients_of_loops_are_transposed(wrap: Any) -> None:
    def f(x: Any) -> Any:
        return lax.while_loop(lambda c: c > 0.5, np.sin, x)

    slope = wrap(funcgrad.grad(f))
    g = funcgrad.custom_jvp(lambda x: slope(x))
    g.defjvp(lambda xs, ts: funcgrad.jvp(slope, xs, ts))
    expected = funcgrad.grad(slope)(1.2)
    for transform in (lambda f: f, funcgrad.jit):
        np.testing.assert_allclose(transform(funcgrad.grad(g))(1.2), expected, rtol=1e-12)
    with pytest.raises(NotLinearError, match="what while_derivative does"):
        funcgrad.linear_transpose(slope, 1.2)(1.0)


def test_a_loop_that_asks_for_its_argument_is_not_linear() -> None:
    def f(x: Any) -> Any:
        return lax.while_loop(lambda c: c < 10.0, lambda c: 2 * c, x)

    with pytest.raises(NotLinearError, match="asks of them"):
        funcgrad.linear_transpose(f, 1.0)(1.0)


def test_flags_out_of_branches_have_no_slope() -> None:
    """Computing with them asked for the derivative of ``abs`` of a truth value."""

    def f(x: Any) -> Any:
        hit = lax.cond(x[0] > 0.0, lambda x: (x > 0.0, x * 2.0), lambda x: (x < 0.0, x), x)
        return fnp.sum(fnp.absolute(hit[0]) * hit[1])

    x = np.array([1.0, -1.0])
    for gradient in (
        funcgrad.grad(f),
        funcgrad.jit(funcgrad.grad(f)),
        funcgrad.grad(funcgrad.jit(f)),
    ):
        assert_close(gradient(x), np.array([2.0, 0.0]))


def settled(p: Any) -> Any:
    """Steps whose number depends on the values, with a counter, and closed-over numbers."""

    def step(state: Any) -> Any:
        i, x, y = state
        return i + 1, x + 0.1 * np.sin(p[0] * x) * y, y * np.cos(0.3 * x) + 0.05 * p[1] * x * x

    _, x, y = lax.while_loop(lambda s: (s[0] < 15) & (s[1] < 5.0), step, (0, p[2], p[1]))
    return x * y + np.sin(x)


SECOND = {
    "fr": lambda f: funcgrad.jacfwd(funcgrad.grad(f)),
    "rr": lambda f: funcgrad.jacrev(funcgrad.grad(f)),
    "rf": lambda f: funcgrad.jacrev(funcgrad.jacfwd(f)),
}
THIRD = {
    "ffr": lambda f: funcgrad.jacfwd(SECOND["fr"](f)),
    "rfr": lambda f: funcgrad.jacrev(SECOND["fr"](f)),
    "rrr": lambda f: funcgrad.jacrev(SECOND["rr"](f)),
    "frf": lambda f: funcgrad.jacfwd(SECOND["rf"](f)),
}


@pytest.mark.parametrize("kind", [*SECOND, *THIRD])
def test_derivatives_of_derivatives_of_loops_are_those_of_forward_mode(kind: str) -> None:
    p = np.array([0.7, 1.2, 0.9])
    expected = functools.reduce(lambda f, _: funcgrad.jacfwd(f), kind, settled)(p)
    found = funcgrad.jit((SECOND | THIRD)[kind](settled))(p)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    points = np.stack([p, 1.1 * p, 0.5 * p])
    of_each = funcgrad.jit(funcgrad.vmap((SECOND | THIRD)[kind](settled)))(points)
    np.testing.assert_allclose(of_each[0], expected, rtol=1e-9, atol=1e-12)


def test_the_tangent_of_a_loops_pullback_is_a_pullback() -> None:
    """Which programs can say. Also that of what was mapped first."""

    def along(p: Any, v: Any) -> Any:
        return funcgrad.jvp(funcgrad.grad(settled), (p,), (v,))[1]

    def of_many(points: Any) -> Any:
        return funcgrad.jvp(funcgrad.vmap(funcgrad.grad(settled)), (points,), (points,))[1]

    p = np.array([0.7, 1.2, 0.9])
    for f, args in ((along, (p, p)), (of_many, (np.stack([p, 2 * p]),))):
        text = str(funcgrad.make_jaxpr(f)(*args))
        assert "pullback of" in text and "tangent of" not in text
        np.testing.assert_allclose(funcgrad.jit(f)(*args), f(*args), rtol=1e-9)


@pytest.mark.parametrize("kind", SECOND)
def test_second_derivatives_by_rules_that_are_no_derivatives(kind: str) -> None:
    """What a rule makes of a loop is not symmetric: it is differentiated as it stands."""

    @funcgrad.custom_jvp
    def odd(x: Any, y: Any) -> Any:
        return x * y

    @odd.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        (x, y), (a, b) = primals, tangents
        return x * y, y * y * a + np.sin(x) * y * b

    def f(p: Any) -> Any:
        step = lambda s: (s[0] + 1, odd(s[1], p[1]) + 0.1 * odd(p[0], s[1]))  # noqa: E731
        return lax.while_loop(lambda s: s[0] < 3, step, (0, p[0]))[1]

    p = np.array([0.7, 1.2])
    expected = SECOND[kind](f)(p)
    assert kind == "rf" or not np.allclose(expected, expected.T)
    np.testing.assert_allclose(funcgrad.jit(SECOND[kind](f))(p), expected, rtol=1e-9)
