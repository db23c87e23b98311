"""Distributions where parameters or values are large, without PyTorch, which loses digits there."""

from __future__ import annotations

import math

import numpy as np
import pytest

import compat as torch


@pytest.mark.parametrize("df", [1e6, 1e8, 1e10])
@pytest.mark.parametrize("y", [0.0, -0.7, 2.0])
def test_student_with_many_degrees_of_freedom_is_nearly_normal(df: float, y: float) -> None:
    """By a term that goes with 1 / df; differences of logarithms of gamma functions had hidden it."""
    nu = torch.tensor(df, dtype=torch.float64, requires_grad=True)
    y = torch.tensor(y, dtype=torch.float64)
    found = torch.distributions.StudentT(nu)
    normal = torch.distributions.Normal(torch.zeros_like(y), torch.ones_like(y))
    apart = (y**4 - 2 * y**2 - 1) / 4
    for value, limit, term in (
        (found.log_prob(y), normal.log_prob(y), apart),
        (found.entropy(), normal.entropy(), torch.ones_like(y)),
    ):
        (slope,) = torch.autograd.grad(value, nu)
        np.testing.assert_allclose(value.item(), limit + term / df, rtol=0, atol=1e-10)
        np.testing.assert_allclose(slope, -term / df**2, rtol=5e-4)


def test_student_far_out() -> None:
    """Where the square overflows its density is still ``y**-(df + 1)``."""
    y = torch.tensor(1e200, dtype=torch.float64, requires_grad=True)
    found = torch.distributions.StudentT(torch.tensor(1.0, dtype=torch.float64)).log_prob(y)
    np.testing.assert_allclose(found.item(), -400 * math.log(10) - math.log(math.pi))
    (slope,) = torch.autograd.grad(found, y)
    np.testing.assert_allclose(slope.item(), -2e-200, rtol=1e-12)
