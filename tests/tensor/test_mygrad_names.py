"""`compat.mygrad`: MyGrad's names, by NumPy, by differences, and by MyGrad where it is installed."""

from __future__ import annotations

import copy
import gc
import importlib
import io
import itertools
import pickle
import subprocess
import sys
import textwrap
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import compat
import compat.mygrad as mg
from compat.mygrad import computational_graph, nnet
from compat.mygrad.errors import InvalidBackprop, InvalidGradient
from compat.mygrad.nnet import initializers
from compat.mygrad.operation_base import BinaryUfunc, Operation, SkipGradient, UnaryUfunc

RNG = np.random.default_rng(0)
X = np.array([0.3, -0.7, 1.1])


def numbers(*shape: int, low: float = 0.2, high: float = 0.9) -> np.ndarray:
    """Numbers that are far from each other, in some order, so that nothing is equal."""
    size = int(np.prod(shape))
    return np.random.default_rng(size).permutation(np.linspace(low, high, size)).reshape(shape)


def differences(f: Callable[..., Any], *arrays: np.ndarray) -> list[np.ndarray]:
    """The gradients of ``sum(w * f(*arrays))`` by central differences."""

    def total(*xs: np.ndarray) -> float:
        with mg.no_autodiff:
            y = np.asarray(f(*map(mg.tensor, xs)))
        return float(np.sum(weights(y.shape) * y))

    found = []
    for i, x in enumerate(arrays):
        g = np.zeros_like(x)
        for at in np.ndindex(x.shape):
            step = np.zeros_like(x)
            step[at] = 1e-6
            up, down = ((*arrays[:i], x + s, *arrays[i + 1 :]) for s in (step, -step))
            g[at] = (total(*up) - total(*down)) / 2e-6
        found.append(g)
    return found


def weights(shape: tuple[int, ...]) -> np.ndarray:
    return np.cos(np.arange(np.prod(shape, dtype=int))).reshape(shape)


def check(f: Callable[..., Any], *arrays: np.ndarray, rtol: float = 1e-5) -> None:
    """Values with and without a graph are the same, and gradients are those of differences."""
    tensors = [mg.tensor(x) for x in arrays]
    y = f(*tensors)
    with mg.no_autodiff:
        np.testing.assert_allclose(y.data, np.asarray(f(*map(mg.tensor, arrays))), rtol=1e-12)
    assert not y.constant and y.creator is not None
    y.backward(weights(y.shape))
    for t, g in zip(tensors, differences(f, *arrays), strict=True):
        np.testing.assert_allclose(t.grad, g, rtol=rtol, atol=1e-7)


# ---------------------------------------------------------------- functions

UNARY = {
    **dict.fromkeys(
        [
            "negative",
            "positive",
            "absolute",
            "abs",
            "sqrt",
            "cbrt",
            "square",
            "reciprocal",
            "exp",
            "exp2",
            "expm1",
            "log",
            "log2",
            "log10",
            "log1p",
            "sin",
            "cos",
            "tan",
            "arcsin",
            "arccos",
            "arctan",
            "sinh",
            "cosh",
            "tanh",
            "arcsinh",
            "arctanh",
            "sinc",
            "cot",
            "csc",
            "sec",
            "arccot",
            "coth",
            "csch",
            "sech",
            "arccsch",
        ],
        (0.2, 0.9),
    ),
    **dict.fromkeys(["arccosh", "arccsc", "arcsec", "arccoth"], (1.2, 2.5)),
}
BINARY = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "true_divide",
    "power",
    "maximum",
    "minimum",
    "arctan2",
    "logaddexp",
    "logaddexp2",
]


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_argument(name: str) -> None:
    f, (low, high) = getattr(mg, name), UNARY[name]
    x = numbers(5, low=low, high=high)
    check(f, x)
    check(f, x.reshape(5, 1)[:0])
    if hasattr(np, name):
        np.testing.assert_allclose(f(x).data, getattr(np, name)(x))
        assert isinstance(getattr(np, name)(mg.tensor(x)), mg.Tensor)
        f32 = f(mg.tensor(x, dtype=np.float32))
        assert f32.dtype == np.float32
    assert f(x).constant and f(mg.tensor(x), constant=True).constant


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("shapes", [((3,), (3,)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2,))])
def test_functions_of_two_arguments(name: str, shapes: Any) -> None:
    f = getattr(mg, name)
    x, y = (
        numbers(*shape, low=a, high=a + 0.7) for shape, a in zip(shapes, (0.2, 0.25), strict=True)
    )
    check(f, x, y)
    check(lambda t: f(t, 1.5), x)
    check(lambda t: f(0.4, t), y)
    np.testing.assert_allclose(f(x, y).data, getattr(np, name)(x, y))


