"""Expressions of PyTorch's with what they print or raise, as transcripts: the same here and there.

A transcript is a text file of ``>>> expression`` and below it what is printed, or the class of an
error and words of its message. PyTorch has filled them in; where it is installed it is checked too.
"""

from __future__ import annotations

import builtins
import re
import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pytest

import compat

FOLDER = Path(__file__).parent / "transcripts"
_ERROR = re.compile(r"(\w+Error): ?(.*)", re.DOTALL)


class Row(NamedTuple):
    """An expression and what becomes of it."""

    expression: str
    expected: str

    def __str__(self) -> str:
        return self.expression


def rows(name: str) -> list[Row]:
    """The rows of a transcript; lines that start with ``#`` are headings."""
    text = re.sub(r"^#.*\n", "", (FOLDER / f"{name}.txt").read_text("utf-8"), flags=re.MULTILINE)
    parts = [part.partition("\n") for part in text.split(">>> ")[1:]]
    return [Row(expression, expected.rstrip("\n")) for expression, _, expected in parts]


def both() -> Any:
    """Marks a fixture for ours and for PyTorch, which is skipped where it is not installed."""
    return pytest.fixture(params=["compat", "torch"])


def module(name: str) -> Any:
    return compat if name == "compat" else pytest.importorskip("torch")


def names(torch: Any) -> dict[str, Any]:
    """What expressions may refer to, made anew for each."""

    class Named(torch.Tensor):  # type: ignore[misc]
        pass

    return {
        "torch": torch,
        "np": np,
        "Named": Named,
        "x": torch.tensor([1.0, 2.0], requires_grad=True),
        "z": torch.zeros(2),
        "i": torch.tensor([1, 2]),
        "g": torch.Generator(),
    }


def evaluated(torch: Any, expression: str, **extra: Any) -> Any:
    """The value of an expression; warnings are for other tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(expression, names(torch) | extra)


def shown(x: Any) -> str:
    """How a value prints, without addresses."""
    return re.sub(r"0x[0-9a-f]+", "0x", repr(x))


def check(torch: Any, row: Row) -> None:
    """The expression prints what the row says, or raises it, where there is no GPU."""
    with mock.patch.dict(sys.modules, {"cupy": None}):
        _check(torch, row)


def _check(torch: Any, row: Row) -> None:
    error = _ERROR.fullmatch(row.expected)
    if error is None:
        assert shown(evaluated(torch, row.expression)) == row.expected
        return
    with pytest.raises(getattr(builtins, error[1])) as caught:
        evaluated(torch, row.expression)
    assert type(caught.value).__name__ == error[1]
    assert error[2] in str(caught.value)
