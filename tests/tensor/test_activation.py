"""Activations and the softmax family: against differences and `torch.nn.functional`."""

from __future__ import annotations

import importlib
import math
import warnings
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from harness import C, Call, F, I, call, check

import compat
from compat.ops import activation, softmax

try:
    torch: Any = importlib.import_module("torch")
except ImportError:
    torch = None

needs_torch = pytest.mark.skipif(torch is None, reason="compares with PyTorch")
nan, inf = math.nan, math.inf

# The functions under their names in `nn.functional`.
OURS = SimpleNamespace(
    **{
        **vars(activation),
        "softmin": softmax.softmin,
        "softmax": softmax.functional_softmax,
        "log_softmax": softmax.functional_log_softmax,
    }
)
THEIRS = None if torch is None else torch.nn.functional


CALLS = [
    *(call("softmax", F(2, 3, 4), d) for d in (0, 1, -1)),
    *(call("log_softmax", F(2, 3, 4), d) for d in (0, 1, -1)),
    *(call(f, F(), 0) for f in ("softmax", "log_softmax", "logsumexp")),
    *(call(f, F(2, 0), d) for f in ("softmax", "log_softmax") for d in (0, 1)),
    call("logsumexp", F(2, 0), 0),
    *(call(f, I(3), 0, dtype="torch.float64") for f in ("softmax", "log_softmax")),
    *(call(f, F(2, 3), 1) for f in (".softmax", ".log_softmax", ".logsumexp")),
    *(call("logsumexp", F(2, 3, 4), d, k) for d in (0, -1, (0, 2), (1,)) for k in (True, False)),
    call("logsumexp", C(2, 3), 1),
    call("logsumexp", C(2, 3), (0, 1), True),
    call("celu", F(2, 3), 0.5),
    call("selu", F(2, 3)),
    call("rrelu", F(2, 3)),
    call("rrelu", F(2, 3), 0.1, 0.5),
    call("prelu", F(2, 3), F(3)),
    call("prelu", F(2, 3, 4), F(1)),
    call("prelu", F(2, 3, 4), F(3)),
    call(".prelu", F(3), F()),
    call("hardshrink", F(2, 3)),
    call(".hardshrink", F(2, 3), 0.25),
    call("threshold", F(2, 3), 0.3, 7.0),
]

FUNCTIONAL: list[tuple[str, tuple[Any, ...]]] = [
    ("relu6", ()),
    ("leaky_relu", ()),
    ("leaky_relu", (0.3,)),
    ("elu", ()),
    ("elu", (0.7,)),
    ("selu", ()),
    ("celu", (2.0,)),
    ("gelu", ()),
    ("silu", ()),
    ("mish", ()),
    ("softplus", ()),
    ("softplus", (2.0, 1.0)),
    ("softsign", ()),
    ("softshrink", ()),
    ("softshrink", (0.1,)),
    ("hardshrink", ()),
    ("hardtanh", ()),
    ("hardtanh", (-0.5, 2.0)),
    ("hardswish", ()),
    ("hardsigmoid", ()),
    ("threshold", (0.3, 7.0)),
    ("logsigmoid", ()),
    ("tanhshrink", ()),
    ("rrelu", ()),
    ("softmin", (0,)),
    ("softmax", (-1,)),
    ("log_softmax", (0,)),
]

# What a node is called.
NODES = {
    "relu6": "HardtanhBackward0",
    "hardtanh": "HardtanhBackward0",
    "leaky_relu": "LeakyReluBackward0",
    "elu": "EluBackward0",
    "selu": "EluBackward0",
    "celu": "CeluBackward0",
    "gelu": "GeluBackward0",
    "silu": "SiluBackward0",
    "mish": "MishBackward0",
    "softplus": "SoftplusBackward0",
    "softshrink": "SoftshrinkBackward0",
    "hardshrink": "HardshrinkBackward0",
    "hardswish": "HardswishBackward0",
    "hardsigmoid": "HardsigmoidBackward0",
    "logsigmoid": "LogSigmoidBackward0",
    "rrelu": "RreluWithNoiseBackward0",
}

# Every kink, far out on either side, and where an intermediate value could overflow.
POINTS = [0.0, 0.5, -0.5, 1.0, -1.0, 3.0, -3.0, 6.0, 20.0, 21.0, -40.0, 800.0, -800.0, 1e4, -1e4]


@pytest.mark.parametrize("c", CALLS, ids=repr)
def test_call(c: Call) -> None:
    check(c)


