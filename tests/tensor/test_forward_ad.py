"""`torch.autograd.forward_ad`: dual tensors, levels, and backward through them.

Each test runs on `compat` and, where it is installed, on PyTorch; those named so on `compat` only.
"""

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import compat
import compat.autograd.forward_ad


class Modules(NamedTuple):
    torch: Any
    fw: Any


def modules(name: str) -> Modules:
    pytest.importorskip(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Modules(
            importlib.import_module(name), importlib.import_module(f"{name}.autograd.forward_ad")
        )


OURS = modules("compat")


@pytest.fixture(params=["compat", "torch"])
def both(request: pytest.FixtureRequest) -> Modules:
    """The modules: ours, and PyTorch's where it is installed."""
    return modules(request.param)


# What PyTorch says about parts of itself when it first decomposes a function.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit")

# ---------------------------------------------------------------- derivatives along a tangent

x2, t2 = [0.5, -1.5], [1.0, 0.25]
POINTS: list[tuple[str, Callable[[Any, Any], Any]]] = [
    ("product", lambda torch, x: x * x * 3 + 1),
    ("quotient", lambda torch, x: 1 / (2 + x)),
    ("elementwise", lambda torch, x: torch.exp(torch.sin(x)) - x.tanh()),
    ("power", lambda torch, x: (x * x + 1) ** (x + 2)),
    ("sum", lambda torch, x: (x * x).sum()),
    ("mean", lambda torch, x: x.mean(0, keepdim=True) * x),
    ("max", lambda torch, x: x.max()),
    ("max with dim", lambda torch, x: x.reshape(2, 1).max(0).values),
    ("sorted", lambda torch, x: x.sort().values),
    ("abs and relu", lambda torch, x: x.abs() + torch.relu(x)),
    ("matmul", lambda torch, x: torch.ones(3, 2, dtype=x.dtype) @ x),
    ("outer", lambda torch, x: x[:, None] @ x[None]),
    ("index", lambda torch, x: x[torch.tensor([1, 1, 0])] * x[0]),
    ("slice", lambda torch, x: x[1:] * x[:1]),
    ("reshape", lambda torch, x: x.reshape(2, 1).t().expand(3, 2)),
    ("stack and cat", lambda torch, x: torch.cat([torch.stack([x, x * 2]), torch.ones(1, 2)])),
    ("where", lambda torch, x: torch.where(x > 0, x * x, torch.zeros(2))),
    ("softmax", lambda torch, x: torch.softmax(x, 0)),
    ("logsumexp", lambda torch, x: torch.logsumexp(x, 0)),
    ("norm", lambda torch, x: x.norm()),
    ("cumsum", lambda torch, x: x.cumsum(0)),
    ("double", lambda torch, x: x.double() * 2),
    ("written", lambda torch, x: x.clone().mul_(x)),
    ("put", lambda torch, x: x.repeat(2).mul(0).index_put_((torch.tensor([1, 3]),), x)),
]


def push(m: Modules, f: Callable[..., Any], x: Any, t: Any) -> Any:
    """The value and the tangent of ``f(x + eps t)``."""
    with m.fw.dual_level():
        return m.fw.unpack_dual(f(m.torch, m.fw.make_dual(x, t)))


@pytest.mark.parametrize(("name", "f"), POINTS, ids=[name for name, _ in POINTS])
def test_tangent_is_the_directional_derivative(
    both: Modules, name: str, f: Callable[..., Any]
) -> None:
    torch = both.torch
    x, t = torch.tensor(x2), torch.tensor(t2)
    primal, tangent = push(both, f, x, t)
    assert torch.equal(primal, f(torch, x))
    assert tangent.shape == primal.shape and tangent.dtype == primal.dtype
    y, u = x.double(), t.double() * 1e-6
    numerical = (f(torch, y + u).double() - f(torch, y - u).double()) / 2e-6
    np.testing.assert_allclose(tangent.numpy(), numerical.numpy(), 2e-5, 2e-6)


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda torch, z: z.abs(), [0.8]),
        (lambda torch, z: z.real, [0.0]),
        (lambda torch, z: z.imag, [1.0]),
        (lambda torch, z: (z.conj() * z).real, [8.0]),
        (lambda torch, z: z * z, [-8 + 6j]),
        (lambda torch, z: torch.view_as_real(z), [[0.0, 1.0]]),
        (lambda torch, z: torch.complex(z.imag, z.real), [1.0]),
    ],
)
def test_complex(both: Modules, f: Callable[..., Any], expected: Any) -> None:
    torch = both.torch
    tangent = push(both, f, torch.tensor([3 + 4j]), torch.tensor([1j])).tangent
    np.testing.assert_allclose(tangent.numpy(), expected, 1e-6)


