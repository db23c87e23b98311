"""What the Tensor layer does where PyTorch fails (section 7 of the table of behaviours), and the list
of all deliberate differences from PyTorch.

The other sections are tested in `test_behaviours_<flags|modes|inplace|hooks|graph|function>.py`, each
row on both libraries, so one run of ``pytest tests/tensor/test_behaviours*.py`` is the double run.
`DIFFERENCES` lists the rows where both must *not* agree; each is run on both, too. On top of them
comes what the messages of errors say: where in the user's code it happened
(`test_behaviours_places.py`). And PyTorch dies of a stack overflow if somebody holds all nodes of a
graph that is 60 000 nodes deep (`test_behaviours_graph.py`).
"""

from __future__ import annotations

import gc
import inspect
import warnings
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import compat
import funcgrad


@pytest.fixture(params=["compat", "torch"])
def torch(request: pytest.FixtureRequest) -> Any:
    """The module: ours, and PyTorch where it is installed."""
    return compat if request.param == "compat" else pytest.importorskip("torch")


def leaf(torch: Any, data: Any) -> Any:
    return torch.tensor(data, requires_grad=True)


# ---------------------------------------------------------------- deliberate differences


class Raises(NamedTuple):
    """The outcome of a program that raises: the type, and words of the message."""

    error: type[Exception]
    words: str


class Difference(NamedTuple):
    """A row of the table where we differ, with what each library does."""

    section: int
    row: str
    program: Callable[[Any], Any]
    pytorch: Any
    ours: Any
    why: str


def write_twice(torch: Any) -> Any:
    v, b = leaf(torch, [1.0, 2.0]), torch.zeros(2)
    b[[0, 0]] = v
    assert b.tolist() == [2.0, 0.0]
    b.sum().backward()
    return v.grad.tolist()


def write_through_data(torch: Any) -> Any:
    a = leaf(torch, [1.0, 2.0])
    y = (a * a).sum()
    a.data.add_(1)
    y.backward()
    return a.grad.tolist()


def recorded_gradient_is_freed(torch: Any) -> Any:
    gc.collect()
    gc.disable()
    try:
        x = leaf(torch, [1.0, 2.0])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (x**3).sum().backward(create_graph=True)
        refs = [weakref.ref(x), weakref.ref(x.grad)]
        del x
        return [r() is None for r in refs]
    finally:
        gc.enable()


def non_tensor_gradient(torch: Any) -> Any:
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return 3.0

    try:
        F.apply(leaf(torch, 1.0)).backward()
    except Exception as error:
        return isinstance(error, TypeError), isinstance(error, RuntimeError)


def kept_on_ctx(torch: Any) -> Any:
    """The second derivative of x exp(x), 3 e at 1, with an exp that keeps its result on its ctx."""

    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.kept = torch.exp(x)
            return ctx.kept * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.kept

    x = leaf(torch, 1.0)
    (g,) = torch.autograd.grad(Exp.apply(x) * x, x, create_graph=True)
    return round(torch.autograd.grad(g, x)[0].item() / np.exp(1.0), 4)


