"""NumPy's floating-point warnings: off in backward passes, as the user has them in hooks and after."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import compat as torch
from funcgrad.quiet import QUIET, reset_state, set_state


@pytest.mark.filterwarnings("error")
def test_a_state_is_set_and_taken_back() -> None:
    with np.errstate(divide="raise"):
        before = np.geterr()
        token = set_state(QUIET)
        assert set(np.geterr().values()) == {"ignore"}
        assert np.log(np.zeros(1)) == -np.inf
        reset_state(token)
        assert np.geterr() == before
        with pytest.raises(FloatingPointError):
            np.log(np.zeros(1))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("create_graph", [False, True])
def test_hooks_have_the_state_of_the_user(create_graph: bool) -> None:
    seen: list[Any] = []
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    y = x.sqrt()  # its derivative at 0 is infinite
    y.register_hook(lambda g: seen.append(np.geterr()))
    with np.errstate(all="raise", under="warn"):
        before = np.geterr()
        (g,) = torch.autograd.grad(y.sum(), x, create_graph=create_graph)
        assert seen == [before] and np.geterr() == before
    assert g.tolist() == [float("inf"), 0.5]


def test_functions_of_the_user_have_their_state() -> None:
    seen: list[Any] = []

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            seen.append(np.geterr())
            return g * 2

    x = torch.ones(1, requires_grad=True)
    with np.errstate(over="raise"):
        before = np.geterr()
        Twice.apply(x).backward()
    assert seen == [before]


def test_an_error_leaves_the_state_as_it_was() -> None:
    def refuse(g: Any) -> None:
        raise ValueError("no")

    x = torch.ones(1, requires_grad=True)
    y = x * 2
    y.register_hook(refuse)
    before = np.geterr()
    with pytest.raises(ValueError, match="no"):
        y.backward()
    assert np.geterr() == before
