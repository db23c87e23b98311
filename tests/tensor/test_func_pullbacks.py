"""Pullbacks and linear maps are called where they were made, or inside of other transforms.

Whatever they read keeps its history: results and gradients are those of the formula written out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import compat as torch
from compat.func import grad, jacfwd, jacrev, jvp, linearize, vjp, vmap

F = Callable[..., Any]
f64 = torch.float64

TRANSFORMS: dict[str, Callable[[F, Any], Any]] = {
    "called": lambda h, s: h(s[1]),
    "vmap": lambda h, s: vmap(h)(s),
    "grad": lambda h, s: grad(lambda q: h(q[0] * q[1]).sum())(s),
    "jacrev": lambda h, s: jacrev(lambda q: h(q[0] * q[1]))(s),
    "jacfwd": lambda h, s: jacfwd(lambda q: h(q[0] * q[1]))(s),
    "jvp": lambda h, s: jvp(lambda q: h(q[0]), (s,), (s,))[1],
    "vjp": lambda h, s: vjp(lambda q: h(q[0]), s)[1](torch.ones(3, 2, dtype=f64))[0],
    "vmap of vmap": lambda h, s: vmap(lambda a: vmap(lambda b: h(a * b))(s))(s),
    "vmap of grad": lambda h, s: vmap(grad(lambda q: h(q).sum()))(s),
}


def linear_map(how: str, f: F, y: Any) -> F:
    """The derivative of an elementwise `f` at `y`, which is its own transpose."""
    if how == "vjp":
        pull = vjp(f, y)[1]
        return lambda t: pull(t)[0]
    return linearize(f, y)[1]


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("how", ["vjp", "linearize"])
@pytest.mark.parametrize("where", ["outside", "inside", "between"])
@pytest.mark.parametrize("moves", ["w", "y", "w y", ""])
def test_linear_maps_in_transforms(name: str, how: str, where: str, moves: str) -> None:
    w = torch.tensor([0.3, -0.5], dtype=f64, requires_grad="w" in moves)
    y = torch.tensor([[0.1, 0.2], [0.3, 0.7], [1.0, -0.4]], dtype=f64, requires_grad="y" in moves)
    s = torch.tensor([1.0, 2.0], dtype=f64)

    def f(y: Any) -> Any:
        return torch.sin(w * y)

    made = linear_map(how, f, y)

    def mapped(q: Any) -> Any:
        there = made if where == "outside" else linear_map(how, f, y)
        return there(y * q) * w

    def formula(q: Any) -> Any:
        return y * q * torch.cos(w * y) * w * w

    def between(h: F, s: Any) -> Any:
        """Made inside of one transform and called inside of two."""
        if where != "between":
            return TRANSFORMS[name](h, s)
        if h is formula:
            return vmap(lambda c: TRANSFORMS[name](lambda q: formula(q) * c, s))(s)

        def run(c: Any) -> Any:
            inner = linear_map(how, f, y)
            return TRANSFORMS[name](lambda q: inner(y * q) * w * c, s)

        return vmap(run)(s)

    found, want = between(mapped, s), between(formula, s)
    torch.testing.assert_close(found, want)
    assert found.requires_grad == bool(moves)
    if moves:
        leaves = [x for x in (w, y) if x.requires_grad]
        grads = [torch.autograd.grad((out**2).sum(), leaves) for out in (found, want)]
        torch.testing.assert_close(*grads)


def test_a_pullback_under_vmap_of_parameters_that_a_function_closes_over() -> None:
    """As adjoint equations of many solutions have it: the vmapped function calls `vjp` itself."""
    w = torch.tensor([[0.5, -1.0], [2.0, 0.25]], dtype=f64, requires_grad=True)
    ys, cts = torch.eye(2, dtype=f64) + 0.5, torch.ones(2, 2, dtype=f64)

    def one(y: Any, ct: Any) -> Any:
        return vjp(lambda w, y: torch.tanh(w @ y), w, y)[1](-ct)

    found = vmap(one)(ys, cts)
    want = [one(y, ct) for y, ct in zip(ys, cts, strict=True)]
    torch.testing.assert_close(found, tuple(torch.stack(x) for x in zip(*want, strict=True)))


@pytest.mark.parametrize("how", ["vjp", "linearize"])
def test_no_history_where_none_is_recorded(how: str) -> None:
    w = torch.tensor([0.3, -0.5], dtype=f64, requires_grad=True)
    made = linear_map(how, lambda y: torch.sin(w * y), torch.ones(2, dtype=f64))
    with torch.no_grad():
        assert not vmap(made)(torch.eye(2, dtype=f64)).requires_grad
        assert not made(torch.ones(2, dtype=f64)).requires_grad
    assert vmap(made)(torch.eye(2, dtype=f64)).requires_grad


class OnceCube(torch.autograd.Function):
    """A cube whose backward is not to be differentiated by the tape."""

    @staticmethod
    def forward(x: Any) -> Any:
        return x**3

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, g: Any) -> Any:
        return g * 3 * ctx.saved_tensors[0] ** 2


def test_once_differentiable_backwards_are_no_constants_of_transforms_around() -> None:
    x, ct = (torch.tensor(v, dtype=f64, requires_grad=True) for v in (2.0, 3.0))
    for second in (
        grad(grad(OnceCube.apply)),
        jacfwd(grad(OnceCube.apply)),
        jacrev(grad(OnceCube.apply)),
    ):
        assert second(x.detach()).item() == 12.0
    (g,) = vjp(OnceCube.apply, x)[1](ct)
    assert [s.item() for s in torch.autograd.grad(g + ct, (ct, x))] == [13.0, 36.0]