def _run(f: Any, module: Any, values: Any, args: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    x = module.from_numpy(np.array(values))
    x.requires_grad_()
    y = f(x, *args)
    weights = np.random.default_rng(1).normal(size=tuple(y.shape))
    (y * module.from_numpy(weights.astype(y.detach().numpy().dtype))).sum().backward()
    return y, y.detach().numpy(), x.grad.numpy()


@needs_torch
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name, args", FUNCTIONAL, ids=repr)
def test_functional(name: str, args: tuple[Any, ...], dtype: str) -> None:
    values = np.array(POINTS, dtype)
    values = np.concatenate([values, np.random.default_rng(0).normal(size=33).astype(dtype) * 3])
    _, y, g = _run(getattr(OURS, name), compat, values, args)
    _, expected, wanted = _run(getattr(THEIRS, name), torch, values, args)
    assert y.dtype == expected.dtype and g.dtype == wanted.dtype
    # PyTorch's gelu loses digits where it is small, and its softplus is linear from 20 on.
    rtol, atol = (1e-6, 1e-9) if dtype == "float64" else (2e-5, 2e-6)
    np.testing.assert_allclose(y, expected, rtol=rtol, atol=atol)
    np.testing.assert_allclose(g, wanted, rtol=rtol, atol=atol)


@pytest.mark.parametrize("name, args", FUNCTIONAL, ids=repr)
def test_functional_against_differences(name: str, args: tuple[Any, ...]) -> None:
    x = np.random.default_rng(0).uniform(-4, 4, 40)
    f = getattr(OURS, name)
    _, _, g = _run(f, compat, x, args)
    weights = np.random.default_rng(1).normal(size=40)
    t = np.random.default_rng(2).normal(size=40)
    h = 1e-6
    low, high = (f(compat.from_numpy(x + s * h * t), *args).numpy() for s in (-1, 1))
    np.testing.assert_allclose(g @ t, weights @ (high - low) / (2 * h), rtol=1e-5, atol=1e-7)


@needs_torch
@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu(approximate: str) -> None:
    x = np.random.default_rng(0).normal(size=20)
    found = _run(partial(OURS.gelu, approximate=approximate), compat, x, ())
    expected = _run(partial(THEIRS.gelu, approximate=approximate), torch, x, ())
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-9)
    np.testing.assert_allclose(found[2], expected[2], rtol=1e-9)


@needs_torch
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_glu(dim: int) -> None:
    x = np.random.default_rng(0).normal(size=(4, 2, 6))
    found, expected = _run(OURS.glu, compat, x, (dim,)), _run(THEIRS.glu, torch, x, (dim,))
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-12)
    np.testing.assert_allclose(found[2], expected[2], rtol=1e-12)


@pytest.mark.parametrize("name", NODES)
def test_nodes(name: str) -> None:
    y, *_ = _run(getattr(OURS, name), compat, [-1.0, 2.0], ())
    assert y.grad_fn.name() == NODES[name]


@needs_torch
@pytest.mark.parametrize("name, args", [c for c in FUNCTIONAL if "softm" not in c[0]], ids=repr)
def test_nan_and_infinities(name: str, args: tuple[Any, ...]) -> None:
    """A NaN stays one; where PyTorch has a number, so have we."""
    x = np.array([nan, inf, -inf])
    _, y, g = _run(getattr(OURS, name), compat, x, args)
    _, expected, wanted = _run(getattr(THEIRS, name), torch, x, args)
    assert math.isnan(y[0])
    good = ~np.isnan(expected)
    np.testing.assert_allclose(y[good], expected[good], rtol=1e-6)
    good = ~np.isnan(wanted) & ~np.isnan(x)
    np.testing.assert_allclose(g[good], wanted[good], rtol=1e-6, atol=1e-12)


INPLACE = [
    name
    for name in NODES
    if name not in ("gelu", "softplus", "softshrink", "hardshrink", "logsigmoid")
]


@pytest.mark.parametrize("name", INPLACE)
def test_in_place(name: str) -> None:
    args = (0.3, 7.0) if name == "threshold" else ()
    x = np.random.default_rng(0).normal(size=9)
    f = getattr(OURS, name)
    outside = _run(f, compat, x, args)

    def g(t: Any) -> Any:
        t = t * 1
        y = f(t, *args, inplace=True)
        assert y is t
        return y

    inside = _run(g, compat, x, args=())
    np.testing.assert_array_equal(outside[1], inside[1])
    np.testing.assert_allclose(outside[2], inside[2], rtol=1e-14)


def test_implicit_dimension() -> None:
    for shape, dim in (((), 0), ((3,), 0), ((2, 3), 1), ((2, 3, 2), 0), ((1, 2, 3, 2), 1)):
        x = compat.from_numpy(np.random.default_rng(0).normal(size=shape))
        for name in ("softmax", "log_softmax", "softmin"):
            f = getattr(OURS, name)
            with pytest.warns(UserWarning, match=f"Implicit dimension choice for {name}") as seen:
                found = f(x)
            assert seen[0].filename == __file__
            np.testing.assert_array_equal(found.numpy(), f(x, dim=dim).numpy())