@given(a=st.floats(-2, 2, width=32), b=st.floats(-2, 2, width=32), scale=st.floats(-3, 3, width=32))
def test_compat_tangents_are_linear(a: float, b: float, scale: float) -> None:
    def dot(t: float) -> float:
        x = compat.tensor([0.3, 1.2], dtype=compat.float64)
        along = compat.tensor([t, -t], dtype=compat.float64)
        return float(push(OURS, lambda torch, x: (x.sin() * x).prod(), x, along).tangent)

    assert dot(a + scale * b) == pytest.approx(dot(a) + scale * dot(b), abs=1e-9)


def test_no_elements_and_no_axes(both: Modules) -> None:
    torch = both.torch
    found = push(both, lambda torch, x: x.sum(), torch.zeros(0), torch.zeros(0))
    assert (float(found.primal), float(found.tangent)) == (0.0, 0.0)
    found = push(both, lambda torch, x: x**x, torch.tensor(2.0), torch.tensor(1.0))
    assert float(found.tangent) == pytest.approx(4 * (math.log(2) + 1))


# ---------------------------------------------------------------- dual tensors


def test_what_has_no_tangent(both: Modules) -> None:
    torch, fw = both
    x, t = torch.tensor(x2), torch.tensor(t2)
    assert fw.unpack_dual(x).tangent is None  # outside of a level
    with fw.dual_level():
        d = fw.make_dual(x, t)
        for y in (x, x + 1, d.detach(), d > 0, d.long(), torch.zeros_like(d), d.sign() * 0 + x):
            tangent = fw.unpack_dual(y).tangent
            assert tangent is None or not tangent.any()
        assert fw.unpack_dual(d.detach()).tangent is None
        assert fw.unpack_dual(x + 1).tangent is None


def test_a_dual_tensor_is_like_its_value(both: Modules) -> None:
    torch, fw = both
    with fw.dual_level():
        d = fw.make_dual(torch.tensor(x2), torch.tensor(t2))
        assert d.shape == (2,) and d.dtype is torch.float32 and d.is_leaf and not d.requires_grad
        assert d.tolist() == x2 and d[0].item() == 0.5 and float(d.sum()) == -1.0
        assert (d > 0).tolist() == [True, False] and bool(d[0] > 0)
        assert f"{d[0]:.2f}" == "0.50"


def test_given_tangent_comes_back(both: Modules) -> None:
    torch, fw = both
    x, t = torch.tensor(x2), torch.tensor(t2)
    with fw.dual_level():
        found = fw.unpack_dual(fw.make_dual(x, t))
    assert found.tangent is t and torch.equal(found.primal, x)
    assert type(found).__name__ == "UnpackedDualTensor" and found._fields == ("primal", "tangent")


def test_dual_tensors_print(both: Modules) -> None:
    torch, fw = both
    with fw.dual_level():
        d = fw.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
        assert repr(d) == "tensor([1., 2.], tangent=tensor([3., 4.]))"
        assert repr(d[0]) == "tensor(1., tangent=3.0)"
        p = fw.make_dual(torch.ones(1, requires_grad=True), torch.ones(1))
        assert repr(p) == "tensor([1.], grad_fn=<ViewBackward0>, tangent=tensor([1.]))"
    assert repr(d) == "tensor([1., 2.])"


def test_the_end_of_a_level(both: Modules) -> None:
    """Values stay, tangents go; tangents taken out before are ordinary tensors."""
    torch, fw = both
    with fw.dual_level():
        d = fw.make_dual(torch.tensor(x2), torch.tensor(t2))
        y = d * d
        tangent = fw.unpack_dual(y).tangent
    assert y.tolist() == [0.25, 2.25] and tangent.tolist() == [1.0, -0.75]
    assert fw.unpack_dual(d).tangent is None
    with fw.dual_level():
        assert fw.unpack_dual(y).tangent is None
        again = fw.make_dual(d, torch.ones(2))
        assert fw.unpack_dual(again * 2).tangent.tolist() == [2.0, 2.0]
    assert (d + 1).tolist() == [1.5, -0.5]


