"""Tensors of no axes where functions take a number: that number, or an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import compat as torch
from compat.nn import functional as F

X = torch.tensor([[-1.0, 2.0], [0.3, 4.0]], dtype=torch.float64)
V, B, PLACES = X[0], X[None], torch.tensor([0, 1])
TAKES_A_NUMBER: dict[str, Callable[[Any], Any]] = {
    "add": lambda s: torch.add(X, X, alpha=s),
    "addbmm": lambda s: torch.addbmm(X, B, B, beta=s),
    "addcdiv": lambda s: torch.addcdiv(X, X, X, value=s),
    "addmm": lambda s: torch.addmm(X, X, X, alpha=s, beta=s),
    "addmv": lambda s: torch.addmv(V, X, V, alpha=s),
    "addr": lambda s: torch.addr(X, V, V, alpha=s),
    "addr_": lambda s: X.clone().addr_(V, V, alpha=s),
    "arange": lambda s: torch.arange(0, 2, s),
    "baddbmm": lambda s: torch.baddbmm(B, B, B, alpha=s),
    "celu": lambda s: F.celu(X, s),
    "dist": lambda s: torch.dist(X, 2 * X, s),
    "dropout": lambda s: F.dropout(X, s, training=False),
    "elu": lambda s: F.elu(X, s),
    "fill_diagonal_": lambda s: X.clone().fill_diagonal_(s),
    "hardshrink": lambda s: F.hardshrink(X, s),
    "hardtanh": lambda s: F.hardtanh(X, -s, s),
    "histc": lambda s: torch.histc(X, 4, -s, s),
    "huber_loss": lambda s: F.huber_loss(X, 3 * X, delta=s),
    "index_add": lambda s: X.index_add(0, PLACES, X, alpha=s),
    "isclose": lambda s: torch.isclose(X, 2 * X, rtol=s),
    "leaky_relu": lambda s: F.leaky_relu(X, s),
    "logit": lambda s: torch.logit(X.abs() / 9, s / 4),
    "matrix_norm": lambda s: torch.linalg.norm(X, 4 * s),
    "nan_to_num": lambda s: torch.nan_to_num(X.log(), s),
    "norm": lambda s: torch.norm(X, 4 * s),
    "normalize": lambda s: F.normalize(X, 4 * s),
    "pad": lambda s: F.pad(V, (1, 1), value=s),
    "renorm": lambda s: torch.renorm(X, 4 * s, 0, s),
    "smooth_l1_loss": lambda s: F.smooth_l1_loss(X, 3 * X, beta=s),
    "softplus": lambda s: F.softplus(X, s),
    "softshrink": lambda s: F.softshrink(X, s),
    "threshold": lambda s: F.threshold(X, s, s),
    "vector_norm": lambda s: torch.linalg.vector_norm(X, 4 * s),
}


@pytest.mark.parametrize("name", TAKES_A_NUMBER)
def test_a_tensor_of_no_axes_is_its_number(name: str) -> None:
    f, s = TAKES_A_NUMBER[name], torch.tensor(0.5, dtype=torch.float64)
    assert f(s).tolist() == f(0.5).tolist()


@pytest.mark.parametrize("name", TAKES_A_NUMBER)
def test_what_would_lose_its_gradient_is_refused(name: str) -> None:
    s = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    with pytest.raises(TypeError):
        TAKES_A_NUMBER[name](s)


def test_counts_are_tensors_too() -> None:
    two = torch.tensor(2)
    assert F.one_hot(PLACES, two).tolist() == [[1, 0], [0, 1]]
    assert torch.matrix_power(X, two).tolist() == (X @ X).tolist()
