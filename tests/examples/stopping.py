"""Stops a run in the middle, goes on from its checkpoint, and compares with a run that went through."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import compat as torch


class StoppedError(Exception):
    """Stands for whatever ends a run: a power cut, Ctrl-C."""


def stop_and_go_on(
    module: Any, name: str, calls: int, arguments: Sequence[str], folder: Path
) -> tuple[dict[str, float], dict[str, float]]:
    """The figures of a whole run, and of one that stops in call `calls` of ``module.name``.

    Figures in milliseconds or seconds are left out. Programs stay NumPy's: C rounds differently.
    """
    torch.use_deterministic_algorithms(True)
    try:
        return _stop_and_go_on(module, name, calls, arguments, folder)
    finally:
        torch.use_deterministic_algorithms(False)


def _stop_and_go_on(
    module: Any, name: str, calls: int, arguments: Sequence[str], folder: Path
) -> tuple[dict[str, float], dict[str, float]]:
    through = module.main([*arguments, "--out", str(folder / "through")])
    stopped = [*arguments, "--out", str(folder / "stopped")]
    original, left = getattr(module, name), calls

    def counted(*args: Any, **kwargs: Any) -> Any:
        nonlocal left
        left -= 1
        if not left:
            raise StoppedError
        return original(*args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, name, counted)
        with pytest.raises(StoppedError):
            module.main(stopped)
    assert list((folder / "stopped").glob("*.pt")), "stopped before there was a checkpoint"
    resumed = module.main([*stopped, "--resume"])
    return _untimed(through), _untimed(resumed)


def _untimed(figures: dict[str, float]) -> dict[str, float]:
    return {k: v for k, v in figures.items() if not k.endswith(("_ms", "seconds"))}