def test_enter_and_exit(both: Modules) -> None:
    fw = both.fw
    level = fw.enter_dual_level()
    assert level == 0
    with pytest.raises(RuntimeError, match="not the last one that was created"):
        fw.exit_dual_level(level=5)
    fw.exit_dual_level(level=level)
    with fw.dual_level() as number:
        assert number in (0, None)


def test_error_inside_ends_the_level(both: Modules) -> None:
    torch, fw = both
    with pytest.raises(KeyError), fw.dual_level():
        d = fw.make_dual(torch.tensor(1.0), torch.tensor(1.0))
        raise KeyError
    assert fw.unpack_dual(d).tangent is None
    with pytest.raises(RuntimeError, match="no level exists"):
        fw.make_dual(torch.tensor(1.0), torch.tensor(1.0))


# ---------------------------------------------------------------- writing


@pytest.mark.parametrize(
    ("write", "value", "tangent"),
    [
        (lambda torch, d: torch.zeros(2).add_(d), x2, t2),
        (lambda torch, d: torch.zeros(2).copy_(d).mul_(2), [1.0, -3.0], [2.0, 0.5]),
        (lambda torch, d: _assigned(torch.zeros(4), slice(1, 3), d), [0, *x2, 0], [0, *t2, 0]),
        (lambda torch, d: _through_a_view(torch.zeros(4), d), [0, *x2, 0], [0, *t2, 0]),
        (lambda torch, d: _assigned(d.clone(), 0, 9.0), [9.0, -1.5], [0.0, 0.25]),
        (lambda torch, d: d.clone().zero_(), [0.0, 0.0], [0.0, 0.0]),
    ],
)
def test_written(both: Modules, write: Callable[..., Any], value: Any, tangent: Any) -> None:
    torch = both.torch
    found = push(both, write, torch.tensor(x2), torch.tensor(t2))
    assert found.primal.tolist() == value
    assert (torch.zeros(2) if found.tangent is None else found.tangent).tolist() == tangent


def _assigned(y: Any, index: Any, value: Any) -> Any:
    y[index] = value
    return y


def _through_a_view(y: Any, value: Any) -> Any:
    y[1:3].copy_(value)
    return y


# ---------------------------------------------------------------- modes


def test_no_grad_and_detach(both: Modules) -> None:
    """`no_grad` stops the tape and not forward mode."""
    torch, fw = both
    p = torch.tensor(x2, requires_grad=True)
    with fw.dual_level():
        d = fw.make_dual(p, torch.tensor(t2))
        assert d.requires_grad
        with torch.no_grad():
            y = d * 2
            assert not y.requires_grad
            assert fw.unpack_dual(y).tangent.tolist() == [2.0, 0.5]
            assert not fw.unpack_dual(y).tangent.requires_grad
        assert fw.unpack_dual(y.sum()).tangent.tolist() == 2.5


def test_compat_made_without_recording() -> None:
    p = compat.tensor(x2, requires_grad=True)
    fw = compat.autograd.forward_ad
    with fw.dual_level():
        with compat.no_grad():
            assert not fw.make_dual(p, p).requires_grad
        d = fw.make_dual(p, p)
        with compat.no_grad():
            found = fw.unpack_dual(d * d)
        assert not found.primal.requires_grad and not found.tangent.requires_grad


# ---------------------------------------------------------------- with backward


def test_forward_over_reverse(both: Modules) -> None:
    """The tangent of a gradient: a product of Hessian and vector."""
    torch, fw = both
    p, v = torch.tensor(x2, requires_grad=True), torch.tensor(t2)
    with fw.dual_level():
        y = (fw.make_dual(p, v) ** 3).prod()
        (g,) = torch.autograd.grad(y, p, create_graph=True)
        hv = fw.unpack_dual(g).tangent
    _, expected = torch.autograd.functional.hvp(lambda x: (x**3).prod(), torch.tensor(x2), v)
    np.testing.assert_allclose(hv.detach().numpy(), expected.numpy(), 1e-5)


