"""What is refused by the newer parts of `nn`, as in PyTorch, and those that are drawn or renamed."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from modules import compat, torch

needs_torch = pytest.mark.skipif(torch is None, reason="PyTorch is not installed")

# ---------------------------------------------------------------- errors

ERRORS: dict[str, Callable[[Any], Any]] = {
    "no size": lambda th: th.nn.FractionalMaxPool2d(2),
    "two sizes": lambda th: th.nn.FractionalMaxPool2d(2, 3, 0.5),
    "ratio": lambda th: th.nn.FractionalMaxPool3d(2, output_ratio=1.5),
    "window of nothing": lambda th: th.nn.FractionalMaxPool3d(0, 2),
    "function without a size": lambda th: F_(th).fractional_max_pool2d(th.ones(1, 4, 4), 2),
    "three ratios": lambda th: F_(th).fractional_max_pool2d(
        th.ones(1, 4, 4), 2, output_ratio=(0.5, 0.5, 0.5)
    ),
    "too large": lambda th: F_(th).fractional_max_pool2d(th.ones(1, 4, 4), 3, 3),
    "too large in three": lambda th: F_(th).fractional_max_pool3d(th.ones(1, 4, 4, 4), 2, 3),
    "axes": lambda th: F_(th).fractional_max_pool2d(th.ones(1, 1, 1, 4, 4), 2, 2),
    "no channels": lambda th: F_(th).fractional_max_pool2d(th.ones(1, 0, 4, 4), 2, 2),
    "samples": lambda th: F_(th).fractional_max_pool2d(
        th.ones(2, 3, 4, 4), 2, 2, _random_samples=th.ones(2, 2, 2)
    ),
    "samples of a plane": lambda th: F_(th).fractional_max_pool2d(
        th.ones(2, 3, 4, 4), 2, 2, _random_samples=th.ones(3, 2)
    ),
    "conv_tbc of a matrix": lambda th: F_(th).conv_tbc(th.ones(3, 2), th.ones(1, 2, 2), th.ones(2)),
    "conv_tbc of other channels": lambda th: F_(th).conv_tbc(
        th.ones(3, 1, 2), th.ones(1, 3, 2), th.ones(2)
    ),
    "three axes": lambda th: lce(th, (2, 3, 4), (5, 4)),
    "a vector of weights": lambda th: lce(th, (2, 4), (4,)),
    "other features": lambda th: lce(th, (2, 3), (5, 4)),
    "bias": lambda th: lce(th, (2, 4), (5, 4), linear_bias=th.ones(4)),
    "more outputs of one": lambda th: lce(th, (4,), (5, 2, 4)),
    "probabilities": lambda th: F_(th).linear_cross_entropy(
        th.ones(2, 4), th.ones(5, 4), th.ones(2, 5), ignore_index=1
    ),
    "class weights": lambda th: th.nn.LinearCrossEntropyLoss(4, 5, weight=th.ones(4)),
    "smoothing": lambda th: th.nn.LinearCrossEntropyLoss(4, 5, label_smoothing=2.0),
    "policy": lambda th: th.nn.LinearCrossEntropyOptions(acc_policy="fast"),
    "chunks": lambda th: th.nn.LinearCrossEntropyOptions(chunking_method="aspect_ratio:0"),
    "antialias": lambda th: F_(th).interpolate(th.ones(1, 1, 4), 2, mode="linear", antialias=True),
    "sparse vector": lambda th: th.nn.init.sparse_(th.ones(3), 0.5),
    "dirac of a matrix": lambda th: th.nn.init.dirac_(th.ones(3, 3)),
    "dirac of groups": lambda th: th.nn.init.dirac_(th.ones(3, 3, 3), 2),
    "Muon of a vector": lambda th: th.optim.Muon([th.ones(3, requires_grad=True)]),
    "Muon's steps": lambda th: one_step(th, ns_steps=100),
    "Muon's coefficients": lambda th: one_step(th, ns_coefficients=(1.0, 2.0)),
}


def F_(th: Any) -> Any:
    return th.nn.functional


def lce(th: Any, x: tuple[int, ...], weight: tuple[int, ...], **options: Any) -> Any:
    target = th.zeros(2, dtype=th.int64)
    return th.nn.functional.linear_cross_entropy(th.ones(*x), th.ones(*weight), target, **options)


def one_step(th: Any, **options: Any) -> None:
    p = th.ones(2, 2, requires_grad=True)
    p.grad = th.ones(2, 2)
    th.optim.Muon([p], **options).step()


@needs_torch
@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_of_pytorchs_types(name: str) -> None:
    raised = []
    for th in (compat, torch):
        with pytest.raises(Exception) as caught:
            ERRORS[name](th)
        raised.append(caught.type)
    assert raised[0] is raised[1]


# ---------------------------------------------------------------- the rest


def test_sparse_starts() -> None:
    compat.manual_seed(0)
    w = compat.nn.init.sparse_(compat.empty(10, 200), 0.25, std=2.0).numpy()
    np.testing.assert_array_equal((w == 0).sum(0), 3)  # a quarter of 10, rounded up
    assert abs(w[w != 0].std() - 2) < 0.1
    assert len({tuple(column) for column in (w == 0).T}) > 20


OLD = ("constant", "dirac", "eye", "kaiming_normal", "kaiming_uniform", "normal", "orthogonal")
OLD += ("sparse", "uniform", "xavier_normal", "xavier_uniform")


@pytest.mark.parametrize("name", OLD)
def test_old_names_warn_and_do_the_same(name: str) -> None:
    options = {"constant": (2.0,), "sparse": (0.5,)}.get(name, ())
    made = []
    for called in (name, f"{name}_"):
        compat.manual_seed(1)
        w = compat.zeros(*((4, 4, 3) if name == "dirac" else (4, 3)))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert getattr(compat.nn.init, called)(w, *options) is w
        assert [x.category for x in caught] == [FutureWarning] * (called == name)
        made.append(w.numpy())
    np.testing.assert_array_equal(*made)
    assert made[0].any()


@needs_torch
def test_clip_grad_norm_by_its_old_name() -> None:
    found = []
    for th in (compat, torch):
        x = th.tensor([3.0, 4.0], requires_grad=True)
        (x * x).sum().backward()
        with pytest.warns(FutureWarning, match="clip_grad_norm_"):
            norm = th.nn.utils.clip_grad_norm(x, 1.0)
        found.append((norm.item(), x.grad.tolist()))
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-6)
    assert found[0][0] == found[1][0]
