"""The same program on compat and on PyTorch: equal results, or errors of one type."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import compat

torch = pytest.importorskip("torch")
WORLDS = (compat, torch)


def plain(x: Any) -> Any:
    """What two worlds must agree on: numbers instead of tensors, names instead of dtypes."""
    if isinstance(x, compat.Tensor | torch.Tensor):
        return (str(x.dtype), x.detach().tolist())
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, list | tuple):
        return [plain(v) for v in x]
    return str(x) if isinstance(x, compat.dtype | torch.dtype) else x


def outcome(code: Callable[[Any], Any], th: Any) -> tuple[str, Any]:
    """What a program gives, or the type of what it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return "gives", plain(code(th))
        except Exception as error:
            return "raises", type(error)


def same(code: Callable[[Any], Any]) -> None:
    ours, theirs = (outcome(code, th) for th in WORLDS)
    if ours[0] == theirs[0] == "gives":
        agree(ours[1], theirs[1])
    else:
        assert ours == theirs


def agree(a: Any, b: Any) -> None:
    """Equal but for rounding in the last digits of float32."""
    if isinstance(a, list | tuple):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            agree(x, y)
    elif isinstance(a, float):
        assert a == pytest.approx(b, rel=1e-5, abs=1e-7, nan_ok=True)
    else:
        assert repr(a) == repr(b)