def test_reverse_over_forward(both: Modules) -> None:
    """The gradient of a tangent, by the point and by the tangent that was given."""
    torch, fw = both
    p = torch.tensor([1.0, 2.0], requires_grad=True)
    t = torch.tensor([3.0, 4.0], requires_grad=True)
    with fw.dual_level():
        out = fw.unpack_dual((fw.make_dual(p, t) ** 3).sum())
        assert float(out.tangent.detach()) == 57.0
        by_p, by_t = torch.autograd.grad(out.tangent, (p, t), create_graph=True)
        (third,) = torch.autograd.grad(by_p.sum(), p, retain_graph=True)
    assert by_p.tolist() == [18.0, 48.0] and by_t.tolist() == [3.0, 12.0]
    assert third.tolist() == [18.0, 24.0]


def test_backward_by_the_tangent_alone(both: Modules) -> None:
    torch, fw = both
    t = torch.tensor(t2, requires_grad=True)
    with fw.dual_level():
        d = fw.make_dual(torch.tensor(x2), t)
        fw.unpack_dual((d * d).sum()).tangent.backward()
    assert t.grad.tolist() == [1.0, -3.0]


def test_backward_after_the_level(both: Modules) -> None:
    torch, fw = both
    p = torch.tensor([1.0, 2.0], requires_grad=True)
    with fw.dual_level():
        y = (fw.make_dual(p, torch.tensor([3.0, 4.0])) ** 3).sum()
        value, tangent = fw.unpack_dual(y)
    assert torch.autograd.grad(tangent, p, retain_graph=True)[0].tolist() == [18.0, 48.0]
    assert torch.autograd.grad(value, p)[0].tolist() == [3.0, 12.0]


def test_backward_of_dual_values(both: Modules) -> None:
    torch, fw = both
    p = torch.tensor([1.0, 2.0], requires_grad=True)
    with fw.dual_level():
        (fw.make_dual(p, torch.ones(2)) ** 3).sum().backward()
    assert p.grad.tolist() == [3.0, 12.0]


def test_parameters_of_a_module(both: Modules) -> None:
    torch, fw = both
    layer = torch.nn.Linear(2, 1)
    with torch.no_grad():
        for p in layer.parameters():
            p.fill_(2.0)
    with fw.dual_level():
        for name, p in dict(layer.named_parameters()).items():
            delattr(layer, name)
            setattr(layer, name, fw.make_dual(p, torch.ones_like(p)))
        found = fw.unpack_dual(layer(torch.tensor([1.0, 3.0])))
    assert found.primal.tolist() == [10.0] and found.tangent.tolist() == [5.0]


# ---------------------------------------------------------------- custom functions


def test_jvp_of_a_function(both: Modules) -> None:
    torch, fw = both

    class Wrong(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any, k: int) -> Any:
            ctx.save_for_forward(x)
            ctx.k = k
            return x.sin()

        @staticmethod
        def jvp(ctx: Any, t: Any, none: Any) -> Any:
            assert none is None
            (x,) = ctx.saved_tensors
            return t * x.cos() * ctx.k

    found = push(both, lambda torch, x: Wrong.apply(x, 100), torch.tensor(0.0), torch.tensor(2.0))
    assert float(found.tangent) == 200.0
    with fw.dual_level():
        assert fw.unpack_dual(Wrong.apply(torch.tensor(0.0), 1)).tangent is None


def test_compat_function_without_jvp() -> None:
    """PyTorch refuses; here the rule for forward mode is the transpose of backward."""

    class Double(compat.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    found = push(OURS, lambda torch, x: Double.apply(x), compat.tensor(x2), compat.tensor(t2))
    assert found.tangent.tolist() == [2.0, 0.5]


# ---------------------------------------------------------------- errors


def test_without_a_level(both: Modules) -> None:
    torch, fw = both
    with pytest.raises(RuntimeError, match="no level exists, make sure to enter_dual_level"):
        fw.make_dual(torch.tensor(1.0), torch.tensor(1.0))
    with pytest.raises(RuntimeError, match="Dual level must be a positive number"):
        fw.exit_dual_level()


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda m: m.fw.make_dual(m.torch.ones(2), m.torch.ones(1)),
            RuntimeError,
            r"has a different size than that of the original Tensor.*size \[2\].*size \[1\]",
        ),
        (
            lambda m: m.fw.make_dual(m.torch.tensor([1]), m.torch.ones(1)),
            ValueError,
            "Expected primal to be floating point or complex, but got: torch.int64",
        ),
        (
            lambda m: m.fw.make_dual(m.torch.ones(1), m.torch.tensor([True])),
            ValueError,
            "Expected tangent to be floating point or complex, but got: torch.bool",
        ),
        (lambda m: m.fw.make_dual(m.torch.ones(1), 1.0), AttributeError, "float"),
        (lambda m: m.fw.make_dual(1.0, m.torch.ones(1)), AttributeError, "float"),
        (
            lambda m: m.fw.make_dual(
                m.fw.make_dual(m.torch.ones(1), m.torch.ones(1)), m.torch.ones(1)
            ),
            RuntimeError,
            "already has a forward gradient at the same level 0",
        ),
        (
            lambda m: m.fw.make_dual(m.torch.ones(1), m.torch.ones(1), level=3),
            RuntimeError,
            "Invalid level given to _make_dual",
        ),
        (
            lambda m: m.fw.unpack_dual(m.fw.make_dual(m.torch.ones(1), m.torch.ones(1)), level=3),
            RuntimeError,
            "Invalid level given to _fw_primal",
        ),
        (
            lambda m: m.fw.make_dual(m.torch.ones(1), m.torch.ones(1), level=-1),
            RuntimeError,
            "no level exists",
        ),
    ],
)
def test_refused(
    both: Modules, make: Callable[[Modules], Any], error: type[Exception], message: str
) -> None:
    with both.fw.dual_level(), pytest.raises(error, match=message):
        make(both)


