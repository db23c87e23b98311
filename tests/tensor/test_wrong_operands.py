"""Operands that are no tensors: every function says so in words of its own."""

from __future__ import annotations

import inspect
import itertools
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

import compat as torch
from compat.nn import functional

OPTIONAL = ["cross_entropy", "nll_loss", "binary_cross_entropy"]
REFUSALS = (TypeError, ValueError, IndexError, RuntimeError)  # NotImplementedError is one of these
# Names of files, settings of the process, and what is taken of any type.
LEFT_OUT = {"compile", "load", "manual_seed", "save", "use_deterministic_algorithms"}


def cases() -> Iterator[Any]:
    """A function, and how many tensors are given before what is none."""
    spaces = [("torch", torch, 0), ("Tensor", torch.Tensor, 1), ("functional", functional, 0)]
    spaces += [(m.__name__, m, 0) for m in (torch.linalg, torch.fft, torch.special)]
    for name, space, first in spaces:
        for word in sorted(getattr(space, "__all__", None) or dir(space)):
            f = getattr(space, word, None)
            skipped = word[0] == "_" or word in LEFT_OUT or word.startswith("set_")
            if skipped or not callable(f) or inspect.isclass(f):
                continue
            try:
                parameters = inspect.signature(f).parameters.values()
            except ValueError:
                continue
            places = [
                p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
            ]
            for count in range(first, min(len(places), 3)):
                yield pytest.param(f, count, id=f"{name}.{word} {count}")


@pytest.mark.parametrize(("f", "count"), list(cases()))
def test_functions_refuse_words_in_words_of_their_own(f: Any, count: int) -> None:
    """What a function may take is its own matter; no error speaks of attributes that words lack."""
    for dtype, wrong in itertools.product([torch.float32, torch.int64], ["word", ["a", "b"]]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                f(*[torch.ones(2, 2, dtype=dtype) for _ in range(count)], wrong)
            except REFUSALS as error:
                assert "object has no attribute" not in str(error)


@pytest.mark.parametrize("name", OPTIONAL)
def test_weights_of_classes_are_tensors(name: str) -> None:
    x = torch.full((2, 3), 0.5)
    target = x if name == "binary_cross_entropy" else torch.tensor([0, 2])
    with pytest.raises(
        TypeError, match=r"argument 'weight' \(position 3\) must be Tensor, not list"
    ):
        getattr(functional, name)(x, target, [1.0, 2.0, 3.0])
    assert functional.cross_entropy(x, torch.tensor([0, 2]), None).item() > 0
