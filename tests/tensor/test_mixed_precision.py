"""`autocast`, where it changes nothing and where it would, and `GradScaler`, against PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from agreement_of_worlds import same

import compat


def _off(th: Any) -> Any:
    @th.autocast("cpu", enabled=False)
    def product(x: Any) -> Any:
        return x @ x

    with th.autocast("cuda"), th.cuda.amp.autocast(), th.autocast("cpu", dtype=th.float32):
        inside = th.is_autocast_enabled(), th.is_autocast_enabled("cpu"), th.ones(2, 2) @ th.ones(2)
    return inside, product(th.ones(2, 2))


class _Twice:
    """A `Function` with the marks of mixed precision."""

    def __new__(cls, th: Any) -> Any:
        class Twice(th.autograd.Function):
            @staticmethod
            @th.amp.custom_fwd(device_type="cpu")
            def forward(ctx: Any, x: Any) -> Any:
                return x * 2

            @staticmethod
            @th.amp.custom_bwd(device_type="cpu")
            def backward(ctx: Any, ct: Any) -> Any:
                return ct * 2

        x = th.ones(2, requires_grad=True)
        Twice.apply(x).sum().backward()
        return x.grad


AUTOCAST: list[Callable[[Any], Any]] = [
    _off,
    _Twice,
    lambda th: th.autocast("nothing"),
    lambda th: th.autocast(3),
    lambda th: (th.get_autocast_dtype("cpu"), th.get_autocast_dtype("cuda")),
    lambda th: (th.amp.is_autocast_available("cpu"), th.is_autocast_cache_enabled()),
]


@pytest.mark.parametrize("code", AUTOCAST)
def test_autocast_that_casts_nothing(code: Callable[[Any], Any]) -> None:
    same(code)


def test_autocast_that_would_cast_raises() -> None:
    context = compat.autocast("cpu")
    with pytest.raises(NotImplementedError, match=r"bfloat16 is not offered.*enabled=False"):
        context.__enter__()
    with pytest.warns(UserWarning, match="CUDA is not available"):
        compat.autocast("cuda")
    with pytest.warns(UserWarning, match="dtype is not supported"):
        compat.autocast("cpu", dtype=compat.float64)


def _scaled_steps(th: Any) -> Any:
    w = th.tensor([1.0, -2.0], requires_grad=True)
    optimizer = th.optim.SGD([w], lr=0.1)
    scaler = th.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
    seen = []
    for factor in (1.0, 2.0, float("inf"), 1.0, 0.5, 3.0):
        optimizer.zero_grad()
        scaler.scale((w * factor).sum()).backward()
        scaler.unscale_(optimizer)
        seen.append(w.grad.clone())
        scaler.step(optimizer)
        scaler.update()
        seen += [w.detach().clone(), scaler.get_scale()]
    return seen, scaler.state_dict()


def _twice(*calls: str) -> Callable[[Any], Any]:
    def code(th: Any) -> Any:
        w = th.ones(2, requires_grad=True)
        optimizer = th.optim.SGD([w], lr=0.1)
        scaler = th.amp.GradScaler("cpu", init_scale=4.0)
        scaler.scale(w.sum()).backward()
        for call in calls:
            getattr(scaler, call)(*([optimizer] if call != "update" else []))
        return w, w.grad

    return code


def _loaded(th: Any) -> Any:
    scaler = th.amp.GradScaler("cpu", init_scale=4.0)
    other = th.amp.GradScaler("cpu")
    other.load_state_dict(scaler.state_dict())
    other.set_growth_factor(3.0)
    return other.state_dict(), scaler.scale([th.ones(2), (th.ones(1),)]), other.is_enabled()


SCALER: list[Callable[[Any], Any]] = [
    _scaled_steps,
    _loaded,
    _twice("unscale_", "unscale_"),
    _twice("step", "step"),
    _twice("step", "unscale_"),
    _twice("step", "update", "step"),
    _twice("update"),
    _twice("unscale_", "step", "update"),
    lambda th: th.amp.GradScaler("cpu", growth_factor=1.0),
    lambda th: th.amp.GradScaler("cpu").scale(3),
    lambda th: th.amp.GradScaler("cpu").load_state_dict({}),
    lambda th: th.amp.GradScaler("cuda").state_dict(),
    lambda th: th.cuda.amp.GradScaler().scale(th.ones(2)),
]


@pytest.mark.parametrize("code", SCALER)
def test_grad_scaler(code: Callable[[Any], Any]) -> None:
    same(code)
