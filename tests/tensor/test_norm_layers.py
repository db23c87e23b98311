"""`layer_norm` and its like: against differences and PyTorch, their statistics, and refusals."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from harness import C, Call, Draw, F, call, check
from hypothesis import given, settings
from hypothesis import strategies as st

import compat

try:
    torch: Any = importlib.import_module("torch")
except ImportError:
    torch = None

LIBRARIES = [pytest.param(compat, id="compat")]
if torch is not None:
    LIBRARIES.append(pytest.param(torch, id="torch"))


@pytest.fixture(params=LIBRARIES)
def th(request: pytest.FixtureRequest) -> Any:
    return request.param


def f(name: str, *args: Any, **kwargs: Any) -> Call:
    return call(f"nn.functional.{name}", *args, **kwargs)


def P(*shape: int) -> Draw:
    """Running variances."""
    return F(*shape, low=0.5, high=2.0, grad=False)


CALLS = [
    f("layer_norm", F(3, 4), [4]),
    f("layer_norm", F(3, 4), [4], F(4)),
    f("layer_norm", F(3, 4), [4], None, F(4)),
    f("layer_norm", F(3, 4), [4], F(4), F(4), 0.1),
    f("layer_norm", F(2, 3, 4), [3, 4], F(3, 4), F(3, 4)),
    f("layer_norm", F(4), (4,)),
    f("layer_norm", F(2, 3, 4, 2), [2], F(2)),
    f("layer_norm", F(0, 4), [4], F(4), F(4)),
    f("layer_norm", F(3, 0), [0]),
    f("rms_norm", F(3, 4), [4]),
    f("rms_norm", F(3, 4), [4], F(4), 0.1),
    f("rms_norm", F(2, 3, 4), [3, 4], F(3, 4)),
    f("rms_norm", C(2, 3), [3]),
    f("rms_norm", F(0, 4), [4], F(4)),
    f("group_norm", F(2, 4, 3), 2),
    f("group_norm", F(2, 4, 3), 1, F(4), F(4)),
    f("group_norm", F(2, 4, 3), 4, F(4)),
    f("group_norm", F(3, 4), 2, F(4), None, 0.1),
    f("group_norm", F(2, 4, 3, 2), 2, F(4), F(4)),
    f("group_norm", F(0, 4, 3), 2),
    f("group_norm", F(2, 4, 0), 2),
    f("instance_norm", F(2, 3, 4)),
    f("instance_norm", F(2, 3, 4), None, None, F(3), F(3)),
    f("instance_norm", F(2, 3, 2, 3), None, None, F(3), F(3), True, 0.1, 0.2),
    f("instance_norm", F(2, 3, 4), F(3, grad=False), P(3), F(3), None),
    f("instance_norm", F(2, 3, 4), F(3, grad=False), P(3), F(3), F(3), False),
    f("instance_norm", F(0, 3, 4)),
    *[f("local_response_norm", F(2, 5, 3), n, 0.5, 0.75, 1.5) for n in (1, 2, 3, 5, 8)],
    f("local_response_norm", F(2, 3, 2, 2), 3),
    f("local_response_norm", F(1, 3, 2, 1, 2, 1), 2, 0.1, 2.0, 0.5),
    f("local_response_norm", F(0, 3, 2), 2),
    # the same at PyTorch's top, with the arguments in another order
    call("layer_norm", F(3, 4), [4], F(4), F(4)),
    call("rms_norm", F(3, 4), [4], F(4)),
    call("group_norm", F(2, 4, 3), 2, F(4), F(4)),
    call("instance_norm", F(2, 3, 4), F(3), F(3), None, None, True, 0.1, 1e-5, False),
    call("batch_norm", F(4, 3), F(3), F(3), None, None, True, 0.1, 1e-5, False),
    call("batch_norm", F(4, 3), None, None, F(3, grad=False), P(3), False, 0.1, 1e-5, False),
]


@pytest.mark.parametrize("c", CALLS, ids=repr)
def test_call(c: Call) -> None:
    check(c)


@given(
    shape=st.lists(st.integers(2, 4), min_size=1, max_size=4),
    count=st.integers(1, 4),
    seed=st.integers(0, 999),
)
@settings(deadline=None, max_examples=40)
def test_mean_0_and_variance_1(shape: list[int], count: int, seed: int) -> None:
    count = min(count, len(shape))
    x = np.random.default_rng(seed).normal(3.0, 5.0, shape)
    y = compat.nn.functional.layer_norm(compat.tensor(x), shape[-count:], eps=0.0).numpy()
    axes = tuple(range(-count, 0))
    np.testing.assert_allclose(y.mean(axes), 0.0, atol=1e-12)
    np.testing.assert_allclose((y * y).mean(axes), 1.0, rtol=1e-9)


def test_float32_is_accurate_far_from_0(th: Any) -> None:
    """The variance is that of the differences, not the difference of squares."""
    x = np.random.default_rng(0).normal(1000.0, 1.0, (4, 256)).astype(np.float32)
    wide = x.astype(float)
    expected = wide - wide.mean(1, keepdims=True)
    expected /= np.sqrt((expected**2).mean(1, keepdims=True) + 1e-5)
    for name, args in (("layer_norm", ([256],)), ("group_norm", (1,))):
        found = getattr(th.nn.functional, name)(th.from_numpy(x), *args)
        assert found.dtype is th.float32
        np.testing.assert_allclose(found.numpy(), expected, atol=3e-4)


@pytest.mark.parametrize("half", ["float16", "bfloat16"])
def test_halves_are_rounded_once(th: Any, half: str) -> None:
    if not hasattr(th, half):
        pytest.skip("ml_dtypes is not installed")
    F_ = th.nn.functional
    x = th.from_numpy(np.random.default_rng(0).normal(size=(2, 4, 8))).to(getattr(th, half))
    weight = th.linspace(0.5, 2.0, 8)
    for g in (
        lambda x, w: F_.layer_norm(x, [8], w),
        lambda x, w: F_.rms_norm(x, [8], w.to(x.dtype)),
        lambda x, w: F_.group_norm(x, 2, w[:4]),
        lambda x, w: F_.instance_norm(x),
    ):
        y = g(x, weight)
        assert y.dtype is x.dtype
        expected = g(x.float(), weight).to(x.dtype)
        # PyTorch's own rounds its scale and shift before they are used.
        rtol, atol = (1e-3, 2e-3) if half == "float16" else (8e-3, 8e-3)
        found = y.double().numpy()
        atol = 0.0 if th is compat else atol
        np.testing.assert_allclose(found, expected.double().numpy(), rtol=rtol, atol=atol)


def test_running_statistics_move(th: Any) -> None:
    x = th.tensor([[[1.0, 3.0], [2.0, 6.0]], [[3.0, 5.0], [0.0, 0.0]]])
    mean, var = th.zeros(2), th.ones(2)
    th.nn.functional.instance_norm(x, mean, var, momentum=0.5)
    assert mean.tolist() == [1.5, 1.0]  # half of the means over the examples
    assert var.tolist() == [1.5, 2.5]


def test_a_scale_that_changes_later_counts_as_it_was(th: Any) -> None:
    found = []
    for is_changed in (False, True):
        x = th.linspace(-1.0, 1.0, 12).reshape(2, 2, 3).sin().requires_grad_()
        w = th.tensor([1.0, 2.0], requires_grad=True)
        y = th.nn.functional.instance_norm(x, weight=w)
        if is_changed:
            with th.no_grad():
                w.mul_(10)
        (y**2 * th.arange(3.0)).sum().backward()
        found.append([x.grad.numpy(), w.grad.numpy()])
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])


def test_tracking_may_end(th: Any) -> None:
    """Then the batch is used in training, and in evaluation the statistics as they were left."""
    x, mean, var = th.tensor([[1.0], [3.0]]), 2.0, 4.0
    norm = th.nn.BatchNorm1d(1, eps=1e-30)
    norm.running_mean.fill_(mean), norm.running_var.fill_(var)
    norm.track_running_stats = False
    assert norm(x).flatten().tolist() == [-1.0, 1.0]
    assert norm.running_mean.item() == mean and norm.num_batches_tracked.item() == 0
    assert norm.eval()(x).flatten().tolist() == [-0.5, 0.5]
    never = th.nn.BatchNorm1d(1, eps=1e-30, track_running_stats=False).eval()
    assert never(x).flatten().tolist() == [-1.0, 1.0]


def test_default_eps_is_the_precision(th: Any) -> None:
    for dtype in (th.float32, th.float64):
        x = th.full((1, 2), 1e-9, dtype=dtype)
        eps = th.finfo(dtype).eps
        expected = 1e-9 / np.sqrt(1e-18 + eps)
        np.testing.assert_allclose(th.nn.functional.rms_norm(x, [2]).numpy(), expected, rtol=1e-6)


def test_channels_do_not_mix(th: Any) -> None:
    x = th.ones(1, 5, 1)
    x[0, 0, 0] = float("inf")
    y = th.nn.functional.local_response_norm(x, 3)
    assert y.isnan().flatten().tolist() == [True, False, False, False, False]


NODES = {
    "layer_norm": lambda F_, x: F_.layer_norm(x, [3]),
    "group_norm": lambda F_, x: F_.group_norm(x, 2),
    "instance_norm": lambda F_, x: F_.instance_norm(x),
    "rms_norm": lambda F_, x: F_.rms_norm(x, [3]),
    "local_response_norm": lambda F_, x: F_.local_response_norm(x, 2),
}


@pytest.mark.parametrize("name", NODES)
def test_node(name: str) -> None:
    x = compat.ones(2, 4, 3, requires_grad=True)
    expected = {
        "layer_norm": "NativeLayerNormBackward0",
        "group_norm": "NativeGroupNormBackward0",
        "instance_norm": "ViewBackward0",
        "rms_norm": "MulBackward0",
        "local_response_norm": "DivBackward0",
    }[name]
    y = NODES[name](compat.nn.functional, x)
    assert y.grad_fn.name() == expected and not y._is_view()
    if torch is not None:
        x = torch.ones(2, 4, 3, requires_grad=True)
        assert NODES[name](torch.nn.functional, x).grad_fn.name() == expected


@pytest.mark.parametrize("name", NODES)
def test_second_derivative(name: str) -> None:
    x = compat.tensor(np.random.default_rng(0).normal(size=(2, 4, 3)), requires_grad=True)
    assert compat.autograd.gradgradcheck(lambda x: NODES[name](compat.nn.functional, x), (x,))


REFUSALS: list[tuple[type[Exception], str, Callable[[Any, Any], Any]]] = [
    (TypeError, "must be tuple of ints, not int", lambda t, F_: F_.layer_norm(t.ones(2, 3), 3)),
    (TypeError, "must be Tensor, not list", lambda t, F_: F_.layer_norm([1.0], [1])),
    (RuntimeError, "at least 1-dimensional", lambda t, F_: F_.layer_norm(t.tensor(1.0), [])),
    (RuntimeError, r"expected input with shape \[\*, 4\]",
     lambda t, F_: F_.layer_norm(t.ones(2, 3), [4])),
    (RuntimeError, "Expected weight to be of same shape",
     lambda t, F_: F_.layer_norm(t.ones(2, 3), [3], t.ones(2))),
    (RuntimeError, "Expected bias to be of same shape",
     lambda t, F_: F_.layer_norm(t.ones(2, 3), [3], t.ones(3), t.ones(2))),
    (RuntimeError, "mixed dtype",
     lambda t, F_: F_.layer_norm(t.ones(2, 3), [3], t.ones(3, dtype=t.float64))),
    (NotImplementedError, "not implemented for 'Long'",
     lambda t, F_: F_.layer_norm(t.ones(2, 3).long(), [3])),
    (NotImplementedError, "not implemented for 'Long'",
     lambda t, F_: F_.rms_norm(t.ones(2, 3).long(), [3])),
    (RuntimeError, "Given normalized_shape=", lambda t, F_: F_.rms_norm(t.ones(2, 3), [2])),
    (RuntimeError, "divisible by num_groups", lambda t, F_: F_.group_norm(t.ones(2, 4), 3)),
    (RuntimeError, "num groups to be greater than 0", lambda t, F_: F_.group_norm(t.ones(2, 4), -1)),
    (RuntimeError, "Expected weight to be a vector",
     lambda t, F_: F_.group_norm(t.ones(2, 4), 2, t.ones(3))),
    (RuntimeError, "at least 2 dimensions", lambda t, F_: F_.group_norm(t.ones(4), 2)),
    (ValueError, "more than 1 value per channel", lambda t, F_: F_.group_norm(t.ones(1, 4), 4)),
    (NotImplementedError, "not implemented for 'ComplexFloat'",
     lambda t, F_: F_.group_norm(t.ones(2, 4, dtype=t.complex64), 2)),
    (ValueError, "more than 1 spatial element", lambda t, F_: F_.instance_norm(t.ones(2, 4, 1))),
    (RuntimeError, "to be defined when use_input_stats is false",
     lambda t, F_: F_.instance_norm(t.ones(2, 4, 2), use_input_stats=False)),
    (ValueError, "either both be None or neither",
     lambda t, F_: F_.instance_norm(t.ones(2, 4, 2), t.ones(4))),
    (RuntimeError, "weight should contain 8 elements not 6",
     lambda t, F_: F_.instance_norm(t.ones(2, 4, 2), weight=t.ones(3))),
    (ValueError, "Expected 3D or higher dimensionality",
     lambda t, F_: F_.local_response_norm(t.ones(2, 4), 2)),
    (RuntimeError, "kernel size should be greater than zero",
     lambda t, F_: F_.local_response_norm(t.ones(2, 4, 1), 0)),
]  # fmt: skip


@pytest.mark.parametrize("index", range(len(REFUSALS)))
def test_refusal(th: Any, index: int) -> None:
    kind, words, g = REFUSALS[index]
    with pytest.raises(kind, match=words) as found:
        g(th, th.nn.functional)
    assert type(found.value) is kind