class Rules:
    """A Function with forward(ctx, x), and one with setup_context, with no other method."""

    @staticmethod
    def with_ctx(torch: Any) -> Any:
        class Double(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                return x * 2

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                return g * 2

        return Double.apply

    @staticmethod
    def split(torch: Any) -> Any:
        class Double(torch.autograd.Function):
            @staticmethod
            def forward(x: Any) -> Any:
                return x * 2

            @staticmethod
            def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
                pass

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                return g * 2

        return Double.apply


def backward_inside_grad(torch: Any) -> Any:
    """The gradient by a of w.grad**2 for the loss (w a)**2 at w=3: 2 w a**2 = 6 a**2, squared."""

    def outer(a: Any) -> Any:
        w = leaf(torch, 3.0)
        ((w * a) ** 2).backward()
        return w.grad * w.grad

    return torch.func.grad(outer)(torch.tensor(2.0)).item()


def per_sample_gradients(torch: Any) -> Any:
    w = leaf(torch, [3.0, 4.0])

    def sample(x: Any) -> Any:
        w.grad = None
        (w * w * x).sum().backward()
        (w * x).sum().backward()
        return w.grad

    return torch.func.vmap(sample)(torch.tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()


FUNCTORCH = Raises(RuntimeError, "called inside a functorch transform")
NUMPY = Raises(RuntimeError, r"Can't call numpy\(\) on Tensor that requires grad")

DIFFERENCES = [
    Difference(
        4,
        "b[[0,0]]=v, v=[1,2]; b.sum().backward(); v.grad",
        write_twice,
        [1.0, 1.0],
        [0.0, 1.0],
        "the first write is lost, so it has no influence on the result",
    ),
    Difference(
        4,
        "y=(a*a).sum(); a.data.add_(1); y.backward()",
        write_through_data,
        [4.0, 6.0],
        Raises(RuntimeError, "modified by an inplace operation"),
        "the gradient would be that of another point",
    ),
    Difference(
        5,
        "backward(create_graph=True), then del x, with the collector off",
        recorded_gradient_is_freed,
        [False, False],
        [True, True],
        "no reference cycle is made",
    ),
    Difference(
        6,
        "backward returns a non-tensor: a TypeError? a RuntimeError?",
        non_tensor_gradient,
        (False, True),
        (True, True),
        "it is a TypeError; who catches PyTorch's RuntimeError still does",
    ),
    Difference(
        6,
        "a tensor kept on ctx that is neither input nor output, then the second derivative",
        kept_on_ctx,
        2.0,
        Raises(RuntimeError, "kept it on ctx"),
        "what flows through the kept tensor is not known",
    ),
    Difference(
        6,
        "forward(ctx, x) under torch.func.grad",
        lambda torch: torch.func.grad(Rules.with_ctx(torch))(torch.tensor(1.0)).item(),
        Raises(RuntimeError, "setup_context"),
        2.0,
        "the rule follows from what the user wrote",
    ),
    Difference(
        6,
        "a Function without vmap or generate_vmap_rule under torch.func.vmap",
        lambda torch: torch.func.vmap(Rules.split(torch))(torch.tensor([1.0, 2.0])).tolist(),
        Raises(RuntimeError, "generate_vmap_rule"),
        [2.0, 4.0],
        "the rule follows from what the user wrote",
    ),
    Difference(
        6,
        "a Function without jvp under torch.func.jvp",
        lambda torch: torch.func.jvp(
            Rules.split(torch), (torch.tensor(1.0),), (torch.tensor(3.0),)
        )[1].item(),
        Raises(NotImplementedError, "jvp"),
        6.0,
        "the rule follows from what the user wrote",
    ),
    Difference(
        7,
        "np.sin(t)",
        lambda torch: np.sin(leaf(torch, [0.0])).grad_fn.name(),
        NUMPY,
        "SinBackward0",
        "NumPy's functions are recorded",
    ),
    Difference(
        7,
        "np.ones(3)*t",
        lambda torch: (np.ones(3) * leaf(torch, [0.0])).grad_fn.name(),
        Raises(TypeError, "unsupported operand"),
        "MulBackward0",
        "NumPy's functions are recorded",
    ),
    Difference(
        7,
        "np.linalg.solve(A, t)",
        lambda torch: np.linalg.solve(np.eye(2), leaf(torch, [1.0, 2.0])).requires_grad,
        NUMPY,
        True,
        "NumPy's functions are recorded",
    ),
    Difference(
        7,
        ".backward() called inside torch.func.grad",
        backward_inside_grad,
        FUNCTORCH,
        4 * 36 * 8.0,
        "the tape is itself transformed",
    ),
    Difference(
        7,
        "vmap of code that accumulates .grad",
        per_sample_gradients,
        FUNCTORCH,
        [[7.0, 18.0], [21.0, 36.0]],
        "the tape is itself transformed",
    ),
]


@pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning")  # of torch's first jvp
@pytest.mark.parametrize("case", DIFFERENCES, ids=lambda d: d.row)
def test_deliberate_difference(torch: Any, case: Difference) -> None:
    """Each library does what the table says, and they are not the same."""
    assert case.pytorch != case.ours
    expected = case.ours if torch is compat else case.pytorch
    if isinstance(expected, Raises):
        with pytest.raises(expected.error, match=expected.words):
            case.program(torch)
    else:
        assert case.program(torch) == expected


# ---------------------------------------------------------------- NumPy's functions


def test_numpy_ufuncs_of_tensors() -> None:
    """np.sin(t), np.ones(3)*t: Tensors with a grad_fn, and the gradient is right."""
    t = leaf(compat, [0.1, 0.2, 0.3])
    y = np.sin(t)
    assert type(y) is compat.Tensor
    assert y.grad_fn.name() == "SinBackward0"
    y.sum().backward()
    np.testing.assert_allclose(t.grad.numpy(), np.cos([0.1, 0.2, 0.3]), rtol=1e-6)
    t.grad = None
    y = np.array([1.0, 2.0, 3.0]) * t
    assert type(y) is compat.Tensor
    assert y.grad_fn is not None
    y.sum().backward()
    assert t.grad.tolist() == [1.0, 2.0, 3.0]
    for out in (np.add(1.0, t), np.ones(3) - t, np.ones((2, 3)) @ t, np.float64(2) * t):
        assert type(out) is compat.Tensor
        assert out.grad_fn is not None


def test_numpy_functions_of_tensors() -> None:
    """np.linalg.solve(A, t), np.concatenate, np.where and their like."""
    a = np.array([[3.0, 1.0], [1.0, 2.0]])
    t = compat.tensor([1.0, 2.0], dtype=compat.float64, requires_grad=True)
    x = np.linalg.solve(a, t)
    assert type(x) is compat.Tensor
    assert x.grad_fn is not None
    np.testing.assert_allclose(x.detach().numpy(), np.linalg.solve(a, [1.0, 2.0]))
    x.backward(compat.tensor([1.0, 10.0], dtype=compat.float64))
    np.testing.assert_allclose(t.grad.numpy(), np.linalg.solve(a.T, [1.0, 10.0]))
    t.grad = None
    both = np.concatenate([t, np.where(np.array([True, False]), t, t * 3)])
    assert type(both) is compat.Tensor
    np.sum(both).backward()
    assert t.grad.tolist() == [2.0, 4.0]


# ---------------------------------------------------------------- the tape under transforms


def test_backward_inside_funcgrad() -> None:
    """.backward() called inside funcgrad.grad, vmap: works, in a training loop with in-place steps."""

    def trained(a: Any) -> Any:
        data = compat.tensor(a)
        w = compat.tensor([1.0, -1.0], dtype=compat.float64, requires_grad=True)
        for _ in range(3):
            w.grad = None
            ((w * data) ** 2).sum().backward()
            with compat.no_grad():
                w -= 0.1 * w.grad
        return (w * w).sum()._array

    a = np.array([0.5, 0.7])
    # w = w0 (1 - 0.2 a**2)**3, so the sum of squares has the derivative -2.4 a (1 - 0.2 a**2)**5
    np.testing.assert_allclose(trained(a), ((1 - 0.2 * a**2) ** 6).sum())
    expected = -2.4 * a * (1 - 0.2 * a**2) ** 5
    np.testing.assert_allclose(funcgrad.grad(trained)(a), expected)
    rows = np.array([a, 2 * a, -a])
    np.testing.assert_allclose(funcgrad.vmap(trained)(rows), [trained(r) for r in rows])
    np.testing.assert_allclose(
        funcgrad.vmap(funcgrad.grad(trained))(rows), [funcgrad.grad(trained)(r) for r in rows]
    )


def test_per_sample_gradients_of_a_module() -> None:
    """vmap of code that accumulates .grad gives per-sample .grad, of a module's parameters too."""
    model = compat.nn.Linear(2, 1)
    xs = compat.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    def sample(x: Any) -> Any:
        model.zero_grad()
        (model(x) ** 2).sum().backward()
        return model.weight.grad, model.bias.grad

    weights, biases = (g.detach() for g in compat.func.vmap(sample)(xs))
    assert all(p.grad is None for p in model.parameters())
    for x, w, b in zip(xs, weights, biases, strict=True):
        model.zero_grad()
        (model(x) ** 2).sum().backward()
        np.testing.assert_allclose(w.numpy(), model.weight.grad.numpy(), rtol=1e-5)
        np.testing.assert_allclose(b.numpy(), model.bias.grad.numpy(), rtol=1e-5)


def test_the_tape_goes_on_after_a_transform() -> None:
    """A leaf outside keeps its `.grad`: what is inside a transform does not leak out of it."""
    w = leaf(compat, [3.0, 4.0])
    (w * 2).sum().backward()
    per_sample_gradients(compat)
    compat.func.grad(lambda a: (a * w).sum())(compat.tensor([1.0, 2.0]))
    assert w.grad.tolist() == [2.0, 2.0]
    assert compat.is_grad_enabled()


# ---------------------------------------------------------------- dtypes


KEEPS_FLOAT32: list[Callable[[Any, Any], Any]] = [
    lambda torch, x: x * 2.0 + 1,
    lambda torch, x: 1 / x,
    lambda torch, x: x**0.5,
    lambda torch, x: 2**x,
    lambda torch, x: x * np.float64(2),
    lambda torch, x: np.float64(2) * x,
    lambda torch, x: x * torch.tensor(2.0, dtype=torch.float64),
    lambda torch, x: x * torch.tensor([1, 2, 3]),
    lambda torch, x: x.mean(),
    lambda torch, x: x.std(),
    lambda torch, x: x.var(dim=0, correction=0),
    lambda torch, x: x.norm(),
    lambda torch, x: x.prod(),
    lambda torch, x: x.cumsum(0),
    lambda torch, x: x.max(),
    lambda torch, x: torch.logsumexp(x, 0),
    lambda torch, x: torch.softmax(x, dim=0),
    lambda torch, x: torch.sigmoid(x),
    lambda torch, x: torch.sqrt(x),
    lambda torch, x: torch.exp(x).log(),
    lambda torch, x: x @ x,
    lambda torch, x: torch.where(x > 1.5, x, 0.0),
    lambda torch, x: x.clamp(0.0, 1.5),
    lambda torch, x: torch.stack([x, x])[:, 1:],
    lambda torch, x: torch.nn.functional.gelu(x),
    lambda torch, x: torch.nn.functional.mse_loss(x, torch.zeros(3)),
    lambda torch, x: torch.nn.functional.normalize(x, dim=0),
]
WIDENS: list[Callable[[Any, Any], Any]] = [
    lambda torch, x: x.double(),
    lambda torch, x: x * torch.ones(3, dtype=torch.float64),
    lambda torch, x: torch.sin(x.to(torch.float64)) * 2,
    lambda torch, x: x.sum(dtype=torch.float64),
]


def body(f: Callable[..., Any]) -> str:
    """The text of a lambda that has a line to itself."""
    return inspect.getsource(f).split(": ", 1)[1].strip().rstrip(",")


def assert_float32_gradient(torch: Any, x: Any, y: Any, dtype: Any) -> None:
    assert y.dtype == dtype
    seen = []
    handle = x.register_hook(seen.append)
    y.sum().backward()
    handle.remove()
    assert [g.dtype for g in seen] == [torch.float32]
    assert (x.grad.dtype, x.grad.device) == (torch.float32, x.device)
    if torch is compat:
        assert x.grad._array.dtype == np.float32


@pytest.mark.parametrize("f", KEEPS_FLOAT32, ids=body)
def test_float32_stays(torch: Any, f: Callable[[Any, Any], Any]) -> None:
    """float32 in, float32 out, and a float32 gradient, at first and when it is added to."""
    x = leaf(torch, [1.0, 2.0, 3.0])
    for _ in range(2):
        assert_float32_gradient(torch, x, f(torch, x), torch.float32)
    (g,) = torch.autograd.grad(f(torch, x).sum(), x, create_graph=True)
    assert g.dtype == torch.float32
    if g.requires_grad:
        assert torch.autograd.grad(g.sum(), x)[0].dtype == torch.float32


@pytest.mark.parametrize("f", WIDENS, ids=body)
def test_gradient_of_a_wider_result(torch: Any, f: Callable[[Any, Any], Any]) -> None:
    """A float64 result of a float32 leaf: the gradient is float32 all the same."""
    x = leaf(torch, [1.0, 2.0, 3.0])
    for _ in range(2):
        assert_float32_gradient(torch, x, f(torch, x), torch.float64)


def test_float32_gradient_through_numpy() -> None:
    """np.ones(3)*t is float64, as NumPy says; the gradient of t is float32."""
    x = leaf(compat, [1.0, 2.0, 3.0])
    for y in (np.sin(x), np.ones(3, np.float32) * x):
        assert_float32_gradient(compat, x, y, compat.float32)
    assert_float32_gradient(compat, x, np.ones(3) * x, compat.float64)
