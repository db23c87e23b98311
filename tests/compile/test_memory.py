"""Large temporaries are kept between calls: no memory is made, and nothing that was given changes."""

from __future__ import annotations

import contextlib
import gc
import itertools
import threading
import tracemalloc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_same_as_eager import TRANSFORMS, assert_same, flat, many, small_blocks

import funcgrad
from funcgrad.compile import c_compiler, workspace
from funcgrad.compile.steps import Step, Value
from funcgrad.compile.workspace import Kind, Life, Orders, Plan, Pool, in_order, side_by_side
from funcgrad.testing.programs import Program, programs

# Bytes of small arrays and Python's objects, and of what NumPy's loops take for a moment where an
# operand is broadcast: a buffer for each, of 8192 elements.
ALLOWED = (1 << 16) + 2 * 8 * np.getbufsize()
MUCH = 1 << 19  # bytes that the same takes without a workspace
KINDS = ["numpy"] + ["c"] * (c_compiler.compiler() is not None)
Tree = Any


def network(dtype: Any) -> tuple[Tree, np.ndarray, np.ndarray]:
    """Parameters, a batch and its classes, one-hot."""
    rng = np.random.default_rng(1)
    widths = (96, 512, 384, 10)
    params = [
        {"w": (rng.normal(size=(m, n)) / 16).astype(dtype), "b": np.zeros(n, dtype)}
        for m, n in itertools.pairwise(widths)
    ]
    target = np.eye(10, dtype=dtype)[rng.integers(0, 10, 256)]
    return params, rng.normal(size=(256, 96)).astype(dtype), target


def loss(params: Tree, x: Any, target: Any) -> Any:
    for layer in params[:-1]:
        x = np.maximum(x @ layer["w"] + layer["b"], 0)
    scores = x @ params[-1]["w"] + params[-1]["b"]
    scores = scores - np.max(scores, axis=1, keepdims=True)
    logs = scores - np.log(np.sum(np.exp(scores), axis=1, keepdims=True))
    return -np.sum(target * logs) / len(x)


def sgd(params: Tree, state: Tree, x: Any, target: Any) -> tuple[Tree, Tree]:
    """With momentum."""
    grads = funcgrad.grad(loss)(params, x, target)
    state = funcgrad.tree.map(lambda m, g: 0.9 * m + g, state, grads)
    return funcgrad.tree.map(lambda p, m: p - 0.01 * m, params, state), state


def adam(params: Tree, state: Tree, x: Any, target: Any) -> tuple[Tree, Tree]:
    grads = funcgrad.grad(loss)(params, x, target)
    means = funcgrad.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state[0], grads)
    squares = funcgrad.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, state[1], grads)
    new = funcgrad.tree.map(
        lambda p, m, v: p - 0.001 * m / (np.sqrt(v) + 1e-8), params, means, squares
    )
    return new, (means, squares)


def first_state(name: str, params: Tree) -> Tree:
    zeros = funcgrad.tree.map(np.zeros_like, params)
    return zeros if name == "sgd" else (zeros, zeros)


STEPS: dict[str, Callable[..., Any]] = {"sgd": sgd, "adam": adam}


def spent(call: Callable[[], Any]) -> int:
    """The most memory that a call holds at once beside its results.

    The least of three calls: two threads may have shared a buffer before, and need two the first
    time that they work at once.
    """
    call()
    call()
    return min(_spent_once(call) for _ in range(3))


