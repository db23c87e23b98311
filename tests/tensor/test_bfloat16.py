"""bfloat16, which is there if ml_dtypes is: computed in float32 and rounded, forward and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import compat

pytest.importorskip("ml_dtypes")

EXPRESSIONS = [
    "x * 2",
    "x + 1",
    "x / 2",
    "x @ x.t()",
    "x.clamp(0.6, 1)",
    "torch.softmax(x, 1)",
    "x.norm()",
    "x.mean()",
    "x.mean(0)",
    "x.var()",
    "x.std()",
    "x.prod()",
    "x.sum(1)",
    "torch.sigmoid(x)",
    "x.max()",
    "x.max(1).values",
    "x.logsumexp(1)",
    "x.sort().values",
    "x.exp()",
    "x.lerp(x, 0.5)",
    "torch.nn.functional.softplus(x)",
    "x.cumsum(0)",
    "x[0]",
    "x.reshape(-1)",
    "torch.cat([x, x])",
    "x.abs()",
    "x.relu()",
    "x * torch.tensor(2.0)",
]


def values_and_gradients(torch: Any, expression: str, dtype: Any) -> tuple[Any, Any]:
    x = torch.tensor([[1.0, 2.0], [3.0, 0.5]], dtype=dtype, requires_grad=True)
    y = eval(expression, {"torch": torch, "x": x})
    (y * y).sum().backward()
    assert y.dtype == x.grad.dtype == dtype
    return y.float().tolist(), x.grad.float().tolist()


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_is_float32_rounded(expression: str) -> None:
    found = values_and_gradients(compat, expression, compat.bfloat16)
    expected = values_and_gradients(compat, expression, compat.float32)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=0.03, atol=0.03)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_as_in_pytorch(expression: str) -> None:
    torch = pytest.importorskip("torch")
    found = values_and_gradients(compat, expression, compat.bfloat16)
    expected = values_and_gradients(torch, expression, torch.bfloat16)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=0.02, atol=0.02)


def computed(expression: str, dtype: Any, x: Any) -> Any:
    """The expression in `dtype` of a float32 tensor, as a float32 tensor."""
    return eval(expression, {"torch": compat, "x": x.to(dtype)}).float()


def second(expression: str, dtype: Any) -> Any:
    x = compat.tensor([[1.0, 2.0], [3.0, 0.5]], requires_grad=True)
    (g,) = compat.autograd.grad(computed(expression, dtype, x).square().sum(), x, create_graph=True)
    (h,) = compat.autograd.grad(g.square().sum(), x)
    return g.detach().numpy(), h.numpy()


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_gradients_of_gradients_are_those_of_float32_rounded(expression: str) -> None:
    pairs = zip(
        second(expression, compat.bfloat16), second(expression, compat.float32), strict=True
    )
    for a, b in pairs:
        np.testing.assert_allclose(a, b, rtol=0.06, atol=0.03 * max(1.0, np.abs(b).max()))


TRANSFORMS = {
    "grad": lambda f, x: compat.func.grad(f)(x),
    "jvp": lambda f, x: compat.func.jvp(f, (x,), (x,))[1],
    "hessian": lambda f, x: compat.func.hessian(f)(x),
    "vmap": lambda f, x: compat.func.vmap(f)(compat.stack([x, x + 1])),
    "vmap of grad": lambda f, x: compat.func.vmap(compat.func.grad(f))(compat.stack([x, x + 1])),
}


@pytest.mark.parametrize("expression", EXPRESSIONS)
@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms_go_through(name: str, expression: str) -> None:
    x = compat.tensor([[1.0, 2.0], [3.0, 0.5]])
    found, expected = (
        TRANSFORMS[name](lambda x: computed(expression, dtype, x).square().sum(), x)  # noqa: B023
        for dtype in (compat.bfloat16, compat.float32)
    )
    b = expected.numpy()
    np.testing.assert_allclose(found.numpy(), b, rtol=0.06, atol=0.03 * max(1.0, np.abs(b).max()))


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_values_under_vmap_and_tangents_keep_the_dtype(expression: str) -> None:
    x = compat.tensor([[1.0, 2.0], [3.0, 0.5]], dtype=compat.bfloat16)

    def f(x: Any) -> Any:
        return eval(expression, {"torch": compat, "x": x})

    assert compat.func.vmap(f)(compat.stack([x, x])).dtype == compat.bfloat16
    with compat.autograd.forward_ad.dual_level():
        dual = compat.autograd.forward_ad.make_dual(x, x)
        out, tangent = compat.autograd.forward_ad.unpack_dual(f(dual))
    assert out.dtype == tangent.dtype == compat.bfloat16


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_compiled_steps_have_gradients(expression: str) -> None:
    x = compat.tensor([[1.0, 2.0], [3.0, 0.5]], dtype=compat.bfloat16, requires_grad=True)

    def step() -> Any:
        loss = eval(expression, {"torch": compat, "x": x}).square().sum()
        loss.backward()
        return loss

    compiled, found = compat.compile(step), []
    for _ in range(3):
        x.grad = None
        found.append((compiled().item(), x.grad.float().numpy()))
    for a, b in found[1:]:
        np.testing.assert_allclose(a, found[0][0], rtol=0.03)
        np.testing.assert_allclose(b, found[0][1], rtol=0.06, atol=0.03)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_numbers_written_without_a_derivative(name: str) -> None:
    """What `no_grad` writes keeps the derivative that was there, as in float32."""

    def f(x: Any, dtype: Any) -> Any:
        y = x.to(dtype) * 1
        with compat.no_grad():
            y.mul_(2)
        return (y * y).float().sum()

    x = compat.tensor([[1.0, 2.0], [3.0, 0.5]])
    found, expected = (
        TRANSFORMS[name](lambda x: f(x, dtype), x)  # noqa: B023
        for dtype in (compat.bfloat16, compat.float32)
    )
    assert found.tolist() == expected.tolist()


def test_no_difference_keeps_the_graph() -> None:
    x = compat.ones(2, dtype=compat.bfloat16, requires_grad=True)
    compat.diff(x, n=0).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
