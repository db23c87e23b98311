"""Losses of margins, divergences and likelihoods: against differences and PyTorch, and errors."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from harness import Call, Draw, F, call, check
from outcomes import both, module

import compat


@both()
def torch(request: pytest.FixtureRequest) -> Iterator[Any]:
    yield module(request.param)


def f(name: str, *args: Any, **kwargs: Any) -> Call:
    return call(f"nn.functional.{name}", *args, **kwargs)


def S(*shape: int) -> Draw:
    """Signs."""
    return Draw(lambda rng: np.where(rng.random(shape) < 0.5, -1.0, 1.0), False)


def P(*shape: int, grad: bool = True) -> Draw:
    return F(*shape, low=0.1, high=2.0, grad=grad)


def With(values: Any) -> Draw:
    return Draw(lambda _: np.array(values), False)


X = F(3, 4)
HOW = ("mean", "sum", "none")
TRIPLET = (F(3, 4), F(3, 4), F(3, 4))
CALLS: list[Call] = [
    *(f("smooth_l1_loss", X, F(3, 4), reduction=r) for r in HOW),
    *(f("smooth_l1_loss", X, F(3, 4), beta=b) for b in (0, 0.3, 2)),
    f("smooth_l1_loss", F(), F()),
    f("smooth_l1_loss", F(0, 2), F(0, 2), reduction="sum"),
    *(f("huber_loss", X, F(3, 4), r) for r in HOW),
    *(f("huber_loss", X, F(3, 4), delta=d) for d in (0.3, 2)),
    *(f("huber_loss", X, F(3, 4), r, 1.0, P(3, 4)) for r in HOW),
    *(f("kl_div", X, P(3, 4), reduction=r) for r in (*HOW, "batchmean")),
    *(f("kl_div", X, F(3, 4), reduction=r, log_target=True) for r in ("sum", "batchmean")),
    f("kl_div", F(), P(), reduction="batchmean"),
    *(f("poisson_nll_loss", X, P(3, 4), reduction=r) for r in HOW),
    f("poisson_nll_loss", X, P(3, 4), full=True),
    f("poisson_nll_loss", P(3, 4), P(3, 4), log_input=False, full=True, eps=0.1),
    *(f("gaussian_nll_loss", X, F(3, 4), P(3, 4), reduction=r) for r in HOW),
    f("gaussian_nll_loss", X, F(3, 4), P(3), full=True),
    f("gaussian_nll_loss", X, F(3, 4), P(3, 1)),
    f("gaussian_nll_loss", X, F(3, 4), 2.0),
    *(f("hinge_embedding_loss", X, S(3, 4), reduction=r) for r in HOW),
    f("hinge_embedding_loss", X, S(4), margin=0.3),
    *(f("margin_ranking_loss", X, F(3, 4), S(3, 4), reduction=r) for r in HOW),
    f("margin_ranking_loss", F(), F(), S(), margin=0.5),
    *(f("soft_margin_loss", X, S(3, 4), reduction=r) for r in HOW),
    *(f("cosine_embedding_loss", X, F(3, 4), S(3), reduction=r) for r in HOW),
    f("cosine_embedding_loss", F(4), F(4), S(), margin=-0.5),
    *(f("triplet_margin_loss", *TRIPLET, reduction=r) for r in HOW),
    *(f("triplet_margin_loss", *TRIPLET, p=p, swap=True, margin=3.0) for p in (1, 2)),
    f("triplet_margin_loss", F(4), F(4), F(4)),
    *(f("triplet_margin_with_distance_loss", *TRIPLET, swap=s, margin=3.0) for s in (False, True)),
    *(f("multilabel_soft_margin_loss", X, P(3, 4), reduction=r) for r in HOW),
    f("multilabel_soft_margin_loss", F(4), P(4), P(4, grad=False)),
    *(f("multi_margin_loss", X, With([1, 0, 3]), reduction=r) for r in HOW),
    f("multi_margin_loss", X, With([1, 0, 3]), 2, 0.5, P(4, grad=False)),
    f("multi_margin_loss", F(4), With(2), reduction="none"),
    f("multi_margin_loss", F(4), With([2]), reduction="none"),
    *(
        f("multilabel_margin_loss", X, With([[1, -1, 0, 2], [0, 1, 2, 3], [-1] * 4]), reduction=r)
        for r in HOW
    ),
    f("multilabel_margin_loss", F(4), With([2, 2, -1, 0])),
]


@pytest.mark.parametrize("c", CALLS, ids=repr)
def test_call(c: Call) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(c)


A = "torch.ones(2, 3)"
ERRORS = [
    (f"smooth_l1_loss({A}, {A}, beta=-1)", RuntimeError, "negative values for beta"),
    (f"smooth_l1_loss({A}.long(), {A}.long())", NotImplementedError, '"smooth_l1_cpu" not impl'),
    (f"huber_loss({A}, {A}, delta=0)", RuntimeError, "non-positive values for delta"),
    (f"huber_loss({A}, {A}, reduction='x')", ValueError, "x is not a valid value for reduction"),
    (
        f"kl_div({A}.long(), {A}, reduction='sum')",
        RuntimeError,
        "kl_div: Integral inputs not supported",
    ),
    (f"kl_div({A}, {A}, reduction='x')", ValueError, "x is not a valid value for reduction"),
    (f"gaussian_nll_loss({A}, {A}, -{A})", ValueError, "var has negative entry/entries"),
    (f"gaussian_nll_loss({A}, {A}, -2.0)", ValueError, "var has negative entry/entries"),
    (f"gaussian_nll_loss({A}, {A}, torch.ones(3))", ValueError, "var is of incorrect size"),
    (f"gaussian_nll_loss({A}, {A}, {A}, reduction='x')", ValueError, "x is not valid"),
    (f"hinge_embedding_loss({A}.long(), {A})", RuntimeError, "could not infer output dtype"),
    (f"margin_ranking_loss({A}, {A}, torch.ones(3))", RuntimeError, "should have same dimension"),
    (f"soft_margin_loss({A}.long(), {A}.long())", RuntimeError, "result type Float can't be cast"),
    (f"cosine_embedding_loss({A}, {A}, {A})", RuntimeError, "0D or 1D target tensor expected"),
    (f"cosine_embedding_loss({A}, {A}, {A}[0, 0])", RuntimeError, "expects 1D input tensors"),
    (f"triplet_margin_loss({A}, {A}, {A}, margin=0)", ValueError, "must be greater than 0, got 0"),
    (f"triplet_margin_loss({A}, {A}, {A}[0])", RuntimeError, "same number of dimensions"),
    (f"multilabel_soft_margin_loss({A}, {A}, reduction='x')", ValueError, "x is not valid"),
    (f"multi_margin_loss({A}, torch.tensor([0, 1]), p=3)", ValueError, "only p == 1 and p == 2"),
    (f"multi_margin_loss({A}, torch.tensor([0, 3]))", RuntimeError, "target out of range"),
    (f"multi_margin_loss({A}, torch.tensor([0]))", RuntimeError, "target tensor should be 1-D"),
    (f"multi_margin_loss({A}, {A}[:, 0])", RuntimeError, "expected scalar type Long but found"),
    (
        f"multi_margin_loss({A}, torch.tensor([0, 1]), weight=torch.ones(2))",
        RuntimeError,
        "inconsistent weight size, expected 3 but got",
    ),
    (
        f"multi_margin_loss({A}, torch.tensor([0, 1]), weight={A})",
        ValueError,
        "weight must be one-dimensional",
    ),
    (f"multilabel_margin_loss({A}, {A}[:, 0].long())", RuntimeError, "inconsistent target size"),
    (f"multilabel_margin_loss({A}, 3 * {A}.long())", RuntimeError, "'target' is out of range"),
    (f"multilabel_margin_loss({A}, {A})", RuntimeError, "expected scalar type Long but found"),
]


@pytest.mark.parametrize("expression, cls, words", ERRORS)
def test_errors(torch: Any, expression: str, cls: type[Exception], words: str) -> None:
    with pytest.raises(cls, match=words):
        eval(f"torch.nn.functional.{expression}", {"torch": torch})


def test_nan_stays(torch: Any) -> None:
    nan, one = torch.tensor([float("nan")]), torch.tensor([1.0])
    functional = torch.nn.functional
    assert functional.margin_ranking_loss(nan, one, one).isnan()
    assert functional.hinge_embedding_loss(nan, -one).isnan()


def test_means_of_divergences_warn(torch: Any) -> None:
    with pytest.warns(UserWarning, match="'batchmean' divides only by the batch size"):
        torch.nn.functional.kl_div(torch.zeros(2, 2), torch.ones(2, 2))


def test_old_forms_of_the_reduction_warn(torch: Any) -> None:
    with pytest.warns(UserWarning, match="please use reduction='sum' instead"):
        y = torch.nn.functional.soft_margin_loss(torch.zeros(2), torch.ones(2), False)
    assert y.item() == pytest.approx(2 * np.log(2))


def test_variances_that_are_too_small_have_their_derivative(torch: Any) -> None:
    v = torch.tensor([0.0, 2.0], dtype=torch.float64, requires_grad=True)
    x = torch.zeros(2, dtype=torch.float64)
    y = torch.nn.functional.gaussian_nll_loss(x, x + 1, v, eps=0.5, reduction="sum")
    y.backward()
    assert y.item() == pytest.approx(0.5 * (np.log(0.5) + 2 + np.log(2) + 0.5))
    assert v.grad.tolist() == pytest.approx([0.5 * (2 - 4), 0.5 * (0.5 - 0.25)])


def test_soft_margins_do_not_overflow() -> None:
    x = compat.tensor([1000.0, -1000.0], requires_grad=True)
    y = compat.nn.functional.soft_margin_loss(x, compat.tensor([-1.0, -1.0]), reduction="none")
    y.sum().backward()
    assert y.tolist() == [1000.0, 0.0] and x.grad.tolist() == [1.0, 0.0]