def test_softmax_far_out() -> None:
    x = compat.tensor([1000.0, 1000.0, -1000.0], requires_grad=True)
    y = compat.softmax(x, 0)
    assert y.tolist() == [0.5, 0.5, 0.0]
    compat.logsumexp(x, 0).backward()
    assert x.grad.tolist() == [0.5, 0.5, 0.0]


@needs_torch
def test_dtypes() -> None:
    for values, dtype in (([1, 2], "int64"), ([1.0, 2.0], "float32"), ([1.0], "float64")):
        for name in ("softsign", "tanhshrink", "relu6", "hardtanh"):
            found = [
                getattr(F_, name)(m.tensor(values, dtype=getattr(m, dtype)))
                for F_, m in ((OURS, compat), (THEIRS, torch))
            ]
            assert str(found[0].dtype) == str(found[1].dtype)
            np.testing.assert_allclose(found[0].numpy(), found[1].numpy(), rtol=1e-6)


ERRORS: list[tuple[str, Any, tuple[Any, ...], type[Exception], str]] = [
    *(
        (name, [1, 2], (), NotImplementedError, "not implemented for 'Long'")
        for name in [*NODES, "glu"]
        if name not in ("relu6", "hardtanh", "rrelu")
    ),
    ("softmax", [1, 2], (0,), NotImplementedError, "not implemented for 'Long'"),
    ("log_softmax", [1j], (0,), NotImplementedError, "not implemented for 'ComplexFloat'"),
    ("softmax", [1.0], (1,), IndexError, "Dimension out of range"),
    ("celu", [1.0], (0,), RuntimeError, "alpha cannot be 0"),
    ("softshrink", [1.0], (-1,), RuntimeError, "lambda must be in range"),
    ("hardtanh", [1.0], (2, 1), ValueError, "min_val cannot be greater than max_val"),
    ("glu", [1.0, 2.0, 3.0], (), RuntimeError, "Halving dimension must be even"),
    ("glu", 1.0, (), RuntimeError, "does not support scalars"),
]


@pytest.mark.parametrize("name, values, args, cls, words", ERRORS, ids=repr)
def test_errors(name: str, values: Any, args: Any, cls: type[Exception], words: str) -> None:
    modules = [(OURS, compat)] + ([] if torch is None else [(THEIRS, torch)])
    for functional, module in modules:
        with pytest.raises(cls, match=words):
            getattr(functional, name)(module.tensor(values), *args)


def test_errors_of_prelu_and_others() -> None:
    for F_, m in [(OURS, compat)] + ([] if torch is None else [(THEIRS, torch)]):
        x = m.tensor([[1.0, 2.0, 3.0]])
        with pytest.raises(RuntimeError, match="Mismatch of parameter numbers"):
            F_.prelu(x, m.tensor([1.0, 2.0]))
        with pytest.raises(RuntimeError, match="scalar or 1D tensor"):
            F_.prelu(x, m.tensor([[1.0]]))
        with pytest.raises(RuntimeError, match="Type promoting not supported"):
            F_.prelu(x, m.tensor([1]))
        with pytest.raises(RuntimeError, match="must be either none or tanh"):
            F_.gelu(x, approximate="foo")
        with pytest.raises(TypeError, match="must be Tensor, not list"):
            F_.softplus([1.0])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(TypeError):
                m.softmax(m.tensor([1.0]))
        with pytest.raises(RuntimeError, match="Lower bound should be less"):
            F_.rrelu(x, 0.3, 0.1)


def test_rrelu_in_training() -> None:
    x = compat.full((1000,), -2.0, dtype=compat.float64, requires_grad=True)
    y = OURS.rrelu(x, 0.25, 0.5, training=True)
    slopes = compat.autograd.grad(y.sum(), x)[0]
    assert y.grad_fn.name() == "RreluWithNoiseBackward0"
    assert slopes.min() >= 0.25 and slopes.max() <= 0.5 and slopes.std() > 0.05
    assert compat.equal(y.detach(), -2.0 * slopes)


@needs_torch
def test_names() -> None:
    """What PyTorch has as ``torch.<name>`` we have as well, and not more."""
    ours = [n for n, f in vars(activation).items() if "activation" in getattr(f, "__module__", "")]
    names = [n for n in ours if n in dir(THEIRS)]
    assert len(names) > 25
    for name in names:
        assert hasattr(torch, name) == (name in activation.__all__), name


@pytest.mark.parametrize("count", [2, 1 << 15])
def test_gelu_of_numbers_whose_cube_overflows(count: int) -> None:
    x = compat.tensor([1e30, -1e30]).repeat(count // 2).requires_grad_()
    y = compat.nn.functional.gelu(x, approximate="tanh")
    y.sum().backward()
    assert y[:2].tolist() == [x[0].item(), 0.0]
    assert x.grad[:2].tolist() == [1.0, 0.0]
