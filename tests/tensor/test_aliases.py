"""Functions of `nn.functional` under PyTorch's names at the top, against PyTorch's own."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from harness import Call, F, call, check

import compat

try:
    torch: Any = importlib.import_module("torch")
except ImportError:
    torch = None

LIBRARIES = [pytest.param(compat, id="compat")]
if torch is not None:
    LIBRARIES.append(pytest.param(torch, id="torch"))


@pytest.fixture(params=LIBRARIES)
def th(request: pytest.FixtureRequest) -> Any:
    return request.param


def Signs(*shape: int) -> Any:
    return F(*shape, low=1.0, high=1.0, grad=False)


CALLS = [
    *[
        c
        for r in (0, 1, 2)
        for c in (
            call("binary_cross_entropy_with_logits", F(3), F(3), None, None, r),
            call("cosine_embedding_loss", F(3, 4), F(3, 4), Signs(3), 0.1, r),
            call("hinge_embedding_loss", F(3), Signs(3), 1.0, r),
            call("kl_div", F(3), F(3, low=0.1), r),
            call("margin_ranking_loss", F(3), F(3), Signs(3), 0.1, r),
            call("poisson_nll_loss", F(3), F(3, low=0.1, grad=False), True, True, 1e-8, r),
            call("triplet_margin_loss", F(3, 4), F(3, 4), F(3, 4), 1.0, 2.0, 1e-6, True, r),
        )
    ],
    call("kl_div", F(3), F(3, low=0.1), log_target=True),
    call("hinge_embedding_loss", F(3), Signs(3)),
    call("binary_cross_entropy_with_logits", F(3), F(3), F(3, grad=False), F(3, grad=False)),
    call("cosine_embedding_loss", F(3, 4), F(3, 4), Signs(3)),
    call("triplet_margin_loss", F(3, 4), F(3, 4), F(3, 4)),
    call("dropout", F(3), 0.0, True),
    call("dropout", F(3), 0.5, False),
    call("dropout", F(3), 1.0, True),
    call("feature_dropout", F(3, 2), 1.0, True),
    call("feature_dropout", F(3), 0.5, False),
]


@pytest.mark.parametrize("c", CALLS, ids=repr)
def test_call(c: Call) -> None:
    check(c)


def test_channels_are_dropped_whole(th: Any) -> None:
    x = th.ones(50, 4, 3)
    th.manual_seed(0)
    y = th.feature_dropout(x, 0.5, True).numpy()
    assert set(np.unique(y)) == {0.0, 2.0}
    assert (y == y[:, :, :1]).all()
    assert 60 < (y[:, :, 0] == 0).sum() < 140
    z = th.feature_dropout_(x, 1.0, True)
    assert z is x and not x.any()


def test_dropout_in_place(th: Any) -> None:
    x = th.ones(3)
    assert th.dropout_(x, 0.5, False) is x and x.sum() == 3
    assert th.dropout_(x, 1.0, True) is x and x.sum() == 0


def test_refusals(th: Any) -> None:
    with pytest.raises(RuntimeError, match="dropout probability has to be between 0 and 1"):
        th.dropout(th.ones(3), 1.5, True)
    with pytest.raises(RuntimeError, match="at least 2 dimensions"):
        th.feature_dropout(th.ones(3), 0.5, True)
