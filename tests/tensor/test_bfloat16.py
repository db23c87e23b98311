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