def test_compat_complex_tangent_of_a_real_tensor() -> None:
    """PyTorch keeps it, and goes on with a tangent that no real step has."""
    with (
        OURS.fw.dual_level(),
        pytest.raises(ValueError, match="Expected a real tangent of a real tensor"),
    ):
        OURS.fw.make_dual(compat.ones(1), compat.tensor([1j]))


# ---------------------------------------------------------------- levels in levels


def test_compat_levels_nest() -> None:
    """Second derivatives by forward mode twice; PyTorch allows one level only."""
    fw = compat.autograd.forward_ad
    one = compat.tensor(1.0)
    with fw.dual_level() as outer:
        x = fw.make_dual(compat.tensor(2.0), one)
        with fw.dual_level() as inner:
            assert (outer, inner) == (0, 1)
            y = fw.make_dual(x, one) ** 3
            first = fw.unpack_dual(y).tangent
            assert float(first) == 12.0
            assert float(fw.unpack_dual(y, level=inner).primal) == 8.0
        assert float(fw.unpack_dual(first).tangent) == 12.0
        assert float(fw.unpack_dual(y).tangent) == 12.0


def test_compat_perturbations_are_kept_apart() -> None:
    """``d/dx (x * d/dy (x + y))`` is 1, not 2."""
    fw = compat.autograd.forward_ad
    one = compat.tensor(1.0)
    with fw.dual_level():
        x = fw.make_dual(one, one)
        with fw.dual_level():
            y = fw.make_dual(one, one)
            inner = fw.unpack_dual(x + y).tangent
        assert float(fw.unpack_dual(x * inner).tangent) == 1.0


def test_compat_transforms_of_dual_tensors() -> None:
    fw = compat.autograd.forward_ad
    x, t = compat.tensor([1.0, 2.0]), compat.tensor([3.0, 4.0])
    with fw.dual_level():
        d = fw.make_dual(x, t)
        mapped = fw.unpack_dual(compat.func.vmap(lambda x: x.sin())(d)).tangent
        grads = fw.unpack_dual(compat.func.grad(lambda x: x.sin().sum())(d)).tangent
        _, along = compat.func.jvp(lambda x: x.sin(), (d,), (compat.ones(2),))
        pushed = fw.unpack_dual(along).tangent
    np.testing.assert_allclose(mapped.numpy(), np.cos([1, 2]) * [3, 4], 1e-6)
    np.testing.assert_allclose(grads.numpy(), -np.sin([1, 2]) * [3, 4], 1e-6)
    np.testing.assert_allclose(pushed.numpy(), -np.sin([1, 2]) * [3, 4], 1e-6)


@pytest.mark.parametrize("name", ["median", "nanmedian", "max", "min"])
def test_ties_are_shared_forward_too(name: str) -> None:
    """The tangent is what the gradient says."""
    x, v = compat.tensor([0.0, 0.0, 0.0, 1.0]), compat.tensor([1.0, 3.0, 8.0, 5.0])
    f = getattr(compat, name)
    tangent = compat.func.jvp(f, (x,), (v,))[1]
    assert tangent.item() == pytest.approx((compat.func.grad(f)(x) * v).sum().item())