OTHERS: dict[str, tuple[Callable[..., Any], tuple[tuple[int, ...], ...]]] = {
    "sum": (lambda x: mg.sum(x), ((2, 3),)),
    "sum axis": (lambda x: mg.sum(x, 0, True), ((2, 3),)),
    "sum axes": (lambda x: x.sum(axis=(0, -1)), ((2, 3, 2),)),
    "sum nothing": (lambda x: x.sum(axis=()), ((2, 3),)),
    "sum of a number": (lambda x: x.sum(axis=0), ((),)),
    "mean": (lambda x: mg.mean(x, 1), ((2, 3),)),
    "prod": (lambda x: mg.prod(x, -1, keepdims=True), ((2, 3),)),
    "max": (lambda x: mg.max(x, 0), ((2, 3),)),
    "amin": (lambda x: mg.amin(x), ((2, 3),)),
    "max axes": (lambda x: x.max(axis=(0, 2)), ((2, 3, 2),)),
    "var": (lambda x: mg.var(x, 1, 1), ((2, 3),)),
    "std": (lambda x: x.std(axis=0, ddof=1, keepdims=True), ((3, 2),)),
    "cumsum": (lambda x: mg.cumsum(x), ((2, 3),)),
    "cumprod": (lambda x: x.cumprod(axis=1), ((2, 3),)),
    "reshape": (lambda x: mg.reshape(x, (3, -1)), ((2, 3),)),
    "reshape by numbers": (lambda x: x.reshape(3, 2), ((2, 3),)),
    "squeeze": (lambda x: mg.squeeze(x, 1), ((2, 1, 3),)),
    "ravel": (lambda x: x.T.ravel(), ((2, 3),)),
    "flatten": (lambda x: x.flatten(), ((2, 3),)),
    "expand_dims": (lambda x: mg.expand_dims(x, 1), ((2, 3),)),
    "broadcast_to": (lambda x: mg.broadcast_to(x, (4, 2, 3)), ((2, 3),)),
    "transpose": (lambda x: mg.transpose(x, 1, 2, 0), ((2, 3, 2),)),
    "transpose by a tuple": (lambda x: x.transpose((1, 0)), ((2, 3),)),
    "T": (lambda x: x.T, ((2, 3),)),
    "moveaxis": (lambda x: x.moveaxis(0, -1), ((2, 3, 2),)),
    "swapaxes": (lambda x: x.swapaxes(0, 1), ((2, 3),)),
    "roll": (lambda x: mg.roll(x, 2, axis=1), ((2, 3),)),
    "repeat": (lambda x: mg.repeat(x, [1, 2, 0], 1), ((2, 3),)),
    "where": (lambda x, y: mg.where([True, False, True], x, y), ((3,), (2, 3))),
    "concatenate": (lambda x, y: mg.concatenate([x, y], 1), ((2, 3), (2, 1))),
    "stack": (lambda x, y: mg.stack((x, y, x), axis=-1), ((2, 3), (2, 3))),
    "atleast_2d": (lambda x: mg.atleast_2d(x), ((3,),)),
    "clip": (lambda x: mg.clip(x, 0.4, [0.7, 0.8, 0.6]), ((2, 3),)),
    "einsum": (lambda x, y: mg.einsum("ij,jk->ki", x, y), ((2, 3), (3, 2))),
    "einsum of lists": (lambda x, y: mg.einsum(x, [0, 1], y, [1, 2], [0]), ((2, 3), (3, 2))),
    "einsum diagonal": (lambda x: mg.einsum("iji->ji", x), ((2, 3, 2),)),
    "einsum trace": (lambda x: mg.einsum("ii", x), ((3, 3),)),
    "matmul": (lambda x, y: x @ y, ((2, 2, 3), (3, 2))),
    "matmul of a vector": (lambda x, y: mg.matmul(x, y), ((2, 3), (3,))),
    "multi_matmul": (lambda *xs: mg.multi_matmul(xs), ((2, 3), (3, 4), (4, 2), (2,))),
    "norm": (lambda x: mg.linalg.norm(x, axis=1), ((2, 3),)),
    "norm 3": (lambda x: mg.linalg.norm(x, 3, 0, True), ((2, 3),)),
    "norm inf": (lambda x: mg.linalg.norm(x, np.inf, axis=1), ((2, 3),)),
    "add_sequence": (lambda *xs: mg.add_sequence(*xs), ((2, 3), (3,), ())),
    "multiply_sequence": (lambda *xs: mg.multiply_sequence(*xs), ((2, 3), (3,), ())),
    "index": (lambda x: x[:, [0, 0, 2]], ((2, 3),)),
    "index backwards": (lambda x: x[::-1, None, ..., 1:], ((2, 3),)),
    "index by a mask": (
        lambda x: x[np.array([[True, False, True], [False, True, True]])],
        ((2, 3),),
    ),
    "index by tensors": (lambda x: x[mg.tensor([0, 1]), (mg.tensor(2), 0)[0]], ((2, 3),)),
    "powers": (lambda x: x**1 + x**2 + x**3 + 2**x + 1 / x, ((2, 3),)),
    "relu": (lambda x: nnet.relu(x - 0.5), ((2, 3),)),
    "sigmoid": (lambda x: nnet.sigmoid(x), ((2, 3),)),
    "elu": (lambda x: nnet.elu(x - 0.5, 0.7), ((2, 3),)),
    "selu": (lambda x: nnet.selu(x - 0.5), ((2, 3),)),
    "leaky_relu": (lambda x: nnet.leaky_relu(x - 0.5, mg.tensor(0.1)), ((2, 3),)),
    "hard_tanh": (lambda x: nnet.hard_tanh(x, lower_bound=0.4, upper_bound=0.7), ((2, 3),)),
    "soft_sign": (lambda x: nnet.soft_sign(x - 0.5), ((2, 3),)),
    "glu": (lambda x: nnet.glu(x, 0), ((4, 3),)),
    "softmax": (lambda x: nnet.softmax(x), ((2, 3),)),
    "softmax axes": (lambda x: nnet.softmax(x, axis=(0, 1)), ((2, 3),)),
    "logsoftmax": (lambda x: nnet.logsoftmax(x, axis=None), ((2, 3),)),
    "softmax_crossentropy": (lambda x: nnet.softmax_crossentropy(x, [0, 2]), ((2, 3),)),
    "negative_log_likelihood": (
        lambda x: nnet.negative_log_likelihood(x, np.array([1, 2]), weights=[1.0, 2.0, 3.0]),
        ((2, 3),),
    ),
    "multiclass_hinge": (lambda x: nnet.multiclass_hinge(x, [0, 2], 0.3), ((2, 3),)),
    "margin_ranking_loss": (
        lambda x, y: nnet.margin_ranking_loss(x, y, [1, -1], 0.1),
        ((2, 3), (2, 3)),
    ),
    "focal_loss": (lambda x: nnet.focal_loss(x, [0, 2], alpha=0.5, gamma=1.5), ((2, 3),)),
    "softmax_focal_loss": (lambda x: nnet.softmax_focal_loss(x, [0, 2], gamma=2), ((2, 3),)),
    "batchnorm": (
        lambda x, g, b: nnet.batchnorm(x, gamma=g, beta=b, eps=1e-3),
        ((4, 2, 3), (2,), (2,)),
    ),
    "batchnorm, shift": (lambda x, b: nnet.batchnorm(x, beta=b, eps=1e-3), ((4, 2), (2,))),
    "conv_nd": (
        lambda x, w: nnet.conv_nd(x, w, stride=(2, 1), padding=(1, 0), dilation=(1, 2)),
        ((1, 2, 5, 4), (2, 2, 3, 2)),
    ),
    "conv_nd, one axis": (lambda x, w: nnet.conv_nd(x, w, stride=1), ((2, 1, 4), (3, 1, 2))),
    "max_pool": (lambda x: nnet.max_pool(x, (2, 2), (1, 2)), ((2, 3, 4),)),
    "gru": (
        lambda *ws: nnet.gru(*ws, s0=np.full((2, 2), 0.1)),
        ((3, 2, 1), *[(1, 2), (2, 2), (2,)] * 3),
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_functions(name: str) -> None:
    f, shapes = OTHERS[name]
    lows = itertools.count()
    check(f, *(numbers(*shape, low=0.2 + 0.03 * next(lows)) for shape in shapes), rtol=1e-4)


@pytest.mark.parametrize(
    "name", ["sum", "mean", "max", "reshape", "transpose", "concatenate", "where"]
)
def test_functions_of_numpy_give_tensors(name: str) -> None:
    x = mg.tensor(numbers(2, 3))
    args: dict[str, tuple[Any, ...]] = {
        "reshape": (x, (3, 2)),
        "concatenate": ([x, x],),
        "where": (x.data > 0.5, x, 0.0),
    }
    y = getattr(np, name)(*args.get(name, (x,)))
    assert isinstance(y, mg.Tensor) and not y.constant
    y.sum().backward()
    assert x.grad is not None and x.grad.shape == (2, 3)


@pytest.mark.parametrize("name", ["floor", "sign", "remainder", "rint"])
def test_functions_with_steps_take_constants_only(name: str) -> None:
    f, more = getattr(np, name), (2.0,) if name == "remainder" else ()
    with pytest.raises(ValueError, match="no derivative"):
        f(mg.tensor(X), *more)
    found = f(mg.tensor(X, constant=True), *more)
    assert isinstance(found, np.ndarray) and found.tolist() == f(X, *more).tolist()


def test_questions_give_arrays() -> None:
    x = mg.tensor(X)
    for found in (
        x > 0,
        x == X,
        np.isnan(x),
        np.less(x, 1.0),
        mg.isclose(x, X),
        x.argmax(),
        x.any(),
    ):
        assert not isinstance(found, mg.Tensor)
    assert (x > 0).tolist() == [True, False, True] and mg.allclose(x, X) and 1.1 in x
    assert [float(v) for v in x] == X.tolist() and len(x) == 3 and int(mg.tensor([2])) == 2


# ---------------------------------------------------------------- programs, as NumPy runs them

VIEWS: list[Callable[[Any], Any]] = [
    lambda x: x[1:],
    lambda x: x[:2],
    lambda x: x[::-1],
    lambda x: x.reshape(-1),
    lambda x: x[..., None],
    lambda x: x.T,
    lambda x: x[None],
    lambda x: np.squeeze(x),
    lambda x: np.swapaxes(x, 0, -1),
]
INDICES: list[Any] = [0, slice(0, 1), ..., [0], [0, 0], -1, slice(None, None, 2)]
instruction = st.tuples(
    st.sampled_from(
        ["view", "view", "compute", "set", "set tensor", "+=", "*=", "out", "masked", "pair"]
    ),
    st.integers(0, 7),
    st.integers(0, 7),
    st.integers(0, 8),
)


def run(program: Any, leaves: list[Any], lib: Any) -> Any:
    """A program of views, writes and operations; the same text for arrays and tensors."""
    made = [+x for x in leaves]
    for what, i, j, n in program:
        x, y = made[i % len(made)], made[j % len(made)]
        try:
            if what == "view":
                made.append(VIEWS[n](x))
            elif what == "compute":
                made.append(lib.sin(x) + x * x)
            elif what == "pair":
                made.append(x * y)
            elif what == "set":
                x[INDICES[n % len(INDICES)]] = 0.1 * n
            elif what == "set tensor":
                x[INDICES[n % len(INDICES)]] = 2.0 * y
            elif what == "+=":
                x += y
            elif what == "*=":
                x *= 1.5
            elif what == "out":
                lib.sin(y, out=x)
            else:
                mask = np.arange(x.shape[-1] if x.ndim else 1) % 2 == n % 2
                lib.multiply(x, y, out=x, where=mask if x.ndim else True)
        except (ValueError, IndexError):
            continue
    total = 0.0
    for k, x in enumerate(made[len(leaves) :] or made):
        total = total + (x * (1 + 0.1 * k)).sum()
    return total + sum((x * x).sum() for x in made[: len(leaves)])


@given(program=st.lists(instruction, min_size=1, max_size=10))
@settings(deadline=None, max_examples=150)
def test_views_and_writes_are_numpys(program: Any) -> None:
    starts = [np.array([0.3, 0.5, 0.7]), numbers(2, 3), np.array([0.2, 0.9, 0.4])]
    leaves = [mg.tensor(x) for x in starts]
    total = run(program, leaves, mg)
    wanted = run(program, [x.copy() for x in starts], np)
    if not np.isfinite(wanted) or abs(wanted) > 1e3:
        return
    np.testing.assert_allclose(total.data, wanted, rtol=1e-10)
    total.backward()
    along = [np.cos(1.0 + np.arange(x.size)).reshape(x.shape) for x in starts]
    h = 1e-6
    up, down = (
        run(program, [x + s * a for x, a in zip(starts, along, strict=True)], np) for s in (h, -h)
    )
    grads = [0.0 if t.grad is None else t.grad for t in leaves]  # None: all of it was overwritten
    found = sum(np.sum(g * a) for g, a in zip(grads, along, strict=True))
    assert found == pytest.approx((up - down) / (2 * h), rel=1e-4, abs=1e-4 * (1 + abs(wanted)))


def test_what_was_computed_before_a_write_keeps_its_values() -> None:
    x = mg.tensor([1.0, 2.0])
    y = x * x
    old = x.data
    x[0] = 10.0
    z = x * x
    assert y.creator.variables[0] is not x and y.creator.variables[0].data.tolist() == [1.0, 2.0]
    assert old.tolist() == [1.0, 2.0] and z.creator.variables[0] is x
    (y + z).sum().backward()
    assert x.grad.tolist() == [20.0, 4.0]  # by what x is now


def test_gradients_of_views_are_views() -> None:
    x = mg.tensor(numbers(2, 3))
    row, column = x[0], x[:, 1]
    inner = row[1:]
    assert row.base is x and inner.base is x and x[0, 0].base is None and (x + 0)[0].base is not x
    (x * x).sum().backward()
    assert row.grad.base is x.grad and np.shares_memory(inner.grad, x.grad)
    np.testing.assert_array_equal(column.grad, x.grad[:, 1])
    _ = x + 1
    assert x.grad is None and row.grad is None


def test_a_write_into_a_diagonal_reaches_the_matrix() -> None:
    x = mg.tensor(np.arange(9.0).reshape(3, 3))
    diagonal = mg.einsum("ii->i", x)
    diagonal *= -1
    assert diagonal.base is x and x.data[2, 2] == -8.0
    (x * x).sum().backward()
    assert diagonal.grad.tolist() == [0.0, -8.0, -16.0]


def test_shapes_are_changed_in_place() -> None:
    x = mg.tensor(np.arange(6.0))
    part = x[:4]
    x.shape = (2, 3)
    part[0] = 7.0
    x[1, 0] = 9.0
    assert x.shape == (2, 3) and x.data[0, 0] == 7.0 and part.data.tolist() == [7.0, 1.0, 2.0, 9.0]
    (x * x).sum().backward()
    assert part.grad.tolist() == [14.0, 2.0, 4.0, 18.0] and x.grad.shape == (2, 3)
    with pytest.raises(ValueError, match="reshape"):
        x.shape = (4, 2)
    with pytest.raises(AttributeError, match="would have to move"):
        x.T.shape = (6,)


# ---------------------------------------------------------------- gradients


def test_everything_on_the_way_gets_a_gradient() -> None:
    x = mg.tensor([1.0, 2.0])
    y = 3 * x
    z = y * y
    constant = mg.tensor([5.0, 6.0], constant=True)
    (z * constant).backward()
    assert x.grad.tolist() == [90.0, 216.0] and y.grad.tolist() == [30.0, 72.0]
    assert z.grad.tolist() == [5.0, 6.0] and constant.grad is None
    assert all(t.creator is None for t in (y, z))
    assert not np.shares_memory(y.grad, z.grad)
    (2 * y).backward()  # y is a leaf from here on
    assert y.grad.tolist() == [2.0, 2.0] and x.grad.tolist() == [90.0, 216.0]


def test_constants() -> None:
    x = mg.tensor([1.0, 2.0])
    assert mg.tensor([1, 2]).constant and not x.constant and mg.tensor(1.0, constant=True).constant
    assert (mg.tensor([1, 2]) * 2.0).constant and (np.ones(2) * x).constant is False
    cut = mg.sin(x, constant=True)
    (cut * x).backward()
    np.testing.assert_allclose(x.grad, np.sin(x.data))
    with pytest.raises(ValueError, match="have no gradient"):
        mg.tensor([1, 2], constant=False)
    with pytest.raises(TypeError, match="need True, False or None"):
        mg.sin(x, constant=1)
    with pytest.raises(TypeError, match="holds floating numbers"):
        mg.tensor([1j])
    started = mg.sin(np.ones(2), constant=False)
    (started * 2).backward()
    assert started.grad.tolist() == [2.0, 2.0]
    cut.backward()
    assert cut.grad is None
    x[0] = mg.tensor(3.0)
    fixed = mg.tensor([1.0, 2.0], constant=True)
    fixed[0] = x[0]
    assert fixed.constant and fixed.data.tolist() == [3.0, 2.0]


def test_what_backward_is_given() -> None:
    x = mg.tensor(np.ones((2, 3)))
    (x * 2).backward(np.arange(3.0))
    assert x.grad.tolist() == [[0.0, 2.0, 4.0]] * 2
    x.backward(5.0)
    assert x.grad.tolist() == [[5.0] * 3] * 2 and x.null_grad() is x and x.grad is None
    for bad in (np.ones(2), np.ones((1, 2, 3))):
        with pytest.raises(ValueError, match="does not broadcast"):
            (x * 2).backward(bad)
    with pytest.warns(FutureWarning, match="deprecated"):
        x.null_gradients()
    y = x * 2
    with mg.no_autodiff:
        y.backward()
    assert x.grad is None


def test_graphs_that_share_a_part() -> None:
    x = mg.tensor([1.0, 2.0])
    shared = x * x
    first, second = shared * 2, shared * 3
    first.backward()
    with pytest.raises(InvalidBackprop, match="has been cleared, by an earlier backward"):
        second.backward()
    one, other = x * 2, x * 3  # only a leaf is shared, of which nothing was cleared
    one.backward()
    other.backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_clear_graph_gives_no_gradients() -> None:
    x = mg.tensor([1.0, 2.0])
    y = x * x
    y.clear_graph()
    assert y.creator is None and x.grad is None and x.data.flags.writeable
    (y * 2).backward()
    assert y.grad.tolist() == [2.0, 2.0] and x.grad is None


def test_graphs_of_any_depth_that_nothing_keeps() -> None:
    x = y = mg.tensor(1.0)
    for _ in range(50_000):
        y = y + 1.0
    y.backward()
    assert x.grad == 1.0
    for _ in range(50_000):
        y = y + 1.0
    gc.disable()
    try:
        seen = weakref.ref(mg.sin(x * 2))
        kept = weakref.ref(y)
        del y
        assert seen() is None and kept() is None
    finally:
        gc.enable()


def test_one_tensor_for_one_array() -> None:
    x = mg.tensor([1.0, 2.0])
    for f in (mg.positive, lambda t: t**1, lambda t: mg.clip(t, None, 9.0), lambda t: t.flatten()):
        y = f(x)
        (y * 3).sum().backward()
        assert y is not x and not np.shares_memory(x.data, y.data)
        assert x.grad.tolist() == y.grad.tolist() == [3.0, 3.0]
    out = mg.tensor([0.0, 0.0])
    mg.positive(x, out=out)
    (out * 3).sum().backward()
    assert x.grad.tolist() == out.grad.tolist() == [3.0, 3.0]


def test_a_value_that_depends_on_nothing_gets_its_gradient_once() -> None:
    x = mg.tensor([1.0, 2.0]) * 1.0
    mg.sin(np.ones(2), out=x)
    (x * x).backward()
    np.testing.assert_allclose(x.grad, 2 * np.sin([1.0, 1.0]))
    view = x[:1]
    mg.sin(np.ones(2), out=x)
    (view * 3).backward()
    assert x.grad.tolist() == [3.0, 0.0] and view.grad.tolist() == [3.0]


def test_what_is_overwritten_gets_no_gradient() -> None:
    x, y = mg.tensor([1.0, 2.0]), mg.tensor([3.0, 4.0])
    z = x * 2
    mg.sin(y, out=z)
    z.backward()
    assert x.grad is None
    np.testing.assert_allclose(y.grad, np.cos(y.data))


# ---------------------------------------------------------------- out, where, dtype


def test_masks_and_out() -> None:
    x, y = mg.tensor([1.0, 0.0]), mg.tensor([-1.0, 5.0])
    old = y
    found = np.log(x, where=[True, False], out=y)
    assert found is y and y is old and y.data.tolist() == [0.0, 5.0]
    (3 * y).backward()
    assert x.grad.tolist() == [3.0, 0.0]
    array = np.zeros(2)
    z = mg.exp(x, out=array)
    assert z.data is array and array.tolist() == np.exp(x.data).tolist()
    z.backward()
    assert x.grad.tolist() == np.exp(x.data).tolist()
    half = mg.multiply(x, 2.0, dtype=np.float32)
    half.backward()
    assert half.dtype == np.float32 and x.grad.tolist() == [2.0, 2.0]
    with pytest.raises(ValueError, match="memory of an operand"):
        mg.exp(x, out=x.data)
    with pytest.raises(TypeError, match="cast"):
        mg.add(x, 1.0, out=mg.tensor([1, 2]))
    with pytest.raises(ValueError, match=r"shapes|broadcast|shape"):
        x += np.ones((3, 2))


def test_masked_without_out() -> None:
    x = mg.tensor([4.0, -1.0])
    y = mg.sqrt(x, where=np.array([True, False]))
    y.backward()
    assert y.data[0] == 2.0 and x.grad.tolist() == [0.25, 0.0]


# ---------------------------------------------------------------- the guard


def test_arrays_of_a_graph_are_read_only() -> None:
    a = np.arange(3.0)
    part = a[1:]
    x = mg.tensor([1.0, 2.0, 3.0])
    y = x * a
    z = mg.sin(y[1:] * part)
    for array in (a, part, x.data, y.data, z.data):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0
    z.backward()
    for array in (a, part, x.data, y.data, z.data):
        array[...] = 1.0
    w = x * a
    del w
    a[0] = x.data[0] = 5.0
    locked = np.arange(3.0)
    locked.flags.writeable = False
    (x * locked).backward()
    assert not locked.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        mg.astensor(locked)[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        mg.broadcast_to(x, (2, 3))[0] = 1.0


def test_the_guard_is_switched() -> None:
    a = np.ones(2)
    with mg.mem_guard_off:
        assert not mg.mem_guard_active()
        with mg.mem_guard_on:
            kept = mg.tensor(X[:2]) * a
            assert not a.flags.writeable
        free = mg.tensor(X[:2]) * np.ones(2)
        assert free.data.flags.writeable
    assert mg.mem_guard_active()
    kept.backward()
    assert a.flags.writeable

    @mg.mem_guard_off
    def unguarded() -> bool:
        return mg.mem_guard_active()

    assert unguarded() is False


def test_no_autodiff() -> None:
    x = mg.tensor([1.0, 2.0])
    with mg.no_autodiff:
        y = x * 2
        memory = x.data
        x += 1.0
        assert x.data is memory and y.creator is None and not y.constant
    assert x.data.tolist() == [2.0, 3.0]
    with mg.mem_guard_off:
        z = x * x
        with mg.no_autodiff:
            x[0] = 100.0
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            z.backward()
    assert mg.no_autodiff(mg.sin, to_numpy=True)(x).__class__ is np.ndarray


def test_data_of_parameters_may_be_replaced() -> None:
    w = mg.tensor([1.0, 2.0])
    for _ in range(3):
        (w * w).sum().backward()
        w.data -= 0.25 * w.grad
    assert w.data.tolist() == [0.125, 0.25]
    w.data = np.zeros(2)
    (w + 1).backward()
    assert w.grad.tolist() == [1.0, 1.0] and not w.constant


# ---------------------------------------------------------------- operations of one's own


class Product(Operation):
    def __call__(self, x: Any, y: Any, *, power: int = 1) -> np.ndarray:
        self.variables = (x, y)
        return (x.data * y.data) ** power

    def backward_var(self, grad: Any, index: int, **kwargs: Any) -> Any:
        x, y = self.variables
        return grad * (y.data, x.data)[index]


def test_operations_of_ones_own() -> None:
    x, y = mg.tensor(2.0), mg.tensor([1.0, 2.0, 3.0])
    z = mg.execute_op(Product, x, y)
    assert isinstance(z.creator, Product) and z.creator.variables[0] is x
    y[0] = 50.0  # the operation goes on with what y was
    (2 * z).backward()
    assert x.grad == 12.0 and y.grad is None and z.grad.tolist() == [2.0, 2.0, 2.0]
    assert mg.execute_op(Product, x, 3.0, op_kwargs={"power": 2}).data == 36.0
    assert mg.execute_op(Product, 2.0, 3.0).constant
    out = mg.tensor([0.0, 0.0, 0.0])
    mg.execute_op(Product, x, y, out=out).sum().backward()
    assert out.data.tolist() == [100.0, 4.0, 6.0] and y.grad.tolist() == [2.0, 2.0, 2.0]
    with mg.no_autodiff:
        assert mg.execute_op(Product, x, y).creator is None


def test_operations_that_are_wrong() -> None:
    def broken(result: Any) -> type[Operation]:
        class Broken(Operation):
            def __call__(self, x: Any) -> Any:
                self.variables = (x,)
                return +x.data

            def backward_var(self, grad: Any, index: int, **kwargs: Any) -> Any:
                if result is SkipGradient:
                    raise SkipGradient
                return result

        return Broken

    x = mg.tensor([1.0, 2.0])
    for result, words in (("text", "gave str"), (np.ones(3), r"shape \(3,\)|\(3,\)")):
        with pytest.raises(InvalidGradient, match=words):
            mg.execute_op(broken(result), x).backward()
    mg.execute_op(broken(SkipGradient), x).backward()
    assert x.grad.tolist() == [0.0, 0.0]

    class Elsewhere(Product):
        def __call__(self, x: Any, y: Any, **_: Any) -> Any:
            self.variables = (mg.tensor(1.0), y)
            return y.data

    with pytest.raises(InvalidGradient, match="was not called with"):
        mg.execute_op(Elsewhere, x, x)

    class Alone(Product):
        def backward(self, grad: Any, **kwargs: Any) -> None:
            pass

    with pytest.raises(InvalidGradient, match=r"did not call Operation\.backward"):
        mg.execute_op(Alone, x, x).backward()
    with pytest.raises(TypeError, match="subclass of Operation"):
        mg.execute_op(np.sin, x)


def test_ufuncs_of_ones_own() -> None:
    class Sine(UnaryUfunc):
        numpy_ufunc = np.sin

        def backward_var(self, grad: Any, index: int, **kwargs: Any) -> Any:
            return grad * np.cos(self.variables[0].data)

    class Hypot(BinaryUfunc):
        numpy_ufunc = np.hypot

        def backward_var(self, grad: Any, index: int, **kwargs: Any) -> Any:
            x, y = (v.data for v in self.variables)
            return grad * (x, y)[index] / np.hypot(x, y)

    check(lambda x: mg.execute_op(Sine, x), numbers(4))
    check(lambda x, y: mg.execute_op(Hypot, x, y), numbers(2, 3), numbers(3))


def test_an_override_of_a_function_of_numpy() -> None:
    from compat.mygrad._function import OVERRIDES

    @mg.tensor_base.implements_numpy_override(np.median)
    def median(a: Any) -> str:
        return "ours"

    try:
        assert np.median(mg.tensor(X)) == "ours"
    finally:
        del OVERRIDES[np.median]
    with pytest.raises(AttributeError, match="there is no numpy"):
        mg.tensor_base.implements_numpy_override()(test_no_autodiff)
    with pytest.raises(TypeError, match="no implementation found"):
        np.fft.fft(mg.tensor(X))


# ---------------------------------------------------------------- ufuncs, creation, files, pictures


def test_ufuncs_say_what_they_are() -> None:
    assert isinstance(mg.add, mg.ufunc) and issubclass(mg.add, mg.ufunc) and mg.add.nin == 2
    assert mg.sin.nout == 1 and "D->D" not in mg.sin.types and mg.multiply.identity == 1
    assert not isinstance(mg.sum, mg.ufunc) and repr(mg.add) == "<mygrad-ufunc 'add'>"
    with pytest.raises(NotImplementedError, match="use the function for it"):
        mg.add.reduce(mg.tensor(X))
    with pytest.raises(TypeError, match="unexpected keyword argument 'axes'"):
        mg.sum(X, axes=0)
    with pytest.raises(TypeError, match="missing 1 required argument"):
        mg.add(X)


def test_new_tensors() -> None:
    assert mg.zeros((2,)).dtype == np.float32 and mg.ones(2, dtype=int).constant
    assert mg.arange(3.0).data.tolist() == [0.0, 1.0, 2.0] and mg.eye(2).shape == (2, 2)
    x = mg.tensor(X)
    assert not mg.zeros_like(x).constant and mg.zeros_like(X).constant
    assert np.ones_like(x).data.tolist() == [1.0] * 3
    assert mg.full_like(x, mg.tensor(2.0), int).dtype == int and mg.full((2,), 3.0).data[1] == 3.0
    assert mg.linspace(0, 1, 3, constant=True).constant
    assert mg.astensor(x) is x and mg.asarray(x) is x.data and mg.tensor(x, copy=False) is x
    assert mg.tensor(x, copy=False, ndmin=2).shape == (1, 3) and mg.astensor(X).data is X
    assert mg.Tensor([mg.tensor(1.0), mg.tensor(2.0)]).data.tolist() == [1.0, 2.0]
    assert x.astype("float32").dtype == np.float32 and x.astype(float, copy=False) is x
    mg.random.seed(3)
    found = mg.random.rand(2, 3)
    np.random.seed(3)
    assert found.data.tolist() == np.random.rand(2, 3).tolist()
    assert mg.random.random((2,)).shape == (2,) and mg.random.randint(5, shape=(3,)).constant
    assert repr(mg.tensor([[1, 2], [3, 4]])) == "Tensor([[1, 2],\n        [3, 4]])"


def test_copies_and_files(tmp_path: Path) -> None:
    x = mg.tensor(X)
    (x * x).backward()
    for y in (x.copy(), copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert y.data.tolist() == X.tolist() and y.grad.tolist() == x.grad.tolist()
        assert not np.shares_memory(y.data, x.data) and not np.shares_memory(y.grad, x.grad)
    file = io.BytesIO()
    mg.save(file, x)
    file.seek(0)
    assert mg.load(file).grad.tolist() == x.grad.tolist()
    mg.save(tmp_path / "x.npz", x.null_grad())
    assert mg.load(tmp_path / "x.npz").grad is None
    with pytest.raises(TypeError, match="need a tensor"):
        mg.save(file, X)


def test_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x, w = mg.tensor(X), np.ones(3)
    y = (x * w).sum()
    drawing = computational_graph.build_graph(
        y, {"x": x, "w": w}, dims=True, dtypes=True, sum_stats=True
    )
    texts = [box.text for box in drawing.boxes]
    assert texts[0].startswith("x\nDims: (3,)\nDtype: float64\nMin: -0.7") and len(texts) == 6
    assert "Multiply" in texts and texts[1].startswith("w\n*Constant*")
    monkeypatch.chdir(tmp_path)
    assert computational_graph.build_graph(y, render=False, save=True) is None
    assert (tmp_path / "computational_graph.svg").read_text().startswith("<svg")
    with pytest.raises(TypeError, match="need a tensor"):
        computational_graph.build_graph(X)
    y.backward()
    assert x.grad.tolist() == [1.0] * 3


def test_windows() -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    found = mg.sliding_window_view(x, (2, 2), (1, 2))
    assert found.shape == (2, 2, 2, 2, 2) and not found.flags.writeable
    for i, j in np.ndindex(2, 2):
        np.testing.assert_array_equal(found[i, j], x[:, i : i + 2, 2 * j : 2 * j + 2])
    apart = mg.sliding_window_view(np.arange(6), (2,), 1, dilation=3)
    assert apart.tolist() == [[0, 3], [1, 4], [2, 5]]
    for bad, error in (((2.0,), TypeError), ((1,) * 4, ValueError), ((4, 4), ValueError)):
        with pytest.raises(error):
            mg.sliding_window_view(x, bad, 1)


@pytest.mark.parametrize("name", ["glorot_normal", "glorot_uniform", "he_normal", "he_uniform"])
def test_first_weights_have_the_spread_of_their_papers(name: str) -> None:
    np.random.seed(0)
    w = getattr(initializers, name)(60, 20, 3, 5, gain=2.0, dtype="float64")
    fan_in, fan_out = 20 * 15, 60 * 15
    variance = 2 / (fan_in + fan_out) if "glorot" in name else 1 / fan_in
    assert w.data.var() == pytest.approx(4 * variance, rel=0.05) and not w.constant
    with pytest.raises(ValueError, match="two axes or more"):
        getattr(initializers, name)(3)
    with pytest.raises(ValueError, match="need a floating"):
        getattr(initializers, name)(3, 2, dtype=int)


def test_other_first_values() -> None:
    kernel = initializers.dirac(2, 2, 3)
    y = nnet.conv_nd(numbers(1, 2, 5).astype(np.float32), kernel, stride=1, padding=1)
    np.testing.assert_allclose(y.data, numbers(1, 2, 5), rtol=1e-6)
    assert initializers.constant(2, 3, value=4.0).data.tolist() == [[4.0] * 3] * 2
    assert initializers.uniform((50,), lower_bound=mg.tensor(2.0), upper_bound=3).data.min() >= 2.0
    assert initializers.normal(4, 5).dtype == np.float32 and initializers.identity(2).shape == (
        2,
        2,
    )
    for f, options in (
        (initializers.uniform, {"lower_bound": 2}),
        (initializers.normal, {"std": -1}),
    ):
        with pytest.raises(ValueError):
            f(3, **options)


def test_networks_say_what_does_not_fit() -> None:
    x = mg.tensor(numbers(2, 3))
    for call, words in (
        (lambda: nnet.conv_nd(np.ones((1, 1, 5)), np.ones((1, 1, 2)), stride=2), "leave a rest"),
        (lambda: nnet.conv_nd(np.ones((1, 2, 5)), np.ones((1, 1, 2)), stride=1), "channels"),
        (lambda: nnet.max_pool(x, (2,), 2), "leave a rest"),
        (lambda: nnet.softmax_crossentropy(x, [0]), "a class for each row"),
        (lambda: nnet.focal_loss(x, [0, 1], gamma=-1), "from 0 on"),
        (lambda: nnet.glu(x), "no two halves"),
        (lambda: mg.add_sequence(x), "two operands or more"),
        (lambda: mg.multi_matmul([x]), "two tensors or more"),
        (lambda: mg.where(x.data > 0, x), "need both, or none"),
    ):
        with pytest.raises(ValueError, match=words):
            call()
    with pytest.raises(TypeError, match="one real number"):
        nnet.elu(x, "a")
    with pytest.raises(NotImplementedError, match="bp_lim"):
        nnet.gru(np.ones((3, 1, 1)), *[np.ones((1, 1)), np.ones((1, 1)), np.ones(1)] * 3, bp_lim=1)
    with pytest.raises(NotImplementedError, match="norms of matrices"):
        mg.linalg.norm(x, 2)


def test_dropout_in_a_recurrent_unit() -> None:
    np.random.seed(0)
    u, w, b = np.ones((4, 3)), np.ones((3, 3)), np.ones(3)
    args = [mg.tensor(a) for a in (np.ones((2, 5, 4)), *(u, w, b) * 3)]
    s = nnet.gru(*args, dropout=0.5)
    assert s.shape == (3, 5, 3) and len(np.unique(s.data[1])) > 1 and (s.data[0] == 0).all()
    s.sum().backward()
    assert all(a.grad is not None for a in args)


# ---------------------------------------------------------------- where MyGrad is wrong


def test_ties_share_the_gradient() -> None:
    """MyGrad's `maximum` of equal numbers gives neither of them anything."""
    x, y = mg.tensor([1.0, 2.0]), mg.tensor([1.0, 3.0])
    mg.maximum(x, y).backward()
    assert (x.grad + y.grad).tolist() == [1.0, 1.0] and x.grad[0] == 0.5


def test_softmax_of_large_numbers() -> None:
    """MyGrad's `logsoftmax` loses what is left of numbers of 1e50."""
    y = nnet.logsoftmax(mg.tensor([1e50, 1e50, 0.0]))
    np.testing.assert_allclose(y.data, [-np.log(2), -np.log(2), -1e50])


def test_squeeze_of_nothing_is_a_view() -> None:
    """MyGrad's is another tensor with the same memory, which misses later writes."""
    x = mg.tensor(X)
    y = mg.squeeze(x)
    x[0] = 5.0
    assert y.base is x and y.data[0] == 5.0


def test_sums_of_numbers_along_an_axis() -> None:
    """MyGrad's fail in `backward`."""
    x = mg.tensor(2.0)
    x.sum(axis=0).backward()
    assert x.grad == 1.0


def test_writes_into_what_a_cleared_graph_used() -> None:
    """MyGrad gives such gradients by the values of after the write, or goes in circles."""
    x = mg.tensor([1.0, 2.0])
    y = x * 1.0
    z = y * y
    (y * 3).backward()
    y += 5.0
    with pytest.raises(InvalidBackprop):
        z.backward()


def test_slopes_that_are_not_there() -> None:
    x = mg.tensor([0.0, -2.0])
    mg.absolute(x, nan_to_num=False).backward()
    assert np.isnan(x.grad[0]) and x.grad[1] == -1.0
    mg.absolute(x).backward()
    assert x.grad.tolist() == [0.0, -1.0]
    mg.linalg.norm(x, nan_to_num=False).backward()
    assert np.isnan(x.grad[0]) and x.grad[1] == -1.0
    mg.linalg.norm(mg.zeros_like(x)).backward()


# ---------------------------------------------------------------- under MyGrad's name


def script(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_programs_run_unchanged() -> None:
    out = script(
        """
        import compat.mygrad
        compat.mygrad.install()

        import numpy as np
        import mygrad as mg
        from mygrad import Tensor
        from mygrad.nnet.activations import relu, tanh
        from mygrad.nnet.initializers import glorot_uniform, he_normal
        from mygrad.nnet.losses import softmax_crossentropy
        import mygrad.nnet.layers
        from mygrad.computational_graph import build_graph
        from mygrad.operation_base import Operation

        assert mg is compat.mygrad and mygrad.nnet is compat.mygrad.nnet
        np.random.seed(0)

        class Dense:
            def __init__(self, n, m):
                self.weight = glorot_uniform(n, m, dtype="float64")
                self.bias = mg.zeros((m,), dtype=float)

            def __call__(self, x):
                return mg.matmul(x, self.weight) + self.bias

            @property
            def parameters(self):
                return self.weight, self.bias

        # Three spirals, as in MyGrad's examples of classification.
        t = np.linspace(0.1, 1, 40)
        turned = [6 * t + a for a in (0, 2.1, 4.2)]
        x = np.concatenate([np.stack([t * np.cos(a), t * np.sin(a)], 1) for a in turned])
        y = np.repeat(np.arange(3), 40)
        layers = Dense(2, 25), Dense(25, 3)
        losses = []
        for step in range(300):
            scores = layers[1](relu(layers[0](x)))
            loss = softmax_crossentropy(scores, y)
            loss.backward()
            for layer in layers:
                for p in layer.parameters:
                    p.data -= 0.5 * p.grad
            losses.append(loss.item())
        with mg.no_autodiff:
            right = np.mean(np.argmax(layers[1](relu(layers[0](x))), axis=1) == y)
        print(losses[0] > 1.0, losses[-1] < 0.6 * losses[0], right > 0.7)

        compat.mygrad.remove()
        import sys
        print([n for n in sys.modules if n.startswith("mygrad")])
        """
    )
    assert out.splitlines() == ["True True True", "[]"]


def test_install_refuses_to_take_the_place_of_mygrad() -> None:
    out = script(
        """
        import sys, types
        import compat.mygrad
        from funcgrad.errors import ArgumentError
        sys.modules["mygrad"] = types.ModuleType("mygrad")
        sys.modules["mygrad"].__file__ = "elsewhere"
        try:
            compat.mygrad.install()
        except ArgumentError as error:
            print(error)
        compat.mygrad.remove()
        print("mygrad" in sys.modules)
        """
    )
    assert out.startswith("install: mygrad is imported already, from elsewhere") and "True" in out


def test_names_that_are_loaded_late_are_listed() -> None:
    assert {"nnet", "computational_graph", "add", "Tensor", "install"} <= set(dir(mg))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = mg.nothing
    assert mg.sum.__doc__ and mg.sin.__doc__ and "constant" in str(mg.sum.__signature__)
    assert pickle.loads(pickle.dumps(mg.Tensor)) is mg.Tensor and compat.mygrad is mg


# ---------------------------------------------------------------- MyGrad, where it is installed

# What MyGrad's modules show that is not here, and why.
INTERNALS = "modules and classes of how MyGrad is made: its derivatives, which are funcgrad's here"
OMITTED = {
    **dict.fromkeys(
        [
            "indexing_routines",
            "math",
            "no_grad_funcs",
            "tensor_creation",
            "tensor_manip",
            "TYPE_CHECKING",
        ],
        INTERNALS,
    ),
    "ufuncs.ufunc_creator": "it makes ufuncs of MyGrad's operations; execute_op runs users' own",
    **dict.fromkeys(["nnet.layers.conv", "nnet.layers.pooling", "nnet.layers.utils"], INTERNALS),
    **dict.fromkeys(["linalg.funcs", "linalg.ops", "random.funcs", "random.Shape"], INTERNALS),
}
MODULES = [
    *("", "nnet", "nnet.activations", "nnet.losses", "nnet.layers", "nnet.initializers"),
    *("random", "linalg", "errors", "typing", "computational_graph", "ufuncs"),
]


def test_mygrads_names_are_here() -> None:
    pytest.importorskip("mygrad")
    missing = set()
    for module in MODULES:
        theirs = importlib.import_module(f"mygrad.{module}".rstrip("."))
        ours = importlib.import_module(f"compat.mygrad.{module}".rstrip("."))
        names = [n for n in dir(theirs) if not n.startswith("_") and not hasattr(ours, n)]
        missing |= {f"{module}.{n}".lstrip(".") for n in names}
    assert missing == set(OMITTED)


def test_mygrads_methods_are_here() -> None:
    theirs = pytest.importorskip("mygrad")
    public = {n for n in dir(theirs.Tensor) if not n.startswith("_")}
    assert public <= set(dir(mg.Tensor))
    special = {n for n in vars(theirs.Tensor) if n.startswith("__")} - {"__dict__"}
    assert special <= set(dir(mg.Tensor))
    by_name = {n: getattr(theirs.Tensor, n) for n in public if callable(getattr(theirs.Tensor, n))}
    assert all(callable(getattr(mg.Tensor, n)) for n in by_name)


@pytest.mark.parametrize("seed", range(40))
def test_agrees_with_mygrad(seed: int) -> None:
    theirs = pytest.importorskip("mygrad")
    found, wanted = (agreement_program(lib, seed) for lib in (mg, theirs))
    for (data, grad, constant, dtype), (data2, grad2, constant2, dtype2) in zip(
        found, wanted, strict=True
    ):
        np.testing.assert_allclose(data, data2, rtol=1e-6, atol=1e-9)
        assert constant == constant2 and dtype == dtype2
        assert (grad is None) == (grad2 is None)
        if grad is not None:
            np.testing.assert_allclose(grad, grad2, rtol=1e-5, atol=1e-8)


def agreement_program(lib: Any, seed: int) -> list[Any]:
    """Tensors of a random program after a pass: numbers, gradient, constant or not, dtype."""
    rng = np.random.default_rng(seed)
    dtype = "float64" if seed % 4 else "float32"
    made = [
        lib.tensor(rng.uniform(0.2, 0.9, shape).astype(dtype)) for shape in ((3,), (2, 3), (3,))
    ]
    made.append(lib.tensor(rng.uniform(0.2, 0.9, 3), constant=True))
    made.append(lib.tensor([1, 2, 3]))
    for _ in range(12):
        i, j = rng.integers(len(made), size=2)
        what, number = rng.integers(11), float(rng.uniform(0.5, 1.5))
        mask = rng.random(3) > 0.5
        x, y = made[i], made[j]
        try:
            if what == 0:
                made.append(lib.tanh(x))
            elif what == 1:
                made.append(x * y)
            elif what == 2:
                made.append(x[1:])
            elif what == 3:
                made.append(x.T)
            elif what == 4:
                x[0] = number
            elif what == 5:
                x += y
            elif what == 6:
                lib.multiply(x, number, where=mask, out=x)
            elif what == 7:
                made.append(lib.mean(x, axis=-1, keepdims=True))
            elif what == 8:
                made.append(number - x**2)
            elif what == 9:
                made.append(lib.where(mask, x, y))
            else:
                lib.sin(y, out=x)
        except (ValueError, TypeError, IndexError):
            continue
    total = sum(((x * x).sum() for x in made[-4:]), start=lib.tensor(0.0))
    total.backward()
    return [(np.array(x.data), x.grad, x.constant, x.dtype) for x in [*made, total]]
