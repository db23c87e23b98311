"""`compat.func`: transforms of tensor code, alone, nested, with a tape outside or inside."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import compat
import funcgrad

# PyTorch warns of its own parts.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")

ROWS = np.array([[0.3, -0.7], [1.1, 0.4], [-0.2, 0.9]])


@pytest.fixture(params=["compat", "torch"])
def torch(request: pytest.FixtureRequest) -> Any:
    """The module: ours, and PyTorch where it is installed."""
    return compat if request.param == "compat" else pytest.importorskip("torch")


def close(a: Any, b: Any) -> None:
    a, b = (x.detach().numpy() if hasattr(x, "detach") else np.asarray(x) for x in (a, b))
    assert a.shape == b.shape
    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def energy(torch: Any) -> Callable[[Any], Any]:
    return lambda x: (torch.sin(x) * x * x).sum() + torch.exp(x).sum()


def gradient(x: np.ndarray) -> np.ndarray:
    return np.cos(x) * x * x + 2 * x * np.sin(x) + np.exp(x)


def curvature(x: np.ndarray) -> np.ndarray:
    return -np.sin(x) * x * x + 4 * x * np.cos(x) + 2 * np.sin(x) + np.exp(x)


def test_every_transform(torch: Any) -> None:
    f, x = energy(torch), torch.from_numpy(ROWS[0].copy())
    g, h = gradient(ROWS[0]), np.diag(curvature(ROWS[0]))
    v = torch.from_numpy(np.array([1.0, -2.0]))
    close(torch.func.grad(f)(x), g)
    grads, value = torch.func.grad_and_value(f)(x)
    close(grads, g)
    close(value, f(x))
    close(torch.func.jacrev(f)(x), g)
    close(torch.func.jacfwd(f)(x), g)
    close(torch.func.hessian(f)(x), h)
    close(torch.func.jvp(f, (x,), (v,))[1], g @ v.numpy())
    out, pull = torch.func.vjp(f, x)
    close(pull(torch.ones_like(out))[0], g)
    close(torch.func.linearize(f, x)[1](v), g @ v.numpy())
    close(torch.func.vmap(f)(torch.from_numpy(ROWS)), [f(torch.from_numpy(r)) for r in ROWS])


def test_nesting(torch: Any) -> None:
    f, F = energy(torch), torch.func
    rows = torch.from_numpy(ROWS)
    close(F.vmap(F.grad(f))(rows), gradient(ROWS))
    close(F.vmap(F.hessian(f))(rows), [np.diag(curvature(r)) for r in ROWS])
    close(
        F.grad(lambda x: (F.grad(f)(x) ** 2).sum())(rows[0]),
        2 * gradient(ROWS[0]) * curvature(ROWS[0]),
    )
    close(F.jacfwd(F.jacfwd(f))(rows[0]), np.diag(curvature(ROWS[0])))
    close(F.jvp(F.grad(f), (rows[0],), (rows[1],))[1], curvature(ROWS[0]) * ROWS[1])


def test_argnums_aux_and_trees(torch: Any) -> None:
    x = torch.from_numpy(ROWS[0].copy())

    def f(p: Any, scale: Any) -> Any:
        out = (p["a"] * p["b"]).sum() * scale
        return out, out * 2

    grads, aux = torch.func.grad(f, argnums=(0, 1), has_aux=True)({"a": x, "b": x * x}, x[0])
    close(grads[0]["a"], ROWS[0] ** 2 * ROWS[0][0])
    close(grads[1], (ROWS[0] ** 3).sum())
    close(aux, 2 * (ROWS[0] ** 3).sum() * ROWS[0][0])
    with pytest.raises(RuntimeError, match=r"(?i)to return a scalar tensor"):
        torch.func.grad(lambda x: x * 2)(x)


def test_the_tape_outside_goes_on(torch: Any) -> None:
    w = torch.from_numpy(np.array([3.0, 4.0])).requires_grad_()
    x = torch.from_numpy(ROWS[0].copy()).requires_grad_()
    g = torch.func.grad(lambda x: (w * x * x).sum())(x)
    assert g.requires_grad
    (g * g).sum().backward()
    close(w.grad, 8 * w.detach().numpy() * ROWS[0] ** 2)
    close(x.grad, 8 * w.detach().numpy() ** 2 * ROWS[0])
    w.grad = None
    torch.func.vmap(lambda r: (w * r).sum())(torch.from_numpy(ROWS)).sum().backward()
    close(w.grad, ROWS.sum(0))


def test_no_grad_and_detach_inside(torch: Any) -> None:
    x = torch.from_numpy(ROWS[0].copy())

    def f(x: Any) -> Any:
        with torch.no_grad():
            c = (x * x).sum()
        return (x * x).sum() * c

    close(torch.func.grad(f)(x), 2 * ROWS[0] * (ROWS[0] ** 2).sum())
    close(torch.func.grad(lambda x: (x * x.detach()).sum())(x), ROWS[0])
    with torch.no_grad():
        close(torch.func.grad(energy(torch))(x), gradient(ROWS[0]))


def test_writes_inside(torch: Any) -> None:
    def f(x: Any) -> Any:
        y = x * 1
        y *= x
        y.add_(1)
        return (y * y).sum()

    expected = 4 * ROWS * (ROWS**2 + 1)
    close(torch.func.vmap(torch.func.grad(f))(torch.from_numpy(ROWS)), expected)


# ---------------------------------------------------------------- beyond PyTorch


def test_backward_inside_every_transform() -> None:
    w = compat.from_numpy(np.array([3.0, 4.0])).requires_grad_()

    def per_example(row: Any) -> Any:
        (w * w * row).sum().backward()
        return w.grad

    found = compat.func.vmap(per_example)(compat.from_numpy(ROWS))
    close(found, 2 * w.detach().numpy() * ROWS)
    assert w.grad is None, "what code inside adds to .grad is not left behind"

    def slope(x: Any) -> Any:
        leaf = compat.ones(2, dtype=compat.float64, requires_grad=True)
        (leaf * x * x).sum().backward()
        return (leaf.grad * x).sum()

    close(compat.func.grad(slope)(compat.from_numpy(ROWS[0])), 3 * ROWS[0] ** 2)


def train(steps: int, rate: Any) -> Any:
    """Gradient descent with tensors; returns the last loss."""
    p = compat.tensor([1.0, -2.0], dtype=compat.float64, requires_grad=True)
    loss = None
    for _ in range(steps):
        p.grad = None
        loss = (p * p * p * p).sum()
        loss.backward()
        with compat.no_grad():
            p -= rate * p.grad
    return (p * p).sum()


@settings(deadline=None, max_examples=15)
@given(st.floats(0.001, 0.02), st.integers(1, 4))
def test_the_derivative_of_training(rate: float, steps: int) -> None:
    """Through `backward()` and updates in place, by funcgrad's transforms; against differences."""

    def loss(r: Any) -> Any:
        return train(steps, compat.tensor(r, dtype=compat.float64))

    h = 1e-6
    expected = float(loss(rate + h) - loss(rate - h)) / (2 * h)
    assert float(funcgrad.grad(loss)(rate)) == pytest.approx(expected, rel=1e-5)
    assert funcgrad.jvp(loss, (rate,), (1.0,))[1] == pytest.approx(expected, rel=1e-5)


def test_programs_of_tensor_code_can_be_read() -> None:
    jaxpr = funcgrad.make_jaxpr(lambda a: (compat.tensor(a) * 2).sum())(np.ones(2))
    assert "multiply a 2.0" in str(jaxpr)


def test_the_example_of_the_module(torch: Any) -> None:
    """A check that the fixture's PyTorch is PyTorch."""
    assert torch is compat or torch is importlib.import_module("torch")


def test_functional_call_and_stacked_modules(torch: Any) -> None:
    models = [torch.nn.Linear(2, 3).double() for _ in range(4)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        params, buffers = torch.func.stack_module_state(models)
    assert buffers == {}
    x = torch.from_numpy(ROWS)

    def one(p: Any) -> Any:
        return torch.func.functional_call(models[0], p, (x,))

    found = torch.func.vmap(one)(params)
    close(found, np.stack([m(x).detach().numpy() for m in models]))
    grads = torch.func.grad(lambda p: (one(p) ** 2).sum())(dict(models[0].named_parameters()))
    models[0].zero_grad()
    (models[0](x) ** 2).sum().backward()
    close(grads["weight"], models[0].weight.grad)