def _spent_once(call: Callable[[], Any]) -> int:
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        results = call()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    return peak - before - sum(x.nbytes for x in flat(results))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", STEPS)
def test_step_makes_its_results_only(name: str, dtype: Any, kind: str) -> None:
    params, x, target = network(dtype)
    args = (params, first_state(name, params), x, target)
    with funcgrad.config(kind):
        step = funcgrad.jit(STEPS[name])
        assert spent(lambda: step(*args)) <= ALLOWED
        assert spent(lambda: STEPS[name](*args)) > MUCH
        found, expected = step(*args), STEPS[name](*args)
    for a, b in zip(flat(found), flat(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("name", ["casts", "sums", "products", "reshaped", "rows"])
def test_other_steps_make_their_results_only(name: str) -> None:
    """Every kind of step can write into the workspace."""

    def rows(x: Any) -> Any:
        def body(c: Any, row: Any) -> tuple[Any, Any]:
            return c + np.sum(row), np.outer(row, row)  # the second is large

        total, all_rows = funcgrad.lax.scan(body, 0.0, x[:4])
        return total + np.sum(np.sin(all_rows))

    f = {
        "casts": lambda x: np.max(np.where(x > 0, x, 2.0).astype(np.float32) @ x.T.astype("f4")),
        "sums": lambda x: np.max(np.sum(np.sin(x).reshape(120, 4, 300) * 2, axis=1)),
        "products": lambda x: np.sum(np.matmul(x.reshape(4, 120, 300), x.T)),
        "reshaped": lambda x: np.sum(np.cos(x.T).reshape(-1) * x.reshape(-1)),
        "rows": rows,
    }[name]
    x = np.random.default_rng(0).normal(size=(480, 300))
    with funcgrad.config("numpy"):
        g = funcgrad.jit(f)
        assert spent(lambda: g(x)) <= ALLOWED, g.code
        assert spent(lambda: f(x)) > MUCH
        np.testing.assert_allclose(g(x), f(x), rtol=1e-6)


# ---------------------------------------------------------------- nothing is overwritten


@contextlib.contextmanager
def everything_kept() -> Iterator[None]:
    """Every temporary array is in the workspace."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workspace, "LIMIT", 0)
        yield


def check_twice(f: Callable[..., Any], args: tuple[np.ndarray, ...], kind: str) -> None:
    """Other inputs give other results, and leave those of the first call as they were."""
    g = funcgrad.jit(f)
    others = tuple(0.75 * x for x in args)
    with funcgrad.config(kind):
        first = flat(g(*args))
        assert_same(first, flat(f(*args)))
        kept = [np.copy(y) for y in first]
        second = flat(g(*others))
        assert_same(second, flat(f(*others)))
    assert_same(first, kept, exact=True)
    for y in first:
        assert not any(np.shares_memory(y, z) for z in second if np.ndim(y))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ["value", "grad", "jvp", "hvp"])
@many
@given(p=programs(dtypes=(np.float64, np.complex128, np.float32), most=6))
def test_random_program_in_the_workspace(name: str, p: Program) -> None:
    with everything_kept():
        check_twice(TRANSFORMS[name](p), p.args, "numpy")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@many
@given(p=programs(dtypes=(np.float64, np.complex128, np.float32), most=6))
def test_random_program_on_blocks_in_the_workspace(p: Program) -> None:
    with everything_kept(), small_blocks():
        check_twice(TRANSFORMS["grad"](p), p.args, "numpy")


@pytest.mark.skipif("c" not in KINDS, reason="no C compiler")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@settings(max_examples=10)
@given(p=programs(dtypes=(np.float64, np.float32), most=4))
def test_random_program_in_c_in_the_workspace(p: Program) -> None:
    with everything_kept():
        check_twice(TRANSFORMS["grad"](p), p.args, "c")


@given(seed=st.integers(0, 999), reverse=st.booleans(), length=st.integers(1, 4))
def test_loop_in_the_workspace(seed: int, reverse: bool, length: int) -> None:
    """What a turn of a loop hands to the next is not written over by it."""
    rng = np.random.default_rng(seed)
    w, xs = rng.normal(size=(3, 3)), rng.normal(size=(length, 3))

    def f(w: Any, xs: Any) -> Any:
        def body(carry: Any, x: Any) -> Any:
            a, b = carry
            c = np.tanh(w @ a + x)
            return (b + 1.0, c), c * a

        start = (np.ones(3), np.zeros(3))
        return funcgrad.lax.scan(body, start, xs, reverse=reverse)

    with everything_kept():
        check_twice(f, (w, xs), "numpy")
        check_twice(funcgrad.grad(lambda w, xs: np.sum(f(w, xs)[1])), (w, xs), "numpy")


def test_views_as_results() -> None:
    """Also those of temporaries that are seen twice, or in part."""

    def f(x: Any) -> Any:
        y, z = np.sin(x), np.cos(x)
        return y.T, y * 2, z[1:], np.sum(z, axis=0), y.reshape(-1), z.T.reshape(-1)

    with everything_kept():
        check_twice(f, (np.arange(12.0).reshape(3, 4),), "numpy")


@pytest.mark.parametrize("order", ["C", "F"])
def test_blocks_over_their_operands(order: Any) -> None:
    """What a block still reads is not overwritten, nor an array that does not lie row by row."""

    def f(x: Any) -> Any:
        d = x @ x
        y = d * 2
        t = np.sin(x)
        z = t * (t @ t) + 1.0
        return y, y + d, z

    x = np.asarray(np.random.default_rng(0).normal(size=(7, 7)), order=order)
    with everything_kept(), small_blocks():
        check_twice(f, (x,), "numpy")


# ---------------------------------------------------------------- calls that meet


def chain(x: Any) -> Any:
    for k in range(6):
        x = np.sin(x @ x) * 0.1 + k
    return np.sum(x * x, axis=0)


def test_threads() -> None:
    """Calls at once have a workspace each."""
    xs = [np.random.default_rng(k).normal(size=(100, 100)) for k in range(6)]
    expected = [chain(x) for x in xs]
    with funcgrad.config("numpy"):
        f = funcgrad.jit(chain)
        f(xs[0])
        assert "take()" in f.code
    wrong: list[int] = []

    def work(k: int) -> None:
        with funcgrad.config("numpy"):
            wrong.extend(k for _ in range(20) if not np.allclose(f(xs[k]), expected[k]))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(xs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_after_an_error() -> None:
    """A call that fails on its way leaves nothing behind."""
    good, bad = np.full((100, 100), 0.01), np.full((100, 100), 1e300)
    with funcgrad.config("numpy"):
        f = funcgrad.jit(chain)
        before = f(good)
        with np.errstate(all="raise"), pytest.raises(FloatingPointError):
            f(bad)
        np.testing.assert_array_equal(f(good), before)


def test_small_programs_have_no_workspace() -> None:
    with funcgrad.config("numpy"):
        f = funcgrad.jit(chain)
        f(np.ones((3, 3)))
        assert "take" not in f.code


@pytest.mark.parametrize("how", ["dies", "clears"])
def test_workspace_goes_with_its_function(how: str) -> None:
    with funcgrad.config("numpy"), pytest.MonkeyPatch.context() as patch:
        made: list[weakref.ref] = []

        def make(plan: Plan) -> Any:
            found = original(plan)
            made.extend(weakref.ref(x) for x in found)
            return found

        original = Plan.make
        patch.setattr(Plan, "make", make)
        f = funcgrad.jit(lambda x: chain(x))
        f(np.ones((100, 100)))
        gc.collect()
        assert made and all(r() is not None for r in made)
        if how == "clears":
            f.clear_cache()
        else:
            del f
        gc.collect()
        assert all(r() is None for r in made)


# ---------------------------------------------------------------- the parts


@given(data=st.data())
def test_lives_that_meet_have_places_of_their_own(data: Any) -> None:
    times = st.tuples(st.integers(0, 9), st.integers(0, 9)).map(sorted)
    kinds = st.tuples(st.integers(1, 4), st.sampled_from(["f4", "f8", "c16"]))
    drawn = data.draw(st.lists(st.tuples(times, kinds), min_size=1, max_size=12))
    lives = [
        Life(f"t{i}", Kind((n, 3), np.dtype(dtype), order), start, end)
        for i, ((start, end), (n, dtype)) in enumerate(drawn)
        for order in [data.draw(st.sampled_from([(0, 1), (1, 0)]))]
    ]
    plan = Plan(lives)
    arrays = dict(zip(plan.arrays, plan.make(), strict=True))
    for i, a in enumerate(lives):
        x = arrays[plan.names[a.name]]
        assert (x.shape, x.dtype) == (a.kind.shape, a.kind.dtype)
        assert np.argsort(x.strides)[::-1].tolist() == list(a.kind.order) or a.kind.shape[0] == 1
        for b in lives[:i]:
            if a.start <= b.end and b.start <= a.end:
                assert not np.shares_memory(x, arrays[plan.names[b.name]])


def test_pool_gives_what_it_was_given() -> None:
    pool = Pool(lambda: (np.empty(1),), 8)
    first, second = pool.take(), pool.take()
    assert first is not second
    pool.give(first)
    assert pool.take() is first


def test_workspaces_of_programs_that_ran_long_ago_are_let_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(workspace, "MOST", 100)
    pools = [Pool(lambda: (np.empty(5),), 40) for _ in range(4)]
    spaces = []
    for pool in pools:
        spaces.append(pool.take())
        pool.give(spaces[-1])
    assert [pool.take() is space for pool, space in zip(pools[2:], spaces[2:], strict=True)] == [
        True,
        True,
    ]
    assert pools[0].take() is not spaces[0]


def test_many_shapes_do_not_hold_much_memory() -> None:
    """Each of these programs has a temporary of half a megabyte or more."""
    functions = [
        funcgrad.jit(lambda x: funcgrad.numpy.exp(x[:, None] * x).sum(0)) for _ in range(32)
    ]
    before = sum(pool._size * len(pool._unused) for pool in Pool._all)
    with pytest.MonkeyPatch.context() as patch, funcgrad.config("numpy"):
        patch.setattr(workspace, "MOST", before + 2**21)
        for f in functions:
            f(np.ones(256))
        held = sum(pool._size * len(pool._unused) for pool in Pool._all)
    assert held <= before + 2**21 + 2**20


@given(sizes=st.lists(st.integers(1, 2000), min_size=1, max_size=5))
def test_side_by_side(sizes: list[int]) -> None:
    found = side_by_side([Kind((n,), np.dtype("f8"), in_order((n,))) for n in sizes])
    assert [x.size for x in found] == sizes
    for i, x in enumerate(found):
        assert not any(np.shares_memory(x, y) for y in found[:i])
        assert (x.ctypes.data - found[0].ctypes.data) % workspace.PAGE == i * workspace.STAGGER


@given(axes=st.permutations(range(3)), shape=st.sampled_from([(24,), (2, 12), (6, 4), (4, 3, 2)]))
def test_copies_are_foreseen(axes: list[int], shape: tuple[int, ...]) -> None:
    x = np.arange(24).reshape(2, 3, 4)
    turned = x.transpose(axes)
    before, after = Value(x.shape, x.dtype), Value(turned.shape, x.dtype)
    orders = Orders()
    orders.view(Step("view", f"{{}}.transpose({tuple(axes)})", [before], [after]), "t0", "t1")
    step = Step("view", f"{{}}.reshape({shape})", [after], [Value(shape, x.dtype)])
    with everything_kept():
        assert orders.copies(step, "t1") == (not np.shares_memory(x, turned.reshape(shape)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("transform", [lambda f: f, funcgrad.grad])
def test_what_a_function_reads_goes_with_it(kind: str, transform: Callable[..., Any]) -> None:
    """Without the garbage collector, which large arrays would wait for."""
    gc.collect()
    gc.disable()
    try:
        data = np.ones((3, 3))
        f = funcgrad.jit(transform(lambda w: (data @ w).sum()))
        with funcgrad.config(kind):
            for _ in range(3):
                f(np.ones(3))
        gone = weakref.ref(data)
        data = f = None
        assert gone() is None
    finally:
        gc.enable()
