"""Functions of `nn.functional` under PyTorch's names at the top, against PyTorch's own."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import numpy as np
import pytest
from harness import C, Call, F, call, check

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


def Means() -> tuple[Any, Any]:
    return F(3, grad=False), F(3, low=0.5, grad=False)


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
    call("native_layer_norm", F(2, 3, 4), [4], F(4), F(4), 1e-5),
    call("native_layer_norm", F(2, 3, 4), (3, 4), None, None, 1e-3),
    call("native_group_norm", F(2, 4, 3), F(4), F(4), 2, 4, 3, 2, 1e-5),
    call("native_group_norm", F(2, 4), None, None, 2, 4, 1, 2, 1e-5),
    call("native_batch_norm", F(4, 3), F(3), F(3), None, None, True, 0.1, 1e-5),
    call("native_batch_norm", F(4, 3), None, None, *Means(), True, 0.1, 1e-5),
    call("native_batch_norm", F(4, 3, 2), F(3), F(3), *Means(), False, 0.1, 1e-5),
    *(
        call("grid_sampler", F(2, 3, 4, 5), F(2, 2, 3, 2), mode, padding, corners)
        for mode in (0, 1, 2)
        for padding in (0, 1, 2)
        for corners in (True, False)
    ),
    call("grid_sampler_2d", F(1, 2, 3, 3), F(1, 2, 2, 2), 0, 1, False),
    call("grid_sampler_3d", F(1, 2, 3, 3, 2), F(1, 2, 2, 2, 3), 0, 2, False),
    *(call("norm_except_dim", F(2, 3, 4), p, d) for p in (1, 2, 3) for d in (0, 1, 2, -1)),
    *(call("frobenius_norm", F(3, 4), d) for d in (1, -1, (0, 1), ())),
    call("frobenius_norm", C(3, 4), (0, 1), True),
    call("nuclear_norm", F(3, 4)),
    call("nuclear_norm", F(2, 3, 4), True),
    call("nuclear_norm", F(3, 4, 2), (0, 2), keepdim=True),
]


@pytest.mark.filterwarnings("ignore:at..(frobenius|nuclear)_norm is deprecated")
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


def test_deprecated_norms_warn() -> None:
    for name, args in (("frobenius_norm", (1,)), ("nuclear_norm", ())):
        with pytest.warns(UserWarning, match=f"at::{name} is deprecated"):
            getattr(compat, name)(compat.ones(2, 2), *args)


@pytest.mark.parametrize("name", ["native_layer_norm", "native_batch_norm"])
def test_statistics_of_norms_are_constants_in_forward_mode_too(name: str) -> None:
    """They moved there, so that derivatives of second order depended on how they were taken."""
    own = ([3], None, None, 1e-5) if "layer" in name else (None, None, None, None, True, 0.1, 1e-5)

    def function(x: Any) -> Any:
        return getattr(compat, name)(x, *own)

    x = compat.randn(4, 3, dtype=compat.float64)
    _, (y, *statistics) = compat.func.jvp(function, (x,), (x.sin(),))
    assert y.any() and len(statistics) == 2 and not any(s.any() for s in statistics)


def test_kernels_refuse(th: Any) -> None:
    x, g = th.ones(1, 1, 2, 2), th.zeros(1, 1, 1, 2)
    for f in (
        lambda: th.native_group_norm(th.ones(2, 4), None, None, 2, 4, 2, 2, 1e-5),
        lambda: th.native_layer_norm(th.ones(2, 4), [3], None, None, 1e-5),
        lambda: th.grid_sampler_3d(x, g, 0, 0, False),
        lambda: th.grid_sampler_2d(x[0], g[0], 0, 0, False),
        lambda: th.norm_except_dim(th.ones(2, 2).long()),
        lambda: th.frobenius_norm(th.ones(2, 2, 2), (0, 1, 2)),
        lambda: th.nuclear_norm(th.ones(2, 2), 1),
    ):
        with pytest.raises(RuntimeError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            f()
    for f in (lambda: th.norm_except_dim(th.tensor(2.0)), lambda: th.norm_except_dim(x, 2, 5)):
        with pytest.raises(IndexError):
            f()


def test_unknown_words_of_grids() -> None:
    """PyTorch reads what was never written."""
    x, g = compat.ones(1, 1, 2, 2), compat.zeros(1, 1, 1, 2)
    for mode, padding, said in ((3, 0, "interpolation_mode=3"), (0, -1, "padding_mode=-1")):
        with pytest.raises(ValueError, match=f"{said} is unknown; need one of 0"):
            compat.grid_sampler(x, g, mode, padding, False)


def _empty(th: Any, *dtypes: str) -> tuple[Any, ...]:
    return tuple(th.empty(0, dtype=getattr(th, d)) for d in dtypes)


OUTS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "avg_pool2d": (
        lambda th, x, out: (th.nn.functional.avg_pool2d(x, 2, out=out[0]),),
        ("float32",),
    ),
    "avg_pool3d": (
        lambda th, x, out: (th.nn.functional.avg_pool3d(x[None], (1, 2, 2), out=out[0]),),
        ("float32",),
    ),
    "lstsq": (
        lambda th, x, out: th.linalg.lstsq(x[0], x[0, :, :2], driver="gelsd", out=out),
        ("float32", "float32", "int64", "float32"),
    ),
    "lu": (lambda th, x, out: th.lu(x, out=out), ("float32", "int32")),
    "lu, info": (
        lambda th, x, out: th.lu(x, get_infos=True, out=out),
        ("float32", "int32", "int32"),
    ),
}


@pytest.mark.filterwarnings("ignore:torch.lu is deprecated")
@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
@pytest.mark.parametrize("name", OUTS)
def test_out(th: Any, name: str) -> None:
    f, dtypes = OUTS[name]
    x = (th.arange(16.0) ** 1.5).cos().reshape(1, 4, 4)
    out = _empty(th, *dtypes)
    found = f(th, x, out)
    expected = f(compat, compat.tensor(x.numpy()), None if len(out) > 1 else (None,))
    for a, b, c in zip(found, out, expected, strict=True):
        assert a is b and a.shape == c.shape and str(a.dtype) == str(c.dtype)
        np.testing.assert_allclose(a.numpy(), c.numpy(), rtol=1e-5, atol=1e-5)
    with pytest.raises((RuntimeError, TypeError)):
        f(th, x, out[1:] if len(out) > 1 else _empty(th, "float64"))


def test_refusals(th: Any) -> None:
    with pytest.raises(RuntimeError, match="dropout probability has to be between 0 and 1"):
        th.dropout(th.ones(3), 1.5, True)
    with pytest.raises(RuntimeError, match="at least 2 dimensions"):
        th.feature_dropout(th.ones(3), 0.5, True)
